"""Cursors of the cells of a store, and how several of them are asked side by side."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from contextvars import copy_context
from functools import partial
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
        said = {cell: _begun(partial(self._asked, cell, ask)) for cell in cells}
        for answer in said.values():
            answer.exception()
        answers, silent = list[A](), dict[str, StoreIsUnreachable]()
        for cell, answer in said.items():
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


def _begun(ask: Callable[[], A]) -> Future[A]:
    """The answer, once it is there; whoever is interrupted need not wait for who asks."""
    answer = Future[A]()

    def answered() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 — raised where the answer is wanted
            answer.set_exception(error)

    threading.Thread(target=copy_context().run, args=(answered,), daemon=True).start()
    return answer
