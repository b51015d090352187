"""What lies on the shelf: bounded, and each exchange behind the artifact that it belongs to."""

from domain.artifacts import MOST, Shelf, evolve
from domain.events import (
    ArtifactRecalled,
    ArtifactRejected,
    ContextCompacted,
    EffortOpened,
    EffortResolved,
    ExchangeRouted,
    FactLearned,
)
from domain.ids import ExchangeId
from tests.domain.happened import FIRST

OTHER = 700
"""An effort that goes on."""


def concluded() -> Shelf:
    """An effort that stands for the first exchange, and another one."""
    shelf = evolve(Shelf(), EffortOpened(goal="fix the login", exchange=FIRST), 5)
    shelf = evolve(shelf, EffortResolved(effort=5, resolution="a new token"), 6)
    compacted = ContextCompacted(
        exchanges=(FIRST,), effort=5, how="conclusion", tokens_before=9, tokens_after=3
    )
    shelf = evolve(shelf, compacted, 7)
    return evolve(shelf, EffortOpened(goal="plan the move"), OTHER)


def test_an_exchange_that_moves_leaves_what_stood_for_it() -> None:
    """Else it would stay hidden behind an effort that it does not belong to."""
    shelf = concluded()
    assert shelf.stands_for(FIRST) == 5
    shelf = evolve(shelf, ExchangeRouted(exchange=FIRST, effort=OTHER), OTHER + 1)
    assert (shelf.effort_of(FIRST), shelf.stands_for(FIRST)) == (OTHER, None)


def test_a_summary_stands_for_an_exchange_wherever_it_moves() -> None:
    """It tells of the exchange, not of the effort."""
    summed = ContextCompacted(
        exchanges=(FIRST,), summary="of it", how="extractive", tokens_before=9, tokens_after=3
    )
    shelf = evolve(evolve(Shelf(), EffortOpened(goal="fix", exchange=FIRST), 5), summed, 8)
    shelf = evolve(shelf, EffortOpened(goal="plan the move"), OTHER)
    shelf = evolve(shelf, ExchangeRouted(exchange=FIRST, effort=OTHER), OTHER + 1)
    assert shelf.stands_for(FIRST) == 8


def test_what_a_rejected_artifact_stood_for_stands_for_itself_again() -> None:
    """Its exchanges are shown as if it had never been."""
    shelf = evolve(concluded(), ArtifactRejected(artifact=5), 800)
    assert (shelf.effort_of(FIRST), shelf.stands_for(FIRST)) == (None, None)


def test_a_full_shelf_lets_go_of_what_nobody_spoke_of_longest() -> None:
    """Never of an open effort, and never of what was put there just now."""
    shelf = evolve(Shelf(), EffortOpened(goal="plan the move"), 2)
    for version in range(10, 10 + MOST):
        shelf = evolve(shelf, FactLearned(statement=f"fact {version}"), version)
    assert len(shelf.artifacts) == MOST
    assert shelf.get(2) is not None
    assert shelf.get(10) is None
    back = ArtifactRecalled(artifact=10, type="fact", text="fact 10", status="current")
    shelf = evolve(shelf, back, 999)
    assert len(shelf.artifacts) == MOST
    assert shelf.get(10) is not None
    assert shelf.get(11) is None
    assert [a.id for a in shelf.artifacts] == sorted(a.id for a in shelf.artifacts)


def test_the_talk_is_about_what_its_newest_exchange_belongs_to() -> None:
    """Moving an older one changes nothing of that."""
    shelf = concluded()
    assert shelf.effort is None
    shelf = evolve(shelf, ExchangeRouted(exchange=ExchangeId("exc_9_000"), effort=OTHER), 900)
    assert shelf.effort is None
