"""The two-phase clustering of the first requirements, written apart from ours to check it against.

A thought joins the nearest cluster whose arithmetic mean is closer than a cosine distance of 0.3;
after each iteration HDBSCAN is given those of the pool that have no cluster. Nothing here is shared
with ``domain/clustering/``, and nothing is made fast.
"""

from collections.abc import Sequence

import numpy as np
from hdbscan import HDBSCAN
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Rows = NDArray[np.float64]


def two_phase(
    rows: Rows, *, threshold: float = 0.3, smallest: int = 3, pool: int = 50, each: int = 5
) -> list[int | None]:
    """The cluster of each thought at the end, numbered from 1; None for noise.

    Args:
        rows: one thought a row, in the order in which they come; HDBSCAN takes them as they are.
        threshold: cosine distance to a centroid; it must be less than that.
        smallest: the fewest members of a new cluster, and HDBSCAN's ``min_samples``.
        pool: how many of the newest thoughts are active.
        each: thoughts of one iteration.
    """
    labels: list[int | None] = [None] * len(rows)
    members: dict[int, list[int]] = {}
    for start in range(0, len(rows), each):
        arrived = range(start, min(start + each, len(rows)))
        for thought in arrived:
            far = {c: _distance(rows[thought], rows[own].mean(0)) for c, own in members.items()}
            nearest = min(far, key=far.__getitem__, default=0)
            if nearest and far[nearest] < threshold:
                labels[thought] = nearest
                members[nearest].append(thought)
        active = range(max(0, arrived.stop - pool), arrived.stop)
        left = [thought for thought in active if labels[thought] is None]
        for group in clusters(rows[left], smallest, smallest):
            name = len(members) + 1
            members[name] = [left[place] for place in group]
            for thought in members[name]:
                labels[thought] = name
    return labels


def clusters(rows: Rows, smallest: int, samples: int) -> list[list[int]]:
    """HDBSCAN on Euclidean distances between rows as they are ordered: places by cluster."""
    if len(rows) < max(smallest, samples):
        return []
    apart = cdist(rows, rows)
    labels: Sequence[int] = (
        HDBSCAN(min_cluster_size=smallest, min_samples=samples, metric="precomputed")
        .fit(apart)
        .labels_
    )
    return [[int(p) for p in np.flatnonzero(labels == c)] for c in range(max(labels) + 1)]


def _distance(one: Rows, other: Rows) -> float:
    return 1 - float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
