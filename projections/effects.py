"""What comes of a deed in the course of time: each of these is the present answer for one deed.

Events change them (``_replace``), and at any moment they can tell what they know.
"""

from typing import Any, NamedTuple

from domain.events import MindInvoked
from domain.events.runs import Mode
from domain.ids import RunId
from domain.sentences import count

Facts = dict[str, Any]
"""What is known of a deed, for programs: plain enough for JSON, times in seconds."""


class Effect(NamedTuple):
    """What came of a deed, for people and for programs."""

    text: str
    facts: Facts


class Entry(NamedTuple):
    """A deed as it enters the book."""

    what: str
    effect: str | None
    """None where later events tell."""
    facts: Facts


class Offered(NamedTuple):
    """A draft of the open exchange."""

    at: int
    """Microseconds since 1970, UTC."""
    repeats: int | None


class Question(NamedTuple):
    """A message, and how long it waited for its answer."""

    position: int
    """Of the deed, here and below; 0 for one that nobody asks about."""
    version: int
    at: int
    iterations: int = 0
    """How many saw it while it was open."""

    def told(self, drafts: int, answer: int | None, until: int) -> Effect:
        """Which of the drafts became the answer, if one has."""
        many = count(self.iterations, "iteration")
        facts = {"answered_by": answer, "drafts": drafts, "iterations": self.iterations}
        if answer is None:
            return Effect(f"still open: {count(drafts, 'draft')} after {many}", facts)
        took = seconds(until - self.at)
        text = f"answered by draft {answer} of {drafts} after {many}, {span(took)}"
        return Effect(text, {**facts, "seconds": took})


class Tally(NamedTuple):
    """A run, and what it has brought so far."""

    position: int
    version: int
    run: RunId
    mode: Mode
    iterations: int = 0
    failed: int = 0
    """Iterations that failed or could not be read."""
    drafts: int = 0
    thoughts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    """Sum of the known costs."""
    unknown_costs: int = 0
    """Iterations whose cost nobody could say."""

    def after(self, event: MindInvoked) -> "Tally":
        """One more iteration."""
        return self._replace(
            iterations=self.iterations + 1,
            failed=self.failed + (event.outcome in {"failed", "unparseable"}),
            tokens_in=self.tokens_in + (event.tokens_in or 0),
            tokens_out=self.tokens_out + (event.tokens_out or 0),
            cost_usd=self.cost_usd + (event.cost_usd or 0.0) + (event.embedding_cost_usd or 0.0),
            unknown_costs=self.unknown_costs + (event.cost_usd is None),
        )

    def told(self, end: str) -> Effect:
        """What it brought, and how it ended."""
        failed = f" ({self.failed} failed)" if self.failed else ""
        parts = [
            count(self.iterations, "iteration") + failed,
            count(self.drafts, "draft"),
            count(self.thoughts, "thought"),
            f"{self.tokens_in} → {self.tokens_out} tokens",
            *([f"${self.cost_usd:.4f}"] if self.cost_usd else []),
        ]
        facts = {name: getattr(self, name) for name in self._fields[4:]}
        return Effect(f"{', '.join(parts)}; {end}", {**facts, "end": end})


class Heard(NamedTuple):
    """A signal of the user, and the iterations for which it was the newest."""

    position: int
    version: int
    before: str
    """What it replaced."""
    first: int = 0
    last: int = 0
    times: int = 0

    def by(self, iteration: int) -> "Heard":
        """One more iteration saw it."""
        return self._replace(first=self.first or iteration, last=iteration, times=self.times + 1)

    def told(self) -> Effect:
        """What it replaced, and who saw it."""
        seen = "seen by no iteration"
        if self.times:
            seen = f"seen by iteration {self.first}"
        if self.times > 1:
            seen = f"seen by iterations {self.first} to {self.last}"
        facts = {"first": self.first or None, "last": self.last or None, "seen": self.times}
        return Effect(f"was {self.before}; {seen}", facts)


class Shown(NamedTuple):
    """A thought that somebody put into the pool, and how often the mind was shown it."""

    position: int
    first: int = 0
    times: int = 0
    recalled: int = 0
    """How often of these it was called back from beyond the pool."""

    def by(self, iteration: int, *, recalled: bool) -> "Shown":
        """One more iteration was shown it."""
        return self._replace(
            first=self.first or iteration,
            times=self.times + 1,
            recalled=self.recalled + recalled,
        )

    def told(self) -> Effect:
        """How often, and when first."""
        text = "never shown to the mind"
        if self.times == 1:
            text = f"shown to the mind once, in iteration {self.first}"
        elif self.times:
            text = f"shown to the mind {self.times} times, first in iteration {self.first}"
        if self.recalled:
            text += f" ({self.recalled} of them called back)"
        facts = {"shown": self.times, "first": self.first or None, "recalled": self.recalled}
        return Effect(text, facts)


def seconds(microseconds: int) -> float:
    """The same time in seconds."""
    return microseconds / 1_000_000


def span(length: float) -> str:
    """A time in seconds, in the unit in which a person would say it."""
    if length < 10:
        return f"{length:.1f} s"
    for size, unit, most in ((1, "s", 120), (60, "min", 120), (3600, "h", 48)):
        if length < size * most:
            return f"{length / size:.0f} {unit}"
    return f"{length / 86400:.0f} days"
