"""Vectors under keys, ready to be compared with all of them at once.

Single precision and matrix products make this fast and the last digits uncertain, so it serves
for screening: see :data:`MARGIN`. Rows move when one is dropped; nothing may depend on their
order.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.clustering.calibration import ALIKE, Calibration
from domain.clustering.vectors import Vector, Vectors

MARGIN = 2e-5
"""By how much a screened similarity may differ from the exact one."""


LIKELY = ALIKE - 0.02
"""Cosine from which on a row is worth an exact look; near the mean the last digits are few."""


class Screened(NamedTuple):
    """Vectors against all rows: one line a vector, one column a row."""

    similarities: NDArray[np.float32]
    """But for :data:`MARGIN`, where the two do not say the same."""
    alike: NDArray[np.bool_]
    """Where they may say the same."""


class Table:
    """Rows of single-precision vectors, each under a number."""

    def __init__(self, dimension: int) -> None:
        self._matrix: NDArray[np.float32] = np.zeros((0, dimension), np.float32)
        self._offset: NDArray[np.float32] = np.zeros(0, np.float32)
        self._length: NDArray[np.float32] = np.zeros(0, np.float32)
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._place: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, key: int) -> bool:
        return key in self._place

    @property
    def keys(self) -> NDArray[np.int64]:
        """The keys, in the order of the rows."""
        return self._keys[: len(self)]

    def oldest(self) -> int:
        """The smallest key."""
        return int(self.keys.min())

    def newest(self, number: int) -> list[int]:
        """The largest keys, so many at most, in rising order."""
        return sorted(self._place)[-number:]

    def vector(self, key: int) -> Vector:
        """The row under a key, exact where what was put there has single precision."""
        return np.asarray(self._matrix[self._place[key]], np.float64)

    def put(self, key: int, vector: Vector, calibration: Calibration | None) -> None:
        """Set the row under a key."""
        place = self._place.get(key)
        if place is None:
            place = len(self)
            if place == len(self._matrix):
                self._grow()
            self._place[key] = place
            self._keys[place] = key
        self._matrix[place] = vector
        if calibration is not None:
            centred = vector - calibration.mean
            self._offset[place] = vector @ calibration.mean
            self._length[place] = np.sqrt(centred @ centred)

    def drop(self, key: int) -> None:
        """Forget a row; the last one takes its place."""
        place = self._place.pop(key)
        last = len(self)
        if place != last:
            self._matrix[place] = self._matrix[last]
            self._offset[place] = self._offset[last]
            self._length[place] = self._length[last]
            self._keys[place] = moved = int(self._keys[last])
            self._place[moved] = place

    def measure(self, calibration: Calibration | None) -> None:
        """Take another calibration into account."""
        if calibration is not None:
            rows, mean = self._matrix[: len(self)], calibration.mean.astype(np.float32)
            self._offset[: len(self)] = rows @ mean
            centred = rows - mean
            self._length[: len(self)] = np.sqrt(np.einsum("ij,ij->i", centred, centred))

    def screened(self, vectors: Vectors, calibration: Calibration) -> Screened:
        """Screen some vectors against all rows."""
        size, mean = len(self), calibration.mean
        # this way round: a product that is wide and flat is several times as slow
        products = np.ascontiguousarray((self._matrix[:size] @ vectors.T.astype(np.float32)).T)
        products -= self._offset[:size]
        products += (mean @ mean - vectors @ mean).astype(np.float32)[:, None]
        centred = vectors - mean
        lengths = np.sqrt((centred * centred).sum(axis=1)).astype(np.float32)
        alike = products >= (LIKELY * lengths[:, None]) * self._length[:size]
        products /= np.float32(calibration.scale)
        return Screened(products, alike)

    def only(self, keys: NDArray[np.int64] | list[int]) -> NDArray[np.int64]:
        """Where the rows of these keys stand."""
        return np.array([self._place[int(key)] for key in keys], np.int64)

    def _grow(self) -> None:
        room = max(len(self._matrix), 64)
        self._matrix = np.concatenate(
            [self._matrix, np.zeros((room, self._matrix.shape[1]), np.float32)]
        )
        self._offset = np.concatenate([self._offset, np.zeros(room, np.float32)])
        self._length = np.concatenate([self._length, np.zeros(room, np.float32)])
        self._keys = np.concatenate([self._keys, np.zeros(room, np.int64)])
