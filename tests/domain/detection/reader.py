"""Messages as the detector gets them, for tests."""

from collections.abc import Sequence

from domain.artifacts import Shelf
from domain.detection.findings import Findings, Passage
from domain.detection.rules import detect
from tests.detection.score import EXCHANGE, NOW, artifact, shelf

BUG = "7 open: Fix the 401 from the orders API"
TRY = "9 open of 7: Refresh the token"
STRIPE = "12 fact: We use Stripe API v2023-10"


def read(
    question: str,
    *lines: str,
    answer: str | None = None,
    before: Sequence[tuple[str, str]] = (),
    current: int | None = -1,
) -> Findings:
    """What a message leaves, with these artifacts on the shelf; see tests/detection/score.py."""
    return detect(
        Passage(EXCHANGE, question, answer, tuple(before), NOW),
        of(*lines, current=current, answered=answer is not None),
    )


def of(*lines: str, current: int | None = -1, answered: bool = False) -> Shelf:
    """A shelf of artifacts, each a line; the talk is in the newest open effort, unless told."""
    artifacts = tuple(artifact(line) for line in lines)
    newest = next((a.id for a in reversed(artifacts) if a.is_open), None)
    return shelf(artifacts, newest if current == -1 else current, answered=answered)
