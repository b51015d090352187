"""Dividing the work: which shard an event belongs to."""

from hashlib import sha256

from domain.ids import SessionId
from domain.log import Log
from domain.streams import family_of


def number_of(root: str) -> int:
    """A number that stands for the root of a family of forks, the same everywhere and for ever."""
    return int.from_bytes(sha256(root.encode()).digest()[:8], "big")


class Shards:
    """The shards of streams: all branches of a session are in the shard of the first of them."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._numbers: dict[str, int] = {}

    def of(self, stream: SessionId, shards: int) -> int:
        """The shard of a stream, from 0."""
        number = self._numbers.get(stream)
        if number is None:
            number = self._numbers[stream] = number_of(self._root(stream))
        return number % shards

    def _root(self, stream: SessionId) -> str:
        try:
            session = family_of(stream) == "session"
        except ValueError:  # of a newer version
            session = False
        return self._log.path(stream)[-1].stream if session else stream
