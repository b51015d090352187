"""One more server for a store."""

import re

import psycopg

from commands.eventlog.place import Address, address_of, as_strict, without_secrets
from commands.eventlog.postgres.connections import Connection, connect
from commands.eventlog.postgres.directory import HOME, address_in
from commands.eventlog.postgres.faults import translated
from commands.eventlog.postgres.layout import Facts, checked, layout_of, migrate
from domain.errors import BadSetting
from domain.server_errors import BadPlace

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_TAKEN = "it is a store, or a cell, already: a new cell is empty"


def add_cell(home: Address, name: str, url: str) -> None:
    """Let sessions that begin from now on be on another server, too; those there are stay.

    What was broken off is done by doing it again.

    Args:
        home: where the store keeps its directory.
        name: the cell's name.
        url: its address; a password in it is not kept.

    Raises:
        BadSetting: it can't be called so.
        BadPlace: there is a store already, another cell has that name, or the address says what
            the directory may not.
        StoreIsUnreachable, StoreIsClosed, StoreIsReadOnly: one of them can't be written.
    """
    if not _NAME.fullmatch(name) or name == HOME:
        raise BadSetting(f"{name!r} is no name of a cell: use small letters, digits and '-'.")
    kept = without_secrets(url)
    address_in(home, kept)
    cell = address_of(url)
    cell = cell._replace(conninfo=as_strict(cell.conninfo, home.conninfo))
    try:
        with connect(home) as connection:
            checked(connection, home)
            with connection.transaction():
                owner = _entered(connection, home, name, kept)
                # before the directory has it, or a session could begin where it is not waited for
                _lay_claim(cell, owner, name)
    except psycopg.Error as error:
        raise translated(error, home.shown) from error


def _entered(connection: Connection, home: Address, name: str, kept: str) -> Facts:
    """Let the directory have it, when the transaction ends; nobody else enters it meanwhile."""
    connection.execute(f"SELECT FROM {home.schema}.store FOR SHARE".encode())
    owner = checked(connection, home)
    if owner.cell is not None:
        raise BadPlace(home.shown, f"it is the cell {owner.cell!r} of another store")
    connection.execute(
        f"INSERT INTO {home.schema}.cells (name, address) VALUES (%s, %s)"  # noqa: S608
        " ON CONFLICT DO NOTHING".encode(),
        (name, kept),
    )
    query = f"SELECT address FROM {home.schema}.cells WHERE name = %s"  # noqa: S608
    row = connection.execute(query.encode(), (name,)).fetchone()
    if row is None or row[0] != kept:
        raise BadPlace(kept, f"the cell {name!r} is at {row and row[0]!r} already")
    return owner


def _lay_claim(cell: Address, owner: Facts, name: str) -> None:
    """Make the other server's store, and let it know whose cell it is."""
    try:
        with connect(cell) as connection:  # as it may be the very store that waits for us
            if layout_of(connection, cell) is not None:
                _is_free(checked(connection, cell), cell, owner, name)
        migrate(cell)
        with connect(cell) as connection, connection.transaction():
            # whoever writes has written, and another store's claim is laid or not
            connection.execute(f"SELECT {cell.schema}.take_turn(true)".encode())
            connection.execute(f"SELECT FROM {cell.schema}.store FOR UPDATE".encode())
            _claim(connection, cell, owner, name)
    except psycopg.Error as error:
        raise translated(error, cell.shown) from error


def _is_free(facts: Facts, cell: Address, owner: Facts, name: str) -> bool:
    """Whether nobody has it; False where it is this very cell already.

    Raises:
        BadPlace: somebody has it.
    """
    if (facts.cell, facts.cell_of) == (name, owner.id):
        return False
    if facts.id == owner.id or facts.cell is not None or facts.has_cells:
        raise BadPlace(cell.shown, _TAKEN)
    return True


def _claim(connection: Connection, cell: Address, owner: Facts, name: str) -> None:
    if not _is_free(checked(connection, cell), cell, owner, name):
        return
    query = f"SELECT EXISTS (SELECT 1 FROM {cell.schema}.stored_events)"  # noqa: S608
    row = connection.execute(query.encode()).fetchone()
    if row and row[0]:
        raise BadPlace(cell.shown, _TAKEN)
    connection.execute(
        f"UPDATE {cell.schema}.store SET cell = %s, cell_of = %s::uuid".encode(),  # noqa: S608
        (name, owner.id),
    )
