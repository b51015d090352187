"""Files that are broken, odd or built to do harm: imported or refused, and never half of it."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands.imports import FORMATS, Format
from domain.errors import BadBundle, BadName, BadSetting, Refused, SessionExists
from domain.events import DraftEmitted, MessageSent, NoteAdded
from domain.ids import SessionId
from domain.texts import LONGEST, checked_text
from tests.commands.imports.shelf import FIXTURES, Shelf, turns
from tests.stories.cast import Stage

USER = '{"type": "user", "uuid": "u1", "message": {"role": "user", "content": "tea?"}}'
DEEP = "[" * 100_000


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A store with nothing in it."""
    stage = Stage(tmp_path / "store")
    yield Shelf(stage)
    stage.log.close()


@pytest.mark.parametrize(
    ("format_", "text", "why"),
    [
        ("claude-code", "", "it holds no conversation"),
        ("claude-code", f"{USER}\nnot JSON\n{USER}\n", "line 2 is not valid JSON"),
        ("claude-code", f"{USER}\n\n[1]\n", "line 3 is no line of Claude Code"),
        ("claude-code", f'{USER}\n{{"type": "user", "x": {DEEP}\n{USER}\n', "line 2 is"),
        ("claude-code", '{"type": "summary", "summary": "x"}\n', "it holds no conversation"),
        ("chatgpt", "", "it is empty"),
        ("chatgpt", "[]", "it holds no conversation"),
        ("chatgpt", "hello", "line 1 is not JSON"),
        ("chatgpt", '[{"title": "x"}]', "line 1 is no conversation of ChatGPT"),
        ("chatgpt", '[\n{"mapping": {}},\n{"mapping": {]}]', "line 3 closes what is not open"),
        ("chatgpt", '[\n{"mapping": {}},\n{"mapping": {"a": ', "the file is not complete"),
        ("chatgpt", '[\n{"mapping": {"a": nul}}]', "line 2 is not valid JSON"),
        ("chatgpt", DEEP, "nested too deeply"),
        ("chatgpt", f'[{{"mapping": {{"a": {DEEP}', "nested too deeply"),
        ("chatgpt", "[1, 2]", "something else than"),
        ("chatgpt", '[{"mapping": {}, "n": ' + "9" * 5000 + "}]", "a number is too long"),
        ("openai-messages", '{"a": 1}', "line 1 has neither a role nor messages"),
        ("openai-messages", '[{"role": "user"}, {"content": "x"}]', "a message without a role"),
        ("openai-messages", '{"messages": {"a": []}}', "has no messages"),
        ("openai-messages", "[]", "no conversation"),
        ("openai-messages", '{"messages": [{"role": "user"}', "the file is not complete"),
        ("markdown", "", "no line of it says who speaks"),
        ("markdown", "# Notes\n\nmilk, eggs\n", "no line of it says who speaks"),
        ("markdown", "```\n## User\n```\n", "no line of it says who speaks"),
    ],
)
def test_what_is_no_such_file(
    shelf: Shelf, format_: Format, text: str, why: str, tmp_path: Path
) -> None:
    """It is refused in a sentence that names the line, and nothing is written."""
    file = tmp_path / "file"
    file.write_text(text, "utf-8")
    if (format_, text) == ("openai-messages", "[]"):
        assert not shelf.take(format_, file).news
        return
    with pytest.raises(BadBundle, match=why) as refused:
        shelf.take(format_, file)
    assert len(refused.value.sentence) < 300
    assert shelf.position == 0


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("raw", [b"\xff\xfe[\x00", bytes(range(256)) * 20, b"\x80abc"])
def test_what_is_no_text(shelf: Shelf, format_: Format, raw: bytes, tmp_path: Path) -> None:
    """Binary files are refused."""
    file = tmp_path / "file"
    file.write_bytes(raw)
    with pytest.raises(BadBundle):
        shelf.take(format_, file)
    assert shelf.position == 0


