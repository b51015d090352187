"""What the model's calls within one turn took, added up."""

from collections.abc import Iterable
from typing import Any

from commands.agents.backend import Called
from domain.limits import Spent


class Tally:
    """The calls of a turn so far."""

    def __init__(self) -> None:
        self._calls: list[Called] = []

    def add(self, called: Called) -> None:
        """One call more has ended."""
        self._calls.append(called)

    def after(self, before: Spent) -> Spent:
        """What an agent has used up that had used up so much before these calls.

        Tokens read from a prompt cache or written to one count; a cost that nobody knows does not.
        """
        cost, tokens, calls, seconds = before
        for called in self._calls:
            cost += called.cost_usd or 0.0
            tokens += (called.tokens_in or 0) + called.cache_read + called.cache_creation
            tokens += called.tokens_out or 0
            calls += called.calls
        return Spent(cost, tokens, calls, seconds)

    def took(self) -> dict[str, Any]:
        """The fields of the event that ends a turn, however it ends; None is not known."""
        calls = self._calls
        return {
            "calls": sum(called.calls for called in calls),
            "tokens_in": _sum(called.tokens_in for called in calls),
            "tokens_out": _sum(called.tokens_out for called in calls),
            "cost_usd": _sum(called.cost_usd for called in calls),
            "unknown_costs": sum(called.calls for called in calls if called.cost_usd is None),
        }

    def held(self) -> dict[str, Any]:
        """The fields of the event that completes a turn: caches and the context at its end."""
        newest = self._calls[::-1]
        return {
            "cache_read": sum(called.cache_read for called in self._calls),
            "cache_creation": sum(called.cache_creation for called in self._calls),
            "context_tokens": next(
                (c.context_tokens for c in newest if c.context_tokens is not None), None
            ),
            "context_window": next((c.context_window for c in newest if c.context_window), None),
        }


def _sum(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
