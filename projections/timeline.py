"""Every event in a line that a person can read."""

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
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    ContextCompacted,
    DetectorInvoked,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    EffortBranched,
    EffortCollapsed,
    EffortExpanded,
    EffortFocused,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    EventRedacted,
    ExchangeRouted,
    ExchangesPruned,
    FactLearned,
    FactSuperseded,
    MessageSent,
    MindInvoked,
    MindSignalled,
    NoteAdded,
    ReplayBegun,
    RunStarted,
    RunStopped,
    SessionArchived,
    SessionForked,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
    SignalChanged,
    Source,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
    ToolUsed,
)
from domain.sentences import count
from projections.agent_summaries import AGENT_SUMMARIES


def summary(event: Event) -> str:
    """What happened, in a few words on one line; texts are not cut."""
    return " ".join(_SUMMARY[type(event)](event).split())


def _invoked(e: MindInvoked) -> str:
    counts = [("?" if n is None else str(n)) for n in (e.tokens_in, e.tokens_out)]
    tokens = f", {' → '.join(counts)} tokens" if counts != ["?", "?"] else ""
    cost = f", ${e.cost_usd:.4f}" if e.cost_usd else ""
    error = f": {e.error}" if e.error else ""
    seconds = e.latency_ms / 1000
    return f"iteration {e.iteration}, {e.model}, {e.outcome}, {seconds:.1f} s{tokens}{cost}{error}"


def _drafted(e: DraftEmitted) -> str:
    notes = [
        *([_picked(e.source)] if e.source else []),
        *(["late"] if e.late else []),
        *([f"repeats #{e.repeats}"] if e.repeats else []),
        *([f"confidence {e.confidence:g}"] if e.confidence is not None else []),
        *(["still working"] if e.working else []),
    ]
    return f"#{e.index}" + (f" ({', '.join(notes)})" if notes else "") + f": {e.text}"


def _picked(source: Source) -> str:
    return f"picked from {source.session}@{source.version}"


def _thought(e: ThoughtAdded) -> str:
    if e.source is not None:
        return f"({_picked(e.source)}) {e.text}"
    return e.text if e.origin == "mind" else f"({e.origin}) {e.text}"


def _value(value: object) -> str:
    return "off" if value is None else str(value)


def _signal(e: SignalChanged) -> str:
    return f"{e.presence}" + (f", “{e.status}”" if e.status else "") + f" ({e.time})"


def _stopped(e: RunStopped) -> str:
    return f"{e.reason} after {e.iterations}" + (f": {e.detail}" if e.detail else "")


def _members(versions: tuple[int, ...]) -> str:
    shown = ", ".join(str(version) for version in versions[:8])
    return shown + (f" and {len(versions) - 8} more" if len(versions) > 8 else "")


def _clustered(e: ThoughtClustered) -> str:
    where = "stands alone" if e.cluster is None else f"cluster {e.cluster}"
    was = f", was {e.was}" if e.was is not None else ""
    return f"thought {e.thought}: {e.how}, {where}{was} (similarity {e.similarity:.2f})"


def _opened(e: EffortOpened) -> str:
    return e.goal + (f" (part of {e.parent})" if e.parent is not None else "")


def _resolved(e: EffortResolved) -> str:
    how = "" if e.outcome == "done" else f" ({e.outcome})"
    where = f" (resolved in {e.source.session})" if e.source else ""
    return f"effort {e.effort}{how}{where}: {e.resolution}"


def _because(e: ArtifactRejected | FactSuperseded | EffortReopened) -> str:
    return f": {e.reason}" if e.reason else ""


def _learned(e: FactLearned) -> str:
    notes = [
        *([f"in effort {e.effort}"] if e.effort is not None else []),
        *([f"since {e.since}"] if e.since else []),
        *([_from(e.source)] if e.source else []),
    ]
    return e.statement + (f" ({', '.join(notes)})" if notes else "")


def _from(source: Source) -> str:
    return f"from {source.session}@{source.version}"


def _time(when: str | None, expires: str | None, source: Source | None) -> str:
    times = [
        *([when] if when else []),
        *([f"until {expires}"] if expires else []),
        *([_from(source)] if source else []),
    ]
    return f" ({', '.join(times)})" if times else ""


def _edited(e: ArtifactEdited) -> str:
    words = [
        *([e.text] if e.text is not None else []),
        *([f"=> {e.resolution}"] if e.resolution is not None else []),
    ]
    said = f": {' '.join(words)}" if words else ""
    return f"{e.artifact}{_time(e.when, e.expires, e.source)}{said}"


def _imported(e: ArtifactImported) -> str:
    follows = ", followed" if e.follow else ""
    ended = f" => {e.resolution}" if e.resolution is not None else ""
    return f"{e.type} ({_from(e.source)}{follows}): {e.text}{ended}"


def _recalled(e: ArtifactRecalled) -> str:
    ended = f" => {e.resolution}" if e.resolution is not None else ""
    by = f" (by “{e.words}”)" if e.words else ""
    return f"{e.type} {e.artifact}{by}: {e.text}{ended}"


