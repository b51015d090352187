"""All servers of a store brought to this version's tables."""

from typing import NamedTuple

from commands.eventlog.place import Address
from commands.eventlog.postgres.directory import HOME, Cell, cells_of
from commands.eventlog.postgres.layout import migrate
from commands.eventlog.postgres.recorder import PostgresRecorder
from domain.server_errors import NoSuchCell


class Migrated(NamedTuple):
    """What was done to one server."""

    address: Address
    found: int | None
    """The layout that it had; None where there was no store."""


def migrate_all(address: Address, *, by_transaction: bool | None = None) -> list[Migrated]:
    """Migrate a store and its cells, or the one cell that the address names.

    Raises:
        NoSuchCell: it names none.
        StoreOfAnotherLayout, CopyIsUnfinished, StoreIsUnreachable, StoreIsReadOnly: a server
            can't be changed; those before it are.
    """
    done = []
    if address.cell in {None, HOME}:
        found = migrate(address, by_transaction=by_transaction)
        done.append(Migrated(address, found))
    if address.cell != HOME:
        for cell in _others(address):
            found = migrate(cell.address, by_transaction=by_transaction)
            done.append(Migrated(cell.address, found))
    return done


def _others(address: Address) -> list[Cell]:
    home = PostgresRecorder(address)
    try:
        cells = cells_of(home)
    finally:
        home.close()
    wanted = [cell for cell in cells[1:] if address.cell in {None, cell.name}]
    if address.cell is not None and not wanted:
        raise NoSuchCell(address.cell, [cell.name for cell in cells])
    return wanted
