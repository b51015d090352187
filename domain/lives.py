"""The lives of artifacts: all that a session ever had, and what became of each.

The shelf holds what a mind may be shown; here is also what has left it. It is folded from the
events of :data:`LIVES` whenever somebody asks, and nothing of it is kept.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from domain.artifacts import Artifact, Shelf, evolve
from domain.events import (
    ArtifactEdited,
    ArtifactExcluded,
    ArtifactImported,
    ArtifactLinked,
    ArtifactMerged,
    ArtifactRecalled,
    ArtifactRejected,
    ArtifactsEvicted,
    ContextCompacted,
    EffortBranched,
    EffortCollapsed,
    EffortExpanded,
    EffortFocused,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    FactSuperseded,
)
from domain.recorded import Recorded

Left = Literal["evicted", "superseded", "merged", "rejected"]
"""How an artifact left the shelf."""

BRINGING: tuple[type[Event], ...] = (
    EffortOpened,
    FactLearned,
    EventNoted,
    ArtifactImported,
    ContextCompacted,
)
"""What may bring an artifact: its version is the artifact's name."""

BRINGING_KINDS = ("effort.opened", "fact.learned", "event.noted", "artifact.imported")
"""The same by kind, without summaries: few events of their kind bring one."""

LIVES: tuple[str, ...] = (
    "effort.opened",
    "effort.resolved",
    "effort.reopened",
    "effort.expanded",
    "effort.collapsed",
    "effort.branched",
    "effort.focused",
    "fact.learned",
    "fact.superseded",
    "event.noted",
    "artifact.edited",
    "artifact.merged",
    "artifact.rejected",
    "artifact.linked",
    "artifact.imported",
    "artifact.excluded",
    "artifacts.evicted",
    "artifact.recalled",
    "exchange.routed",
    "context.compacted",
)
"""The kinds of events that tell of artifacts."""

_WORDS = (
    EffortResolved,
    EffortReopened,
    FactSuperseded,
    ArtifactEdited,
    ArtifactMerged,
    ArtifactRejected,
)
"""What changes what an artifact says or is, wherever it is read."""


class Life(NamedTuple):
    """An artifact as last known, and what became of it."""

    artifact: Artifact
    """Without turns: these are known on the shelf alone."""
    changed: int
    """The version that last changed what it says or is."""
    left: Left | None = None
    """How it left the shelf; None while it lies there, as far as events tell."""
    instead: int | None = None
    """The artifact that superseded it, or that it was merged into."""


def lives(events: Iterable[Recorded]) -> dict[int, Life]:
    """The artifacts of a session, oldest first, given its events of :data:`LIVES`."""
    found: dict[int, Life] = {}
    for recorded in events:
        live(found, recorded.event, recorded.version)
    return found


def live(found: dict[int, Life], event: Event, version: int) -> None:
    """Let one more event happen to those that were found so far."""
    artifact = brought(event, version)
    if artifact is not None:
        found[version] = Life(artifact, version)
    for id_ in touched(event):
        life = found.get(id_)
        if life is not None:
            found[id_] = _lived(life, event, version)
    if isinstance(event, ArtifactMerged):
        for id_, life in found.items():
            if life.artifact.parent == event.artifact and id_ != event.into:
                found[id_] = life._replace(artifact=life.artifact._replace(parent=event.into))


def touched(event: Event) -> tuple[int, ...]:
    """The artifacts that an event tells of, beside the one that it brings."""
    match event:
        case ArtifactMerged(artifact=one, into=other) | ArtifactLinked(artifact=one, to=other):
            return one, other
        case FactSuperseded(fact=fact, by=by):
            return (fact,) if by is None else (fact, by)
        case ArtifactsEvicted(artifacts=several):
            return several
        case ExchangeRouted(effort=effort, mentions=mentions):
            return tuple(dict.fromkeys((*mentions, *(() if effort is None else (effort,)))))
        case ContextCompacted(effort=effort) if effort is not None:
            return (effort,)
        case ArtifactEdited() | ArtifactRejected() | ArtifactExcluded() | ArtifactRecalled():
            return (event.artifact,)
        case EffortResolved() | EffortReopened() | EffortExpanded() | EffortCollapsed():
            return (event.effort,)
        case EffortBranched() | EffortFocused():
            return (event.effort,)
    return ()


def brought(event: Event, version: int) -> Artifact | None:
    """The artifact that an event brings, if it does."""
    if not isinstance(event, BRINGING):
        return None
    return next(iter(evolve(Shelf(), event, version).artifacts), None)


def _lived(life: Life, event: Event, version: int) -> Life:
    again = isinstance(event, ArtifactRecalled) and life.left in {"superseded", "rejected"}
    changed = version if again or isinstance(event, _WORDS) else life.changed
    one = life.artifact.id
    match event:
        case ArtifactsEvicted():
            # what was superseded or rejected before stays so
            return life if life.left else life._replace(left="evicted")
        case FactSuperseded(fact=fact, by=by):
            if fact != one:
                return life
            return life._replace(left="superseded", instead=by, changed=changed)
        case ArtifactMerged(artifact=artifact, into=into):
            if artifact != one:
                return life
            return life._replace(left="merged", instead=into, changed=changed)
        case ArtifactRejected():
            return life._replace(left="rejected", instead=None, changed=changed)
        case ArtifactLinked() | ExchangeRouted() | ContextCompacted():
            return life
    more: dict[str, Any] = {}
    if isinstance(event, ArtifactRecalled):
        more = {"left": None, "instead": None}
    shelf = Shelf(artifacts=(life.artifact,))
    (lived,) = evolve(shelf, event, version).artifacts
    if isinstance(event, ArtifactRecalled):
        lived = lived._replace(branch=life.artifact.branch)
    return life._replace(artifact=lived, changed=changed, **more)
