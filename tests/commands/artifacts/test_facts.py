"""Facts and events by hand: learned, superseded, noted."""

from typing import Any

import pytest

from commands.artifacts.dates import checked_moment
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from domain.errors import BadSetting, BadText, NoSuchArtifact, NothingChanges, Refused
from domain.events import Caused
from tests.commands.artifacts.past import past, shelf
from tests.domain.happened import (
    evicted,
    happens,
    learned,
    one_of_two,
    opened,
    recalled,
    rejected,
    resolved,
    superseded,
)


def test_a_fact_is_learned() -> None:
    """With a date since when it holds, and the effort that it was learned in."""
    state = (
        past(opened())
        .when(LearnFact(statement=" the moon pulls ", since="2026-05-02", effort=2, messages=(1,)))
        .then(learned(since="2026-05-02", effort=2, messages=(1,)))
    )
    fact = state.shelf.get(3)
    assert fact is not None
    assert (fact.text, fact.when, fact.parent) == ("the moon pulls", "2026-05-02", 2)


def test_a_fact_takes_the_place_of_another() -> None:
    """The old one leaves, because of the new one."""
    wish = past(learned("the sun pulls")).when(LearnFact(statement="the moon pulls", supersedes=2))
    state = wish.then(learned(), superseded(2, 3))
    assert shelf(state) == [(3, "the moon pulls")]
    _, ended = wish.decided()
    assert isinstance(ended, Caused)
    assert ended.cause == 3


def test_a_fact_that_left_is_superseded_without_coming_back() -> None:
    """It would leave again at once."""
    past(learned("the sun pulls"), evicted(2)).when(
        LearnFact(statement="the moon pulls", supersedes=2)
    ).then(learned(), superseded(2, 4))


@pytest.mark.parametrize(
    ("happened", "wish", "error", "why"),
    [
        ((), {"statement": " "}, BadText, "The statement is empty"),
        ((), {"since": "soon"}, BadSetting, "'soon' is no date: write 2026-05-02"),
        ((), {"effort": 9}, NoSuchArtifact, "no artifact 9"),
        ((learned("b"),), {"effort": 2}, Refused, "2 is a fact, not an effort"),
        ((), {"supersedes": 9}, NoSuchArtifact, "no artifact 9"),
        ((opened(),), {"supersedes": 2}, Refused, "2 is an effort, not a fact"),
        ((learned("b"), superseded(2)), {"supersedes": 2}, NothingChanges, "was superseded"),
        ((learned("b"), rejected(2)), {"supersedes": 2}, NothingChanges, "was rejected already"),
        ((learned(),), {}, NothingChanges, "Fact 2 says that already"),
    ],
)
def test_what_can_not_be_learned(
    happened: tuple[Any, ...], wish: dict[str, Any], error: type[Refused], why: str
) -> None:
    """In one sentence, with nothing changed."""
    past(*happened).when(LearnFact(**{"statement": "the moon pulls", **wish})).refused(error, why)


def test_a_fact_is_superseded() -> None:
    """By nothing, by one that is known, or by new words, which belong where the old ones did."""
    facts = (opened(), learned("a", effort=2), learned("b"))
    state = (
        past(*facts)
        .when(SupersedeFact(fact=3, reason=" wrong "))
        .then(superseded(3, reason="wrong"))
    )
    assert shelf(state)[1:] == [(4, "b")]
    past(*facts).when(SupersedeFact(fact=3, by=4)).then(superseded(3, 4))
    state = (
        past(*facts)
        .when(SupersedeFact(fact=3, statement="c", reason="x"))
        .then(learned("c", effort=2), superseded(3, 5, "x"))
    )
    assert shelf(state)[1:] == [(4, "b"), (5, "c")]


