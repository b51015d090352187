"""How long work that has begun waits for a server that went away, or for its successor."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PATIENCE = 30.0
"""Seconds; then whoever asked is told, and has to ask again."""

_SHORT = 1.0
"""The same for whoever asks again by himself, and must hear meanwhile that he is to stop."""

_patience = ContextVar("patience", default=PATIENCE)
_end: ContextVar[threading.Event | None] = ContextVar("end", default=None)


def patience() -> float:
    """Seconds that this thread waits just now."""
    return _patience.get()


def is_given_up() -> bool:
    """Whether nobody wants what this thread waits for any more."""
    end = _end.get()
    return end is not None and end.is_set()


@contextmanager
def until(end: threading.Event) -> Iterator[None]:
    """Wait for nothing within this block once that is set."""
    before = _end.set(end)
    try:
        yield
    finally:
        _end.reset(before)


@contextmanager
def impatient() -> Iterator[None]:
    """Wait only for a moment within this block."""
    before = _patience.set(_SHORT)
    try:
        yield
    finally:
        _patience.reset(before)
