"""What the user says, and what of it the mind still sees."""

from typing import Literal

from domain.events.base import Event, Source
from domain.ids import ExchangeId


class MessageSent(Event):
    """The user asked something; an exchange is open until a draft is accepted."""

    kind: Literal["message.sent"] = "message.sent"
    content = ("text",)
    exchange: ExchangeId
    text: str
    iteration: int
    """The iteration that sees it first."""
    source: Source | None = None
    """Where the exchange was picked from, if it was."""


class ToolUsed(Event):
    """A mind used a tool while it answered; known of imported dialogues."""

    kind: Literal["tool.used"] = "tool.used"
    content = ("arguments", "result")
    exchange: ExchangeId
    name: str
    arguments: str
    """What the tool was given, as JSON where it had a structure."""
    result: str | None = None
    """What it gave back; None where that is not known."""
    failed: bool = False


class ExchangesPruned(Event):
    """Accepted exchanges were hidden from the mind's context, never from history."""

    kind: Literal["exchanges.pruned"] = "exchanges.pruned"
    exchanges: tuple[ExchangeId, ...]
