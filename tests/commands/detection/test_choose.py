"""Who looks for artifacts, by the settings."""

from pathlib import Path
from typing import Any

import pytest

from commands.detection.choose import BudgetedDetector, Choice, RulesDetector, choice, detector_for
from commands.detection.looked import Looked
from commands.detection.model import ModelDetector
from domain.artifacts import Shelf
from domain.config import Config
from domain.detection.findings import Findings, Passage
from domain.errors import BadSetting
from tests.fakes.provider import Answer, Provider

HOSTED = "openrouter:openai/gpt-5-mini"


def by_rules(_passage: Passage, _shelf: Shelf) -> Findings:
    """The rules of these tests find nothing."""
    return Findings()


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({}, Choice("rules")),
        ({"model": HOSTED}, Choice("model", HOSTED)),
        ({"model": "http://127.0.0.1:1/v1#m"}, Choice("model", "http://127.0.0.1:1/v1#m")),
        ({"model": "local:small"}, Choice("rules")),
        ({"model": "script:replies.jsonl"}, Choice("rules")),
        ({"model": "local", "detector_model": HOSTED}, Choice("model", HOSTED)),
        ({"model": HOSTED, "detector_model": "local"}, Choice("rules")),
        ({"model": HOSTED, "detector": "rules"}, Choice("rules")),
        ({"model": HOSTED, "detector": "off"}, Choice("off")),
        ({"model": "local", "detector": "model"}, Choice("model", "local")),
        (
            {"model": "local", "detector": "model", "detector_model": "script:looks.jsonl"},
            Choice("model", "script:looks.jsonl"),
        ),
    ],
)
def test_the_settings_say_who_looks(settings: dict[str, Any], chosen: Choice) -> None:
    """A model that is hosted, unless something else is asked for; small ones only when asked."""
    assert choice(Config(**settings)) == chosen


def test_a_name_that_no_mind_has_is_refused() -> None:
    """It is said when the settings are read, and not at each look."""
    with pytest.raises(BadSetting, match="names no mind"):
        choice(Config(detector="model", detector_model="gpt5"))


def test_nobody_looks_where_it_is_off() -> None:
    """There is no detector then."""
    assert detector_for(Config(detector="off"), rules=by_rules, env={}) is None


def test_the_rules_look_by_default(passage: Passage, shelf: Shelf) -> None:
    """With a mind on this machine nothing is asked, and nothing is paid."""
    detector = detector_for(Config(), rules=by_rules, env={})
    assert isinstance(detector, RulesDetector)
    assert detector.look(passage, shelf) == Looked(Findings(), "rules")


def test_a_model_without_a_budget_is_asked_without_one() -> None:
    """Only a budget that was set is watched."""
    detector = detector_for(Config(model=HOSTED), rules=by_rules, env={})
    assert isinstance(detector, ModelDetector)


def test_the_rules_take_over_when_the_budget_is_spent(
    provider: Provider, env: dict[str, str], passage: Passage, shelf: Shelf
) -> None:
    """The look that spends it says so, once; behind it nobody is asked any more."""
    said: list[str] = []
    config = Config(model=HOSTED, detector_budget_usd=0.01)
    provider.behaves(Answer('{"effort": 5}', cost=0.004))
    found_by = []
    # a detector of its own each time, as each command has
    for _ in range(5):
        detector = detector_for(config, rules=by_rules, env=env, say=said.append)
        assert isinstance(detector, BudgetedDetector)
        looked = detector.look(passage, shelf)
        found_by.append(looked.found_by)
        shelf = shelf._replace(spent=shelf.spent + (looked.cost_usd or 0.0))
    assert found_by == ["model", "model", "model", "rules", "rules"]
    assert len(provider.requests) == 3
    assert len(said) == 1
    assert "$0.0120 of $0.01" in said[0]


def test_a_script_can_look(tmp_path: Path, passage: Passage, shelf: Shelf) -> None:
    """Recorded findings serve demos and tests, without any network."""
    file = tmp_path / "looks.txt"
    file.write_text("---\n".join(['{"effort": 5}\n'] * 8))
    config = Config(detector="model", detector_model=f"script:{file}")
    detector = detector_for(config, rules=by_rules, env={})
    assert detector is not None
    looked = detector.look(passage, shelf)
    assert (looked.findings, looked.found_by) == (Findings(effort=5), "model")
