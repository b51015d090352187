"""What was taken out of the log for good."""

from typing import Literal

from domain.events.base import Event


class EventRedacted(Event):
    """The content of an earlier event of this stream was removed; that it happened stays.

    The chain seals a payload by its digest, so it still proves that the payload was there, and
    what stands in its place is proved by ``stub``.
    """

    kind: Literal["event.redacted"] = "event.redacted"
    content = ("reason",)
    version: int
    """Which event."""
    what: str
    """Its kind."""
    digest: bytes
    """sha256 of the payload that was there."""
    stub: bytes
    """sha256 of what is left of it."""
    reason: str
