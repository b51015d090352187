"""What counts as similar, measured on the thoughts themselves.

Sentence models put all their vectors into a cone, each its own: two unrelated thoughts have a
cosine of 0.05 by one model and of 0.7 by another. So vectors are centred on the mean of all,
scaled, and thresholds are counted in deviations of what two thoughts usually have in common.
"""

from typing import NamedTuple

import numpy as np

from domain.clustering.vectors import Vector, Vectors

PRIOR = 20
"""Thoughts' worth of weight for what is assumed before there are many."""

PRIOR_DEVIATION = 0.10

SAMPLE = 512
"""Most thoughts that the pairs are taken from."""

STEADY, STEADY_SHIFT, STEADY_COUNT = 0.03, 0.03, 2000
"""Above so many thoughts, a calibration that would change this little is left out."""


ALIKE = 0.9
"""Cosine in the centred space from which on two thoughts say the same.

When a mind repeats itself, the mean of all moves onto what it repeats: seen from there even equal
thoughts have little in common, though they still lie in the very same direction.
"""


class Calibration(NamedTuple):
    """The space in which similarities are measured."""

    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    """The thoughts that it rests on."""
    mean: Vector
    scale: float
    deviation: float

    def similarity(self, one: Vector, other: Vector) -> float:
        """Of two vectors, or of two centroids: the average link of the thoughts behind them.

        Those that say the same count with their cosine, if that is more. Elementwise and summed
        pairwise, so that it is the same number on any machine; rounded, so that equal thoughts
        tie.
        """
        a, b = one - self.mean, other - self.mean
        product = float((a * b).sum())
        lengths = float(np.sqrt((a * a).sum() * (b * b).sum()))
        similarity = product / self.scale
        if product >= ALIKE * lengths > 0:
            similarity = max(similarity, product / lengths)
        return round(similarity, 9)


def mean_of(total: Vector, count: int) -> Vector:
    """The mean of all thoughts, drawn towards zero while they are few."""
    return np.asarray(total / (count + PRIOR))


def calibrated(rows: Vectors, mean: Vector, count: int) -> tuple[float, float]:
    """Measure scale and deviation.

    Args:
        rows: up to :data:`SAMPLE` thoughts.
        mean: what they are centred on.
        count: how many thoughts there are.

    Returns:
        Both rounded, so that no machine's last bit shows.
    """
    centred = rows - mean
    squares = (centred * centred).sum(axis=1)
    scale = round(max(float(squares.mean()), 1e-6), 6)
    pairs = len(rows) * (len(rows) - 1)
    gram = centred @ centred.T
    off = float((gram * gram).sum() - (squares * squares).sum()) / scale**2
    common = max(off, 0.0) / pairs if pairs else 0.0
    square = (count * common + PRIOR * PRIOR_DEVIATION**2) / (count + PRIOR)
    return scale, round(float(np.sqrt(square)), 6)
