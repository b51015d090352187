"""The tables of views on a PostgreSQL server: made and changed here, and nowhere else.

Each says of which version it is in its comment, which whoever may read it can read, and which goes
with it into a dump.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

import psycopg

from domain.errors import LogosphereError, Refused
from projections.views.sql import TRACKING, Dialect, dropped, table_of, tables, tracking_table
from projections.views.view import View

Connection = psycopg.Connection[tuple[Any, ...]]

LAYOUT = 1
"""Of the table of positions: counted up when its columns change."""

_VERSIONS = r"""SELECT name, coalesce(substring(
        obj_description(to_regclass(%s || name), 'pg_class') FROM '^version (\d+)$')::int, 0)
    FROM unnest(%s::text[]) AS t (name)"""


class Server(NamedTuple):
    """The server that the events are on."""

    connect: Callable[[], Connection]
    """Opens a connection of one's own, in autocommit."""
    translated: Callable[[BaseException, str], LogosphereError]
    """The error that tells the user what an error of psycopg means, there."""
    schema: str
    """Where the tables are; a name that needs no quotes. Its notices are of the same name."""
    shown: str
    """What the server is called in sentences."""

    @property
    def dialect(self) -> Dialect:
        """The SQL of its tables."""
        return Dialect(
            f"{self.schema}.",
            "%s",
            "bigint",
            "double precision",
            "bytea",
            "least",
            "greatest",
            ' COLLATE "C"',
        )

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in our words what goes wrong there."""
        try:
            yield
        except psycopg.Error as error:
            raise self.translated(error, self.shown) from error

    def key(self, *name: object) -> int:
        """The number of a lock; of 2**64, so that no two of ours meet."""
        text = "/".join(map(str, ("mind work", self.schema, *name)))
        return int.from_bytes(sha256(text.encode()).digest()[:8], "big", signed=True)


class Versions(NamedTuple):
    """Of which versions tables are; 0 where there is none, or one that does not say."""

    tracking: int
    views: Mapping[str, int]
    """By the views' names."""

    def outdated(self, views: Sequence[View]) -> list[View]:
        """Those that have to be made, or made anew."""
        return [view for view in views if self.views[view.name] < view.version]


def alone(connection: Connection, server: Server) -> None:
    """Wait until nobody else begins views, or makes their tables, until the transaction ends."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (server.key("tables"),))


def versions(connection: Connection, server: Server, views: Sequence[View]) -> Versions:
    """What there is, asked in one round trip."""
    names = [TRACKING, *(table_of(view.name) for view in views)]
    rows = connection.execute(_VERSIONS, (f"{server.schema}.", names))
    found: dict[str, int] = dict(rows.fetchall())
    return Versions(found[TRACKING], {view.name: found[table_of(view.name)] for view in views})


def make_tables(server: Server, views: Sequence[View]) -> list[str]:
    """Bring tables to the versions of these views: all or none, however many do so at once.

    What is of an older version is made anew, empty, and workers begin that view again; what is of a
    newer one stays as it is.

    Returns:
        The names of the views whose tables were made.

    Raises:
        Refused: something else depends on what would have to be made anew.
        StoreIsUnreachable, StoreIsReadOnly: they can't be made.
    """
    with server.told(), closing(server.connect()) as connection, connection.transaction():
        alone(connection, server)
        found = versions(connection, server, views)
        outdated = found.outdated(views)
        try:
            if found.tracking < LAYOUT:
                _make_tracking(connection, server)
            elif outdated:
                _forget(connection, server, outdated)
            for view in outdated:
                _make(connection, server, view)
        except psycopg.errors.DependentObjectsStillExist as error:
            what = (error.diag.message_detail or str(error)).partition("\n")[0]
            raise Refused(
                f"In {server.shown!r} something of yours depends on tables of views that have to be"
                f" made anew ({what}): drop that first, then say it again."
            ) from error
    return [view.name for view in outdated]


def _make_tracking(connection: Connection, server: Server) -> None:
    table = f"{server.schema}.{TRACKING}"
    for statement in (
        f"DROP TABLE IF EXISTS {table}",
        tracking_table(server.dialect),
        f"COMMENT ON TABLE {table} IS 'version {LAYOUT}'",
    ):
        connection.execute(statement.encode())


def _forget(connection: Connection, server: Server, views: Sequence[View]) -> None:
    table, names = f"{server.schema}.{TRACKING}", [view.name for view in views]
    # whoever is writing finishes first; in the order in which they take them
    for statement in (
        f"SELECT 1 FROM {table} WHERE view = ANY(%s) ORDER BY view, shard FOR UPDATE",  # noqa: S608 — a checked name
        f"DELETE FROM {table} WHERE view = ANY(%s)",  # noqa: S608 — as above
    ):
        connection.execute(statement.encode(), (names,))


def _make(connection: Connection, server: Server, view: View) -> None:
    table = f"{server.schema}.{table_of(view.name)}"
    for statement in (
        *dropped(view.name, server.dialect),
        *tables(view, server.dialect),
        f"COMMENT ON TABLE {table} IS 'version {view.version}'",
    ):
        connection.execute(statement.encode())
