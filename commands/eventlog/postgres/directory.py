"""The directory of a store's cells, which its home keeps, and which of them do not answer."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg

from commands.eventlog.patience import PATIENCE, patience
from commands.eventlog.place import Address, address_of, as_strict, options_of
from commands.eventlog.postgres.faults import is_lost, translated
from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.postgres.rows import Cursor
from domain.server_errors import BadPlace, StoreIsUnreachable

HOME = "home"

_SAID = frozenset(
    {
        *("schema", "replication"),
        *("host", "port", "dbname", "user", "target_session_attrs", "load_balance_hosts"),
        *("sslmode", "sslnegotiation", "sslrootcert", "sslcrl", "sslcrldir", "sslcert", "sslkey"),
        *("ssl_min_protocol_version", "sslsni", "channel_binding", "require_auth", "gssencmode"),
        *("connect_timeout", "tcp_user_timeout", "application_name"),
        *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
    }
)
"""What the address of a cell may say: where it is, and how strictly to go there.

Whoever may write the directory says it for all others. libpq would look for the password of a
``host`` and send it to another ``hostaddr``, take it from a ``service``, hand on tickets, and write
keys into files.
"""

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
    return [
        Cell(HOME, home.address),
        *(Cell(name, address_in(home.address, url)) for name, url in rows),
    ]


def address_in(home: Address, url: str) -> Address:
    """An address as it stands in the directory, taken apart; gone to as strictly as to its home.

    Raises:
        BadPlace: it is none, or says more than the directory may.
    """
    address = address_of(url)
    more = sorted(options_of(url) - _SAID)
    if more:
        why = f"the address of a cell can't say {', '.join(map(repr, more))}"
        raise BadPlace(address.shown, why)
    return address._replace(conninfo=as_strict(address.conninfo, home.conninfo))


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
