"""What a model is shown within its context window: all of a turn, and the newest turns before it.

Counted by the estimate that all budgets are counted by, so that the same log shows the same.
"""

from collections.abc import Mapping
from json import dumps
from typing import NamedTuple, Self

from commands.agents.backend import Call, Spoken
from commands.agents.model import Model, Shown, Step
from commands.agents.tools import Outcome
from domain.errors import BadSetting
from domain.tokens import characters, estimate

VARIABLE = "MIND_CONTEXT_WINDOW"

MOST_REPLY = 8_192
"""Tokens that a reply may have, where the window has room for it."""

MOST_SUMMARY = 1_500
"""Tokens of a summary, where the window has room for it."""

RESULT = 8_000
"""Characters of a tool's result, or of a call's arguments, in a turn that is over."""

_EACH = 8
"""Tokens around each message, about."""


class Budget(NamedTuple):
    """Tokens for what a model is shown."""

    shown: int
    """All of it together."""
    reply: int
    """What the reply may have."""
    summary: int
    """What a summary may have, of what is shown."""

    @classmethod
    def of(cls, model: Model) -> Self:
        """The budget of a model."""
        window = model.window or model.careful
        reply = min(MOST_REPLY, window // 4)
        # the estimate is one, and a model's own marks are in no text that we see
        shown = (window - reply) * 9 // 10
        return cls(shown, reply, min(MOST_SUMMARY, shown // 8))

    def half(self) -> "Budget":
        """For a model that can be shown less, or reply with less, than was thought."""
        return Budget(self.shown // 2, self.reply // 2, self.summary // 2)


def window_set(env: Mapping[str, str]) -> int | None:
    """The context window that the user has set for all models; None where none is.

    Raises:
        BadSetting: the variable is no whole number of at least 512.
    """
    text = env.get(VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 512:
        raise BadSetting(f"{VARIABLE} is {text!r}: give a whole number of at least 512.")
    return int(text)


def fitting(shown: Shown, budget: Budget) -> tuple[Shown, tuple[Spoken, ...]] | None:
    """What is shown so that it fits, and the turns that made way for it, oldest first.

    Results of tools are cut: in turns that are over to :data:`RESULT` characters, in this one to
    a share of the budget, and the oldest of this one to almost nothing where that does not do.
    When turns make way, so many do that half of the room stays free for the next ones.

    Returns:
        None where even this turn alone does not fit.
    """
    turns = tuple(map(_shortened, shown.turns))
    steps = _cut_steps(shown.steps, characters(budget.shown // 4))
    fixed = _frame(shown) + estimate(shown.summary)
    room = budget.shown - fixed - _steps(steps)
    if room >= sum(map(_turn, turns)):
        return shown._replace(turns=turns, steps=steps), ()
    # a summary is to come
    fixed = _frame(shown) + budget.summary
    keep = len(steps)
    while budget.shown - fixed - _steps(steps) < 0:
        if keep == 0:
            return None
        keep -= 1
        place = len(steps) - 1 - keep
        steps = (*steps[:place], _cut_step(steps[place], 200), *steps[place + 1 :])
    room = (budget.shown - fixed - _steps(steps)) // 2
    first = len(turns)
    while first and (room := room - _turn(turns[first - 1])) >= 0:
        first -= 1
    return shown._replace(turns=turns[first:], steps=steps), shown.turns[:first]


def size_of(shown: Shown) -> int:
    """About how many tokens it has."""
    turns = sum(_turn(_shortened(turn)) for turn in shown.turns)
    return _frame(shown) + estimate(shown.summary) + turns + _steps(shown.steps)


def _frame(shown: Shown) -> int:
    """What is shown in any case."""
    tools = sum(
        estimate(tool.name + tool.description + dumps(tool.parameters)) + _EACH
        for tool in shown.tools
    )
    return estimate(shown.instructions) + estimate(shown.prompt) + tools + 3 * _EACH


def _turn(turn: Spoken) -> int:
    calls = sum(estimate(c.name + c.arguments + c.result) + 2 * _EACH for c in turn.calls)
    return estimate(turn.prompt) + estimate(turn.answer) + calls + 2 * _EACH


def _steps(steps: tuple[Step, ...]) -> int:
    return sum(_step(step) for step in steps)


def _step(step: Step) -> int:
    wanted = sum(estimate(w.name + w.arguments) + _EACH for w in step.said.wanted)
    results = sum(estimate(outcome.text) + _EACH for outcome in step.outcomes)
    return estimate(step.said.text) + wanted + results + _EACH


def _shortened(turn: Spoken) -> Spoken:
    if all(len(call.result) <= RESULT and len(call.arguments) <= RESULT for call in turn.calls):
        return turn
    return turn._replace(calls=tuple(map(_shortened_call, turn.calls)))


def _shortened_call(call: Call) -> Call:
    long = len(call.arguments) > RESULT
    arguments = dumps({"shortened": cut(call.arguments, RESULT)}) if long else call.arguments
    return call._replace(arguments=arguments, result=cut(call.result, RESULT))


def _cut_steps(steps: tuple[Step, ...], most: int) -> tuple[Step, ...]:
    return tuple(_cut_step(step, most) for step in steps)


def _cut_step(step: Step, most: int) -> Step:
    outcomes = tuple(Outcome(cut(one.text, most), one.failed) for one in step.outcomes)
    return step._replace(outcomes=outcomes)


def cut(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long, and what was left out between."""
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    left = len(text) - head - tail
    return f"{text[:head]}\n[… {left:,} characters are not shown …]\n{text[len(text) - tail :]}"
