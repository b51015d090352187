"""The directory of a store's cells, which its home keeps, and which of them do not answer."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg

from commands.eventlog.patience import PATIENCE, patience
from commands.eventlog.place import Address, address_of
from commands.eventlog.postgres.faults import is_lost, translated
from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.postgres.rows import Cursor
from domain.server_errors import StoreIsUnreachable

HOME = "home"

AGAIN = 10
"""A cell that did not answer is asked again after so many times as long as it took to find out."""


class Cell(NamedTuple):
    """One server of a store."""

    name: str
    address: Address


def cells_of(home: PostgresRecorder) -> list[Cell]:
    """The cells of a store, the one that keeps the directory first."""
    with home.reading() as cursor:
        rows = cursor.fetch(f"SELECT name, address FROM {home.address.schema}.cells ORDER BY name")  # noqa: S608
    return [Cell(HOME, home.address), *(Cell(name, address_of(url)) for name, url in rows)]


class _Heard(NamedTuple):
    """What came of a question that was not answered."""

    error: StoreIsUnreachable
    waited: float
    """Seconds."""
    until: float
    """When to ask again, by the clock that only goes on."""


class Silence:
    """Which cells did not answer a moment ago: whoever asks next need not wait for that, too."""

    def __init__(self) -> None:
        self._heard: dict[str, _Heard] = {}
        self._lock = threading.Lock()

    @contextmanager
    def asking(self, cell: str, where: str, patience: float = 0.0) -> Iterator[None]:
        """Ask a cell something.

        A host that is silent is waited for some seconds, one that refuses not at all: so, too, is
        how soon it is asked again.

        Args:
            cell: which.
            where: what it is called in sentences.
            patience: seconds that the question may take: what others who waited less found out
                does not count.

        Raises:
            StoreIsUnreachable: it does not answer, or did not a moment ago.
        """
        known, began = self._heard.get(cell), time.monotonic()
        if known is not None and began < known.until and known.waited >= patience:
            raise known.error.with_traceback(None)
        try:
            yield
        except StoreIsUnreachable as error:
            self._heard_nothing(cell, began, error)
            raise
        except psycopg.Error as error:
            if not is_lost(error):
                raise
            said = translated(error, where)
            if isinstance(said, StoreIsUnreachable):
                self._heard_nothing(cell, began, said)
            raise said from error

    def _heard_nothing(self, cell: str, began: float, error: StoreIsUnreachable) -> None:
        now = time.monotonic()
        waited = now - began
        with self._lock:
            self._heard[cell] = _Heard(error, waited, now + min(AGAIN * waited, PATIENCE))


class Watched(Cursor):
    """A cursor that only reads, of a cell that may fall silent."""

    def __init__(self, cursor: Cursor, silence: Silence, cell: str, where: str) -> None:
        self._cursor, self._silence, self._cell, self._where = cursor, silence, cell, where

    def ask(self, query: str, parameters: Any = ()) -> list[Any]:
        """As asked of any cursor."""
        with self._silence.asking(self._cell, self._where, patience()):
            return self._cursor.ask(query, parameters)
