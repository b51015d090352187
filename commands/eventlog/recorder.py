"""The table of events in SQLite: how rows are written durably, guarded, and read in pages."""

import os
import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from eventsourcing.persistence import PersistenceError, StoredEvent
from eventsourcing.sqlite import (
    SQLiteApplicationRecorder,
    SQLiteConnection,
    SQLiteConnectionPool,
    SQLiteDatastore,
)

from commands.eventlog.faults import is_busy, translated
from commands.eventlog.wire import Row
from domain.errors import Broken, NotAStore, StoreIsBusy, StoreIsTooNew

APPLICATION_ID = 0x4C4F474F  # "LOGO": what a store's file says it is
LAYOUT = 1
LOCK_TIMEOUT = 30.0
"""Seconds to wait for other writers before giving up."""

_BUSY_MS = 25
"""How long SQLite itself waits; above that we wait, since its growing naps starve the unlucky."""

SCHEMA = (
    # rowid is spelt out: an implicit one is renumbered by a dump, and positions would lie
    """CREATE TABLE stored_events (
        rowid INTEGER PRIMARY KEY,
        originator_id TEXT NOT NULL,
        originator_version INTEGER NOT NULL,
        topic TEXT NOT NULL,
        state BLOB NOT NULL,
        UNIQUE (originator_id, originator_version))""",
    # the newest message, the iteration before a moment … are looked up, never scanned for
    """CREATE INDEX stored_events_by_kind
        ON stored_events (originator_id, topic, originator_version)""",
    """CREATE TRIGGER events_never_change BEFORE UPDATE ON stored_events
        BEGIN SELECT RAISE(ABORT, 'events never change'); END""",
    """CREATE TRIGGER events_never_go BEFORE DELETE ON stored_events
        BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END""",
    # a stream grows by one; a fork begins anywhere, but only once, and nothing is below it
    """CREATE TRIGGER streams_have_no_gaps BEFORE INSERT ON stored_events
        WHEN (NEW.originator_version = 1 OR NEW.topic = 'session.forked') = EXISTS (
            SELECT 1 FROM stored_events WHERE originator_id = NEW.originator_id)
        OR (NEW.originator_version > 1 AND NEW.topic <> 'session.forked' AND NOT EXISTS (
            SELECT 1 FROM stored_events WHERE originator_id = NEW.originator_id
            AND originator_version = NEW.originator_version - 1))
        BEGIN SELECT RAISE(ABORT, 'a gap, or a write below the beginning'); END""",
)

_COLUMNS = "originator_id, originator_version, rowid, topic, state"


class _Pool(SQLiteConnectionPool):
    """Connections that are durable, impatient, and remember their statements."""

    def _create_connection(self) -> SQLiteConnection:
        connection = sqlite3.connect(
            self.db_name,
            uri=True,
            check_same_thread=False,
            isolation_level=None,
            cached_statements=128,
            timeout=_BUSY_MS / 1000,
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA trusted_schema=OFF")
        self.is_journal_mode_wal = True  # set once, when the file was made
        return SQLiteConnection(sqlite_conn=connection, max_age=self.max_age)


class _Datastore(SQLiteDatastore):
    def __init__(self, uri: str) -> None:
        super().__init__(uri, originator_id_type="text")
        self.pool.close()
        self.pool = _Pool(db_name=uri)


def database_uri(path: Path, *, mode: str) -> str:
    """A SQLite URI for a file, whatever its name holds."""
    return f"file:{quote(str(path.absolute()))}?{mode}"


class EventRecorder(SQLiteApplicationRecorder):
    """The library's recorder with our table, our patience and rows in pages."""

    def __init__(self, path: Path, *, mode: str = "mode=rw") -> None:
        self.path = path
        super().__init__(_Datastore(database_uri(path, mode=mode)))
        self.insert_events_statement = (
            "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
            " VALUES (?,?,?,?)"
        )

    def construct_create_table_statements(self) -> list[str]:
        """The table, its index and its guards."""
        return list(SCHEMA)

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Write rows in one durable transaction, waiting fairly for other writers.

        Waits are short and random rather than growing: whoever waits longest is not the one
        who asks least often.
        """
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                return super().insert_events(stored_events, **kwargs)
            except (PersistenceError, sqlite3.Error) as error:
                if not is_busy(error):
                    raise translated(error, str(self.path)) from error
                if time.monotonic() > deadline:
                    raise StoreIsBusy(str(self.path), LOCK_TIMEOUT) from error
                time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311 — a wait, no secret

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Cursor]:
        """A cursor that yields plain tuples, inside one consistent read."""
        try:
            with (
                self.datastore.get_connection(commit=False) as connection,
                connection.cursor() as cursor,
            ):
                cursor.row_factory = None
                yield cursor
        except (PersistenceError, sqlite3.Error) as error:
            raise translated(error, str(self.path)) from error

    @staticmethod
    def rows(
        cursor: sqlite3.Cursor,
        stream: str,
        after: int,
        upto: int,
        limit: int,
        *,
        newest_first: bool = False,
        kinds: Sequence[str] = (),
    ) -> list[Row]:
        """At most ``limit`` rows of one stream with ``after < version <= upto``."""
        which = f" AND topic IN ({','.join('?' * len(kinds))})" if kinds else ""
        cursor.execute(
            f"SELECT {_COLUMNS} FROM stored_events"  # noqa: S608 — constants and marks only
            f" WHERE originator_id=? AND originator_version>? AND originator_version<=?{which}"
            f" ORDER BY originator_version {'DESC' if newest_first else 'ASC'} LIMIT ?",
            (stream, after, upto, *kinds, limit),
        )
        return cursor.fetchall()

    @staticmethod
    def rows_by_position(cursor: sqlite3.Cursor, after: int, limit: int) -> list[Row]:
        """At most ``limit`` rows of the whole store behind a position."""
        cursor.execute(
            f"SELECT {_COLUMNS} FROM stored_events WHERE rowid>? ORDER BY rowid LIMIT ?",  # noqa: S608
            (after, limit),
        )
        return cursor.fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self.datastore.close()


def make_database(path: Path) -> None:
    """Lay out an empty log at ``path``: all of it or nothing.

    Raises:
        LogosphereError: the place can't be written.
    """
    new = path.with_name(path.name + ".new")
    if path.with_name(path.name + "-wal").exists():
        # SQLite would read it into the new file as if it belonged there
        raise Broken(
            f"There is {path.name}-wal in {str(path.parent)!r} but no {path.name}:"
            " put the log back, or remove the leftover if you know that it is one."
        )
    try:
        for leftover in (new, new.with_name(new.name + "-wal"), new.with_name(new.name + "-shm")):
            leftover.unlink(missing_ok=True)
        connection = sqlite3.connect(database_uri(new, mode="mode=rwc"), uri=True)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("BEGIN")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={LAYOUT}")
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        new.replace(path)
        _sync_directory(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise translated(error, str(path)) from error


def _sync_directory(directory: Path) -> None:
    """Make a new name as durable as what it names; some systems can't, and need not."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def checked(path: Path) -> None:
    """Make sure that a file is a log of ours before anything reads it as one.

    Raises:
        NotAStore, StoreIsTooNew: it is something else.
    """
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise translated(error, str(path)) from error
    if header[:16] != b"SQLite format 3\0" or len(header) < 100:
        raise NotAStore(str(path))
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise NotAStore(str(path))
    layout = int.from_bytes(header[60:64], "big")
    if layout > LAYOUT:
        raise StoreIsTooNew(str(path), layout, LAYOUT)
