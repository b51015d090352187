"""A log as it was at a moment: what was recorded later is not there."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from domain.errors import NoSuchMoment, NoSuchSession
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Head, Recorded
from domain.session import Session


def as_of(log: Log, session: SessionId, version: int) -> Log:
    """The log as it was right after an event of a session: of all others, what came before it.

    Whatever reads it needs to know nothing of moments. It is for reading alone.
    """
    return cast("Log", _AsOf(log, session, version))


class _AsOf:
    def __init__(self, log: Log, session: SessionId, version: int) -> None:
        self._log, self._session, self._version = log, session, version
        self._ends = {session: version}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def _end(self, session: SessionId) -> int:
        """The newest version that a session had then; 0 while there was no such session."""
        if session not in self._ends:
            moment = self._log.newest(self._session, None, upto=self._version)
            position = moment.position if moment else 0
            low, high = 0, self._log.head(session).version
            while low < high:
                middle = (low + high + 1) // 2
                found = self._log.newest(session, None, upto=middle)
                if found is not None and found.position <= position:
                    low = middle
                else:
                    high = middle - 1
            # what it inherits is older than the session itself
            born = low > self._log.path(session)[0].after
            self._ends[session] = low if born else 0
        return self._ends[session]

    def read(
        self, session: SessionId, *, upto: int | None = None, **more: Any
    ) -> Iterator[Recorded]:
        end = self._end(session)
        return self._log.read(session, upto=end if upto is None else min(upto, end), **more)

    def newest(
        self, session: SessionId, kinds: Iterable[str] | None, *, upto: int | None = None
    ) -> Recorded | None:
        end = self._end(session)
        return self._log.newest(session, kinds, upto=end if upto is None else min(upto, end))

    def pick(self, session: SessionId, versions: Iterable[int]) -> list[Recorded]:
        end = self._end(session)
        return self._log.pick(session, [version for version in versions if version <= end])

    def exists(self, session: SessionId) -> bool:
        return self._log.exists(session) and self._end(session) > 0

    def head(self, session: SessionId, version: int | None = None) -> Head:
        return self._log.head(session, self._within(session, version))

    def state(self, session: SessionId, version: int | None = None) -> Session:
        return self._log.state(session, self._within(session, version))

    def _within(self, session: SessionId, version: int | None) -> int:
        end = self._end(session)
        if not end:
            raise NoSuchSession(session)
        if version is not None and version > end:
            raise NoSuchMoment(session, str(version), [str(end)])
        return end if version is None else version
