"""Proof that a history is what was written: the chain recomputed, event by event."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from commands.eventlog.chain import HASH_LENGTH, link
from commands.eventlog.lineage import Birth, born
from commands.eventlog.recorder import Cursor, Recorder
from commands.eventlog.wire import EventMapper, Row, original
from domain.errors import LogosphereError
from domain.events import EventRedacted, SessionForked
from domain.ids import SessionId
from domain.recorded import BEGINNING
from domain.server_errors import StoreIsUnreachable

PAGE = 512
_HIGHEST = 2**62
_ANOTHER = "event {} ({}) is not what was written, or not where"
T = TypeVar("T")


class Finding(NamedTuple):
    """Something in a stream that is not as it was written."""

    session: SessionId
    version: int
    """Which event; 0 where it is about the stream as a whole."""
    sentence: str


class Verdict(NamedTuple):
    """How many events of a stream were checked, and what is wrong with them."""

    session: SessionId
    events: int
    findings: tuple[Finding, ...]


def verify_stream(recorder: Recorder, mapper: EventMapper, stream: SessionId) -> Verdict:
    """Recompute the chain of one stream, its link to the parent and its index included.

    After a broken event the chain goes on from the hash that is stored, so that each damaged
    event is named once, and not all that follow it.
    """
    return _Chain(recorder, mapper, stream).verdict()


def verify_since(
    recorder: Recorder, mapper: EventMapper, position: int, hash_: bytes
) -> Iterator[Verdict]:
    """Recompute the chains behind a position of the store, however long they were before it.

    Args:
        recorder: where the rows are.
        mapper: reads them.
        position: up to here everything has been proved before.
        hash_: the chain hash of the event there, then.

    Yields:
        A verdict for each stream that has grown, and one for the store's name ``""`` where the
        event at ``position`` is no longer the one it was.
    """
    with recorder.reading() as cursor:
        known = recorder.rows_by_position(cursor, position - 1, 1) if position else []
    if position and (not known or known[0][2] != position or known[0][4][:HASH_LENGTH] != hash_):
        sentence = f"the event at position {position} is not the one that was verified"
        yield Verdict(SessionId(""), 0, (Finding(SessionId(""), 0, sentence),))
        return
    chains: dict[str, _Chain] = {}
    while True:
        with recorder.reading() as cursor:
            rows = recorder.rows_by_position(cursor, position, PAGE)
        for row in rows:
            if row[0] not in chains:
                chains[row[0]] = _Chain(recorder, mapper, SessionId(row[0]))
            chains[row[0]].check(row)
        if len(rows) < PAGE:
            break
        position = rows[-1][2]
    for chain in chains.values():
        yield chain.closed()


class _Chain:
    """The chain of one stream, checked as its rows come along."""

    def __init__(self, recorder: Recorder, mapper: EventMapper, stream: SessionId) -> None:
        self._recorder, self._mapper, self._stream = recorder, mapper, stream
        self._findings: list[Finding] = []
        self._unreadable: set[int] = set()
        self._stubs: dict[int, bytes] = {}
        self._redactions: dict[int, EventRedacted] = {}
        self._name: str = stream
        self._count, self._expected, self._previous = 0, 0, b""
        self._position = 0

    def verdict(self) -> Verdict:
        """Check all rows of the stream, and its index."""
        for row in self._rows():
            self.check(row)
        self._check_index(self._count)
        return self.closed()

    def check(self, row: Row) -> None:
        """Check one more row, behind the one before it."""
        _, version, position, kind, state = row
        self._count += 1
        if not _is_row(row):
            which = self._expected or 1
            self._find(which, f"event {which} is not even a row of events")
            self._previous, self._expected = b"", self._expected + 1
            return
        if self._count == 1:
            self._expected, self._previous = self._start(row)
        if position <= self._position:
            order = "in the order of the store"
            self._find(version, f"event {version} stands before what it follows {order}")
        self._position = position
        if version != self._expected:
            self._hole(self._expected, version - 1)
            self._previous = b""  # what it chained on is gone
        sealed, payload = state[:HASH_LENGTH], state[HASH_LENGTH:]
        digest = sha256(payload).digest()
        if self._previous and link(self._previous, version, self._name, kind, digest) != sealed:
            was = original(payload)
            if was and link(self._previous, version, self._name, kind, was) == sealed:
                self._stubs[version] = digest
            else:
                self._find(version, _ANOTHER.format(version, kind))
        if kind == "event.redacted":
            self._note(row)
        self._previous, self._expected = sealed, version + 1

    def closed(self) -> Verdict:
        """The verdict, once no more rows come."""
        for version, stub in self._stubs.items():
            said = self._redactions.get(version)
            if said is None or said.stub != stub:
                self._find(version, f"event {version} was emptied, and no redaction says so")
        for version, said in self._redactions.items():
            if version not in self._stubs and not self._is_stub(version, said.stub):
                self._find(version, f"event {version} was redacted, and holds something again")
        return Verdict(self._stream, self._count, tuple(sorted(self._findings)))

    def _note(self, row: Row) -> None:
        try:
            event = self._mapper.recorded(row).event
        except LogosphereError:
            return  # its link is broken, and named already
        if isinstance(event, EventRedacted):
            self._redactions[event.version] = event

    def _is_stub(self, version: int, digest: bytes) -> bool:
        """Whether a version holds this stub; what can't be read is named elsewhere."""
        rows = _tolerant(lambda: self._page(version - 1, 1, version))
        if not rows or not _is_row(rows[0]):
            return True
        return sha256(rows[0][4][HASH_LENGTH:]).digest() == digest

    def _find(self, version: int, sentence: str) -> None:
        self._findings.append(Finding(self._stream, version, sentence))

    def _hole(self, first: int, last: int) -> None:
        if first in self._unreadable or last < first:
            return
        which = f"event {first}" if first == last else f"event {first} to {last}"
        self._find(first, f"{which} is missing")

    def _start(self, row: Row) -> tuple[int, bytes]:
        """The version and hash that the first row to be checked has to continue."""
        _, version, _, kind, _ = row
        birth = _tolerant(lambda: _birth(self._recorder, self._mapper, self._stream))
        if birth is not None:
            self._name = birth.name
        if kind not in {"session.started", "session.forked"}:
            before = _tolerant(lambda: self._page(version - 2, 1, version - 1))
            if before and _is_row(before[0]):  # the others have been checked another time
                return version, before[0][4][:HASH_LENGTH]
        return self._beginning(row, birth)

    def _beginning(self, row: Row, birth: Birth | None) -> tuple[int, bytes]:
        """The version and hash that a stream's first event has to continue."""
        _, version, _, kind, _ = row
        if kind != "session.forked":
            if version > 1 and 1 not in self._unreadable:
                self._hole(1, version - 1)
                self._find(version, f"event {version} ({kind}) begins a session, and can't")
                return version, b""
            return 1, BEGINNING.hash
        try:
            fork = self._mapper.recorded(row).event
        except LogosphereError as error:
            self._find(version, error.sentence)
            return version, b""
        if not isinstance(fork, SessionForked):
            raise TypeError(kind)
        parent = birth.parent if birth is not None and birth.parent else SessionId(fork.parent)
        stored = stored_hash(self._recorder, self._mapper, parent, fork.at_version)
        if stored != fork.parent_hash:
            what = "is gone" if stored is None else "is another"
            self._find(version, f"the event it branched off, {parent}@{fork.at_version}, {what}")
        if version != fork.at_version + 1:  # it is the first: nothing can be missing before it
            self._find(version, _ANOTHER.format(version, kind))
        return fork.at_version + 1, fork.parent_hash

    def _check_index(self, count: int) -> None:
        """The index that looks events up by kind must know just as many."""
        known = _tolerant(lambda: self._asked(self._recorder.indexed_by_kind))
        if known != count + len(self._unreadable):
            which = "can't be read" if known is None else f"knows {known} of {count} events"
            self._find(0, f"the index by kind {which}: export what is whole, or use a backup")

    def _rows(self) -> Iterator[Row]:
        """All rows that can be read; a page that can't be is read row by row."""
        newest = _tolerant(lambda: self._asked(self._recorder.newest_version))
        if newest is None:
            self._find(0, "its events can't even be counted")
            newest = 0
        after = 0
        while after < newest:
            rows = _tolerant(lambda: self._page(after, PAGE))  # noqa: B023 — called at once
            if rows:
                yield from rows
                versions = [row[1] for row in rows if type(row[1]) is int]
                after = max(versions, default=after + PAGE)
            elif rows is None:
                last = min(after + PAGE, newest)
                yield from self._one_by_one(after + 1, last)
                after = last
            else:
                self._hole(after + 1, newest)
                return

    def _one_by_one(self, first: int, last: int) -> Iterator[Row]:
        for version in range(first, last + 1):
            rows = _tolerant(lambda: self._page(version - 1, 1, version))  # noqa: B023
            if rows is None:
                self._unreadable.add(version)
                self._find(version, f"event {version} can't be read from the file")
            else:
                yield from rows

    def _page(self, after: int, limit: int, upto: int = _HIGHEST) -> list[Row]:
        with self._recorder.reading() as cursor:
            return self._recorder.rows(cursor, self._stream, after, upto, limit)

    def _asked(self, question: Callable[[Cursor, str], int]) -> int:
        with self._recorder.reading() as cursor:
            return question(cursor, self._stream)


