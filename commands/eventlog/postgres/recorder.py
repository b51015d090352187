"""The table of events on a server: appended in one round trip, read back when in doubt."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import psycopg
from eventsourcing.persistence import StoredEvent

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.place import Address
from commands.eventlog.postgres.connections import Connection, Connections, Wait
from commands.eventlog.postgres.faults import (
    LOCK_TIMEOUT,
    is_lost,
    is_worth_another_try,
    translated,
)
from commands.eventlog.postgres.follow import follow
from commands.eventlog.postgres.layout import checked
from commands.eventlog.postgres.rows import COLUMNS, Cursor, Patient, Rows
from commands.eventlog.recorder import InOneOrder, Told
from commands.eventlog.wire import Row
from domain.errors import LogosphereError, StoreIsBusy, StoreIsClosed, StoreIsReadOnly
from domain.log import Log
from domain.recorded import Recorded
from domain.server_errors import StoreIsUnreachable, WriteInDoubt

HOLD = 0.8
"""Seconds that whoever writes in several steps may be silent before the server ends it: another
host that was cut off meanwhile holds up nobody for longer."""

_BEAT = HOLD / 3
"""Seconds between signs of life of one who is not cut off, and only takes long."""


_FEW = 8
"""Rows whose columns go to the server value by value: psycopg takes longer over arrays."""


class PostgresRecorder(InOneOrder, Rows):
    """A :class:`commands.eventlog.recorder.Recorder` on a PostgreSQL server.

    What is read stays as it was read: rows never change but for redactions. A write that was not
    acknowledged is looked for, so that it is never there twice and never taken for somebody
    else's.
    """

    def __init__(self, address: Address, *, unfinished: bool = False) -> None:
        """Open a store that is there.

        Args:
            address: where.
            unfinished: whether it may be a copy that is not whole yet.

        Raises:
            NoStore, StoreOfAnotherLayout: there is none, or one that this version can't read.
            CopyIsUnfinished: it is no whole store yet.
            NotSynchronous: it was asked for, and is not so.
            StoreIsUnreachable, StoreIsClosed: it can't be reached.
        """
        self.address, self.where = address, address.shown
        super().__init__(address.schema)
        self._take_turn = (  # in one round trip
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;"
            f" SET LOCAL idle_in_transaction_session_timeout = {round(HOLD * 1000)};"
            f" SELECT {address.schema}.take_turn(true)"
        ).encode()
        self._connections = Connections(address)
        self._turn = threading.Lock()
        try:
            with self._connections.one() as connection:
                self.facts = checked(connection, address, unfinished=unfinished)
        except psycopg.errors.InsufficientPrivilege as error:
            self.close()
            raise StoreIsClosed(self.where, str(error).partition("\n")[0]) from error
        except psycopg.Error as error:
            self.close()
            raise translated(error, address.shown) from error
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Cursor]:
        """A cursor that sees what is committed by the time of each question."""
        yield Patient(self._connections, self.where)

    @contextmanager
    def unmoving(self, _stream: str = "") -> Iterator[Cursor]:
        """As :meth:`reading`, and everything read is as of one moment, whatever others write."""
        wait = Wait()
        while True:
            with self._connections.one() as connection:
                cursor = Cursor(connection, self.where)
                try:
                    cursor.ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                except psycopg.Error as error:
                    if not is_lost(error) or wait.is_over:
                        raise translated(error, self.where) from error
                else:
                    yield cursor
                    cursor.fetch("COMMIT")
                    return
            wait()

    @contextmanager
    def writing(self, _stream: str = "", _beside: str | None = None) -> Iterator[Cursor]:
        """Hold the right to write; see :class:`commands.eventlog.recorder.Recorder`."""
        # one at a time in this process: those that wait would only take up connections
        with self._turn, self._alone() as connection:
            cursor = Cursor(connection, self.where)
            try:
                with _heard(connection):
                    yield cursor
            except BaseException:
                with suppress(psycopg.Error):
                    cursor.ask("ROLLBACK")
                raise
            try:
                cursor.ask("COMMIT")
            except psycopg.Error as error:
                if not is_lost(error) or not self._came_about(cursor.written):
                    raise translated(error, self.where) from error

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A connection in a transaction that has its turn: until then nothing can be lost."""
        self._may_write()
        wait = Wait()
        while True:
            with self._connections.one() as connection:
                try:
                    connection.execute(self._take_turn, prepare=False)
                except psycopg.errors.FeatureNotSupported as error:  # a standby as yet
                    connection.close()
                    if wait.is_over:
                        raise StoreIsReadOnly(self.where) from error
                except psycopg.Error as error:
                    connection.close()
                    if not is_worth_another_try(error) or wait.is_over:
                        raise translated(error, self.where) from error
                else:
                    yield connection
                    return
            wait()

    # writing

    def _may_write(self) -> None:
        if self.address.read_only:  # which the server would take for one that became a standby
            raise StoreIsReadOnly(self.where)

    def insert_events(
        self,
        stored_events: Sequence[StoredEvent],
        behind: bytes | None = None,
        mark: bytes | None = None,
    ) -> Sequence[int]:
        """Write rows durably, all or none; their positions.

        The rows hold their wish's id and their time, so nobody else's are ever the same: where a
        row is found in the way after an acknowledgement got lost, it is this one.
        """
        self._may_write()
        wait, doubt = Wait(), False
        while True:
            try:
                with self._connections.one() as connection:
                    cursor = Cursor(connection, self.where)
                    found = self._append(cursor, stored_events, behind, mark)
                return range(found, found + len(stored_events))
            except psycopg.Error as error:
                if doubt and not is_lost(error):
                    positions = self._looked_for(stored_events)
                    if positions is not None:
                        return positions
                doubt = doubt or is_lost(error)
                if not is_worth_another_try(error) or wait.is_over:
                    said = translated(error, self.where)
                    # of those who are only kept waiting, too, the first may come about yet
                    if doubt and isinstance(said, StoreIsBusy | StoreIsUnreachable):
                        raise self._in_doubt(error) from error
                    raise said from error
            except LogosphereError as error:  # also of a successor that lets nobody write as asked
                if doubt:
                    raise self._in_doubt(error) from error
                raise
            wait()

    def insert_within(self, cursor: Cursor, stored_events: Sequence[StoredEvent]) -> Sequence[int]:
        """The same inside of :meth:`writing`."""
        try:
            first = self._append(cursor, stored_events)
        except psycopg.Error as error:
            raise translated(error, self.where) from error
        cursor.written += stored_events
        return range(first, first + len(stored_events))

    def _append(
        self,
        cursor: Cursor,
        rows: Sequence[StoredEvent],
        behind: bytes | None = None,
        mark: bytes | None = None,
    ) -> int:
        columns = (
            ("text", [row.originator_id for row in rows]),
            ("bigint", [row.originator_version for row in rows]),
            ("text", [row.topic for row in rows]),
            ("bytea", [row.state for row in rows]),
        )
        if len(rows) <= _FEW:
            marks = ",".join(["%s"] * len(rows))
            arrays = ", ".join(f"ARRAY[{marks}]::{type_}[]" for type_, _ in columns)
            parameters: list[object] = [value for _, values in columns for value in values]
        else:
            # bytes as bytes: written as a text they would be twice as long
            arrays = ", ".join(
                f"{'%b' if type_ == 'bytea' else '%s'}::{type_}[]" for type_, _ in columns
            )
            parameters = [values for _, values in columns]
        parameters += [behind, mark]
        query = f"SELECT {self._schema}.append({arrays}, %b::bytea, %b::bytea)"
        return int(cursor.ask(query, parameters)[0][0])

    def _positions(self, written: Sequence[StoredEvent]) -> list[int] | None:
        """Where these very rows are; None unless all of them are there."""
        with self.reading() as cursor:
            there = {
                (row[0], row[1]): row
                for stream in {str(row.originator_id) for row in written}
                for row in self.rows_at(
                    cursor,
                    stream,
                    [e.originator_version for e in written if e.originator_id == stream],
                )
            }
        found = [there.get((str(row.originator_id), row.originator_version)) for row in written]
        if any(
            # the hash is that of all its content, which may have been redacted meanwhile
            row is None or row[4][:HASH_LENGTH] != event.state[:HASH_LENGTH]
            for row, event in zip(found, written, strict=True)
        ):
            return None
        return [row[2] for row in found if row is not None]

    def _came_about(self, written: Sequence[StoredEvent]) -> bool:
        """Whether a commit did that nobody heard of; asked until it can't come any more.

        Raises:
            WriteInDoubt: nobody answers for longer than anybody has patience.
        """
        if not written:
            return False
        # it may be there while somebody else has the turn already
        return self._looked_for(written) is not None or self._came_late(written)

    def _came_late(self, written: Sequence[StoredEvent]) -> bool:
        try:
            # whoever still held the turn has ended, one way or the other, once we have it
            with self._alone() as connection, suppress(psycopg.Error):
                connection.execute("ROLLBACK")
        except (psycopg.Error, LogosphereError) as error:
            raise self._in_doubt(error) from error
        return self._looked_for(written) is not None

    def _looked_for(self, written: Sequence[StoredEvent]) -> list[int] | None:
        """As :meth:`_positions`, of rows that may be there; raises WriteInDoubt."""
        try:
            return self._positions(written)
        except (psycopg.Error, LogosphereError) as error:
            raise self._in_doubt(error) from error

    def _in_doubt(self, error: Exception) -> WriteInDoubt:
        why = error if isinstance(error, psycopg.Error) else error.__cause__ or error
        return WriteInDoubt(self.where, str(why).partition("\n")[0])

    def insert_at(self, cursor: Cursor, rows: Sequence[Row]) -> None:
        """Write rows at the positions that they bring along, above all that are there."""
        columns = list(zip(*rows, strict=True))
        cursor.fetch(
            f"INSERT INTO {self._table} ({COLUMNS}) SELECT * FROM unnest"  # noqa: S608
            "(%s::text[], %s::bigint[], %s::bigint[], %s::text[], %b::bytea[])",
            [list(column) for column in columns],
        )

    def insert_aliases(
        self, cursor: Cursor, aliases: Iterable[tuple[str, str, str | None]]
    ) -> None:
        """Note streams whose name here, or whose parent's, is another than they were born with."""
        for alias in aliases:
            cursor.fetch(
                f"INSERT INTO {self._schema}.aliases VALUES (%s,%s,%s)",  # noqa: S608
                alias,
            )

    def replace_within(self, cursor: Cursor, rows: Sequence[tuple[int, bytes]]) -> None:
        """Give rows, by position, another state inside of :meth:`writing`: for redactions alone."""
        mark = f"SELECT set_config('{self._schema}.redacting', %s, true)"
        number = cursor.fetch("SELECT pg_current_xact_id()::text")[0][0]
        cursor.fetch(mark, (number,))
        cursor.fetch(
            f"UPDATE {self._table} AS e SET state = n.state"  # noqa: S608 — constants and marks
            " FROM unnest(%s::bigint[], %b::bytea[]) AS n (position, state)"
            " WHERE e.position = n.position",
            ([row[0] for row in rows], [row[1] for row in rows]),
        )
        cursor.fetch(mark, ("",))

    def forget(self, *, rewrite: bool) -> bool:
        """Let the server reuse the room of what rows once held.

        Returns:
            False where something was redacted: pages, the write-ahead log, standbys and backups
            of the server keep the old bytes until they are overwritten, and nobody here can tell
            when that is.
        """
        if rewrite and not self.address.read_only:
            # the rows have lost it already: a server without time now does the rest by itself later
            with self.reading() as cursor, suppress(StoreIsBusy):
                cursor.fetch(f"VACUUM {self._table}")
        return not rewrite

    def follow(self, log: Log, after: int, stop: threading.Event, told: Told) -> Iterator[Recorded]:
        """Events behind a position, then each new one soon after its commit."""
        return follow(log, self.address, after, stop, told)

    def close(self) -> None:
        """Let go of the server."""
        self._connections.close()


@contextmanager
def _heard(connection: Connection) -> Iterator[None]:
    """Let the server hear of us while something else is worked out, within the usual patience."""
    done = threading.Event()

    def beat() -> None:
        for _ in range(round(LOCK_TIMEOUT / _BEAT)):
            if done.wait(_BEAT):
                return
            try:
                connection.execute("SELECT 1")
            except psycopg.Error:
                return  # said by the next question

    thread = threading.Thread(target=beat, name="heard", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
