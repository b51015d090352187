"""Exchanges that leave the context: what they took, and what stands for them."""

from collections.abc import Iterable

from domain.artifacts import Artifact
from domain.context import FRAME, worded
from domain.events import ContextCompacted
from domain.ids import ExchangeId
from domain.tokens import estimate


def taken(question: str, answer: str) -> int:
    """About how many tokens an exchange takes in a prompt."""
    return estimate(question) + estimate(answer) + 2 * FRAME


def conclusion(ended: Artifact, exchanges: Iterable[ExchangeId], before: int) -> ContextCompacted:
    """A resolved effort stands for exchanges that took so many tokens."""
    return ContextCompacted(
        exchanges=tuple(exchanges),
        effort=ended.id,
        how="conclusion",
        tokens_before=before,
        tokens_after=estimate(worded(ended)) + FRAME,
    )
