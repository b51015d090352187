"""The file of a log: its tables and their guards, made all at once or not at all."""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from glob import escape
from pathlib import Path
from urllib.parse import quote

from commands.eventlog.sqlite.faults import translated
from commands.holder import is_gone
from domain.errors import (
    Broken,
    NoStore,
    NotAStore,
    StoreExists,
    StoreIsADirectory,
    StoreIsClosed,
    StoreOfAnotherLayout,
)
from domain.server_errors import CopyIsUnfinished

APPLICATION_ID = 0x4C4F474F  # "LOGO": what a store's file says it is
LAYOUT = 3

NEVER_CHANGE = """CREATE TRIGGER events_never_change BEFORE UPDATE ON stored_events
        BEGIN SELECT RAISE(ABORT, 'events never change'); END"""

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
    # the newest mark tells whether a kept state may still hold what was redacted: see chain.py
    """CREATE TABLE redactions (position INTEGER PRIMARY KEY, mark BLOB NOT NULL) STRICT""",
    # streams whose name here, or whose parent's, an import had to change: the chain seals the
    # name that a stream was born with, so that its hashes are the same in every store
    """CREATE TABLE aliases (
        stream TEXT PRIMARY KEY, name TEXT NOT NULL, parent TEXT) STRICT, WITHOUT ROWID""",
    NEVER_CHANGE,
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


_HALF_MADE = re.compile(r"(\d{1,9})\.[0-9a-f]{8}\.new(?:-wal|-shm|-journal)?")
"""What follows a file's name while it is being made: the process, and chance."""


def database_uri(path: Path, *, mode: str) -> str:
    """A SQLite URI for a file, whatever its name holds."""
    return f"file:{quote(str(path.absolute()))}?{mode}"


def make_database(path: Path) -> None:
    """Lay out an empty log at ``path``: all of it or nothing, and by one process alone.

    Raises:
        StoreExists: there is one by now.
        LogosphereError: the place can't be written.
    """
    try:
        with put_in_place(path) as new:
            _refuse_leftover(path)
            lay_out(new)
    except FileExistsError:
        raise StoreExists(str(path.parent)) from None


@contextmanager
def put_in_place(path: Path) -> Iterator[Path]:
    """A place to make a file that appears at ``path`` when all of it is there, or never.

    Raises:
        FileExistsError: there is one by now.
        LogosphereError: the place can't be written.
    """
    _sweep(path)  # first: a kill may have come right before the last of it was cleared away
    if path.exists():
        raise FileExistsError(str(path))
    new = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}.new")
    try:
        yield new
        os.link(new, path)  # unlike a rename, this never replaces what is there
        _sync_directory(path.parent)
    except FileExistsError:
        raise
    except (OSError, sqlite3.Error) as error:
        raise translated(error, str(path)) from error
    finally:
        for leftover in (
            new,
            *(new.with_name(new.name + end) for end in ("-wal", "-shm", "-journal")),
        ):
            leftover.unlink(missing_ok=True)


def unfinished_of(path: Path) -> Path:
    """The file that a copy is made in: of another name, so that nothing takes it for a store."""
    return path.with_name(f"{path.name}.copy")


def _refuse_leftover(path: Path) -> None:
    """SQLite would read a stray WAL into the new file as if it belonged there."""
    if unfinished_of(path).exists():
        raise CopyIsUnfinished(str(path.parent))
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and not path.exists():
        raise Broken(
            f"There is {wal.name} in {str(path.parent)!r} but no {path.name}:"
            " put the log back, or remove the leftover if you know that it is one."
        )


def _sweep(path: Path) -> None:
    """Remove what a killed process left half made."""
    for leftover in path.parent.glob(f"{escape(path.name)}.*.new*"):
        ours = _HALF_MADE.fullmatch(leftover.name.removeprefix(f"{path.name}."))
        if ours and is_gone(int(ours[1])):
            leftover.unlink(missing_ok=True)


def lay_out(new: Path) -> None:
    """Make the tables of an empty log in a file that is not there yet."""
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
        NotAStore, StoreIsADirectory, StoreOfAnotherLayout: it is something else.
    """
    try:
        path.stat()
        application, layout = _marks(path)
    except FileNotFoundError:
        if unfinished_of(path).exists():
            raise CopyIsUnfinished(str(path.parent)) from None
        raise NoStore(str(path.parent)) from None
    except NotADirectoryError:
        refusal = StoreIsADirectory if path.parent.is_file() else NoStore
        raise refusal(str(path.parent)) from None
    except OSError as error:
        raise StoreIsClosed(str(path), error.strerror or str(error)) from error
    except sqlite3.OperationalError as error:
        why = str(error) if os.access(path, os.R_OK) else os.strerror(errno.EACCES)
        raise StoreIsClosed(str(path), why) from error
    except sqlite3.DatabaseError as error:
        raise NotAStore(str(path)) from error
    if application != APPLICATION_ID:
        raise NotAStore(str(path))
    if layout != LAYOUT:
        raise StoreOfAnotherLayout(str(path), layout, LAYOUT)


def _marks(path: Path) -> tuple[int, int]:
    """What a file says it is.

    Asked through SQLite: a process that closes a descriptor of its own on a file lets go of every
    lock it has there, and others would then take what it goes on writing for nobody's.
    """
    uri = database_uri(path, mode="mode=ro&immutable=1")
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("PRAGMA writable_schema=ON")  # or a cut off file would say nothing
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        return application, connection.execute("PRAGMA user_version").fetchone()[0]
