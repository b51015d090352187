"""Reading the table of events on a server: by look-ups, and again where the server went away."""

from collections.abc import Sequence
from typing import Any

import psycopg
from eventsourcing.persistence import StoredEvent

from commands.eventlog.postgres.connections import Connection, Connections, Wait
from commands.eventlog.postgres.faults import is_lost, translated
from commands.eventlog.recorder import HIGHEST, Birth, Mark, Part, Tally
from commands.eventlog.wire import Row
from domain.recorded import Look

COLUMNS = "originator_id, originator_version, position, topic, state"

_Parameters = Sequence[Any]


class Cursor:
    """Questions to a connection, within a transaction or each for itself."""

    def __init__(self, connection: Connection, where: str) -> None:
        self._connection, self._where = connection, where
        self.written: list[StoredEvent] = []
        """What was inserted in this transaction."""

    def fetch(self, query: str, parameters: _Parameters = ()) -> list[Any]:
        """The rows of an answer.

        Raises:
            LogosphereError: there is none.
        """
        try:
            return self.ask(query, parameters)
        except psycopg.Error as error:
            raise translated(error, self._where) from error

    def ask(self, query: str, parameters: _Parameters = ()) -> list[Any]:
        """As :meth:`fetch`; raises psycopg.Error."""
        answer = self._connection.execute(query.encode(), parameters, binary=True)
        return answer.fetchall() if answer.description is not None else []


class Patient(Cursor):
    """A cursor whose questions are asked again when the server goes away: each stands alone."""

    def __init__(self, connections: Connections, where: str) -> None:
        self._connections, self._where = connections, where

    def ask(self, query: str, parameters: _Parameters = ()) -> list[Any]:
        """As asked of any cursor, on whichever connection there is."""
        wait = Wait()
        while True:
            try:
                with self._connections.one() as connection:
                    return Cursor(connection, self._where).ask(query, parameters)
            except psycopg.Error as error:
                if not is_lost(error) or wait.is_over:
                    raise
            wait()


