"""Importing again: nothing comes twice, what is new comes, what parted stays as it is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import SendMessage
from commands.imports import Format, Report, import_file
from commands.notes import AddNote
from commands.redaction import redact_events
from domain.errors import StoreIsFull
from domain.ids import SessionId
from domain.recorded import Draw
from domain.session import Session
from tests.commands.imports.shelf import FIXTURES, Shelf, texts
from tests.conversations.formats import FILES, claude_code, write
from tests.conversations.generate import conversation
from tests.stories.cast import Stage

ALL: list[tuple[Format, str]] = [
    ("claude-code", "session.jsonl"),
    ("chatgpt", "conversations.json"),
    ("openai-messages", "messages.json"),
    ("openai-messages", "training.jsonl"),
    ("markdown", "talk.md"),
]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A store with nothing in it."""
    stage = Stage(tmp_path / "store")
    yield Shelf(stage)
    stage.log.close()


def whats(report: Report) -> list[str]:
    """What came of each session."""
    return [one.what for one in report.sessions]


@pytest.mark.parametrize(("format_", "file"), ALL)
def test_twice_is_once(shelf: Shelf, format_: Format, file: str) -> None:
    """The second import writes nothing, whatever people did to the sessions besides talking."""
    first = shelf.take(format_, file)
    shelf.stage.session = first.sessions[0].session
    shelf.stage.does(AddNote(text="so that was it"))
    before = shelf.position
    again = shelf.take(format_, file)
    assert set(whats(again)) == {"known"}
    assert [one.session for one in again.sessions] == [one.session for one in first.sessions]
    assert (shelf.position, again.news) == (before, False)


def test_a_file_that_grew(shelf: Shelf, tmp_path: Path) -> None:
    """What is new is added behind what is here, and it is noted where that came from."""
    lines = (FIXTURES / "session.jsonl").read_text("utf-8").splitlines(keepends=True)
    file = tmp_path / "session.jsonl"
    file.write_text("".join(lines[:19]), "utf-8")  # up to the test that fails
    session = shelf.take("claude-code", file).sessions[0].session
    before = shelf.told(session)
    file.write_text("".join(lines), "utf-8")
    grown = shelf.take("claude-code", file)
    assert whats(grown) == ["longer", "known"]
    assert (grown.sessions[0].exchanges, grown.sessions[0].tools) == (2, 1)
    after = shelf.told(session)
    assert after[: len(before)] == before
    assert "notes 'Imported further from claude-code." in after[len(before)]
    assert after[-1].endswith("exc_1_003 asks 'Is it green now?'")
    assert set(whats(shelf.take("claude-code", file))) == {"known"}


def test_a_result_that_came_later(shelf: Shelf, tmp_path: Path) -> None:
    """A turn that was still in work awaits; what a tool gave back afterwards is not told again."""
    lines = (FIXTURES / "session.jsonl").read_text("utf-8").splitlines(keepends=True)
    file = tmp_path / "session.jsonl"
    file.write_text("".join(lines[:10]), "utf-8")  # two tools are at work
    shelf.take("claude-code", file)
    (session,) = shelf.stage.log.sessions()
    assert shelf.told(session)[-1].endswith(
        'uses Bash {"command": "grep -rn retry shop"} → None ←5'
    )
    assert shelf.stage.log.state(session).dialogue.awaiting is not None
    file.write_text("".join(lines), "utf-8")
    assert whats(shelf.take("claude-code", file)) == ["longer", "new"]
    assert shelf.stage.log.sessions() == [session, f"{session}/branch-1"]


def test_an_answer_that_came_later(shelf: Shelf, tmp_path: Path) -> None:
    """A message that awaited its answer gets it; another branch comes as a branch."""
    data = json.loads((FIXTURES / "conversations.json").read_text("utf-8"))
    file = tmp_path / "conversations.json"
    file.write_text((FIXTURES / "conversations.json").read_text("utf-8"), "utf-8")
    shelf.take("chatgpt", file)
    mapping: dict[str, Any] = data[0]["mapping"]
    for name in ("late", "later"):
        mapping["q3"]["children"].append(name)
        answer = {**mapping["a1"]["message"], "id": name, "create_time": 1772442090.0}
        answer["content"] = {"content_type": "text", "parts": [f"A {name} answer."]}
        mapping[name] = {"id": name, "message": answer, "parent": "q3", "children": []}
    data[0]["current_node"] = "later"
    file.write_text(json.dumps(data), "utf-8")
    report = shelf.take("chatgpt", file)
    assert sorted(whats(report)) == ["known", "known", "known", "longer", "new"]
    assert shelf.told("why-are-there-two-tides")[-2].endswith("draft 1 'A later answer.' ←12")
    assert "draft 1 'A late answer.'" in texts(
        shelf.told("why-are-there-two-tides/branch-3", own=True)
    )


