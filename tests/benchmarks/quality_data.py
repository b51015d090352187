"""Labelled texts for the quality benchmark: the files of ``tests/data``, embedded, and pools of 50.

See ``tests/data/README.md`` for what they are and where they come from.
"""

import os
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commands.embedders.choose import make_embedder
from commands.embedders.embed import embed
from domain.clustering.vectors import Stored, matrix

DATA = Path(__file__).parents[1] / "data"

SETS = ("thoughts", "questions", "nouns", "kinds")

OUTLIER = "-"
"""The label of texts that belong to no theme."""

THEMES, PER_THEME, OUTLIERS = 5, 8, 10
"""What a pool is drawn from: 50 thoughts."""


class Labelled(NamedTuple):
    """Thoughts, and which of them a reader would put together."""

    name: str
    stored: tuple[Stored, ...]
    truth: tuple[int, ...]
    """A number for each theme; each text without a theme has a number of its own."""
    outliers: int

    @property
    def rows(self) -> NDArray[np.float64]:
        """The vectors, one a row."""
        return matrix(self.stored)

    @property
    def themes(self) -> int:
        """How many themes there are."""
        return len(set(self.truth)) - self.outliers

    @property
    def visible(self) -> float:
        """Share of texts with a theme whose nearest neighbour has the same: what can be seen."""
        likeness = self.rows @ self.rows.T
        np.fill_diagonal(likeness, -2)
        truth = np.array(self.truth)
        themed = np.bincount(truth)[truth] > 1
        return float((truth[likeness.argmax(axis=1)] == truth)[themed].mean())

    def drawn(self, places: Sequence[int]) -> "Labelled":
        """Some of the thoughts, in the order of ``places``."""
        return self._replace(
            stored=tuple(self.stored[p] for p in places),
            truth=tuple(self.truth[p] for p in places),
        )

    def shuffled(self, seed: int) -> tuple["Labelled", list[int]]:
        """The thoughts in another order, and where each of them stood."""
        order = list(range(len(self.truth)))
        random.Random(seed).shuffle(order)  # noqa: S311 — not for secrets
        return self.drawn(order), order


class EmbedderMissing(Exception):
    """The local embedder gave no vectors; the sentence says why."""


def read(file: Path) -> tuple[list[str], list[str]]:
    """The labels and the texts of a file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(line.split("\t") for line in lines), strict=True)
    return list(labels), list(texts)


@cache
def labelled(name: str) -> Labelled:
    """A set, embedded on this machine.

    Raises:
        EmbedderMissing: there are no vectors for all of its texts.
    """
    labels, texts = read(DATA / f"{name}.tsv")
    answer = embed(make_embedder("local", os.environ), texts, budget=600)
    stored = [Stored(found.data, found.dimension) for found in answer.found if found]
    if len(stored) < len(texts):
        raise EmbedderMissing(answer.problem)
    return Labelled(name, tuple(stored), tuple(_numbered(labels)), labels.count(OUTLIER))


def pools(whole: Labelled, count: int) -> Iterator[Labelled]:
    """Pools of 50: five themes of eight thoughts, and ten that belong with nothing else there.

    A stray comes from a theme that gives no other, or from none.
    """
    at: dict[int, list[int]] = {}
    for place, theme in enumerate(whole.truth):
        at.setdefault(theme, []).append(place)
    large = [theme for theme, places in at.items() if len(places) >= PER_THEME]
    for seed in range(count):
        dice = random.Random(f"{whole.name} {seed}")  # noqa: S311 — not for secrets
        chosen = dice.sample(large, THEMES)
        strays = dice.sample([theme for theme in at if theme not in chosen], OUTLIERS)
        places = [place for theme in chosen for place in dice.sample(at[theme], PER_THEME)]
        places += [dice.choice(at[theme]) for theme in strays]
        dice.shuffle(places)
        yield whole.drawn(places)._replace(outliers=OUTLIERS)


def _numbered(labels: Sequence[str]) -> Iterator[int]:
    numbers: dict[str, int] = {}
    for place, label in enumerate(labels):
        key = f"{label}{place}" if label == OUTLIER else label
        yield numbers.setdefault(key, len(numbers))
