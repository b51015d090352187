"""The user's attention."""

from typing import Literal

from domain.events.base import Event
from domain.protocol.view import Presence


class SignalChanged(Event):
    """The user said how present they are. Stays until the next one; never decays."""

    kind: Literal["signal.changed"] = "signal.changed"
    content = ("status",)
    presence: Presence
    status: str = ""
    time: str
    """The user's local weekday and time: ``Sat 10:30``."""
    iteration: int
    """The iteration that sees it first; a later signal of the same iteration replaces it there."""
