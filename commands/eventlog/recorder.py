"""The rows of a log, wherever they are: what a store has to be able to do."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from eventsourcing.persistence import StoredEvent

from commands.eventlog.wire import Row
from domain.log import Log
from domain.reach import Away
from domain.recorded import Look, Recorded

Birth = tuple[Row, str, str | None]
"""A stream's first row, the name it was born with, and what its parent is called here: None where
that is what it was called then."""

Part = tuple[str, int, int]
"""A stream, and ``after < version <= upto``."""


class Tally(NamedTuple):
    """How many rows there are of a stream."""

    newest: int
    """The highest version; 0 without one."""
    indexed: int
    """How many the index by kind knows, where the backend lets us ask it; else how many."""


Told = Callable[[str | None], object]
"""Hears in a sentence that the store is away, and None once it is back."""

HIGHEST = 2**62
"""Above all versions."""

Cursor = Any
"""What one recorder's contexts give and its methods take; nobody else looks into it."""


class Mark(NamedTuple):
    """Which redactions a part of the store has seen: what was kept under another mark is old."""

    cell: str
    """The part; empty where there is but one."""
    redactions: bytes
    """As :meth:`Recorder.mark` says of it."""


def unheard(_sentence: str | None) -> None:
    """Nobody asks whether the store is away."""