def test_a_session_that_went_on_here(shelf: Shelf, tmp_path: Path) -> None:
    """It is never written into once somebody talked in it: the source's course is a branch."""
    file = tmp_path / "talk.md"
    file.write_text("## User\n\ntea?\n\n## Assistant\n\nYes.\n", "utf-8")
    shelf.take("markdown", file)
    shelf.stage.session = SessionId("tea")
    shelf.stage.does(SendMessage(text="and here?"))
    before = shelf.position
    assert whats(shelf.take("markdown", file)) == ["known"]
    file.write_text(file.read_text("utf-8") + "\n## User\n\nand there?\n\n## Assistant\n\nNo.\n")
    report = shelf.take("markdown", file)
    assert [(one.session, one.what) for one in report.sessions] == [
        ("tea", "known"),
        ("tea/source", "new"),
    ]
    assert shelf.told("tea")[-1].endswith("asks 'and here?'")
    assert texts(line.split(" ", 3)[3] for line in shelf.told("tea/source", own=True)) == texts(
        [
            "forks tea@5: another course in the source: after event 5 of tea ←5",
            "exc_1_001 asks 'and there?'",
            "exc_1_001 draft 1 'No.' ←7",
            "exc_1_001 accepts 1 ←8",
        ]
    )
    assert shelf.position == before + 4
    assert whats(shelf.take("markdown", file)) == ["known", "known"]
    file.write_text(file.read_text("utf-8") + "\n## User\n\nat last?\n")
    assert whats(shelf.take("markdown", file)) == ["known", "longer"]
    assert shelf.told("tea/source")[-1].endswith("exc_1_002 asks 'at last?'")


def test_another_file_of_the_same_name(shelf: Shelf, tmp_path: Path) -> None:
    """Where a format has no ids, a file that begins otherwise is another conversation."""
    file = tmp_path / "talk.md"
    for question in ("tea?", "coffee?", "tea?"):
        file.write_text(f"## User\n\n{question}\n\n## Assistant\n\nYes.\n", "utf-8")
        shelf.take("markdown", file)
    assert shelf.stage.log.sessions() == ["tea", "coffee"]


def test_a_branch_where_the_source_parted(shelf: Shelf, tmp_path: Path) -> None:
    """It hangs on the source's course, not on what was said here instead."""
    data = json.loads((FIXTURES / "conversations.json").read_text("utf-8"))[:1]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(data), "utf-8")
    shelf.take("chatgpt", file)
    mapping: dict[str, Any] = data[0]["mapping"]
    mapping["a3"]["message"]["content"]["parts"] = ["Rewritten."]
    for name in ("r1", "r2"):
        mapping["q3"]["children"].append(name)
        answer = {**mapping["a1"]["message"], "create_time": 1772442090.0}
        mapping[name] = {"id": name, "message": answer, "parent": "q3", "children": []}
    data[0]["current_node"] = "r2"
    file.write_text(json.dumps(data), "utf-8")
    for _ in range(2):
        report = shelf.take("chatgpt", file)
    tides = "why-are-there-two-tides"
    parents = {one.session: one.branch_of for one in report.sessions}
    assert parents == {
        tides: None,
        f"{tides}/source": tides,
        f"{tides}/branch-1": tides,
        f"{tides}/branch-2": tides,
        f"{tides}/branch-3": f"{tides}/source",
    }
    assert "draft 1 'Rewritten.'" in texts(shelf.told(f"{tides}/branch-3"))
    assert "draft 1 'Rewritten.'" not in texts(shelf.told(tides))
    assert not [one for one in shelf.stage.log.verify() if one.findings]


def test_a_conversation_that_is_twice_in_a_file(shelf: Shelf, tmp_path: Path) -> None:
    """It is imported once; a dry run may count it twice, and does not stumble."""
    data = json.loads((FIXTURES / "conversations.json").read_text("utf-8"))[2:]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(data * 2), "utf-8")
    assert whats(shelf.take("chatgpt", file, dry=True)) == ["new", "new"]
    assert whats(shelf.take("chatgpt", file)) == ["new", "known"]