def stored_hash(
    recorder: Recorder, mapper: EventMapper, session: SessionId, version: int
) -> bytes | None:
    """The chain hash stored at a version that the session holds or inherits."""
    stream, passed = session, set[SessionId]()
    while stream not in passed:
        passed.add(stream)
        try:
            with recorder.reading() as cursor:
                rows = recorder.rows(cursor, stream, version - 1, version, 1)
            if rows:
                return rows[0][4][:HASH_LENGTH] if _is_row(rows[0]) else None
            birth = _birth(recorder, mapper, stream)
        except StoreIsUnreachable:  # which says nothing about what was written
            raise
        except LogosphereError:
            return None
        if birth is None or birth.parent is None or version > birth.at:
            return None
        stream = birth.parent
    return None


def _birth(recorder: Recorder, mapper: EventMapper, stream: str) -> Birth | None:
    with recorder.reading() as cursor:
        found = recorder.birth(cursor, stream)
    return None if found is None else born(mapper, *found)


def _is_row(row: tuple[Any, ...]) -> bool:
    """Whether the columns of a row are of the types that we wrote."""
    return tuple(map(type, row)) == (str, int, int, str, bytes)


def _tolerant(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except StoreIsUnreachable:  # as above
        raise
    except LogosphereError:
        return None
