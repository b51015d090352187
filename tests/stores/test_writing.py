"""Writing: all or none, no gap, one winner, and nobody between somebody's look and his word."""

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

import pytest
from eventsourcing.persistence import StoredEvent

from commands.eventlog import EventLog
from domain.errors import LostRace, Refused, SessionExists
from domain.ids import SessionId
from domain.recorded import BEGINNING, Draw
from domain.session import Session
from tests.commands.eventlog.stores import (
    MAIN,
    begin,
    branch,
    draw,
    grow,
    pool,
    started,
    thought,
)
from tests.stores.places import Site, stored, whole

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("driver.py")
LONG = 60.0
SOON = 0.1
"""Seconds in which somebody who need not wait would be through."""

FORK, OTHER = SessionId("fork"), SessionId("other")


def family(log: EventLog) -> None:
    """``main`` of 6 events, and ``fork`` of 2 that branches off behind the 4th."""
    begin(log, events=6)
    branch(log, MAIN, 4, FORK)
    grow(log, FORK, 1)


def row(session: str, version: int, kind: str = "thought.added") -> StoredEvent:
    """A row whose content nobody reads."""
    return StoredEvent(session, version, kind, b"x" * 40)


# conflicts


def test_a_conflict_in_the_last_row_leaves_none(log: EventLog) -> None:
    """What is appended together is there altogether, or not at all."""
    family(log)
    before = stored(log)
    for rows in (
        [row(MAIN, 7), row(MAIN, 8), row(MAIN, 6)],
        [row(MAIN, 7), row(MAIN, 8), row(MAIN, 10)],
        [row("new", 1, "session.started"), row("new", 2), row("new", 1, "session.started")],
    ):
        with pytest.raises(LostRace):
            log._recorder.insert_events(rows)
        with pytest.raises(LostRace):
            _in_two_steps(log, rows)
    assert stored(log) == before
    assert grow(log, MAIN, 2).version == 8


def _in_two_steps(log: EventLog, rows: list[StoredEvent]) -> None:
    with log._recorder.writing(MAIN) as cursor:
        log._recorder.insert_within(cursor, rows[:2])
        log._recorder.insert_within(cursor, rows[2:])


def test_streams_grow_by_one(each: Site) -> None:
    """Gaps, doubles, second beginnings and writes below a fork's beginning are refused."""
    log = each.create()
    family(log)
    before = stored(log)
    for session, version, kind in (
        ("main", 8, "thought.added"),  # a gap
        ("main", 11, "thought.added"),
        ("main", 6, "thought.added"),  # taken
        ("main", 1, "session.started"),  # begins once more
        ("main", 7, "session.forked"),  # begins in the middle
        ("main", 9, "session.forked"),
        ("fork", 4, "thought.added"),  # below its beginning
        ("fork", 1, "thought.added"),
        ("fork", 3, "session.forked"),  # a second beginning, lower
        ("fork", 9, "session.forked"),  # or higher
        ("fork", 1, "session.started"),
        ("fork", 8, "thought.added"),  # a gap
        ("new", 2, "thought.added"),  # no beginning at all
        ("new", 1, "session.forked"),  # a fork of nothing
    ):
        wrong = [row(session, version, kind)]
        with pytest.raises(LostRace):
            log._recorder.insert_events(wrong)
        with pytest.raises(LostRace), log._recorder.writing(SessionId(session)) as cursor:
            log._recorder.insert_within(cursor, wrong)
    assert stored(log) == before


def test_what_fits_is_taken(log: EventLog) -> None:
    """The next event, the beginning of a stream, and of a fork anywhere."""
    family(log)
    for rows in (
        [row("main", 7), row("main", 8)],
        [row("fork", 7)],
        [row("a", 1, "session.started"), row("a", 2)],
        [row("b", 5, "session.forked"), row("b", 6)],
        [row("c", 2, "session.forked")],
    ):
        last = log.position()
        positions = list(log._recorder.insert_events(rows))
        assert positions == sorted(set(positions))
        assert positions[0] > last
        assert [(r[0], r[1], r[2]) for r in stored(log)[-len(rows) :]] == [
            (r.originator_id, r.originator_version, position)
            for r, position in zip(rows, positions, strict=True)
        ]


def test_a_name_is_given_once(log: EventLog) -> None:
    """Of a session as of a fork, wherever it begins."""
    family(log)
    before = stored(log)
    with pytest.raises(SessionExists):
        begin(log, MAIN, events=3)
    for version in (2, 4, 6):
        with pytest.raises(SessionExists):
            branch(log, MAIN, version, FORK)
    assert stored(log) == before


def test_one_of_two_begins(each: Site) -> None:
    """Of two who begin under the same name, wherever, one is told that the name is taken."""
    log = each.create()
    family(log)
    both = (log, each.open())
    gate = threading.Barrier(2)

    def begins(number: int) -> list[str]:
        begun = []
        for child in map(str, range(8)):
            gate.wait(LONG)
            with suppress(SessionExists):
                branch(both[number], MAIN, 2 + number, f"child{child}")
                begun.append(child)
        return begun

    with ThreadPoolExecutor(2) as threads:
        one, two = threads.map(begins, (0, 1))
    assert sorted(one + two) == list(map(str, range(8)))
    whole(log)


