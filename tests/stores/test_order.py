"""Positions are in the order of commits: whoever has read one has seen all below it."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.ids import SessionId
from domain.recorded import Recorded
from tests.commands.eventlog.stores import MAIN, begin, draw, grow, thought
from tests.stores.places import Site, stored, whole

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("driver.py")
OTHER = SessionId("other")
LONG = 30.0
"""Seconds after which something that should have come never will."""


def test_nothing_appears_below_what_was_seen(each: Site) -> None:
    """While one writer is in the middle, others commit and readers look, and none misses it."""
    log = each.create()
    begin(log, events=2)
    begin(log, OTHER, events=2)
    rows, _ = log._mapper.sealed(log.head(MAIN), MAIN, draw(thought("slow"), wish=1))
    other = each.open()
    with ThreadPoolExecutor(1) as pool:
        with log._recorder.writing(MAIN) as cursor:
            (slow,) = log._recorder.insert_within(cursor, rows)
            fast = pool.submit(grow, other, OTHER, 1)
            while not fast.done() and not _waits(each):
                pass
            seen = [recorded.position for recorded in other.feed()]
            upto = other.position()
        fast.result(LONG)
    after = [recorded.position for recorded in other.feed()]
    assert slow in after
    assert seen == [position for position in after if position <= max(seen)]
    assert seen == [position for position in after if position <= upto]
    assert after == sorted(set(after))


def _waits(site: Site) -> bool:
    """Whether somebody waits for a turn; in a file, one always does."""
    if not site.is_server:
        return True
    with site.sql() as owner:
        found = owner.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ).fetchone()
    return found is not None and found[0] != 0


def test_a_follower_sees_all_that_three_writers_commit(log: EventLog, site: Site) -> None:
    """Once each, in order of positions, and each stream in order of its versions."""
    follower = Follower(log, 3 * 13)
    with ThreadPoolExecutor(3) as pool:
        for name in ("a", "b", "c"):
            pool.submit(_writes, site.open(), name, 12)
    _check(log, follower.found())


@pytest.mark.slow
def test_a_follower_sees_all_that_eight_processes_commit(log: EventLog, site: Site) -> None:
    """The same with many, far apart, for longer."""
    follower = Follower(log, 8 * 41)
    command = [sys.executable, str(DRIVER), "write", site.place.name]
    writers = [
        subprocess.Popen([*command, f"s{number}", "40"], cwd=ROOT, stdout=subprocess.DEVNULL)
        for number in range(8)
    ]
    assert [writer.wait(120) for writer in writers] == [0] * 8
    _check(log, follower.found())


def _writes(log: EventLog, session: str, appends: int) -> None:
    begin(log, session)
    for _ in range(appends):
        grow(log, session, 1)


class Follower:
    """Follows a log in a thread of its own, from its beginning."""

    def __init__(self, log: EventLog, count: int) -> None:
        self._count, self._stop, self._there = count, threading.Event(), threading.Event()
        self._found: list[Recorded] = []
        self._thread = threading.Thread(target=self._follow, args=(log,))
        self._thread.start()

    def _follow(self, log: EventLog) -> None:
        for recorded in log.follow(0, self._stop):
            self._found.append(recorded)
            if len(self._found) >= self._count:
                self._there.set()

    def found(self) -> list[Recorded]:
        """What came, when it is so many, or when it takes too long."""
        self._there.wait(LONG)
        self._stop.set()
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        return self._found


def _check(log: EventLog, found: list[Recorded]) -> None:
    assert found == list(log.feed())
    positions = [recorded.position for recorded in found]
    assert positions == sorted(set(positions))
    for name in log.sessions():
        versions = [recorded.version for recorded in found if recorded.session == name]
        assert versions == list(range(1, len(versions) + 1))
    assert log.position() == positions[-1] == stored(log)[-1][2]
    whole(log)
