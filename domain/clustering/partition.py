"""Which thoughts belong together: a fold of what was decided, with all that deciding needs.

The sums of a cluster's vectors are exact (``vectors.py``), so the fold gives the same bits on any
machine and in any order, and a decision can be tried and taken back. Beside them stand rounded
copies for screening by matrix products; whatever comes near a threshold is computed exactly.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from numpy.typing import NDArray

from domain.clustering.calibration import SAMPLE, Calibration, mean_of
from domain.clustering.table import Table
from domain.clustering.vectors import Shelf, Stored, Vector, Vectors
from domain.events import (
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ThoughtClustered,
)

WINDOW = 10_000
"""Newest thoughts that stand alone and may still find company."""

ClusterEvent = (
    ThoughtClustered | ClusterFormed | ClusterMerged | ClusterSplit | ClusteringCalibrated
)


class Cluster:
    """A living cluster: where its sums stand, and who is in it."""

    __slots__ = ("id", "members", "row")

    def __init__(self, id_: int, row: int) -> None:
        self.id, self.row = id_, row
        self.members: list[int] = []

    @property
    def size(self) -> int:
        """How many thoughts it has, in the pool or beyond."""
        return len(self.members)


class Partition:
    """The clusters of one session's thoughts, and those that stand alone, at one version."""

    def __init__(self, shelf: Shelf) -> None:
        """An empty one; ``shelf`` looks up vectors of thoughts, however long ago they came."""
        self.shelf = shelf
        self._next = 1
        self._undo: list[Callable[[], object]] | None = None
        self._clear()

    def _clear(self) -> None:
        self.versions: list[int] = []
        """Every thought with a vector, in the order in which they got theirs."""
        self._embedded: set[int] = set()
        self.clusters: dict[int, Cluster] = {}
        self.calibration: Calibration | None = None
        self.total: Vector | None = None
        self.alone: Table | None = None
        self.centroids: Table | None = None
        self._sums: NDArray[np.float64] = np.zeros((0, 0))
        self._rows: list[Cluster | None] = []
        self._home: dict[int, int] = {}
        self._into: dict[int, int] = {}

    # reading

    @property
    def count(self) -> int:
        """How many thoughts have a vector."""
        return len(self.versions)

    @property
    def next_id(self) -> int:
        """The id of the next cluster; none is ever given twice."""
        return self._next

    def has(self, version: int) -> bool:
        """Whether a thought has a vector."""
        return version in self._embedded

    def label(self, version: int) -> int | None:
        """The cluster of a thought; None where it stands alone."""
        home = self._home.get(version)
        return None if home is None else self.living(home)

    def living(self, cluster: int) -> int:
        """The cluster that this one has become by merging; itself, mostly."""
        while (into := self._into.get(cluster)) is not None:
            if self._undo is None and into in self._into:
                # point past the one between, so that the next look is short
                self._into[cluster] = self._into[into]
            cluster = into
        return cluster

    def centroid(self, cluster: int) -> Vector:
        """The exact mean of a cluster's vectors."""
        found = self.clusters[cluster]
        return np.asarray(self._sums[found.row] / found.size)

    def sum_of(self, cluster: int) -> Vector:
        """The exact sum of a cluster's vectors."""
        return np.asarray(self._sums[self.clusters[cluster].row])

    def at_row(self, row: int) -> Cluster | None:
        """The cluster whose centroid stands in this row; None where one has been."""
        return self._rows[row]

    def vectors(self, versions: Sequence[int]) -> Vectors:
        """Exact vectors of thoughts, one a row."""
        return self.shelf.rows(versions)

    def spread(self) -> list[int]:
        """Thoughts spread evenly over all there are, at most as many as a calibration takes."""
        if self.count <= SAMPLE:
            return list(self.versions)
        step = self.count / SAMPLE
        return [self.versions[int(place * step)] for place in range(SAMPLE)]

    # folding

    def add(self, version: int, stored: Stored, *, lasting: bool = False) -> None:
        """A thought has a vector, and stands alone until something else is decided.

        A second vector of the same thought (two processes caught up at once) changes nothing.

        Args:
            version: the thought.
            stored: its vector.
            lasting: the vector came later than the thought, and can't be looked up by it.

        Raises:
            ValueError: it is no vector of this space.
        """
        if version in self._embedded:
            return
        if self.total is not None and stored.dimension != len(self.total):
            raise ValueError(
                f"a vector of {stored.dimension} among those of {len(self.total)} numbers"
            )
        self.shelf.keep(version, stored, lasting=lasting)
        vector = self.shelf.one(version)
        if self.total is None:
            self._note(self._clear)
            self.total = np.zeros(len(vector))
            self.alone, self.centroids = Table(len(vector)), Table(len(vector))
            self._sums = np.zeros((0, len(vector)))
        self.total += vector
        self.versions.append(version)
        self._embedded.add(version)
        self._note(lambda: self._forget(vector))
        self._stand_alone(version, vector)
        if self.alone is not None and len(self.alone) > WINDOW:
            self._leave(self.alone.oldest())

    def apply(self, event: ClusterEvent) -> None:
        """Something was decided."""
        match event:
            case ThoughtClustered():
                self._assign(event.thought, event.cluster)
            case ClusterFormed():
                self._found(event.cluster)
                for member in event.members:
                    self._assign(member, event.cluster)
            case ClusterSplit():
                self._found(event.into)
                for member in event.members:
                    self._assign(member, event.into)
            case ClusterMerged():
                self._merge(event.cluster, event.absorbed)
            case ClusteringCalibrated():
                self._calibrate(event)

    def restart(self) -> None:
        """Another model makes the vectors from now on: nothing that was compared still can be."""
        self.shelf.clear()
        self._clear()

    def successor(self) -> "Partition":
        """What :meth:`restart` would leave, beside this one."""
        after = Partition(Shelf(lambda _: ()))
        after._next = self._next
        return after

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Whatever is added or applied within is taken back at the end."""
        self._undo = []
        try:
            yield
        finally:
            steps, self._undo = self._undo, None
            for step in reversed(steps):
                step()

    # what each change is made of; every part notes how it is taken back

    def _note(self, step: Callable[[], object]) -> None:
        if self._undo is not None:
            self._undo.append(step)

    def _forget(self, vector: Vector) -> None:
        self._embedded.remove(self.versions.pop())
        self.total = self.total - vector if self.total is not None else None

    def _stand_alone(self, version: int, vector: Vector) -> None:
        alone = self.alone
        # what was redacted has no direction: it founds nothing and joins nothing any more
        if alone is not None and vector.any():
            alone.put(version, vector, self.calibration)
            self._note(partial(alone.drop, version))

    def _leave(self, version: int) -> None:
        alone = self.alone
        if alone is not None and version in alone:
            vector = alone.vector(version)
            alone.drop(version)
            # the calibration of then may not be that of now
            self._note(lambda: alone.put(version, vector, self.calibration))

    def _assign(self, version: int, cluster: int | None) -> None:
        """Take a thought out of where it is and into a cluster, or let it stand alone."""
        vector = self.shelf.one(version)
        was = self.label(version)
        if was is not None:
            self._change(self.clusters[was], version, vector, enters=False)
        if cluster is None:
            self._stand_alone(version, vector)
        else:
            self._leave(version)
            self._change(self.clusters[cluster], version, vector, enters=True)
        self._settle(version, cluster)

    def _settle(self, version: int, cluster: int | None) -> None:
        before = self._home.get(version)
        if cluster is None:
            self._home.pop(version, None)
        else:
            self._home[version] = cluster
        self._note(lambda: self._restore(version, before))

    def _restore(self, version: int, before: int | None) -> None:
        if before is None:
            self._home.pop(version, None)
        else:
            self._home[version] = before

    def _change(self, cluster: Cluster, version: int, vector: Vector, *, enters: bool) -> None:
        if enters:
            cluster.members.append(version)
            self._sums[cluster.row] += vector
        else:
            _take(cluster.members, version)
            self._sums[cluster.row] -= vector
        self._refresh(cluster)
        self._note(lambda: self._unchange(cluster, version, vector, entered=enters))

    def _unchange(self, cluster: Cluster, version: int, vector: Vector, *, entered: bool) -> None:
        if entered:
            _take(cluster.members, version)
            self._sums[cluster.row] -= vector
        else:
            cluster.members.append(version)
            self._sums[cluster.row] += vector
        self._refresh(cluster)

    def _refresh(self, cluster: Cluster) -> None:
        if self.centroids is None:
            return
        # neither has a cluster whose thoughts were all redacted
        if cluster.members and self._sums[cluster.row].any():
            self.centroids.put(
                cluster.row, self._sums[cluster.row] / cluster.size, self.calibration
            )
        elif cluster.row in self.centroids:
            self.centroids.drop(cluster.row)

    def _found(self, id_: int) -> None:
        row = len(self._rows)
        if row == len(self._sums):
            more = np.zeros((max(row, 16), self._sums.shape[1]))
            self._sums = np.concatenate([self._sums, more])
        before, cluster = self._next, Cluster(id_, row)
        self._rows.append(cluster)
        self.clusters[id_] = cluster
        self._next = max(self._next, id_ + 1)
        self._note(lambda: self._unfound(id_, before))

    def _unfound(self, id_: int, next_: int) -> None:
        self._rows.pop()
        del self.clusters[id_]
        self._next = next_

    def _merge(self, cluster: int, absorbed: int) -> None:
        keeps, goes = self.clusters[cluster], self.clusters.pop(absorbed)
        keeps.members += goes.members
        self._sums[keeps.row] += self._sums[goes.row]
        self._rows[goes.row] = None
        self._into[absorbed] = cluster
        self._refresh(keeps)
        if self.centroids is not None and goes.row in self.centroids:
            self.centroids.drop(goes.row)
        self._note(lambda: self._unmerge(keeps, goes))

    def _unmerge(self, keeps: Cluster, goes: Cluster) -> None:
        gone = set(goes.members)
        keeps.members[:] = [member for member in keeps.members if member not in gone]
        self._sums[keeps.row] -= self._sums[goes.row]
        self._rows[goes.row] = goes
        self.clusters[goes.id] = goes
        del self._into[goes.id]
        self._refresh(keeps)
        self._refresh(goes)

    def _calibrate(self, event: ClusteringCalibrated) -> None:
        if self.total is None:
            return
        mean = mean_of(self.total, self.count)
        self._space(Calibration(event.count, mean, event.scale, event.deviation))

    def _space(self, calibration: Calibration | None) -> None:
        before, self.calibration = self.calibration, calibration
        for table in (self.alone, self.centroids):
            if table is not None:
                table.measure(calibration)
        self._note(lambda: self._space(before))


def _take(members: list[int], version: int) -> None:
    """Take one out, which is mostly the one that came last."""
    if members[-1] == version:
        members.pop()
    else:
        members.remove(version)
