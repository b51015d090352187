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


class ExchangesPruned(Event):
    """Accepted exchanges were hidden from the mind's context, never from history."""

    kind: Literal["exchanges.pruned"] = "exchanges.pruned"
    exchanges: tuple[ExchangeId, ...]
