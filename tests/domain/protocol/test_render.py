"""What a mind reads in the full dialect: exact texts, fixed structure, the same bytes each time."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import strategies as st

from domain.protocol.render import render
from domain.protocol.scalar import quoted, scalar
from domain.protocol.view import DraftSeen, SignalSeen, ThoughtSeen, TurnSeen, View
from tests.domain.protocol.views import EVERYTHING, IDLE, REMEMBERING, texts, views
from tests.often import often

GOLDEN = Path(__file__).parent / "golden"
HEAD = r"  -(?: \|2?[+-]?)?  # "
THOUGHT = re.compile(HEAD + r"age: \d+, cluster: \{(?:~|id: \d+, size: \d+)\}(, recalled: true)?")
ARTIFACT = re.compile(
    HEAD + r"(?:effort|fact|event|summary): \d+(?:, status: (?:open|resolved))?"
    r"(?:, outcome: (?:done|failed|abandoned))?(?:, part_of: \d+)?(?:, when: \".*\")?"
)
DRAFT = re.compile(HEAD + r"index: \d+, age: \d+, user_seen: (?:true|false)")


def structure(view: View) -> dict[str, Any]:
    """What a YAML reader has to find in the rendered view."""
    limits = {
        "thoughts": view.thoughts_limit._asdict(),
        "history": view.history_limit._asdict(),
        "drafts": view.drafts_limit._asdict(),
    }
    meta: dict[str, Any] = {
        "self": view.name,
        "iter": view.iteration,
        "user_time": view.user_time,
        "limits": limits,
        "used": {
            "thoughts": used(view.thoughts),
            "history": used(view.history),
            "drafts": used(view.drafts if view.awaiting else ()),
        },
    }
    if view.awaiting and view.hard_signals:
        meta["hard_signals"] = view.hard_signals._asdict()
    orientation: dict[str, Any] = {"iter": view.iteration}
    if view.signals:
        meta["user_signal"] = [{"age": s.age, **presence(s), "time": s.time} for s in view.signals]
        orientation["user_signal"] = presence(view.signals[0])
    dialogue: dict[str, Any] = {}
    if view.history:
        dialogue["history"] = [
            {"from": turn.sender, "age": turn.age, "text": turn.text} for turn in view.history
        ]
    if view.awaiting:
        dialogue["awaiting"] = {"age": view.awaiting.age, "text": view.awaiting.text}
    drafts = [draft.text for draft in view.drafts] if view.awaiting else []
    blocks = {
        "memory": [artifact.text for artifact in view.memory],
        "meta": meta,
        "thinking_pool": [thought.text for thought in view.thoughts],
        "dialogue": dialogue,
        "drafts": drafts,
        "orientation": orientation,
    }
    return {name: block for name, block in blocks.items() if block}


def used(shown: Sequence[ThoughtSeen | TurnSeen | DraftSeen]) -> dict[str, int]:
    """How much of a limit these take."""
    return {"chars": len("".join(item.text for item in shown)), "count": len(shown)}


def presence(signal: SignalSeen) -> dict[str, str]:
    """A presence as it is shown, without an empty status."""
    status = {"status": signal.status} if signal.status else {}
    return {"presence": signal.presence, **status}


@often(40, 150, view=views())
def test_every_text_reads_back_exactly_and_in_its_place(view: View) -> None:
    """Whatever people and minds write, a YAML reader finds these texts and this structure."""
    found = yaml.safe_load(render(view))
    assert found == structure(view)
    assert list(found) == list(structure(view))


@often(40, 150, view=views())
def test_every_thought_and_draft_has_one_head_and_no_text_looks_like_one(view: View) -> None:
    """Whoever reads line by line counts as many heads as there are things shown."""
    lines = render(view).split("\n")
    drafts = len(view.drafts) if view.awaiting else 0
    assert sum(bool(ARTIFACT.fullmatch(line)) for line in lines) == len(view.memory)
    heads = [head for line in lines if (head := THOUGHT.fullmatch(line))]
    assert [head[1] is not None for head in heads] == [t.recalled for t in view.thoughts]
    assert sum(bool(DRAFT.fullmatch(line)) for line in lines) == drafts


@often(30, 100, view=views())
def test_a_prompt_is_clean_text_and_the_same_each_time(view: View) -> None:
    """A prompt can be sent and hashed: plain UTF-8 without control characters, byte for byte."""
    text = render(view)
    assert text == render(View(*view))
    assert text.endswith("\n")
    assert not set(text) & {"\r", "\x00", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff"}
    assert text.encode().decode() == text


@often(100, 300, text=texts, pad=st.sampled_from(("  ", "    ", "        ")))
def test_a_scalar_reads_back_wherever_it_stands(text: str, pad: str) -> None:
    """Between other nodes and at the end of a document, with either reader."""
    head, body = scalar(text, pad)
    outer = pad[2:]
    nested = "".join(f"{' ' * n}k:\n" for n in range(0, len(outer), 2))
    value: Any = {"k": text}
    for _ in range(len(outer) // 2):
        value = {"k": value}
    document = f"{nested}{outer}k:{head}  # a head\n{body}"
    assert yaml.safe_load(document) == value
    assert yaml.safe_load(f"{document}{outer}z: 1\n") is not None
    assert yaml.safe_load(f"[{quoted(text)}]") == [text]
    if not any("\ud800" <= char <= "\udfff" for char in text):
        reader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        assert yaml.load(document, reader) == value  # noqa: S506 - both are safe loaders


def test_ordinary_text_is_shown_as_it_was_written() -> None:
    """Quotes, colons, comments, tabs and Markdown stay readable; nothing is escaped for them."""
    text = '"Yes": it\'s # fine\n\t- [ ] *really*\n\n    code\n'
    shown = "".join(f"    {line}\n" if line else "\n" for line in text.split("\n")[:-1])
    assert scalar(text, "    ") == (" |", shown)
    assert scalar(" led by a space", "  ") == (" |2-", "   led by a space\n")
    assert scalar("ends twice\n\n", "  ") == (" |+", "  ends twice\n\n")


def test_a_text_that_no_block_can_hold_is_quoted_on_one_line() -> None:
    """Control characters reach the mind as escapes, so that they do nothing on the way."""
    assert scalar("a\x1b\nb\u2028c\ud800😀", "  ") == ("", '  "a\\x1b\\nb\\u2028c\\ud800😀"\n')


@pytest.mark.parametrize(
    ("shown", "total", "head"),
    [(2, 2, "drafts:  # oldest first"), (2, 3, "drafts:  # oldest first (2 of 3 shown)")],
)
def test_a_limited_list_of_drafts_says_so(shown: int, total: int, head: str) -> None:
    """The mind knows that there are earlier drafts which it does not see."""
    view = EVERYTHING._replace(drafts=EVERYTHING.drafts[:shown], drafts_total=total)
    assert head in render(view).split("\n")


def test_a_mind_is_told_how_much_of_its_limits_is_in_use() -> None:
    """Characters and items of what it is shown, list by list; nothing of what is left out."""
    meta = yaml.safe_load(render(EVERYTHING))["meta"]
    assert list(meta["used"]) == list(meta["limits"]) == ["thoughts", "history", "drafts"]
    assert meta["used"]["history"] == {"chars": 50, "count": 2}
    assert meta["used"]["drafts"] == {"chars": 54, "count": 2}
    idle = yaml.safe_load(render(IDLE._replace(drafts=EVERYTHING.drafts)))["meta"]
    assert idle["used"]["drafts"] == {"chars": 0, "count": 0}


def test_a_pause_is_announced_while_there_is_something_to_draft_for() -> None:
    """While idle nothing can be left out, so the row of hard signals says nothing."""
    assert yaml.safe_load(render(EVERYTHING))["meta"]["hard_signals"] == {
        "consecutive": 1,
        "threshold": 3,
    }
    assert "hard_signals" not in yaml.safe_load(render(IDLE))["meta"]
    assert "hard_signals" not in render(EVERYTHING._replace(hard_signals=None))


def test_what_was_called_back_is_marked_in_its_head() -> None:
    """Behind its cluster; a thought of the pool has no such mark."""
    heads = [line for line in render(EVERYTHING).split("\n") if "cluster:" in line]
    assert [head.partition("#")[2] for head in heads] == [
        " age: 5, cluster: {id: 3, size: 8}",
        " age: 190, cluster: {id: 4, size: 2}, recalled: true",
        " age: 40, cluster: {~}",
    ]


@pytest.mark.parametrize(
    ("name", "view"), [("full", EVERYTHING), ("idle", IDLE), ("remembering", REMEMBERING)]
)
def test_the_layout_of_version_1_4_stays(name: str, view: View) -> None:
    """Old prompts render to the same bytes for ever; another layout is another version."""
    assert render(view) == (GOLDEN / f"{name}.v1.4.yaml").read_text(encoding="utf-8")


def test_while_idle_the_dialogue_is_history_alone() -> None:
    """Without a message there is nothing to draft for, even if drafts were handed in."""
    found = yaml.safe_load(render(IDLE._replace(drafts=EVERYTHING.drafts)))
    assert list(found) == ["meta", "dialogue", "orientation"]
    assert list(found["dialogue"]) == ["history"]


def test_rendering_needs_no_yaml_library() -> None:
    """Whoever only shows a prompt doesn't wait for the YAML reader to load."""
    code = (
        "import sys, domain.protocol.render, domain.protocol.prompts;"
        "domain.protocol.prompts.system_prompt('full'); sys.exit('yaml' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