def test_names_are_never_used_twice(shelf: Shelf, tmp_path: Path) -> None:
    """A title that is taken gets a number; a given name is refused for several conversations."""
    for name in ("one.md", "two.md"):
        file = tmp_path / name
        file.write_text(f"## User\n\ntea?\n\n## Assistant\n\n{name}\n", "utf-8")
        shelf.take("markdown", file, prefix="notes/2026")
    assert shelf.stage.log.sessions() == ["notes/2026/tea", "notes/2026/tea-2"]
    shelf.take("markdown", "bold.md", name="bold")
    assert shelf.stage.log.exists(SessionId("bold"))


def test_what_was_redacted_is_not_brought_back(shelf: Shelf, tmp_path: Path) -> None:
    """A redacted event counts as the one of the source, and stays redacted."""
    file = tmp_path / "talk.md"
    file.write_text("## User\n\nmy code is 4471\n\n## Assistant\n\nNoted.\n", "utf-8")
    shelf.take("markdown", file)
    shelf.stage.session = SessionId("my-code-is-4471")
    said = shelf.stage.log.pick(shelf.stage.session, [3])
    redact_events(shelf.stage.log, said, "private", shelf.stage.world)
    before = shelf.position
    assert whats(shelf.take("markdown", file)) == ["known"]
    assert shelf.position == before


class _Breaks:
    """A log whose disk is full after some writes."""

    def __init__(self, stage: Stage, writes: int) -> None:
        self._log, self._writes = stage.log, writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def append(self, session: SessionId, after: int, draw: Draw, **upon: Any) -> Session:
        self._writes -= 1
        if self._writes < 0:
            raise StoreIsFull("here")
        return self._log.append(session, after, draw, **upon)


@pytest.mark.parametrize("writes", [0, 1])
def test_an_import_that_broke_off_goes_on(shelf: Shelf, writes: int, tmp_path: Path) -> None:
    """What was acknowledged is there; the next import of the same file adds exactly the rest."""
    file = tmp_path / FILES["claude-code"]
    write("claude-code", file, conversation(2, 70_000))
    whole = Shelf(Stage(tmp_path / "whole"))
    whole.take("claude-code", file)
    (session,) = whole.stage.log.sessions()
    stage = shelf.stage
    with pytest.raises(StoreIsFull):
        import_file(_Breaks(stage, writes), "claude-code", file, stage.world)  # type: ignore[arg-type]
    assert shelf.position == 256 * (writes + 1)
    assert whats(shelf.take("claude-code", file)) == ["longer"]
    told = [line.split(" ", 2)[2].split(" ←")[0] for line in shelf.told(session)]
    further = [line for line in told if "Imported further" in line]
    assert len(further) == 1
    told.remove(further[0])
    expected = [line.split(" ", 2)[2].split(" ←")[0] for line in whole.told(session)]
    assert told == expected
    whole.stage.log.close()


def test_a_dry_run_writes_nothing(shelf: Shelf) -> None:
    """It counts what would come, branches included, as the import then does."""
    for format_, file in ALL:
        dry = shelf.take(format_, file, dry=True)
        assert shelf.stage.log.position() == 0
        real = shelf.take(format_, file)
        assert [one.session for one in dry.sessions] == [one.session for one in real.sessions]
        for total in ("events", "exchanges", "tools", "thoughts", "notes"):
            assert dry.total(total) == real.total(total)
        assert (dry.left_out, dry.changed) == (real.left_out, real.changed)
        shelf = Shelf(Stage(shelf.stage.log.place.home.with_name(f"for-{file}")))


def test_claude_code_in_two_sittings(shelf: Shelf, tmp_path: Path) -> None:
    """A live session is imported again and again as it grows, and always is the same one."""
    lines = [json.dumps(line) + "\n" for line in claude_code(conversation(5, 6_000))]
    file = tmp_path / "live.jsonl"
    for end in range(2, len(lines) + 1):
        file.write_text("".join(lines[:end]) + '{"type": "user", "mess', "utf-8")
        shelf.take("claude-code", file)
    assert len(shelf.stage.log.sessions()) == 1
    assert not [one for one in shelf.stage.log.verify() if one.findings]
