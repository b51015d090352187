"""Where a thought came from: what its mind was shown when it had it, nearest first."""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import NotAThought
from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    MindInvoked,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
)
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session
from projections.causes import Picked, at_version, awaiting_at, picked
from projections.invocations import Message, Shown, invocation_of, message, shown

if TYPE_CHECKING:
    from domain.clustering.vectors import Stored, Vector

ITERATIONS_LOOKED_AT = 200
"""How many iterations behind a thought are asked whether they were shown it."""


class Audience(NamedTuple):
    """Which iterations were shown a thought."""

    iterations: tuple[int, ...]
    looked_at: int
    """How many there were to look at, at most :data:`ITERATIONS_LOOKED_AT`."""


class Origin(NamedTuple):
    """What is known of how a thought came to be."""

    session: SessionId
    """The branch whose stream holds it."""
    version: int
    at: int
    iteration: int
    text: str
    origin: str
    mind: str
    """The mind that had it, or who put it there."""
    redacted: bool
    cluster: int | None
    active: bool
    """Whether it is in the pool."""
    source: Picked | None
    invoked: int | None
    """The version of the invocation; None where it did not come from one."""
    message: Message | None
    """What the mind was to answer."""
    ancestors: tuple[Shown, ...]
    """All that the mind was shown, the nearest first."""
    audience: Audience


def origin(log: Log, session: SessionId, version: int) -> Origin:
    """How a thought came to be.

    Raises:
        NotAThought: that event is none.
    """
    recorded = at_version(log, session, version)
    if recorded is None or not isinstance(recorded.event, ThoughtAdded):
        raise NotAThought(version, recorded.event.kind if recorded is not None else None)
    event, state = recorded.event, log.state(session)
    invoked = invocation_of(log, session, recorded)
    invocation = invoked.event if invoked is not None else None
    asked: Recorded | None = None
    ancestors: tuple[Shown, ...] = ()
    if isinstance(invocation, MindInvoked):
        asked = awaiting_at(log, session, invocation.based_on)
        ancestors = _ancestors(log, session, version, invocation)
    return Origin(
        session=recorded.session,
        version=version,
        at=recorded.at,
        iteration=event.iteration,
        text=event.text,
        origin=event.origin,
        mind=event.mind,
        redacted=recorded.redacted,
        cluster=cluster_of(log, state, version),
        active=any(thought.version == version for thought in state.pool.active),
        source=picked(log, event.source),
        invoked=invoked.version if invoked is not None else None,
        message=message(log, asked) if asked is not None else None,
        ancestors=ancestors,
        audience=_audience(log, session, version),
    )


def line(log: Log, session: SessionId, first: Origin, most: int) -> list[Origin]:
    """The nearest of those that stood before a thought, the nearest before that, and so on back.

    From a thought that was picked from another session, the way goes on there. It ends where a
    thought did not come from others, or has no vector.
    """
    found: list[Origin] = []
    latest = first
    while len(found) < most:
        nearest = latest.ancestors[0] if latest.ancestors else None
        if nearest is not None and nearest.similarity is not None:
            version = nearest.version
        elif latest.source is not None and latest.source.here:
            session, version = SessionId(latest.source.session), latest.source.version
        else:
            break
        latest = origin(log, session, version)
        found.append(latest)
    return found


def cluster_of(log: Log, state: Session, version: int) -> int | None:
    """The cluster of a thought, in the pool or beyond; None where it stands alone.

    Reads what was decided since the thought came, and no vector.
    """
    for thought in state.pool.active:
        if thought.version == version:
            return thought.cluster
    cluster: int | None = None
    # kind by kind along the index, rather than past all that happened since
    decisions = [
        log.read(state.id, after=version, upto=state.version, kinds=[kind]) for kind in _DECISIONS
    ]
    for recorded in merge(*decisions, key=lambda decision: decision.version):
        match recorded.event:
            case ThoughtClustered() as event if event.thought == version:
                cluster = event.cluster
            case ClusterFormed() as event if version in event.members:
                cluster = event.cluster
            case ClusterSplit() as event if version in event.members:
                cluster = event.into
            case ClusterMerged() as event if cluster == event.absorbed:
                cluster = event.cluster
            case ConfigChanged(key="embedding_model"):
                cluster = None
    return cluster


