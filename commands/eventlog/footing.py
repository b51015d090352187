"""What a chain begins on: looked up for many streams in as few questions as for one."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.lineage import Birth, born
from commands.eventlog.recorder import Cursor, Recorder
from commands.eventlog.wire import EventMapper, Row
from domain.errors import LogosphereError
from domain.events import SessionForked
from domain.ids import SessionId
from domain.recorded import Look, Segment
from domain.rounds import Asking, together
from domain.server_errors import StoreIsUnreachable

T = TypeVar("T")
Q = TypeVar("Q")
A = TypeVar("A")


_Question = Look | SessionId
"""For the newest row of a segment, or for how a stream began."""


class Footing(NamedTuple):
    """What the first row of a stream that is checked has to continue."""

    version: int
    """Of that row."""
    birth: Birth | None
    """None where it can't be read."""
    fork: SessionForked | None
    """The row's event, where the stream branches off with it and it can be read."""
    hash: bytes | None
    """The chain hash of the event before the row, of the stream or of what it branched off; None
    where there is none, or it can't be read."""


def footings(
    recorder: Recorder, mapper: EventMapper, streams: Sequence[tuple[SessionId, Row | None]]
) -> list[Footing | None]:
    """What streams have to continue; what can't be read is left to whoever reads it.

    Args:
        recorder: where the rows are.
        mapper: reads them.
        streams: which, with the first of their rows that is checked; without one, it is the first.

    Returns:
        None for a stream that has no first row.
    """
    asking = [_footing(mapper, stream, row) for stream, row in streams]
    return together(asking, lambda questions: _answers(recorder, questions))


def _footing(
    mapper: EventMapper, stream: SessionId, row: Row | None
) -> Asking[_Question, Any, Footing | None]:
    first, birth = yield from _born(mapper, stream)
    row = row or first
    if row is None or not is_row(row):
        return None
    _, version, _, kind, _ = row
    if kind not in {"session.started", "session.forked"}:  # checked up to here another time
        before = yield from _hash(stream, version - 1)
        return Footing(version, birth, None, before)
    fork = tolerant(lambda: mapper.recorded(row).event) if kind == "session.forked" else None
    if not isinstance(fork, SessionForked):
        return Footing(version, birth, None, None)
    parent = birth.parent if birth is not None and birth.parent else SessionId(fork.parent)
    stored = yield from _inherited(mapper, parent, fork.at_version)
    return Footing(version, birth, fork, stored)


def _inherited(
    mapper: EventMapper, session: SessionId, version: int
) -> Asking[_Question, Any, bytes | None]:
    """The chain hash stored at a version that the session holds or inherits."""
    stream, passed = session, set[SessionId]()
    while stream not in passed:
        passed.add(stream)
        found = yield from _hash(stream, version)
        if found is not None:
            return found
        _, birth = yield from _born(mapper, stream)
        if birth is None or birth.parent is None or version > birth.at:
            return None
        stream = birth.parent
    return None


def _hash(stream: SessionId, version: int) -> Asking[_Question, Any, bytes | None]:
    row = yield Look(Segment(stream, version - 1, version))
    return row[4][:HASH_LENGTH] if row is not None and is_row(row) else None


def _born(
    mapper: EventMapper, stream: SessionId
) -> Asking[_Question, Any, tuple[Row | None, Birth | None]]:
    """A stream's first row, and what it says."""
    found = yield stream
    if found is None:
        return None, None
    return found[0], tolerant(lambda: born(mapper, *found))


def _answers(recorder: Recorder, questions: Sequence[_Question]) -> list[Any]:
    def births(cursor: Cursor, streams: Sequence[SessionId]) -> list[Any]:
        found = {birth[0][0]: birth for birth in recorder.births(cursor, streams)}
        return [found.get(stream) for stream in streams]

    looks = [question for question in questions if isinstance(question, Look)]
    streams = [question for question in questions if not isinstance(question, Look)]
    answers = dict[_Question, Any]()
    answers.update(zip(looks, each(recorder, recorder.newest_of, looks), strict=True))
    answers.update(zip(streams, each(recorder, births, streams), strict=True))
    return [answers[question] for question in questions]


def each(
    recorder: Recorder, ask: Callable[[Cursor, Sequence[Q]], Sequence[A]], questions: Sequence[Q]
) -> list[A | None]:
    """The answers; None for a question about what can't be read, and for no other.

    Raises:
        StoreIsUnreachable: which says nothing about what was written.
    """

    def asked() -> Sequence[A]:
        with recorder.reading() as cursor:
            return ask(cursor, questions)

    found = tolerant(asked) if questions else ()
    if found is not None:
        return list(found)
    if len(questions) == 1:
        return [None]
    half = len(questions) // 2
    return each(recorder, ask, questions[:half]) + each(recorder, ask, questions[half:])


def tolerant(read: Callable[[], T]) -> T | None:
    """What is read; None where it can't be.

    Raises:
        StoreIsUnreachable: as :func:`each`.
    """
    try:
        return read()
    except StoreIsUnreachable:
        raise
    except LogosphereError:
        return None


def is_row(row: tuple[Any, ...]) -> bool:
    """Whether the columns of a row are of the types that we wrote."""
    return tuple(map(type, row)) == (str, int, int, str, bytes)
