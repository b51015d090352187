"""The database follows the log: caught up before each question, built anew when it has to be.

The log is the truth. Rows and position are written in one transaction, so a kill at any moment
leaves a database that goes on from where it was, or one that can't be read and is built anew. One
process writes at a time, under a lock file; where another one has the file open to read, a copy is
caught up and takes the file's place, so nobody waits for a notebook, nor a notebook for anybody.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import Refused, StoreIsBusy, StoreIsFull, StoreIsReadOnly
from domain.log import Log
from projections.analytics.database import (
    Status,
    connect,
    is_of_duckdb,
    layout,
    make,
    status,
    transaction,
)
from projections.analytics.load import write
from projections.analytics.place import (
    FILE,
    PATIENCE,
    alone,
    has_no_room,
    is_closed_to_us,
    is_locked,
    new_of,
    patiently,
    remove,
    replace,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SLICE = 50_000
"""Events between two commits."""

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


class _Locked(Exception):
    """Somebody has it open to write."""


def catch_up(
    log: Log, directory: Path, *, progress: Progress | None = None, size: int = SLICE
) -> CaughtUp:
    """Bring the database up to the newest event of the log.

    Args:
        log: the truth.
        directory: where the store is.
        progress: told about long work.
        size: events between two commits.

    Returns:
        The file, and how it went.

    Raises:
        Refused: DuckDB is not installed.
        StoreIsReadOnly: there is no database, and none can be written.
        StoreIsBusy: another process writes it, and there is nothing to read meanwhile.
        StoreIsFull: the disk is; a database that is there stays as it is.
    """
    file = directory / FILE
    why_not: StoreIsBusy | StoreIsReadOnly = StoreIsBusy(FILE, PATIENCE)
    try:
        with _told(directory), alone(directory) as mine:
            if mine:
                return _bring_up(log, file, progress, size)
    except StoreIsReadOnly as error:
        why_not = error
    seen = _look_patiently(log, file)
    if seen.position is None:
        raise why_not
    return CaughtUp(file, max(0, log.position() - seen.position), None)


def rebuild(
    log: Log, directory: Path, *, progress: Progress | None = None, size: int = SLICE
) -> Path:
    """Build the database from the first event on, and put it in the place of the one there is.

    Raises:
        StoreIsBusy, StoreIsReadOnly, StoreIsFull: nothing was changed.
    """
    with _told(directory), alone(directory) as mine:
        if not mine:
            raise StoreIsBusy(FILE, PATIENCE)
        return _anew(log, directory / FILE, None, progress, size).file


def build(log: Log, file: Path, *, progress: Progress | None = None, size: int = SLICE) -> None:
    """Build a database in a new file; one that lies there is thrown away.

    Raises:
        StoreIsReadOnly, StoreIsFull: nothing is there.
    """
    with _told(file.parent), _whole_or_not(file):
        while True:
            remove(file)
            connection = connect(file, read_only=False)
            try:
                with transaction(connection):
                    make(connection)
                _load(log, connection, progress, size)
                connection.execute("CHECKPOINT")  # closing would not say that the disk is full
            except _Moved:
                continue
            finally:
                connection.close()
            return


def _bring_up(log: Log, file: Path, progress: Progress | None, size: int) -> CaughtUp:
    """Catch up, with nobody else doing so."""
    remove(new_of(file))  # of somebody who was killed
    if not file.exists():
        return _anew(log, file, f"There was no {FILE}", progress, size)
    try:
        try:
            connection = connect(file, read_only=False)
        except Exception as error:
            if not is_locked(error):
                raise
            if _look(log, file).position == log.position():
                return CaughtUp(file, 0, None)
            why = _beside(log, file, progress, size)
        else:
            why = _followed(log, connection, progress, size)
    except Exception as error:
        if not is_of_duckdb(error) or has_no_room(error):
            raise
        why = UNREADABLE
    return CaughtUp(file, 0, None) if why is None else _anew(log, file, why, progress, size)


def _followed(
    log: Log, connection: "DuckDBPyConnection", progress: Progress | None, size: int
) -> str | None:
    """Add what is new, and close; why it has to be built anew, if it has."""
    try:
        found = status(connection)
        why = _foreign(log, found)
        if why is None and found is not None and found.position < log.position():
            _load(log, connection, progress, size)
            connection.execute("CHECKPOINT")
    except _Moved:
        return REDACTED
    finally:
        connection.close()
    return why


def _beside(log: Log, file: Path, progress: Progress | None, size: int) -> str | None:
    """Catch up a copy that takes its place: somebody reads it, who goes on reading what was."""
    if _is_written(file):
        return f"{FILE} was open in another program"  # a copy might be torn
    new = new_of(file)
    remove(new)
    with _whole_or_not(new):
        shutil.copyfile(file, new)
        why = _followed(log, connect(new, read_only=False), progress, size)
        if why is None:
            replace(new, file)
    return why


def _anew(log: Log, file: Path, why: str | None, progress: Progress | None, size: int) -> CaughtUp:
    new = new_of(file)
    build(log, new, progress=progress, size=size)
    with _whole_or_not(new):
        replace(new, file)
    return CaughtUp(file, 0, why)


def _load(log: Log, connection: "DuckDBPyConnection", progress: Progress | None, size: int) -> None:
    """Write what the log has and the database has not, slice by slice.

    Raises:
        _Moved: something was redacted meanwhile.
    """
    found = status(connection)
    if found is None:
        raise ValueError("no database of ours")
    events, whole = log.plain(found.position), log.position()
    mark = found.mark if found.position else log.mark()
    while some := list(islice(events, size)):
        newest = some[-1].position
        hash_ = log.hash_at(newest)
        with transaction(connection):
            write(connection, some)
            connection.execute(
                "UPDATE base.status SET position = ?, hash = ?, mark = ?",
                (newest, hash_, mark),
            )
            if log.mark() != mark:  # what we just wrote may hold what is gone
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


def _look_patiently(log: Log, file: Path) -> _Seen:
    """As :func:`_look`, when others may be writing just now."""

    def look() -> _Seen:
        seen = _look(log, file)
        if seen == _Seen(None, None):
            raise _Locked
        return seen

    try:
        return patiently(look, lambda error: isinstance(error, _Locked))
    except _Locked:
        return _Seen(None, None)


def _foreign(log: Log, found: Status | None) -> str | None:
    """Why a database is none of this log and version; None if it is."""
    if found is None:
        return f"{FILE} was no database of this kind"
    if found.layout != layout():
        return f"{FILE} was made by another version"
    if found.position and log.hash_at(found.position) != found.hash:
        return f"{FILE} was made of another log"
    if found.position and found.mark != log.mark():
        return REDACTED
    return None


def _is_written(file: Path) -> bool:
    """Whether another process has it open to write."""
    try:
        connect(file, read_only=True).close()
    except Exception as error:
        if not is_locked(error):
            raise
        return "Could not set lock" in str(error)
    return False


@contextmanager
def _whole_or_not(new: Path) -> Iterator[None]:
    """Leave nothing half made behind."""
    try:
        yield
    except BaseException:
        remove(new)
        raise


@contextmanager
def _told(directory: Path) -> Iterator[None]:
    """Say in our words what a disk refuses."""
    try:
        yield
    except Exception as error:
        if has_no_room(error):
            raise StoreIsFull(str(directory)) from error
        if is_closed_to_us(error):
            raise StoreIsReadOnly(str(directory)) from error
        raise
