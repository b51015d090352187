"""Directories and files that are at their place when they are whole, or never.

What is written lies in a hidden directory beside its place and is renamed when it is complete.
Whoever writes holds a lock on that directory, so the next one can tell what a kill left behind
from what is being written, and clears it away.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

PREFIX = ".mind-export-"


class Staging(NamedTuple):
    """Where something is being written."""

    new: Path
    """What is to be at the place; not there yet."""
    spill: Path
    """An empty directory for what does not fit into memory."""


@contextmanager
def placed(place: Path, *, replace: bool = False) -> Iterator[Staging]:
    """Let something be written, and put it at its place behind the block.

    Args:
        place: where it is to be; its parent is there.
        replace: take the place of what is there. Between the two renames that this takes with a
            directory, nothing is there.

    Raises:
        FileExistsError: a file, or a directory that is not empty, is there.
        OSError: it can't be written; nothing is there then that was not there before.
    """
    with _beside(place) as directory:
        staging = Staging(directory / "new", directory / "spill")
        staging.spill.mkdir()
        yield staging
        _sync(staging.new)
        _move(staging.new, place, directory / "old", replace=replace)
        _sync_entry(place.parent)


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """A new directory beside a place, locked, and gone in the end."""
    _sweep(place.parent)
    while True:
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place.parent))
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if not _locked(lock):  # somebody who sweeps was faster
                continue
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            os.close(lock)
        return


def _sweep(parent: Path) -> None:
    """Clear away what a kill left behind; what nobody holds is nobody's."""
    for leftover in [path for path in parent.iterdir() if path.name.startswith(PREFIX)]:
        with suppress(OSError):
            lock = os.open(leftover, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if _locked(lock):
                    shutil.rmtree(leftover, ignore_errors=True)
            finally:
                os.close(lock)


def _locked(directory: int) -> bool:
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _move(new: Path, place: Path, old: Path, *, replace: bool) -> None:
    if new.is_dir():
        if replace and place.exists():
            place.rename(old)
        try:
            new.rename(place)  # onto an empty directory, too
        except OSError as error:
            if old.exists():
                old.rename(place)
            if place.exists():
                raise FileExistsError(str(place)) from error
            raise
    elif replace:
        new.replace(place)
    else:
        os.link(new, place)  # unlike a rename, this never replaces what is there


def _sync(new: Path) -> None:
    """See to it that what is renamed is on the disk."""
    if new.is_dir():
        for directory, _, files in os.walk(new):
            for file in files:
                _sync_entry(Path(directory, file))
            _sync_entry(Path(directory))
    else:
        _sync_entry(new)


def _sync_entry(path: Path) -> None:
    entry = os.open(path, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)
