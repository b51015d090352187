"""The log as everybody sees it: what can be asked of one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from domain.ids import SessionId
from domain.reach import Reached
from domain.recorded import Draw, Head, Look, Plain, Recorded, Segment
from domain.session import Session
from domain.streams import Family, Stream

S = TypeVar("S")


class Log(Protocol):
    """An append-only log of sessions. Reads see the whole ancestry of a fork."""

    def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        upto: int | None = None,
        kinds: Iterable[str] | None = None,
        newest_first: bool = False,
        page: int = 512,
    ) -> Iterator[Recorded]:
        """Events ``after < version <= upto``, in pages: never a whole stream in memory."""
        ...

    def newest(
        self, session: SessionId, kinds: Iterable[str] | None, *, upto: int | None = None
    ) -> Recorded | None:
        """The newest event of these kinds (of all, if None) up to a version."""
        ...

    def pick(self, session: SessionId, versions: Iterable[int]) -> list[Recorded]:
        """The events of just these versions, in the order asked for; missing ones are left out."""
        ...

    def feed(self, after: int = 0) -> Iterator[Recorded]:
        """Events of all sessions in the order of the store, from behind a position on."""
        ...

    def plain(self, after: int = 0) -> Iterator[Plain]:
        """As :meth:`feed`, as plain data, in half the time; kinds that are unknown included."""
        ...

    def position(self) -> int:
        """The newest position of the store; 0 while it is empty."""
        ...

    def hash_at(self, position: int) -> bytes | None:
        """The chain hash of the event at a position; None where there is none."""
        ...

    def mark(self) -> bytes:
        """What no other history of redactions has; empty where nothing was redacted."""
        ...

    def head(self, session: SessionId, version: int | None = None) -> Head:
        """The chain's head, now or at a version.

        Raises:
            NoSuchSession: there is no such stream.
            NoSuchMoment: the session does not have that version.
        """
        ...

    def onto(self, session: SessionId, version: int) -> tuple[Head, Recorded]:
        """What a branch of a moment goes on from, in one look: the head there, and its event.

        Raises:
            NoSuchSession, NoSuchMoment: as :meth:`head`.
        """
        ...

    def state(self, session: SessionId, version: int | None = None) -> Session:
        """The state now or as of a version; raises as :meth:`head`."""
        ...

    def stands(self, stream: Stream[S], version: int | None = None) -> S:
        """The state of a stream that is no session; raises as :meth:`head`."""
        ...

    def remembered(self, session: SessionId) -> Session | None:
        """A state that was at the head a moment ago, without any look at the log.

        It may hold what has been redacted since: only an append ``upon`` it tells.
        """
        ...

    def path(self, session: SessionId) -> tuple[Segment, ...]:
        """The ancestry, youngest first; raises NoSuchSession."""
        ...

    def paths(self, sessions: Sequence[SessionId]) -> list[tuple[Segment, ...]]:
        """As :meth:`path`, of many sessions, in as few questions as for a few."""
        ...

    def newest_of(self, looks: Sequence[Look]) -> list[Recorded | None]:
        """What each look finds, if anything, in as few questions as for a few."""
        ...

    def sessions(self) -> list[SessionId]:
        """All sessions, in order of their beginnings."""
        ...

    def streams(self, family: Family | None = None) -> list[SessionId]:
        """All streams, or those of a family, in order of their beginnings."""
        ...

    def reached(self, family: Family | None = None) -> Reached:
        """The same of what can be reached now, for whoever tells, too, what is away.

        All else that asks for all streams raises StoreIsUnreachable while a part of the store is
        away: nobody takes some for all.
        """
        ...

    def relatives(self, session: SessionId) -> list[SessionId]:
        """Sessions among which are all that share history with this one, parents first."""
        ...

    def append(
        self, session: SessionId, after: int, draw: Draw, *, upon: Session | None = None
    ) -> Session:
        """Record events behind version ``after``, all or none, durably; the state behind them.

        Args:
            session: which.
            after: the version of its newest event.
            draw: what to record.
            upon: the :meth:`remembered` state that it was decided on.

        Raises:
            LostRace: the session is no longer at ``after``, or something was redacted since it
                was as it is remembered.
            StoreIsFull, StoreIsBusy, StoreIsReadOnly: nothing was written.
        """
        ...

    def exclusively(self, session: SessionId, decide: Callable[[Session], Draw | None]) -> Session:
        """Let ``decide`` see the newest state and append what it draws while nobody else can.

        Returns:
            The state behind it; the newest state if nothing was drawn.
        """
        ...

    def exists(self, session: SessionId) -> bool:
        """Whether a session of this name has begun."""
        ...

    def begin(
        self,
        session: SessionId,
        onto: Head,
        draw: Draw,
        *,
        first: bool = False,
        provided: Callable[[], object] | None = None,
    ) -> Head:
        """Begin a stream: behind version 0, or by reference behind the head of another.

        ``provided`` is called while nobody else can write; what it raises leaves all as it was.
        Without it, and where it need not be the ``first``, a server is asked once.

        Raises:
            SessionExists: the name is taken.
            StoreExists: it was to be the store's ``first``, and there is one.
        """
        ...
