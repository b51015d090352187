"""What the tests of detectors share: a provider on loopback, a passage and a shelf."""

import pytest

from domain.artifacts import Artifact, Shelf
from domain.detection.findings import Passage
from domain.ids import ExchangeId
from tests.commands.minds.conftest import env, provider

__all__ = ["env", "provider"]


def artifact(id_: int, type_: str, text: str, status: str = "current", **more: object) -> Artifact:
    """One that came at turn 1, and that nobody spoke of since."""
    plain = Artifact(id_, type_, text, status, turn=1, referenced=1)  # type: ignore[arg-type]
    return plain._replace(**more)  # type: ignore[arg-type]


@pytest.fixture
def shelf() -> Shelf:
    """Two open efforts, a resolved one, a fact and an event."""
    return Shelf(
        artifacts=(
            artifact(3, "effort", "plan the move", "open"),
            artifact(5, "effort", "find out why uploads time out", "open"),
            artifact(7, "effort", "choose a database", "resolved", resolution="It is SQLite."),
            artifact(8, "fact", "uploads are limited to 10 MB"),
            artifact(9, "event", "demo", when="2026-03-06"),
        ),
        turns=4,
        turn=4,
        effort=5,
    )


@pytest.fixture
def passage() -> Passage:
    """A message that ends an effort, with its answer."""
    return Passage(
        exchange=ExchangeId("e4"),
        question="Fixed! The proxy cut them off. We allow 50 MB now.",
        answer="Good.",
        before=(("why do uploads time out?", "Perhaps a proxy."),),
        now="2026-03-02T09:15",
    )
