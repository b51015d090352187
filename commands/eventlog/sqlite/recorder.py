"""The table of events in SQLite: how rows are written durably, guarded, and read in pages."""

import random
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eventsourcing.persistence import PersistenceError, StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder

from commands.eventlog.recorder import HIGHEST, InOneOrder, Mark, OneByOne, Tally
from commands.eventlog.sqlite.connections import Datastore
from commands.eventlog.sqlite.faults import is_busy, translated
from commands.eventlog.sqlite.follow import follow
from commands.eventlog.sqlite.layout import NEVER_CHANGE, SCHEMA, database_uri
from commands.eventlog.sqlite.marks import newest_mark, note
from commands.eventlog.wire import Row
from domain.errors import LogosphereError, LostRace, StoreIsBusy, StoreIsFull
from domain.log import Log
from domain.recorded import Recorded

LOCK_TIMEOUT = 30.0
"""Seconds to wait for other writers before giving up."""

FORGET_TIMEOUT = 5.0
"""Seconds to wait for readers of what was redacted."""

_COLUMNS = "originator_id, originator_version, rowid, topic, state"

_NEWEST = """SELECT originator_version FROM stored_events WHERE originator_id=?1
    AND originator_version<=?2 ORDER BY originator_version DESC LIMIT 1"""
_TALLY = f"""SELECT ({_NEWEST}), (SELECT count(*) FROM stored_events
    INDEXED BY stored_events_by_kind WHERE originator_id=?1 AND topic>='')"""  # noqa: S608


