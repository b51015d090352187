"""What SQLite and the disk say when they fail, in our words."""

import errno
import sqlite3
from pathlib import Path

from domain.errors import (
    Broken,
    LogosphereError,
    LostRace,
    NotAStore,
    StoreIsADirectory,
    StoreIsBusy,
    StoreIsDamaged,
    StoreIsFull,
    StoreIsReadOnly,
)

_NO_ROOM = {"SQLITE_FULL"} | {
    f"SQLITE_IOERR_{what}"
    for what in ("WRITE", "FSYNC", "TRUNCATE", "SHMOPEN", "SHMSIZE", "SHMMAP")
}
"""What SQLite says when the disk, or a quota, has no room for what it has to write."""


def _root(error: BaseException) -> BaseException:
    """The SQLite error inside the library's."""
    while not isinstance(error, sqlite3.Error | OSError):
        inner = error.__cause__ or next(
            (a for a in error.args if isinstance(a, BaseException)), None
        )
        if inner is None:
            return error
        error = inner
    return error


def _name(error: BaseException) -> str:
    return getattr(_root(error), "sqlite_errorname", "") or ""


def is_busy(error: BaseException) -> bool:
    """Whether another process holds the lock, so that waiting helps."""
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def translated(error: BaseException, where: str) -> LogosphereError:
    """The error that tells the user what is and what to do."""
    root, name = _root(error), _name(error)
    if isinstance(root, OSError):
        if root.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            return StoreIsFull(where)
        if root.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            return StoreIsReadOnly(where)
        if isinstance(root, FileExistsError) and Path(where).is_file():
            return StoreIsADirectory(where)
        return Broken(f"{where!r} can't be used: {root.strerror or root}.")
    if name.startswith("SQLITE_CONSTRAINT"):
        return LostRace(f"somebody else wrote to {where!r} first: {root}")
    if name in _NO_ROOM:
        return StoreIsFull(where)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreIsReadOnly(where)
    if name == "SQLITE_NOTADB":
        return NotAStore(where)
    if is_busy(error):
        return StoreIsBusy(where, 0)
    return StoreIsDamaged(
        f"{where!r} can't be read to the end ({root}): mind verify says what is whole."
    )
