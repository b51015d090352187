"""The schema of a store on a server: made and changed here, and nowhere else."""

from importlib.resources import files
from typing import NamedTuple

import psycopg

from commands.eventlog.place import Address
from commands.eventlog.postgres.connections import Connection, connect
from commands.eventlog.postgres.faults import translated
from domain.errors import Broken, NoStore, NotAStore, StoreExists, StoreOfAnotherLayout
from domain.server_errors import BadPlace, CopyIsUnfinished, MayNotMakeTables

LAYOUT = 1
"""Counted up when what stands in layout.sql changes, with a step in :data:`_STEPS`."""

_STEPS: dict[int, str] = {}
"""What turns a schema of a layout into one of the next."""

_NUMBERING = """UPDATE {schema}.store SET by_transaction = coalesce(%s, by_transaction),
        epoch = greatest(epoch, (SELECT coalesce(max(position), 0) FROM {schema}.stored_events)
            / (1 << 22) + 1 - pg_current_xact_id()::text::bigint)"""
"""Positions that are numbered by transactions lie above all that are there: also after a restore,
when the server counts its transactions anew."""

_FACTS = """SELECT layout, id::text, cell, cell_of::text, EXISTS (SELECT 1 FROM {schema}.cells),
    by_transaction AND (epoch + pg_snapshot_xmax(pg_current_snapshot())::text::bigint) << 22
        <= coalesce((SELECT max(position) FROM {schema}.stored_events), 0)
    FROM {schema}.store"""


class Facts(NamedTuple):
    """What a store says of itself."""

    id: str
    cell: str | None
    """What it is called as a cell of another store."""
    cell_of: str | None
    """The id of that store."""
    has_cells: bool
    """Whether other servers hold sessions of it."""


_TABLE = """SELECT t.oid IS NOT NULL,
        (SELECT count(*) FROM pg_attribute WHERE attrelid = t.oid AND (attname, atttypid) IN
            (('layout', 'int4'::regtype), ('cell_of', 'uuid'::regtype))) = 2
    FROM to_regclass(%s) AS t (oid)"""
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(1280264015, hashtext(%s))"


def make_schema(address: Address) -> None:
    """Make an empty store: all of it or nothing.

    Raises:
        StoreExists: there is one.
        StoreIsUnreachable, StoreIsClosed, StoreIsReadOnly: there can't be one.
    """
    if migrate(address) is not None:
        raise StoreExists(address.shown)


def migrate(address: Address, *, by_transaction: bool | None = None) -> int | None:
    """Bring a schema to the layout of this version; however many processes try at once.

    Args:
        address: of the store.
        by_transaction: whether transactions number the positions from now on, so that many may
            append at once; None leaves that as it is. See docs/decisions/postgres.md.

    Returns:
        The layout that it had; None where there was no store.

    Raises:
        StoreOfAnotherLayout: a newer version made it.
        MayNotMakeTables: the role has no right to.
        StoreIsUnreachable, StoreIsClosed, StoreIsReadOnly: it can't be changed.
    """
    try:
        with connect(address) as connection, connection.transaction():
            connection.execute(_ONE_AT_A_TIME, (address.schema,))
            found = layout_of(connection, address)
            if found is None:
                _is_plain_name(connection, address)
                if not _has_schema(connection, address):  # who may use one need not may make one
                    connection.execute(f"CREATE SCHEMA {address.schema}".encode())
                connection.execute(_filled(_layout(), address))
            elif found < 0:
                raise CopyIsUnfinished(address.shown)
            elif found > LAYOUT:
                raise StoreOfAnotherLayout(address.shown, found, LAYOUT)
            else:
                for layout in range(found, LAYOUT):
                    connection.execute(_filled(_STEPS[layout], address))
            connection.execute(_filled("SELECT {schema}.take_turn(true)", address))
            connection.execute(_filled(_NUMBERING, address), (by_transaction,))
            return found
    except psycopg.errors.InsufficientPrivilege as error:
        raise MayNotMakeTables(address.shown) from error
    except psycopg.Error as error:
        raise translated(error, address.shown) from error


def _is_plain_name(connection: Connection, address: Address) -> None:
    """Refuse a schema that would have to be quoted: only the server knows all words of its SQL."""
    row = connection.execute("SELECT quote_ident(%s)", (address.schema,)).fetchone()
    if row is None or row[0] != address.schema:
        raise BadPlace(address.shown, f"{address.schema!r} is a word of SQL, and names no schema")


def _has_schema(connection: Connection, address: Address) -> bool:
    there = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (address.schema,))
    return there.fetchone() == (True,)


def checked(connection: Connection, address: Address, *, unfinished: bool = False) -> Facts:
    """Make sure that a store of ours is there before anything reads it as one.

    Args:
        connection: to the server.
        address: of the store.
        unfinished: whether it may be a copy that is not whole yet, as for whoever makes it so.

    Raises:
        NoStore, NotAStore, StoreOfAnotherLayout: there is none, or one that this version can't
            read.
        CopyIsUnfinished: it is no whole store yet.
        Broken: positions would go back.
    """
    try:  # one question where all is as it should be
        row = connection.execute(_filled(_FACTS, address)).fetchone()
        found = row[0] if row is not None else None
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        row, found = None, layout_of(connection, address)
    if found is None:
        raise NoStore(address.shown)
    if found < 0 and not unfinished:
        raise CopyIsUnfinished(address.shown)
    if row is None or abs(found) != LAYOUT:
        raise StoreOfAnotherLayout(address.shown, found, LAYOUT)
    if row[-1]:
        raise Broken(
            f"The server of {address.shown!r} counts transactions anew, as after a restore, and"
            " positions would go back: say mind store migrate first."
        )
    return Facts(*row[1:-1])


def layout_of(connection: Connection, address: Address) -> int | None:
    """The layout of a store, negative while a copy into it is unfinished; None without one.

    Raises:
        NotAStore: a table of somebody else's is called as ours.
    """
    name = f"{address.schema}.store"
    there = connection.execute(_TABLE, (name,)).fetchone()
    if there is None or not there[0]:
        return None
    if not there[1]:
        raise NotAStore(address.shown)
    query = f"SELECT layout FROM {name}"  # noqa: S608 — a checked name
    row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row is not None else None


def _layout() -> str:
    return files("commands.eventlog.postgres").joinpath("layout.sql").read_text("utf-8")


def _filled(template: str, address: Address) -> bytes:
    """SQL for this schema, whose name was checked when the address was read."""
    text = template.replace("{schema}", address.schema).replace("{layout}", str(LAYOUT))
    return text.encode()
