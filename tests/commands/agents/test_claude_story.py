"""A conversation with Claude Code, as the harness records it."""

import asyncio
from pathlib import Path

from commands.agents.choose import make_backend
from commands.agents.harness import Harness
from commands.agents.roles import Roles
from commands.eventlog import EventLog
from domain.events import TurnCompleted, TurnFailed
from domain.streams import agent_stream
from tests.commands.agents.claude_installed import Steps, forget, install, plays
from tests.stories.crew import ANN, PROJECT, TASK, lay_out

HELLO, AGAIN, LOST = "How many tides?", "And why two?", "Are you there?"
TURNS: dict[str, Steps] = {
    HELLO: [{"call": ["Two ", "a day."]}],
    AGAIN: [{"call": [], "use": "Read", "input": {"file_path": "sea.md"}}, {"call": ["The moon."]}],
    LOST: [{"call": ["Yes."]}],
}


def test_a_conversation_stands_in_the_log_and_outlives_what_claude_keeps(tmp_path: Path) -> None:
    """Turns, tools and figures are recorded; reset begins anew; what is gone ends the draft."""
    store = tmp_path / "store"
    store.mkdir()
    lay_out(store)
    env = install(tmp_path)
    plays(env, TURNS)

    async def happen() -> None:
        with EventLog(store) as log:
            harness = Harness(
                log,
                ANN,
                backend_for=lambda agent: make_backend(agent, env),
                roles=Roles([store / "roles"]),
            )

            async def asked(text: str) -> object:
                return await harness.answered(name, await harness.submit(name, text))

            drafted = await harness.draft(
                client="cli", role="reader", project=PROJECT, task=TASK, model="claude:default"
            )
            name = drafted.id
            try:
                first = await asked(HELLO)
                assert isinstance(first, TurnCompleted)
                assert (first.text, first.model, first.cost_usd) == (
                    "Two a day.",
                    "claude-stand-in",
                    0.01,
                )
                opened = log.stands(agent_stream(name)).backend
                assert isinstance(await asked(AGAIN), TurnCompleted)
                agent = log.stands(agent_stream(name))
                assert agent.backend == opened
                assert (round(agent.spent.cost_usd, 9), agent.spent.calls) == (0.03, 3)
                assert (agent.tokens_in, agent.tokens_out) == (441, 60)
                assert (agent.last_tokens_in, agent.context_window) == (147, 200_000)

                await harness.reset(name)
                await asked(HELLO)
                agent = log.stands(agent_stream(name))
                assert agent.backend not in {None, opened}

                forget(env)
                lost = await asked(LOST)
                assert isinstance(lost, TurnFailed)
                assert lost.reason == "session gone"
                agent = await harness.ended(name)
                assert agent.ended is not None
                assert agent.ended.reason == "session gone"
            finally:
                await harness.close()
            kinds = [recorded.event.kind for recorded in log.read(agent_stream(name).id)]
            assert kinds == [
                "agent.drafted",
                *("prompt.submitted", "turn.started", "backend.opened", "turn.completed"),
                *("prompt.submitted", "turn.started", "tool.called", "turn.completed"),
                "context.reset",
                *("prompt.submitted", "turn.started", "backend.opened", "turn.completed"),
                *("prompt.submitted", "turn.started", "turn.failed", "agent.undrafted"),
            ]

    asyncio.run(happen())
