"""What the library's own recorders do otherwise, and why the log does not stand on them.

Each test says that a defect is still there, beside the test that says that ours has none: when
one of these fails, the library has mended it, and docs/decisions/postgres.md is to be read anew.
The defects are numbered there. Of tracking (2 and 5) the views tell, in tests/projections/views.
"""

import threading
from collections.abc import Iterator
from contextlib import closing
from queue import Empty
from typing import Any

import psycopg
import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent, Tracking
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

from tests.stores.library import Library, postgres
from tests.stores.proxy import Wire


@pytest.fixture
def library(pg_url: str) -> Iterator[Library]:
    """The library on an empty database."""
    made = Library(pg_url)
    yield made
    made.close()


def event(stream: str, version: int) -> StoredEvent:
    """A row."""
    return StoredEvent(stream, version, "topic", b"state")


def test_1_its_function_numbers_without_a_lock(library: Library) -> None:
    """A follower that has seen the second never sees the first; test_order.py is of ours."""
    recorder = library.recorder(POSTGRES_ENABLE_DB_FUNCTIONS="y")
    with recorder.datastore.transaction(commit=True) as slow:
        recorder._insert_events(slow, [event("a", 1)])
        inserted = threading.Thread(target=recorder.insert_events, args=([event("b", 1)],))
        inserted.start()
        inserted.join(20)  # where the table is locked, this would not come back
        assert not inserted.is_alive()
        seen = [n.originator_id for n in recorder.select_notifications(start=1, limit=10)]
        last = recorder.max_notification_id()
    assert seen == ["b"]
    after = recorder.select_notifications(start=(last or 0) + 1, limit=10)
    assert [n.originator_id for n in after] == []


def test_2_its_function_forgets_what_it_tracks(library: Library) -> None:
    """The position that events were made of is not stored with them, so they are made twice."""
    recorder = library.factory(POSTGRES_ENABLE_DB_FUNCTIONS="y").process_recorder()
    for version in (1, 2):
        tracking = Tracking("upstream", 1)
        recorder.insert_events([event("a", version)], tracking=tracking)
    assert recorder.max_tracking_id("upstream") is None


def test_4_an_acknowledgement_that_got_lost_is_a_conflict(library: Library) -> None:
    """It is told that somebody else was first, and it was itself; test_lost.py is of ours."""
    library.recorder()
    with Wire(library.url) as wire:
        recorder = library.recorder(wire.url, CREATE_TABLE="n")
        recorder.insert_events([event("a", 1)])
        wire.lose("COMMIT\0")
        with pytest.raises(IntegrityError):
            recorder.insert_events([event("a", 2)])
        assert wire.lost == 1
    with psycopg.connect(library.url) as connection:
        found = connection.execute("SELECT originator_version FROM stored_events ORDER BY 1")
        assert found.fetchall() == [(1,), (2,)]


class _Looks(postgres.PostgresApplicationRecorder):
    """Tells when it has looked."""

    looked = threading.Event()

    def select_notifications(self, *args: Any, **more: Any) -> Any:
        """As ever."""
        found = super().select_notifications(*args, **more)
        self.looked.set()
        return found


class _Slow(postgres.PostgresSubscription):
    """Listens only when it may."""

    may = threading.Event()

    def _listen(self) -> None:
        self.may.wait(20)
        super()._listen()


def test_6_it_looks_before_it_listens(library: Library) -> None:
    """What is committed in between is heard of with the next event; test_following.py: ours."""
    recorder = _Looks(library.recorder().datastore)
    with _Slow(recorder, gt=0) as subscription:
        assert recorder.looked.wait(20)
        recorder.insert_events([event("a", 1)])
        subscription.may.set()
        with pytest.raises(Empty):  # half a second, where it would come at once
            subscription._notifications_queue.get(timeout=0.5)
        recorder.insert_events([event("a", 2)])
        assert [next(subscription).originator_version for _ in range(2)] == [1, 2]


def test_9_versions_may_have_gaps(library: Library) -> None:
    """After the first comes the fifth, on a server as in a file; test_writing.py is of ours."""
    with closing(SQLiteDatastore(":memory:", originator_id_type="text")) as file:
        for recorder in (library.recorder(), SQLiteApplicationRecorder(file)):
            recorder.create_table()
            recorder.insert_events([event("a", 1)])
            recorder.insert_events([event("a", 5)])
            assert [e.originator_version for e in recorder.select_events("a")] == [1, 5]
