"""The views of a store: beside a log in a directory, on a server, in each of its cells."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from cli.cells import answering
from cli.wiring import find_store
from commands.eventlog import EventLog
from commands.eventlog.place import Address, Place
from domain.errors import Refused
from domain.reach import Away
from projections.views.ours import VIEWS
from projections.views.sqlite import FILE, SqliteViews
from projections.views.store import ViewStore

if TYPE_CHECKING:
    from projections.views.postgres_tables import Server


class Part(NamedTuple):
    """A log with an order of its own, and the views that follow it."""

    name: str | None
    """Of the cell, in a store that has several."""
    log: EventLog
    views: ViewStore


class Parts(NamedTuple):
    """The parts of a store that answer, and the cells that do not."""

    there: list[Part]
    away: Sequence[Away]


@contextmanager
def parts(store: Place | None, *, writable: bool = True) -> Iterator[Parts]:
    """The views of a store; more than one part where it has several cells.

    Args:
        store: where it is; see :func:`cli.wiring.find_store`.
        writable: whether to work on them: beside a log the file is made where it is missing.

    Raises:
        Refused: nothing has been kept yet, and nothing is to be written; or a server lacks tables
            that are to be.
    """
    with ExitStack() as stack:
        with EventLog(find_store(store)) as log:
            places, away = answering(log)
        there = [stack.enter_context(part(place, writable=writable)) for place in places]
        yield Parts(there, away)


@contextmanager
def part(place: Place, *, writable: bool = True) -> Iterator[Part]:
    """The same of one cell."""
    with EventLog(place) as log:
        views = (
            _on_server(log.place, writable=writable) if log.place.url else _beside(log, writable)
        )
        try:
            yield Part(log.place.address.cell if log.place.url else None, log, views)
        finally:
            views.close()


def _beside(log: EventLog, writable: bool) -> ViewStore:
    if not writable and not (log.place.home / FILE).exists():
        raise Refused("No worker has kept a view of this store yet: mind work --once")
    return SqliteViews(log.place.home, VIEWS)


def make_tables(address: Address) -> list[str]:
    """Bring the tables of views on a server to this version, where the log has its own already.

    Returns:
        The names of the views whose tables were made; none where all were there.

    Raises:
        Refused: something else depends on what would have to be made anew.
        StoreIsUnreachable, StoreIsReadOnly: they can't be made.
    """
    from projections.views.postgres_tables import make_tables as made  # noqa: PLC0415 — psycopg

    return made(_server(_of_cell(address)), VIEWS)


def _on_server(place: Place, *, writable: bool) -> ViewStore:
    from projections.views.postgres import PostgresViews  # noqa: PLC0415 — brings psycopg

    return PostgresViews(_server(_of_cell(place.address)), VIEWS, writable=writable)


def _server(address: Address) -> "Server":
    from commands.eventlog.postgres.connections import connect  # noqa: PLC0415 — as above
    from commands.eventlog.postgres.faults import translated  # noqa: PLC0415 — as above
    from projections.views.postgres_tables import Server  # noqa: PLC0415 — as above

    return Server(lambda: connect(address), translated, address.schema, address.shown)


def _of_cell(address: Address) -> Address:
    """Where a cell really is, of a store's address that names one."""
    if address.cell is None:
        return address
    from commands.eventlog.postgres.directory import cells_of as cells_at  # noqa: PLC0415 — as above
    from commands.eventlog.postgres.recorder import PostgresRecorder  # noqa: PLC0415 — as above

    home = PostgresRecorder(address)
    try:
        return {cell.name: cell.address for cell in cells_at(home)}[address.cell]
    finally:
        home.close()
