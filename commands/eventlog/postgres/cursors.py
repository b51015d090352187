"""Cursors of the cells of a store, and how several of them are asked side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from typing import NamedTuple, TypeVar

from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.postgres.routes import Routes
from commands.eventlog.recorder import Cursor
from domain.server_errors import StoreIsUnreachable

A = TypeVar("A")


class Cursors(NamedTuple):
    """One cursor for each cell that is asked, or the only one that may be written."""

    owner: Routes
    stack: ExitStack
    by_cell: dict[str, Cursor]
    written: str | None

    def of(self, cell: str) -> Cursor:
        """The one of a cell."""
        if cell not in self.by_cell:
            self.by_cell[cell] = self.stack.enter_context(self.owner.asked(cell))
        return self.by_cell[cell]

    def writes(self) -> str:
        """The cell that may be written."""
        if self.written is None:
            raise TypeError("this cursor only reads")
        return self.written

    def each(
        self, cells: Sequence[str], ask: Callable[[PostgresRecorder, Cursor], A]
    ) -> tuple[list[A], dict[str, StoreIsUnreachable]]:
        """What the cells that answer say, and what the others met with.

        All are asked side by side, so that several that are silent are waited for once.
        """
        with ThreadPoolExecutor(max(len(cells), 1)) as threads:
            said = [(c, threads.submit(copy_context().run, self._asked, c, ask)) for c in cells]
        answers, silent = list[A](), dict[str, StoreIsUnreachable]()
        for cell, answer in said:
            try:
                answers.append(answer.result())
            except StoreIsUnreachable as error:
                silent[cell] = error
        return answers, silent

    def _asked(self, cell: str, ask: Callable[[PostgresRecorder, Cursor], A]) -> A:
        held = self.by_cell.get(cell)
        if held is not None:
            return ask(self.owner.cell(cell), held)
        with self.owner.asked(cell) as its:
            return ask(self.owner.cell(cell), its)
