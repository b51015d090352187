"""The table of events in SQLite: how rows are written durably, guarded, and read in pages."""

import os
import random
import sqlite3
import threading
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
from commands.holder import is_gone
from domain.errors import (
    Broken,
    NoStore,
    NotAStore,
    StoreExists,
    StoreIsBusy,
    StoreIsClosed,
    StoreIsFull,
    StoreIsTooNew,
)

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
        UNIQUE (originator_id, originator_version)) STRICT""",
    # the newest message, the iteration before a moment … are looked up, never scanned for
    """CREATE INDEX stored_events_by_kind
        ON stored_events (originator_id, topic, originator_version)""",
    """CREATE TRIGGER events_never_change BEFORE UPDATE ON stored_events
        BEGIN SELECT RAISE(ABORT, 'events never change'); END""",
    """CREATE TRIGGER events_never_go BEFORE DELETE ON stored_events
        BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END""",
    # a stream grows by one; a fork begins anywhere, but only once, and nothing is below it.
    # REPLACE deletes without asking the trigger above, so it must not find anything to replace
    """CREATE TRIGGER streams_grow_by_one BEFORE INSERT ON stored_events
        WHEN coalesce(
            (SELECT max(originator_version) FROM stored_events
                WHERE originator_id = NEW.originator_id
                AND NEW.topic <> 'session.forked'),
            CASE
                WHEN NEW.topic <> 'session.forked' THEN 0
                WHEN NEW.originator_version > 1 AND NOT EXISTS (
                    SELECT 1 FROM stored_events WHERE originator_id = NEW.originator_id)
                THEN NEW.originator_version - 1
            END) IS NOT NEW.originator_version - 1
        BEGIN SELECT RAISE(ABORT, 'a stream grows by one, from its beginning'); END""",
    # a row that does not name its rowid has -1 here
    """CREATE TRIGGER positions_only_grow BEFORE INSERT ON stored_events
        WHEN NEW.rowid <> -1 AND NEW.rowid <= (SELECT max(rowid) FROM stored_events)
        BEGIN SELECT RAISE(ABORT, 'positions only grow'); END""",
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
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA trusted_schema=OFF")
        except sqlite3.Error:
            connection.close()
            raise
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

    def __init__(self, path: Path, *, mode: str = "mode=rw", full: bool = False) -> None:
        """Open a log.

        Args:
            path: the file.
            mode: how, as a part of a SQLite URI.
            full: it can only be read because the disk is full, which is what writers are told.
        """
        self.path, self.mode, self._full = path, mode, full
        self._turn = threading.Lock()
        super().__init__(_Datastore(database_uri(path, mode=mode)))
        self.insert_events_statement = (
            "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
            " VALUES (?,?,?,?)"
        )

    def construct_create_table_statements(self) -> list[str]:
        """The table, its index and its guards."""
        return list(SCHEMA)

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> Sequence[int]:
        """Write rows in one durable transaction; their positions."""
        with self.writing() as cursor:
            return self.insert_within(cursor, stored_events)

    def insert_within(
        self, cursor: sqlite3.Cursor, stored_events: Sequence[StoredEvent]
    ) -> Sequence[int]:
        """The same inside of :meth:`writing`; alone there, so that positions follow each other."""
        cursor.executemany(
            self.insert_events_statement,
            [(e.originator_id, e.originator_version, e.topic, e.state) for e in stored_events],
        )
        cursor.execute("SELECT last_insert_rowid()")
        last = int(cursor.fetchone()[0])
        return range(last - len(stored_events) + 1, last + 1)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Cursor]:
        """Hold the right to write: what is inserted is durable at the end, or not there at all.

        Raises:
            LostRace: a row is there already.
            StoreIsBusy, StoreIsFull, StoreIsReadOnly: nothing was written.
        """
        if self._full:
            raise StoreIsFull(str(self.path))
        try:
            with (
                # a thread that waits for the writer inside the pool keeps readers out of it
                self._turn,
                self.datastore.get_connection(commit=True) as connection,
                connection.cursor() as raw,
            ):
                raw.row_factory = None
                self._begin(raw)
                try:
                    yield raw
                    connection.commit()
                except BaseException:
                    connection.rollback()
                    raise
        except (PersistenceError, sqlite3.Error) as error:
            raise translated(error, str(self.path)) from error

    def _begin(self, cursor: sqlite3.Cursor) -> None:
        """Wait for other writers in short random naps.

        SQLite's own naps grow, so that whoever waits longest asks least often.
        """
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                cursor.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
                if time.monotonic() > deadline:
                    raise StoreIsBusy(str(self.path), LOCK_TIMEOUT) from error
                time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311 — a wait, no secret
            else:
                return

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Cursor]:
        """A cursor that yields plain tuples."""
        try:
            with (
                self.datastore.get_connection(commit=False) as connection,
                connection.cursor() as cursor,
            ):
                cursor.row_factory = None
                yield cursor
        except (PersistenceError, sqlite3.Error, UnicodeDecodeError) as error:
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
    def rows_at(cursor: sqlite3.Cursor, stream: str, versions: Sequence[int]) -> list[Row]:
        """The rows of one stream at just these versions."""
        rows: list[Row] = []
        for start in range(0, len(versions), 500):
            some = versions[start : start + 500]
            cursor.execute(
                f"SELECT {_COLUMNS} FROM stored_events WHERE originator_id=?"  # noqa: S608
                f" AND originator_version IN ({','.join('?' * len(some))})",
                (stream, *some),
            )
            rows += cursor.fetchall()
        return rows

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
    """Lay out an empty log at ``path``: all of it or nothing, and by one process alone.

    Raises:
        StoreExists: there is one by now.
        LogosphereError: the place can't be written.
    """
    _sweep(path)  # first: a kill may have come right before the last of it was cleared away
    if path.exists():
        raise StoreExists(str(path.parent))
    _refuse_leftover(path)
    new = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}.new")
    try:
        _lay_out(new)
        os.link(new, path)  # unlike a rename, this never replaces what is there
        _sync_directory(path.parent)
    except FileExistsError:
        raise StoreExists(str(path.parent)) from None
    except (OSError, sqlite3.Error) as error:
        raise translated(error, str(path)) from error
    finally:
        new.unlink(missing_ok=True)


def _refuse_leftover(path: Path) -> None:
    """SQLite would read a stray WAL into the new file as if it belonged there."""
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and not path.exists():
        raise Broken(
            f"There is {wal.name} in {str(path.parent)!r} but no {path.name}:"
            " put the log back, or remove the leftover if you know that it is one."
        )


def _sweep(path: Path) -> None:
    """Remove what a killed process left half made."""
    for leftover in path.parent.glob(f"{path.name}.*.new*"):
        process = leftover.name.removeprefix(f"{path.name}.").partition(".")[0]
        if process.isdigit() and is_gone(int(process)):
            leftover.unlink(missing_ok=True)


def _lay_out(new: Path) -> None:
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
    except FileNotFoundError:
        raise NoStore(str(path.parent)) from None
    except OSError as error:
        raise StoreIsClosed(str(path), error.strerror or str(error)) from error
    if header[:16] != b"SQLite format 3\0" or len(header) < 100:
        raise NotAStore(str(path))
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise NotAStore(str(path))
    layout = int.from_bytes(header[60:64], "big")
    if layout > LAYOUT:
        raise StoreIsTooNew(str(path), layout, LAYOUT)
