"""A conversation with Claude Code, as the harness records it."""

import asyncio
import json
from pathlib import Path
from typing import Any

from commands.agents.choose import make_backend
from commands.agents.harness import Harness
from commands.agents.roles import Roles
from commands.eventlog import EventLog
from domain.agents import Agent
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


def harness_on(log: EventLog, env: dict[str, str], **more: Any) -> Harness:
    """A harness whose agents are answered by the stand-in of Claude Code."""
    return Harness(
        log,
        ANN,
        backend_for=lambda agent: make_backend(agent.drafted.model, env),
        roles=Roles([log.place.home / "roles"]),
        **more,
    )


def test_a_conversation_stands_in_the_log_and_outlives_what_claude_keeps(tmp_path: Path) -> None:
    """Turns, tools and figures are recorded; reset begins anew; what is gone ends the draft."""
    store = tmp_path / "store"
    store.mkdir()
    lay_out(store)
    env = install(tmp_path)
    plays(env, TURNS)

    async def happen() -> None:
        with EventLog(store) as log:
            harness = harness_on(log, env)

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


def test_a_turn_that_is_stopped_says_what_it_took_and_the_conversation_goes_on(
    tmp_path: Path,
) -> None:
    """Claude Code is interrupted, not killed; the next prompt resumes what it keeps."""
    store = tmp_path / "store"
    store.mkdir()
    lay_out(store)
    env = install(tmp_path)
    plays(env, {HELLO: [{"call": ["Two"]}, {"until": "interrupted"}], AGAIN: TURNS[HELLO]})

    async def happen() -> Agent:
        began = asyncio.Event()
        with EventLog(store) as log:
            harness = harness_on(
                log, env, tell=lambda notice: began.set() if notice.kind == "chunk" else None
            )
            drafted = await harness.draft(
                client="cli", role="reader", project=PROJECT, task=TASK, model="claude:default"
            )
            try:
                await harness.submit(drafted.id, HELLO)
                await began.wait()
                end = await harness.stop(drafted.id)
                assert isinstance(end, TurnFailed)
                assert (end.reason, end.partial, end.calls) == ("stopped", "Two", 1)
                assert (end.tokens_in, end.cost_usd, end.unknown_costs) == (100, 0.01, 0)
                stopped = harness.agent(drafted.id)
                prompt = await harness.submit(drafted.id, AGAIN)
                after = await harness.answered(drafted.id, prompt)
                assert isinstance(after, TurnCompleted)
                assert (after.text, after.cost_usd) == ("Two a day.", 0.01)
                assert harness.agent(drafted.id).backend == stopped.backend
            finally:
                await harness.close()
        return stopped

    kept = Path(env["CLAUDE_CONFIG_DIR"]).glob(f"*/{asyncio.run(happen()).backend}.json")
    assert json.loads(next(kept).read_text())["prompts"] == [HELLO, AGAIN]
