"""The two-phase way, kept for comparison: nearest centroid, then HDBSCAN on what is left.

A thought joins the nearest cluster if its cosine distance to the arithmetic mean is below a fixed
threshold; those of the pool that stand alone are given to HDBSCAN at every iteration. It knows no
calibration, never merges and never corrects itself; ``docs/clustering.md`` shows what that costs.
"""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from domain.clustering.measures import mean_similarity
from domain.clustering.partition import ClusterEvent, Partition
from domain.clustering.rules import Rules
from domain.clustering.vectors import Vector
from domain.events import ClusterFormed, ThoughtClustered


def two_phases(
    partition: Partition, new: list[int], rules: Rules, active: frozenset[int]
) -> Iterator[ClusterEvent]:
    """Decide about thoughts that have just been added, applying each decision."""
    for version in new:
        scores = [
            (_distance(partition.vectors([version])[0], partition.centroid(cluster)), cluster)
            for cluster in partition.clusters
        ]
        distance, cluster = min(scores, default=(np.inf, 0))
        if distance < rules.threshold:
            joined = ThoughtClustered(
                thought=version, cluster=cluster, how="joined", similarity=round(1 - distance, 4)
            )
            partition.apply(joined)
            yield joined
    for formed in _found(partition, rules, active):
        partition.apply(formed)
        yield formed


def _found(partition: Partition, rules: Rules, active: frozenset[int]) -> Iterator[ClusterFormed]:
    alone = partition.alone
    left = sorted(active.intersection(map(int, alone.keys))) if alone is not None else []
    if len(left) < rules.min_cluster_size or find_spec("hdbscan") is None:
        return
    from hdbscan import HDBSCAN  # noqa: PLC0415 — takes a second to import

    rows = partition.vectors(left)
    squares = (rows * rows).sum(axis=1)
    apart = np.maximum(squares[:, None] + squares[None, :] - 2 * rows @ rows.T, 0.0)
    size = rules.min_cluster_size
    labels = HDBSCAN(min_cluster_size=size, min_samples=size, metric="precomputed").fit_predict(
        np.sqrt(np.round(apart, 9))
    )
    for label in range(int(labels.max(initial=-1)) + 1):
        members = [left[int(place)] for place in np.flatnonzero(labels == label)]
        inner = partition.vectors(members)
        inner /= np.sqrt((inner * inner).sum(axis=1, keepdims=True))
        cosine = mean_similarity(inner.sum(axis=0), len(members))
        yield ClusterFormed(
            cluster=partition.next_id,
            members=tuple(members),
            how="hdbscan",
            similarity=round(cosine, 4),
        )


def _distance(one: Vector, other: Vector) -> float:
    lengths = np.sqrt((one * one).sum() * (other * other).sum())
    return round(1 - float((one * other).sum() / lengths), 9) if lengths else 1.0
