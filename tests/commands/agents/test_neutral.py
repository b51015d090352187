"""The turns of a neutral agent, whatever its model."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from commands.agents.backend import Called, Text
from commands.agents.model import Said, Shown, Wanted
from commands.agents.neutral import NeutralBackend
from commands.minds.failures import Asked, broke_off, refused, timed_out
from commands.minds.mind import MindFailed
from tests.commands.agents.conftest import Played, agent_on

LOOK = Wanted("c", "list_tasks", "{}")


@dataclass
class Rehearsed:
    """A model with lines: pieces that it says, tools that it wants, or how it fails."""

    lines: list[Sequence[str | Wanted] | MindFailed | None]
    """None is a line that never comes."""
    name: str = "rehearsed"
    window: int | None = None
    careful: int = 32_000
    free: bool = False
    sums_up: bool = False
    warning: str = ""

    async def prepare(self) -> None:
        """Nothing."""

    async def reply(self, shown: Shown, hear: Callable[[str], None]) -> Said:
        """The next line."""
        line = self.lines.pop(0)
        if line is None:
            await asyncio.Event().wait()
        if isinstance(line, MindFailed):
            hear(line.partial)
            raise line
        pieces = [piece for piece in line or () if isinstance(piece, str)]
        for piece in pieces:
            hear(piece)
        wanted = tuple(one for one in line or () if isinstance(one, Wanted))
        return Said("".join(pieces), f"m-{shown.number}", "stop", wanted)


def played(*lines: Sequence[str | Wanted] | MindFailed | None, **model: bool | str) -> Played:
    """A turn on a model with lines, that waits for nothing between two tries."""
    return Played(NeutralBackend(Rehearsed(list(lines), **model), base=0.0))  # type: ignore[arg-type]


def test_what_streams_is_the_answer() -> None:
    """Texts around tools are told apart; thinking without a word adds none."""
    turn = played(["", "I ", "look.", "", LOOK], [LOOK], ["", "Two."])
    answer = turn.answer()
    assert answer.text == turn.text == "I look.\n\nTwo."
    assert (answer.model, answer.finish) == ("m-3", "stop")
    assert len(turn.used) == 2


def test_an_answer_may_have_no_words() -> None:
    """A model that says nothing has answered nothing, which is no failure."""
    assert played([]).answer().text == ""


@pytest.mark.parametrize(
    ("failure", "free", "cost"),
    [
        (refused(Asked("m"), 401), False, 0.0),
        (refused(Asked("m"), 401), True, 0.0),
        (broke_off(Asked("m"), "Half of"), False, None),
        (broke_off(Asked("m"), "Half of"), True, 0.0),
    ],
)
def test_a_failed_call_counts_and_its_cost_is_not_made_up(
    failure: MindFailed, free: bool, cost: float | None
) -> None:
    """What was refused cost nothing; what broke off cost something, which only its owner knows."""
    turn = played(failure, free=free)
    assert turn.breaks().partial == failure.partial == turn.text
    assert turn.calls == [Called(cost_usd=cost)]


def test_what_has_begun_is_not_asked_again() -> None:
    """Before the first word a timeout is waited for; behind it the turn has failed."""
    assert played(timed_out(Asked("m"), 1), ["Yes."]).answer().text == "Yes."
    turn = played(timed_out(Asked("m"), 1, "Half"), ["Yes."])
    assert turn.breaks().partial == "Half"
    assert not turn.warnings


def test_no_pause_is_longer_than_patience() -> None:
    """A provider that asks for too long a wait has failed."""
    model = Rehearsed([refused(Asked("m"), 429, retry_after=25.0), ["Yes."]])
    turn = Played(NeutralBackend(model, patience=20.0))
    assert "429" in turn.breaks().sentence
    assert not turn.warnings


def test_that_it_has_no_tools_is_said_once_in_a_conversation() -> None:
    """At the first turn, and where it would have had some."""
    turn = played(["Yes."], ["Yes."], ["Yes."], warning="It only talks.")
    turn.answer()
    assert turn.warnings == ["It only talks."]
    turn.ask = turn.ask._replace(agent=agent_on("m")._replace(turns=2))
    turn.answer()
    turn.ask = turn.ask._replace(agent=agent_on("m"), tools=())
    turn.answer()
    assert len(turn.warnings) == 1


def test_a_kill_while_it_waits_ends_the_turn() -> None:
    """Wherever it is; the call counts, and nothing is heard afterwards."""
    turn = played(["I look.", LOOK], None)

    async def kill() -> None:
        waiting = asyncio.Event()

        def hear(heard: object) -> None:
            turn.heard.append(heard)  # type: ignore[arg-type]
            if isinstance(heard, Called):
                waiting.set()

        task = asyncio.ensure_future(turn.backend.turn(turn.ask._replace(hear=hear)))
        await waiting.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(kill())
    assert [type(one) for one in turn.heard] == [Text, Called, Called]