class Recorder(Protocol):
    """A table of events that only grows, in an order that is the order of commits.

    Whoever has read the event at a position has seen every event at a lower one. A stream's
    versions follow each other from its beginning; a fork begins anywhere, once, and nothing of
    it is below. What was acknowledged is durable. Every method raises the errors of
    :mod:`domain.errors`, never the backend's.
    """

    where: str
    """What it is called in sentences."""

    def reading(self) -> AbstractContextManager[Cursor]:
        """A cursor that sees what is committed by the time of each question."""
        ...

    def unmoving(self, stream: str) -> AbstractContextManager[Cursor]:
        """As :meth:`reading`, and all of a stream's family is as of one moment."""
        ...

    def writing(self, stream: str, beside: str | None = None) -> AbstractContextManager[Cursor]:
        """Hold the right to write: what is inserted is durable at the end, or not there at all.

        Args:
            stream: which stream, or one of a family of streams, is written.
            beside: where the stream is new, and descends from another: that one.

        Raises:
            LostRace: a row is there already.
            StoreIsBusy, StoreIsFull, StoreIsReadOnly: nothing was written.
        """
        ...

    # writing

    def insert_events(
        self,
        stored_events: Sequence[StoredEvent],
        behind: bytes | None = None,
        mark: bytes | None = None,
    ) -> Sequence[int]:
        """Write rows of one stream durably, all or none; their positions.

        Args:
            stored_events: the rows.
            behind: the chain hash that the row before them must have; None does not ask.
            mark: what the mark of their stream's part must be; None does not ask.

        Raises:
            LostRace: the row before them is another one: also where the store was put back to an
                earlier moment, and went on otherwise, while we were away. Or something has been
                redacted.
            StoreIsBusy, StoreIsFull, StoreIsReadOnly: nothing was written.
            StoreIsUnreachable: nobody knows whether it was.
        """
        ...

    def insert_beginning(
        self, stored_events: Sequence[StoredEvent], beside: str | None = None
    ) -> None:
        """Write the first rows of a stream durably, all or none.

        Args:
            stored_events: the rows.
            beside: what the stream descends from, where it does.

        Raises:
            LostRace: there is a stream of that name.
            StoreIsBusy, StoreIsFull, StoreIsReadOnly: nothing was written.
            StoreIsUnreachable: nobody knows whether it was.
        """
        ...

    def insert_within(self, cursor: Cursor, stored_events: Sequence[StoredEvent]) -> Sequence[int]:
        """The same inside of :meth:`writing`."""
        ...

    def insert_at(self, cursor: Cursor, rows: Sequence[Row]) -> None:
        """Write rows at the positions that they bring along, above all that are there."""
        ...

    def insert_aliases(
        self, cursor: Cursor, aliases: Iterable[tuple[str, str, str | None]]
    ) -> None:
        """Note streams whose name here, or whose parent's, is another than they were born with."""
        ...

    def replace_within(self, cursor: Cursor, rows: Sequence[tuple[int, bytes]]) -> None:
        """Give rows, by position, another state inside of :meth:`writing`: for redactions alone.

        The guard is lifted and put back in the same transaction, so nobody ever sees the table
        without it.
        """
        ...

    def forget(self, *, rewrite: bool) -> bool:
        """Let nothing be left in the store's files of what rows once held; whether that is so."""
        ...

    # reading

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
        ...

    def rows_at(self, cursor: Cursor, stream: str, versions: Sequence[int]) -> list[Row]:
        """The rows of one stream at just these versions."""
        ...

    def rows_by_position(self, cursor: Cursor, after: int, limit: int) -> list[Row]:
        """At most ``limit`` rows of the whole store behind a position."""
        ...

    def last(self, cursor: Cursor) -> Row | None:
        """The newest row of the whole store: nothing will ever appear below it."""
        ...

    def birth(self, cursor: Cursor, stream: str) -> Birth | None:
        """How a stream began; None where it did not."""
        ...

    def births(self, cursor: Cursor, streams: Sequence[str]) -> list[Birth]:
        """As :meth:`birth`, of all of these that are there."""
        ...

    def newest_of(self, cursor: Cursor, looks: Sequence[Look]) -> list[Row | None]:
        """What each look finds, if anything."""
        ...

    def rows_of(self, cursor: Cursor, parts: Sequence[Part], limit: int) -> list[list[Row]]:
        """As :meth:`rows`, of many streams: at most ``limit`` rows of each part."""
        ...

    def tallies(self, cursor: Cursor, streams: Sequence[str]) -> list[Tally]:
        """How many rows there are of each of these streams, as of one moment."""
        ...

    def streams(self, cursor: Cursor, family: str | None = None) -> list[str]:
        """All streams, or those of a family, in order of their beginnings."""
        ...

    def born_as(self, cursor: Cursor, name: str) -> list[str]:
        """The streams that were born with a name, the one that still has it first."""
        ...

    def aliases(self, cursor: Cursor) -> list[tuple[str, str, str | None]]:
        """All streams whose name, or whose parent's, is another here: stream, name, parent."""
        ...

    def redactions(self, cursor: Cursor) -> int:
        """How many events were redacted."""
        ...

    def mark(self, cursor: Cursor) -> bytes:
        """What no other history of redactions has: the hash over all of them; empty without any.

        A store that is put back to a backup has that of the backup again, and another one than
        ever before once something else is redacted.
        """
        ...

    def marks(self, cursor: Cursor, stream: str | None = None) -> list[Mark]:
        """The marks of all parts that answer, or just of the one that a stream is in."""
        ...

    def newest_version(self, cursor: Cursor, stream: str) -> int:
        """The highest version of a stream; 0 if it has none."""
        ...

    def reached(
        self, cursor: Cursor, family: str | None = None
    ) -> tuple[Sequence[str], Sequence[Away]]:
        """The same of what answers, and which parts of the store do not."""
        ...

    def relatives(self, cursor: Cursor, stream: str) -> list[str]:
        """Sessions among which are all that share history with a stream."""
        ...

    def cell_of(self, stream: str) -> str | None:
        """The part of the store that a stream is in; None where its order is the one read here."""
        ...

    def cells(self) -> Sequence[str]:
        """The parts that are looked at, where there are several."""
        ...

    def orders(self) -> Sequence["Recorder"]:
        """The parts of the store that have an order of their own each; itself, where it has one."""
        ...

    def apart(self, streams: Iterable[str]) -> list[list[str]]:
        """Streams in groups, of which each can be written at once."""
        ...

    def follow(self, log: Log, after: int, stop: threading.Event, told: Told) -> Iterator[Recorded]:
        """Events behind a position, then each new one soon after its commit, until ``stop``.

        A store that goes away is waited for, however long that takes.

        Raises:
            NoNews: the store is opened as one that never changes.
        """
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class InOneOrder:
    """What a recorder says of parts that has none."""

    def insert_beginning(
        self: Recorder, stored_events: Sequence[StoredEvent], _beside: str | None = None
    ) -> None:
        """As any other rows: there is but one place for them."""
        self.insert_events(stored_events)

    def reached(
        self: Recorder, cursor: Cursor, family: str | None = None
    ) -> tuple[Sequence[str], Sequence[Away]]:
        """All streams: nothing can be away."""
        return self.streams(cursor, family), ()

    def relatives(self: Recorder, cursor: Cursor, _stream: str) -> list[str]:
        """All sessions."""
        return self.streams(cursor, "session")

    def cell_of(self, _stream: str) -> None:
        """There are none."""

    def cells(self) -> Sequence[str]:
        """There are none."""
        return ()

    def orders(self: Recorder) -> Sequence[Recorder]:
        """Itself."""
        return [self]

    def apart(self, streams: Iterable[str]) -> list[list[str]]:
        """All can be written at once."""
        return [list(streams)]


class OneByOne:
    """How a recorder answers many questions where each costs next to nothing."""

    def births(self: Recorder, cursor: Cursor, streams: Sequence[str]) -> list[Birth]:
        """How these streams began, without those that did not."""
        found = (self.birth(cursor, stream) for stream in streams)
        return [birth for birth in found if birth is not None]

    def newest_of(self: Recorder, cursor: Cursor, looks: Sequence[Look]) -> list[Row | None]:
        """What each look finds."""
        found: list[Row | None] = []
        for (stream, after, upto), kinds in looks:
            high = HIGHEST if upto is None else upto
            rows = self.rows(cursor, stream, after, high, 1, newest_first=True, kinds=kinds)
            found.append(rows[0] if rows else None)
        return found

    def rows_of(
        self: Recorder, cursor: Cursor, parts: Sequence[Part], limit: int
    ) -> list[list[Row]]:
        """The rows of each part."""
        return [self.rows(cursor, stream, after, upto, limit) for stream, after, upto in parts]
