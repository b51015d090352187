"""A turn that somebody wants no more of: it ends, once, and the conversation goes on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from commands.agents.backend import Answer, Ask, Backend, Called
from commands.agents.conversation import conversation_of
from commands.agents.harness import Harness
from commands.agents.roles import Roles
from commands.agents.rules import Rules
from commands.agents.tools import Tool
from commands.agents.wishes import StartTurn, SubmitPrompt
from commands.agents.words import told as as_told
from commands.handle import handle
from domain.agent_errors import AgentHasEnded
from domain.errors import NothingChanges, Refused
from domain.events import StopAsked, TurnCompleted, TurnFailed
from domain.streams import agent_stream
from tests.commands.agents.test_harness import SLOW, story
from tests.stories.crew import ANN, Crew, calls, crew

TOOK = {"tokens_in": 100, "tokens_out": 10, "cost_usd": 0.25}
BETTER = {"text": "Better."}


async def forever(_: dict[str, Any]) -> str:
    """Never says anything."""
    await asyncio.Event().wait()
    return ""


WAIT = Tool("wait", "", {"type": "object"}, forever)


def heard(one: Crew, kind: str, number: int = 1) -> bool:
    """Whether so much of a kind was told."""
    return sum(notice.kind == kind for notice in one.told) >= number


@pytest.mark.parametrize(
    ("lines", "begun", "partial"),
    [
        ([SLOW], "turn", ""),
        ([{"text": "tide " * 9000, "pace": 0.01}], "chunk", "tide "),
        ([{**calls("wait"), "text": "Let me look.", **TOOK}], "tool_use", "Let me look."),
    ],
    ids=["silent", "streaming", "at a tool"],
)
def test_a_turn_is_stopped_in_whatever_it_is(
    tmp_path: Path, lines: list[dict[str, Any]], begun: str, partial: str
) -> None:
    """At once, with what had arrived; the next prompt is answered."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(*lines)
        prompt = await one.harness.submit(agent.id, "Well?")
        await one.until(lambda: heard(one, begun))
        end = await one.harness.stop(agent.id)
        assert isinstance(end, TurnFailed)
        assert (end.reason, end.detail) == ("stopped", "It was stopped.")
        assert end.partial.startswith(partial)
        assert len(end.partial) < 9000
        assert await one.harness.answered(agent.id, prompt) == end
        for script in one.directory.glob("*.jsonl"):  # however often it was asked before the stop
            script.write_text(f"{json.dumps(BETTER)}\n" * 9)
        assert (await one.asked(agent.id)).text == "Better."
        assert [notice.text for notice in one.told if notice.kind == "error"] == ["It was stopped."]

    story(tmp_path, told, tools=[WAIT])


def test_what_was_done_until_then_is_recorded_and_shown_to_the_model(tmp_path: Path) -> None:
    """Tokens, costs and tools; a tool that was broken off says so, and no call is without end."""

    async def told(one: Crew) -> None:
        first = {"tool_calls": [{"name": "list_agents"}, {"name": "wait"}]}
        agent = await one.drafted({**first, "text": "Let me look.", **TOOK}, BETTER)
        await one.harness.submit(agent.id, "Well?")
        await one.until(lambda: heard(one, "tool_use", 2))
        end = await one.harness.stop(agent.id)
        assert isinstance(end, TurnFailed)
        assert (end.calls, end.tokens_in, end.tokens_out, end.cost_usd) == (1, 100, 10, 0.25)
        stands = one.harness.agent(agent.id)
        assert (stands.turn, stands.failed, stands.spent.cost_usd) == (None, 1, 0.25)
        [spoken] = conversation_of(one.log, stands)
        assert [(call.name, call.failed) for call in spoken.calls] == [
            ("list_agents", False),
            ("wait", True),
        ]
        assert as_told(spoken).endswith(
            "[wait {} said: It was broken off: nobody knows how far it came.]\n"
            "Let me look.\n\n[This answer broke off.]"
        )
        by = [r.actor for r in one.history(agent.id) if isinstance(r.event, StopAsked)]
        assert by == [ANN.actor]

    story(tmp_path, told, tools=[WAIT])


def test_whoever_waits_for_another_agent_is_stopped_alone(tmp_path: Path) -> None:
    """The one that was asked goes on with its answer, until it is stopped as well."""

    async def told(one: Crew) -> None:
        slow = one.script(SLOW)
        text = f"---\nname: peer\ndescription: d\nmodel: {slow!r}\n---\nYou answer.\n"
        (one.directory / "roles" / "peer.md").write_text(text)
        boss = await one.drafted(
            calls("draft_agent", role="peer", prompt="Why?", way="conversation"), BETTER
        )
        await one.harness.submit(boss.id, "Ask.")
        await one.until(lambda: heard(one, "turn", 2))
        end = await one.harness.stop(boss.id)
        assert isinstance(end, TurnFailed)
        assert end.reason == "stopped"
        assert one.harness.agent("peer-1").turn is not None
        assert (await one.asked(boss.id)).text == "Better."
        assert (await one.harness.stop("peer-1")).kind == "turn.failed"
        assert one.harness.agent(boss.id).workers == ("peer-1",)

    story(tmp_path, told)


