"""Views of a store in a directory: ``views.db`` beside the log, for workers of one machine."""

import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from domain.errors import Broken, StoreIsBusy, StoreIsFull, StoreIsReadOnly
from projections.views.sql import (
    TRACKED,
    TRACKING,
    Dialect,
    dropped,
    select_rows,
    tables,
    tracking_table,
    upsert,
)
from projections.views.store import (
    PATIENCE,
    IsAlive,
    Step,
    Task,
    Tracked,
    fair_share,
    new_epoch,
    shards_to_begin,
)
from projections.views.view import Row, View

FILE = "views.db"

_LAYOUT = 1
_TIMEOUT = 30.0
_SQLITE = Dialect("", "?", "INTEGER", "REAL", "BLOB", "min", "max", "")

_LEASES = (
    """CREATE TABLE IF NOT EXISTS view_leases(
        view TEXT NOT NULL, shard INTEGER NOT NULL, holder TEXT NOT NULL,
        PRIMARY KEY (view, shard))""",
    "CREATE TABLE IF NOT EXISTS view_workers(holder TEXT PRIMARY KEY, seen REAL NOT NULL)",
)


class SqliteViews:
    """Implements :class:`projections.views.store.ViewStore`; to be used by one thread."""

    def __init__(self, directory: Path, views: Sequence[View]) -> None:
        """Open the views of a store; the file is made where there is none.

        Raises:
            StoreIsReadOnly, StoreIsFull, Broken: it can't be opened.
        """
        self.file = directory / FILE
        self._views = {view.name: view for view in views}
        with self._told():
            self._connection = sqlite3.connect(
                self.file, isolation_level=None, timeout=_TIMEOUT, cached_statements=256
            )
        try:
            self._lay_out()
        except BaseException:
            self._connection.close()
            raise
        self._identity = self._identified()

    def _lay_out(self) -> None:
        with self._told():
            self._connection.execute("PRAGMA journal_mode=WAL")
            # a power cut may take the newest rows, with the positions that stand for them
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA trusted_schema=OFF")
            self._connection.execute("PRAGMA secure_delete=ON")
            (layout,) = self._connection.execute("PRAGMA user_version").fetchone()
        if layout == _LAYOUT:
            return  # who only looks waits for no worker
        if layout:
            raise self._unreadable()
        with self._writing() as connection:
            for statement in (tracking_table(_SQLITE), *_LEASES):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={_LAYOUT}")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def prepare(self, view: View, shards: int | None) -> None:
        """Begin a view where that is needed; see :class:`ViewStore`."""
        with self._writing():
            wanted = shards_to_begin(view, shards, self.tracked())
            if wanted is not None:
                self._begin(view, wanted)

    def rebuild(self, view: View, shards: int | None = None) -> None:
        """Begin at the first event again; see :class:`ViewStore`."""
        with self._writing():
            kept = [t.shards for t in self.tracked().values() if t.task.view == view.name]
            self._begin(view, shards or (kept[0] if kept else 1))

    def _begin(self, view: View, shards: int) -> None:
        execute = self._connection.execute
        execute(f"DELETE FROM {TRACKING} WHERE view = ?", (view.name,))  # noqa: S608 — our own name
        for statement in (*dropped(view.name, _SQLITE), *tables(view, _SQLITE)):
            execute(statement)
        for shard in range(shards):
            execute(
                f"INSERT INTO {TRACKING}({TRACKED})"  # noqa: S608 — our own names
                " VALUES (?, ?, ?, ?, ?, 0, x'', x'', NULL, NULL, NULL)",
                (view.name, shard, shards, view.version, new_epoch()),
            )

    def restart(self, view: View, task: Task, mark: bytes) -> None:
        """Begin one shard again; see :class:`ViewStore`."""
        with self._writing() as connection:
            connection.execute(
                f"DELETE FROM view_{view.name}_rows WHERE shard = ?",  # noqa: S608 — our own name
                (task.shard,),
            )
            connection.execute(
                f"UPDATE {TRACKING} SET position = 0, hash = x'', epoch = ?, mark = ?,"  # noqa: S608 — our own name
                " trouble = NULL WHERE view = ? AND shard = ?",
                (new_epoch(), mark, *task),
            )

    def tracked(self) -> dict[Task, Tracked]:
        """How far each shard is."""
        with self._told():
            rows = self._connection.execute(
                f"SELECT {TRACKED} FROM {TRACKING} ORDER BY view, shard"  # noqa: S608 — our own names
            ).fetchall()
        found = (Tracked(Task(row[0], row[1]), *row[2:]) for row in rows)
        return {one.task: one for one in found}

    def advance(self, steps: Sequence[Step], owner: str) -> list[bool]:
        """Apply steps where nobody was faster; see :class:`ViewStore`."""
        if self._identified() != self._identity:
            raise Broken(f"{FILE} was removed or replaced while it was written: start again.")
        now, done = _now(), []
        with self._writing() as connection:
            for step in steps:
                moved = connection.execute(
                    f"UPDATE {TRACKING} SET position = ?, hash = ?, trouble = ?, since ="  # noqa: S608 — our own name
                    " CASE WHEN owner = ? THEN since ELSE ? END, owner = ?"
                    " WHERE view = ? AND shard = ? AND epoch = ? AND position = ?",
                    (
                        *(step.position, step.hash, step.trouble, owner, now, owner),
                        *(*step.task, step.epoch, step.expected),
                    ),
                ).rowcount
                done.append(moved == 1)
                if moved and step.rows:
                    connection.executemany(
                        _upsert(self._views[step.task.view]),
                        [(step.task.shard, *row) for row in step.rows],
                    )
        return done

    def rows(self, view: View) -> Iterator[Row]:
        """The rows of a view; see :class:`ViewStore`."""
        with self._told():
            yield from self._connection.execute(select_rows(view, _SQLITE))

    def leases(self, holder: str, is_alive: IsAlive) -> "SqliteLeases":
        """Claims of this process on shards."""
        return SqliteLeases(self, holder, is_alive)

    def held(self, is_alive: IsAlive) -> dict[Task, str]:
        """Which shards are leased just now, and by whom."""
        with self._told():
            living = self.living(is_alive)
            rows = self._connection.execute("SELECT view, shard, holder FROM view_leases")
            return {Task(view, shard): holder for view, shard, holder in rows if holder in living}

    def living(self, is_alive: IsAlive) -> set[str]:
        """The workers that have been seen lately and were not ended since."""
        oldest = time.time() - PATIENCE
        rows = self._connection.execute(
            "SELECT holder FROM view_workers WHERE seen >= ?", (oldest,)
        )
        return {holder for (holder,) in rows if is_alive(holder) is not False}

    def _identified(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.file)  # noqa: PTH116 — asked for each batch
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in our words what a disk refuses."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise StoreIsBusy(str(self.file), _TIMEOUT) from error
            if code == sqlite3.SQLITE_FULL:
                raise StoreIsFull(str(self.file.parent)) from error
            if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
                raise StoreIsReadOnly(str(self.file.parent)) from error
            raise self._unreadable() from error

    def _unreadable(self) -> Broken:
        return Broken(f"{str(self.file)!r} can't be read: remove it, and workers make another.")


