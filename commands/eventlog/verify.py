"""Proof that a history is what was written: the chain recomputed, event by event."""

from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from commands.eventlog.chain import HASH_LENGTH, link
from commands.eventlog.footing import Footing, each, footings, is_row, tolerant
from commands.eventlog.recorder import HIGHEST, Recorder, Tally
from commands.eventlog.wire import EventMapper, Row, original
from domain.errors import LogosphereError
from domain.events import EventRedacted
from domain.ids import SessionId
from domain.recorded import BEGINNING

PAGE = 512
_ANOTHER = "event {} ({}) is not what was written, or not where"


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


def verify_streams(
    recorder: Recorder, mapper: EventMapper, streams: Iterable[SessionId]
) -> Iterator[Verdict]:
    """Recompute the chain of each stream, its link to the parent and its index included.

    After a broken event the chain goes on from the hash that is stored, so that each damaged
    event is named once, and not all that follow it.

    Streams are asked about together, and no more rows are held than of a page: many short ones
    take as many questions as a few long ones of as many events.
    """
    waiting = iter(streams)
    while some := list(islice(waiting, PAGE)):
        tallies = each(recorder, recorder.tallies, some)
        found = footings(recorder, mapper, [(stream, None) for stream in some])
        chains = [
            _Chain(recorder, mapper, stream, footing)
            for stream, footing in zip(some, found, strict=True)
        ]
        for pack in _packs(list(zip(chains, tallies, strict=True))):
            parts = [(chain.stream, 0, HIGHEST) for chain, tally in pack if tally]
            pages = iter(each(recorder, partial(recorder.rows_of, limit=PAGE), parts))
            for chain, tally in pack:
                yield chain.verdict(tally, next(pages) if tally else None)


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
        grown: dict[str, tuple[SessionId, Row]] = {}
        for row in rows:
            if row[0] not in chains:
                grown.setdefault(row[0], (SessionId(row[0]), row))
        found = footings(recorder, mapper, list(grown.values()))
        for stream, footing in zip(grown, found, strict=True):
            chains[stream] = _Chain(recorder, mapper, SessionId(stream), footing)
        for row in rows:
            chains[row[0]].check(row)
        if len(rows) < PAGE:
            break
        position = rows[-1][2]
    for chain in chains.values():
        yield chain.closed()


_Counted = tuple["_Chain", Tally | None]


def _packs(counted: Iterable[_Counted]) -> Iterator[list[_Counted]]:
    """Streams that have no more rows together than a page, unless one alone has."""
    pack, room = list[_Counted](), PAGE
    for chain, tally in counted:
        size = tally.indexed if tally else 0
        if pack and size > room:
            yield pack
            pack, room = [], PAGE
        pack.append((chain, tally))
        room -= size
    if pack:
        yield pack


