"""Looking again at a cluster that has grown: has it parts, and does everybody belong?"""

from collections.abc import Iterator

import numpy as np

from domain.clustering.calibration import ALIKE, Calibration
from domain.clustering.founding import cohesion, groups, similarities
from domain.clustering.partition import ClusterEvent, Partition
from domain.events import ClusterSplit, ThoughtClustered

REFINED_AT_ONCE = 2
"""Clusters that are searched with one arrival."""

GROWTH = 1.5
"""How many times larger a cluster is at the next step."""

SAMPLED = 300
"""Most members that are looked at."""

NEIGHBOURS = 16
"""Other clusters that a member may move to."""

RELUCTANCE = 0.5
"""Deviations by which another cluster must fit better before a member moves there."""


def due(before: int, now: int, smallest: int) -> bool:
    """Whether a cluster has grown enough to be searched: once at each step of a ladder.

    Args:
        before: how many members it had before the thoughts that have just arrived.
        now: how many it has.
        smallest: the fewest members of any cluster.
    """
    rung = 2.0 * smallest
    while rung <= before:
        rung *= GROWTH
    return now >= rung


def refined(
    partition: Partition, cluster: int, least: float, smallest: int
) -> Iterator[ClusterEvent]:
    """Split, move, drop: each decision is applied before the next one is made."""
    calibration = partition.calibration
    if calibration is None:
        return
    for decisions in (
        _split(partition, cluster, least, smallest, calibration),
        _moved(partition, cluster, least, smallest, calibration),
    ):
        for event in decisions:
            partition.apply(event)
            yield event


def _sampled(partition: Partition, cluster: int) -> list[int]:
    """Its members by version, spread evenly over all where there are many."""
    members = sorted(partition.clusters[cluster].members)
    if len(members) <= SAMPLED:
        return members
    step = len(members) / SAMPLED
    return [members[int(place * step)] for place in range(SAMPLED)]


def _split(
    partition: Partition, cluster: int, least: float, smallest: int, calibration: Calibration
) -> Iterator[ClusterEvent]:
    members = _sampled(partition, cluster)
    pairs = similarities(partition.vectors(members), calibration)
    parts = groups(pairs, least, smallest, "linkage")
    parts.sort(key=lambda part: (-len(part), part[0]))
    for part in parts[1:]:
        yield ClusterSplit(
            cluster=cluster,
            into=partition.next_id,
            members=tuple(members[place] for place in part),
            similarity=round(cohesion(pairs, part), 4),
        )


def _moved(
    partition: Partition, cluster: int, least: float, smallest: int, calibration: Calibration
) -> Iterator[ClusterEvent]:
    """Members that fit elsewhere, or nowhere: each is looked at once, on what is left by then."""
    reluctance = RELUCTANCE * calibration.deviation
    neighbours = _neighbours(partition, cluster, calibration)
    versions = _sampled(partition, cluster)
    rows = partition.vectors(versions) - calibration.mean
    squares = (rows * rows).sum(axis=1) / calibration.scale
    begin = 0
    while begin < len(versions):
        size = partition.clusters[cluster].size
        if size <= smallest:
            return
        left = rows[begin:]
        middles = np.stack([partition.centroid(c) for c in (cluster, *neighbours)])
        near = np.round(left @ (middles - calibration.mean).T / calibration.scale, 9)
        own = (near[:, 0] * size - squares[begin:]) / (size - 1)
        best = near[:, 1:].max(axis=1, initial=-np.inf)
        moves = (best >= least) & (best > own + reluctance)
        middle = middles[0] - calibration.mean
        lengths = np.sqrt(squares[begin:] * calibration.scale * (middle @ middle))
        alike = near[:, 0] * calibration.scale >= ALIKE * lengths
        leaving = np.flatnonzero((moves | (own < least - 2 * reluctance)) & ~alike)
        if not len(leaving):
            return
        place = int(leaving[0])
        begin += place + 1
        if moves[place]:
            # of equal ones the oldest
            fits = zip(neighbours, near[place, 1:], strict=True)
            other = min(c for c, similarity in fits if similarity == best[place])
            similarity = float(best[place])
        else:
            other, similarity = None, float(own[place])
        yield ThoughtClustered(
            thought=versions[begin - 1],
            cluster=other,
            how="moved" if other is not None else "dropped",
            was=cluster,
            similarity=round(similarity, 4),
        )


def _neighbours(partition: Partition, cluster: int, calibration: Calibration) -> list[int]:
    table = partition.centroids
    if table is None:
        return []
    line = table.screened(partition.centroid(cluster)[None], calibration).similarities[0]
    near = np.arange(len(line))
    if len(line) > NEIGHBOURS + 1:  # itself is one of them
        # all as near as the last one that counts, so that ties do not depend on where rows stand
        near = np.flatnonzero(line >= np.partition(line, -NEIGHBOURS - 1)[-NEIGHBOURS - 1])
    found = [
        other.id
        for place in near[np.lexsort((table.keys[near], -line[near]))]
        if (other := partition.at_row(int(table.keys[place]))) is not None and other.id != cluster
    ]
    return found[:NEIGHBOURS]
