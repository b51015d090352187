"""Keeping the context small, as a wish: what leaves it, and what stays."""

import pytest

from commands.artifacts.compaction import taken
from commands.artifacts.upkeep import CROWDED, KeepUp, Loose, Summary
from domain.context import FRAME
from domain.events import (
    ArtifactsEvicted,
    ContextCompacted,
    EffortCollapsed,
    EffortExpanded,
    EffortOpened,
    EffortResolved,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
)
from domain.tokens import estimate
from tests.domain.happened import FIRST, configured, exchanged
from tests.spec import given

NOW = "2026-05-02T10:30"
OPENED = EffortOpened(goal="fix the login", exchange=FIRST)
ENDED = (OPENED, EffortResolved(effort=6, resolution="a new token"))
"""Behind one exchange: the effort is event 6."""


def turns(first: int, last: int) -> list[Event]:
    """So many exchanges about nothing."""
    return [event for number in range(first, last + 1) for event in exchanged(number)]


def test_what_nobody_spoke_of_leaves_after_so_many_turns() -> None:
    """As many as the settings say, and not one before."""
    past = (*turns(1, 1), *ENDED, configured("evict_after", 20, 3))
    given(*past, *turns(2, 3)).when(KeepUp(user_time=NOW)).then()
    given(*past, *turns(2, 4)).when(KeepUp(user_time=NOW)).then(
        ArtifactsEvicted(artifacts=(6,), turn=4)
    )


def test_an_open_effort_and_what_is_to_come_stay() -> None:
    """However long nobody speaks of them; an event leaves when it is over."""
    past = (
        *turns(1, 1),
        OPENED,
        EventNoted(what="call mom", when="2026-05-03"),
        configured("evict_after", 20, 2),
        *turns(2, 9),
    )
    given(*past).when(KeepUp(user_time=NOW)).then()
    given(*past).when(KeepUp(user_time="2026-05-04T08:00")).then(
        ArtifactsEvicted(artifacts=(7,), turn=9)
    )


def test_an_expanded_effort_is_collapsed_before_it_leaves() -> None:
    """When nobody has spoken of it for half the time."""
    past = (*turns(1, 1), *ENDED, EffortExpanded(effort=6), configured("evict_after", 20, 4))
    given(*past, *turns(2, 2)).when(KeepUp(user_time=NOW)).then()
    given(*past, *turns(2, 3)).when(KeepUp(user_time=NOW)).then(EffortCollapsed(effort=6))


def test_what_was_said_of_an_effort_behind_its_end_is_concluded_too() -> None:
    """Once it is accepted, the effort stands for it."""
    second = Loose(exchanged(2)[0].exchange, "question 2", "this is the answer number 2")
    routed = ExchangeRouted(exchange=second.exchange, effort=6)
    state = given(*turns(1, 1), *ENDED, *turns(2, 2), routed)
    (compacted,) = [
        getattr(one, "event", one)
        for one in state.when(KeepUp(user_time=NOW, loose=(second,))).decided()
    ]
    assert isinstance(compacted, ContextCompacted)
    assert (compacted.exchanges, compacted.effort, compacted.how) == (
        (second.exchange,),
        6,
        "conclusion",
    )


def test_a_summary_stands_for_the_exchanges_it_was_made_of() -> None:
    """Not if one of them is stood for by now: then it is of other exchanges."""
    loose = Loose(FIRST, "question 1", "this is the answer number 1")
    wish = KeepUp(user_time=NOW, summary=Summary((loose,), "They greeted each other."))
    compacted = ContextCompacted(
        exchanges=(FIRST,),
        summary="They greeted each other.",
        how="extractive",
        tokens_before=taken(loose.question, loose.answer),
        tokens_after=estimate("They greeted each other.") + FRAME,
    )
    given(*turns(1, 1)).when(wish).then(compacted)
    given(*turns(1, 1), compacted).when(wish).then()


@pytest.mark.parametrize("more", [0, 1])
def test_a_crowded_shelf_lets_go_of_the_oldest_facts(more: int) -> None:
    """Facts stay for any time, as long as there is room for them."""
    facts = [FactLearned(statement=f"fact {number}") for number in range(CROWDED + more)]
    state = given(*facts)
    wish = state.when(KeepUp(user_time=NOW))
    wish.then(*([ArtifactsEvicted(artifacts=(2,), turn=0)] if more else []))
