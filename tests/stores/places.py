"""The stores that the contract is run on: each test gets a place of its own on each of them."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path

import psycopg

from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.layout import migrate
from commands.eventlog.wire import Row
from tests.commands.eventlog.stores import unguarded
from tests.postgres.servers import NEWEST, Server

FURTHER = os.environ.get("LOGOSPHERE_TEST_STORES", "").split()
"""Addresses of further stores; each test makes a schema of its own there, and drops it."""

SERVERS = (f"postgres{NEWEST}", "postgres15", f"postgres{NEWEST}-together", *FURTHER)
"""``together``: transactions number the positions, so that many may append at once."""

STORES = ("sqlite", *SERVERS)
FAST = {"sqlite", f"postgres{NEWEST}", *FURTHER}
"""Where all is tested every time; elsewhere, what each might do in a way of its own."""

Connection = psycopg.Connection[tuple[object, ...]]


class Site:
    """Where a test has its store."""

    def __init__(self, place: Place, caches: Path, *, together: bool = False) -> None:
        self.place, self.together = place, together
        self._caches = caches
        self._stack = ExitStack()

    @property
    def is_server(self) -> bool:
        """Whether it is not in a directory."""
        return self.place.url is not None

    def create(self) -> EventLog:
        """Make the store; it is closed when the test ends."""
        if self.together:
            migrate(self.place.address, by_transaction=True)
            return self.open()
        return self._stack.enter_context(EventLog.create(self.place))

    def open(self, place: Place | None = None) -> EventLog:
        """Open it, once more if it is open; it is closed when the test ends."""
        return self._stack.enter_context(EventLog(place or self.place))

    def elsewhere(self, machine: str) -> Place:
        """The same store as another machine sees it, which has caches of its own."""
        return self.place._replace(home=self._caches / machine) if self.is_server else self.place

    def close(self) -> None:
        """Close every log of it."""
        self._stack.close()

    def sql(self, **more: str) -> Connection:
        """A connection to the server that knows nothing of us, as the owner of the tables."""
        connection = psycopg.connect(self.place.address.conninfo, autocommit=True, **more)  # type: ignore[arg-type]  # options of libpq
        self._stack.callback(connection.close)
        connection.execute(f"SET search_path TO {self.place.address.schema}".encode())
        return connection

    def tamper(self, position: int, state: bytes | None) -> None:
        """Change or, if None, delete what is stored, behind the guards."""
        if self.is_server:
            with self.sql() as owner, owner.transaction():
                owner.execute("ALTER TABLE stored_events DISABLE TRIGGER USER")
                if state is None:
                    owner.execute("DELETE FROM stored_events WHERE position=%s", (position,))
                else:
                    change = "UPDATE stored_events SET state=%s WHERE position=%s"
                    owner.execute(change, (state, position))
                owner.execute("ALTER TABLE stored_events ENABLE TRIGGER USER")
            return
        with unguarded(self.place.home) as connection:
            if state is None:
                connection.execute("DELETE FROM stored_events WHERE rowid=?", (position,))
            else:
                change = "UPDATE stored_events SET state=? WHERE rowid=?"
                connection.execute(change, (state, position))

    def kept(self) -> Callable[[], None]:
        """Make a backup; what puts the store back to it, under whoever has it open."""
        if self.is_server:
            owner = self.sql()
            asked = owner.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname=current_schema"
                " AND tablename NOT IN ('store', 'cells', 'routes')"
            )
            tables = [str(row[0]) for row in asked.fetchall()]
            for table in tables:
                owner.execute(f"CREATE TEMP TABLE kept_{table} AS TABLE {table}".encode())
            return lambda: _filled_again(owner, tables)
        file = self.place.home / "log.db"
        copy = self.place.home.with_name("backup.db")
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        return lambda: _poured(copy, file)


def _filled_again(backup: Connection, tables: Sequence[str]) -> None:
    with backup.transaction():
        for table in tables:
            backup.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
            backup.execute(f"DELETE FROM {table}".encode())  # noqa: S608 — our own tables
            backup.execute(f"INSERT INTO {table} TABLE kept_{table}".encode())
            backup.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER".encode())


def _poured(copy: Path, file: Path) -> None:
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(file)) as target:
        source.backup(target)


@contextmanager
def site_of(
    name: str, directory: Path, postgres_of: Callable[[int], Server], *, alone: bool = False
) -> Iterator[Site]:
    """A place for a store, given back when the test ends.

    Args:
        name: one of :data:`STORES`.
        directory: of the test.
        postgres_of: servers by version.
        alone: whether it has a database of its own, and not just a schema of one; that takes
            a server a tenth of a second.
    """
    caches = directory / "caches"
    if name == "sqlite":
        (directory / "store").mkdir()
        site = Site(Place(directory / "store"), caches)
        try:
            yield site
        finally:
            site.close()
        return
    address, _, numbering = name.partition("-together")
    if name not in FURTHER:
        server = postgres_of(int(address.removeprefix("postgres")))
        address = server.database() if alone else _shared(server)
    place, schema = place_of(address), f"test_{secrets.token_hex(8)}"
    own = place if alone else place.with_options(schema=schema)
    site = Site(own, caches, together=bool(numbering))
    try:
        yield site
    finally:
        site.close()
        if alone:
            server.take_back(address)
        else:
            with psycopg.connect(place.address.conninfo) as connection:
                connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())


@cache
def _shared(server: Server) -> str:
    """A database in which each test has a schema; it goes with the server."""
    return server.database()


def stored(log: EventLog) -> list[Row]:
    """All rows of a store, in its order."""
    with log._recorder.reading() as cursor:
        return log._recorder.rows_by_position(cursor, 0, 1_000_000)


def whole(log: EventLog) -> None:
    """Every chain is proved, and every stream has a state."""
    assert [f.sentence for verdict in log.verify() for f in verdict.findings] == []
    for name in log.sessions():
        assert log.state(name).version == log.head(name).version
