"""A conversation that is longer than any window goes on, also in another process."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from commands.agents.choose import make_backend
from commands.agents.conversation import conversation_of
from commands.agents.harness import Harness
from commands.agents.roles import Roles
from commands.agents.window import Budget
from commands.eventlog import EventLog
from domain.agents import Agent
from domain.events import ConversationCompacted, TurnCompleted
from domain.streams import agent_stream
from domain.tokens import estimate
from tests.commands.agents.test_window import Reading
from tests.stories.crew import ANN, PROJECT, TASK, lay_out

ENV = {"MIND_CONTEXT_WINDOW": "2000"}


@asynccontextmanager
async def harness_on(directory: Path) -> AsyncIterator[tuple[EventLog, Harness]]:
    """A harness whose models have a small window."""
    with EventLog(directory) as log:
        harness = Harness(
            log,
            ANN,
            backend_for=lambda agent: make_backend(agent.drafted.model, ENV),
            roles=Roles([directory / "roles"]),
            tools_for=lambda _: [],
            tell=lambda _: None,
        )
        try:
            yield log, harness
        finally:
            await harness.close()


async def talk(harness: Harness, agent: str, turns: range) -> None:
    """Say something of some length, again and again."""
    for number in turns:
        prompt = await harness.submit(agent, f"What of harbour {number}? " + "It is deep. " * 30)
        end = await harness.answered(agent, prompt)
        assert isinstance(end, TurnCompleted), end


def stands(log: EventLog, agent: str) -> tuple[Agent, list[ConversationCompacted]]:
    """The agent now, and what made way so far."""
    events = [r.event for r in log.read(agent_stream(agent).id)]
    return log.stands(agent_stream(agent)), [
        event for event in events if isinstance(event, ConversationCompacted)
    ]


def test_forty_turns_fit_into_a_window_of_eight(tmp_path: Path) -> None:
    """Turns make way a few at a time; what is shown stays small; a new process goes on from it."""
    lay_out(tmp_path)
    lines = [{"text": f"Harbour {n} is open to ships of all sizes."} for n in range(1, 50)]
    script = tmp_path / "s.jsonl"
    script.write_text("\n".join(map(json.dumps, lines)))
    room = Budget.of(Reading(window=2_000))

    def checked(log: EventLog, check: Callable[[Agent, list[ConversationCompacted]], None]) -> None:
        agent, compacted = stands(log, "analyst-1")
        shown = conversation_of(log, agent)
        assert sum(estimate(turn.prompt + turn.answer) for turn in shown) < room.shown
        assert agent.compacted_upto == compacted[-1].upto
        assert shown[0].turn == agent.compacted_upto + 1
        check(agent, compacted)

    async def first() -> None:
        async with harness_on(tmp_path) as (log, harness):
            agent = await harness.draft(
                client="test", role="analyst", project=PROJECT, task=TASK, model=f"script:{script}"
            )
            await talk(harness, agent.id, range(1, 31))

            def check(agent: Agent, compacted: list[ConversationCompacted]) -> None:
                assert 3 <= len(compacted) <= 15
                uptos = [one.upto for one in compacted]
                assert uptos == sorted(set(uptos))
                assert agent.completed == 30

            checked(log, check)

    async def second() -> None:
        async with harness_on(tmp_path) as (log, harness):
            await harness.recover()
            await talk(harness, "analyst-1", range(31, 41))

            def check(agent: Agent, compacted: list[ConversationCompacted]) -> None:
                assert compacted[-1].upto > 25
                assert "arbour" in agent.summary

            checked(log, check)
            agent = await harness.reset("analyst-1")
            assert conversation_of(log, agent) == ()
            await talk(harness, "analyst-1", range(41, 43))
            last = log.newest(agent_stream("analyst-1").id, ["turn.completed"])
            assert last is not None
            assert isinstance(last.event, TurnCompleted)
            assert last.event.text.startswith("Harbour 42")

    asyncio.run(first())
    asyncio.run(second())
