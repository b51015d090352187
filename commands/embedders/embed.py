"""From texts to vectors as they are stored; what a provider does wrong costs its own texts only."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from commands.embedders.embedder import (
    Answer,
    Embedder,
    EmbedderFailed,
    EmbedderUnavailable,
)
from commands.embedders.patience import Patience
from commands.embedders.texts import batches, has_words

if TYPE_CHECKING:
    from domain.clustering.vectors import Precision

Number = TypeVar("Number", int, float)

LOST_IN_A_ROW = 3
"""After so many failed batches one after another, the rest is not even asked for."""

WORDLESS = "a text without words has none."


class Embedded(NamedTuple):
    """One vector as it is stored."""

    data: bytes
    """As :func:`domain.clustering.vectors.packed` gives it: of length 1, little-endian."""
    dimension: int
    """How many numbers it has."""
    model: str
    """What it was made with, see :attr:`commands.embedders.embedder.Embedder.model`."""


class Embeddings(NamedTuple):
    """What became of some texts."""

    found: tuple[Embedded | None, ...]
    """One for each text, in order; None where there is no vector."""
    problem: str | None = None
    """Why some or all are missing, in one sentence; None where none is."""
    tokens: int | None = None
    """Tokens of all answers; None where one of them does not say."""
    cost_usd: float | None = None
    """US dollars for all answers; None where nobody can say."""


def embed(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    precision: "Precision" = "float16",
    dimension: int | None = None,
    timeout: float = 30.0,
    budget: float = 120.0,
    attempts: int = 3,
    pause: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    chance: Callable[[], float] = random.random,
) -> Embeddings:
    """Embed texts, and say what is missing; nothing that a provider does is raised.

    Equal texts are asked for once. A failing batch loses only its own texts, a bad row only its
    own text.

    Args:
        embedder: who is asked.
        texts: any texts; those without words get no vector.
        precision: how many bits a number keeps.
        dimension: how many numbers a vector must have; None takes what the first good one has.
        timeout: seconds that one attempt at one batch may take.
        budget: seconds for everything, pauses included.
        attempts: the most times that one batch is sent.
        pause: how to wait; ``Event.wait`` fits too.
        clock: seconds that only go forward.
        chance: uniform in [0, 1), for the length of pauses.
    """
    patience = Patience(
        attempts, timeout, clock() + budget, clock=clock, sleep=pause, chance=chance
    )
    gathered = _Gathered(embedder, precision, dimension)
    failed = 0
    for batch in batches(text for text in texts if has_words(text)):
        if failed == LOST_IN_A_ROW:
            gathered.lose(batch, gathered.last_failure)
            continue
        try:
            answer = patience.ask(embedder, batch)
        except (EmbedderFailed, EmbedderUnavailable) as failure:
            gathered.lose(batch, failure.sentence)
            failed += 1
        else:
            gathered.take(batch, answer)
            failed = 0
    return gathered.of(texts)


class _Gathered:
    """What has been found and lost so far."""

    def __init__(self, embedder: Embedder, precision: "Precision", dimension: int | None) -> None:
        self.embedder, self.precision = embedder, precision
        self.wanted = dimension
        self.dimension = dimension
        self.found: dict[str, Embedded] = {}
        self.lost: dict[str, str] = {}
        """Why a text has no vector."""
        self.answers: list[Answer] = []
        self.last_failure = ""

    def lose(self, batch: Sequence[str], sentence: str) -> None:
        """Nothing came for any text of a batch."""
        self.last_failure = sentence
        self.lost.update(dict.fromkeys(batch, sentence))

    def take(self, batch: Sequence[str], answer: Answer) -> None:
        """Look at each row, and keep those that are a direction in the one space."""
        from domain.clustering.vectors import packed  # noqa: PLC0415 - brings numpy along

        self.answers.append(answer)
        width = answer.rows.shape[1]
        for text, data in zip(batch, packed(answer.rows, self.precision), strict=True):
            if data is None:
                self.lost[text] = (
                    f"{self.embedder.name} gave none that can be used: try again, or set another"
                    " embedding_model."
                )
            elif width != (self.dimension or width):
                self.lost[text] = self._misfit(width)
            else:
                self.dimension = width
                self.found[text] = Embedded(data, width, self.embedder.model)

    def _misfit(self, width: int) -> str:
        gave = f"{self.embedder.name} gave vectors of {width} numbers"
        if self.wanted is None:
            return f"{gave} after some of {self.dimension}: try again."
        return f"{gave} where others have {self.wanted}: embed all of them with one model."

    def of(self, texts: Sequence[str]) -> Embeddings:
        """The results in the order of the texts."""
        missing = Counter(self.lost.get(t, WORDLESS) for t in texts if t not in self.found)
        unknown = bool(self.lost) and not self.answers
        return Embeddings(
            found=tuple(self.found.get(text) for text in texts),
            problem=_told(missing, len(texts)) if missing else None,
            tokens=None if unknown else _sum(answer.tokens for answer in self.answers),
            cost_usd=None if unknown else _sum(answer.cost_usd for answer in self.answers),
        )


def _sum(numbers: Iterable[Number | None]) -> Number | None:
    """None as soon as one is unknown."""
    all_ = list(numbers)
    known = [number for number in all_ if number is not None]
    return sum(known) if len(known) == len(all_) else None


def _told(missing: Counter[str], count: int) -> str:
    """How many texts have no vector, and the reason of most of them."""
    lost = missing.total()
    [(reason, _)] = missing.most_common(1)
    if lost < count:
        who = f"{lost} of {count} texts {'has' if lost == 1 else 'have'} no vector"
    else:
        who = f"None of {count} texts has a vector" if count > 1 else "The text has no vector"
    return f"{who}: {reason}"
