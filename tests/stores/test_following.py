"""Following: each event once and in order, soon, whatever happens to the connection."""

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from commands.eventlog import EventLog
from commands.eventlog.postgres import connections
from commands.eventlog.postgres import follow as following
from domain.errors import StoreIsDamaged
from domain.recorded import Recorded
from domain.server_errors import StoreIsUnreachable
from tests.commands.eventlog.stores import MAIN, begin, grow
from tests.postgres.servers import Server
from tests.stores.places import Connection, Site

LONG = 20.0
"""Seconds after which what should have come never will."""

NEVER = 3600.0


class Heard:
    """What a follower in a thread of its own has heard."""

    def __init__(self, log: EventLog, after: int = 0) -> None:
        self.stop = threading.Event()
        self.standing: queue.Queue[str | None] = queue.Queue()
        """That the store is away, and that it is back."""
        self._found: queue.Queue[Recorded | BaseException] = queue.Queue()
        self._thread = threading.Thread(target=self._follow, args=(log, after))
        self._thread.start()

    def _follow(self, log: EventLog, after: int) -> None:
        try:
            for recorded in log.follow(after, self.stop, self.standing.put):
                self._found.put(recorded)
        except BaseException as error:  # noqa: BLE001 — told by whoever waits
            self._found.put(error)

    def versions(self, count: int) -> list[int]:
        """The versions of the next so many."""
        found = [self._found.get(timeout=LONG) for _ in range(count)]
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return [each.version for each in found if isinstance(each, Recorded)]

    def end(self) -> None:
        """It ends soon when it is asked to, and nothing came that nobody waited for."""
        self.stop.set()
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        assert self._found.empty()
        assert self.standing.empty()


@contextmanager
def heard(log: EventLog, after: int = 0) -> Iterator[Heard]:
    """A follower that ends with the test."""
    follower = Heard(log, after)
    try:
        yield follower
    finally:
        follower.end()


def test_it_begins_behind_a_position(log: EventLog) -> None:
    """With what is there already, and goes on with what comes."""
    begin(log, events=4)
    second = [recorded.position for recorded in log.feed()][1]
    with heard(log, second) as follower:
        assert follower.versions(2) == [3, 4]
        grow(log, MAIN, 3)
        assert follower.versions(3) == [5, 6, 7]


def test_it_ends_when_it_is_told_to(log: EventLog) -> None:
    """Before the first event, in the middle, and while it waits."""
    begin(log, events=3)
    stop = threading.Event()
    seen = []
    for recorded in log.follow(0, stop):
        seen.append(recorded.version)
        if recorded.version == 2 and log.place.url is not None:
            stop.set()
        if recorded.version == 3:
            stop.set()
    assert seen in ([1, 2], [1, 2, 3])
    assert list(log.follow(0, stop)) == []
    with heard(log) as follower:
        assert follower.versions(3) == [1, 2, 3]


class Late(EventLog):
    """A log to which somebody writes right after each look that found nothing."""

    then: Callable[[], object] | None = None

    def feed(self, after: int = 0) -> Iterator[Recorded]:
        """All there is, and then something happens."""
        yield from super().feed(after)
        then, self.then = self.then, None
        if then is not None:
            then()


def test_what_is_committed_between_a_look_and_the_wait(
    log: EventLog, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is heard of at once, not with the next event: whoever follows listens before he looks."""
    monkeypatch.setattr(following, "TICK", NEVER)
    begin(log)
    with Late(site.place) as late:
        late.then = lambda: grow(log, MAIN, 1)
        with heard(late) as follower:
            assert follower.versions(2) == [1, 2]
            late.then = lambda: grow(log, MAIN, 1)
            grow(log, MAIN, 1)
            assert follower.versions(2) == [3, 4]


def test_it_outlives_its_connection(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it has followed: what comes meanwhile is there, once, when it is back."""
    later = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + later[0], sleep=time.sleep)
    monkeypatch.setattr(connections, "time", clock)
    log = served.create()
    begin(log)
    with heard(log) as follower, served.sql() as owner:
        assert follower.versions(1) == [1]
        for version in (2, 3, 4):
            later[0] += NEVER
            _terminate(owner)
            grow(log, MAIN, 1)
            assert follower.versions(1) == [version]


