"""A copy that comes into a file: no store before it is whole."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from commands.eventlog.recorder import Recorder
from commands.eventlog.sqlite.faults import translated
from commands.eventlog.sqlite.layout import (
    checked,
    lay_out,
    put_in_place,
    unfinished_of,
)
from commands.eventlog.sqlite.recorder import SqliteRecorder, opened
from domain.errors import StoreExists, StoreIsBusy


@contextmanager
def target(file: Path) -> Iterator[tuple[Recorder, bool, Callable[[], None]]]:
    """Where rows of a copy go.

    Yields:
        The rows, whether they are those of a store that is there, and what makes them one.

    Raises:
        StoreIsBusy: another copy comes here.
        NotAStore, StoreIsReadOnly, StoreIsFull: there can't be one.
    """
    if file.exists():
        checked(file)
        for leftover in (unfinished_of(file), _lock_of(file)):
            leftover.unlink(missing_ok=True)  # a kill came right after it was finished
        recorder = opened(file, writable=True)
        try:
            yield recorder, True, lambda: None
        finally:
            recorder.close()
        return
    with _alone(file) as new:
        recorder = SqliteRecorder(new)
        try:
            yield recorder, False, lambda: _finish(recorder, new, file)
        finally:
            recorder.close()


@contextmanager
def _alone(file: Path) -> Iterator[Path]:
    """The file of an unfinished copy, which nobody else goes on with meanwhile."""
    new, held = unfinished_of(file), _lock_of(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with held.open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreIsBusy(str(file.parent), 0) from None
            if file.exists():  # somebody finished it while we came
                raise StoreExists(str(file.parent))
            with suppress(FileExistsError), put_in_place(new) as blank:
                lay_out(blank)
            checked(new)
            yield new
            if not new.exists():
                held.unlink(missing_ok=True)
    except OSError as error:
        raise translated(error, str(file.parent)) from error


def _lock_of(file: Path) -> Path:
    new = unfinished_of(file)
    return new.with_name(f"{new.name}.lock")


def _finish(recorder: Recorder, new: Path, file: Path) -> None:
    """Let the file be the store's; whoever makes one there meanwhile has come first."""
    recorder.close()  # which brings all of it into this one file
    wal = new.with_name(f"{new.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise StoreIsBusy(str(new), 0)
    try:
        with put_in_place(file) as name:
            os.link(new, name)
    except FileExistsError:
        raise StoreExists(str(file.parent)) from None
    new.unlink(missing_ok=True)  # who comes back to it in this moment tidies up, too
