"""How a cluster came to be, and what became of it."""

from typing import NamedTuple

from domain.errors import NoSuchCluster
from domain.events import ClusterFormed, MindInvoked
from domain.log import Log
from domain.session import Session
from projections.causes import Told, at_version, told
from projections.clusters import Clusters, Member, Standing, Turning


class Turned(NamedTuple):
    """A decision about a cluster."""

    event: Told
    how: str | None
    """What found it, where it was formed."""
    similarity: float
    because: Told | None
    """The thought whose arrival led to it."""
    iteration: int | None
    """Which iteration brought that; None where somebody else did."""


class Founding(NamedTuple):
    """A cluster, and all decisions that made it what it is."""

    asked_for: int
    id: int
    """Its number; another one, if it has become part of that."""
    standing: Standing | None
    """None once the model of its vectors is no longer in use."""
    members: tuple[Member, ...]
    """Its newest thoughts, newest first."""
    turnings: tuple[Turned, ...]
    """Oldest first; the first one made it."""


def founding(log: Log, state: Session, cluster: int, members: int | None = None) -> Founding:
    """How a cluster came to be.

    Args:
        log: where the session lives.
        state: the session at the moment that is looked at.
        cluster: the number of the cluster.
        members: how many of its newest thoughts are told; all of them, if None.

    Raises:
        NoSuchCluster: no cluster ever had that number here.
    """
    clusters = Clusters(log, state)
    turnings = tuple(_turned(log, state, turning) for turning in clusters.turnings(cluster))
    try:
        id_ = clusters.named(cluster)
    except NoSuchCluster:
        if not turnings:
            raise
        return Founding(cluster, cluster, None, (), turnings)
    standing, newest = clusters.standing(id_), clusters.members(id_, members)
    return Founding(cluster, id_, standing, tuple(newest), turnings)


def _turned(log: Log, state: Session, turning: Turning) -> Turned:
    (recorded,) = log.pick(state.id, [turning.version])
    cause = at_version(log, state.id, recorded.cause) if recorded.cause is not None else None
    invoked = log.newest(state.id, ["mind.invoked"], upto=recorded.version)
    iteration = None
    if invoked is not None and invoked.command == recorded.command:
        iteration = invoked.event.iteration if isinstance(invoked.event, MindInvoked) else None
    event = turning.event
    return Turned(
        told(recorded),
        event.how if isinstance(event, ClusterFormed) else None,
        event.similarity,
        told(cause) if cause is not None else None,
        iteration,
    )
