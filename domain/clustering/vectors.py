"""Embeddings as they are stored: unit vectors, rounded once, as little-endian floats.

Every number is a multiple of 2⁻²⁴: those of float16 always are, those of float32 are rounded to
it. So sums of vectors are exact in float64 (up to 5·10⁸ of them), whatever the order, and what
was added can be taken away again without a trace.
"""

from typing import Literal

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
    vector = np.frombuffer(data, "<f2" if size == 2 else "<f4").astype(np.float64)
    if not np.isfinite(vector).all():
        raise ValueError("a vector with numbers that are not finite")
    return vector
