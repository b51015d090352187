"""From the settings to who looks for artifacts: the rules, a model, or nobody."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from commands.detection.looked import Detector, Looked
from commands.detection.model import ModelDetector
from commands.minds.choose import make_mind
from commands.minds.mind import Mind
from commands.minds.names import check_name
from commands.minds.retry import Patient
from domain.artifacts import Shelf
from domain.config import Config
from domain.detection.findings import Detect, Passage

ATTEMPTS = 2
"""How often one request is sent where the provider is in trouble; the rules are at hand."""

Say = Callable[[str], object]
"""Told a sentence that the user should read."""


class Choice(NamedTuple):
    """Who is to look."""

    how: Literal["off", "rules", "model"]
    model: str | None = None
    """The name of the model, where one looks."""


@dataclass(frozen=True)
class RulesDetector:
    """The rules look."""

    rules: Detect

    def look(self, passage: Passage, shelf: Shelf) -> Looked:
        """Look once, see :class:`commands.detection.looked.Detector`."""
        return Looked(self.rules(passage, shelf), "rules")


@dataclass(frozen=True)
class BudgetedDetector:
    """A model looks until its budget is spent, and the rules from then on."""

    model: Detector
    rules: Detector
    budget: float
    """US dollars."""
    say: Say

    def look(self, passage: Passage, shelf: Shelf) -> Looked:
        """Look once, see :class:`commands.detection.looked.Detector`."""
        if shelf.spent >= self.budget:
            return self.rules.look(passage, shelf)
        looked = self.model.look(passage, shelf)
        spent = shelf.spent + (looked.cost_usd or 0.0)
        # only the look that crosses the line says so: once in the life of a session
        if spent >= self.budget:
            self.say(
                f"Finding artifacts has cost ${spent:.4f} of ${self.budget:g}: from now on the"
                " rules do it (mind config --set detector_budget_usd=… allows more)."
            )
        return looked


def choice(config: Config) -> Choice:
    """What the settings mean, the budget aside.

    ``auto`` is a model where it is hosted: one that is small enough to run on this machine finds
    less than the rules do.

    Raises:
        BadSetting: a model was asked for by a name that none can have.
    """
    name = config.detector_model or config.model
    match config.detector:
        case "off" | "rules" as how:
            return Choice(how)
        case "model":
            check_name(name)
            return Choice("model", name)
        case "auto":
            here = check_name(name).provider in {"local", "script"}
            return Choice("rules") if here else Choice("model", name)


def detector_for(
    config: Config,
    *,
    rules: Detect,
    env: Mapping[str, str],
    say: Say = lambda _: None,
) -> Detector | None:
    """Who looks for artifacts by these settings; None where nobody does.

    Args:
        config: the settings of the session.
        rules: look where no model does, or where it fails.
        env: the environment; keys are read from here and nowhere else.
        say: told once that the budget is spent.

    Raises:
        BadSetting: a model was asked for by a name that none can have. What a model lacks beside
            that (a key, weights) is in the ``error`` of each look, which the rules then do.
    """
    chosen = choice(config)
    by_rules = RulesDetector(rules)
    if chosen.how == "off":
        return None
    if chosen.how == "rules" or chosen.model is None:
        return by_rules
    name = chosen.model

    def make() -> Mind:
        mind = make_mind(name, env=env)
        return Patient(mind, attempts=min(ATTEMPTS, config.attempts), budget=config.timeout)

    by_model = ModelDetector(name, make, rules, timeout=config.timeout)
    if config.detector_budget_usd is None:
        return by_model
    return BudgetedDetector(by_model, by_rules, config.detector_budget_usd, say)
