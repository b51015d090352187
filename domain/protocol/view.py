"""What one iteration shows to a mind, before it becomes text.

All ages are iterations since the thing came to be; a view holds no wall-clock time but the
user's own, which is passed in. Every dialect renders the same view.
"""

from typing import Literal, NamedTuple

Presence = Literal["absent", "reviewing", "engaged"]


class Limit(NamedTuple):
    """How much of one kind of thing a mind is shown: at most ``count`` items, ``chars`` in all."""

    chars: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs


class ClusterMark(NamedTuple):
    """The cluster of a thought and how many thoughts of the active pool are in it."""

    id: int
    size: int


class ThoughtSeen(NamedTuple):
    """A thought sampled from the pool."""

    text: str
    age: int
    cluster: ClusterMark | None = None
    recalled: bool = False
    """It had left the pool, and another one of its cluster called it back."""


class TurnSeen(NamedTuple):
    """One accepted turn of the conversation, or the message that awaits its answer."""

    sender: Literal["user", "self"]
    text: str
    age: int


class DraftSeen(NamedTuple):
    """A draft of the open exchange; ``index`` is 1-based and absolute in its exchange."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    text: str
    age: int
    user_seen: bool


class ArtifactSeen(NamedTuple):
    """Something that earlier talk left; it has no age, so that it stays the same in each prompt."""

    id: int
    type: Literal["effort", "fact", "event", "summary"]
    text: str
    status: Literal["open", "resolved"] | None = None
    """Of an effort."""
    outcome: Literal["done", "failed", "abandoned"] | None = None
    """Of a resolved effort."""
    parent: int | None = None
    """The effort that it is a part of."""
    when: str | None = None
    """Of an event, and since when a fact holds."""


class SignalSeen(NamedTuple):
    """The user's presence at some moment; ``time`` is local weekday and time, ``Sat 10:30``."""

    presence: Presence
    status: str
    time: str
    age: int


class HardSignals(NamedTuple):
    """How close the run is to a pause."""

    consecutive: int
    """Iterations without a draft in a row, up to now."""
    threshold: int
    """So many end a run."""


class View(NamedTuple):
    """Everything one iteration shows to a mind, already cut to its limits."""

    name: str
    """The mind's own name (``meta.self``)."""
    iteration: int
    """The iteration that is about to happen (1 for the first)."""
    user_time: str
    """The user's local time, ISO 8601 with offset."""
    thoughts_limit: Limit
    history_limit: Limit
    drafts_limit: Limit
    signals: tuple[SignalSeen, ...] = ()
    """The newest three, newest first."""
    hard_signals: HardSignals | None = None
    thoughts: tuple[ThoughtSeen, ...] = ()
    """The sample, in the order in which it was drawn."""
    memory: tuple[ArtifactSeen, ...] = ()
    """What stands for talk that is not shown, and what was learned from it, oldest first."""
    history: tuple[TurnSeen, ...] = ()
    """Accepted turns, oldest first."""
    awaiting: TurnSeen | None = None
    """The message that awaits its answer; None while idle."""
    drafts: tuple[DraftSeen, ...] = ()
    """The newest drafts of the open exchange, oldest first."""
    drafts_total: int = 0
    """How many drafts the open exchange has, shown or not."""
