"""Asking: the caught-up file opened for questions, whoever else is at it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from domain.errors import StoreIsBusy, StoreIsDamaged
from projections.analytics.asking.sandbox import Limits, Sandbox, guarded, sandboxed
from projections.analytics.place import FILE, PATIENCE, is_locked, patiently


@contextmanager
def questions(file: Path, limits: Limits, *, alone: bool) -> Iterator[Sandbox]:
    """Open a database for the questions of a user.

    Args:
        file: the database.
        limits: what one question may take.
        alone: this process is about these questions, and may be held to their limit of memory.

    Raises:
        StoreIsBusy: somebody has it open to write, all the time.
        StoreIsDamaged: it can't be read.
        QueryStopped: the process ran out of the memory that it may have.
    """
    with ExitStack() as stack:
        try:
            sandbox = patiently(lambda: stack.enter_context(sandboxed(file, limits)), is_locked)
        except Exception as error:
            if is_locked(error):
                raise StoreIsBusy(FILE, PATIENCE) from error
            if type(error).__module__ == "_duckdb":
                why = str(error).partition("\n")[0].rstrip(".")
                raise StoreIsDamaged(
                    f"{FILE} can't be read ({why}): make it anew (mind rebuild)."
                ) from error
            raise
        if alone:
            stack.enter_context(guarded(limits))
        yield sandbox
