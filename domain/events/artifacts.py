"""What a conversation leaves: efforts, facts and events, and what of it a mind is shown.

An artifact is named by the version of the event that brought it: ``effort 412``. That name is
the same in every branch that sees the event.
"""

from typing import Literal

from domain.events.base import Event, Source
from domain.ids import ExchangeId

Finder = Literal["rules", "model", "user"]
"""Who found it: the rules of this program, a model, or a person."""

Outcome = Literal["done", "failed", "abandoned"]
"""How an effort ended."""

ArtifactType = Literal["effort", "fact", "event", "summary"]


class EffortOpened(Event):
    """Something is to be achieved; the effort stays open until it is resolved."""

    kind: Literal["effort.opened"] = "effort.opened"
    content = ("goal",)
    goal: str
    parent: int | None = None
    """The effort that this one is a part of."""
    exchange: ExchangeId | None = None
    """The exchange it began in."""
    messages: tuple[int, ...] = ()
    """Versions of the messages and drafts that it came from."""
    found_by: Finder = "user"


class EffortResolved(Event):
    """An effort ended, well or not; its exchanges leave the context and this stays."""

    kind: Literal["effort.resolved"] = "effort.resolved"
    content = ("resolution",)
    effort: int
    resolution: str
    outcome: Outcome = "done"
    messages: tuple[int, ...] = ()
    found_by: Finder = "user"
    source: Source | None = None
    """Where it was resolved, if that was in a branch of its own."""


class EffortReopened(Event):
    """A resolved effort is not done after all."""

    kind: Literal["effort.reopened"] = "effort.reopened"
    content = ("reason",)
    effort: int
    reason: str | None = None
    messages: tuple[int, ...] = ()
    found_by: Finder = "user"


class EffortExpanded(Event):
    """The exchanges of a concluded effort are shown to the mind again."""

    kind: Literal["effort.expanded"] = "effort.expanded"
    effort: int


class EffortCollapsed(Event):
    """The exchanges of an effort left the context again, where its summary stays."""

    kind: Literal["effort.collapsed"] = "effort.collapsed"
    effort: int


class EffortBranched(Event):
    """A branch was opened to work on an effort alone."""

    kind: Literal["effort.branched"] = "effort.branched"
    effort: int
    branch: str
    """The session whose context is this effort's thread."""


class EffortFocused(Event):
    """This session works on one effort: its thread is what the mind is shown."""

    kind: Literal["effort.focused"] = "effort.focused"
    effort: int


class FactLearned(Event):
    """Something turned out to be so."""

    kind: Literal["fact.learned"] = "fact.learned"
    content = ("statement",)
    statement: str
    since: str | None = None
    """Since when it holds, ISO 8601."""
    effort: int | None = None
    """The effort that it was learned in."""
    messages: tuple[int, ...] = ()
    found_by: Finder = "user"
    source: Source | None = None
    """Where it was learned, if that was in a branch of its own."""


class FactSuperseded(Event):
    """A fact no longer holds."""

    kind: Literal["fact.superseded"] = "fact.superseded"
    content = ("reason",)
    fact: int
    by: int | None = None
    """The fact that holds instead."""
    reason: str | None = None


class EventNoted(Event):
    """Something happens at some time: an appointment, a deadline, a reminder."""

    kind: Literal["event.noted"] = "event.noted"
    content = ("what",)
    what: str
    when: str | None = None
    """ISO 8601, date or date and time, in the user's local time."""
    expires: str | None = None
    """From then on it is over; the end of its day where only ``when`` is known."""
    messages: tuple[int, ...] = ()
    found_by: Finder = "user"
    source: Source | None = None
    """Where it was noted, if that was in a branch of its own."""


class ArtifactEdited(Event):
    """An artifact got other words or another time; what is None stays as it was."""

    kind: Literal["artifact.edited"] = "artifact.edited"
    content = ("text", "resolution")
    artifact: int
    text: str | None = None
    resolution: str | None = None
    when: str | None = None
    expires: str | None = None
    source: Source | None = None
    """The moment of its origin that it follows, if it does."""