def test_another_process_stops_a_turn_as_well(tmp_path: Path) -> None:
    """The one that runs it says what it took; stopped by both at once, it ends once."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({**calls("wait"), "text": "Let me look.", **TOOK}, BETTER)
        await one.harness.submit(agent.id, "Well?")
        await one.until(lambda: heard(one, "tool_use"))
        async with crew(tmp_path) as two:
            end = await two.harness.stop(agent.id)
            assert isinstance(end, TurnFailed)
            assert (end.reason, end.partial, end.cost_usd) == ("stopped", "Let me look.", 0.25)
            await one.harness.submit(agent.id, "And now?")
            await one.until(lambda: heard(one, "answer"))
            slow = await one.drafted(SLOW, client="other")
            await one.harness.submit(slow.id, "Well?")
            await one.until(lambda: heard(one, "turn", 3))
            ends = await asyncio.gather(
                *(who.harness.stop(slow.id, turn=1) for who in (two, one, two)),
                return_exceptions=True,
            )
        assert len({end for end in ends if isinstance(end, TurnFailed)}) == 1
        assert all(isinstance(end, TurnFailed | NothingChanges) for end in ends)
        assert one.kinds(slow.id)[-3:] == ["turn.started", "stop.asked", "turn.failed"]

    story(tmp_path, told, tools=[WAIT])


def test_where_nothing_is_to_be_stopped_nothing_is_recorded(tmp_path: Path) -> None:
    """Nobody answers, the turn is over, it is a worker, or it has ended: a sentence says which."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(BETTER, SLOW)
        with pytest.raises(NothingChanges, match="'analyst-1' is not answering now"):
            await one.harness.stop(agent.id)
        await one.asked(agent.id)
        await one.harness.submit(agent.id, "And?")
        await one.until(lambda: heard(one, "turn", 2))
        with pytest.raises(NothingChanges, match="Turn 1 of 'analyst-1' is over"):
            await one.harness.stop(agent.id, turn=1)
        worker = await one.at_work(SLOW)
        await one.until(lambda: heard(one, "turn", 3))
        with pytest.raises(Refused, match="mind agent kill reader-1"):
            await one.harness.stop(worker.id)
        assert one.harness.agent(worker.id).turn is not None
        await one.harness.undraft(agent.id)
        with pytest.raises(AgentHasEnded):
            await one.harness.stop(agent.id)
        assert "stop.asked" not in [*one.kinds(agent.id), *one.kinds(worker.id)]

    story(tmp_path, told)


class Parting(Backend):
    """Says what it took when it is stopped, and takes its time for that."""

    def __init__(self) -> None:
        self.began, self.parts, self.goes = (asyncio.Event() for _ in range(3))

    async def turn(self, ask: Ask) -> Answer:
        """Wait to be stopped."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.parts.set()
            await self.goes.wait()
            ask.hear(Called(tokens_in=100, tokens_out=10, cost_usd=0.25))
        raise AssertionError


def test_whoever_is_stopped_again_says_all_the_same_what_it_took(tmp_path: Path) -> None:
    """The second stop cuts nothing off that the first had begun."""

    async def told(one: Crew) -> None:
        backend = Parting()
        harness = Harness(
            one.log,
            ANN,
            backend_for=lambda _: backend,
            roles=Roles([tmp_path / "roles"]),
            rules=Rules(look=0.05, grace=30, answer=30),
        )
        agent = await one.drafted(BETTER)
        await harness.submit(agent.id, "Well?")
        await backend.began.wait()
        first = asyncio.create_task(harness.stop(agent.id))
        await backend.parts.wait()
        harness._runner.stop(agent.id, 1)
        backend.goes.set()
        end = await first
        assert isinstance(end, TurnFailed)
        assert (end.reason, end.cost_usd) == ("stopped", 0.25)
        await harness.close()

    story(tmp_path, told)


def test_what_waits_is_answered_next(tmp_path: Path) -> None:
    """In its order: one stop ends one turn."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(calls("wait"), calls("wait"), BETTER)
        prompts = [await one.harness.submit(agent.id, f"{number}") for number in range(3)]
        for number in (1, 2):
            await one.until(lambda number=number: heard(one, "tool_use", number))
            assert (await one.harness.stop(agent.id, turn=number)).prompt == prompts[number - 1]
        assert (await one.harness.answered(agent.id, prompts[2])).text == "Better."

    story(tmp_path, told, tools=[WAIT])


def test_a_stop_that_races_with_the_end_leaves_one_end(tmp_path: Path) -> None:
    """Whichever is faster: the answer, the stop, or there was nothing to stop any more."""

    async def told(one: Crew) -> None:
        count = 6
        agent = await one.drafted(*({"text": "Here.", "delay": 0.001 * n} for n in range(count)))
        for number in range(1, count + 1):
            prompt = await one.harness.submit(agent.id, "Well?")
            await one.until(lambda number=number: heard(one, "turn", number))
            end, stop = await asyncio.gather(
                one.harness.answered(agent.id, prompt),
                one.harness.stop(agent.id),
                return_exceptions=True,
            )
            assert isinstance(stop, NothingChanges) or stop == end
        kinds = one.kinds(agent.id)
        ends = kinds.count("turn.completed") + kinds.count("turn.failed")
        assert ends == kinds.count("turn.started") == count

    story(tmp_path, told)


def test_a_process_that_does_not_hear_is_not_waited_for(tmp_path: Path) -> None:
    """A turn that another machine had begun, and does not end, is ended from here."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(BETTER)
        stream = agent_stream(agent.id)
        handle(one.log, stream, SubmitPrompt(text="Well?"), ANN)
        handle(one.log, stream, StartTurn(holder="elsewhere:4711:1"), ANN)
        end = await one.harness.stop(agent.id)
        assert isinstance(end, TurnFailed)
        assert (end.reason, end.detail) == (
            "stopped",
            "It was stopped; its process did not say what it took.",
        )
        assert isinstance(await one.asked(agent.id), TurnCompleted)

    story(tmp_path, told, rules=Rules(look=0.05, answer=0.05))
