"""Connections to the server: lent, tested without a round trip, and made anew after a failover."""

import os
import random
import select
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from commands.eventlog.patience import is_given_up, patience
from commands.eventlog.place import Address
from commands.eventlog.postgres.faults import LOCK_TIMEOUT, is_lost, translated
from domain.server_errors import BadPlace, NotSynchronous

_OLDEST = 13
"""The first version that has all that layout.sql asks for, such as pg_current_xact_id."""

_IDLE = 8
"""Connections that are kept for later."""

_TERMS = """SELECT set_config('default_transaction_isolation', 'read committed', false),
    set_config('lock_timeout', %s, false),
    set_config('search_path', 'pg_catalog, pg_temp', false),
    set_config('standard_conforming_strings', 'on', false),
    set_config('quote_all_identifiers', 'off', false),
    set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit')
        IN ('off', 'local') THEN 'on' ELSE current_setting('synchronous_commit') END, false),
    set_config('default_transaction_read_only', CASE WHEN %s
        THEN 'on' ELSE current_setting('default_transaction_read_only') END, false),
    current_setting('synchronous_standby_names')"""
"""What we rely on, whatever the server's defaults are: what is acknowledged is durable, what
we call is not somebody else's of the same name, bytes arrive as they are, and whoever only reads
can do nothing else."""

_LIFE: dict[str, Any] = {
    # a host that dies without a word is noticed within seconds, and not after hours
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 3000,
    "connect_timeout": 3,
    "application_name": "mind",
}

Connection = psycopg.Connection[tuple[Any, ...]]


def connect(address: Address) -> Connection:
    """A connection of one's own.

    Raises:
        BadPlace: libpq can't make sense of the address, or the server is too old.
        NotSynchronous: the address asks for what this server does not do: also of a successor.
        psycopg.Error: there is none to be had.
    """
    try:
        given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
        wanted = {key: value for key, value in _LIFE.items() if key not in given}
        if "," in str(given.get("host", "")) and "target_session_attrs" not in given:
            wanted["target_session_attrs"] = "read-write"
        wanted |= _behind_others(given, _gone.get(address.conninfo))
        wanted["client_encoding"] = "UTF8"  # psycopg leaves texts of SQL_ASCII as bytes
        connection = psycopg.connect(
            address.conninfo, autocommit=True, row_factory=tuple_row, prepare_threshold=2, **wanted
        )
    except psycopg.ProgrammingError as error:
        why = str(error).partition("\n")[0]
        # it quotes what it was about, which may be the password; of an option, only its name
        shown = why if "URI query parameter" in why else why.partition(': "')[0]
        raise BadPlace(address.shown, shown) from None
    if connection.info.server_version < _OLDEST * 10_000:
        connection.close()
        why = f"its server is older than PostgreSQL {_OLDEST}"
        raise BadPlace(address.shown, why)
    try:
        _agree(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection


def _agree(connection: Connection, address: Address) -> None:
    terms = (f"{round(LOCK_TIMEOUT * 1000)}", address.read_only)
    row = connection.execute(_TERMS, terms).fetchone()
    if address.synchronous and not (row and row[-1].strip()):
        raise NotSynchronous(address.shown)


_gone: dict[str, tuple[str, str]] = {}
"""The host and port that a connection was lost to last, by conninfo."""


@contextmanager
def avoiding(address: Address, connection: Connection) -> Iterator[None]:
    """Ask the other hosts of an address first from then on, if this connection breaks.

    A host that is dead says nothing, and would be waited for each time.
    """
    try:
        yield
    finally:
        if connection.broken:
            with suppress(psycopg.Error):
                _gone[address.conninfo] = connection.info.host, str(connection.info.port)


def _behind_others(given: Mapping[str, Any], gone: tuple[str, str] | None) -> dict[str, str]:
    hosts = str(given.get("host", "")).split(",")
    if gone is None or len(hosts) == 1 or "hostaddr" in given:
        return {}
    ports = str(given.get("port", "5432")).split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    asked = sorted(zip(hosts, ports, strict=False), key=lambda pair: pair == gone)
    return {
        "host": ",".join(host for host, _ in asked),
        "port": ",".join(port for _, port in asked),
    }


class Connections:
    """The connections of one store in this process; any thread may borrow."""

    def __init__(self, address: Address) -> None:
        """Reach the server.

        Raises:
            StoreIsUnreachable, StoreIsClosed: it can't be reached, or does not let us in.
        """
        self.address = address
        self._idle: list[Connection] = []
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        try:
            self._idle.append(connect(address))
        except psycopg.Error as error:
            raise translated(error, address.shown) from error

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """Borrow a connection; one that breaks meanwhile is not lent again.

        Raises:
            StoreIsUnreachable: there is none to be had for :func:`patience`.
        """
        connection = self._borrowed()
        try:
            with avoiding(self.address, connection):
                yield connection
        except BaseException:
            # whatever it was in the middle of, the server ends that when it is closed
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.close()
            raise
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Let go of all that are not lent."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _borrowed(self) -> Connection:
        while True:
            with self._lock:
                if self._owner != os.getpid():  # a fork: these talk for the process we came from
                    self._idle, self._owner = [], os.getpid()
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._made()
            if _is_alive(connection):
                return connection
            connection.close()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            keep = not (connection.closed or self._closed or len(self._idle) >= _IDLE)
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()

    def _made(self) -> Connection:
        """A new connection, with patience: a successor may take seconds to be there."""
        wait = Wait()
        while True:
            try:
                return connect(self.address)
            except psycopg.Error as error:
                if not is_lost(error) or wait.is_over:
                    raise translated(error, self.address.shown) from error
            wait()


class Wait:
    """Naps that grow to a quarter of a second, until patience ends."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + patience()
        self._nap = 0.01
        self._napped = False

    @property
    def is_over(self) -> bool:
        """Whether it has been long enough; never before one more try, since clocks may jump."""
        return self._napped and (is_given_up() or time.monotonic() > self._deadline)

    def __call__(self) -> None:
        """Nap once."""
        self._napped = True
        time.sleep(self._nap * random.uniform(0.5, 1))  # noqa: S311 — a wait, no secret
        self._nap = min(self._nap * 2, 0.25)


def _is_alive(connection: Connection) -> bool:
    """Whether the server has not hung up; nothing is sent, so this costs microseconds."""
    if connection.closed:
        return False
    if not hasattr(select, "poll"):
        return True
    try:
        ready = select.poll()
        ready.register(connection.fileno(), select.POLLIN)
        # an idle connection has nothing to say but goodbye
        return not ready.poll(0)
    except (OSError, ValueError, psycopg.Error):
        return False