class Rows:
    """The questions that a recorder answers; the schema's name was checked with the address."""

    def __init__(self, schema: str) -> None:
        self._schema, self._table = schema, f"{schema}.stored_events"
        self.has_cells = False
        """Whether streams, or the beginning of one, were asked for since it was so."""
        self._others = f"EXISTS (SELECT 1 FROM {schema}.cells)"  # noqa: S608 — a checked name

    def rows(
        self,
        cursor: Cursor,
        stream: str,
        after: int,
        upto: int,
        limit: int,
        *,
        newest_first: bool = False,
        kinds: Sequence[str] = (),
    ) -> list[Row]:
        """At most ``limit`` rows of one stream with ``after < version <= upto``."""
        some = (
            f"SELECT {COLUMNS} FROM {self._table} WHERE originator_id=%s"  # noqa: S608
            " AND originator_version>%s AND originator_version<=%s{}"
            f" ORDER BY originator_version {'DESC' if newest_first else 'ASC'} LIMIT %s"
        )
        span = (stream, after, upto)
        if not kinds:
            return cursor.fetch(some.format(""), (*span, limit))
        # each kind by its index: a rare one is never looked for among all the others
        each = some.format(" AND topic=kinds.kind")
        return cursor.fetch(
            f"SELECT e.* FROM unnest(%s::text[]) AS kinds (kind), LATERAL ({each}) AS e"  # noqa: S608
            f" ORDER BY originator_version {'DESC' if newest_first else 'ASC'} LIMIT %s",
            (list(dict.fromkeys(kinds)), *span, limit, limit),
        )

    def rows_at(self, cursor: Cursor, stream: str, versions: Sequence[int]) -> list[Row]:
        """The rows of one stream at just these versions."""
        if not versions:
            return []
        return cursor.fetch(
            f"SELECT {COLUMNS} FROM {self._table}"  # noqa: S608 — constants and marks only
            " WHERE originator_id=%s AND originator_version = ANY(%s::bigint[])",
            (stream, list(versions)),
        )

    def rows_by_position(self, cursor: Cursor, after: int, limit: int) -> list[Row]:
        """At most ``limit`` rows of the whole store behind a position."""
        return cursor.fetch(
            f"SELECT {COLUMNS} FROM {self._table} WHERE position>%s"  # noqa: S608
            f" AND position < {self._schema}.horizon() ORDER BY position LIMIT %s",
            (after, limit),
        )

    def last(self, cursor: Cursor) -> Row | None:
        """The newest row of the whole store: nothing will ever appear below it."""
        rows = cursor.fetch(
            f"SELECT {COLUMNS} FROM {self._table}"  # noqa: S608 — constants only
            f" WHERE position < {self._schema}.horizon() ORDER BY position DESC LIMIT 1"
        )
        return rows[0] if rows else None

    def birth(self, cursor: Cursor, stream: str) -> Birth | None:
        """How a stream began; None where it did not."""
        rows = cursor.fetch(
            f"SELECT e.*, name, parent, {self._others} FROM (VALUES (1)) AS one"  # noqa: S608
            f" LEFT JOIN LATERAL (SELECT {COLUMNS} FROM {self._table}"
            " WHERE originator_id=%s ORDER BY originator_version LIMIT 1) AS e ON true"
            f" LEFT JOIN {self._schema}.aliases ON stream = originator_id",
            (stream,),
        )
        first, (name, parent, others) = rows[0][:5], rows[0][5:]
        self.has_cells = self.has_cells or others
        return (first, name or stream, parent) if first[0] is not None else None

    def births(self, cursor: Cursor, streams: Sequence[str]) -> list[Birth]:
        """How these streams began, without those that did not."""
        rows = cursor.fetch(
            "SELECT e.*, coalesce(name, id), parent FROM unnest(%s::text[]) AS asked (id),"  # noqa: S608
            f" LATERAL (SELECT {COLUMNS} FROM {self._table} WHERE originator_id = id"
            " ORDER BY originator_version LIMIT 1) AS e"
            f" LEFT JOIN {self._schema}.aliases ON stream = originator_id",
            (list(streams),),
        )
        return [(row[:5], row[5], row[6]) for row in rows]

    def newest_of(self, cursor: Cursor, looks: Sequence[Look]) -> list[Row | None]:
        """What each look finds, in one question; two where some are for all kinds."""
        found: list[Row | None] = [None] * len(looks)
        for rows in (self._newest_of(cursor, looks, of_all=of_all) for of_all in (False, True)):
            for number, *row in rows:
                known = found[number]
                if known is None or known[1] < row[1]:
                    found[number] = row[0], row[1], row[2], row[3], row[4]
        return found

    def _newest_of(self, cursor: Cursor, looks: Sequence[Look], *, of_all: bool) -> list[Any]:
        # each kind by its index, as in rows()
        asked = [
            (number, stream, after, HIGHEST if upto is None else upto, kind)
            for number, ((stream, after, upto), kinds) in enumerate(looks)
            for kind in kinds or ("",)
            if of_all != bool(kinds)
        ]
        if not asked:
            return []
        return cursor.fetch(
            "SELECT n, e.* FROM unnest(%s::int[], %s::text[], %s::bigint[], %s::bigint[],"  # noqa: S608
            f" %s::text[]) AS asked (n, stream, low, high, kind), LATERAL (SELECT {COLUMNS}"
            f" FROM {self._table} WHERE originator_id = stream AND originator_version > low"
            f" AND originator_version <= high{'' if of_all else ' AND topic = kind'}"
            " ORDER BY originator_version DESC LIMIT 1) AS e",
            [list(column) for column in zip(*asked, strict=True)],
        )

    def rows_of(self, cursor: Cursor, parts: Sequence[Part], limit: int) -> list[list[Row]]:
        """At most ``limit`` rows of each part, in one question."""
        found = cursor.fetch(
            "SELECT n, e.* FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) WITH ORDINALITY"  # noqa: S608
            f" AS asked (stream, low, high, n), LATERAL (SELECT {COLUMNS} FROM {self._table}"
            " WHERE originator_id = stream AND originator_version > low"
            " AND originator_version <= high ORDER BY originator_version LIMIT %s) AS e",
            [*map(list, zip(*parts, strict=True)), limit],
        )
        rows: list[list[Row]] = [[] for _ in parts]
        for number, *row in sorted(found, key=lambda one: (one[0], one[2])):
            rows[number - 1].append((row[0], row[1], row[2], row[3], row[4]))
        return rows

    def streams(self, cursor: Cursor, family: str | None = None) -> list[str]:
        """All streams, or those of a family, in order of their beginnings."""
        which = ""
        if family == "session":
            which = " AND strpos(originator_id, ':') = 0"
        elif family is not None:
            which = " AND starts_with(originator_id, %s)"
        found = (
            f"SELECT originator_id FROM {self._table}"  # noqa: S608 — constants and marks only
            f" WHERE (originator_version = 1 OR topic = 'session.forked'){which} ORDER BY position"
        )
        rows = cursor.fetch(
            f"SELECT ARRAY({found}), {self._others}", (f"{family}:",) if "%s" in which else ()
        )
        names, others = rows[0]
        self.has_cells = self.has_cells or others
        return list(names)

    def born_as(self, cursor: Cursor, name: str) -> list[str]:
        """The streams that were born with a name, the one that still has it first."""
        own = self.birth(cursor, name)
        rows = cursor.fetch(
            f"SELECT stream FROM {self._schema}.aliases"  # noqa: S608 — as above
            " WHERE name=%s AND stream<>%s AND EXISTS"
            f" (SELECT 1 FROM {self._table} WHERE originator_id=stream) ORDER BY 1",
            (name, name),
        )
        others = [row[0] for row in rows]
        return [name, *others] if own is not None and own[1] == name else others

    def aliases(self, cursor: Cursor) -> list[tuple[str, str, str | None]]:
        """All streams whose name, or whose parent's, is another here."""
        query = f"SELECT stream, name, parent FROM {self._schema}.aliases ORDER BY 1"  # noqa: S608
        return cursor.fetch(query)

    def redactions(self, cursor: Cursor) -> int:
        """How many events were redacted."""
        query = f"SELECT count(*) FROM {self._schema}.redactions"  # noqa: S608 — a checked name
        return int(cursor.fetch(query)[0][0])

    def mark(self, cursor: Cursor) -> bytes:
        """What no other history of redactions has."""
        rows = cursor.fetch(
            f"SELECT mark FROM {self._schema}.redactions ORDER BY position DESC LIMIT 1"  # noqa: S608
        )
        return bytes(rows[0][0]) if rows else b""

    def marks(self, cursor: Cursor, _stream: str | None = None) -> list[Mark]:
        """The only one."""
        return [Mark("", self.mark(cursor))]

    def newest_version(self, cursor: Cursor, stream: str) -> int:
        """The highest version of a stream; 0 if it has none."""
        query = (
            "SELECT coalesce(max(originator_version), 0)"  # noqa: S608 — constants and marks only
            f" FROM {self._table} WHERE originator_id=%s AND originator_version<=%s"
        )
        return int(cursor.fetch(query, (stream, HIGHEST))[0][0])

    def tallies(self, cursor: Cursor, streams: Sequence[str]) -> list[Tally]:
        """How many rows there are of each: which index knows them is the server's matter."""
        rows = cursor.fetch(
            "SELECT id, t.* FROM unnest(%s::text[]) AS asked (id), LATERAL"  # noqa: S608
            " (SELECT coalesce(max(originator_version) FILTER (WHERE originator_version <= %s), 0),"
            f" count(*) FROM {self._table} WHERE originator_id = id) AS t",
            (list(streams), HIGHEST),
        )
        found = {row[0]: Tally(row[1], row[2]) for row in rows}
        return [found[stream] for stream in streams]
