"""Average linkage (UPGMA), from similarities, up to a cut.

Sokal and Michener, 1958; similarities between merged groups by the formula of Lance and Williams,
1967. Written out here since it decides what the log will say for ever: of equal pairs the first
one merges, on any machine and in any version of any library, and nothing is computed beyond the
cut.
"""

import numpy as np
from numpy.typing import NDArray


def linked(pairs: NDArray[np.float64], least: float) -> NDArray[np.int64]:
    """Merge the two most similar groups as long as they are similar enough on average.

    Args:
        pairs: similarities of each to each other, symmetric; the diagonal is not looked at.
        least: the similarity below which nothing is merged.

    Returns:
        For each the place of the first one of its group.
    """
    number = len(pairs)
    group = np.arange(number)
    if number < 2:
        return group
    near = pairs.astype(np.float64)
    np.fill_diagonal(near, -np.inf)
    size = np.ones(number)
    nearest = near.argmax(axis=1)
    best = near[group, nearest]
    while best.max() >= least:
        one = int(best.argmax())
        other = int(nearest[one])
        row = (size[one] * near[one] + size[other] * near[other]) / (size[one] + size[other])
        row[one] = -np.inf
        near[other] = near[:, other] = -np.inf
        near[one] = near[:, one] = row
        size[one] += size[other]
        group[group == other] = one
        best[other] = -np.inf
        # merging brings nobody nearer than the nearer one was, so only these have to look again
        again = np.flatnonzero(((nearest == one) | (nearest == other)) & (best > -np.inf))
        again = np.append(again, one)
        nearest[again] = near[again].argmax(axis=1)
        best[again] = near[again, nearest[again]]
    return group
