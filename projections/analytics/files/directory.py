"""A directory whose files never change: who may write there, what comes, what goes.

What is written lies in a hidden directory within it and is moved to its place when it is whole.
Names say what is in a file, so whoever writes the same again writes it under the same name. Files
that nothing names were left behind by a kill, and go.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from domain.errors import Refused

LOCK = ".mind-export.lock"
STAGING = ".mind-export"

OURS = re.compile(
    r"\w+/(day=[\d-]+(/bucket=\d+)?/\d{12,}-\d{12,}-[0-9a-f]{8}|generation=\d+/[0-9a-f]{8})"
    r"(-\d+)?\.parquet"
)
"""Paths of what is written here; nothing else is ever removed."""


class Removed(NamedTuple):
    """What went."""

    files: int
    size: int
    """In bytes."""


@contextmanager
def alone(place: Path, name: str | None = None) -> Iterator[Path]:
    """Hold the lock of those who write to a directory, which is made if it is not there.

    Args:
        place: the directory.
        name: what it is called where somebody is told of it.

    Yields:
        An empty directory within it, which goes in the end.

    Raises:
        Refused: somebody else writes to it.
        OSError: it can't be written.
    """
    made = False
    with suppress(FileExistsError):
        place.mkdir()
        made = True
    try:
        with (place / LOCK).open("ab") as lock:
            _take(lock.fileno(), place, name or str(place))
            staging = place / STAGING
            try:
                empty(staging)
                yield staging
            finally:
                shutil.rmtree(staging, ignore_errors=True)
                if [path.name for path in place.iterdir()] == [LOCK]:  # nothing came of it
                    (place / LOCK).unlink()
    finally:
        if made:
            with suppress(OSError):  # unless something did
                place.rmdir()


def _take(lock: int, place: Path, name: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mine = os.path.samestat(os.fstat(lock), (place / LOCK).stat())
    except (BlockingIOError, FileNotFoundError):
        mine = False
    if not mine:
        raise Refused(f"Another export writes to {name!r} just now: wait until it is done.")


def empty(staging: Path) -> None:
    """Throw away what is in a directory, which is there in the end."""
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()


def move(place: Path, files: Iterable[tuple[Path, str]]) -> None:
    """Put whole files at their places, each path relative to the directory, so that they last."""
    directories = {place}
    for file, path in files:
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        sync(file)
        file.replace(target)
        directories |= {parent for parent in target.parents if parent.is_relative_to(place)}
    for directory in directories:
        sync(directory)


def replace(place: Path, name: str, text: str) -> None:
    """Replace a text at once by another one, which lasts."""
    new = place / STAGING / name
    new.write_text(text, encoding="utf-8")
    sync(new)
    new.replace(place / name)
    sync(place)


def sync(path: Path) -> None:
    """See to it that a file, or the names in a directory, are on the disk."""
    entry = os.open(path, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)


def sweep(place: Path, named: Collection[str]) -> Removed:
    """Remove all files of ours that are not named, and the directories that this empties."""
    files = size = 0
    for directory, _, names in os.walk(place):
        here = Path(directory)
        within = here.relative_to(place)
        gone = [name for name in names if _goes((within / name).as_posix(), named)]
        for name in gone:
            size += (here / name).stat().st_size
            (here / name).unlink()
        files += len(gone)
        with suppress(OSError):  # one of them is not empty
            for emptied in (here, *here.parents)[: len(within.parts) * bool(gone)]:
                emptied.rmdir()
    return Removed(files, size)


def _goes(path: str, named: Collection[str]) -> bool:
    return path not in named and OURS.fullmatch(path) is not None


def holds_only_ours(place: Path, *texts: str) -> bool:
    """Whether nobody else has put anything into a directory; beside files, these texts are ours."""
    if not (place / LOCK).exists():
        return not any(place.iterdir())
    for directory, _, names in os.walk(place):
        within = Path(directory).relative_to(place)
        if within.parts[:1] == (STAGING,):
            continue
        paths = [(within / name).as_posix() for name in names]
        if not all(path in {LOCK, *texts} or OURS.fullmatch(path) for path in paths):
            return False
    return True
