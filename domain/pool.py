"""The pool of thoughts: the newest few, first in, first out, each with its cluster."""

from collections import Counter
from typing import Any, NamedTuple

from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
)


class Thought(NamedTuple):
    """A thought of the active pool; its version is its id."""

    version: int
    text: str
    iteration: int
    mind: str
    origin: str
    embedded: bool = False
    """Whether it has a vector, or waits for one."""
    cluster: int | None = None
    """None while it stands alone."""


class Pool(NamedTuple):
    """The newest thoughts, oldest first, and how many there ever were."""

    active: tuple[Thought, ...] = ()
    total: int = 0
    dimension: int | None = None
    """How many numbers the vectors of this session have; None before the first one."""

    @property
    def waiting(self) -> tuple[Thought, ...]:
        """Those that have no vector yet."""
        return tuple(thought for thought in self.active if not thought.embedded)

    @property
    def sizes(self) -> Counter[int]:
        """How many thoughts of the pool each cluster has."""
        return Counter(t.cluster for t in self.active if t.cluster is not None)


def added(state: Pool, event: ThoughtAdded, version: int, size: int) -> Pool:
    """A thought enters; the oldest leaves when the pool is full."""
    has = event.dimension is not None
    thought = Thought(version, event.text, event.iteration, event.mind, event.origin, has)
    dimension = event.dimension or state.dimension
    return Pool((*state.active, thought)[-size:], state.total + 1, dimension)


def passed(state: Pool) -> Pool:
    """A thought whose text was taken away for good: it is counted, and thought no more."""
    return state._replace(total=state.total + 1)


def embedded(state: Pool, event: ThoughtEmbedded) -> Pool:
    """A thought has its vector."""
    return _changed(state, event.thought, embedded=True)._replace(dimension=event.dimension)


def clustered(state: Pool, event: ThoughtClustered) -> Pool:
    """A thought has another cluster, or none."""
    return _changed(state, event.thought, cluster=event.cluster)


def gathered(state: Pool, event: ClusterFormed | ClusterSplit) -> Pool:
    """Several thoughts came to a new cluster."""
    cluster = event.cluster if isinstance(event, ClusterFormed) else event.into
    members = frozenset(event.members)
    return state._replace(
        active=tuple(
            t._replace(cluster=cluster) if t.version in members else t for t in state.active
        )
    )


def merged(state: Pool, event: ClusterMerged) -> Pool:
    """One cluster became part of another."""
    return state._replace(
        active=tuple(
            t._replace(cluster=event.cluster) if t.cluster == event.absorbed else t
            for t in state.active
        )
    )


def unembedded(state: Pool) -> Pool:
    """Vectors of another model are none of this one, nor are the clusters of them."""
    return state._replace(
        active=tuple(t._replace(embedded=False, cluster=None) for t in state.active), dimension=None
    )


def resized(state: Pool, size: int) -> Pool:
    """A smaller pool forgets at once; a larger one fills up with new thoughts."""
    return state._replace(active=state.active[-size:])


def _changed(state: Pool, version: int, **changes: Any) -> Pool:
    active = state.active
    # the thoughts that something happens to are mostly new ones, at the end
    for place in range(len(active) - 1, -1, -1):
        if active[place].version <= version:
            break
    else:
        return state
    if active[place].version != version:  # it has left the pool
        return state
    thought = active[place]._replace(**changes)
    return state._replace(active=(*active[:place], thought, *active[place + 1 :]))
