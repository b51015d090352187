"""Online average linkage, calibrated: the way thoughts are gathered by default.

One criterion decides everything: the average similarity of a thought to the members of a cluster
(average linkage, UPGMA), in a centred and scaled space, in units of what two thoughts usually
have in common. It needs a cluster's sum and size alone, so joining, merging and a cluster's own
cohesion are closed formulas. Groups are founded only near what is new; a cluster is searched for
parts when it has grown by half. Each step applies what it decided before the next one looks.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from domain.clustering.calibration import (
    ALIKE,
    PRIOR,
    STEADY,
    STEADY_COUNT,
    STEADY_SHIFT,
    Calibration,
    calibrated,
    mean_of,
)
from domain.clustering.founding import cohesion, founder_for, groups, similarities
from domain.clustering.partition import ClusterEvent, Partition
from domain.clustering.refining import REFINED_AT_ONCE, due, refined
from domain.clustering.rules import Rules
from domain.clustering.table import MARGIN
from domain.events import ClusterFormed, ClusteringCalibrated, ClusterMerged, ThoughtClustered
from domain.events.clusters import How

FOUNDING = 0.25
"""Deviations by which founders of a cluster must be closer than those who join one."""

GROWTH = 1.5
"""How many times more thoughts there are when the next calibration is due."""

MOST_COMMON = 0.25
"""The deviation at most: where a few themes are all there is, theirs is no measure of chance."""

NEAREST = 32
"""Thoughts standing alone that a new one may found a cluster with."""

RELINKED = 256
"""Newest thoughts standing alone that are all compared with each other after a calibration."""

AT_ONCE = 300_000
"""Thoughts standing alone times clusters: so many are looked at again after a calibration."""


class Levels(NamedTuple):
    """The similarities that it takes."""

    join: float
    found: float


def levels(calibration: Calibration, rules: Rules) -> Levels:
    """The thresholds of these settings in the calibrated space."""
    z, deviation = rules.granularity, min(calibration.deviation, MOST_COMMON)
    # never more than it takes to say the same, however much all thoughts have in common
    return Levels(min(z * deviation, ALIKE), min((z + FOUNDING) * deviation, ALIKE))


def online(partition: Partition, new: list[int], rules: Rules) -> Iterator[ClusterEvent]:
    """Decide about thoughts that have just been added to the partition, applying each decision."""
    step = _Step(partition, new, rules)
    yield from step.calibrate()
    for stage in (step.join, step.found, step.reach):
        yield from stage()
    if not rules.strict:
        yield from step.merge()
        yield from step.refine()


def _due(before: int, count: int) -> bool:
    """Whether a calibration falls between two numbers of thoughts."""
    rung = float(PRIOR)
    while rung <= before:
        rung *= GROWTH
    return count >= rung or count < PRIOR


class _Step:
    """One arrival of thoughts."""

    def __init__(self, partition: Partition, new: list[int], rules: Rules) -> None:
        self._partition, self._new, self._rules = partition, new, rules
        self._before: dict[int, int] = {}
        """Clusters that changed, and how many members they had before."""
        self._measured = False

    @property
    def _calibration(self) -> Calibration:
        calibration = self._partition.calibration
        if calibration is None:
            raise ValueError("nothing can be compared before the first calibration")
        return calibration

    @property
    def _levels(self) -> Levels:
        return levels(self._calibration, self._rules)

    def _decided(self, event: ClusterEvent) -> ClusterEvent:
        self._partition.apply(event)
        return event

    def calibrate(self) -> Iterator[ClusterEvent]:
        """Measure the space anew, while there are few thoughts and whenever half as many came.

        From some thousands on it is left out where it would change next to nothing.
        """
        partition, last = self._partition, self._partition.calibration
        count = partition.count
        if partition.total is None or not (last is None or _due(count - len(self._new), count)):
            return
        mean = mean_of(partition.total, count)
        scale, deviation = calibrated(partition.vectors(partition.spread()), mean, count)
        if last is not None and count > STEADY_COUNT:
            shift = float(np.sqrt(((mean - last.mean) ** 2).sum()))
            if abs(deviation / last.deviation - 1) < STEADY and shift < STEADY_SHIFT:
                return
        self._measured = True
        yield self._decided(ClusteringCalibrated(count=count, scale=scale, deviation=deviation))

    def join(self) -> Iterator[ClusterEvent]:
        """New thoughts join the cluster they are most similar to; others, after a calibration."""
        yield from self._joined(self._again(), "reached", None)
        yield from self._joined(self._new, "joined", None)

    def _again(self) -> list[int]:
        """The newest of those that stand alone: what counts as similar is not what it was."""
        partition, alone = self._partition, self._partition.alone
        if alone is None or not self._measured or not partition.clusters:
            return []
        most = AT_ONCE // len(partition.clusters)
        new = set(self._new)
        return [version for version in alone.newest(most) if version not in new]

    def _joined(
        self, versions: list[int], how: How, among: set[int] | None
    ) -> Iterator[ClusterEvent]:
        partition, calibration = self._partition, self._calibration
        least = self._levels.join
        table = partition.centroids
        if not versions or table is None or not len(table):
            return
        vectors = partition.vectors(versions)
        screened, alike = table.screened(vectors, calibration)
        keys = table.keys.copy()
        if among is not None:
            wanted = np.isin(keys, [partition.clusters[cluster].row for cluster in among])
            screened, alike, keys = screened[:, wanted], alike[:, wanted], keys[wanted]
        changed: set[int] = set()
        for place, version in enumerate(versions):
            line = screened[place]
            best = max(float(line.max(initial=-np.inf)), least)
            near = {
                found.id
                for row in keys[(line >= best - 2 * MARGIN) | alike[place]]
                if (found := partition.at_row(int(row))) is not None
            }
            # those that changed since the screening are looked at exactly, whatever it said
            scores = [
                (calibration.similarity(vectors[place], partition.centroid(cluster)), -cluster)
                for cluster in near | changed
            ]
            if scores and max(scores)[0] >= least:
                similarity, cluster = max(scores)
                changed.add(-cluster)
                self._before.setdefault(-cluster, partition.clusters[-cluster].size)
                yield self._decided(
                    ThoughtClustered(
                        thought=version, cluster=-cluster, how=how, similarity=round(similarity, 4)
                    )
                )

    def found(self) -> Iterator[ClusterEvent]:
        """New thoughts that still stand alone found clusters with others that do."""
        partition, calibration, rules = self._partition, self._calibration, self._rules
        candidates = self._candidates()
        if len(candidates) < rules.min_cluster_size:
            return
        least = self._levels.found
        pairs = similarities(partition.vectors(candidates), calibration)
        founder = founder_for(rules.founder, len(candidates))
        for group in groups(pairs, least, rules.min_cluster_size, founder):
            formed = ClusterFormed(
                cluster=partition.next_id,
                members=tuple(candidates[place] for place in group),
                how=founder,
                similarity=round(cohesion(pairs, group), 4),
            )
            self._before[formed.cluster] = 0
            yield self._decided(formed)

    def _candidates(self) -> list[int]:
        """Those among whom a new cluster can have come to be, in the order of their versions."""
        partition, alone = self._partition, self._partition.alone
        if alone is None:
            return []
        unplaced = [version for version in self._new if version in alone]
        if self._measured:
            return sorted({*unplaced, *alone.newest(RELINKED)})
        if not unplaced:
            return []
        near, alike = alone.screened(partition.vectors(unplaced), self._calibration)
        keys, least = alone.keys, self._levels.found - MARGIN
        found = set(unplaced)
        most = max(NEAREST, 2 * self._rules.min_cluster_size)
        for line in np.where(alike, np.maximum(near, least), near):
            close = np.flatnonzero(line >= least)
            if len(close) > most + 1:  # itself is one of them
                close = close[np.lexsort((keys[close], -line[close]))[: most + 1]]
            found.update(int(key) for key in keys[close])
        return sorted(found)

    def reach(self) -> Iterator[ClusterEvent]:
        """Thoughts that stand alone join clusters that have just changed."""
        partition, alone, centroids = (
            self._partition,
            self._partition.alone,
            self._partition.centroids,
        )
        if alone is None or centroids is None or not self._before or not len(alone):
            return
        ids = sorted(self._before)
        middles = np.stack([partition.centroid(cluster) for cluster in ids])
        screened, alike = alone.screened(middles, self._calibration)
        near = (screened >= self._levels.join - MARGIN) | alike
        close = alone.keys[near.any(axis=0)]
        yield from self._joined(sorted(int(key) for key in close), "reached", set(ids))

    def merge(self) -> Iterator[ClusterEvent]:
        """Clusters that changed become one with another that is similar enough, again and again."""
        partition = self._partition
        waiting = sorted(self._before)
        while waiting:
            pair = self._closest(waiting)
            if pair is None:
                return
            similarity, cluster, other = pair
            size = {c: (partition.clusters[c].size, -c) for c in (cluster, other)}
            keeps, goes = sorted(size, key=size.__getitem__, reverse=True)
            self._before.pop(goes, None)
            self._before.setdefault(keeps, partition.clusters[keeps].size)
            waiting = sorted({*waiting, keeps} - {goes})
            yield self._decided(
                ClusterMerged(cluster=keeps, absorbed=goes, similarity=round(similarity, 4))
            )

    def _closest(self, clusters: list[int]) -> tuple[float, int, int] | None:
        """The most similar pair that one of these clusters is in, if it is similar enough."""
        partition, table, calibration = (
            self._partition,
            self._partition.centroids,
            self._calibration,
        )
        if table is None or len(table) < 2:
            return None
        middles = np.stack([partition.centroid(cluster) for cluster in clusters])
        screened, alike = table.screened(middles, calibration)
        own = table.only([partition.clusters[cluster].row for cluster in clusters])
        screened[np.arange(len(clusters)), own] = -np.inf
        alike[np.arange(len(clusters)), own] = False
        least = self._levels.join
        best = max(float(screened.max()), least)
        near = np.argwhere((screened >= best - 2 * MARGIN) | alike)
        scores = [
            (calibration.similarity(middles[place], partition.centroid(other.id)), -one, -other.id)
            for place, column in near
            if (other := partition.at_row(int(table.keys[column]))) is not None
            for one in (clusters[place],)
        ]
        similarity, one, other_id = max(scores, default=(-np.inf, 0, 0))
        return (similarity, -one, -other_id) if similarity >= least else None

    def refine(self) -> Iterator[ClusterEvent]:
        """Search a few clusters that have grown for parts, and for members that fit elsewhere."""
        partition, rules = self._partition, self._rules
        wanting = [
            cluster
            for cluster, before in sorted(self._before.items())
            if due(before, partition.clusters[cluster].size, rules.min_cluster_size)
        ]
        for cluster in wanting[:REFINED_AT_ONCE]:
            yield from refined(partition, cluster, self._levels.join, rules.min_cluster_size)
