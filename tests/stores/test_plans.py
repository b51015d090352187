"""What a server reads to answer: as much in a large store as in a small one, whatever it knows.

A planner that has seen a few large sessions expects to meet the one that is asked for everywhere,
and would rather walk the whole table than look into an index.
"""

import threading
from collections.abc import Callable
from itertools import count, islice

import pytest

from commands.eventlog import EventLog
from commands.forks import fork_session
from domain.ids import SessionId
from domain.recorded import Look, Segment
from tests.commands.eventlog.stores import MAIN, StillWorld, begin, grow
from tests.stores.places import Connection, Site

LAST = 3000
"""The newest version of the first of the large sessions."""

OFTEN = 8
"""From the sixth time on, a server may keep to a plan that it made for any value."""

FEW = 100 + 2 * LAST / OFTEN
"""Entries of indexes, and rows, that one answer may take; a state is folded once for all."""

LARGE, WORLD = SessionId("large0"), StillWorld()


@pytest.fixture(params=[(LAST, 5000), (LAST, *[1000] * 5)], ids=["two", "six"])
def large(served: Site, request: pytest.FixtureRequest) -> Site:
    """A few large sessions and a small one, whose numbers the server knows."""
    with served.create() as log:
        begin(log, events=3)
        for number, events in enumerate(request.param):
            begin(log, f"large{number}", events=events)
    with served.sql() as owner:
        owner.execute("VACUUM ANALYZE stored_events")
    return served


def read(owner: Connection) -> int:
    """Entries of indexes and rows that were read so far, once all who asked have gone."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    while owner.execute(f"{others} AND backend_type = 'client backend'").fetchone() != (1,):
        threading.Event().wait(0.002)
    (tables,) = owner.execute(
        "SELECT coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_user_tables"
        " WHERE relname = 'stored_events'"
    ).fetchone() or (0,)
    (indexes,) = owner.execute(
        "SELECT coalesce(sum(idx_tup_read), 0)::bigint FROM pg_stat_user_indexes"
        " WHERE relname = 'stored_events'"
    ).fetchone() or (0,)
    assert isinstance(tables, int)
    assert isinstance(indexes, int)
    return tables + indexes


NUMBERS = count()

ASKED: dict[str, Callable[[EventLog], object]] = {
    "a session begins": lambda log: begin(log, f"new{next(NUMBERS)}"),
    "a branch of a large one": lambda log: fork_session(
        log, LARGE, 500, SessionId(f"branch{next(NUMBERS)}"), WORLD
    ),
    "a branch": lambda log: fork_session(log, MAIN, 2, SessionId(f"b{next(NUMBERS)}"), WORLD),
    "an event is appended": lambda log: grow(log, MAIN, 1),
    "an event of a large one": lambda log: grow(log, LARGE, 1),
    "whether a session is there": lambda log: log.exists(LARGE),
    "whether one is not there": lambda log: log.exists(SessionId("nobody")),
    "the newest event": lambda log: log.head(LARGE),
    "an event": lambda log: log.head(LARGE, 700),
    "some events": lambda log: list(islice(log.read(LARGE, after=600, page=10), 10)),
    "a kind of event": lambda log: list(log.read(LARGE, kinds=("session.started",))),
    "the newest of a kind": lambda log: log.newest_of(
        [Look(Segment(LARGE, 0, None), ("session.started", "session.forked"))]
    ),
    "which sessions there are": lambda log: log.sessions(),
    "what was born with a name": lambda log: log.born_as(LARGE),
    "how far the store is": lambda log: log.position(),
    "a position": lambda log: log.hash_at(3000),
    "what is new": lambda log: list(log.plain(8000)),
}


def test_how_much_is_read(large: Site) -> None:
    """Each takes a look into an index, and no walk."""
    walked = {}
    with large.sql() as owner:
        before = read(owner)
        for what, ask in ASKED.items():
            with EventLog(large.place) as log:
                for _ in range(OFTEN):
                    ask(log)
            now = read(owner)
            if (now - before) / OFTEN > FEW:
                walked[what] = (now - before) / OFTEN
            before = now
    assert walked == {}


def test_how_much_is_read_for_a_name(large: Site) -> None:
    """So it is where a store asks whether a name is taken that is to be in another cell."""
    with large.sql() as owner:
        before = read(owner)
        with large.sql() as asks:
            asks.execute("INSERT INTO cells (name, address) VALUES ('d', 'postgresql://d/minds')")
            for number in range(OFTEN):
                asks.execute("SELECT reserve(%s, 'd')", (f"name{number}",))
        assert (read(owner) - before) / OFTEN <= FEW
