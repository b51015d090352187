"""Proof that a history is what was written: the chain recomputed, event by event."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from commands.eventlog.chain import HASH_LENGTH, link
from commands.eventlog.recorder import EventRecorder
from commands.eventlog.wire import EventMapper, Row
from domain.errors import LogosphereError, StoreIsDamaged
from domain.events import SessionForked
from domain.ids import SessionId
from domain.log import BEGINNING

PAGE = 512
T = TypeVar("T")


class Finding(NamedTuple):
    """Something in a stream that is not as it was written."""

    session: SessionId
    version: int
    sentence: str


class Verdict(NamedTuple):
    """How many events of a stream were checked, and what is wrong with them."""

    session: SessionId
    events: int
    findings: tuple[Finding, ...]


def verify_stream(recorder: EventRecorder, mapper: EventMapper, stream: SessionId) -> Verdict:
    """Recompute the chain of one stream, its link to the parent included.

    After a broken event the chain goes on from the hash that is stored, so that each damaged
    event is named once, and not all that follow it.
    """
    findings: list[Finding] = []
    count, expected, previous = 0, 0, BEGINNING.hash
    for row in _readable_rows(recorder, stream, findings):
        _, version, _, kind, state = row
        count += 1
        if count == 1:
            expected, previous = _beginning(recorder, mapper, row, findings)
        if version != expected:
            missing = f"{expected}" if version - expected == 1 else f"{expected} to {version - 1}"
            if not any(f.version == expected for f in findings):
                findings.append(Finding(stream, expected, f"event {missing} is missing"))
            previous = b""  # what it chained on is gone
        sealed = state[:HASH_LENGTH]
        if previous and link(previous, version, stream, kind, state[HASH_LENGTH:]) != sealed:
            findings.append(
                Finding(
                    stream,
                    version,
                    f"event {version} ({kind}) is not what was written, or not"
                    " where it was written",
                )
            )
        previous, expected = sealed, version + 1
    return Verdict(stream, count, tuple(findings))


def _beginning(
    recorder: EventRecorder, mapper: EventMapper, row: Row, findings: list[Finding]
) -> tuple[int, bytes]:
    """The version and hash that a stream's first event has to continue."""
    stream, version, _, kind, _ = row
    if kind != "session.forked":
        return 1, BEGINNING.hash
    try:
        fork = mapper.recorded(row).event
    except LogosphereError as error:
        findings.append(Finding(SessionId(stream), version, error.sentence))
        return version, b""
    if not isinstance(fork, SessionForked):
        raise TypeError(kind)
    parent = stored_hash(recorder, mapper, SessionId(fork.parent), fork.at_version)
    if parent != fork.parent_hash:
        what = "is gone" if parent is None else "is another"
        findings.append(
            Finding(
                SessionId(stream),
                version,
                f"the event it branched off, {fork.parent}@{fork.at_version}, {what}",
            )
        )
    return fork.at_version + 1, fork.parent_hash


def stored_hash(
    recorder: EventRecorder, mapper: EventMapper, session: SessionId, version: int
) -> bytes | None:
    """The chain hash stored at a version that the session holds or inherits."""
    stream: SessionId = session
    while True:
        with recorder.reading() as cursor:
            rows = recorder.rows(cursor, stream, version - 1, version, 1)
            first = recorder.rows(cursor, stream, 0, 2**62, 1)
        if rows:
            return rows[0][4][:HASH_LENGTH]
        if not first or first[0][3] != "session.forked":
            return None
        try:
            fork = mapper.recorded(first[0]).event
        except LogosphereError:
            return None
        if not isinstance(fork, SessionForked) or version > fork.at_version:
            return None
        stream = SessionId(fork.parent)


def _readable_rows(
    recorder: EventRecorder, stream: SessionId, findings: list[Finding]
) -> Iterator[Row]:
    """All rows that can be read; a page that can't be is read row by row."""
    after, newest = 0, _tolerant(lambda: _newest(recorder, stream)) or 0
    while after < newest:
        start = after
        rows = _tolerant(lambda start=start: _page(recorder, stream, start, PAGE))  # type: ignore[misc]
        if rows is None:
            for version in range(after + 1, min(after + PAGE, newest) + 1):
                one = _tolerant(lambda v=version: _page(recorder, stream, v - 1, 1, v))  # type: ignore[misc]
                if one is None:
                    findings.append(
                        Finding(stream, version, f"event {version} can't be read from the file")
                    )
                else:
                    yield from one
            after = min(after + PAGE, newest)
            continue
        if not rows:
            return
        yield from rows
        after = rows[-1][1]


def _page(
    recorder: EventRecorder, stream: SessionId, after: int, limit: int, upto: int = 2**62
) -> list[Row]:
    with recorder.reading() as cursor:
        return recorder.rows(cursor, stream, after, upto, limit)


def _newest(recorder: EventRecorder, stream: SessionId) -> int:
    with recorder.reading() as cursor:
        cursor.execute(
            "SELECT max(originator_version) FROM stored_events WHERE originator_id=?", (stream,)
        )
        return cursor.fetchone()[0] or 0


def _tolerant(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except StoreIsDamaged:
        return None
