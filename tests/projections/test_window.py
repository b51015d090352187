"""What fits into the next prompt: measured on the state, true of the text that is rendered."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.events import Event, MindInvoked
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe, thoughts_limit
from domain.protocol.view import View
from domain.recorded import Recorded
from domain.sampling import sample
from domain.session import Session, fold
from domain.tokens import estimate
from projections.window import BLOCKS, Block, Name, Window, window
from tests.domain.happened import (
    asked,
    drafted,
    exchanged,
    excluded,
    invoked,
    learned,
    opened,
    present,
    pruned,
    seen,
    signalled,
    started,
    thought,
)
from tests.spec import after
from tests.strategies import histories

TIME = "2026-05-02T10:30:00+00:00"
DIALECTS = ("full", "compact")


def prepared(state: Session, dialect: str) -> tuple[View, MindInvoked]:
    """What the next iteration is shown, and what is noted of it."""
    drawn = sample(state.pool, thoughts_limit(state), 1)
    noted = invoked(
        1, dialect=dialect, sampled=tuple(thought.version for thought in drawn.thoughts)
    )
    return observe(state, drawn, TIME), noted


def measured(*events: Event, dialect: str = "full", **settings_: Any) -> Window:
    """The window of a session to which this has happened."""
    state = after(started(**settings_), *events)
    return window(state, *prepared(state, dialect))


def texts(found: Window, block: Name) -> list[str]:
    """What stands in a block."""
    return [part.text for part in found.parts if part.block == block]


def whys(found: Window) -> dict[str, str]:
    """What is left out, and why."""
    return {left.what: left.why for left in found.left_out}


def in_full(read: Mapping[str, Any]) -> dict[Name, list[str]]:
    """The texts of each block, as a reader of the full dialect finds them."""
    dialogue = read.get("dialogue", {})
    return {
        "message": [dialogue["awaiting"]["text"]],
        "memory": read.get("memory", []),
        "history": [turn["text"] for turn in dialogue.get("history", [])],
        "drafts": read.get("drafts", []),
        "thoughts": read.get("thinking_pool", []),
    }


def in_short(read: Mapping[str, Any]) -> dict[Name, list[str]]:
    """The same of the compact dialect."""
    latest = read.get("latest_draft")
    return {
        "message": [read["message"]],
        "memory": read.get("memory", []),
        "history": [text for turn in read.get("earlier", []) for text in turn.values()],
        "drafts": [] if latest is None else [latest],
        "thoughts": read.get("pool", []),
    }


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from(DIALECTS))
def test_what_is_counted_is_what_stands_in_the_prompt(past: list[Recorded], dialect: str) -> None:
    """Items and characters of each block, whatever has happened, read back from the text."""
    state = fold(past)
    if state is None or state.dialogue.awaiting is None:
        return
    view, noted = prepared(state, dialect)
    text = prompt_text(view, dialect)
    found = window(state, view, noted)
    read = (in_full if dialect == "full" else in_short)(yaml.safe_load(text))
    for name in BLOCKS:
        block = found.blocks[name]
        assert texts(found, name) == read[name]
        assert (block.shown, block.chars) == (len(read[name]), sum(map(len, read[name])))
        assert block.shown <= (block.most or block.of)
    assert found.chars == len(text)
    assert found.tokens == found.estimate == estimate(text)
    assert found.around + sum(part.tokens for part in found.parts) == found.tokens


def test_tokens_are_counted_as_one_is_told() -> None:
    """Those of each text, of each block with what stands around it, and of the whole prompt."""
    asked_for: list[str] = []

    def words(some: Sequence[str]) -> list[int]:
        asked_for.extend(some)
        return [len(text.split()) for text in some]

    state = after(started(), learned("the moon pulls"), *exchanged(1), asked("so?", "exc_2_000", 2))
    view, noted = prepared(state, "full")
    found = window(state, view, noted, words)
    prompt = prompt_text(view, "full")
    assert found.tokens == len(prompt.split())
    assert [part.tokens for part in found.parts] == [1, 3, 2, 6]
    assert found.around == found.tokens - 12
    block = prompt[: prompt.index("meta:")]
    assert found.blocks["memory"].tokens == len(block.split())
    assert {block, prompt, "so?"} <= set(asked_for)
    assert (found.estimate, found.limit, found.memory_limit) == (estimate(prompt), 4000, 1000)


def test_a_session_in_which_nothing_was_said() -> None:
    """It is idle; there is nothing to show, and room for all."""
    found = measured()
    assert found.parts == ()
    assert found.blocks["message"] == Block(0, 1, 1, 0, None, 0)
    assert found.blocks["memory"] == Block(0, 0, None, 0, None, 0)
    assert found.blocks["history"] == Block(0, 0, 40, 0, 8000, 0)
    assert found.blocks["drafts"] == Block(0, 0, 16, 0, 2000, 0)
    assert found.blocks["thoughts"] == Block(0, 0, 10, 0, 3000, 0)
    assert (found.left_out, found.signals, found.hard_signals) == ((), (), (0, 3))


def test_why_each_part_is_there() -> None:
    """Each in words of its own kind, with what it is called."""
    found = measured(
        opened("explain the tides"),
        thought("the far bulge"),
        *exchanged(1),
        asked("and now?", "exc_2_000", 2),
        drafted(1, "The first of the answers", 2, exchange="exc_2_000"),
        drafted(2, "The second of the answers", 3, exchange="exc_2_000"),
    )
    assert [(part.block, part.what, part.why) for part in found.parts] == [
        ("message", "exc_2_000", "it awaits an answer"),
        ("memory", "effort 2", "an open effort"),
        ("history", "exc_1_000, user", "one of the last 10 exchanges"),
        ("history", "exc_1_000, mind", "one of the last 10 exchanges"),
        ("drafts", "draft 1", "one of the newest drafts"),
        ("drafts", "draft 2", "the newest draft"),
        ("thoughts", "thought 3", "drawn from the pool"),
    ]
    assert (found.exchanges, found.shortened) == (1, 0)


def test_what_was_left_out_and_why() -> None:
    """Pruned, not shown by the settings, stood for by a summary, excluded; long texts are cut."""
    found = measured(
        *exchanged(1, "x" * 900),
        *exchanged(2),
        *exchanged(3),
        pruned("exc_2_000"),
        learned("the moon pulls"),
        excluded(15),
        asked("and now?", "exc_4_000", 4),
        *(
            drafted(n, f"draft number {n} with words", 3 + n, exchange="exc_4_000")
            for n in (1, 2, 3)
        ),
        history_display_chars=300,
        draft_display_count=2,
    )
    assert whys(found) == {
        "exc_2_000": "it was pruned",
        "fact 15": "it is excluded",
        "draft 1": "more than draft_display_count shows",
    }
    (cut,) = [part for part in found.parts if not part.whole]
    assert (cut.what, found.shortened) == ("exc_1_000, user", 1)
    assert found.blocks["history"].chars <= 300
    assert found.blocks["memory"][:2] == (0, 1)


def test_exchanges_beyond_those_that_are_held() -> None:
    """Of a long session only the newest hundred can be shown at all; the others are counted."""
    events = [event for number in range(1, 104) for event in exchanged(number)]
    found = measured(*events)
    assert (found.exchanges, found.older, found.blocks["history"].of) == (20, 3, 206)
    assert whys(found)["exc_4_000"] == "more exchanges than history_display_count shows"


def test_drafts_thoughts_signals() -> None:
    """Shown, of how many, within which limits."""
    found = measured(
        asked(),
        invoked(1),
        thought("a short one"),
        thought("x" * 200),
        drafted(1, "The first of the answers"),
        seen(1),
        present("engaged", "at my desk", 2),
        invoked(2),
        drafted(2, "+1"),
        invoked(3),
        signalled("hard", 1, 3),
        thought_display_chars=100,
        draft_display_count=1,
    )
    assert found.blocks["drafts"][:5] == (1, 2, 1, 2, 2000)
    assert found.blocks["thoughts"][:5] == (1, 2, 10, 11, 100)
    assert found.hard_signals == (1, 3)
    assert [(s.presence, s.status, s.age) for s in found.signals] == [("engaged", "at my desk", 2)]


def test_the_compact_dialect_shows_less() -> None:
    """Five thoughts, two exchanges, four artifacts, the latest answer; and it says so."""
    found = measured(
        *(learned(f"fact {n}: the moon pulls") for n in range(6)),
        *(event for n in (1, 2, 3) for event in exchanged(n)),
        *(thought(f"{n} " + "x" * 300) for n in range(7)),
        asked("why " * 400, "exc_4_000", 4),
        invoked(4),
        drafted(1, "The first of the answers", 4, exchange="exc_4_000"),
        drafted(2, "+1", 5, exchange="exc_4_000"),
        present("absent", "", 1),
        present("engaged", "back", 3),
        dialect="compact",
    )
    blocks = found.blocks
    assert blocks["thoughts"][:3] == (5, 7, 5)
    assert blocks["thoughts"].chars <= 1000
    assert blocks["history"][:3] == (4, 6, 4)
    assert blocks["memory"][:3] == (4, 6, 4)
    assert blocks["drafts"][:5] == (1, 2, 1, len("The first of the answers"), 700)
    assert [s.presence for s in found.signals] == ["engaged"]
    assert found.shortened == 6  # the thoughts and the message
    assert blocks["message"].chars <= 900
    assert whys(found) | {"thought": ""} == {
        "fact 2": "the compact dialect shows 4 artifacts, open efforts first",
        "fact 3": "the compact dialect shows 4 artifacts, open efforts first",
        "exc_1_000, user": "the compact dialect shows the newest 2 exchanges",
        "exc_1_000, mind": "the compact dialect shows the newest 2 exchanges",
        "draft 2": "the compact dialect shows the newest draft with content",
        "thought": "",
        **{
            left.what: "the compact dialect shows 5 thoughts"
            for left in found.left_out
            if left.what.startswith("thought")
        },
    }


def test_a_smaller_limit_of_the_session_holds_in_the_compact_dialect_too() -> None:
    """The narrower of both."""
    found = measured(asked(), dialect="compact", thought_display_count=2, history_display_chars=300)
    assert (found.blocks["thoughts"].most, found.blocks["history"].limit) == (2, 300)
