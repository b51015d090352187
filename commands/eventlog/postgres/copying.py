"""A copy that comes onto a server: no store before it is whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.place import Address
from commands.eventlog.postgres.cells import Cells
from commands.eventlog.postgres.connections import connect
from commands.eventlog.postgres.faults import translated
from commands.eventlog.postgres.layout import layout_of, migrate
from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.recorder import Cursor, Recorder
from domain.errors import Refused
from domain.server_errors import CopyIsUnfinished, ManyCells

_BEGIN = """UPDATE {schema}.store SET layout = -layout
    WHERE layout > 0 AND NOT EXISTS (SELECT 1 FROM {schema}.stored_events)"""
_FINISH = "UPDATE {schema}.store SET layout = abs(layout)"
_FOUND = """SELECT layout < 0, by_transaction,
        cell IS NOT NULL OR EXISTS (SELECT 1 FROM {schema}.cells)
    FROM {schema}.store"""

# one question for all of them: a stream's newest row is a look-up where its index is
_STANDINGS = """SELECT born.originator_id, born.originator_version, newest.originator_version,
        newest.position, newest.hash
    FROM {schema}.stored_events AS born CROSS JOIN LATERAL (
        SELECT originator_version, position, substr(state, 1, %s) AS hash
        FROM {schema}.stored_events
        WHERE originator_id = born.originator_id AND position <= %s
        ORDER BY originator_version DESC LIMIT 1) AS newest
    WHERE (born.originator_version = 1 OR born.topic = 'session.forked') AND born.position <= %s
    ORDER BY born.position"""


@contextmanager
def target(address: Address) -> Iterator[tuple[Recorder, bool, Callable[[], None]]]:
    """Where rows of a copy go.

    Yields:
        The rows, whether they are those of a store that is there, and what makes them one.

    Raises:
        Refused: the store that is there takes no rows at positions that they bring along.
        StoreOfAnotherLayout, StoreIsUnreachable, StoreIsReadOnly: there can't be one.
    """
    if address.cell is not None:
        raise Refused(f"{address.shown!r} names a cell: copy to a place of its own.")
    try:
        unfinished = _begun(address)
    except psycopg.Error as error:
        raise translated(error, address.shown) from error
    recorder = PostgresRecorder(address, unfinished=unfinished)
    try:
        yield recorder, not unfinished, lambda: _finish(address)
    finally:
        recorder.close()


def source(recorder: Recorder) -> Recorder:
    """The rows that have one order: those of a store, or of its one cell that the address names.

    Raises:
        ManyCells: it names none.
    """
    if not isinstance(recorder, Cells):
        return recorder
    parts = recorder.parts()
    if len(parts) != 1:
        raise ManyCells(recorder.where, list(parts))
    return next(iter(parts.values()))


def standings(
    recorder: Recorder, cursor: Cursor, upto: int
) -> list[tuple[str, int, int, int, bytes]]:
    """How far each stream had come at a position of the store, in order of their beginnings.

    Returns:
        Of each its name, its first version, and version, position and chain hash of the newest.
    """
    if not isinstance(recorder, PostgresRecorder):
        raise TypeError(recorder)
    query = _STANDINGS.replace("{schema}", recorder.address.schema)
    rows: list[tuple[str, int, int, int, bytes]] = cursor.fetch(query, (HASH_LENGTH, upto, upto))
    return rows


def _begun(address: Address) -> bool:
    """Whether there is a copy to be finished, as there is now where nothing was.

    Raises:
        Refused: the store that is there takes no rows at positions that they bring along.
    """
    with connect(address) as connection:
        if layout_of(connection, address) is None:
            with suppress(CopyIsUnfinished):  # somebody else began it in this moment
                migrate(address)
        with connection.transaction():
            connection.execute(f"SELECT {address.schema}.take_turn(true)".encode())
            row = connection.execute(_filled(_FOUND, address)).fetchone()
            unfinished, by_transaction, has_cells = row or (False, False, False)
            if by_transaction:
                raise Refused(
                    f"{address.shown!r} numbers positions by transactions, so none can be brought"
                    " along: copy to a place of its own, and choose the numbering there."
                )
            if has_cells:
                raise Refused(
                    f"{address.shown!r} has cells, or is one: copy to a place of its own."
                )
            return bool(unfinished or connection.execute(_filled(_BEGIN, address)).rowcount)


def _finish(address: Address) -> None:
    try:
        with connect(address) as connection:
            connection.execute(_filled(_FINISH, address))
    except psycopg.Error as error:
        raise translated(error, address.shown) from error


def _filled(template: str, address: Address) -> bytes:
    return template.replace("{schema}", address.schema).encode()