class SqliteLeases:
    """Rows that say who works on what; implements :class:`projections.views.store.Leases`."""

    def __init__(self, store: SqliteViews, holder: str, is_alive: IsAlive) -> None:
        self._store, self._holder, self._is_alive = store, holder, is_alive

    def refresh(self, wanted: Collection[Task]) -> frozenset[Task]:
        """Keep, take and give back; see :class:`Leases`."""
        with self._store._writing() as connection:  # noqa: SLF001 — two classes of one file
            connection.execute(
                "INSERT OR REPLACE INTO view_workers VALUES (?, ?)", (self._holder, time.time())
            )
            living = self._store.living(self._is_alive)
            rows = connection.execute("SELECT view, shard, holder FROM view_leases").fetchall()
            taken = {Task(view, shard): holder for view, shard, holder in rows}
            most = fair_share(len(wanted), len(living))
            in_turn = sorted(wanted, key=lambda task: task.turn)
            ours = [task for task in in_turn if taken.get(task) == self._holder][:most]
            for task in in_turn:
                if len(ours) < most and taken.get(task) not in living:
                    ours.append(task)
            self._write(connection, ours, living)
        return frozenset(ours)

    def _write(
        self, connection: sqlite3.Connection, ours: Sequence[Task], living: Collection[str]
    ) -> None:
        marks = ", ".join("?" * len(living))
        connection.execute(
            f"DELETE FROM view_workers WHERE holder NOT IN ({marks})",  # noqa: S608 — marks alone
            tuple(living),
        )
        connection.execute("DELETE FROM view_leases WHERE holder = ?", (self._holder,))
        connection.executemany(
            "INSERT OR REPLACE INTO view_leases VALUES (?, ?, ?)",
            [(*task, self._holder) for task in ours],
        )

    def close(self) -> None:
        """Give everything back."""
        with self._store._writing() as connection:  # noqa: SLF001 — as above
            for table in ("view_leases", "view_workers"):
                connection.execute(f"DELETE FROM {table} WHERE holder = ?", (self._holder,))  # noqa: S608 — our own names


@cache
def _upsert(view: View) -> str:
    return upsert(view, _SQLITE)


def _now() -> int:
    return time.time_ns() // 1000
