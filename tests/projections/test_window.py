"""What fits into the next prompt: measured on the state, true of the text that is rendered."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.events import Event
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe, thoughts_limit
from domain.protocol.view import View
from domain.recorded import Recorded
from domain.sampling import sample
from domain.session import Session, fold
from projections.window import Block, Window, tokens, window
from tests.domain.happened import (
    accepted,
    asked,
    drafted,
    exchanged,
    invoked,
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


def viewed(state: Session) -> View:
    """What the next iteration is shown."""
    return observe(state, sample(state.pool, thoughts_limit(state), 1), TIME)


def measured(*events: Event, dialect: str = "full", **settings_: Any) -> Window:
    """The window of a session to which this has happened."""
    state = after(started(**settings_), *events)
    return window(state, viewed(state), dialect)


def in_full(read: Mapping[str, Any]) -> tuple[list[str], list[str], list[str], str]:
    """Thoughts, turns, drafts and message, as a reader of the full dialect finds them."""
    dialogue = read.get("dialogue", {})
    return (
        read.get("thinking_pool", []),
        [turn["text"] for turn in dialogue.get("history", [])],
        read.get("drafts", []),
        dialogue["awaiting"]["text"],
    )


def in_short(read: Mapping[str, Any]) -> tuple[list[str], list[str], list[str], str]:
    """The same of the compact dialect."""
    latest = read.get("latest_draft")
    return (
        read.get("pool", []),
        [text for turn in read.get("earlier", []) for text in turn.values()],
        [] if latest is None else [latest],
        read["message"],
    )


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from(DIALECTS))
def test_what_is_counted_is_what_stands_in_the_prompt(past: list[Recorded], dialect: str) -> None:
    """Items and characters of each block, whatever has happened, read back from the text."""
    state = fold(past)
    if state is None or state.dialogue.awaiting is None:
        return
    view = viewed(state)
    text = prompt_text(view, dialect)
    found = window(state, view, dialect)
    read = (in_full if dialect == "full" else in_short)(yaml.safe_load(text))
    for block, texts in zip((found.thoughts, found.history, found.drafts), read[:3], strict=True):
        assert (block.shown, block.chars) == (len(texts), sum(map(len, texts)))
        assert block.shown <= block.most
    assert found.message == len(read[3])
    assert found.chars == len(text)
    assert found.tokens == tokens(text)


@settings(max_examples=60, deadline=None)
@given(histories())
def test_every_exchange_has_a_standing(past: list[Recorded]) -> None:
    """Those that the state holds, oldest first; what is shown adds up to the turns."""
    state = fold(past)
    assert state is not None
    found = window(state, viewed(state), "full")
    assert [name for name, _ in found.exchanges] == [e.id for e in state.dialogue.history]
    hidden = {e.id for e in state.dialogue.history if e.pruned}
    assert {name for name, how in found.exchanges if how == "pruned"} == hidden
    turns = {"shown": 2, "in part": 1, "no room": 0, "pruned": 0}
    assert sum(turns[how] for _, how in found.exchanges) == found.history.shown
    assert len(found.exchanges) + found.older == state.dialogue.accepted


def test_a_session_in_which_nothing_was_said() -> None:
    """It is idle; there is nothing to show, and room for all."""
    found = measured()
    assert found.message is None
    assert found.history == Block(0, 0, 20, 0, 4000)
    assert found.drafts == Block(0, 0, 16, 0, 2000)
    assert found.thoughts == Block(0, 0, 10, 0, 3000)
    assert (found.exchanges, found.signals, found.hard_signals) == ((), (), (0, 3))


def test_what_was_left_out_of_history() -> None:
    """Pruned on purpose, cut off by the count in the middle, too long for what is left."""
    found = measured(
        *exchanged(1),
        *exchanged(2),
        *exchanged(3, "x" * 90),
        *exchanged(4),
        *exchanged(5),
        pruned("exc_4_000"),
        asked("and now?", "exc_6_000", 6),
        history_display_chars=100,
        history_display_count=4,
    )
    assert dict(found.exchanges) == {
        "exc_1_000": "no room",
        "exc_2_000": "in part",
        "exc_3_000": "in part",
        "exc_4_000": "pruned",
        "exc_5_000": "shown",
    }
    assert found.history == Block(4, 10, 4, 91, 100)
    assert found.message == len("and now?")


def test_exchanges_beyond_those_that_are_held() -> None:
    """Of a long session only the newest hundred can be shown at all; the others are counted."""
    events = [event for number in range(1, 104) for event in exchanged(number)]
    found = measured(*events)
    assert (len(found.exchanges), found.older, found.history.of) == (100, 3, 206)
    assert found.exchanges[0][0] == "exc_4_000"


def test_an_answer_older_than_the_texts_that_are_held() -> None:
    """It can't be shown, whatever room there is."""
    drafts = [drafted(n, f"a draft that is long enough: {n}") for n in range(1, 103)]
    found = measured(asked(), invoked(1), *drafts, accepted(1))
    assert found.exchanges == (("exc_1_000", "no room"),)


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
    assert found.drafts == Block(1, 2, 1, 2, 2000)
    assert found.thoughts == Block(1, 2, 10, 11, 100)
    assert found.hard_signals == (1, 3)
    assert [(s.presence, s.status, s.age) for s in found.signals] == [("engaged", "at my desk", 2)]


def test_the_compact_dialect_shows_less() -> None:
    """Five thoughts, two exchanges, the latest answer; long texts lose their middle."""
    found = measured(
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
    assert (found.thoughts.shown, found.thoughts.most, found.thoughts.limit) == (5, 5, 1000)
    assert found.thoughts.chars <= 1000
    assert (found.history.shown, found.history.of, found.history.most) == (4, 6, 4)
    assert dict(found.exchanges)["exc_1_000"] == "no room"
    assert found.drafts == Block(1, 2, 1, len("The first of the answers"), 700)
    assert [s.presence for s in found.signals] == ["engaged"]
    assert found.shortened == 6  # the thoughts and the message
    assert found.message is not None
    assert found.message <= 900


def test_a_smaller_limit_of_the_session_holds_in_the_compact_dialect_too() -> None:
    """The narrower of both."""
    found = measured(asked(), dialect="compact", thought_display_count=2, history_display_chars=300)
    assert (found.thoughts.most, found.history.limit) == (2, 300)


@pytest.mark.parametrize(
    ("texts", "estimate"), [((), 0), (("",), 0), (("abcd",), 1), (("abcde",), 2), (("ab", "潮"), 2)]
)
def test_tokens_are_estimated_by_bytes(texts: tuple[str, ...], estimate: int) -> None:
    """Four of UTF-8 each, rounded up: right for English, rough for the rest."""
    assert tokens(*texts) == estimate
