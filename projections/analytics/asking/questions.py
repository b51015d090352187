"""Asking: the caught-up file opened for questions, whoever else is at it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from projections.analytics.asking.sandbox import Limits, Sandbox, guarded, sandboxed
from projections.analytics.database import opening


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
        sandbox = opening(lambda: stack.enter_context(sandboxed(file, limits)))
        if alone:
            stack.enter_context(guarded(limits))
        yield sandbox
