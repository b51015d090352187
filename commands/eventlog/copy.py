"""A store copied to another place: the same rows at the same positions, proved."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType
from typing import NamedTuple, Self

from commands.eventlog.backends import LOG_FILE, may_write, recorder_of
from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.log import EventLog
from commands.eventlog.place import Place, prepared
from commands.eventlog.recorder import Cursor, Recorder
from commands.eventlog.sqlite import copying as files
from commands.eventlog.sqlite.recorder import SqliteRecorder
from commands.eventlog.verify import verify_since, verify_streams
from commands.eventlog.wire import EventMapper, Row
from domain.errors import Broken, Refused, StoreIsDamaged
from domain.events import EventRedacted
from domain.ids import SessionId
from domain.server_errors import AnotherHistory

ROWS = 2_000
"""Rows of one transaction, at most."""

_FIRST = 8
"""Rows that are read at first: then it is known how long they are."""

_PAGE = 500
"""Rows that are read at once, at most."""

_BYTES = 8_000_000
"""About so many of one transaction, where rows are long."""

_NEWEST = 2**62

Progress = Callable[[int, int], None]
"""Told how many events are done, and of how many."""

Target = AbstractContextManager[tuple[Recorder, bool, Callable[[], None]]]


class Standing(NamedTuple):
    """How far a stream has come at a position of the store."""

    first: int
    """The version it begins with."""
    version: int
    position: int
    hash: bytes


class Copied(NamedTuple):
    """What a copy has brought, and what is there now."""

    new: int
    """Events that were not there before."""
    events: int
    streams: int
    sessions: int
    redacted: int
    """Events that were there and lost their content, as they had in the original."""
    position: int
    proved: int
    """Events whose chain was recomputed."""


class StoreCopy:
    """A copy on its way; use it within a ``with`` block, first :meth:`fill`, then :meth:`prove`.

    Everything is copied as of one moment, whatever is written meanwhile. A copy that was broken
    off goes on behind the newest position that arrived; until it is whole, nothing opens its
    place as a store. A place that holds an earlier state of the same store gets what is new.
    """

    def __init__(self, source: Place, target: Place, *, rows: int = ROWS) -> None:
        """Look at both places when the block is entered.

        Args:
            source: a store; nothing is written there.
            target: a place without a store, with an unfinished copy, or with an earlier state.
            rows: so many in one transaction, at most.
        """
        self.source, self.target, self._rows = source, target, rows
        self._mapper = EventMapper()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Open both.

        Raises:
            Refused: they are the same, or the target can't be copied to.
            AnotherHistory: something else happened there.
            NoStore, NotAStore, StoreIsUnreachable, StoreIsReadOnly: one can't be opened.
        """
        if _key(self.source) == _key(self.target):
            raise Refused(f"{str(self.source)!r} can't be copied to itself.")
        with self._stack as stack:
            self._original = stack.enter_context(ExitStack())
            self._from = self._original.enter_context(_source(self.source))
            # in one reading, or an event and the word of its redaction would not be of one moment
            self._cursor = self._original.enter_context(self._from.unmoving(""))
            last = self._from.last(self._cursor)
            self.position = last[2] if last else 0
            self._goal = dict(_standings(self._from, self._cursor, self.position))
            self._to, self._existed, self._finish = stack.enter_context(_target(self.target))
            self._begun = self._compared()
            self._new = self._redacted = 0
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close both; what the original says when it can't be read is said in our words."""
        self._stack.__exit__(kind, error, trace)

    def fill(self, told: Progress = lambda _done, _whole: None) -> None:
        """Bring what is not there yet.

        Raises:
            Broken: the original is not as it was written, and the target is a whole store.
            AnotherHistory: somebody else writes there.
            StoreIsFull, StoreIsBusy, StoreIsUnreachable: the same copy goes on from here later.
        """
        if self._existed:
            self._spare()
        whole = _count(self._goal.values()) - _count(self._begun.values())
        with self._to.reading() as cursor:
            aliases = dict.fromkeys(alias[0] for alias in self._to.aliases(cursor))
        missing = {
            alias[0]: alias for alias in self._from.aliases(self._cursor) if alias[0] not in aliases
        }
        after = self._arrived
        for rows in self._batches(after):
            stubs = self._stubs(rows)
            with self._to.writing("") as cursor:
                last = self._to.last(cursor)
                if (last[2] if last else 0) != after:
                    raise self._another("somebody else writes there")
                # before the first row of a stream, or it would be read under another name
                named = [missing.pop(s) for s in {row[0]: 0 for row in rows} if s in missing]
                self._to.insert_aliases(cursor, named)
                self._to.insert_at(cursor, rows)
                self._redacted += self._redact(cursor, stubs)
            after = rows[-1][2]
            self._new += len(rows)
            told(self._new, whole)

    def prove(self, told: Progress = lambda _done, _whole: None) -> Copied:
        """Recompute the chains of what came, compare all heads, and let it be a store.

        Raises:
            Broken: something is not as it was written.
        """
        self._original.close()  # nobody waits for us there any more
        events = _count(self._goal.values())
        proved, whole = 0, self._new if self._existed else events
        if self._existed:
            verdicts = verify_since(self._to, self._mapper, self._arrived, self._arrived_hash)
        else:
            verdicts = verify_streams(self._to, self._mapper, map(SessionId, self._goal))
        for verdict in verdicts:
            for finding in verdict.findings:
                raise self._not_whole(f"{finding.session or 'the store'}: {finding.sentence}")
            proved += verdict.events
            told(proved, whole)
        with self._to.reading() as cursor:
            there = dict(_standings(self._to, cursor))
            if there != self._goal:
                raise self._not_whole(_difference(there, self._goal))
        self._finish()
        if self._redacted:
            with EventLog(self.target) as log:
                log.forget()
        sessions = sum(":" not in stream for stream in self._goal)
        return Copied(
            self._new, events, len(self._goal), sessions, self._redacted, self.position, proved
        )

    # what is there

    def _compared(self) -> dict[str, Standing]:
        """What has arrived before, once it is known to be of the same history."""
        with self._to.reading() as cursor:
            there = dict(_standings(self._to, cursor))
            aliases = self._to.aliases(cursor)
        newest = max(there.values(), key=lambda one: one.position, default=None)
        self._arrived = newest.position if newest else 0
        self._arrived_hash = newest.hash if newest else b""
        if self._arrived > self.position:
            raise self._another(f"it has come to position {self._arrived}, of {self.position}")
        if there:
            then = dict(_standings(self._from, self._cursor, self._arrived))
            if then != there:
                raise self._another(_difference(there, then))
        if set(aliases) - set(self._from.aliases(self._cursor)):
            raise self._another("sessions are called otherwise there")
        return there

    def _spare(self) -> None:
        """See that nothing damaged is brought to a store that is whole, and never could undo it."""
        for verdict in verify_since(self._from, self._mapper, self._arrived, self._arrived_hash):
            for finding in verdict.findings:
                raise Broken(
                    f"{str(self.source)!r} is not as it was written ({finding.session or 'store'}:"
                    f" {finding.sentence}): nothing was copied; mind verify says what is whole."
                )

    def _another(self, why: str) -> AnotherHistory:
        return AnotherHistory(str(self.source), str(self.target), why)

    def _not_whole(self, why: str) -> Broken:
        return Broken(
            f"The copy in {str(self.target)!r} is not as it was written ({why}): copy to another"
            " place, and check the original with mind verify."
        )

    # rows

    def _batches(self, after: int) -> Iterator[list[Row]]:
        """What is to come, in pieces of a transaction each."""
        batch: list[Row] = []
        size, limit = 0, _FIRST
        while after < self.position:
            rows = self._from.rows_by_position(
                self._cursor, after, min(limit, self._rows - len(batch))
            )
            rows = [row for row in rows if row[2] <= self.position]
            if not rows:
                break
            after = rows[-1][2]
            batch += rows
            read = sum(len(row[4]) for row in rows)
            size += read
            limit = max(1, min(_PAGE, limit * 2, len(rows) * _BYTES // (read + 1)))
            if size >= _BYTES or len(batch) >= self._rows:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _stubs(self, rows: Sequence[Row]) -> dict[str, list[Row]]:
        """What stands now where something was redacted before it was copied."""
        redacted: dict[str, list[int]] = {}
        for row in rows:
            if row[3] == "event.redacted":
                event = self._mapper.recorded(row).event
                if not isinstance(event, EventRedacted):
                    raise TypeError(row[3])
                redacted.setdefault(row[0], []).append(event.version)
        return {
            stream: self._from.rows_at(self._cursor, stream, versions)
            for stream, versions in redacted.items()
        }

    def _redact(self, cursor: Cursor, stubs: dict[str, list[Row]]) -> int:
        changed: list[tuple[int, bytes]] = []
        for stream, rows in stubs.items():
            here = self._to.rows_at(cursor, stream, [row[1] for row in rows])
            states = {row[1]: row[4] for row in rows}
            changed += [(row[2], states[row[1]]) for row in here if row[4] != states[row[1]]]
        if changed:
            self._to.replace_within(cursor, changed)
        return len(changed)


def _key(place: Place) -> str:
    return str(place) if place.url else str(place.home.resolve())


@contextmanager
def _source(place: Place) -> Iterator[Recorder]:
    """The rows of a store, or of one cell of it, which is only read."""
    opened = recorder_of(prepared(place), writable=may_write(place))
    try:
        if place.url is None:
            yield opened
            return
        from commands.eventlog.postgres.copying import source  # noqa: PLC0415 — brings psycopg

        yield source(opened)
    finally:
        opened.close()


def _target(place: Place) -> Target:
    if place.url is None:
        return files.target(place.home / LOG_FILE)
    from commands.eventlog.postgres.copying import target  # noqa: PLC0415 — brings psycopg

    return target(place.address)


def _standings(
    recorder: Recorder, cursor: Cursor, upto: int = _NEWEST
) -> Iterator[tuple[str, Standing]]:
    """How far each stream had come at a position of the store, in order of their beginnings."""
    if not isinstance(recorder, SqliteRecorder):
        from commands.eventlog.postgres.copying import standings  # noqa: PLC0415 — brings psycopg

        for stream, first_version, version, position, hash_ in standings(recorder, cursor, upto):
            yield stream, Standing(first_version, version, position, hash_)
        return
    for stream in recorder.streams(cursor):
        found = recorder.birth(cursor, stream)
        if found is None or found[0][2] > upto:
            continue
        first = low = found[0]
        high = recorder.rows(cursor, stream, 0, _NEWEST, 1, newest_first=True)[0]
        if high[2] <= upto:
            low = high
        while high[1] - low[1] > 1:  # versions follow each other in the order of positions
            middle = recorder.rows_at(cursor, stream, [(low[1] + high[1]) // 2])
            if not middle:
                why = f"Events of session {stream!r} are missing: check the store with mind verify."
                raise StoreIsDamaged(why)
            low, high = (middle[0], high) if middle[0][2] <= upto else (low, middle[0])
        yield stream, Standing(first[1], low[1], low[2], low[4][:HASH_LENGTH])


def _count(standings: Iterable[Standing]) -> int:
    return sum(one.version - one.first + 1 for one in standings)


def _difference(there: Mapping[str, Standing], wanted: Mapping[str, Standing]) -> str:
    """Where two stores part, in a few words."""
    for stream in {**there, **wanted}:
        one, other = there.get(stream), wanted.get(stream)
        if one is None:
            return f"{stream} is missing there"
        if other is None:
            return f"{stream} is there alone"
        if one != other:
            return f"{stream} went another way there"
    return "nothing"
