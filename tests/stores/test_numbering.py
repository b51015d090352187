"""Positions that transactions number: many append at once, and nobody who reads misses any."""

import threading
import time

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.follow import TICK
from commands.eventlog.postgres.layout import migrate
from domain.errors import Broken
from tests.commands.eventlog.stores import MAIN, begin, branch, grow


@pytest.fixture
def store(pg_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> Place:
    """A store that began as all do, with a session, and is numbered by transactions now."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = place_of(pg_url)
    with EventLog.create(place) as log:
        begin(log, events=3)
    migrate(place.address, by_transaction=True)
    return place


def _checked(place: Place) -> list[int]:
    with EventLog(place) as log:
        positions = [event.position for event in log.feed()]
        assert not [finding for verdict in log.verify() for finding in verdict.findings]
    assert positions == sorted(set(positions))
    return positions


def test_positions_go_on_above_those_that_are_there(store: Place) -> None:
    """Turned on, and off again, the order stays that of the commits."""
    with EventLog(store) as log:
        grow(log, MAIN, 3)
        branch(log, MAIN, 4, "child")
    migrate(store.address, by_transaction=False)
    with EventLog(store) as log:
        grow(log, MAIN, 2)
    positions = _checked(store)
    assert positions[:3] == [1, 2, 3]
    assert positions[3] > 1 << 22
    assert positions[-2:] == [positions[6] + 1, positions[6] + 2]


def test_nobody_reads_past_one_who_is_not_done(pg_url: str, store: Place) -> None:
    """A slow transaction hides what began after it, until it has ended; then all of it comes."""
    with EventLog(store) as log, psycopg.connect(pg_url) as slow:
        slow.execute(
            "SELECT logosphere.append(ARRAY['slow'], ARRAY[1::bigint], ARRAY['session.started'],"
            " (SELECT ARRAY[state] FROM logosphere.stored_events ORDER BY position LIMIT 1))"
        )
        before = log.position()
        assert grow(log, MAIN, 1).version == 4  # asked by name, it is there
        assert log.position() == before
        assert list(log.feed(before)) == []
        slow.commit()
        assert [row[0] for row in log._by_position(before)] == ["slow", MAIN]


def test_two_streams_at_once_and_one_alone(store: Place) -> None:
    """Many threads append to streams of their own and to one they share: nothing is lost."""
    wrong: list[BaseException] = []

    def write(name: str) -> None:
        try:
            with EventLog(store) as log:
                begin(log, name)
                for _ in range(10):
                    grow(log, name, 2)
        except BaseException as error:  # noqa: BLE001 — told by the assertion
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(f"s{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(_checked(store)) == 3 + 3 * 21


def test_a_follower_sees_each_once(store: Place) -> None:
    """Without any notice, what is committed is seen soon, in order."""
    stop, seen = threading.Event(), list[int]()
    with EventLog(store) as log, EventLog(store) as writer:
        after = log.position()
        news = log.follow(after, stop)
        for n in range(5):
            begin(writer, f"s{n}")
            seen.append(next(news).position)
        stop.set()
        assert seen == [event.position for event in log.feed(after)]


def test_a_follower_from_before(store: Place) -> None:
    """Whoever waited for notices soon looks by himself, once there are none."""
    migrate(store.address, by_transaction=False)
    stop, until = threading.Event(), time.monotonic() + 60
    with EventLog(store) as log, EventLog(store) as writer:
        position = log.position()
        news = log.follow(position - 1, stop)
        next(news)
        migrate(store.address, by_transaction=True)
        waited = TICK
        # begun when he has just looked: without a look of his own he would take a whole tick
        while waited > TICK / 2 and time.monotonic() < until:
            grow(writer, MAIN, 1)
            began = time.monotonic()
            next(news)
            waited = time.monotonic() - began
        stop.set()
    assert waited < TICK / 2


def test_a_server_that_counts_anew(pg_url: str, store: Place) -> None:
    """After a restore into a young server nothing is written at low positions: migrate first."""
    with EventLog(store) as log:
        grow(log, MAIN, 2)
    with psycopg.connect(pg_url, autocommit=True) as connection:  # as a restore leaves it
        connection.execute("UPDATE logosphere.store SET epoch = epoch - 1000000")
    with pytest.raises(Broken, match="mind store migrate"):
        EventLog(store)
    migrate(store.address)
    with EventLog(store) as log:
        grow(log, MAIN, 2)
    _checked(store)
