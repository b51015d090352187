"""What has left a mind's context for good, or until somebody speaks of it: read from the log."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from domain.events import (
    ArtifactImported,
    ArtifactMerged,
    ArtifactRejected,
    ArtifactsEvicted,
    ContextCompacted,
    EffortOpened,
    EventNoted,
    FactLearned,
    FactSuperseded,
)
from domain.ids import ExchangeId
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session

_LEAVING = ("artifacts.evicted", "fact.superseded", "artifact.merged", "artifact.rejected")


class Gone(NamedTuple):
    """An artifact that has left the context."""

    what: str
    """``fact 412``."""
    why: str
    text: str
    """The words it came with."""
    version: int
    """Of the event by which it left."""


class Compacted(NamedTuple):
    """Exchanges that are too old for the state, and what stands for them."""

    exchanges: tuple[ExchangeId, ...]
    stands: int | None
    """The effort or summary; shown, or gone itself."""
    why: str
    version: int
    """Of the event."""


def gone(log: Log, session: Session, limit: int | None = None) -> list[Gone]:
    """Artifacts that left the context, those that left last first.

    Args:
        log: where the session lives.
        session: the state.
        limit: how many; None for all.
    """
    found = list(islice(_left(log, session), limit))
    picked = log.pick(session.id, [id_ for id_, _, _ in found])
    brought = {recorded.version: recorded for recorded in picked}
    told = []
    for id_, why, version in found:
        type_, text = _brought(brought[id_]) if id_ in brought else ("artifact", "")
        told.append(Gone(f"{type_} {id_}", why, text, version))
    return told


def compacted(log: Log, session: Session, limit: int | None = None) -> list[Compacted]:
    """What stands for exchanges that are older than those of the state, the newest first."""
    return list(islice(_compacted(log, session), limit))


def _left(log: Log, session: Session) -> Iterator[tuple[int, str, int]]:
    """Each artifact that is not on the shelf: why, and the version of the event that took it."""
    seen = {artifact.id for artifact in session.shelf.artifacts}
    kinds = _LEAVING
    for r in log.read(session.id, upto=session.version, kinds=kinds, newest_first=True, page=32):
        for id_, why in _leaving(r):
            if id_ not in seen:
                seen.add(id_)
                yield id_, why, r.version


def _leaving(recorded: Recorded) -> Iterator[tuple[int, str]]:
    match recorded.event:
        case ArtifactsEvicted(artifacts=several, turn=turn):
            why = f"evicted at turn {turn}: nobody spoke of it, or it was over"
            yield from ((id_, why) for id_ in reversed(several))
        case FactSuperseded(fact=fact, by=by):
            yield fact, "superseded" if by is None else f"superseded by fact {by}"
        case ArtifactMerged(artifact=one, into=into):
            yield one, f"merged into {into}"
        case ArtifactRejected(artifact=one):
            yield one, "rejected"


def _compacted(log: Log, session: Session) -> Iterator[Compacted]:
    here = {exchange.id for exchange in session.dialogue.history}
    kinds = ["context.compacted"]
    for r in log.read(session.id, upto=session.version, kinds=kinds, newest_first=True, page=32):
        if not isinstance(r.event, ContextCompacted):
            continue
        left = tuple(exchange for exchange in r.event.exchanges if exchange not in here)
        if left:
            stands = r.event.effort if r.event.summary is None else r.version
            what = "effort" if r.event.summary is None else "summary"
            yield Compacted(left, stands, f"{what} {stands} stands for it", r.version)


def _brought(recorded: Recorded) -> tuple[str, str]:
    match recorded.event:
        case EffortOpened(goal=text):
            return "effort", text
        case FactLearned(statement=text):
            return "fact", text
        case EventNoted(what=text):
            return "event", text
        case ContextCompacted(summary=summary):
            return "summary", summary or ""
        case ArtifactImported(type=type_, text=text):
            return type_, text
    return "artifact", ""
