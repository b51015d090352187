"""What every detector gives: findings, and what it took to have them."""

from typing import Any, NamedTuple, Protocol

from domain.artifacts import Shelf
from domain.detection.findings import Findings, Passage
from domain.events.artifacts import Finder


class Looked(NamedTuple):
    """One look at a passage."""

    findings: Findings
    found_by: Finder
    model: str | None = None
    prompt_hash: bytes | None = None
    raw: str | bytes | None = None
    error: str | None = None
    """Why a model that was asked is not the one that found these."""
    attempts: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: int = 0

    def facts(self) -> dict[str, Any]:
        """All but the findings, by the names that the event has for them."""
        return {name: value for name, value in self._asdict().items() if name != "findings"}


class Detector(Protocol):
    """Finds in a passage what it leaves."""

    def look(self, passage: Passage, shelf: Shelf) -> Looked:
        """Look once. Never raises because of a model: what failed is in ``error``."""
        ...
