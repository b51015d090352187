"""Reading: through every ancestry, in pages, by look-ups, and the same states wherever one asks."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import Place
from commands.eventlog.postgres.rows import Rows
from commands.eventlog.snapshots import EVERY
from domain.ids import SessionId
from domain.recorded import BEGINNING, Recorded
from domain.session import Session, evolve
from tests.benchmarks.w1 import digest
from tests.benchmarks.workload import FORK as W1_FORK
from tests.benchmarks.workload import FORK_OF_FORK, Recorder, Workload, told
from tests.benchmarks.workload import MAIN as W1_MAIN
from tests.commands.eventlog.stores import (
    MAIN,
    begin,
    branch,
    draw,
    grow,
    started,
    thought,
)
from tests.stores.places import Site, whole

ITERATIONS = 12


def lineage(log: EventLog) -> dict[str, list[tuple[str, int]]]:
    """Forks of forks, of which some skip their parent; what each session consists of."""
    begin(log, events=5)
    own: dict[str, list[tuple[str, int]]] = {MAIN: [("main", v) for v in range(1, 6)]}
    for parent, at, child in (
        ("main", 3, "a"),
        ("a", 5, "a/b"),
        ("a/b", 6, "a/b/c"),
        ("a/b", 2, "low"),  # below where its parent and its parent's parent begin
        ("main", 5, "z"),
    ):
        branch(log, parent, at, child)
        grow(log, child, 2, tag=child)
        own[child] = own[parent][:at] + [(child, at + n) for n in (1, 2, 3)]
    grow(log, MAIN, 2)
    own[MAIN] += [("main", 6), ("main", 7)]
    return own


def test_forks_of_forks_are_read_through(log: EventLog) -> None:
    """Forwards, backwards, in parts, by kind and by version."""
    for name, wanted in lineage(log).items():
        session = SessionId(name)

        def where(found: Sequence[Recorded]) -> list[tuple[str, int]]:
            return [(recorded.session, recorded.version) for recorded in found]

        for page in (1, 3, 512):
            assert where([*log.read(session, page=page)]) == wanted
            assert where([*log.read(session, page=page, newest_first=True)]) == wanted[::-1]
            some = log.read(session, after=2, upto=5, page=page)
            assert where([*some]) == [each for each in wanted if 2 < each[1] <= 5]
            kinds = ("session.forked", "session.started", "never.was")
            chosen = [r for r in log.read(session) if r.event.kind in kinds]
            assert [*log.read(session, kinds=kinds, page=page)] == chosen
            backwards = log.read(session, kinds=kinds, page=page, newest_first=True)
            assert [*backwards] == chosen[::-1]
        assert where(log.pick(session, [3, 1, 99])) == [wanted[2], wanted[0]]
        newest = log.newest(session, ["thought.added"], upto=4)
        texts = [r for r in log.read(session, upto=4) if r.event.kind == "thought.added"]
        assert newest == texts[-1]
    assert log.sessions() == ["main", "a", "a/b", "a/b/c", "low", "z"]
    assert [plain.position for plain in log.plain()] == [r.position for r in log.feed()]


def test_every_state_is_what_folding_makes(log: EventLog, site: Site) -> None:
    """From snapshots, from memory, or from nothing: of any moment, on any machine."""
    begin(log, events=EVERY + 10)
    branch(log, MAIN, EVERY - 20, "fork")
    grow(log, "fork", EVERY)
    branch(log, "fork", EVERY + 40, "fork/leaf")
    grow(log, "fork/leaf", 3)
    elsewhere, again = site.open(site.elsewhere("another")), site.open()
    for name in log.sessions():
        folded: dict[int, Session] = {}
        state = None
        for recorded in log.read(name):
            state = evolve(state, recorded)
            folded[state.version] = state
        for version in (1, EVERY - 20, EVERY, EVERY + 1, max(folded)):
            if version in folded:
                for one in (log, again, elsewhere):
                    assert one.state(name, version) == folded[version]
        assert elsewhere.state(name) == again.state(name) == folded[max(folded)]
        assert elsewhere.head(name) == log.head(name)


@cache
def _workload() -> Workload:
    return Workload(ITERATIONS, half=True)


@cache
def _in_a_file() -> dict[SessionId, Any]:
    with TemporaryDirectory() as directory:
        return _heads(_recorded(Place(Path(directory))).log)


def _recorded(place: Any) -> Recorder:
    recorder = Recorder(place, _workload())
    recorder.record(0, ITERATIONS)
    recorder.branch()
    return recorder


def _heads(log: EventLog) -> dict[SessionId, Any]:
    heads = {name: (log.head(name), log.state(name)) for name in log.sessions()}
    log.close()
    return heads


def test_a_long_dialogue_is_the_same_in_every_store(served: Site) -> None:
    """The same wishes lead to the same hashes, and states are those of the reference."""
    if served.together:
        pytest.skip("the workload makes its store itself")
    recorder, work = _recorded(served.place), _workload()
    log, w1 = recorder.log, work.w1
    for k in (0, 7, w1.K, ITERATIONS):
        state = log.state(W1_MAIN, recorder.ends[W1_MAIN][k])
        assert digest(told(log, state, work)) == digest(w1.ref_state(k))
    for name in (W1_FORK, FORK_OF_FORK):
        reference = digest(w1.ref_fork_state(w1.K, len(w1.fork)))
        assert digest(told(log, log.state(name), work)) == reference
    whole(log)
    assert _heads(log) == _in_a_file()


# look-ups


class _Asked:
    """A cursor that remembers what it was asked; it finds nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[Any]]] = []

    def fetch(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Nothing."""
        self.asked.append((query, parameters))
        return []


def _plan(site: Site, asked: _Asked) -> str:
    ((query, parameters),) = asked.asked
    with site.sql() as owner:
        rows = owner.execute(f"EXPLAIN {query}".encode(), parameters).fetchall()
    return "\n".join(str(row[0]) for row in rows)


def _many(log: EventLog, streams: int, events: int) -> None:
    texts = [thought(f"{number}") for number in range(events - 1)]
    rows = []
    for number in range(streams):
        rows += log._mapper.sealed(BEGINNING, f"s/{number:05}", draw(started(), *texts))[0]
    with log._recorder.writing(MAIN) as cursor:
        log._recorder.insert_within(cursor, rows)


def test_a_server_looks_up_what_it_is_asked_for(served: Site) -> None:
    """Rare kinds, newest events, streams and beginnings come from an index, never from a scan."""
    log = served.create()
    _many(log, 120, 5)
    with served.sql() as owner:
        owner.execute("ANALYZE stored_events")
    rows = Rows(served.place.address.schema)
    for ask in (
        lambda cursor: rows.rows(cursor, "s/00001", 0, 2**62, 10, kinds=("session.forked",)),
        lambda cursor: rows.rows(
            cursor, "s/00001", 0, 2**62, 1, newest_first=True, kinds=("a", "b")
        ),
        lambda cursor: rows.rows(cursor, "s/00001", 2, 4, 10),
        lambda cursor: rows.rows(cursor, "s/00001", 0, 2**62, 1, newest_first=True),
        lambda cursor: rows.rows_at(cursor, "s/00001", [1, 3]),
        lambda cursor: rows.rows_of(cursor, [("s/00001", 0, 9), ("s/00002", 2, 4)], 10),
        lambda cursor: rows.tallies(cursor, ["s/00001", "s/00002"]),
        lambda cursor: rows.births(cursor, ["s/00001", "s/00002"]),
        lambda cursor: rows.rows_by_position(cursor, 500, 10),
        rows.last,
        lambda cursor: rows.streams(cursor, "session"),
        lambda cursor: rows.streams(cursor, "agent"),
        rows.mark,
    ):
        asked = _Asked()
        with suppress(LookupError):  # nothing was found, since nothing was asked
            ask(asked)
        plan = _plan(served, asked)
        assert "Seq Scan on stored_events" not in plan, plan
        assert "Index" in plan, plan


@pytest.mark.slow
def test_ten_thousand_sessions_are_listed(log: EventLog, site: Site) -> None:
    """All of them, in the order of their beginnings, by all who ask."""
    _many(log, 10_000, 2)
    names = [f"s/{number:05}" for number in range(10_000)]
    assert log.sessions() == log.streams() == names
    assert log.streams("agent") == []
    assert site.open().state(SessionId(names[-1])).version == 2
