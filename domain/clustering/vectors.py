"""Embeddings as they are stored: unit vectors, rounded once, as little-endian floats.

Every number is a multiple of 2⁻²⁴: those of float16 always are, those of float32 are rounded to
it. So sums of vectors are exact in float64 (up to 5·10⁸ of them), whatever the order, and what
was added can be taken away again without a trace.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Precision = Literal["float16", "float32"]

Vector = NDArray[np.float64]
"""One embedding, or a sum of them."""

Vectors = NDArray[np.float64]
"""Embeddings, one a row."""

GRID = 2.0**-24


def packed(vectors: NDArray[np.floating], precision: Precision = "float16") -> list[bytes | None]:
    """Normalise rows to length 1, round them, and give their bytes.

    Args:
        vectors: raw embeddings, one a row.
        precision: how many bits a number keeps.

    Returns:
        The bytes of each row; None for a row that has no direction: not finite, or all zero.
    """
    rows = np.asarray(vectors, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        # huge numbers may square to infinity: bring each row to a middling size first
        rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0), 1e-300)
        unit = rows / np.maximum(np.sqrt((rows * rows).sum(axis=1, keepdims=True)), 1e-300)
    good = np.isfinite(unit).all(axis=1) & (unit != 0).any(axis=1)
    if precision == "float16":
        stored = np.where(good[:, None], unit, 0).astype("<f2")
    else:
        stored = (np.rint(np.where(good[:, None], unit, 0) / GRID) * GRID).astype("<f4")
    return [row.tobytes() if fine else None for row, fine in zip(stored, good, strict=True)]


def unpacked(data: bytes, dimension: int) -> Vector:
    """The vector that :func:`packed` stored.

    Raises:
        ValueError: the bytes are not ``dimension`` finite numbers of two or four bytes.
    """
    size, rest = divmod(len(data), dimension) if dimension > 0 else (0, 1)
    if rest or size not in {2, 4}:
        raise ValueError(f"{len(data)} bytes are no vector of {dimension} numbers")
    vector = np.frombuffer(data, _KINDS[size]).astype(np.float64)
    if not np.isfinite(vector).all():
        raise ValueError("a vector with numbers that are not finite")
    return vector


_KINDS = {2: "<f2", 4: "<f4"}


class Stored(NamedTuple):
    """A vector as the log holds it."""

    data: bytes
    dimension: int


class Arrival(NamedTuple):
    """A thought that has just got its vector."""

    version: int
    stored: Stored


Fetch = Callable[[Sequence[int]], Iterable[Stored | int]]
"""Looks up vectors by thought, in the order asked for: the vector, or whose very vector it is."""


_READY = 64
"""Vectors that are kept unpacked: what has just come is looked at several times."""


class Shelf:
    """Vectors by thought: the newest at hand, older ones fetched."""

    def __init__(self, fetch: Fetch, room: int = 50_000) -> None:
        """An empty one.

        Args:
            fetch: looks up what is no longer at hand.
            room: how many are kept at hand, at least.
        """
        self._fetch, self._room = fetch, room
        self._at_hand: dict[int, Stored] = {}
        self._lasting: dict[int, Stored] = {}
        self._ready: dict[int, Vector] = {}

    def keep(self, thought: int, stored: Stored, *, lasting: bool = False) -> None:
        """Have a vector at hand; for good, where it can't be fetched by its thought."""
        # what a decision tried may have been another thought
        self._ready.pop(thought, None)
        if lasting:
            self._lasting[thought] = stored
            return
        if len(self._at_hand) >= 2 * self._room:
            for old in list(islice(self._at_hand, self._room)):
                del self._at_hand[old]
        self._at_hand[thought] = stored

    def clear(self) -> None:
        """Let go of all of them."""
        self._at_hand.clear()
        self._lasting.clear()
        self._ready.clear()

    def stored(self, thought: int) -> Stored:
        """A vector as it is stored.

        Raises:
            KeyError: there is none.
        """
        found = self._at_hand.get(thought) or self._lasting.get(thought)
        if found is not None:
            return found
        fetched = next(iter(self._fetch([thought])), None)
        if fetched is None:
            raise KeyError(thought)
        return fetched if isinstance(fetched, Stored) else self.stored(fetched)

    def one(self, thought: int) -> Vector:
        """An exact vector, not to be changed; raises as :meth:`stored`."""
        vector = self._ready.get(thought)
        if vector is None:
            vector = unpacked(*self.stored(thought))
            if len(self._ready) == _READY:
                self._ready.clear()
            self._ready[thought] = vector
        return vector

    def rows(self, thoughts: Sequence[int]) -> Vectors:
        """Exact vectors, one a row; raises as :meth:`stored`."""
        away = [t for t in thoughts if t not in self._at_hand and t not in self._lasting]
        fetched = dict(zip(away, self._fetch(away), strict=True)) if away else {}
        found: list[Stored] = []
        for thought in thoughts:
            one = fetched.get(thought)
            found.append(one if isinstance(one, Stored) else self.stored(one or thought))
        return matrix(found)


def matrix(stored: Sequence[Stored]) -> Vectors:
    """Stored vectors of one dimension, one a row."""
    first = stored[0]
    if all(len(one.data) == len(first.data) for one in stored):
        kind = _KINDS[len(first.data) // first.dimension]
        joined = np.frombuffer(b"".join(one.data for one in stored), kind)
        return joined.astype(np.float64).reshape(len(stored), -1)
    return np.stack([unpacked(*one) for one in stored])  # the precision was changed
