"""What is looked up in a log, rather than read from one event to the next."""

from collections.abc import Iterable, Sequence

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.lineage import clipped
from commands.eventlog.names import Names
from commands.eventlog.reading import read_rows
from commands.eventlog.wire import EventMapper, Row
from domain.errors import NoSuchMoment
from domain.ids import SessionId
from domain.recorded import Head, Look, Recorded, Segment

PAGE = 512
"""Rows that are read at once, and looks that are asked together."""


class Looks(Names):
    """What can be asked of a log about single events."""

    _mapper: EventMapper

    def pick(self, session: SessionId, versions: Iterable[int]) -> list[Recorded]:
        """The events of just these versions; see :class:`domain.log.Log`."""
        wanted = list(versions)
        found: dict[int, Row] = {}
        with self._recorder.reading() as cursor:
            for stream, low, high in clipped(self._lineage.path(session), 0, None):
                here = [version for version in wanted if low < version <= high]
                for row in self._recorder.rows_at(cursor, stream, here):
                    found[row[1]] = row
        return [self._mapper.recorded(found[version]) for version in wanted if version in found]

    def position(self) -> int:
        """The newest position of the store; 0 while it is empty."""
        with self._recorder.reading() as cursor:
            last = self._recorder.last(cursor)
        return last[2] if last is not None else 0

    def hash_at(self, position: int) -> bytes | None:
        """The chain hash of the event at a position; None where there is none."""
        with self._recorder.reading() as cursor:
            rows = self._recorder.rows_by_position(cursor, position - 1, 1)
        return rows[0][4][:HASH_LENGTH] if rows and rows[0][2] == position else None

    def path(self, session: SessionId) -> tuple[Segment, ...]:
        """The ancestry, youngest first."""
        return self._lineage.path(session)

    def paths(self, sessions: Sequence[SessionId]) -> list[tuple[Segment, ...]]:
        """The ancestry of many sessions."""
        self._lineage.look_up(sessions)
        return [self._lineage.path(session) for session in sessions]

    def newest_of(self, looks: Sequence[Look]) -> list[Recorded | None]:
        """What each look finds, if anything."""
        found: list[Recorded | None] = []
        for first in range(0, len(looks), PAGE):
            with self._recorder.reading() as cursor:
                rows = self._recorder.newest_of(cursor, looks[first : first + PAGE])
            found += [self._mapper.recorded(row) if row is not None else None for row in rows]
        return found

    def head(self, session: SessionId, version: int | None = None) -> Head:
        """The chain's head, now or at a version."""
        row = self._row(session, version)
        return Head(row[1], row[4][:HASH_LENGTH])

    def onto(self, session: SessionId, version: int) -> tuple[Head, Recorded]:
        """The chain's head at a version, and the event there; see :class:`domain.log.Log`."""
        row = self._row(session, version)
        return Head(row[1], row[4][:HASH_LENGTH]), self._mapper.recorded(row)

    def _row(self, session: SessionId, version: int | None) -> Row:
        """The row of a version, or the newest.

        Raises:
            NoSuchMoment: the session does not have it.
        """
        parts = clipped(self._lineage.path(session), 0, version)
        rows = read_rows(self._recorder, session, parts, None, 1, newest_first=True)
        row = next(rows, None)
        if row is None or (version is not None and row[1] != version):
            newest = self._row(session, None)[1] if version else 0
            raise NoSuchMoment(session, str(version), [str(newest)] if newest else [])
        return row
