"""From events to rows: what a slice of the log adds to the database, in one transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.recorded import Plain
from projections.analytics.edits import write_edits
from projections.analytics.schema import TABLES, row
from projections.analytics.schema.table import Maker
from projections.analytics.vectors import Vectors

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — the column has no zone: all of it is UTC
_LATEST = (datetime(9999, 12, 31) - EPOCH) // timedelta(microseconds=1)  # noqa: DTZ001 — as above

_MAKERS: dict[str, list[tuple[str, Maker]]] = {}
for _table in TABLES:
    for _kind, _maker in _table.rows.items():
        _MAKERS.setdefault(_kind, []).append((_table.name, _maker))

_WITH_VECTORS = frozenset({"thought.added", "thought.embedded"})


def write(connection: "DuckDBPyConnection", events: Sequence[Plain]) -> None:
    """Write the rows of events that follow those that are there; within a transaction.

    Args:
        connection: to the database, with a transaction begun.
        events: in the order of the store.
    """
    rows: dict[str, list[tuple[Any, ...]]] = {table.name: [] for table in TABLES}
    every: list[tuple[Any, ...]] = []
    vectors = Vectors(connection)
    for event in events:
        at = min(max(event.at, 0), _LATEST)
        head = (event.position, event.session, event.version, EPOCH + timedelta(microseconds=at))
        every.append(head + row(event))
        for table, maker in _MAKERS.get(event.kind, ()):
            rows[table] += [head + tail for tail in maker(event)]
        if event.kind in _WITH_VECTORS:
            vectors.take(event)
    _write_events(connection, every)
    for table, some in rows.items():
        if some:
            with connection.appender(table) as appender:
                appender.append_rows(some)
    vectors.write()
    write_edits(connection, events[0].position)


def _write_events(connection: "DuckDBPyConnection", rows: list[tuple[Any, ...]]) -> None:
    """An appender would take the JSON for a text: it goes through a table of texts."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE incoming(position BIGINT, session VARCHAR, version BIGINT,"
        " time TIMESTAMP, kind VARCHAR, actor VARCHAR, command VARCHAR, cause BIGINT,"
        " redacted BOOLEAN, data VARCHAR)"
    )
    with connection.appender("incoming") as appender:
        appender.append_rows(rows)
    connection.execute(
        "INSERT INTO events SELECT * REPLACE (data::JSON::VARIANT AS data) FROM incoming"
    )
    connection.execute("DROP TABLE incoming")
