"""What fits into a context window is shown; the oldest turns make way for a summary."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from commands.agents.backend import Call, Compacted, Spoken
from commands.agents.compaction import summary_of
from commands.agents.model import Said, Shown, Wanted
from commands.agents.neutral import NeutralBackend
from commands.agents.tools import Outcome
from commands.agents.window import RESULT, Budget, cut, size_of, window_set
from commands.minds.failures import Asked, refused
from domain.errors import BadSetting
from domain.tokens import estimate
from tests.commands.agents.conftest import Played, turn


@dataclass
class Reading:
    """A model that notes what it is shown, and may be one that reads less than is thought."""

    window: int | None = 4_000
    reads: int = 1_000_000
    wants: tuple[tuple[Wanted, ...], ...] = ()
    """The tools that each reply wants, before it answers."""
    refusal: str = "the prompt exceeds the context length"
    shown: list[Shown] = field(default_factory=list)
    name: str = "reading"
    careful: int = 32_000
    free: bool = True
    sums_up: bool = False
    warning: str = ""

    async def prepare(self) -> None:
        """Nothing."""

    async def reply(self, shown: Shown, hear: Callable[[str], None]) -> Said:
        """The number of the call."""
        self.shown.append(shown)
        if size_of(shown) > self.reads:
            raise refused(Asked(self.name), 400, self.refusal)
        place = len(self.shown) - 1
        hear("Yes.")
        return Said("Yes.", "m", wanted=self.wants[place] if place < len(self.wants) else ())


def talk(turns: int, words: int = 60) -> tuple[Spoken, ...]:
    """A conversation in which each turn has something of its own."""
    return tuple(
        turn(n, f"What about region {n}? " + "so " * words, f"Region {n} owes refunds. " * 8)
        for n in range(1, turns + 1)
    )


def compactions(played: Played) -> list[Compacted]:
    """What made way in a turn."""
    return [one for one in played.heard if isinstance(one, Compacted)]


def test_what_fits_is_shown_whole() -> None:
    """No summary is made while there is room."""
    model = Reading()
    played = Played(NeutralBackend(model), conversation=talk(5))
    played.answer()
    assert model.shown[0].turns == talk(5)
    assert not compactions(played)


def test_the_oldest_turns_make_way() -> None:
    """The newest stay in their own words, half of the room is free, and the turn goes on."""
    model = Reading()
    played = Played(NeutralBackend(model), conversation=talk(40))
    assert played.answer().text == "Yes."
    [shown] = model.shown
    [compacted] = compactions(played)
    assert shown.turns == talk(40)[compacted.upto :]
    assert 1 < len(shown.turns) < 20
    assert compacted.summary == shown.summary
    assert "Region" in shown.summary
    assert compacted.pre_tokens > 4_000
    budget = Budget.of(model)
    assert size_of(shown) <= budget.shown
    assert estimate(shown.summary) <= budget.summary


def test_the_next_turn_begins_with_the_summary() -> None:
    """With what the compaction said, the next turn has room and makes no other one."""
    model = Reading()
    first = Played(NeutralBackend(model), conversation=talk(40))
    first.answer()
    [compacted] = compactions(first)
    after = talk(41)[compacted.upto :]
    second = Played(NeutralBackend(model), conversation=after, summary=compacted.summary)
    second.answer()
    assert not compactions(second)
    assert (model.shown[-1].summary, model.shown[-1].turns) == (compacted.summary, after)


def test_a_summary_is_summed_up_with_what_follows() -> None:
    """What was said long ago stays as long as there is room for it."""
    before = "User: My name is Ann Clearwater and I audit the refunds.\nMind: Welcome, Ann."
    again = summary_of(before, talk(3), 200)
    assert "Ann Clearwater" in again
    assert "region" in again.lower()
    assert estimate(again) <= 200


def test_results_of_earlier_turns_are_cut() -> None:
    """Beginning and end are shown, and how much is not; arguments stay an object."""
    call = Call("c", "read", '{"text": "' + "x" * 20_000 + '"}', "a" * 9_000 + "z" * 9_000, False)
    model = Reading(window=30_000)
    played = Played(NeutralBackend(model), conversation=(turn(1, "read", "Done.", calls=(call,)),))
    played.answer()
    [shown] = model.shown[0].turns[0].calls
    assert len(shown.result) < RESULT + 100
    assert shown.result.startswith("aaa")
    assert shown.result.endswith("zzz")
    assert "10,000 characters are not shown" in shown.result
    assert shown.arguments.startswith('{"shortened"')


def test_results_of_this_turn_make_way_in_the_end() -> None:
    """A turn that reads much goes on: each result has its share, and the oldest lose theirs."""
    wanted = tuple((Wanted(str(n), "list_tasks", "{}"),) for n in range(12))
    model = Reading(wants=wanted)
    played = Played(NeutralBackend(model), conversation=talk(3))
    played.outcome = Outcome("row of a table, " * 5_000)
    assert played.answer().text
    last = model.shown[-1]
    assert last.turns == ()
    assert len(last.steps) == 12
    sizes = [len(step.outcomes[0].text) for step in last.steps]
    assert sizes[0] < 300 < sizes[-1]
    budget = Budget.of(model)
    assert all(size_of(shown) <= budget.shown for shown in model.shown)


def test_a_model_that_reads_less_than_is_thought_is_shown_less() -> None:
    """A refusal for length makes turns make way instead of ending the conversation for good."""
    model = Reading(window=None, reads=2_500)
    played = Played(NeutralBackend(model), conversation=talk(40))
    assert played.answer().text == "Yes."
    assert size_of(model.shown[-1]) <= 2_500
    assert model.shown[-1].most_tokens < model.shown[0].most_tokens
    assert compactions(played)
    assert len(played.warnings) == 1


def test_other_refusals_stay_refusals() -> None:
    """Nothing makes way for a request that is wrong for another reason."""
    model = Reading(reads=0, refusal="there is no such tool")
    played = Played(NeutralBackend(model), conversation=talk(3))
    assert "no such tool" in played.breaks().sentence
    assert len(model.shown) == 1
    assert not compactions(played)


def test_a_model_that_never_answers_comes_to_an_end() -> None:
    """Tools for ever are no turn."""
    wanted = tuple((Wanted(str(n), "list_tasks", "{}"),) for n in range(500))
    played = Played(NeutralBackend(Reading(window=None, wants=wanted)))
    assert "without an answer" in played.breaks().sentence


def test_a_text_is_cut_in_its_middle() -> None:
    """What is short stays as it is."""
    assert cut("short", 10) == "short"
    assert cut("a" * 50 + "b" * 50, 20) == f"{'a' * 15}\n[… 80 characters are not shown …]\nbbbbb"


def test_the_window_is_a_number() -> None:
    """Anything else is refused with what it should be."""
    assert window_set({}) is None
    assert window_set({"MIND_CONTEXT_WINDOW": "8192"}) == 8_192
    for text in ("12", "many", "-5"):
        with pytest.raises(BadSetting, match="at least 512"):
            window_set({"MIND_CONTEXT_WINDOW": text})
