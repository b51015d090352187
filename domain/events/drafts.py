"""Candidate answers: emitted, seen, accepted."""

from typing import Literal

from domain.events.base import Event, Source
from domain.ids import ExchangeId


class DraftEmitted(Event):
    """The mind offered an answer, or signalled about one (``+1``)."""

    kind: Literal["draft.emitted"] = "draft.emitted"
    content = ("text",)
    exchange: ExchangeId
    index: int
    """1-based, absolute in its exchange."""
    text: str
    iteration: int
    signal: bool = False
    """At most 16 characters on one line: a word about the drafts, not an answer."""
    repeats: int | None = None
    """The earlier draft of this exchange with the very same text."""
    late: bool = False
    """The exchange was closed while the mind was still at work: readable, never acceptable."""
    confidence: float | None = None
    """The mind's own estimate from 0 to 1."""
    working: bool = False
    """The mind says that it is not done."""
    source: Source | None = None
    """Where it was picked from, if it was."""


class DraftSeen(Event):
    """Somebody read drafts; the actor of the event says who."""

    kind: Literal["draft.seen"] = "draft.seen"
    exchange: ExchangeId
    indexes: tuple[int, ...]


class DraftAccepted(Event):
    """One draft became the answer of its exchange."""

    kind: Literal["draft.accepted"] = "draft.accepted"
    exchange: ExchangeId
    index: int
    by: Literal["user", "auto-accept"] = "user"
