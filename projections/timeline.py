"""Every event in a line that a person can read."""

from collections.abc import Callable
from typing import Any

from domain.events import (
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    Event,
    EventRedacted,
    ExchangesPruned,
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
)


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
    ClusteringCalibrated: lambda e: f"on {e.count} of them, deviation {e.deviation:.3f}",
    MindSignalled: lambda e: (
        e.signal + (f", {e.consecutive} in a row" if e.consecutive > 1 else "")
    ),
    SignalChanged: _signal,
    NoteAdded: lambda e: e.text + (f" (about {_members(e.about)})" if e.about else ""),
    RunStarted: lambda e: f"{e.mode}, {'exactly' if e.exact else 'at most'} {e.limit}",
    RunStopped: _stopped,
    EventRedacted: lambda e: f"event {e.version} ({e.what}): {e.reason}",
}