def _routed(e: ExchangeRouted) -> str:
    where = f"effort {e.effort}" if e.effort is not None else "no effort"
    speaks = f", speaks of {_members(e.mentions)}" if e.mentions else ""
    by = f" (by “{e.words}”)" if e.words else ""
    return f"{e.exchange} belongs to {where}{speaks}{by}"


def _compacted(e: ContextCompacted) -> str:
    names = ", ".join(e.exchanges[:4])
    more = f" and {len(e.exchanges) - 4} more" if len(e.exchanges) > 4 else ""
    tokens = f" ({e.how}, {e.tokens_before} → {e.tokens_after} tokens)"
    if e.summary is not None:
        return f"{names}{more}{tokens}: {e.summary}"
    return f"{names}{more}: effort {e.effort} stands for them{tokens}"


def _looked(e: DetectorInvoked) -> str:
    model = f", {e.model}" if e.model else ""
    cost = f", ${e.cost_usd:.4f}" if e.cost_usd else ""
    error = f": {e.error}" if e.error else ""
    return f"{e.exchange} by {e.found_by}{model}, {e.latency_ms / 1000:.1f} s{cost}{error}"


def _used(e: ToolUsed) -> str:
    failed = " (failed)" if e.failed else ""
    result = f" → {e.result}" if e.result is not None else ""
    return f"{e.exchange}, {e.name}{failed}: {e.arguments}{result}"


_SUMMARY: dict[type[Event], Callable[[Any], str]] = {
    SessionStarted: lambda e: f"{e.title}, {e.config.get('model')}",
    SessionForked: lambda e: (
        f"from {e.parent}@{e.at_version}" + (f": {e.reason}" if e.reason else "")
    ),
    SessionLabelled: lambda e: f"@{e.label} is {e.version}",
    SessionRenamed: lambda e: e.title,
    SessionArchived: lambda e: e.reason or "",
    SessionRestored: lambda _: "",
    ReplayBegun: lambda e: f"of {e.source}, events {e.after + 1} to {e.upto}",
    ConfigChanged: lambda e: f"{e.key}: {_value(e.old)} → {_value(e.new)}",
    MessageSent: lambda e: (
        e.exchange + (f" ({_picked(e.source)})" if e.source else "") + f": {e.text}"
    ),
    ExchangesPruned: lambda e: ", ".join(e.exchanges),
    DraftEmitted: _drafted,
    DraftSeen: lambda e: ", ".join(f"#{i}" for i in e.indexes),
    DraftAccepted: lambda e: (
        f"#{e.index} of {e.exchange}" + (" (auto-accept)" if e.by == "auto-accept" else "")
    ),
    MindInvoked: _invoked,
    ThoughtAdded: _thought,
    ThoughtEmbedded: lambda e: f"thought {e.thought}, {e.embedding_model}",
    ThoughtClustered: _clustered,
    ClusterFormed: lambda e: (
        f"cluster {e.cluster} of {_members(e.members)} (similarity {e.similarity:.2f})"
    ),
    ClusterMerged: lambda e: (
        f"cluster {e.absorbed} into {e.cluster} (similarity {e.similarity:.2f})"
    ),
    ClusterSplit: lambda e: f"cluster {e.into} out of {e.cluster}: {_members(e.members)}",
    ClusteringCalibrated: lambda e: f"on {count(e.count, 'thought')}, deviation {e.deviation:.3f}",
    MindSignalled: lambda e: (
        e.signal + (f", {e.consecutive} in a row" if e.consecutive > 1 else "")
    ),
    SignalChanged: _signal,
    NoteAdded: lambda e: e.text + (f" (about {_members(e.about)})" if e.about else ""),
    ToolUsed: _used,
    EffortOpened: _opened,
    EffortResolved: _resolved,
    EffortReopened: lambda e: f"effort {e.effort}{_because(e)}",
    EffortExpanded: lambda e: f"effort {e.effort}",
    EffortCollapsed: lambda e: f"effort {e.effort}",
    EffortBranched: lambda e: f"effort {e.effort} is worked on in {e.branch}",
    EffortFocused: lambda e: f"effort {e.effort}",
    FactLearned: _learned,
    FactSuperseded: lambda e: (
        f"fact {e.fact}" + (f" by {e.by}" if e.by is not None else "") + _because(e)
    ),
    EventNoted: lambda e: e.what + _time(e.when, e.expires, e.source),
    ArtifactEdited: _edited,
    ArtifactMerged: lambda e: f"{e.artifact} into {e.into}",
    ArtifactRejected: lambda e: f"{e.artifact}{_because(e)}",
    ArtifactLinked: lambda e: f"{e.artifact} {e.relation} {e.to}",
    ArtifactImported: _imported,
    ArtifactExcluded: lambda e: (
        f"{e.artifact} is {'kept from' if e.excluded else 'shown to'} the mind"
    ),
    ArtifactsEvicted: lambda e: f"{_members(e.artifacts)}, in turn {e.turn}",
    ArtifactRecalled: _recalled,
    ExchangeRouted: _routed,
    ContextCompacted: _compacted,
    DetectorInvoked: _looked,
    RunStarted: lambda e: f"{e.mode}, {'exactly' if e.exact else 'at most'} {e.limit}",
    RunStopped: _stopped,
    EventRedacted: lambda e: f"event {e.version} ({e.what}): {e.reason}",
    **AGENT_SUMMARIES,
}
