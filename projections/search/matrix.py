"""All vectors of an index in memory: each question is compared with each, so nothing is missed."""

import sqlite3
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TOGETHER = 1024
"""Vectors that are compared at once: they stay in the processor's cache."""


class Near(NamedTuple):
    """A text that is near, by its nearest passage."""

    text: int
    start: int
    """Where in the text that passage begins."""
    similarity: float
    """The cosine."""


class _Arrays(NamedTuple):
    """One row, or one number, a passage."""

    texts: "NDArray[np.int64]"
    starts: "NDArray[np.int32]"
    scales: "NDArray[np.float32]"
    numbers: "NDArray[np.int8]"

    def of(self, chosen: "NDArray[np.bool_]") -> "_Arrays":
        """Some of the passages."""
        return _Arrays(
            self.texts[chosen], self.starts[chosen], self.scales[chosen], self.numbers[chosen]
        )


class Matrix:
    """The vectors: 40 MB for 100,000 passages of 384 numbers."""

    def __init__(self) -> None:
        """Empty, before :meth:`load`."""
        self._last, self._model = 0, ""
        self._arrays: _Arrays | None = None

    def load(self, connection: sqlite3.Connection, model: str) -> int:
        """Read what a model made since, and tell how many vectors of it there are."""
        if model != self._model:
            self._last, self._model, self._arrays = 0, model, None
        rows = connection.execute(
            "SELECT id, texts, starts, scales, numbers FROM vectors WHERE id > ? AND model = ?"
            " ORDER BY id",
            (self._last, model),
        ).fetchall()
        if rows:
            self._last = rows[-1][0]
            self._add([b"".join(row[n] for row in rows) for n in range(1, 5)])
        return 0 if self._arrays is None else len(self._arrays.texts)

    def _add(self, parts: list[bytes]) -> None:
        import numpy as np  # noqa: PLC0415 — only where there are vectors

        texts = np.frombuffer(parts[0], "<i8")
        new = _Arrays(
            texts,
            np.frombuffer(parts[1], "<i4"),
            np.frombuffer(parts[2], "<f4"),
            np.frombuffer(parts[3], np.int8).reshape(len(texts), -1),
        )
        old = self._arrays
        self._arrays = (
            new
            if old is None
            else _Arrays(
                np.concatenate((old.texts, new.texts)),
                np.concatenate((old.starts, new.starts)),
                np.concatenate((old.scales, new.scales)),
                np.concatenate((old.numbers, new.numbers)),
            )
        )

    def nearest(
        self, vector: bytes, floor: float, most: int, among: Collection[int] | None = None
    ) -> list[Near]:
        """The texts that are nearest, nearest first.

        Args:
            vector: of length 1, as little-endian float16.
            floor: the least cosine.
            most: at most so many texts.
            among: only these texts; None means all.
        """
        import numpy as np  # noqa: PLC0415 — as above

        arrays = self._arrays
        if arrays is None:
            return []
        if among is not None:
            chosen = np.isin(arrays.texts, np.fromiter(among, np.int64, len(among)))
            arrays = arrays.of(chosen)
        likeness = _cosines(arrays, np.frombuffer(vector, "<f2").astype(np.float32))
        places = np.flatnonzero(likeness >= floor)
        if len(places) > 4 * most:  # a text has a few passages, most have one
            best = np.argpartition(-likeness[places], 4 * most)[: 4 * most]
            places = places[best]
        places = places[np.lexsort((arrays.texts[places], -likeness[places]))]
        found: dict[int, Near] = {}
        for place in places:
            text = int(arrays.texts[place])
            if text not in found:
                found[text] = Near(text, int(arrays.starts[place]), float(likeness[place]))
                if len(found) == most:
                    break
        return list(found.values())


def _cosines(arrays: _Arrays, vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Of one vector with each; a few at a time, since whole floats would not fit the cache."""
    import numpy as np  # noqa: PLC0415 — as above

    numbers = arrays.numbers
    found = np.empty(len(numbers), np.float32)
    floats = np.empty((min(_TOGETHER, len(numbers)), numbers.shape[1]), np.float32)
    for start in range(0, len(numbers), _TOGETHER):
        some = numbers[start : start + _TOGETHER]
        part = floats[: len(some)]
        np.copyto(part, some)
        np.dot(part, vector, out=found[start : start + len(some)])
    found *= arrays.scales
    return found