def test_places_that_are_no_file(shelf: Shelf, tmp_path: Path) -> None:
    """A directory, nothing, a zip without conversations, a zip that was cut: refused."""
    with pytest.raises(BadBundle, match="is a directory"):
        shelf.take("markdown", tmp_path)
    with pytest.raises(BadBundle, match="no such file"):
        shelf.take("markdown", tmp_path / "nothing")
    file = tmp_path / "x.zip"
    with ZipFile(file, "w") as archive:
        archive.writestr("chat.html", "<html>" * 1000)
    with pytest.raises(BadBundle, match=r"no conversations\.json in it"):
        shelf.take("chatgpt", file)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(BadBundle, match="no zip"):
        shelf.take("chatgpt", file)


def test_options_that_cannot_be(shelf: Shelf) -> None:
    """They are refused before anything is written."""
    with pytest.raises(BadSetting, match="3 conversations: give --prefix"):
        shelf.take("chatgpt", "conversations.json", name="talks")
    with pytest.raises(BadName):
        shelf.take("markdown", "talk.md", name="Ünfit")
    with pytest.raises(BadSetting, match="too long"):
        shelf.take("markdown", "talk.md", prefix="p" * 40)
    with pytest.raises(BadSetting):
        shelf.take("markdown", "talk.md", settings={"evict_after": 0})
    assert shelf.position == 0
    shelf.take("markdown", "talk.md", name="tides", settings={"evict_after": 7})
    assert shelf.stage.log.state(SessionId("tides")).config.evict_after == 7
    with pytest.raises(SessionExists):
        shelf.take("markdown", "bold.md", name="tides")


def test_texts_that_do_not_fit(shelf: Shelf, tmp_path: Path) -> None:
    """Long ones are parted into notes, NUL and half characters are shown: nothing is lost."""
    words = "".join(f"line {n} of a very long paste\n" for n in range(20_000))
    talk = [
        {"role": "user", "content": words},
        {"role": "assistant", "content": "a\0b \ud800 c", "tool_calls": [
            {"id": "1", "function": {"name": "x\x1b[31m", "arguments": "y" * (LONGEST + 5)}}
        ]},
        {"role": "user", "content": "  \n "},
        {"role": "assistant", "content": ""},
    ]  # fmt: skip
    file = tmp_path / "long.json"
    file.write_text(json.dumps(talk), "utf-8")
    report = shelf.take("openai-messages", file)
    (session,) = shelf.stage.log.sessions()
    history = list(shelf.stage.log.read(session, after=2))
    sent = next(r for r in history if isinstance(r.event, MessageSent))
    notes = [
        r.event.text
        for r in history
        if isinstance(r.event, NoteAdded) and r.event.about == (sent.version,)
    ]
    assert isinstance(sent.event, MessageSent)
    assert "\n".join([sent.event.text, *notes]) == words.strip()
    for recorded in history:
        for value in recorded.event.wire().values():
            if isinstance(value, str) and value:
                checked_text(value)
    drafts = [r.event.text for r in history if isinstance(r.event, DraftEmitted)]
    assert drafts == ["a␀b � c"]
    assert report.changed["texts that are too long for one event, parted"] == 2
    assert report.changed["NUL characters, shown as ␀"] == 1
    assert report.left_out["empty messages"] == 1


@pytest.mark.parametrize("time", [-5, 0, 1e30, float("nan"), "x", True, None, [], 9_999_999_999])
def test_times_that_cannot_be(shelf: Shelf, time: Any, tmp_path: Path) -> None:
    """They are taken as those of what was before; time never runs backwards, nor ahead of now."""
    data = json.loads((FIXTURES / "conversations.json").read_text("utf-8"))
    data[0]["mapping"]["a1b"]["message"]["create_time"] = time
    data[0]["mapping"]["q1"]["message"]["create_time"] = 1772449999.0  # later than what follows
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(data), "utf-8")
    shelf.take("chatgpt", file)
    for session in shelf.stage.log.sessions():
        times = [recorded.at for recorded in shelf.stage.log.read(session)]
        assert times == sorted(times)
        assert times[-1] <= shelf.stage.world.now()


