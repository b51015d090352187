"""The database follows the log: caught up before each question, built anew when it has to be.

The log is the truth. Rows and position are written in one transaction, so a kill at any moment
leaves a database that goes on from where it was. One process writes at a time, under a lock file;
where another one has the file open to read, a copy is caught up and takes the file's place, so
nobody waits for a notebook, nor a notebook for anybody.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import Refused, StoreIsBusy
from domain.log import Log
from projections.analytics.database import (
    FILE,
    Status,
    connect,
    layout,
    make,
    status,
    transaction,
)
from projections.analytics.load import write

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SLICE = 50_000
"""Events between two commits."""

PATIENCE = 3.0
"""Seconds to wait for another process that catches up; a rebuild may take longer."""

LOCK = "analytics.lock"

Progress = Callable[[int, int], None]
"""Told how many events of how many are in."""


class CaughtUp(NamedTuple):
    """What came of it."""

    file: Path
    behind: int
    """Events of the log that are not in the file, since another process writes to it."""
    why: str | None
    """Why it was built anew, as a sentence; None where it was not."""


REDACTED = "Something was redacted"
UNREADABLE = f"{FILE} could not be read"


class _Moved(Exception):
    """The log is no longer what the database was made of."""


def catch_up(log: Log, directory: Path, *, progress: Progress | None = None) -> CaughtUp:
    """Bring the database up to the newest event of the log.

    Args:
        log: the truth.
        directory: where the store is.
        progress: told about long work.

    Returns:
        The file, and how it went.

    Raises:
        Refused: DuckDB is not installed, or the directory can't be written and holds no database.
    """
    file = directory / FILE
    seen = _look(log, file)
    if seen.position == log.position():
        return CaughtUp(file, 0, None)
    try:
        with _alone(directory, PATIENCE) as mine:
            if mine:
                return _bring_up(log, file, progress)
    except PermissionError as error:
        if seen.why is not None:
            hint = "copy the store, and ask there"
            raise Refused(f"{directory} can't be written: {hint}.") from error
    seen = _look(log, file)
    if seen.why is not None:
        raise StoreIsBusy(FILE, PATIENCE)
    return CaughtUp(file, log.position() - (seen.position or 0), None)


def rebuild(log: Log, directory: Path, *, progress: Progress | None = None) -> Path:
    """Build the database from the first event on, and put it in the place of the one there is.

    Raises:
        StoreIsBusy: another process writes it.
    """
    with _alone(directory, PATIENCE) as mine:
        if not mine:
            raise StoreIsBusy(FILE, PATIENCE)
        return _anew(log, directory / FILE, None, progress).file


def build(log: Log, file: Path, *, progress: Progress | None = None) -> None:
    """Build a database in a new file; one that lies there is thrown away."""
    while True:
        _remove(file)
        connection = connect(file, read_only=False)
        try:
            with transaction(connection):
                make(connection)
            _load(log, connection, progress)
        except _Moved:
            continue
        finally:
            connection.close()
        return


def _bring_up(log: Log, file: Path, progress: Progress | None) -> CaughtUp:
    """Catch up, with nobody else doing so."""
    if not file.exists():
        return _anew(log, file, f"There was no {FILE}", progress)
    target = file
    try:
        connection = connect(file, read_only=False)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 — what is torn may raise anything
        if not is_locked(error):
            return _anew(log, file, UNREADABLE, progress)
        target = _new(file)  # somebody reads; a copy takes its place, and they go on with the old
        _remove(target)
        shutil.copyfile(file, target)  # nobody writes to the file: we hold the lock
        connection = connect(target, read_only=False)
    try:
        why = _foreign(log, status(connection))
        if why is None:
            _load(log, connection, progress)
    except _Moved:
        why = REDACTED
    finally:
        connection.close()
    if why is not None:
        return _anew(log, file, why, progress)
    if target != file:
        _replace(target, file)
    return CaughtUp(file, 0, None)


def _anew(log: Log, file: Path, why: str | None, progress: Progress | None) -> CaughtUp:
    new = _new(file)
    build(log, new, progress=progress)
    _replace(new, file)
    return CaughtUp(file, 0, why)


def _load(log: Log, connection: "DuckDBPyConnection", progress: Progress | None) -> None:
    """Write what the log has and the database has not, slice by slice.

    Raises:
        _Moved: something was redacted meanwhile.
    """
    found = status(connection)
    if found is None:
        raise ValueError("no database of ours")
    events, whole = log.plain(found.position), log.position()
    redactions = found.redactions if found.position else log.redactions()
    while some := list(islice(events, SLICE)):
        newest = some[-1].position
        hash_ = log.hash_at(newest)
        with transaction(connection):
            write(connection, some)
            connection.execute(
                "UPDATE base.status SET position = ?, hash = ?, redactions = ?",
                (newest, hash_, redactions),
            )
            if log.redactions() != redactions:  # what we just wrote may hold what is gone
                raise _Moved
        if progress is not None:
            progress(newest, whole)


class _Seen(NamedTuple):
    """A database, looked at without waiting for anybody."""

    position: int | None
    """How far it has come; None where that could not be seen."""
    why: str | None
    """Why it has to be built anew; None where it need not be, as far as could be seen."""


def _look(log: Log, file: Path) -> _Seen:
    if not file.exists():
        return _Seen(None, f"There was no {FILE}")
    try:
        connection = connect(file, read_only=True)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 — what is torn may raise anything
        return _Seen(None, None if is_locked(error) else UNREADABLE)
    try:
        found = status(connection)
    finally:
        connection.close()
    why = _foreign(log, found)
    return _Seen(found.position if found and not why else None, why)


def _foreign(log: Log, found: Status | None) -> str | None:
    """Why a database is none of this log and version; None if it is."""
    if found is None:
        return f"{FILE} was no database of this kind"
    if found.layout != layout():
        return f"{FILE} was made by another version"
    if found.position and log.hash_at(found.position) != found.hash:
        return f"{FILE} was made of another log"
    if found.position and found.redactions != log.redactions():
        return REDACTED
    return None


def is_locked(error: Exception) -> bool:
    """Whether a database could not be opened because somebody else has it open."""
    text = str(error)
    return "Could not set lock" in text or "different configuration" in text


@contextmanager
def _alone(directory: Path, patience: float) -> Iterator[bool]:
    """Hold the lock of those who write; False if somebody else keeps it for too long."""
    deadline, nap = time.monotonic() + patience, 0.005
    with (directory / LOCK).open("ab") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    yield False
                    return
                time.sleep(nap)
                nap = min(nap * 1.6, 0.1)
            else:
                yield True
                return


def _new(file: Path) -> Path:
    return file.with_name(file.name + ".new")


def _wal(file: Path) -> Path:
    return file.with_name(file.name + ".wal")


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)
    _wal(file).unlink(missing_ok=True)


def _replace(new: Path, file: Path) -> None:
    """Put a whole, closed database in the place of another one."""
    if _wal(new).exists():
        raise ValueError(f"{new.name} is not closed")
    with new.open("rb") as whole:
        os.fsync(whole.fileno())
    _wal(file).unlink(missing_ok=True)  # of the old one: beside the new one it could not be opened
    new.replace(file)
