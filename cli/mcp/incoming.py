"""Messages on stdin, read so that nobody has to wait for the next one in order to end."""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError

LOGGER = logging.getLogger(__name__)

LONGEST = 4 << 20
"""Bytes of one message; whoever sends more is not heard any further."""

_CHUNK = 1 << 16
_WAITING = 64
"""Messages that wait; until one is taken, no further ones are read."""


class Incoming:
    """The lines that come from a descriptor, until it is closed on the other side.

    The thread that waits for them can't be interrupted, only left behind; so it is none that the
    end of the process would wait for.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines = asyncio.Queue[str | None](_WAITING)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        """One line after the other."""
        while (line := await self._lines.get()) is not None:
            yield line

    def _read(self) -> None:
        begun = b""
        try:
            while len(begun) <= LONGEST and (chunk := os.read(self._descriptor, _CHUNK)):
                *whole, begun = (begun + chunk).split(b"\n")
                for line in whole:
                    self._put(line.decode("utf-8", "replace"))
            if len(begun) > LONGEST:
                LOGGER.error("A message is longer than %s bytes: the connection ends.", LONGEST)
            elif begun:
                self._put(begun.decode("utf-8", "replace"))
            self._put(None)
        except (RuntimeError, CancelledError):  # nobody listens any more
            return

    def _put(self, line: str | None) -> None:
        putting = self._lines.put(line)
        try:
            asyncio.run_coroutine_threadsafe(putting, self._loop).result()
        finally:
            putting.close()


def taken_stdin() -> int:
    """A descriptor of stdin for us alone; whoever else reads stdin from now on finds it empty."""
    mine = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return mine
