"""Proof that a history is what was written: the chain recomputed, event by event."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from commands.eventlog.chain import HASH_LENGTH, link
from commands.eventlog.recorder import EventRecorder
from commands.eventlog.wire import EventMapper, Row
from domain.errors import LogosphereError
from domain.events import SessionForked
from domain.ids import SessionId
from domain.recorded import BEGINNING

PAGE = 512
_HIGHEST = 2**62  # 4611686018427387904
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


def verify_stream(recorder: EventRecorder, mapper: EventMapper, stream: SessionId) -> Verdict:
    """Recompute the chain of one stream, its link to the parent and its index included.

    After a broken event the chain goes on from the hash that is stored, so that each damaged
    event is named once, and not all that follow it.
    """
    return _Proof(recorder, mapper, stream).verdict()


class _Proof:
    """The proof of one stream as it goes along."""

    def __init__(self, recorder: EventRecorder, mapper: EventMapper, stream: SessionId) -> None:
        self._recorder, self._mapper, self._stream = recorder, mapper, stream
        self._findings: list[Finding] = []
        self._unreadable: set[int] = set()

    def verdict(self) -> Verdict:
        count, expected, previous = 0, 0, b""
        for row in self._rows():
            _, version, _, kind, state = row
            count += 1
            if not _is_row(row):
                self._find(expected or 1, f"event {expected or 1} is not even a row of events")
                previous, expected = b"", expected + 1
                continue
            if count == 1:
                expected, previous = self._beginning(row)
            if version != expected:
                self._hole(expected, version - 1)
                previous = b""  # what it chained on is gone
            sealed = state[:HASH_LENGTH]
            if previous and link(previous, version, row[0], kind, state[HASH_LENGTH:]) != sealed:
                self._find(
                    version,
                    f"event {version} ({kind}) is not what was written, or not where",
                )
            previous, expected = sealed, version + 1
        self._check_index(count)
        return Verdict(self._stream, count, tuple(self._findings))

    def _find(self, version: int, sentence: str) -> None:
        self._findings.append(Finding(self._stream, version, sentence))

    def _hole(self, first: int, last: int) -> None:
        if first in self._unreadable:
            return
        which = f"event {first}" if first == last else f"event {first} to {last}"
        self._find(first, f"{which} is missing")

    def _beginning(self, row: Row) -> tuple[int, bytes]:
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
        parent = stored_hash(self._recorder, self._mapper, SessionId(fork.parent), fork.at_version)
        if parent != fork.parent_hash:
            what = "is gone" if parent is None else "is another"
            origin = f"{fork.parent}@{fork.at_version}"
            self._find(version, f"the event it branched off, {origin}, {what}")
        return fork.at_version + 1, fork.parent_hash

    def _check_index(self, count: int) -> None:
        """The index that looks events up by kind must know just as many."""
        known = _tolerant(lambda: self._scalar(_COUNT_BY_KIND))
        if known != count + len(self._unreadable):
            which = "can't be read" if known is None else f"knows {known} of {count} events"
            self._find(0, f"the index by kind {which}: export what is whole, or use a backup")

    def _rows(self) -> Iterator[Row]:
        """All rows that can be read; a page that can't be is read row by row."""
        newest = _tolerant(lambda: self._scalar(_NEWEST))
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

    def _scalar(self, query: str) -> int:
        with self._recorder.reading() as cursor:
            cursor.execute(query, (self._stream,))
            row = cursor.fetchone()
            return int(row[0]) if row and type(row[0]) is int else 0


_NEWEST = (
    "SELECT originator_version FROM stored_events WHERE originator_id=?"
    " AND originator_version<=4611686018427387904 ORDER BY originator_version DESC LIMIT 1"
)
_COUNT_BY_KIND = (
    "SELECT count(*) FROM stored_events INDEXED BY stored_events_by_kind WHERE originator_id=?"
    " AND topic>=''"
)


def stored_hash(
    recorder: EventRecorder, mapper: EventMapper, session: SessionId, version: int
) -> bytes | None:
    """The chain hash stored at a version that the session holds or inherits."""
    stream, passed = session, set[SessionId]()
    while stream not in passed:
        passed.add(stream)
        try:
            with recorder.reading() as cursor:
                rows = recorder.rows(cursor, stream, version - 1, version, 1)
                first = recorder.rows(cursor, stream, 0, _HIGHEST, 1)
            if rows:
                return rows[0][4][:HASH_LENGTH] if _is_row(rows[0]) else None
            fork = mapper.recorded(first[0]).event if first else None
        except LogosphereError:
            return None
        if not isinstance(fork, SessionForked) or version > fork.at_version:
            return None
        stream = SessionId(fork.parent)
    return None


def _is_row(row: tuple[Any, ...]) -> bool:
    """Whether the columns of a row are of the types that we wrote."""
    return tuple(map(type, row)) == (str, int, int, str, bytes)


def _tolerant(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except LogosphereError:
        return None
