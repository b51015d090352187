"""How diverse thoughts are: numbers that say when thinking goes round in circles."""

from collections.abc import Iterable
from typing import NamedTuple

from domain.clustering.vectors import Vector, Vectors

WINDOW = 100
"""Newest thoughts that are looked at."""

FEWEST = 30
"""Thoughts below which nothing is said about them."""


def mean_similarity(total: Vector, count: int) -> float:
    """Mean cosine of all pairs of unit vectors, from their sum alone.

    Args:
        total: the sum of the vectors.
        count: how many there are; at least two.
    """
    return (float(total @ total) - count) / (count * (count - 1))


def directions(rows: Vectors) -> float:
    """How many directions thoughts go in, effectively: the Vendi score of order 2.

    The inverse of the mean squared cosine of all pairs (itself included): 1 when all are the
    same, their number when all are at right angles. Friedman and Dieng, "The Vendi Score", 2023.
    """
    gram = rows @ rows.T
    return len(rows) ** 2 / float((gram * gram).sum())


class Diversity(NamedTuple):
    """Of some thoughts."""

    thoughts: int
    similarity: float
    """Mean cosine of two of them."""
    directions: float
    """See :func:`directions`."""


def diversity(rows: Vectors) -> Diversity | None:
    """Measure thoughts; None where they are fewer than two.

    Args:
        rows: their vectors, of length 1 but for rounding; those of redacted ones, which are
            zeros, do not count.
    """
    rows = rows[rows.any(axis=1)]
    if len(rows) < 2:
        return None
    similarity = mean_similarity(rows.sum(axis=0), len(rows))
    return Diversity(len(rows), round(similarity, 4), round(directions(rows), 2))


SIMILAR, RISEN, FEW_DIRECTIONS, LARGE_SHARE = 0.5, 0.15, 3.0, 0.30
"""Where each of the alarms goes off; ``docs/clustering.md`` says where they come from."""


def alarms(
    now: Diversity | None, beginning: Diversity | None, largest_share: float
) -> Iterable[str]:
    """What is to be worried about, each in a few words.

    Args:
        now: the newest :data:`WINDOW` thoughts.
        beginning: the first ones.
        largest_share: the part of the newest thoughts that the largest cluster has.
    """
    if now is None or now.thoughts < FEWEST:
        return
    rose = now.similarity - beginning.similarity if beginning else 0.0
    if now.similarity >= SIMILAR or rose >= RISEN:
        before = f", {beginning.similarity:.2f} in the beginning" if beginning else ""
        yield f"thoughts grow alike (mean similarity {now.similarity:.2f}{before})"
    if now.directions < FEW_DIRECTIONS:
        yield f"they go in few directions ({now.directions:.1f})"
    if largest_share > LARGE_SHARE:
        yield f"one cluster has {largest_share:.0%} of them"