def test_one_of_two_is_first(log: EventLog, site: Site) -> None:
    """Of two who append behind the same version, one is told that the other was there."""
    begin(log)
    both = (log, site.open())
    gate = threading.Barrier(2)

    def appends(number: int) -> list[int]:
        won = []
        for version in range(1, 9):
            gate.wait(LONG)
            wish = (1 << 40) + 100 * number + version
            try:
                both[number].append(MAIN, version, draw(thought(f"{number}"), wish=wish))
                won.append(version + 1)
            except LostRace:
                both[number].state(MAIN)
            gate.wait(LONG)
        return won

    with ThreadPoolExecutor(2) as threads:
        one, two = threads.map(appends, (0, 1))
    assert sorted(one + two) == list(range(2, 10))
    whole(log)


@pytest.mark.slow
def test_one_of_two_processes_is_first(log: EventLog, site: Site) -> None:
    """The same for a thousand versions."""
    begin(log)
    command = [sys.executable, str(DRIVER), "race", site.place.name, "1000"]
    racers = [
        subprocess.Popen(
            [*command, str(number)], cwd=ROOT, stdin=-1, stdout=subprocess.PIPE, text=True
        )
        for number in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    won = []
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    for racer in racers:
        told, _ = racer.communicate(timeout=120)
        assert racer.returncode == 0
        won += [int(line) for line in told.split()]
    assert sorted(won) == list(range(2, 1002))
    whole(log)


# alone


def _held_up(pool: ThreadPoolExecutor, act: Callable[[], object]) -> "Future[object]":
    """Somebody who wants to write just now; what he does, if he can, is done on return."""
    other = pool.submit(act)
    wait([other], SOON)
    return other


def test_nobody_writes_while_somebody_decides(log: EventLog, site: Site) -> None:
    """Between what ``decide`` sees and what it draws nothing comes."""
    begin(log, events=2)
    begin(log, OTHER)
    other = site.open()
    acts: list[Future[object]] = []
    with ThreadPoolExecutor(2) as threads:

        def decide(state: Session) -> Draw:
            acts.append(_held_up(threads, lambda: _again(lambda: grow(other, MAIN, 1))))
            acts.append(_held_up(threads, lambda: grow(other, OTHER, 1)))
            assert state.version == 2
            assert [r[:2] for r in stored(other)] == [("main", 1), ("main", 2), ("other", 1)]
            return draw(thought("decided"), wish=7)

        assert log.exclusively(MAIN, decide).version == 3
        for act in acts:
            act.result(LONG)
    assert pool(log, MAIN)[:2] == ["t2", "decided"]
    assert [r[0] for r in stored(log)][3] == MAIN
    assert log.head(MAIN).version == 4


def _again(act: Callable[[], object]) -> object:
    while True:
        try:
            return act()
        except LostRace:
            pass


def test_nobody_writes_while_it_is_provided_for(log: EventLog, site: Site) -> None:
    """What ``provided`` found holds when the stream begins."""
    begin(log)
    other = site.open()
    with ThreadPoolExecutor(1) as threads:
        acts: list[Future[object]] = []

        def provided() -> None:
            acts.append(_held_up(threads, lambda: grow(other, MAIN, 1)))
            assert other.head(MAIN).version == 1

        log.begin(OTHER, BEGINNING, draw(started()), provided=provided)
        acts[0].result(LONG)
    assert [r[:2] for r in stored(log)] == [("main", 1), ("other", 1), ("main", 2)]


def test_whoever_thinks_better_of_it_leaves_nothing(log: EventLog, site: Site) -> None:
    """What ``decide`` and ``provided`` raise is passed on, and everybody may go on."""

    def never(*_: object) -> Draw:
        raise Refused("no")

    begin(log)
    before = stored(log)
    for _ in range(3):
        with pytest.raises(Refused, match="no"):
            log.exclusively(MAIN, never)
        with pytest.raises(Refused, match="no"):
            log.begin(OTHER, BEGINNING, draw(started()), provided=never)
        assert log.exclusively(MAIN, lambda _: None).version == 1
    assert stored(log) == before
    assert grow(site.open(), MAIN, 1).version == 2
    assert grow(log, MAIN, 1).version == 3


def test_threads_share_a_log(log: EventLog) -> None:
    """Eight that append, decide, begin and read at once: nobody waits for ever or loses a word."""
    begin(log)

    def acts(number: int) -> None:
        own = SessionId(f"s{number}")
        begin(log, own)
        for turn in range(3):
            grow(log, own, 1)
            wish = (1 << 41) + number * 100 + turn
            log.exclusively(MAIN, lambda _, w=wish: draw(thought(f"{w}"), wish=w))  # type: ignore[misc]
            assert log.state(own).version == turn + 2
            assert log.state(MAIN).version > turn
            list(log.read(MAIN, newest_first=True, page=2))

    with ThreadPoolExecutor(8) as threads:
        done = [threads.submit(acts, number) for number in range(8)]
        for each in done:
            each.result(LONG)
    assert log.head(MAIN).version == 1 + 8 * 3
    assert len(stored(log)) == 1 + 8 * 3 + 8 * 4
    whole(log)
