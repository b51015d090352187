"""What people do to artifacts, as deeds: what of it the system or a detector does is none."""

from collections.abc import Callable
from typing import Any

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
    DetectorInvoked,
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
from projections.effects import Entry
from projections.timeline import summary

_EFFECTS: dict[type[Event], Callable[[Any], str]] = {
    EffortOpened: lambda e: f"part of {e.parent}" if e.parent is not None else "",
    EffortResolved: lambda e: f"effort {e.effort} ended: {e.outcome}",
    EffortReopened: lambda e: f"effort {e.effort} goes on",
    EffortExpanded: lambda _: "its exchanges are shown to the mind again",
    EffortCollapsed: lambda _: "its exchanges left the context",
    EffortBranched: lambda e: f"branch {e.branch}",
    EffortFocused: lambda _: "this session is about it",
    FactLearned: lambda e: f"learned in effort {e.effort}" if e.effort is not None else "",
    FactSuperseded: lambda e: f"fact {e.fact} no longer holds",
    EventNoted: lambda _: "",
    ArtifactEdited: lambda e: f"{e.artifact} says so from now on",
    ArtifactMerged: lambda e: f"{e.into} stands for both",
    ArtifactRejected: lambda e: f"{e.artifact} is shown to no mind",
    ArtifactLinked: lambda _: "",
    ArtifactImported: lambda e: (
        f"a copy of {e.source.session}@{e.source.version}" + (", which it follows" * e.follow)
    ),
    ArtifactExcluded: lambda _: "",
    ArtifactRecalled: lambda e: f"{e.artifact} is in the context again",
    ExchangeRouted: lambda _: "",
}
"""What comes of each; where it is empty, the deed says it all."""


def entry(_: object, recorded: Recorded, event: Event) -> Entry | None:
    """What somebody did to an artifact; nothing where nobody did."""
    if recorded.actor.who == "system":
        return None
    facts = event.model_dump(exclude={"kind", "source"}, exclude_none=True)
    source = getattr(event, "source", None)
    if source is not None:
        facts["source"] = f"{source.session}@{source.version}"
    return Entry(summary(event), _EFFECTS[type(event)](event), facts)


def nothing(_: object, __: Recorded, ___: Event) -> None:
    """It follows from what others did."""


ENTRIES: dict[type[Event], Callable[[Any, Recorded, Any], Entry | None]] = {
    **dict.fromkeys(_EFFECTS, entry),
    **dict.fromkeys((ArtifactsEvicted, ContextCompacted, DetectorInvoked), nothing),
}
