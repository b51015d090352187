"""Where the database lies: who may write it, and how one file takes the place of another.

Nothing here needs DuckDB, so that whoever takes something away can take the database with it.
"""

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FILE = "analytics.duckdb"
LOCK = "analytics.lock"

PATIENCE = 3.0
"""Seconds to wait for another process that catches up; a rebuild may take longer."""


@contextmanager
def alone(directory: Path, patience: float = PATIENCE) -> Iterator[bool]:
    """Hold the lock of those who write; False if somebody else keeps it for too long.

    Raises:
        OSError: nothing can be written here.
    """
    with (directory / LOCK).open("ab") as lock:

        def take() -> None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

        mine = True
        try:
            patiently(take, lambda error: isinstance(error, BlockingIOError), patience)
        except BlockingIOError:
            mine = False
        yield mine


def patiently(
    act: Callable[[], T], passes: Callable[[Exception], bool], patience: float = PATIENCE
) -> T:
    """Try until it succeeds, as long as what stands in the way may pass.

    Args:
        act: what to try.
        passes: whether an error may go away by itself.
        patience: seconds after which such an error is raised, too.
    """
    deadline, nap = time.monotonic() + patience, 0.005
    while True:
        try:
            return act()
        except Exception as error:
            if not passes(error) or time.monotonic() > deadline:
                raise
        time.sleep(nap)
        nap = min(nap * 1.6, 0.1)


def new_of(file: Path) -> Path:
    """Where what takes its place is made."""
    return file.with_name(file.name + ".new")


def remove(file: Path) -> None:
    """Remove a database, and what DuckDB keeps beside one."""
    file.unlink(missing_ok=True)
    wal_of(file).unlink(missing_ok=True)
    shutil.rmtree(file.with_name(file.name + ".tmp"), ignore_errors=True)


def replace(new: Path, file: Path) -> None:
    """Put a whole, closed database in the place of another one.

    Who has that one open goes on reading it.
    """
    if wal_of(new).exists():
        raise ValueError(f"{new.name} is not closed")
    with new.open("rb") as whole:
        os.fsync(whole.fileno())
    wal_of(file).unlink(missing_ok=True)  # beside the new one it could not be opened
    new.replace(file)


def forget(directory: Path) -> bool:
    """Remove the database: what is taken out of the log stands in it still.

    The next question builds another one.

    Returns:
        Whether it is gone; not if another process is busy writing one.

    Raises:
        OSError: nothing can be written here.
    """
    file = directory / FILE
    if not any(directory.glob(f"{FILE}*")):
        return True
    with alone(directory) as mine:
        if mine:
            remove(new_of(file))
            remove(file)
        return mine


def is_locked(error: Exception) -> bool:
    """Whether a database could not be opened because somebody else has it open."""
    text = str(error)
    return "Could not set lock" in text or "different configuration" in text


def has_no_room(error: Exception) -> bool:
    """Whether the disk is full."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    text = str(error)
    return any(os.strerror(number) in text for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


def is_closed_to_us(error: Exception) -> bool:
    """Whether we may not write here."""
    return isinstance(error, OSError) and error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}


def wal_of(file: Path) -> Path:
    """What DuckDB wrote and has not put into the file yet."""
    return file.with_name(file.name + ".wal")
