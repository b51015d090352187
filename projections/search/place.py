"""Where the index lies: who may write it, how it is opened, how one file takes another's place.

It has a rollback journal, not a write-ahead log: it is one file then, which can be renamed, deleted
and read where nothing may be written.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FILE = "search.db"
LOCK = "search.lock"

PATIENCE = 5.0
"""Seconds to wait for another process that catches up."""

IN_MEMORY = Path(":memory:")


@contextmanager
def alone(directory: Path, patience: float = PATIENCE) -> Iterator[bool]:
    """Hold the lock of those who write; False if somebody else keeps it for too long.

    Raises:
        OSError: nothing can be written here.
    """
    with (directory / LOCK).open("ab") as lock:
        yield _taken(lock.fileno(), patience)


def _taken(lock: int, patience: float) -> bool:
    deadline, nap = time.monotonic() + patience, 0.002
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
        else:
            return True
        time.sleep(nap)
        nap = min(nap * 1.6, 0.1)


def connect(file: Path, *, writable: bool, patience: float = PATIENCE) -> sqlite3.Connection:
    """Open an index; a new one is made where there is none and one may be written.

    Raises:
        sqlite3.Error: it can't be opened so.
    """
    if file == IN_MEMORY:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    else:
        mode = "rwc" if writable else "ro"
        uri = f"{file.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=patience, check_same_thread=False
        )
    try:
        # what stands in the file is data, never anything to run
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        connection.execute("PRAGMA mmap_size=0")  # a torn file is an error, not a signal
        connection.execute("PRAGMA cache_size=-32000")
        if writable:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")
            # else a large transaction would keep readers out before its end
            connection.execute("PRAGMA cache_spill=OFF")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # what went wrong is to be seen, not what that led to
            connection.execute("ROLLBACK")
        raise


def new_of(file: Path) -> Path:
    """Where what takes its place is made."""
    return file.with_name(file.name + ".new")


def remove(file: Path) -> None:
    """Remove an index, and what SQLite keeps beside one."""
    file.unlink(missing_ok=True)
    _journal(file).unlink(missing_ok=True)


def replace(new: Path, file: Path) -> None:
    """Put a whole, closed index in the place of another; who has that open goes on reading it."""
    with new.open("rb") as whole:
        os.fsync(whole.fileno())
    _journal(file).unlink(missing_ok=True)  # of the old one: it must not be rolled into the new
    new.replace(file)


def identity(file: Path) -> tuple[int, int] | None:
    """Which file has that name now; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _journal(file: Path) -> Path:
    return file.with_name(file.name + "-journal")
