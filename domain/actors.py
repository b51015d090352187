"""Who acts: every event names the person, mind, agent or part of the system that caused it."""

from functools import lru_cache
from typing import Literal, NamedTuple, cast, get_args

Who = Literal["user", "mind", "agent", "system"]
_WHO = frozenset(get_args(Who))


class Actor(NamedTuple):
    """One who acts, written ``user:ann`` or ``mind:local``."""

    who: Who
    name: str

    def __str__(self) -> str:
        return f"{self.who}:{self.name}"

    @staticmethod
    @lru_cache(maxsize=1024)
    def parse(text: str) -> "Actor":
        """Read ``user:ann``.

        Raises:
            ValueError: the part before the colon is no known kind of actor.
        """
        who, _, name = text.partition(":")
        if who not in _WHO or not name:
            raise ValueError(f"{text!r} names no actor: write user:NAME, mind:NAME, …")
        return Actor(cast("Who", who), name)


SYSTEM = Actor("system", "logosphere")
