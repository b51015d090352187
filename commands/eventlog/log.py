"""The event log: append, read, state, fork, all through the ancestry of a session."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

from eventsourcing.persistence import StoredEvent

from commands.eventlog.backends import make_store, may_write, recorder_of
from commands.eventlog.bundle import Bundle, Taken, take_over, write_bundle
from commands.eventlog.lineage import Lineage, clipped, parent_of
from commands.eventlog.looks import PAGE, Looks
from commands.eventlog.place import Place, prepared
from commands.eventlog.proof import Proof
from commands.eventlog.reading import all_rows, read_rows
from commands.eventlog.recorder import Mark, Told, unheard
from commands.eventlog.redaction import redact
from commands.eventlog.snapshots import Snapshots
from commands.eventlog.states import States
from commands.eventlog.verify import Verdict
from commands.eventlog.wire import EventMapper, Row
from domain.errors import LostRace, NoSuchMoment, SessionExists, StoreExists
from domain.ids import SessionId
from domain.recorded import Draw, Head, Plain, Recorded
from domain.session import Session
from domain.streams import Stream

SNAPSHOT_FILE = "snapshots.db"

S = TypeVar("S")


class EventLog(Looks):
    """A store's log: the truth is in ``log.db`` or on a server, ``snapshots.db`` is a cache.

    Safe to use from several threads and from several processes at once. Implements
    :class:`domain.log.Log`.
    """

    def __init__(self, place: Place | Path, *, writable: bool | None = None) -> None:
        """Open an existing store.

        Args:
            place: where it is; a path is a directory.
            writable: whether to write; None where the present user has the right to.

        Raises:
            NoStore, NotAStore, StoreOfAnotherLayout, StoreIsUnreachable: there is nothing here
                that we could read.
        """
        self.place = prepared(place if isinstance(place, Place) else Place(place))
        self.writable = may_write(self.place) if writable is None else writable
        self._recorder = recorder_of(self.place, writable=self.writable)
        self._mapper = EventMapper()
        self._lineage = Lineage(self._recorder, self._mapper)
        snapshots = Snapshots(self.place.home / SNAPSHOT_FILE, writable=self.writable)
        self._states = States(snapshots, self._lineage, self._mapper, self.rows, self._marks)

    @classmethod
    def create(cls, place: Place | Path) -> "EventLog":
        """Make a store where there is none.

        Raises:
            StoreExists: there is one.
            StoreIsReadOnly, StoreIsFull, StoreIsUnreachable: there can't be one.
        """
        make_store(place if isinstance(place, Place) else Place(place))
        return cls(place)

    def close(self) -> None:
        """Let go of all files."""
        self._recorder.close()
        self._states.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # writing

    def append(
        self, session: SessionId, after: int, draw: Draw, *, upon: Session | None = None
    ) -> Session:
        """Record events behind ``after``, all or none; see :class:`domain.log.Log`."""
        known = self._states.known(session)
        if known is None or known.state.version != after:
            known = self._states.newest(session)
        if known.state.version < after:
            raise NoSuchMoment(session, str(after), [str(known.state.version)])
        if known.state.version > after:
            raise LostRace(f"session {session!r} is at {known.state.version}, not at {after}")
        if upon is not None and known.state is not upon:
            raise LostRace(f"session {session!r} is not what it was remembered to be")
        rows, head = self._sealed(Head(after, known.hash), session, draw)
        mark = None if upon is None else known.mark.redactions
        positions = self._recorder.insert_events(rows, known.hash, mark) if rows else ()
        settled: Session = self._states.settled(session, known, draw, head, positions)
        return settled

    def exclusively(self, session: SessionId, decide: Callable[[Session], Draw | None]) -> Session:
        """Decide and append while nobody else can; see :class:`domain.log.Log`."""
        self._states.newest(session)  # so that little is left to read while others wait
        with self._recorder.writing(session) as cursor:
            known = self._states.newest(session)
            state: Session = known.state
            draw = decide(state)
            if draw is None:
                return state
            onto = Head(known.state.version, known.hash)
            rows, head = self._sealed(onto, session, draw)
            positions = self._recorder.insert_within(cursor, rows)
        state = self._states.settled(session, known, draw, head, positions)
        return state  # noqa: RET504 — the states of all families are Any, this one is a session's

    def begin(
        self,
        session: SessionId,
        onto: Head,
        draw: Draw,
        *,
        first: bool = False,
        provided: Callable[[], object] | None = None,
    ) -> Head:
        """Begin a stream, behind nothing or, by reference, behind a moment of another.

        Args:
            session: the name of the stream.
            onto: what it begins behind.
            draw: its first events.
            first: whether the store must have no session yet.
            provided: called while nobody else can write; what it raises leaves all as it was.

        Raises:
            SessionExists: the name is taken.
            StoreExists: it was to be the store's ``first``, and there is one.
        """
        rows, head = self._mapper.sealed(onto, session, draw)
        try:
            if not first and provided is None:  # the guards see to all that is promised
                self._recorder.insert_beginning(rows, parent_of(draw))
                return head
            with self._recorder.writing(session, parent_of(draw)) as cursor:
                if first and self.sessions():
                    raise StoreExists(str(self.place))
                if provided is not None:
                    provided()
                self._recorder.insert_within(cursor, rows)
        except LostRace:
            raise SessionExists(session) from None
        return head

    def redact(self, targets: Mapping[SessionId, Sequence[int]], reason: str, draw: Draw) -> bool:
        """Take the content of events away for good, for all sessions that share them.

        Each gets an ``event.redacted`` at the end of the stream that holds it, in the same
        transaction, of which there is one for each cell; kept states that may have held the content
        are deleted.

        Args:
            targets: versions by the stream that holds them.
            reason: why, for whoever reads it later.
            draw: when, who and which wish; its events are not looked at.

        Returns:
            Whether the old bytes are gone from the files; False while another process reads.

        Raises:
            NothingChanges: one of them is redacted already, or holds no content; nothing is done.
        """
        for streams in self._recorder.apart(targets):
            some = {SessionId(stream): targets[SessionId(stream)] for stream in streams}
            redact(self._recorder, self._mapper, self._lineage, some, reason, draw)
        return self.forget()

    def export(self, session: SessionId, file: Path) -> tuple[list[SessionId], int]:
        """Write a session into one file, with all its branches and all it descends from.

        Of an ancestor, as much goes along as they share with it.

        Returns:
            The sessions that are in it, and how many events.

        Raises:
            NoSuchSession: there is no such session.
            BadBundle, StoreIsFull, StoreIsReadOnly: nothing was written.
        """
        family = {session: None}
        self._lineage.birth(session)
        for other in self.relatives(session):  # in order of their beginnings: parents come first
            if self._lineage.birth(other).parent in family:
                family[other] = None
        return write_bundle(self._recorder, self._mapper, self._lineage, family, file)

    def take_over(self, file: Path) -> list[Taken]:
        """Bring the sessions of a bundle here: all of them or none, and none of them twice.

        Raises:
            NotAStore, StoreOfAnotherLayout, BadBundle: it is none, or not as it was written.
            StoreIsBusy, StoreIsFull, StoreIsReadOnly: nothing was written.
        """
        bundle, before = Bundle(file), self._marks()
        try:
            taken = take_over(bundle, self._recorder)
        finally:
            bundle.close()
        if self._marks() != before:
            self.forget()
        return taken

    def forget(self) -> bool:
        """Leave nothing of what was redacted in any file; whether that came about."""
        some = any(mark.redactions for mark in self._marks())
        gone = self._recorder.forget(rewrite=some)
        return self._states.forget() and gone

    def _sealed(
        self, onto: Head, session: SessionId, draw: Draw
    ) -> tuple[Sequence[StoredEvent], Head]:
        return self._mapper.sealed(onto, session, draw, self._lineage.birth(session).name)

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
        """As :meth:`read`, but as rows that nobody has decoded: for bulk work.

        Raises:
            StoreIsDamaged: an event is missing, where events of all kinds are read.
        """
        wanted = tuple(kinds) if kinds is not None else None
        if wanted == ():
            return
        parts = clipped(self._lineage.path(session), after, upto)
        yield from read_rows(
            self._recorder, session, parts, wanted, page, newest_first=newest_first
        )

    def feed(self, after: int = 0) -> Iterator[Recorded]:
        """Events of all sessions behind a position, in pages."""
        return map(self._mapper.recorded, self._by_position(after))

    def throughout(self) -> Iterator[Recorded]:
        """Events of all sessions, each once: those of one cell after those of another."""
        for part in self._recorder.orders():
            yield from map(self._mapper.recorded, all_rows(part, 0, PAGE))

    def plain(self, after: int = 0) -> Iterator[Plain]:
        """As :meth:`feed`, as plain data; see :class:`domain.log.Log`."""
        for row in self._by_position(after):
            event = self._mapper.plain(row)
            if event.kind == "session.forked":  # which names its parent as it was called then
                parent = self._lineage.birth(event.session).parent
                event = event._replace(data={**event.data, "parent": parent})
            yield event

    def _by_position(self, after: int) -> Iterator[Row]:
        return all_rows(self._recorder, after, PAGE)

    def follow(self, after: int, stop: threading.Event, told: Told = unheard) -> Iterator[Recorded]:
        """As :meth:`feed`, and then each new event of any process, until ``stop`` is set."""
        return self._recorder.follow(self, after, stop, told)

    def state(self, session: SessionId, version: int | None = None) -> Session:
        """The state, now or as of a version, from the nearest state that is known."""
        return self.stands(Stream[Session](session), version)

    def stands(self, stream: Stream[S], version: int | None = None) -> S:
        """The state of a stream that is no session; as :meth:`state`."""
        state: S = (
            self._states.newest(stream.id).state
            if version is None
            else self._states.at(stream.id, version)
        )
        return state

    def remembered(self, session: SessionId) -> Session | None:
        """The newest state seen so far; see :class:`domain.log.Log`."""
        known = self._states.known(session)
        return known.state if known is not None else None

    def snapshots(self, session: SessionId) -> Iterator[tuple[int, Session | None]]:
        """The states that are kept of a session's own events: version, and state if readable."""
        yield from self._states.kept(session)

    def mark(self) -> bytes:
        """What no other history of redactions has; empty where nothing was redacted."""
        with self._recorder.reading() as cursor:
            return self._recorder.mark(cursor)

    def _marks(self, stream: SessionId | None = None) -> list[Mark]:
        with self._recorder.reading() as cursor:
            return self._recorder.marks(cursor, stream)

    # proof

    def verify(
        self, sessions: Iterable[SessionId] | None = None, *, new: bool = False
    ) -> Iterator[Verdict]:
        """Recompute the chains of sessions and their ancestors; of all, unless some are named.

        When all of a store proves to be as written, that is remembered.

        Args:
            sessions: which; all streams by default.
            new: only what has come since all was as written the last time.

        Raises:
            NoSuchSession: one of them is not there.
        """
        proof = Proof(
            self._recorder,
            self._mapper,
            self._lineage.birth,
            self.place.home if self.writable else None,
        )
        if sessions is not None:
            yield from proof.of(sessions, self.reached().names)
            return
        having = self.streams()
        yield from proof.of_new(having) if new else proof.of_all(having)
