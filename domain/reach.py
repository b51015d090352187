"""What can be reached of a store whose parts may be away."""

from collections.abc import Sequence
from typing import NamedTuple

from domain.ids import SessionId
from domain.sentences import count


class Away(NamedTuple):
    """A cell that does not answer now, and what is in it."""

    cell: str
    where: str
    sessions: tuple[SessionId, ...]
    """By name, as the directory knows them: also one that was about to begin and never did."""
    why: str
    """In one sentence."""

    @property
    def counted(self) -> str:
        """``3 sessions``."""
        return count(len(self.sessions), "session")


class Reached(NamedTuple):
    """The streams that can be read now, and which parts of the store have others."""

    streams: list[SessionId]
    """In order of their beginnings, cell after cell."""
    away: Sequence[Away] = ()
    """Without any, the streams are all there are."""

    @property
    def names(self) -> list[SessionId]:
        """All that there are, those of the parts that are away included."""
        return [*self.streams, *(name for one in self.away for name in one.sessions)]