class ArtifactMerged(Event):
    """Two artifacts were one and the same: one of them stands for both."""

    kind: Literal["artifact.merged"] = "artifact.merged"
    artifact: int
    into: int


class ArtifactRejected(Event):
    """An artifact should never have been: it is shown to no mind, and counted as found wrongly."""

    kind: Literal["artifact.rejected"] = "artifact.rejected"
    content = ("reason",)
    artifact: int
    reason: str | None = None


class ArtifactLinked(Event):
    """Two artifacts have to do with each other."""

    kind: Literal["artifact.linked"] = "artifact.linked"
    content = ("relation",)
    artifact: int
    to: int
    relation: str = "belongs to"


class ArtifactImported(Event):
    """An artifact of another session is used here too."""

    kind: Literal["artifact.imported"] = "artifact.imported"
    content = ("text", "resolution")
    type: Literal["effort", "fact", "event"]
    text: str
    status: Literal["open", "resolved", "current"]
    resolution: str | None = None
    outcome: Outcome | None = None
    when: str | None = None
    expires: str | None = None
    source: Source
    """The event that brought it there: its name there is ``session@version``."""
    as_of: int
    """The version of the other session at which it was read."""
    follow: bool = False
    """Whether it changes here when it changes there."""


class ArtifactExcluded(Event):
    """An artifact is kept from the mind, or shown to it again."""

    kind: Literal["artifact.excluded"] = "artifact.excluded"
    artifact: int
    excluded: bool = True


class ArtifactsEvicted(Event):
    """Artifacts left the context since nobody spoke of them; they stay to be searched."""

    kind: Literal["artifacts.evicted"] = "artifacts.evicted"
    artifacts: tuple[int, ...]
    turn: int
    """The user's turn at which they left."""


class ArtifactRecalled(Event):
    """An artifact that had left the context came back, as it had last been."""

    kind: Literal["artifact.recalled"] = "artifact.recalled"
    content = ("text", "resolution", "words")
    artifact: int
    type: ArtifactType
    text: str
    status: Literal["open", "resolved", "current"]
    outcome: Outcome | None = None
    resolution: str | None = None
    parent: int | None = None
    when: str | None = None
    expires: str | None = None
    source: Source | None = None
    follows: int | None = None
    """The version of its origin's session that its words are from, where it follows them."""
    words: str | None = None
    """The words that called it back."""


class ExchangeRouted(Event):
    """It was told which effort an exchange belongs to, and which artifacts it speaks of."""

    kind: Literal["exchange.routed"] = "exchange.routed"
    content = ("words",)
    exchange: ExchangeId
    effort: int | None = None
    """None: it belongs to no effort."""
    mentions: tuple[int, ...] = ()
    found_by: Finder = "user"
    words: str | None = None
    """The words that told."""


class ContextCompacted(Event):
    """Exchanges left the mind's context, never history; a summary stands for them."""

    kind: Literal["context.compacted"] = "context.compacted"
    content = ("summary",)
    exchanges: tuple[ExchangeId, ...]
    effort: int | None = None
    """The effort whose resolution stands for them."""
    summary: str | None = None
    """What stands for them where no effort does."""
    how: Literal["conclusion", "extractive"]
    tokens_before: int
    """About how many tokens these exchanges took."""
    tokens_after: int
    """About how many stand for them."""


class DetectorInvoked(Event):
    """A message, or its answer, was looked at for what it leaves."""

    kind: Literal["detector.invoked"] = "detector.invoked"
    content = ("error", "raw")
    looked_at: int
    """The version of the message, or of the acceptance of its answer."""
    exchange: ExchangeId
    turn: int
    """The user's turn that it was, counted from 1."""
    found_by: Finder
    """``rules`` where a model was to look and failed: ``error`` says how."""
    model: str | None = None
    prompt_hash: bytes | None = None
    """sha256 of the exact prompt, as UTF-8."""
    raw: str | bytes | None = None
    """What the model replied, compressed where that is smaller."""
    error: str | None = None
    attempts: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: int = 0