class SqliteRecorder(InOneOrder, OneByOne, SQLiteApplicationRecorder):
    """The library's recorder with our table, our patience and rows in pages."""

    def __init__(self, path: Path, *, mode: str = "mode=rw", full: bool = False) -> None:
        """Open a log.

        Args:
            path: the file.
            mode: how, as a part of a SQLite URI.
            full: it can only be read because the disk is full, which is what writers are told.
        """
        self.path, self.mode, self._full = path, mode, full
        self.where = str(path)
        self._turn = threading.Lock()
        super().__init__(Datastore(database_uri(path, mode=mode)))
        self.insert_events_statement = (
            "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
            " VALUES (?,?,?,?)"
        )

    def construct_create_table_statements(self) -> list[str]:
        """The table, its index and its guards."""
        return list(SCHEMA)

    def insert_events(
        self,
        stored_events: Sequence[StoredEvent],
        behind: bytes | None = None,
        mark: bytes | None = None,
        **_: Any,
    ) -> Sequence[int]:
        """Write rows in one durable transaction; their positions."""
        with self.writing() as cursor:
            if behind is not None:
                self._follows(cursor, stored_events[0], behind)
            if mark not in {None, self.mark(cursor)}:
                raise LostRace(f"something was redacted in {self.where!r} meanwhile")
            return self.insert_within(cursor, stored_events)

    @staticmethod
    def _follows(cursor: sqlite3.Cursor, first: StoredEvent, behind: bytes) -> None:
        """Refuse a row that follows another one than it was made for."""
        stream, version = first.originator_id, first.originator_version
        cursor.execute(
            "SELECT substr(state, 1, ?) = ? FROM stored_events"
            " WHERE originator_id=? AND originator_version=?",
            (len(behind), behind, stream, version - 1),
        )
        if cursor.fetchone() != (1,):
            raise LostRace(f"what event {version} of {stream!r} follows is another by now")

    def insert_within(
        self, cursor: sqlite3.Cursor, stored_events: Sequence[StoredEvent]
    ) -> Sequence[int]:
        """The same inside of :meth:`writing`; alone there, so that positions follow each other."""
        cursor.executemany(
            self.insert_events_statement,
            [(e.originator_id, e.originator_version, e.topic, e.state) for e in stored_events],
        )
        cursor.execute("SELECT last_insert_rowid()")
        last = int(cursor.fetchone()[0])
        positions = range(last - len(stored_events) + 1, last + 1)
        note(cursor, ((n, e.topic, e.state) for n, e in zip(positions, stored_events, strict=True)))
        return positions

    @staticmethod
    def insert_at(cursor: sqlite3.Cursor, rows: Sequence[Row]) -> None:
        """Write rows at the positions that they bring along, above all that are there."""
        cursor.executemany(
            "INSERT INTO stored_events"
            " (originator_id, originator_version, rowid, topic, state) VALUES (?,?,?,?,?)",
            rows,
        )
        note(cursor, (row[2:] for row in rows))

    @staticmethod
    def insert_aliases(
        cursor: sqlite3.Cursor, aliases: Iterable[tuple[str, str, str | None]]
    ) -> None:
        """Note streams whose name here, or whose parent's, is another than they were born with."""
        cursor.executemany("INSERT INTO aliases VALUES (?,?,?)", aliases)

    @staticmethod
    def replace_within(cursor: sqlite3.Cursor, rows: Sequence[tuple[int, bytes]]) -> None:
        """Give rows, by position, another state inside of :meth:`writing`: for redactions alone.

        The guard is lifted and put back in the same transaction, so nobody ever sees the table
        without it.
        """
        cursor.execute("DROP TRIGGER events_never_change")
        cursor.executemany(
            "UPDATE stored_events SET state=? WHERE rowid=?",
            [(state, position) for position, state in rows],
        )
        cursor.execute(NEVER_CHANGE)

    def forget(self, *, rewrite: bool) -> bool:
        """Let nothing be left in the files of what rows once held.

        Args:
            rewrite: lay out all pages anew. What is overwritten is zeroed, but where rows of
                another length make SQLite move their neighbours, copies of these stay behind in
                the room between rows, and the next redaction would not reach them.

        Returns:
            Whether that came about; not while another process reads, or without room.
        """
        deadline = time.monotonic() + FORGET_TIMEOUT
        while True:
            try:
                with self.reading() as cursor:
                    if rewrite:
                        cursor.execute("VACUUM")
                    rewrite = False
                    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    busy = bool(cursor.fetchone()[0])
            except StoreIsBusy:
                busy = True
            except LogosphereError:  # the redaction itself is done, and that it is has to be said
                return False
            if not busy or time.monotonic() > deadline:
                return not busy
            time.sleep(random.uniform(0.005, 0.02))  # noqa: S311 — a wait, no secret

    @contextmanager
    def unmoving(self, _stream: str = "") -> Iterator[sqlite3.Cursor]:
        """As :meth:`reading`, and everything read is as of one moment, whatever others write."""
        with self.reading() as cursor:
            cursor.execute("BEGIN")
            try:
                yield cursor
            finally:
                cursor.execute("ROLLBACK")

    @contextmanager
    def writing(self, _stream: str = "", _beside: str | None = None) -> Iterator[sqlite3.Cursor]:
        """Hold the right to write: what is inserted is durable at the end, or not there at all.

        Raises:
            LostRace: a row is there already.
            StoreIsBusy, StoreIsFull, StoreIsReadOnly: nothing was written.
        """
        if self._full:
            raise StoreIsFull(str(self.path))
        try:
            with (
                # a thread that waits for the writer inside the pool keeps readers out of it
                self._turn,
                self.datastore.get_connection(commit=True) as connection,
                connection.cursor() as raw,
            ):
                raw.row_factory = None
                self._begin(raw)
                try:
                    yield raw
                    connection.commit()
                except BaseException:
                    connection.rollback()
                    raise
        except (PersistenceError, sqlite3.Error) as error:
            raise translated(error, str(self.path)) from error

    def _begin(self, cursor: sqlite3.Cursor) -> None:
        """Wait for other writers in short random naps.

        SQLite's own naps grow, so that whoever waits longest asks least often.
        """
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                cursor.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
                if time.monotonic() > deadline:
                    raise StoreIsBusy(str(self.path), LOCK_TIMEOUT) from error
                time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311 — a wait, no secret
            else:
                return

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Cursor]:
        """A cursor that yields plain tuples."""
        try:
            with (
                self.datastore.get_connection(commit=False) as connection,
                connection.cursor() as cursor,
            ):
                cursor.row_factory = None
                yield cursor
        except (PersistenceError, sqlite3.Error, UnicodeDecodeError) as error:
            raise translated(error, str(self.path)) from error

    @staticmethod
    def rows(
        cursor: sqlite3.Cursor,
        stream: str,
        after: int,
        upto: int,
        limit: int,
        *,
        newest_first: bool = False,
        kinds: Sequence[str] = (),
    ) -> list[Row]:
        """At most ``limit`` rows of one stream with ``after < version <= upto``."""
        which = f" AND topic IN ({','.join('?' * len(kinds))})" if kinds else ""
        cursor.execute(
            f"SELECT {_COLUMNS} FROM stored_events"  # noqa: S608 — constants and marks only
            f" WHERE originator_id=? AND originator_version>? AND originator_version<=?{which}"
            f" ORDER BY originator_version {'DESC' if newest_first else 'ASC'} LIMIT ?",
            (stream, after, upto, *kinds, limit),
        )
        return cursor.fetchall()

    @staticmethod
    def rows_at(cursor: sqlite3.Cursor, stream: str, versions: Sequence[int]) -> list[Row]:
        """The rows of one stream at just these versions."""
        rows: list[Row] = []
        for start in range(0, len(versions), 500):
            some = versions[start : start + 500]
            cursor.execute(
                f"SELECT {_COLUMNS} FROM stored_events WHERE originator_id=?"  # noqa: S608
                f" AND originator_version IN ({','.join('?' * len(some))})",
                (stream, *some),
            )
            rows += cursor.fetchall()
        return rows

    @staticmethod
    def rows_by_position(cursor: sqlite3.Cursor, after: int, limit: int) -> list[Row]:
        """At most ``limit`` rows of the whole store behind a position."""
        cursor.execute(
            f"SELECT {_COLUMNS} FROM stored_events WHERE rowid>? ORDER BY rowid LIMIT ?",  # noqa: S608
            (after, limit),
        )
        return cursor.fetchall()

    @staticmethod
    def last(cursor: sqlite3.Cursor) -> Row | None:
        """The newest row of the whole store."""
        cursor.execute(f"SELECT {_COLUMNS} FROM stored_events ORDER BY rowid DESC LIMIT 1")  # noqa: S608
        row: Row | None = cursor.fetchone()
        return row

    @staticmethod
    def birth(cursor: sqlite3.Cursor, stream: str) -> tuple[Row, str, str | None] | None:
        """A stream's first row, the name it was born with, and what its parent is called here.

        The parent is None where its name has not changed.
        """
        cursor.execute(
            f"SELECT {_COLUMNS}, name, parent FROM stored_events"  # noqa: S608 — constants only
            " LEFT JOIN aliases ON stream = originator_id"
            " WHERE originator_id=? ORDER BY originator_version LIMIT 1",
            (stream,),
        )
        found = cursor.fetchone()
        return None if found is None else (found[:5], found[5] or stream, found[6])

    @staticmethod
    def streams(cursor: sqlite3.Cursor, family: str | None = None) -> list[str]:
        """All streams, or those of a family, in order of their beginnings.

        One seek per stream along the index, not one look at each event; those of other families
        are jumped over as one.
        """
        low, over = "", "s.id"
        if family == "session":  # ';' is what comes right behind ':'
            over = "CASE instr(s.id, ':') WHEN 0 THEN s.id ELSE"
            over += " substr(s.id, 1, instr(s.id, ':') - 1) || ';' END"
        elif family is not None:
            low = f"{family}:"
        cursor.execute(
            "WITH RECURSIVE s(id) AS"  # noqa: S608 — constants only
            " (SELECT min(originator_id) FROM stored_events WHERE originator_id >= ?1"
            " UNION ALL SELECT (SELECT min(originator_id) FROM stored_events"
            f" WHERE originator_id > {over}) FROM s WHERE s.id IS NOT NULL AND s.id < ?2)"
            " SELECT id, (SELECT rowid FROM stored_events WHERE originator_id = s.id"
            " ORDER BY originator_version LIMIT 1) AS position"
            " FROM s WHERE id IS NOT NULL AND id < ?2 AND (?3 = 0 OR instr(id, ':') = 0)"
            " ORDER BY position",
            (low, f"{family};" if low else "\U0010ffff", family == "session"),
        )
        return [row[0] for row in cursor.fetchall()]

    @staticmethod
    def born_as(cursor: sqlite3.Cursor, name: str) -> list[str]:
        """The streams that were born with a name, the one that still has it first."""
        own = SqliteRecorder.birth(cursor, name)
        cursor.execute(
            "SELECT stream FROM aliases WHERE name=?1 AND stream<>?1 AND EXISTS"
            " (SELECT 1 FROM stored_events WHERE originator_id=stream) ORDER BY 1",
            (name,),
        )
        others = [str(row[0]) for row in cursor.fetchall()]
        return [name, *others] if own is not None and own[1] == name else others

    @staticmethod
    def aliases(cursor: sqlite3.Cursor) -> list[tuple[str, str, str | None]]:
        """All streams whose name, or whose parent's, is another here."""
        cursor.execute("SELECT stream, name, parent FROM aliases ORDER BY stream")
        return cursor.fetchall()

    @staticmethod
    def newest_version(cursor: sqlite3.Cursor, stream: str) -> int:
        """The highest version of a stream that is one; 0 if it has none."""
        found = cursor.execute(_NEWEST, (stream, HIGHEST)).fetchone()
        return _number(found[0] if found is not None else None)

    @staticmethod
    def tallies(cursor: sqlite3.Cursor, streams: Sequence[str]) -> list[Tally]:
        """How many rows there are of each, and how many the index by kind knows."""
        found = [cursor.execute(_TALLY, (stream, HIGHEST)).fetchone() for stream in streams]
        return [Tally(_number(newest), indexed) for newest, indexed in found]

    @staticmethod
    def redactions(cursor: sqlite3.Cursor) -> int:
        """How many events were redacted."""
        cursor.execute("SELECT count(*) FROM redactions")
        return int(cursor.fetchone()[0])

    mark = staticmethod(newest_mark)

    def marks(self, cursor: sqlite3.Cursor, _stream: str | None = None) -> list[Mark]:
        """The only one."""
        return [Mark("", self.mark(cursor))]

    def follow(self, log: Log, after: int, stop: threading.Event, _: object) -> Iterator[Recorded]:
        """Events behind a position, then each new one soon after its commit."""
        return follow(log, self.path, self.mode, after, stop)

    def close(self) -> None:
        """Let go of the file."""
        self.datastore.close()


def _number(version: Any) -> int:
    return version if type(version) is int else 0


def opened(file: Path, *, writable: bool) -> SqliteRecorder:
    """The rows of a file, also where SQLite has no place for its own files beside it."""
    wal = file.with_name(file.name + "-wal")
    alone = not (wal.exists() and wal.stat().st_size)
    if not writable:
        return SqliteRecorder(file, mode="mode=ro&immutable=1" if alone else "mode=ro")
    recorder = SqliteRecorder(file)
    try:
        with recorder.reading() as cursor:
            cursor.execute("SELECT 1 FROM stored_events LIMIT 1")
    except StoreIsFull:
        recorder.close()
        if not alone:
            raise
        return SqliteRecorder(file, mode="mode=ro&immutable=1", full=True)
    except LogosphereError:
        pass  # said by whoever reads what is damaged
    return recorder
