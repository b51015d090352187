"""The embedder on this machine, for English: MiniLM, no network, no key."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commands.embedders import minilm
from commands.embedders.embedder import Answer, EmbedderFailed
from commands.embedders.texts import readable

TOGETHER = 512
"""Tokens that are computed at once, padding included: some 20 short texts, two long ones. With
more of them it gets no faster, but takes hundreds of megabytes."""

LONGEST = 10_000
"""Characters that are looked at; a text's 254 word pieces are long over by then."""

MARKS = 2
"""The tokens that even an empty text has."""


@dataclass(frozen=True)
class LocalEmbedder:
    """MiniLM on one thread. It is loaded at the first text and then kept."""

    name: str
    file: Path
    """The model, see :mod:`commands.embedders.minilm`."""
    sha256: str = field(default=minilm.SHA256, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    model: str = "all-MiniLM-L6-v2-onnx-int8"

    def vectors(self, texts: Sequence[str], timeout: float) -> Answer:
        """Ask once, see :class:`commands.embedders.embedder.Embedder`."""
        import numpy as np  # noqa: PLC0415 - not before it is needed

        model = minilm.loaded(self.file, self.sha256)
        deadline = self.clock() + timeout
        tokens = [model.tokens(readable(text, LONGEST)) for text in texts]
        # of nothing but signs that the model does not know of, there is no vector
        told = [place for place, own in enumerate(tokens) if len(own) > MARKS]
        rows = np.full((len(texts), minilm.DIMENSION), np.nan, np.float32)
        for places in _alike(told, [len(own) for own in tokens]):
            if self.clock() > deadline:
                raise EmbedderFailed(
                    f"{self.name} did not embed {len(texts)} texts within {timeout:g} s:"
                    " allow more time.",
                    retryable=False,
                )
            rows[places] = model.vectors([tokens[place] for place in places])
        return Answer(rows, tokens=sum(map(len, tokens)), cost_usd=0.0)


def _alike(places: Iterable[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts of about the same length, so many as are computed at once."""
    batch: list[int] = []
    for place in sorted(places, key=lengths.__getitem__):
        # each text takes as much room as the longest of its batch, which is the one that comes now
        if batch and lengths[place] * (len(batch) + 1) > TOGETHER:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
