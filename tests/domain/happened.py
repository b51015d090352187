"""Events in few words, as a user would tell them."""

import struct
from typing import Any

from domain.config import Config
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
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    EffortCollapsed,
    EffortExpanded,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    EventNoted,
    ExchangeRouted,
    ExchangesPruned,
    FactLearned,
    FactSuperseded,
    MessageSent,
    MindInvoked,
    MindSignalled,
    NoteAdded,
    RunStarted,
    RunStopped,
    SessionStarted,
    SignalChanged,
    Source,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
)
from domain.ids import ExchangeId, RunId

FIRST = ExchangeId("exc_1_000")
RUN = RunId("run-1")
MODEL = "script:tides.jsonl"
EMBEDDER = "minilm"
"""What vectors are made with here."""


def started(title: str = "Tides", seed: int = 7, **settings: Any) -> SessionStarted:
    """The session began, with these settings."""
    config = Config.model_validate({"model": MODEL, **settings}).model_dump()
    return SessionStarted(title=title, config=config, protocol="1.4", seed=seed)


STARTED = started()


def asked(text: str = "why two tides?", exchange: str = FIRST, iteration: int = 1) -> MessageSent:
    """The user sent a message."""
    return MessageSent(exchange=ExchangeId(exchange), text=text, iteration=iteration)


def invoked(iteration: int, **more: Any) -> MindInvoked:
    """The mind was asked."""
    fields: dict[str, Any] = {
        "based_on": 2,
        "model": MODEL,
        "protocol": "1.4",
        "dialect": "full",
        "system_hash": bytes(32),
        "prompt_hash": bytes(32),
        "seed": 1,
        "user_time": "2026-05-02T10:30:00+00:00",
        "outcome": "ok",
    }
    return MindInvoked(iteration=iteration, **{**fields, **more})


def drafted(index: int, text: str, iteration: int | None = None, **more: Any) -> DraftEmitted:
    """The mind drafted; the n-th draft in the n-th iteration unless said otherwise."""
    fields: dict[str, Any] = {"exchange": FIRST, "signal": len(text) <= 16, **more}
    return DraftEmitted(index=index, text=text, iteration=iteration or index, **fields)


def seen(*indexes: int, exchange: str = FIRST) -> DraftSeen:
    """Somebody read drafts."""
    return DraftSeen(exchange=ExchangeId(exchange), indexes=indexes)


def accepted(index: int = 1, exchange: str = FIRST, **more: Any) -> DraftAccepted:
    """A draft became the answer."""
    return DraftAccepted(exchange=ExchangeId(exchange), index=index, **more)


def pruned(*exchanges: str) -> ExchangesPruned:
    """Exchanges left the mind's context."""
    return ExchangesPruned(exchanges=tuple(ExchangeId(e) for e in exchanges))


def thought(text: str, iteration: int = 1, **more: Any) -> ThoughtAdded:
    """A thought entered the pool."""
    return ThoughtAdded(text=text, iteration=iteration, **{"mind": MODEL, **more})


def vector(*numbers: float) -> bytes:
    """A vector as it is stored, two bytes a number."""
    return struct.pack(f"<{len(numbers)}e", *numbers)


def with_vector(*numbers: float, of: int | None = None) -> dict[str, Any]:
    """What an event says of a vector; of two numbers unless said otherwise."""
    return {
        "embedding": vector(*(numbers or (1.0, 0.0))) if of is None else None,
        "embedding_of": of,
        "embedding_model": EMBEDDER,
        "dimension": len(numbers) or 2,
    }


def embedded(version: int, *numbers: float, of: int | None = None) -> ThoughtEmbedded:
    """A thought that waited got its vector."""
    return ThoughtEmbedded(thought=version, **with_vector(*numbers, of=of))


def clustered(
    version: int, cluster: int | None, how: Any = "joined", was: int | None = None
) -> ThoughtClustered:
    """A thought came to a cluster, or stands alone."""
    return ThoughtClustered(thought=version, cluster=cluster, how=how, was=was, similarity=0.5)


def formed(cluster: int, *members: int) -> ClusterFormed:
    """Thoughts founded a cluster."""
    return ClusterFormed(cluster=cluster, members=members, how="linkage", similarity=0.5)


def merged(cluster: int, absorbed: int) -> ClusterMerged:
    """One cluster became part of another."""
    return ClusterMerged(cluster=cluster, absorbed=absorbed, similarity=0.5)


def split(cluster: int, into: int, *members: int) -> ClusterSplit:
    """A part of a cluster became one of its own."""
    return ClusterSplit(cluster=cluster, into=into, members=members, similarity=0.5)


def calibrated(count: int) -> ClusteringCalibrated:
    """What counts as similar was measured."""
    return ClusteringCalibrated(count=count, scale=0.75, deviation=0.25)


def signalled(signal: Any, consecutive: int, iteration: int = 1) -> MindSignalled:
    """The mind said something by what it left out."""
    return MindSignalled(signal=signal, iteration=iteration, consecutive=consecutive)


def present(presence: Any, status: str = "", iteration: int = 1) -> SignalChanged:
    """The user said how present they are."""
    return SignalChanged(presence=presence, status=status, time="Sat 10:30", iteration=iteration)


def noted(text: str, *about: int, iteration: int = 0) -> NoteAdded:
    """Somebody wrote down what they noticed."""
    return NoteAdded(text=text, about=about, iteration=iteration)


