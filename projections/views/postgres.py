"""Views of a store on a PostgreSQL server: beside the events, for workers on any machine.

What is written here can be made again, so that a commit waits for no disk: should the server be
cut off, the newest rows go, and with them the positions that stand for them.
"""

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from projections.views.postgres_tables import LAYOUT, Server, Versions, alone, versions
from projections.views.sql import TRACKED, TRACKING, select_rows, table_of, upsert
from projections.views.store import (
    PATIENCE,
    IsAlive,
    OfANewerVersion,
    Step,
    TablesAreMissing,
    TablesAreNewer,
    Task,
    Tracked,
    fair_share,
    new_epoch,
    shards_to_begin,
)
from projections.views.view import Row, View

# a refused batch is told as an error; how psycopg then leaves its pipeline is nothing to print
logging.getLogger("psycopg").addHandler(logging.NullHandler())

POLL = 0.02
"""Seconds between two looks where appending gives no notice."""


class PostgresViews:
    """Implements :class:`projections.views.store.ViewStore`; to be used by one thread."""

    def __init__(self, server: Server, views: Sequence[View], *, writable: bool = True) -> None:
        """Reach the server, whose tables :func:`make_tables` has made.

        Args:
            server: where.
            views: those whose steps will come.
            writable: whether there has to be a table for each of them.

        Raises:
            TablesAreMissing, TablesAreNewer: the tables are of another version of this program.
            StoreIsUnreachable, StoreIsClosed, StoreIsReadOnly: it does not let us.
        """
        self.server = server
        self._upserts = {view.name: upsert(view, server.dialect).encode() for view in views}
        self._tracking = f"{server.schema}.{TRACKING}"
        with server.told():
            self._connection = server.connect()
        try:
            with server.told():
                self._connection.execute("SET synchronous_commit = off")
                found = versions(self._connection, server, views)
            self._is_there = found.tracking == LAYOUT
            _checked(server, found, views if writable else ())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the server."""
        self._connection.close()

    def prepare(self, view: View, shards: int | None) -> None:
        """Begin a view where that is needed; see :class:`ViewStore`."""
        with self._alone(view):
            wanted = shards_to_begin(view, shards, self.tracked())
            if wanted is not None:
                self._begin(view, wanted)

    def rebuild(self, view: View, shards: int | None = None) -> None:
        """Begin at the first event again; see :class:`ViewStore`."""
        with self._alone(view):
            kept = [t.shards for t in self.tracked().values() if t.task.view == view.name]
            self._begin(view, shards or (kept[0] if kept else 1))

    def _begin(self, view: View, shards: int) -> None:
        # whoever is writing finishes first; in the order in which they take them
        self._ask(
            f"SELECT 1 FROM {self._tracking} WHERE view = %s ORDER BY shard FOR UPDATE",  # noqa: S608 — a checked name
            (view.name,),
        )
        self._ask(f"DELETE FROM {self._tracking} WHERE view = %s", (view.name,))  # noqa: S608 — as above
        self._ask(f"DELETE FROM {self.server.schema}.{table_of(view.name)}")  # noqa: S608 — as above
        for shard in range(shards):
            self._ask(
                f"INSERT INTO {self._tracking}({TRACKED})"  # noqa: S608 — as above
                " VALUES (%s, %s, %s, %s, %s, 0, '', '', NULL, NULL, NULL)",
                (view.name, shard, shards, view.version, new_epoch()),
            )

    def restart(self, view: View, task: Task, mark: bytes) -> None:
        """Begin one shard again; see :class:`ViewStore`."""
        with self._alone(view):
            self._ask(
                f"UPDATE {self._tracking} SET position = 0, hash = '', epoch = %s,"  # noqa: S608 — as above
                " mark = %s, trouble = NULL WHERE view = %s AND shard = %s",
                (new_epoch(), mark, *task),
            )
            table = f"{self.server.schema}.{table_of(view.name)}"
            self._ask(f"DELETE FROM {table} WHERE shard = %s", (task.shard,))  # noqa: S608 — as above

    def tracked(self) -> dict[Task, Tracked]:
        """How far each shard is."""
        if not self._is_there:
            return {}
        with self.server.told():
            rows = self._ask(f"SELECT {TRACKED} FROM {self._tracking} ORDER BY view, shard")  # noqa: S608 — as above
        found = (Tracked(Task(row[0], row[1]), *row[2:]) for row in rows)
        return {one.task: one for one in found}

    def advance(self, steps: Sequence[Step], owner: str) -> list[bool]:
        """Apply steps where nobody was faster; see :class:`ViewStore`."""
        now = time.time_ns() // 1000
        move = (
            f"UPDATE {self._tracking} SET position = %s, hash = %s, trouble = %s, since ="  # noqa: S608 — as above
            " CASE WHEN owner = %s THEN since ELSE %s END, owner = %s"
            " WHERE view = %s AND shard = %s AND epoch = %s AND position = %s"
        ).encode()
        connection = self._connection
        # all take shards in this order, so that no two wait for each other
        ordered = sorted(steps, key=lambda step: step.task)
        with self.server.told(), connection.transaction(), connection.pipeline() as pipeline:
            moved = [
                connection.execute(
                    move,
                    (
                        *(step.position, step.hash, step.trouble, owner, now, owner),
                        *(*step.task, step.epoch, step.expected),
                    ),
                )
                for step in ordered
            ]
            pipeline.sync()
            done = {s.task: c.rowcount == 1 for s, c in zip(ordered, moved, strict=True)}
            for step in ordered:
                if done[step.task] and step.rows:
                    connection.cursor().executemany(
                        self._upserts[step.task.view],
                        [(step.task.shard, *row) for row in step.rows],
                    )
        return [done[step.task] for step in steps]

    def rows(self, view: View) -> Iterator[Row]:
        """The rows of a view; see :class:`ViewStore`."""
        with self.server.told():
            yield from self._ask(select_rows(view, self.server.dialect))

    def listen(self) -> None:
        """Hear of what is appended from now on."""
        with self.server.told():
            self._connection.execute(f"LISTEN {self.server.schema}".encode())
            row = self._ask(f"SELECT by_transaction FROM {self.server.schema}.store")  # noqa: S608 — as above
            self._silent = bool(row and row[0][0])

    def heard(self, seconds: float) -> bool:
        """Wait for a notice, for so long at most; needs :meth:`listen`.

        Returns:
            Whether to look: something was heard, or no notices are given here.
        """
        wait = min(seconds, POLL) if self._silent else seconds
        with self.server.told():
            found = self._silent
            for _notice in self._connection.notifies(timeout=wait, stop_after=1):
                found = True
            # one look answers all that came meanwhile
            for _notice in self._connection.notifies(timeout=0):
                pass
        return found

    def leases(self, holder: str, _: IsAlive) -> "PostgresLeases":
        """Claims of this process on shards."""
        with self.server.told():
            return PostgresLeases(self.server, holder)

    def held(self, _: IsAlive) -> dict[Task, str]:
        """Which shards are leased just now, and by whom."""
        keys = {self.server.key(*task): task for task in self.tracked()}
        with self.server.told():
            rows = self._ask(
                "SELECT (classid::bigint << 32) | objid::bigint, application_name FROM pg_locks"  # noqa: S608 — our own words
                f" LEFT JOIN pg_stat_activity USING (pid) WHERE {_OURS}"
            )
        found = {key: (name or "").removeprefix(_NAME) for key, name in rows}
        return {keys[key]: found[key] or "somebody" for key in found.keys() & keys.keys()}

    def _ask(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        answer = self._connection.execute(query.encode(), parameters)
        return answer.fetchall() if answer.description is not None else []

    @contextmanager
    def _alone(self, view: View) -> Iterator[None]:
        """A transaction in which nobody else begins views, or makes their tables.

        Raises:
            TablesAreMissing, OfANewerVersion: those of this view are of another version.
        """
        with self.server.told(), self._connection.transaction():
            alone(self._connection, self.server)
            found = versions(self._connection, self.server, [view]).views[view.name]
            if found > view.version:
                raise OfANewerVersion(view, found, by_hand=False)
            if found < view.version:
                raise TablesAreMissing(self.server.shown)
            yield


def _checked(server: Server, found: Versions, written: Sequence[View]) -> None:
    """Make sure that tables are there for what is to be written, and none of a newer version.

    Raises:
        TablesAreMissing, TablesAreNewer: it is not so.
    """
    if found.tracking > LAYOUT:
        raise TablesAreNewer(server.shown)
    if written and (found.tracking < LAYOUT or found.outdated(written)):
        raise TablesAreMissing(server.shown)


class PostgresLeases:
    """Advisory locks of a session of one's own: who loses the session has lost them.

    Implements :class:`projections.views.store.Leases`.
    """

    def __init__(self, server: Server, holder: str) -> None:
        self._server = server
        self._ours: set[Task] = set()
        self._connection = server.connect()
        try:
            self._connection.execute(
                "SELECT set_config('application_name', %s, false),"
                # who says nothing for so long is stopped, or on a host that is
                " set_config('idle_session_timeout', %s, false),"
                " set_config('tcp_keepalives_idle', '2', false),"
                " set_config('tcp_keepalives_interval', '1', false),"
                " set_config('tcp_keepalives_count', '3', false),"
                " pg_advisory_lock_shared(%s)",
                (f"{_NAME}{holder}"[:63], f"{PATIENCE:.0f}s", self._server.key("workers")),
            )
        except BaseException:
            self._connection.close()
            raise

    def refresh(self, wanted: Collection[Task]) -> frozenset[Task]:
        """Keep, take and give back; see :class:`Leases`.

        Raises:
            StoreIsUnreachable: the session is lost, and all that was ours with it.
        """
        try:
            most = fair_share(len(wanted), self._workers())
            for task in sorted(self._ours, key=lambda one: one.turn, reverse=True):
                if task not in wanted or len(self._ours) > most:
                    self._connection.execute(
                        "SELECT pg_advisory_unlock(%s)", (self._server.key(*task),)
                    )
                    self._ours.discard(task)
            for task in sorted(set(wanted) - self._ours, key=lambda one: one.turn):
                if len(self._ours) < most and self._taken(task):
                    self._ours.add(task)
        except psycopg.Error as error:
            raise self._server.translated(error, self._server.shown) from error
        return frozenset(self._ours)

    def close(self) -> None:
        """Give everything back."""
        with suppress(psycopg.Error):
            self._connection.close()

    def _workers(self) -> int:
        key = self._server.key("workers")
        row = self._connection.execute(
            "SELECT count(*) FROM pg_locks WHERE (classid::bigint << 32) | objid::bigint = %s"  # noqa: S608 — our own words
            f" AND {_OURS}".encode(),
            (key,),
        ).fetchone()
        return int(row[0]) if row is not None else 1

    def _taken(self, task: Task) -> bool:
        row = self._connection.execute(
            "SELECT pg_try_advisory_lock(%s)", (self._server.key(*task),)
        ).fetchone()
        return bool(row and row[0])


_NAME = "mind work "

_OURS = (
    "locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
