"""Finding groups among thoughts that stand alone, and parts within a cluster."""

from importlib.util import find_spec
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.clustering.calibration import ALIKE, Calibration
from domain.clustering.linkage import linked
from domain.clustering.vectors import Vectors
from domain.events.clusters import Founder

MANY = 200
"""Candidates from which on HDBSCAN takes the place of linkage, where it is installed."""

Similarities = NDArray[np.float64]
"""Of each thought to each other one, in the calibrated space."""


def similarities(rows: Vectors, calibration: Calibration) -> Similarities:
    """Of some thoughts to each other, rounded so that equal ones tie on any machine."""
    centred = rows - calibration.mean
    products = centred @ centred.T
    lengths = np.sqrt(np.maximum(np.diag(products), 1e-12))
    cosines = products / (lengths * lengths[:, None])
    plain = products / calibration.scale
    alike = np.where(cosines >= ALIKE, np.maximum(plain, cosines), plain)
    return np.asarray(np.round(alike, 9), np.float64)


def founder_for(wanted: Literal["auto", "linkage", "hdbscan"], candidates: int) -> Founder:
    """Which algorithm looks for groups among so many candidates."""
    if wanted != "auto":
        return wanted
    if candidates >= MANY and find_spec("hdbscan") is not None:
        return "hdbscan"
    return "linkage"


def groups(pairs: Similarities, least: float, smallest: int, founder: Founder) -> list[list[int]]:
    """Groups whose members are, on average, at least so similar.

    Args:
        pairs: similarities of the candidates, which stand in a lasting order.
        least: the similarity.
        smallest: the fewest members.
        founder: how they are found.

    Returns:
        Places of candidates, rising in each group; groups by their first member.
    """
    labels = _hdbscan(pairs, smallest) if founder == "hdbscan" else linked(pairs, least)
    found: dict[int, list[int]] = {}
    for place, label in enumerate(labels):
        if label >= 0:
            found.setdefault(int(label), []).append(place)
    return [
        members
        for members in found.values()
        if len(members) >= smallest and (founder == "linkage" or cohesion(pairs, members) >= least)
    ]


def cohesion(pairs: Similarities, members: list[int]) -> float:
    """The mean similarity of a group's pairs."""
    inner = pairs[np.ix_(members, members)]
    size = len(members)
    return float((inner.sum() - np.trace(inner)) / (size * (size - 1)))


def _hdbscan(pairs: Similarities, smallest: int) -> NDArray[np.int64]:
    """HDBSCAN on Euclidean distances in the calibrated space.

    Raises:
        ImportError: it was asked for and is not installed.
    """
    from hdbscan import HDBSCAN  # noqa: PLC0415 — takes a second to import

    if len(pairs) < max(smallest, 2):
        return np.full(len(pairs), -1)
    squares = np.diag(pairs)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * pairs, 0.0))
    # one sample: with more, ties of core distances are broken by the order of the rows
    found = HDBSCAN(min_cluster_size=smallest, min_samples=1, metric="precomputed")
    return np.asarray(found.fit_predict(distances), np.int64)