def test_trees_that_are_none(shelf: Shelf, tmp_path: Path) -> None:
    """Nodes that are their own ancestors, hang on nothing, or are no nodes do not matter."""
    data = json.loads((FIXTURES / "conversations.json").read_text("utf-8"))[2]
    node = data["mapping"]["b"]
    data["mapping"] |= {
        "x": {**node, "id": "x", "parent": "y"},
        "y": {**node, "id": "y", "parent": "x"},
        "z": {**node, "id": "z", "parent": "gone"},
        "n": None,
        "m": {"parent": ["b"], "message": 7},
    }
    data["current_node"] = "x"
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([data]), "utf-8")
    report = shelf.take("chatgpt", file)
    assert report.left_out["messages that are their own ancestors"] == 2
    assert not [one for one in shelf.stage.log.verify() if one.findings]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("role", "content", "messages", "parts", "text", "type", "uuid", "message"),
                    *("parentUuid", "mapping", "parent", "author", "tool_calls", "function"),
                    *("id", "title", "create_time", "timestamp", "current_node", "content_type"),
                    *("a", "b", "isSidechain", "isMeta", "subtype", "thoughts", "metadata"),
                ]
            ),
            inner
            | st.sampled_from(
                ["user", "assistant", "tool", "system", "a", "b", "thinking", "tool_use", "text"]
            ),
            max_size=6,
        )
    ),
    max_leaves=25,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=JSON, format_=st.sampled_from(FORMATS[:3]), as_lines=st.booleans())
def test_any_json(shelf: Shelf, data: Any, format_: Format, as_lines: bool) -> None:
    """Whatever it holds, it is imported or refused in a sentence."""
    file = shelf.stage.log.place.home.joinpath("any.json")
    lines = data if as_lines and isinstance(data, list) else [data]
    file.write_text("\n".join(json.dumps(one) for one in lines), "utf-8")
    _imported_or_refused(shelf, format_, file)


def _imported_or_refused(shelf: Shelf, format_: Format, file: Path) -> None:
    before = shelf.position
    try:
        report = shelf.take(format_, file)
    except Refused:
        assert shelf.position == before
        return
    assert shelf.position - before == report.total("events")
    for one in report.sessions:
        shelf.stage.log.state(one.session)


@pytest.mark.parametrize("file", ["session.jsonl", "conversations.json", "messages.json"])
def test_real_files_with_something_else_in_them(shelf: Shelf, file: str) -> None:
    """Values of real files exchanged for others: imported or refused, and what came proves."""
    format_: Format = {"s": "claude-code", "c": "chatgpt", "m": "openai-messages"}[file[0]]  # type: ignore[assignment]
    text = (FIXTURES / file).read_text("utf-8")
    chance = random.Random(7)  # noqa: S311 — the same every time
    whole = json.loads(text) if file.endswith(".json") else None
    lines = [json.loads(line) for line in text.splitlines()] if whole is None else [whole]
    places = list(_places(lines, ()))
    odd = [None, 7, "", "x", [], {}, [[]], [{"type": "text"}], {"a": None}, True, -1.5, "\ud800"]
    target = shelf.stage.log.place.home.joinpath(file)
    for _ in range(60):
        changed = json.loads(json.dumps(lines))
        for place in chance.sample(places, 2):
            _put(changed, place, chance.choice(odd))
        target.write_text("\n".join(json.dumps(one) for one in changed), "utf-8")
        _imported_or_refused(shelf, format_, target)
    assert not [one for one in shelf.stage.log.verify() if one.findings]


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(one, (*path, key))


def _put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    try:
        for key in path[:-1]:
            value = value[key]
        value[path[-1]] = new
    except (KeyError, TypeError, IndexError):  # the first change took the place away
        return


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.sampled_from(
            ["## User", "## Assistant", "**You:** x", "User: y", "```", "~~~", "    ```", "---"]
        )
        | st.text(max_size=12),
        max_size=14,
    )
)
def test_any_markdown(shelf: Shelf, lines: list[str]) -> None:
    """Whatever it holds, it is imported or refused, and no word of a message is lost."""
    file = shelf.stage.log.place.home.joinpath("any.md")
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    _imported_or_refused(shelf, "markdown", file)


def test_no_line_of_markdown_is_lost(tmp_path: Path) -> None:
    """All that is no speaker's line is in some turn."""
    file = tmp_path / "talk.md"
    said = [f"line {n}" for n in range(40)]
    lines = [("## User", "## Assistant")[n % 2] + f"\n{one}" for n, one in enumerate(said)]
    file.write_text("\n".join(lines), "utf-8")
    found = [part.text for turn in turns("markdown", file) for part in turn.parts]  # type: ignore[union-attr]
    assert found == said
