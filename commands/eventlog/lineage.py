"""Who inherits from whom: the ancestry of a session, a function of first events alone."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from commands.eventlog.recorder import HIGHEST, Recorder
from commands.eventlog.wire import EventMapper, Row
from domain.errors import LogosphereError, NoSuchSession, StoreIsDamaged
from domain.events import SessionForked
from domain.ids import SessionId
from domain.recorded import Draw, Segment

_FORKED = "session.forked"


class Birth(NamedTuple):
    """How a stream began; never changes."""

    name: str
    """What its chain is sealed with: its id, unless an import gave it another one here."""
    parent: SessionId | None
    """None for a session that branched off no other."""
    at: int
    """The version of the parent behind which it began; 0 without one."""


def born(mapper: EventMapper, first: Row, name: str, parent: str | None) -> Birth:
    """How the stream of this first row began.

    Args:
        mapper: reads rows.
        first: the stream's first row.
        name: what it was born as.
        parent: what its parent is called here, where that is another name than it gives.
    """
    if first[3] != _FORKED:
        mapper.recorded(first)  # or say that it can't be read
        return Birth(name, None, 0)
    forked_from, at = mapper.origin(first)
    return Birth(name, SessionId(parent or forked_from), at)


class Lineage:
    """The segments that make up a session's history, remembered, since they never change."""

    def __init__(self, recorder: Recorder, mapper: EventMapper) -> None:
        self._recorder, self._mapper = recorder, mapper
        self._births: dict[SessionId, Birth] = {}
        self._paths: dict[SessionId, tuple[Segment, ...]] = {}

    def birth(self, stream: SessionId) -> Birth:
        """How a stream began.

        Raises:
            NoSuchSession: it is not there.
        """
        known = self._births.get(stream)
        if known is None:
            self._look_up(stream)
            known = self._births[stream]
        return known

    def exists(self, stream: SessionId) -> bool:
        """Whether a stream has begun, as the store says now."""
        with self._recorder.reading() as cursor:
            found = self._recorder.birth(cursor, stream)
        if found is None:
            return False
        with suppress(StoreIsDamaged):  # said by whoever reads it
            self._births[stream] = born(self._mapper, *found)
        return True

    def _look_up(self, stream: SessionId) -> None:
        """Find out how a stream and all that it descends from began, in one reading."""
        looked = stream
        with self._recorder.reading() as cursor:
            while looked not in self._births:
                found = self._recorder.birth(cursor, looked)
                if found is None:
                    if looked == stream:
                        raise NoSuchSession(stream)
                    return  # said by whoever asks for that one
                birth = self._births[looked] = born(self._mapper, *found)
                if birth.parent is None:
                    return
                looked = birth.parent

    def look_up(self, streams: Iterable[SessionId]) -> None:
        """Find out how many streams began, in as few questions as for a few."""
        wanted = {stream for stream in streams if stream not in self._births}
        while wanted:
            with self._recorder.reading() as cursor:
                found = self._recorder.births(cursor, sorted(wanted))
            births = dict[SessionId, Birth]()
            for one in found:
                with suppress(LogosphereError):  # said by whoever asks for that one
                    births[SessionId(one[0][0])] = born(self._mapper, *one)
            self._births |= births
            parents = {birth.parent for birth in births.values() if birth.parent is not None}
            wanted = parents - self._births.keys()

    def path(self, session: SessionId) -> tuple[Segment, ...]:
        """Segments, youngest first; the last one begins at version 1.

        An ancestor that a fork skipped (it forked below the ancestor's own beginning) is not part
        of it. Walks up in a loop, so that a chain of forks may be of any length.

        Raises:
            NoSuchSession: the session, or an ancestor, is not there.
        """
        known = self._paths.get(session)
        if known is not None:
            return known
        segments: list[Segment] = []
        stream, upto, passed = session, None, set[SessionId]()
        while True:
            if stream in passed:
                raise StoreIsDamaged(
                    f"Session {stream!r} is its own ancestor: check the store with mind verify."
                )
            passed.add(stream)
            _, parent, at = self.birth(stream)
            if upto is None or at < upto:
                segments.append(Segment(stream, at, upto))
            if parent is None:
                break
            stream, upto = parent, at if upto is None else min(at, upto)
        path = tuple(segments)
        self._paths[session] = path
        return path


def clipped(
    path: tuple[Segment, ...], after: int, upto: int | None
) -> list[tuple[SessionId, int, int]]:
    """The parts of a path within ``after < version <= upto``, oldest first."""
    newest = upto if upto is not None else HIGHEST
    parts = []
    for stream, low, high in path:
        if high is not None and high <= after:
            break  # all that is older lies below
        bottom, top = max(low, after), newest if high is None else min(high, newest)
        if bottom < top:
            parts.append((stream, bottom, top))
    parts.reverse()
    return parts


def parent_of(draw: Draw) -> str | None:
    """What a stream that begins with these events descends from."""
    first = draw.events[0].event
    return first.parent if isinstance(first, SessionForked) else None