_DECISIONS = (
    "thought.clustered",
    "cluster.formed",
    "cluster.merged",
    "cluster.split",
    "config.changed",
)


def _audience(log: Log, session: SessionId, version: int) -> Audience:
    later = log.read(session, after=version, kinds=["mind.invoked"], page=ITERATIONS_LOOKED_AT)
    invoked = [
        recorded.event
        for recorded in islice(later, ITERATIONS_LOOKED_AT)
        if isinstance(recorded.event, MindInvoked)
    ]
    return Audience(tuple(e.iteration for e in invoked if version in e.sampled), len(invoked))


def _ancestors(
    log: Log, session: SessionId, version: int, invocation: MindInvoked
) -> tuple[Shown, ...]:
    state = log.state(session, invocation.based_on)
    clusters = {thought.version: thought.cluster for thought in state.pool.active}
    found = [t for t in shown(log, session, invocation, clusters) if t.version < version]
    near = _similarities(log, session, version, [thought.version for thought in found])
    told = [thought._replace(similarity=near.get(thought.version)) for thought in found]
    told.sort(key=lambda a: (-(a.similarity if a.similarity is not None else -2), a.version))
    return tuple(told)


def _similarities(
    log: Log, session: SessionId, version: int, others: Sequence[int]
) -> dict[int, float]:
    """Cosines of a thought to others, where both have a vector by the model in use."""
    if not others:
        return {}
    rows = vectors(log, session, [version, *others])
    mine = rows.get(version)
    if mine is None:
        return {}
    return {
        other: round(float(mine @ rows[other]), 4)
        for other in others
        if other in rows and len(rows[other]) == len(mine)
    }


def vectors(log: Log, session: SessionId, thoughts: Iterable[int]) -> "dict[int, Vector]":
    """The vectors of thoughts by the model in use; without those that have none, or no longer."""
    from domain.clustering.vectors import Stored, unpacked  # noqa: PLC0415 — brings numpy along

    wanted = set(thoughts)
    since = _model_since(log, session)
    found: dict[int, Stored | int | None] = {}
    while missing := wanted - found.keys():
        found |= dict.fromkeys(missing)
        found |= _stored(log, session, since, missing)
        # of a text by a model, one vector is stored: by the thought that had it first
        wanted |= {holder for holder in found.values() if isinstance(holder, int)}
    rows: dict[int, Vector] = {}
    for thought in wanted:
        held = found[thought]
        while isinstance(held, int):
            held = found[held]
        if isinstance(held, Stored) and any(held.data):  # zeros stand where it was redacted
            rows[thought] = unpacked(*held)
    return rows


def _stored(
    log: Log, session: SessionId, since: int, thoughts: set[int]
) -> "dict[int, Stored | int]":
    """The vectors of these thoughts, or who holds them: their own, or the first that came late."""
    from domain.clustering.fold import stored_in  # noqa: PLC0415 — brings numpy along

    found: dict[int, Stored | int] = {}
    for recorded in log.pick(session, sorted(t for t in thoughts if t > since)):
        held = stored_in(recorded.event) if isinstance(recorded.event, ThoughtAdded) else None
        if held is not None:
            found[recorded.version] = held
    waiting = thoughts - found.keys()
    if not waiting:
        return found
    late: Iterable[Recorded] = log.read(
        session, after=max(since, min(waiting)), kinds=["thought.embedded"], page=64
    )
    for recorded in late:
        event = recorded.event
        if isinstance(event, ThoughtEmbedded) and event.thought in waiting:
            held = stored_in(event)
            if held is not None:
                found[event.thought] = held
            waiting.remove(event.thought)
            if not waiting:
                break
    return found


def _model_since(log: Log, session: SessionId) -> int:
    """The version from which on one model made all vectors."""
    for recorded in log.read(session, kinds=["config.changed"], newest_first=True, page=16):
        event = recorded.event
        if isinstance(event, ConfigChanged) and event.key == "embedding_model":
            return recorded.version
    return 0
