"""Patience: the same question again, later each time, until an answer or the end of a budget."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from commands.minds.mind import Listener, Mind, MindFailed, Reply, Request
from domain.protocol.prompts import Dialect


@dataclass(frozen=True)
class Patient:
    """A mind that is asked again after failures that may pass.

    The pause before attempt n+1 is drawn uniformly from 0 to ``base · 2^(n-1)`` seconds, at most
    ``longest`` (full jitter: many clients that failed together do not come back together). A wait
    that the provider asks for is kept, up to ``longest``. Ctrl-C ends a pause at once.

    Listeners hear each attempt from its beginning; ``on_retry`` says when a new one starts.
    """

    mind: Mind
    attempts: int = 3
    """The most times that one request is sent."""
    budget: float = 300.0
    """Seconds for all attempts and pauses; no pause begins that would end after it."""
    base: float = 1.0
    """Seconds of the longest first pause."""
    longest: float = 30.0
    """Seconds of the longest pause."""
    on_retry: Callable[[MindFailed, float], None] | None = None
    """Told the failure and the seconds of the pause that now begins."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)
    """``Event.wait`` fits too, for a runner that is stopped from another thread."""
    chance: Callable[[], float] = field(default=random.random, repr=False)
    """Uniform in [0, 1)."""

    @property
    def name(self) -> str:
        """The name of the mind that is asked."""
        return self.mind.name

    @property
    def dialect(self) -> Dialect:
        """The dialect of the mind that is asked."""
        return self.mind.dialect

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Ask until it answers; latency and attempts are those of all tries together.

        Raises:
            MindFailed: the last failure, with the longest partial text of all of them.
            MindUnavailable: as the mind raises it; asking again would not help.
        """
        began = self.clock()
        partial = ""
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = self.mind.reply(request, listener)
            except MindFailed as failure:
                partial = max(partial, failure.partial, key=len)
                pause = self._pause(failure, attempt, self.clock() - began)
                if pause is None:
                    raise self._gave_up(failure, partial, attempt, began) from failure
                if self.on_retry:
                    self.on_retry(failure, pause)
            else:
                return answer._replace(attempts=attempt, latency_ms=self._since(began))
            self.sleep(pause)

    def _pause(self, failure: MindFailed, attempt: int, spent: float) -> float | None:
        """Seconds until the next attempt; None where there is to be none."""
        if attempt >= self.attempts:
            return None
        pause = pause_after(failure, attempt, self.base, self.longest, self.chance)
        return pause if pause is not None and spent + pause < self.budget else None

    def _gave_up(self, failure: MindFailed, partial: str, attempt: int, began: float) -> MindFailed:
        tries = f" It was asked {attempt} times." if attempt > 1 else ""
        return MindFailed(
            failure.sentence + tries,
            retryable=failure.retryable,
            retry_after=failure.retry_after,
            partial=partial,
            attempts=attempt,
            latency_ms=self._since(began),
            status=failure.status,
        )

    def _since(self, began: float) -> int:
        return round((self.clock() - began) * 1000)


def pause_after(
    failure: MindFailed, attempt: int, base: float, longest: float, chance: Callable[[], float]
) -> float | None:
    """Seconds to wait before a failed request is sent again; None where that would not help.

    Args:
        failure: what came of the attempt; a wait that it asks for is kept, up to ``longest``.
        attempt: which one failed, from 1.
        base: the bound of the first pause.
        longest: the bound of all.
        chance: uniform in [0, 1).
    """
    if not failure.retryable:
        return None
    return max(jittered(attempt, base, longest, chance), min(failure.retry_after or 0.0, longest))


def jittered(attempt: int, base: float, longest: float, chance: Callable[[], float]) -> float:
    """Seconds to wait behind an attempt: anywhere below a bound that doubles with each.

    Args:
        attempt: which one failed, from 1.
        base: the bound of the first.
        longest: where doubling ends.
        chance: uniform in [0, 1).
    """
    return chance() * min(longest, base * 2.0 ** (attempt - 1))
