"""Who inherits from whom: the ancestry of a session, a function of first events alone."""

from collections.abc import Callable

from domain.errors import NoSuchSession, StoreIsDamaged
from domain.events import SessionForked
from domain.ids import SessionId
from domain.recorded import Recorded, Segment


class Lineage:
    """The segments that make up a session's history, remembered, since they never change."""

    def __init__(self, first_event: Callable[[SessionId], Recorded | None]) -> None:
        self._first_event = first_event
        self._origins: dict[SessionId, tuple[SessionId, int] | None] = {}
        self._paths: dict[SessionId, tuple[Segment, ...]] = {}

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
            origin = self._origin(stream)
            after = origin[1] if origin else 0
            if upto is None or after < upto:
                segments.append(Segment(stream, after, upto))
            if origin is None:
                break
            parent, at = origin
            stream, upto = parent, at if upto is None else min(at, upto)
        path = tuple(segments)
        self._paths[session] = path
        return path

    def _origin(self, stream: SessionId) -> tuple[SessionId, int] | None:
        if stream not in self._origins:
            first = self._first_event(stream)
            if first is None:
                raise NoSuchSession(stream)
            fork = first.event
            self._origins[stream] = (
                (SessionId(fork.parent), fork.at_version)
                if isinstance(fork, SessionForked)
                else None
            )
        return self._origins[stream]


def clipped(
    path: tuple[Segment, ...], after: int, upto: int | None
) -> list[tuple[SessionId, int, int]]:
    """The parts of a path within ``after < version <= upto``, oldest first."""
    newest = upto if upto is not None else 2**62
    parts = []
    for stream, low, high in path:
        bottom, top = max(low, after), newest if high is None else min(high, newest)
        if bottom < top:
            parts.append((stream, bottom, top))
    parts.reverse()
    return parts
