"""The event log: append, read, state, fork, all through the ancestry of a session."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

from commands.eventlog import verify
from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.follow import follow
from commands.eventlog.lineage import Lineage, clipped
from commands.eventlog.recorder import EventRecorder, checked, make_database
from commands.eventlog.snapshots import EVERY, Snapshot, Snapshots
from commands.eventlog.wire import EventMapper, Row
from domain.errors import (
    LostRace,
    NoStore,
    NoSuchMoment,
    SessionExists,
    StoreExists,
)
from domain.ids import SessionId
from domain.log import BEGINNING, Draw, Head, Recorded, Segment
from domain.session import Session, evolve

LOG_FILE = "log.db"
SNAPSHOT_FILE = "snapshots.db"
PAGE = 512
STATES_KEPT = 16


class _Known(NamedTuple):
    """A state at the head of a session, its hash, and the version of its newest snapshot."""

    state: Session
    hash: bytes
    snapshot: int


class EventLog:
    """A store's log in a directory: ``log.db`` is the truth, ``snapshots.db`` a cache.

    Safe to use from several threads and from several processes at once. Implements
    :class:`domain.log.Log`.
    """

    def __init__(self, directory: Path, *, writable: bool = True) -> None:
        """Open an existing store.

        Raises:
            NoStore, NotAStore, StoreIsTooNew: there is nothing here that we could read.
        """
        self.file = directory / LOG_FILE
        if not self.file.exists():
            raise NoStore(str(directory))
        checked(self.file)
        self.writable = writable
        self._recorder = EventRecorder(self.file, mode=_mode(self.file, writable=writable))
        self._mapper = EventMapper()
        self._snapshots = Snapshots(directory / SNAPSHOT_FILE, writable=writable)
        self._lineage = Lineage(self._first_event)
        self._known: OrderedDict[SessionId, _Known] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def create(cls, directory: Path) -> "EventLog":
        """Make a store where there is none.

        Raises:
            StoreExists: there is one.
            StoreIsReadOnly, StoreIsFull: there can't be one.
        """
        path = directory / LOG_FILE
        if path.exists():
            raise StoreExists(str(directory))
        make_database(path)
        return cls(directory)

    def close(self) -> None:
        """Let go of all files."""
        self._recorder.close()
        self._snapshots.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # writing

    def append(self, session: SessionId, after: int, draw: Draw) -> Head:
        """Record events behind ``after``, all or none; see :class:`domain.log.Log`."""
        return self._insert(session, self._onto(session, after), draw)

    def begin(self, session: SessionId, onto: Head, draw: Draw) -> Head:
        """Begin a stream, behind nothing or, by reference, behind a moment of another."""
        if self.exists(session):
            raise SessionExists(session)
        try:
            return self._insert(session, onto, draw)
        except LostRace:
            raise SessionExists(session) from None

    def _insert(self, session: SessionId, onto: Head, draw: Draw) -> Head:
        rows, head = self._mapper.sealed(onto, session, draw)
        positions = self._recorder.insert_events(rows) or ()
        known = self._known.get(session)
        if known is not None and known.state.version == onto.version:
            state = known.state
            for (event, cause, by), row, position in zip(draw.events, rows, positions, strict=True):
                recorded = Recorded(
                    session,
                    row.originator_version,
                    position,
                    draw.at,
                    by or draw.actor,
                    draw.command,
                    cause,
                    event,
                )
                state = evolve(state, recorded)
            self._remember(session, state, head.hash, known.snapshot)
        return head

    def _onto(self, session: SessionId, version: int) -> Head:
        known = self._known.get(session)
        if known is not None and known.state.version == version:
            return Head(version, known.hash)
        return self.head(session, version)

    # reading

    def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        upto: int | None = None,
        kinds: Iterable[str] | None = None,
        newest_first: bool = False,
        page: int = PAGE,
    ) -> Iterator[Recorded]:
        """Events of the whole ancestry, in pages; see :class:`domain.log.Log`."""
        rows = self.rows(
            session, after=after, upto=upto, kinds=kinds, newest_first=newest_first, page=page
        )
        return map(self._mapper.recorded, rows)

    def newest(
        self, session: SessionId, kinds: Iterable[str] | None, *, upto: int | None = None
    ) -> Recorded | None:
        """The newest event of these kinds (of all, if None) up to a version."""
        return next(self.read(session, upto=upto, kinds=kinds, newest_first=True, page=1), None)

    def rows(
        self,
        session: SessionId,
        *,
        after: int = 0,
        upto: int | None = None,
        kinds: Iterable[str] | None = None,
        newest_first: bool = False,
        page: int = PAGE,
    ) -> Iterator[Row]:
        """As :meth:`read`, but as rows that nobody has decoded: for bulk work."""
        wanted = tuple(kinds) if kinds is not None else ()
        if kinds is not None and not wanted:
            return
        parts = clipped(self._lineage.path(session), after, upto)
        if newest_first:
            parts.reverse()
        while parts:
            rows: list[Row] = []
            with self._recorder.reading() as cursor:
                while parts and len(rows) < page:
                    stream, low, high = parts[0]
                    room = page - len(rows)
                    found = self._recorder.rows(
                        cursor, stream, low, high, room, newest_first=newest_first, kinds=wanted
                    )
                    rows += found
                    if len(found) < room:
                        parts.pop(0)
                    elif newest_first:
                        parts[0] = (stream, low, found[-1][1] - 1)
                    else:
                        parts[0] = (stream, found[-1][1], high)
            yield from rows

    def pick(self, session: SessionId, versions: Iterable[int]) -> list[Recorded]:
        """The events of just these versions; see :class:`domain.log.Log`."""
        path = self._lineage.path(session)
        rows: list[Row] = []
        with self._recorder.reading() as cursor:
            for version in versions:
                for stream, low, high in clipped(path, version - 1, version):
                    rows += self._recorder.rows(cursor, stream, low, high, 1)
        return [self._mapper.recorded(row) for row in rows]

    def feed(self, after: int = 0) -> Iterator[Recorded]:
        """Events of all sessions behind a position, in pages."""
        while True:
            with self._recorder.reading() as cursor:
                rows = self._recorder.rows_by_position(cursor, after, PAGE)
            yield from map(self._mapper.recorded, rows)
            if len(rows) < PAGE:
                return
            after = rows[-1][2]

    def follow(self, after: int, stop: threading.Event) -> Iterator[Recorded]:
        """As :meth:`feed`, and then each new event of any process, until ``stop`` is set."""
        return follow(self, self.file, after, stop)

    def position(self) -> int:
        """The newest position of the store; 0 while it is empty."""
        with self._recorder.reading() as cursor:
            cursor.execute("SELECT coalesce(max(rowid), 0) FROM stored_events")
            return int(cursor.fetchone()[0])

    def exists(self, session: SessionId) -> bool:
        """Whether a session of this name has begun."""
        return self._first_event(session) is not None

    def sessions(self) -> list[SessionId]:
        """All sessions, in order of their beginnings."""
        with self._recorder.reading() as cursor:
            cursor.execute(
                # one seek per session along the index, not one look at each event
                "WITH RECURSIVE s(id) AS (SELECT min(originator_id) FROM stored_events"
                " UNION ALL SELECT (SELECT min(originator_id) FROM stored_events"
                " WHERE originator_id > s.id) FROM s WHERE s.id IS NOT NULL)"
                " SELECT id, (SELECT rowid FROM stored_events WHERE originator_id = s.id"
                " ORDER BY originator_version LIMIT 1) AS position"
                " FROM s WHERE id IS NOT NULL ORDER BY position"
            )
            return [SessionId(row[0]) for row in cursor.fetchall()]

    def path(self, session: SessionId) -> tuple[Segment, ...]:
        """The ancestry, youngest first."""
        return self._lineage.path(session)

    def head(self, session: SessionId, version: int | None = None) -> Head:
        """The chain's head, now or at a version."""
        row = next(self.rows(session, upto=version, newest_first=True, page=1), None)
        if row is None or (version is not None and row[1] != version):
            newest = self.head(session).version if version else 0
            raise NoSuchMoment(session, str(version), [str(newest)] if newest else [])
        return Head(row[1], row[4][:HASH_LENGTH])

    def state(self, session: SessionId, version: int | None = None) -> Session:
        """The state, now or as of a version, from the nearest state that is known."""
        known = self._known.get(session)
        if version is not None and (known is None or known.state.version > version):
            return self._cold(session, version).state
        if known is None:
            known = self._cold(session, None)
        state, hash_ = known.state, known.hash
        for row in self.rows(session, after=state.version, upto=version):
            state, hash_ = evolve(state, self._mapper.recorded(row)), row[4][:HASH_LENGTH]
        if version is None:
            self._remember(session, state, hash_, known.snapshot)
        elif state.version != version:
            raise NoSuchMoment(session, str(version), [str(state.version)])
        return state

    def _cold(self, session: SessionId, version: int | None) -> _Known:
        """A state from the newest true snapshot and the events behind it."""
        path = self._lineage.path(session)
        parts = clipped(path, 0, version)
        parts.reverse()
        state, hash_, saved = self._snapshot(parts)
        fresh: list[Snapshot] = []
        stream = state.id if state is not None else None
        for row in self.rows(session, after=state.version if state else 0, upto=version):
            if fresh and row[0] != stream:
                self._snapshots.save(fresh[0].state.id, fresh)
                fresh = []
            stream = SessionId(row[0])
            state, hash_ = evolve(state, self._mapper.recorded(row)), row[4][:HASH_LENGTH]
            if state.version - saved >= EVERY:
                fresh.append(Snapshot(state, hash_))
                saved = state.version
        if fresh and stream is not None:
            self._snapshots.save(stream, fresh)
        if state is None or (version is not None and state.version != version):
            raise NoSuchMoment(session, str(version), [str(state.version)] if state else [])
        return _Known(state, hash_, saved)

    def _snapshot(
        self, parts: list[tuple[SessionId, int, int]]
    ) -> tuple[Session | None, bytes, int]:
        """The newest snapshot whose hash the log still has at its moment."""
        found = self._snapshots.newest(parts)
        if found is not None:
            stream, snapshot = found
            version = snapshot.state.version
            with self._recorder.reading() as cursor:
                rows = self._recorder.rows(cursor, stream, version - 1, version, 1)
            if rows and rows[0][4][:HASH_LENGTH] == snapshot.hash:
                return snapshot.state, snapshot.hash, version
        return None, BEGINNING.hash, 0

    def _remember(self, session: SessionId, state: Session, hash_: bytes, saved: int) -> None:
        if state.version - saved >= EVERY and state.id == session:
            self._snapshots.save(session, [Snapshot(state, hash_)])
            saved = state.version
        with self._lock:
            self._known[session] = _Known(state, hash_, saved)
            self._known.move_to_end(session)
            while len(self._known) > STATES_KEPT:
                self._known.popitem(last=False)

    # proof

    def verify(self, sessions: Iterable[SessionId] | None = None) -> Iterator[verify.Verdict]:
        """Recompute the chains of sessions and their ancestors; of all, unless some are named."""
        names = self.sessions() if sessions is None else self._with_ancestors(sessions)
        for name in names:
            yield verify.verify_stream(self._recorder, self._mapper, name)

    def _with_ancestors(self, sessions: Iterable[SessionId]) -> list[SessionId]:
        names: dict[SessionId, None] = {}
        for session in sessions:
            for segment in reversed(self._lineage.path(session)):
                names[segment.stream] = None
        return list(names)

    def _first_event(self, session: SessionId) -> Recorded | None:
        with self._recorder.reading() as cursor:
            rows = self._recorder.rows(cursor, session, 0, 2**62, 1)
        return self._mapper.recorded(rows[0]) if rows else None


def _mode(path: Path, *, writable: bool) -> str:
    """How to open the file: a log on read-only ground has no place for SQLite's own files."""
    if writable:
        return "mode=rw"
    wal = path.with_name(path.name + "-wal")
    return "mode=ro" if wal.exists() and wal.stat().st_size else "mode=ro&immutable=1"
