"""What the pure parts must not know: the time, chance, and who is sitting at this machine."""

import getpass
import os
import time
from datetime import datetime
from typing import NamedTuple, Protocol

from domain.actors import Actor
from domain.ids import CommandId


class World(Protocol):
    """Time, chance and the present user, passed to whoever acts."""

    @property
    def actor(self) -> Actor:
        """The present user."""
        ...

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        ...

    def local_time(self) -> datetime:
        """The user's local time, with its offset."""
        ...

    def command_id(self) -> CommandId:
        """16 bytes that nobody else draws."""
        ...

    def seed(self) -> int:
        """Where the randomness of a new session starts from; 32 bits."""
        ...


class RealWorld(NamedTuple):
    """The world outside."""

    actor: Actor

    @classmethod
    def of_this_user(cls) -> "RealWorld":
        """Acting for ``MIND_USER``, or whoever is logged in."""
        name = os.environ.get("MIND_USER")
        if not name:
            try:
                name = getpass.getuser()
            except (OSError, KeyError):  # a user id without a name, as in some containers
                name = str(os.getuid())
        return cls(Actor("user", name))

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return time.time_ns() // 1000

    def local_time(self) -> datetime:
        """The user's local time, with its offset."""
        return datetime.now().astimezone()

    def command_id(self) -> CommandId:
        """16 random bytes."""
        return CommandId(os.urandom(16))

    def seed(self) -> int:
        """32 random bits."""
        return int.from_bytes(os.urandom(4), "big")
