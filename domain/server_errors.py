"""What can go wrong with a store that is not on this machine.

Refused
├── BadPlace, NoSuchDatabase, NotSynchronous, NoSuchCell, ManyCells, CopyIsUnfinished,
│   AnotherHistory, MayNotMakeTables
Broken
├── StoreIsUnreachable
│   └── WriteInDoubt
└── CellsAreAway
"""

from collections.abc import Sequence

from domain.errors import Broken, Refused
from domain.reach import Away

_ADVICE = "see that the server runs and lets you in, then try again."


class BadPlace(Refused):
    """An address that no store can be at."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(
            f"{where!r} is no place of a store ({why}): name a directory, or"
            " postgresql://USER@HOST/DATABASE."
        )


class NotSynchronous(Refused):
    """The server would acknowledge what it may lose."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where!r} confirms writes before a standby has them, and its address asks for"
            " replication=sync: set synchronous_standby_names on the server, or leave that out."
        )


class StoreIsUnreachable(Broken):
    """The server does not answer, or went away."""

    def __init__(self, where: str, why: str, todo: str = _ADVICE) -> None:
        self.what = f"{where!r} does not answer ({why.strip().rstrip('.')})"
        super().__init__(f"{self.what}: {todo}")

    @property
    def awaited(self) -> str:
        """What is said where nobody has to do anything: who asks goes on by itself."""
        return f"{self.what}: going on when it is back."


class NoSuchDatabase(StoreIsUnreachable):
    """A server that answers, and does not have the database that its address names."""

    def __init__(self, where: str, name: str) -> None:
        self.what = f"The server of {where!r} has no database {name!r}"
        todo = f"make it (createdb {name}), or have it made by whoever may."
        Broken.__init__(self, f"{self.what}: {todo}")


class WriteInDoubt(StoreIsUnreachable):
    """The server went away in the middle of a write, and nobody knows whether it came about."""

    def __init__(self, where: str, why: str) -> None:
        todo = "whether it has written is not known, so look (mind log) before you say it again."
        super().__init__(where, why, todo)


class CellsAreAway(Broken):
    """What was told is not all there is, or what is asked can't be done with only some of it."""

    def __init__(
        self, away: Sequence[Away], what: str = "This is not all", todo: str = "try again"
    ) -> None:
        self.away = away
        cells = " and ".join(f"the cell {one.cell!r} with {one.counted}" for one in away)
        super().__init__(f"{what}, since {cells} can't be reached: see that it runs, then {todo}.")


class MayNotMakeTables(Refused):
    """A role without the right to make or change a store's tables."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"Your role may not make or change the tables of {where!r}: ask the database's owner"
            " for CREATE on it, or to run mind store migrate."
        )


class NoSuchCell(Refused):
    """A cell that the store does not have."""

    def __init__(self, cell: str, having: Sequence[str]) -> None:
        super().__init__(
            f"The store has no cell {cell!r}: name one of {', '.join(having)}, or make it with"
            " mind store add-cell."
        )


class ManyCells(Refused):
    """A question about the order of events, of which every cell has its own."""

    def __init__(self, where: str, cells: Sequence[str]) -> None:
        super().__init__(
            f"{where!r} has the cells {', '.join(cells)}, each with an order of its own: name one"
            f" for this, as in --store '…?cell={cells[0]}'; mind analyse reads all of them."
        )


class CopyIsUnfinished(Refused):
    """A store that is not whole yet: nobody may read it as one, or write to it."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where!r} is an unfinished copy of a store: say the same mind store copy again, and"
            " it goes on."
        )


class AnotherHistory(Refused):
    """A copy to where something else happened."""

    def __init__(self, source: str, target: str, why: str) -> None:
        super().__init__(
            f"{target!r} is no earlier state of {source!r} ({why}): nothing was written; copy to"
            " a place of its own."
        )
