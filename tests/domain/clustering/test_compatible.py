"""The two-phase way against one that was written apart from it, at every step."""

from typing import Any

import numpy as np
import pytest

from domain.clustering.rules import Rules
from domain.clustering.vectors import unpacked
from domain.events import ClusterFormed, ThoughtClustered
from tests.domain.clustering.streams import Stream, check, dump, topics, vector

pytest.importorskip("hdbscan")

from tests.benchmarks.two_phase import two_phase

STREAMS: list[tuple[dict[str, Any], float, int, int, int]] = [
    ({"kinds": 8, "noise": 60}, 0.3, 3, 50, 5),
    ({"kinds": 12, "noise": 300, "seed": 2}, 0.3, 3, 50, 5),
    ({"kinds": 20, "noise": 300, "width": 24}, 0.5, 4, 30, 3),
    ({"kinds": 6, "noise": 500, "width": 32, "seed": 5}, 0.7, 2, 20, 7),
]


@pytest.mark.parametrize(("kind", "threshold", "smallest", "pool", "each"), STREAMS)
def test_the_same_at_every_step(
    kind: dict[str, Any], threshold: float, smallest: int, pool: int, each: int
) -> None:
    """Every label and every id."""
    thoughts = topics(140, **kind)
    rows = np.array([unpacked(*stored) for stored in thoughts])
    rules = Rules(mode="compatible", threshold=threshold, min_cluster_size=smallest)
    stream = Stream(rules, pool=pool)
    for start in range(0, 140, each):
        stream.arrives(*thoughts[start : start + each])
        if start % 4 == 0 or start > 130:
            upto = min(start + each, 140)
            assert stream.labels == two_phase(
                rows[:upto], threshold=threshold, smallest=smallest, pool=pool, each=each
            )
    check(stream)
    assert dump(stream.again()) == dump(stream.partition)
    assert {e.kind for e in stream.decided} == {"thought.clustered", "cluster.formed"}
    assert len(stream.partition.clusters) > 3
    assert None in stream.labels


def test_the_threshold_is_strict() -> None:
    """A distance of just that is too far."""
    stream = Stream(Rules(mode="compatible", threshold=0.4))
    stream.arrives(*[vector([1, 0])] * 4, *[vector([-1, 0])] * 4)
    assert stream.labels == [1] * 4 + [2] * 4
    (far,) = stream.decides(vector([4, 3])) or [None]  # 3-4-5: a cosine of 0.8
    assert isinstance(far, ThoughtClustered)
    exact = unpacked(*vector([4, 3]))
    cosine = float(exact[0] / np.sqrt((exact**2).sum()))
    assert far.similarity == round(cosine, 4)
    stream.rules = Rules(mode="compatible", threshold=round(1 - cosine, 9))
    assert stream.decides(vector([4, 3])) == []


def test_ties_go_to_the_older_cluster() -> None:
    """Two clusters with the very same middle: the lower id has it."""
    stream = Stream(Rules(mode="off")).lives([vector([3, 4, 12])] * 6)
    stream.happens(
        ClusterFormed(cluster=1, members=(4, 5, 6), how="hdbscan", similarity=1),
        ClusterFormed(cluster=2, members=(1, 2, 3), how="hdbscan", similarity=1),
    )
    stream.rules = Rules(mode="compatible")
    stream.arrives(vector([3, 4, 12]), vector([4, 3, 12]))
    assert stream.labels[6:] == [1, 1]


def test_what_has_left_the_pool_founds_nothing() -> None:
    """However alike it is to what is new."""
    same = [vector([1, 0, 0])] * 2
    others = [vector([1, -n, 30 * n]) for n in range(1, 4)]
    stream = Stream(Rules(mode="compatible"), pool=3)
    stream.arrives(*same)
    stream.arrives(*others)
    stream.arrives(same[0])
    assert [e for e in stream.decided if isinstance(e, ClusterFormed) and 1 in e.members] == []
    assert stream.labels[0] is None


def test_opposites_have_no_middle() -> None:
    """A cluster whose sum is zero is near to nobody."""
    stream = Stream(Rules(mode="compatible", threshold=2.0))
    stream.arrives(*[vector([1, 0]), vector([-1, 0])])
    stream.happens(ClusterFormed(cluster=1, members=(1, 2), how="hdbscan", similarity=-1.0))
    (joined,) = stream.decides(vector([0, 1]))
    assert isinstance(joined, ThoughtClustered)
    assert joined.similarity == 0.0
