"""How often a server is asked: each time is a round trip, of half a millisecond or of fifty."""

from collections.abc import Callable, Iterator

import pytest

from commands.eventlog import EventLog
from commands.eventlog.verify import PAGE
from commands.forks import fork_session
from domain.events import SessionForked
from domain.ids import SessionId
from domain.recorded import BEGINNING
from projections.audit import Audit
from tests.commands.eventlog.stores import (
    MAIN,
    StillWorld,
    begin,
    branch,
    draw,
    grow,
    started,
    thought,
)
from tests.stores.places import Site, whole
from tests.stores.proxy import Wire

FEW, MANY = 10, 150
"""Roots, and as many branches of the first session."""


@pytest.fixture
def wire(served: Site) -> Iterator[Wire]:
    """To a server with a session of six events."""
    begin(served.create(), events=6)
    assert served.place.url is not None
    with Wire(served.place.url) as wire:
        yield wire


@pytest.fixture
def log(served: Site, wire: Wire) -> Iterator[EventLog]:
    """The store by that wire."""
    with served.open(served.place._replace(url=wire.url)) as log:
        yield log


def many(log: EventLog, first: int, last: int) -> None:
    """So many roots of two events, and as many branches of one."""
    onto, rows = log.head(MAIN, 3), []
    forked = SessionForked(parent=MAIN, at_version=3, parent_hash=onto.hash)
    for number in range(first, last):
        rows += log._mapper.sealed(BEGINNING, f"r{number}", draw(started(), thought("x")))[0]
        rows += log._mapper.sealed(onto, f"f{number}", draw(forked))[0]
    with log._recorder.writing(MAIN) as cursor:
        log._recorder.insert_within(cursor, rows)


def trips(wire: Wire, ask: Callable[[], object]) -> int:
    """How many it takes, as a rule: every now and then psycopg prepares what it asks often."""
    counts = []
    for _ in range(4):
        before = wire.answered
        ask()
        counts.append(wire.answered - before)
    return min(counts)


def test_a_fork_is_a_look_and_an_append(wire: Wire, log: EventLog) -> None:
    """Wherever it branches off, once it is known how its parent began."""
    names = iter(map(str, range(10)))
    world = StillWorld(drawn=1 << 40)

    def fork() -> None:
        fork_session(log, MAIN, 4, SessionId(f"child{next(names)}"), world)

    fork()
    assert trips(wire, fork) == 2
    whole(log)


def test_a_beginning_is_an_append(wire: Wire, log: EventLog) -> None:
    """Nothing is looked up for it, and nobody waits for it while it is on its way."""
    names = iter(map(str, range(10)))
    assert trips(wire, lambda: begin(log, f"root{next(names)}")) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda log: [f for verdict in log.verify() for f in verdict.findings],
        lambda log: [row for row in Audit(log, MAIN).all() if row.command != "fork"][1:],
    ],
    ids=["verify", "audit"],
)
def test_many_sessions_cost_as_many_trips_as_a_few(
    served: Site, wire: Wire, log: EventLog, ask: Callable[[EventLog], list[object]]
) -> None:
    """Of a proof and an audit; a page of rows is a trip, too."""
    counts = []
    for first, last in ((0, FEW), (FEW, MANY)):
        many(log, first, last)
        with served.open(log.place) as other:
            before = wire.answered
            assert len(ask(other)) == 0
            counts.append(wire.answered - before)
    assert counts[1] <= counts[0] + 3 * MANY // PAGE + 1 < 15
    assert len(log.sessions()) == 1 + 2 * MANY


def test_what_is_new_in_many_sessions_is_proved_in_a_few_trips(wire: Wire, log: EventLog) -> None:
    """Where each has grown, and where it begins."""
    many(log, 0, FEW)
    assert sum(1 for _ in log.verify()) == 1 + 2 * FEW
    many(log, FEW, MANY)
    for number in range(FEW):
        grow(log, f"f{number}", 1)
    before = wire.answered
    verdicts = list(log.verify(new=True))
    assert wire.answered - before < 10
    assert sum(verdict.events for verdict in verdicts) == 3 * (MANY - FEW) + FEW
    assert [f for verdict in verdicts for f in verdict.findings] == []


def test_a_branch_of_branches_is_proved_in_a_few_trips(wire: Wire, log: EventLog) -> None:
    """Though each branched off what others hold, far up."""
    parent = MAIN
    for number in range(12):
        child = SessionId(f"{number}")
        branch(log, parent, 4 + number // 3, child)
        parent = child
    before = wire.answered
    assert [f for verdict in log.verify() for f in verdict.findings] == []
    assert wire.answered - before < 40
