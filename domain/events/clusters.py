"""What was decided about clusters of thoughts. Replay reads these; nothing is ever decided twice.

A cluster's id is a number from 1 on, given once in a history. Similarities are average links in
the calibrated space (``domain/clustering/calibration.py``); in the compatible mode, cosines.
"""

from typing import Literal

from domain.events.base import Event

How = Literal["joined", "reached", "moved", "dropped"]
Founder = Literal["linkage", "hdbscan"]


class ThoughtClustered(Event):
    """A thought came to a cluster, or left one to stand alone."""

    kind: Literal["thought.clustered"] = "thought.clustered"
    thought: int
    """Its version."""
    cluster: int | None = None
    """None where it stands alone from now on."""
    how: How
    """It joined on arrival, was reached by a cluster that changed, moved to a better one, or was
    dropped by one that it no longer fits."""
    was: int | None = None
    """The cluster that it left."""
    similarity: float


class ClusterFormed(Event):
    """Thoughts that stood alone turned out to belong together."""

    kind: Literal["cluster.formed"] = "cluster.formed"
    cluster: int
    members: tuple[int, ...]
    """Versions of the thoughts, oldest first."""
    how: Founder
    similarity: float
    """Of its members, on average, to each other."""


class ClusterMerged(Event):
    """Two clusters turned out to be one."""

    kind: Literal["cluster.merged"] = "cluster.merged"
    cluster: int
    """The one that goes on."""
    absorbed: int
    """The one whose id is history now."""
    similarity: float


class ClusterSplit(Event):
    """A part of a cluster became one of its own."""

    kind: Literal["cluster.split"] = "cluster.split"
    cluster: int
    """The one that loses the part, and goes on."""
    into: int
    """The new one."""
    members: tuple[int, ...]
    similarity: float
    """Of the new one's members, on average, to each other."""


class ClusteringCalibrated(Event):
    """What counts as similar was measured anew, on the thoughts there are by now."""

    kind: Literal["clustering.calibrated"] = "clustering.calibrated"
    count: int
    """The thoughts that it rests on."""
    scale: float
    """Mean squared distance of a thought from the mean of all."""
    deviation: float
    """Root mean square of the similarity of two thoughts: the unit of all thresholds."""
