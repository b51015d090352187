"""The same batch again, later each time, until vectors or the end of the time for all of them.

The rules are those of ``commands/minds/retry.py``, but for one: where a provider asks for a longer
wait than there may be, it is not asked again. A thought can wait for its vector, a reply can't.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from commands.embedders.embedder import Answer, Embedder, EmbedderFailed
from commands.minds.retry import jittered


@dataclass(frozen=True)
class Patience:
    """How often and how long one embedder is asked."""

    attempts: int
    """The most times that one batch is sent."""
    timeout: float
    """Seconds that one attempt may take."""
    ends: float
    """When, by the clock, the time for all batches is over."""
    base: float = 1.0
    """Seconds of the longest first pause; each later one may be twice as long."""
    longest: float = 30.0
    """Seconds of the longest pause."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)
    chance: Callable[[], float] = field(default=random.random, repr=False)
    """Uniform in [0, 1)."""

    def ask(self, embedder: Embedder, batch: Sequence[str]) -> Answer:
        """Ask until there is a row for each text.

        Raises:
            EmbedderFailed: the last failure.
            EmbedderUnavailable: as the embedder raises it; asking again would not help.
        """
        attempt = 0
        while True:
            attempt += 1
            left = self.ends - self.clock()
            if left <= 0:
                raise EmbedderFailed(
                    f"{embedder.name} had no time left: embed the rest later, or allow more time.",
                    retryable=True,
                )
            try:
                answer = embedder.vectors(batch, min(self.timeout, left))
                return _counted(embedder, answer, len(batch))
            except EmbedderFailed as failure:
                pause = self._pause(failure, attempt)
                if pause is None:
                    raise
            self.sleep(pause)

    def _pause(self, failure: EmbedderFailed, attempt: int) -> float | None:
        """Seconds until the next attempt; None where there is to be none."""
        if not failure.retryable or attempt >= self.attempts:
            return None
        jitter = jittered(attempt, self.base, self.longest, self.chance)
        pause = max(jitter, failure.retry_after or 0.0)
        return pause if pause <= self.longest and self.clock() + pause < self.ends else None


def _counted(embedder: Embedder, answer: Answer, texts: int) -> Answer:
    """A row too many or too few, and nobody knows which text a row belongs to."""
    if answer.rows.ndim == 2 and len(answer.rows) == texts:
        return answer
    raise EmbedderFailed(
        f"{embedder.name} answered with {len(answer.rows)} vectors for {texts} texts: try again.",
        retryable=True,
    )
