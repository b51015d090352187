"""Pieces of a text that streams in, sent together where they come faster than anybody reads."""

import threading
from collections.abc import Callable

PAUSE = 0.04
"""Seconds for which pieces are gathered: as often as a screen is drawn anew."""

Later = Callable[[Callable[[], None]], object]
"""Calls something after that pause, from any thread."""


class Pieces:
    """What has streamed in and was not sent yet; may be used from several threads."""

    def __init__(self, send: Callable[[str], object], later: Later) -> None:
        self._send, self._later = send, later
        self._waiting: list[str] = []
        self._lock = threading.Lock()

    def add(self, piece: str) -> None:
        """Send it soon, behind those before."""
        with self._lock:
            self._waiting.append(piece)
            if len(self._waiting) == 1:
                self._later(self.flush)

    def flush(self) -> None:
        """Send what waits now, so that something else can follow."""
        with self._lock:
            text = "".join(self._waiting)
            self._waiting.clear()
            if text:
                self._send(text)