def test_it_outlives_its_server_for_hours(
    newest: Site, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says once that it is away and once that it is back, and goes on where it was."""
    hours = itertools.count(0, 3600)
    clock = SimpleNamespace(monotonic=lambda: next(hours), sleep=time.sleep)
    monkeypatch.setattr(connections, "time", clock)
    monkeypatch.setattr(following, "time", clock)
    log = newest.create()
    begin(log, events=2)
    with heard(log) as follower:
        assert follower.versions(2) == [1, 2]
        with postgres.closed(newest.place.name):
            assert "going on when it is back" in str(follower.standing.get(timeout=LONG))
        assert follower.standing.get(timeout=LONG) is None
        grow(log, MAIN, 2)
        assert follower.versions(2) == [3, 4]


def test_it_ends_while_its_server_is_away(
    newest: Site, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is told to stop does not wait for what is away, for however long it has been."""
    monkeypatch.setattr(following, "GRACE", 0)
    log = newest.create()
    begin(log)
    with heard(log) as follower:
        assert follower.versions(1) == [1]
        with postgres.closed(newest.place.name):
            assert follower.standing.get(timeout=LONG)
            follower.end()


def test_it_outlives_a_lock(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever rewrites a table is waited for, as a server is that is away."""
    monkeypatch.setattr(connections, "LOCK_TIMEOUT", 0.05)
    monkeypatch.setattr(following, "TICK", 0)
    monkeypatch.setattr(following, "GRACE", 0)
    log = served.create()
    begin(log)
    with heard(log) as follower, served.sql() as owner:
        assert follower.versions(1) == [1]
        with owner.transaction():
            owner.execute("LOCK TABLE stored_events IN ACCESS EXCLUSIVE MODE")
            assert "tables are locked" in str(follower.standing.get(timeout=LONG))
        assert follower.standing.get(timeout=LONG) is None
        grow(log, MAIN, 1)
        assert follower.versions(1) == [2]


class Torn(EventLog):
    """A log whose server goes away in the middle of a look, and before each second one."""

    looks = 0

    def feed(self, after: int = 0) -> Iterator[Recorded]:
        """Some of what there is, and then nobody answers."""
        self.looks += 1
        if self.looks % 2:
            yield from itertools.islice(super().feed(after), 2)
        raise StoreIsUnreachable("the server", "gone")


def test_a_look_that_breaks_off_gives_nothing_twice(
    served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before it did is given, and the next look goes on behind it."""
    monkeypatch.setattr(following, "TICK", 0)
    begin(served.create(), events=5)
    with Torn(served.place) as torn, heard(torn) as follower:
        assert follower.versions(5) == [1, 2, 3, 4, 5]


def test_a_history_that_was_put_back(served: Site) -> None:
    """Whoever comes back to another history is told, and does not go on as if nothing were."""
    log = served.create()
    begin(log, events=3)
    with heard(log) as follower, served.sql() as owner:
        assert follower.versions(3) == [1, 2, 3]
        grow(log, MAIN, 1)
        assert follower.versions(1) == [4]
        served.tamper(log.position(), None)
        grow(log, MAIN, 1, tag="other")
        _terminate(owner)
        with pytest.raises(StoreIsDamaged, match="another history than a moment ago"):
            follower.versions(1)


def _terminate(owner: Connection) -> None:
    """End all other connections to the database."""
    owner.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        " AND backend_type = 'client backend'"  # autovacuum is not ours to end
    )


@pytest.mark.slow
def test_whoever_leaves_leaves_no_connection(served: Site) -> None:
    """A follower that ended, or was thrown away, listens no more."""
    log = served.create()
    begin(log, events=3)
    with served.sql() as owner:

        def connected() -> int:
            found = owner.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            ).fetchone()
            assert found is not None
            return int(str(found[0]))

        before = connected()
        for _ in range(3):
            events = log.follow(0, threading.Event())
            assert next(events).version == 1
            assert connected() == before + 1
            events.close()  # type: ignore[attr-defined]  # a generator
            until = time.monotonic() + LONG
            while connected() != before:
                assert time.monotonic() < until
