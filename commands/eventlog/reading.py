"""Reading a history page by page, through all the streams that hold a part of it."""

from collections.abc import Iterator, Sequence

from commands.eventlog.recorder import Recorder
from commands.eventlog.wire import Row
from domain.errors import StoreIsDamaged
from domain.ids import SessionId


def read_rows(
    recorder: Recorder,
    session: SessionId,
    parts: list[tuple[SessionId, int, int]],
    kinds: Sequence[str] | None,
    page: int,
    *,
    newest_first: bool,
) -> Iterator[Row]:
    """The rows of parts of streams that follow each other.

    Args:
        recorder: the rows.
        session: whose history it is.
        parts: ``after < version <= upto`` of each stream, oldest first.
        kinds: only these; None means all.
        page: how many are read at once.
        newest_first: backwards.

    Raises:
        StoreIsDamaged: an event is missing, where events of all kinds are read.
    """
    expected = parts[0][1] + 1 if parts and not newest_first else None
    parts = parts[::-1] if newest_first else parts[:]
    while parts:
        rows: list[Row] = []
        with recorder.reading() as cursor:
            while parts and len(rows) < page:
                stream, low, high = parts[0]
                room = page - len(rows)
                found = recorder.rows(
                    cursor, stream, low, high, room, newest_first=newest_first, kinds=kinds or ()
                )
                rows += found
                if len(found) < room:
                    parts.pop(0)
                elif newest_first:
                    parts[0] = (stream, low, found[-1][1] - 1)
                else:
                    parts[0] = (stream, found[-1][1], high)
        if kinds:
            yield from rows
            continue
        for row in rows:
            if expected is not None and row[1] != expected:
                raise StoreIsDamaged(
                    f"Event {expected} of session {session!r} is missing:"
                    " check the store with mind verify."
                )
            yield row
            expected = row[1] + (-1 if newest_first else 1)


def all_rows(recorder: Recorder, after: int, page: int) -> Iterator[Row]:
    """The rows of all streams behind a position, in their order."""
    while True:
        with recorder.reading() as cursor:
            rows = recorder.rows_by_position(cursor, after, page)
        yield from rows
        if len(rows) < page:
            return
        after = rows[-1][2]
