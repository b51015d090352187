"""The clusters of a session as they stand at a moment, and how they came to be."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from domain.clustering.fold import partition_at
from domain.clustering.measures import mean_similarity
from domain.clustering.partition import Partition
from domain.errors import NoSuchCluster
from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    Event,
    ThoughtAdded,
)
from domain.ids import SessionId
from domain.log import Log
from domain.session import Session


class Standing(NamedTuple):
    """One cluster."""

    id: int
    active: int
    """Thoughts of it in the pool."""
    size: int
    """Thoughts of it in all."""
    coherence: float
    """Mean cosine of its pairs."""
    first: int
    last: int
    """Versions of its oldest and newest thought."""
    central: int
    """The thought nearest to its middle."""


class Member(NamedTuple):
    """A thought of a cluster."""

    version: int
    text: str
    iteration: int
    origin: str
    active: bool
    similarity: float
    """To the middle of the cluster: a cosine."""


class Link(NamedTuple):
    """Two clusters that are near each other."""

    one: int
    other: int
    similarity: float
    """Average link in the calibrated space, in deviations: at ``granularity`` they merge."""


class Turning(NamedTuple):
    """Something that made a cluster what it is."""

    version: int
    event: ClusterFormed | ClusterMerged | ClusterSplit


class Clusters:
    """The clusters of a session at a moment."""

    def __init__(self, log: Log, session: Session) -> None:
        self._log, self._session = log, session
        self.partition: Partition = partition_at(log, session.id, session.version)
        self._active = frozenset(thought.version for thought in session.pool.active)

    @property
    def alone(self) -> int:
        """How many thoughts with a vector stand alone, of all there are."""
        in_clusters = sum(cluster.size for cluster in self.partition.clusters.values())
        return self.partition.count - in_clusters

    def standings(self) -> list[Standing]:
        """All of them: those with most thoughts in the pool first, then the largest."""
        found = [self._standing(cluster) for cluster in self.partition.clusters]
        return sorted(found, key=lambda s: (-s.active, -s.size, s.id))

    def _standing(self, cluster: int) -> Standing:
        members = sorted(self.partition.clusters[cluster].members)
        total, size = self.partition.sum_of(cluster), len(members)
        newest = members[-300:]  # the middle moves slowly: among so many one is near it
        nearest = newest[int(np.argmax(self.partition.vectors(newest) @ total))]
        return Standing(
            id=cluster,
            active=len(self._active.intersection(members)),
            size=size,
            coherence=round(mean_similarity(total, size), 4) if size > 1 else 1.0,
            first=members[0],
            last=members[-1],
            central=nearest,
        )

    def named(self, cluster: int) -> int:
        """The cluster of an id, or the one that it has become part of.

        Raises:
            NoSuchCluster: no cluster ever had that id here, or its model is no longer in use.
        """
        living = self.partition.living(cluster)
        if living not in self.partition.clusters:
            raise NoSuchCluster(cluster, sorted(self.partition.clusters))
        return living

    def standing(self, cluster: int) -> Standing:
        """One of them; raises as :meth:`named`."""
        return self._standing(self.named(cluster))

    def members(self, cluster: int, most: int | None = None) -> list[Member]:
        """Its thoughts, newest first; raises as :meth:`named`."""
        living = self.named(cluster)
        versions = sorted(self.partition.clusters[living].members, reverse=True)[:most]
        middle = self.partition.sum_of(living)
        length = float(np.sqrt(middle @ middle)) or 1.0
        cosines = self.partition.vectors(versions) @ middle / length
        near = dict(zip(versions, cosines, strict=True))
        return [
            Member(
                r.version,
                r.event.text,
                r.event.iteration,
                r.event.origin,
                r.version in self._active,
                round(float(near[r.version]), 4),
            )
            for r in self._log.pick(self._session.id, versions)
            if isinstance(r.event, ThoughtAdded)
        ]

    def turnings(self, cluster: int) -> Iterator[Turning]:
        """When it was formed, split and merged, oldest first."""
        kinds = ["cluster.formed", "cluster.merged", "cluster.split"]
        for recorded in self._log.read(self._session.id, upto=self._session.version, kinds=kinds):
            event = recorded.event
            if isinstance(event, ClusterFormed | ClusterMerged | ClusterSplit) and (
                cluster in _concerned(event)
            ):
                yield Turning(recorded.version, event)

    def links(self, each: int = 3) -> list[Link]:
        """For each cluster the nearest others, so many at most; every pair once."""
        partition, calibration = self.partition, self.partition.calibration
        ids = sorted(partition.clusters)
        if calibration is None or len(ids) < 2:
            return []
        middles = np.stack([partition.centroid(cluster) for cluster in ids]) - calibration.mean
        near = middles @ middles.T / calibration.scale / calibration.deviation
        np.fill_diagonal(near, -np.inf)
        pairs = {
            (min(place, int(other)), max(place, int(other)))
            for place in range(len(ids))
            for other in np.argsort(-near[place], kind="stable")[:each]
        }
        found = [Link(ids[a], ids[b], round(float(near[a, b]), 2)) for a, b in pairs if a != b]
        return sorted(found, key=lambda link: (-link.similarity, link.one, link.other))


def _concerned(event: Event) -> tuple[int, ...]:
    match event:
        case ClusterFormed():
            return (event.cluster,)
        case ClusterMerged():
            return (event.cluster, event.absorbed)
        case ClusterSplit():
            return (event.cluster, event.into)
        case _:
            return ()


def texts(log: Log, session: SessionId, versions: list[int]) -> dict[int, str]:
    """The texts of thoughts by version."""
    return {
        recorded.version: recorded.event.text
        for recorded in log.pick(session, versions)
        if isinstance(recorded.event, ThoughtAdded)
    }


def sizes(partition: Partition, versions: list[int]) -> Counter[int]:
    """How many of these thoughts each cluster has."""
    return Counter(label for v in versions if (label := partition.label(v)) is not None)
