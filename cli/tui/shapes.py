"""What the methods of the protocol answer, as far as the screen shows it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Data = Mapping[str, Any]


class Status(NamedTuple):
    """Where a session stands."""

    session: str
    version: int
    iteration: int
    state: str
    """``idle``, ``drafting`` or ``running``."""
    awaiting: str | None
    """The message that has no answer yet."""
    exchange: str | None
    """The exchange of that message."""
    presence: str
    status_text: str
    model: str
    tokens_in: int
    tokens_out: int
    cost_usd: float
    unknown_costs: int

    @classmethod
    def of(cls, data: Data) -> "Status":
        """Read the answer of ``status``."""
        awaiting = data.get("awaiting") or {}
        return cls(
            session=data["session"],
            version=data["version"],
            iteration=data.get("iteration") or 0,
            state=data.get("state") or "idle",
            awaiting=awaiting.get("text"),
            exchange=awaiting.get("exchange"),
            presence=data.get("presence") or "absent",
            status_text=data.get("statusText") or "",
            model=data.get("model") or "",
            tokens_in=data.get("tokensIn") or 0,
            tokens_out=data.get("tokensOut") or 0,
            cost_usd=data.get("costUsd") or 0.0,
            unknown_costs=data.get("unknownCosts") or 0,
        )


class Turn(NamedTuple):
    """A message and the answer that was accepted."""

    exchange: str
    message: str
    answer: str
    index: int | None  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    drafts: int

    @classmethod
    def of(cls, data: Data) -> "Turn":
        """Read an entry of ``history``."""
        drafts = data.get("drafts") or 0
        return cls(
            exchange=data["exchange"],
            message=data["message"],
            answer=data.get("answer") or "",
            index=data.get("index"),
            drafts=drafts if isinstance(drafts, int) else len(drafts),
        )


class Draft(NamedTuple):
    """One draft of an exchange."""

    index: int  # type: ignore[assignment]  # as above
    text: str
    signal: bool
    seen: bool
    age: int
    repeats: int | None
    confidence: float | None
    working: bool
    late: bool

    @classmethod
    def of(cls, data: Data) -> "Draft":
        """Read an entry of ``drafts``."""
        return cls(
            index=data["index"],
            text=data["text"],
            signal=bool(data.get("signal")),
            seen=bool(data.get("seen")),
            age=data.get("age") or 0,
            repeats=data.get("repeats"),
            confidence=data.get("confidence"),
            working=bool(data.get("working")),
            late=bool(data.get("late")),
        )


class Thought(NamedTuple):
    """A thought of the mind's pool."""

    id: int
    text: str
    age: int
    cluster: int | None
    size: int
    """Thoughts in that cluster."""
    origin: str

    @classmethod
    def of(cls, data: Data) -> "Thought":
        """Read an entry of ``thoughts``."""
        return cls(
            id=data["id"],
            text=data["text"],
            age=data.get("age") or 0,
            cluster=data.get("cluster"),
            size=data.get("clusterSize") or 0,
            origin=data.get("origin") or "",
        )


class Happened(NamedTuple):
    """An event in a line."""

    version: int
    at: Any
    actor: str
    kind: str
    summary: str
    iteration: int | None

    @classmethod
    def of(cls, data: Data) -> "Happened":
        """Read an entry of ``timeline``."""
        return cls(
            version=data["version"],
            at=data.get("at"),
            actor=data.get("actor") or "",
            kind=data.get("kind") or "",
            summary=data.get("summary") or "",
            iteration=data.get("iteration"),
        )


class Hit(NamedTuple):
    """A place where something was found."""

    session: str
    version: int
    kind: str
    text: str

    @classmethod
    def of(cls, data: Data) -> "Hit":
        """Read an entry of ``search``."""
        return cls(data["session"], data["version"], data.get("kind") or "", data["text"])


def newest_first(drafts: Sequence[Draft]) -> list[Draft]:
    """Drafts in the order of the screen."""
    return sorted(drafts, key=lambda draft: -draft.index)