@pytest.mark.parametrize(
    ("wish", "error", "why"),
    [
        ({"by": 3, "statement": "c"}, BadSetting, "not both"),
        ({"by": 2}, BadSetting, "Fact 2 can't take its own place"),
        ({"by": 9}, NoSuchArtifact, "no artifact 9"),
        ({"by": 5}, Refused, "5 is an effort, not a fact"),
        ({"by": 4}, Refused, "Fact 4 was superseded by 3: name 3 instead"),
        ({"fact": 4}, NothingChanges, "Fact 4 was superseded by 3 already"),
        ({"fact": 5}, Refused, "5 is an effort"),
        ({"statement": "b"}, NothingChanges, "Fact 3 says that already"),
        ({"reason": " "}, BadText, "The reason is empty"),
    ],
)
def test_what_can_not_be_superseded(wish: dict[str, Any], error: type[Refused], why: str) -> None:
    """Nor what can't take its place."""
    given = past(learned("a"), learned("b"), learned("c"), opened(), superseded(4, 3))
    given.when(SupersedeFact(**{"fact": 2, **wish})).refused(error, why)


def test_facts_do_not_supersede_each_other_in_a_circle() -> None:
    """What was superseded can't take the place of what superseded it, unless it came back."""
    given = past(learned("a"), learned("b"), superseded(2, 3))
    given.when(SupersedeFact(fact=3, by=2)).refused(Refused, "was superseded by 3")
    past(learned("a"), learned("b"), superseded(2, 3), recalled(2, "a")).when(
        SupersedeFact(fact=3, by=2)
    ).then(superseded(3, 2))


def test_an_event_is_noted() -> None:
    """With its time, in one way of writing it, and when it is over."""
    state = (
        past()
        .when(NoteEvent(what="spring tide", when="2026-05-17 06:12:30", expires="20260519"))
        .then(happens(when="2026-05-17T06:12", expires="2026-05-19"))
    )
    (event,) = state.shelf.artifacts
    assert (event.type, event.when, event.expires) == ("event", "2026-05-17T06:12", "2026-05-19")
    past().when(NoteEvent(what="call mom")).then(happens("call mom"))


def test_an_event_at_another_time_is_another_event() -> None:
    """The very same is noted once."""
    noted = past(happens(when="2026-05-17"))
    noted.when(NoteEvent(what="spring tide", when="2026-05-17")).refused(NothingChanges, "Event 2")
    noted.when(NoteEvent(what="spring tide", when="2026-06-16")).then(happens(when="2026-06-16"))


@pytest.mark.parametrize(
    ("wish", "error", "why"),
    [
        ({"what": ""}, BadText, "The event is empty"),
        ({"when": "tomorrow"}, BadSetting, "'tomorrow' is no date"),
        ({"when": "2026-02-30"}, BadSetting, "no date"),
        ({"when": "2026-05-02T10:00+02:00"}, BadSetting, "names an offset: write your local time"),
        ({"when": "2026-05-02", "expires": "2026-05-01T23:59"}, BadSetting, "before it begins"),
        ({"when": "2026-05-02T10:00", "expires": "2026-05-02T09:00"}, BadSetting, "over (2026"),
    ],
)
def test_what_can_not_be_noted(wish: dict[str, Any], error: type[Refused], why: str) -> None:
    """A time that is none, and an end before the beginning."""
    past().when(NoteEvent(**{"what": "spring tide", **wish})).refused(error, why)


def test_an_event_may_end_on_its_day() -> None:
    """A day lasts from its first minute to its last."""
    for when, expires in (
        ("2026-05-02T10:00", "2026-05-02"),
        ("2026-05-02", "2026-05-02T00:00"),
        ("2026-05-02", "2026-05-02"),
    ):
        past().when(NoteEvent(what="x", when=when, expires=expires)).then(
            happens("x", when=when, expires=expires)
        )


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-02", "2026-05-02"),
        (" 2026-05-02T15 ", "2026-05-02T15:00"),
        ("2026-05-02T15:00:59", "2026-05-02T15:00"),
        ("20260502", "2026-05-02"),
        ("2026-W18-6", "2026-05-02"),
    ],
)
def test_dates_are_held_in_one_way(text: str, moment: str) -> None:
    """So that they can be compared letter by letter."""
    assert checked_moment(text) == moment


def test_merged_facts_are_not_superseded_twice() -> None:
    """What is part of another fact is superseded there."""
    past(learned("a"), learned("b"), one_of_two(2, 3)).when(SupersedeFact(fact=2)).refused(
        NothingChanges, "Fact 2 was merged into 3 already"
    )
    past(opened(), resolved(2)).when(SupersedeFact(fact=2)).refused(Refused, "2 is an effort")