def configured(key: str, old: Any, new: Any) -> ConfigChanged:
    """A setting changed."""
    return ConfigChanged(key=key, old=old, new=new)


def run_began(run: str = RUN, **more: Any) -> RunStarted:
    """A runner took the session."""
    fields: dict[str, Any] = {"mode": "observe", "limit": 100, "holder": "host:1:1", "patience": 60}
    return RunStarted(run=RunId(run), **{**fields, **more})


def run_ended(reason: Any = "draft", iterations: int = 1, run: str = RUN) -> RunStopped:
    """A runner gave the session back."""
    return RunStopped(run=RunId(run), reason=reason, iterations=iterations)


def exchanged(
    number: int, question: str | None = None
) -> tuple[MessageSent, MindInvoked, Any, DraftAccepted]:
    """A whole exchange in the ``number``-th iteration: asked, drafted, accepted."""
    exchange = f"exc_{number}_000"
    return (
        asked(question or f"question {number}", exchange, number),
        invoked(number),
        drafted(1, f"this is the answer number {number}", number, exchange=exchange),
        accepted(1, exchange),
    )


ELSEWHERE = Source("payments", 41, bytes(range(32)))
"""An event of another session."""


def opened(
    goal: str = "explain the tides", exchange: str | None = None, **more: Any
) -> EffortOpened:
    """An effort began."""
    begun = ExchangeId(exchange) if exchange is not None else None
    return EffortOpened(goal=goal, exchange=begun, **more)


def resolved(effort: int, resolution: str = "the moon pulls", **more: Any) -> EffortResolved:
    """An effort ended."""
    return EffortResolved(effort=effort, resolution=resolution, **more)


def reopened(effort: int, reason: str | None = None, **more: Any) -> EffortReopened:
    """An effort goes on."""
    return EffortReopened(effort=effort, reason=reason, **more)


def expanded(effort: int) -> EffortExpanded:
    """The exchanges of an effort are shown again."""
    return EffortExpanded(effort=effort)


def collapsed(effort: int) -> EffortCollapsed:
    """The exchanges of an effort left again."""
    return EffortCollapsed(effort=effort)


def learned(statement: str = "the moon pulls", **more: Any) -> FactLearned:
    """Something turned out to be so."""
    return FactLearned(statement=statement, **more)


def superseded(fact: int, by: int | None = None, reason: str | None = None) -> FactSuperseded:
    """A fact no longer holds."""
    return FactSuperseded(fact=fact, by=by, reason=reason)


def happens(what: str = "spring tide", when: str | None = None, **more: Any) -> EventNoted:
    """Something happens at some time."""
    return EventNoted(what=what, when=when, **more)


def edited(artifact: int, **new: Any) -> ArtifactEdited:
    """An artifact got other words."""
    return ArtifactEdited(artifact=artifact, **new)


def one_of_two(artifact: int, into: int) -> ArtifactMerged:
    """Two artifacts were one and the same."""
    return ArtifactMerged(artifact=artifact, into=into)


def rejected(artifact: int, reason: str | None = None) -> ArtifactRejected:
    """An artifact should never have been."""
    return ArtifactRejected(artifact=artifact, reason=reason)


def linked(artifact: int, to: int, relation: str = "belongs to") -> ArtifactLinked:
    """Two artifacts have to do with each other."""
    return ArtifactLinked(artifact=artifact, to=to, relation=relation)


def imported(text: str = "use Stripe", type_: Any = "fact", **more: Any) -> ArtifactImported:
    """An artifact of another session is used here too."""
    fields: dict[str, Any] = {"status": "open" if type_ == "effort" else "current"}
    fields |= {"source": ELSEWHERE, "as_of": 50}
    return ArtifactImported(type=type_, text=text, **{**fields, **more})


def excluded(artifact: int, excluded: bool = True) -> ArtifactExcluded:
    """An artifact is kept from the mind."""
    return ArtifactExcluded(artifact=artifact, excluded=excluded)


def evicted(*artifacts: int, turn: int = 30) -> ArtifactsEvicted:
    """Artifacts left the context, since nobody spoke of them."""
    return ArtifactsEvicted(artifacts=artifacts, turn=turn)


def recalled(artifact: int, text: str, type_: Any = "fact", **more: Any) -> ArtifactRecalled:
    """An artifact came back."""
    status = {"effort": "resolved"}.get(type_, "current")
    return ArtifactRecalled(artifact=artifact, type=type_, text=text, **{"status": status, **more})


def routed(exchange: str, effort: int | None = None, **more: Any) -> ExchangeRouted:
    """It was told where an exchange belongs."""
    return ExchangeRouted(exchange=ExchangeId(exchange), effort=effort, **more)


def concluded(effort: int, *exchanges: str, before: int, after: int) -> ContextCompacted:
    """The exchanges of a resolved effort left the context."""
    return ContextCompacted(
        exchanges=tuple(ExchangeId(e) for e in exchanges),
        effort=effort,
        how="conclusion",
        tokens_before=before,
        tokens_after=after,
    )


def summed_up(summary: str, *exchanges: str, **more: Any) -> ContextCompacted:
    """A summary stands for exchanges."""
    fields: dict[str, Any] = {"how": "extractive", "tokens_before": 500, "tokens_after": 20}
    return ContextCompacted(
        exchanges=tuple(ExchangeId(e) for e in exchanges), summary=summary, **{**fields, **more}
    )