class _Chain:
    """The chain of one stream, checked as its rows come along."""

    def __init__(
        self,
        recorder: Recorder,
        mapper: EventMapper,
        stream: SessionId,
        footing: Footing | None,
    ) -> None:
        self._recorder, self._mapper, self.stream = recorder, mapper, stream
        self._footing = footing
        self._findings: list[Finding] = []
        self._unreadable: set[int] = set()
        self._stubs: dict[int, bytes] = {}
        self._redactions: dict[int, EventRedacted] = {}
        self._name: str = stream
        self._count, self._expected, self._previous = 0, 0, b""
        self._position = 0

    def verdict(self, tally: Tally | None, page: list[Row] | None) -> Verdict:
        """Check all rows of the stream, and its index.

        Args:
            tally: how many there are; None where that can't be read.
            page: the first of them; None where they can't be read together.
        """
        counted = 0
        for row in self._rows(tally, page):
            self.check(row)
            is_later = tally is not None and type(row[1]) is int and row[1] > tally.newest
            counted += not is_later  # somebody writes meanwhile
        self._check_index(tally, counted)
        return self.closed()

    def check(self, row: Row) -> None:
        """Check one more row, behind the one before it."""
        _, version, position, kind, state = row
        self._count += 1
        if not is_row(row):
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
        return Verdict(self.stream, self._count, tuple(sorted(self._findings)))

    def _note(self, row: Row) -> None:
        try:
            event = self._mapper.recorded(row).event
        except LogosphereError:
            return  # its link is broken, and named already
        if isinstance(event, EventRedacted):
            self._redactions[event.version] = event

    def _is_stub(self, version: int, digest: bytes) -> bool:
        """Whether a version holds this stub; what can't be read is named elsewhere."""
        rows = tolerant(lambda: self._page(version - 1, 1, version))
        if not rows or not is_row(rows[0]):
            return True
        return sha256(rows[0][4][HASH_LENGTH:]).digest() == digest

    def _find(self, version: int, sentence: str) -> None:
        self._findings.append(Finding(self.stream, version, sentence))

    def _hole(self, first: int, last: int) -> None:
        if first in self._unreadable or last < first:
            return
        which = f"event {first}" if first == last else f"event {first} to {last}"
        self._find(first, f"{which} is missing")

    def _start(self, row: Row) -> tuple[int, bytes]:
        """The version and hash that the first row to be checked has to continue."""
        _, version, _, kind, _ = row
        footing = self._footing
        if footing is None or footing.version != version:  # the first that can be read is another
            (footing,) = footings(self._recorder, self._mapper, [(self.stream, row)])
        if footing is None:
            raise TypeError(row)
        if footing.birth is not None:
            self._name = footing.birth.name
        if kind not in {"session.started", "session.forked"} and footing.hash is not None:
            return version, footing.hash  # the others have been checked another time
        return self._beginning(row, footing)

    def _beginning(self, row: Row, footing: Footing) -> tuple[int, bytes]:
        """The version and hash that a stream's first event has to continue."""
        _, version, _, kind, _ = row
        if kind != "session.forked":
            if version > 1 and 1 not in self._unreadable:
                self._hole(1, version - 1)
                self._find(version, f"event {version} ({kind}) begins a session, and can't")
                return version, b""
            return 1, BEGINNING.hash
        _, birth, fork, stored = footing
        if fork is None:
            try:
                self._mapper.recorded(row)
            except LogosphereError as error:
                self._find(version, error.sentence)
            return version, b""
        if stored != fork.parent_hash:
            parent = birth.parent if birth is not None and birth.parent else fork.parent
            what = "is gone" if stored is None else "is another"
            self._find(version, f"the event it branched off, {parent}@{fork.at_version}, {what}")
        if version != fork.at_version + 1:  # it is the first: nothing can be missing before it
            self._find(version, _ANOTHER.format(version, kind))
        return fork.at_version + 1, fork.parent_hash

    def _check_index(self, tally: Tally | None, count: int) -> None:
        """The index that looks events up by kind must know just as many."""
        if tally is None or tally.indexed != count + len(self._unreadable):
            known = f"knows {tally.indexed} of {count} events" if tally else "can't be read"
            self._find(0, f"the index by kind {known}: export what is whole, or use a backup")

    def _rows(self, tally: Tally | None, page: list[Row] | None) -> Iterator[Row]:
        """All rows that can be read; a page that can't be is read row by row."""
        newest = tally.newest if tally else tolerant(self._newest)
        if newest is None:
            self._find(0, "its events can't even be counted")
            newest = 0
        after, rows, is_full = 0, page, False
        while after < newest or is_full:  # what says that something was redacted may have come
            if rows is None:
                rows = tolerant(lambda: self._page(after, PAGE))  # noqa: B023 — called at once
            is_full = rows is not None and len(rows) == PAGE
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
            rows = None

    def _newest(self) -> int:
        with self._recorder.reading() as cursor:
            return self._recorder.newest_version(cursor, self.stream)

    def _one_by_one(self, first: int, last: int) -> Iterator[Row]:
        for version in range(first, last + 1):
            rows = tolerant(lambda: self._page(version - 1, 1, version))  # noqa: B023 — as above
            if rows is None:
                self._unreadable.add(version)
                self._find(version, f"event {version} can't be read from the file")
            else:
                yield from rows

    def _page(self, after: int, limit: int, upto: int = HIGHEST) -> list[Row]:
        with self._recorder.reading() as cursor:
            return self._recorder.rows(cursor, self.stream, after, upto, limit)
