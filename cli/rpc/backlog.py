"""What waits for one who takes it one after the other: so much of it, and no more."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

MESSAGES = 1000
BYTES = 8 << 20

T = TypeVar("T")


class Backlog(Generic[T]):
    """A queue that says when there is room for more, and when it is full."""

    def __init__(self, messages: float = math.inf, size: float = math.inf) -> None:
        """Begin.

        Args:
            messages: how many may wait.
            size: how many bytes.
        """
        self._most, self._most_bytes = messages, size
        self._queue: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._ended = False
        self._wake, self._room = asyncio.Event(), asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._queue)

    @property
    def size(self) -> int:
        """How many bytes wait."""
        return self._bytes

    @property
    def has_room(self) -> bool:
        """Whether at most half of what may wait does."""
        return 2 * len(self._queue) <= self._most and 2 * self._bytes <= self._most_bytes

    def put(self, item: T, size: int = 0) -> bool:
        """Add one, and say so; unless too many wait. Where nothing waits it may be of any size."""
        full = len(self._queue) >= self._most or self._bytes + size > self._most_bytes
        if self._queue and full:
            return False
        self.add(item, size)
        return True

    def add(self, item: T, size: int = 0) -> None:
        """Add one, however many wait."""
        self._queue.append((item, size))
        self._bytes += size
        if not self.has_room:
            self._room.clear()
        self._wake.set()

    def clear(self) -> None:
        """Forget what waits."""
        self._queue.clear()
        self._bytes = 0

    def end(self) -> None:
        """Let what waits be the last; nobody waits for room any more."""
        self._ended = True
        self._room.set()
        self._wake.set()

    async def take(self) -> T | None:
        """The next one, as soon as there is one; None where none comes any more."""
        while not self._queue:
            if self._ended:
                return None
            self._wake.clear()
            await self._wake.wait()
        item, size = self._queue.popleft()
        self._bytes -= size
        if self.has_room:
            self._room.set()
        return item

    async def all(self) -> AsyncIterator[T]:
        """One after the other, to the end."""
        while (item := await self.take()) is not None:
            yield item

    async def drained(self) -> None:
        """Wait until there is room for more; at once where nothing is taken any more."""
        await self._room.wait()
