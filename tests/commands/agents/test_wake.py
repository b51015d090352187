"""A prompt that comes at the worst moment is answered all the same."""

import asyncio
from pathlib import Path
from typing import Any

from commands.agents.choose import make_backend
from commands.agents.ledger import Ledger
from commands.agents.rules import Rules
from commands.agents.runner import Runner
from commands.agents.wishes import AgentWish, StartTurn, SubmitPrompt
from domain.agents import Agent
from tests.commands.agents.test_harness import story
from tests.stories.crew import ANN, Crew


class Interrupted(Ledger):
    """Somebody speaks just when it was seen that nothing waits, before that is looked at again."""

    runner: Runner
    _idle = False

    async def do(self, name: str, wish: AgentWish, **more: Any) -> Agent:
        """Fulfil a wish, and see whether a turn could not begin for want of a prompt."""
        agent = await super().do(name, wish, **more)
        self._idle = isinstance(wish, StartTurn) and agent.turn is None and agent.completed == 1
        return agent

    async def agent(self, name: str) -> Agent:
        """An agent as it was before somebody spoke."""
        agent = await super().agent(name)
        if self._idle:
            self._idle = False
            await self.say_to(name, "And now?")
        return agent

    async def say_to(self, name: str, text: str) -> None:
        """Say something to an agent, as a harness does."""
        await self.fulfil(name, SubmitPrompt(text=text))
        self.runner.wake(name)


def test_a_prompt_that_comes_while_its_queue_is_found_empty_is_answered(tmp_path: Path) -> None:
    """Whoever works off the queue is still there then, so nobody else begins: it looks again."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"text": "High."}, {"text": "Low."})
        ledger = Interrupted(one.log, ANN, lambda _: None)
        ledger.runner = Runner(
            ledger, lambda agent: make_backend(agent.drafted.model, {}), lambda _: (), Rules()
        )
        await ledger.say_to(agent.id, "Well?")
        async with asyncio.timeout(10):
            while one.harness.agent(agent.id).completed < 2:
                ledger.news[agent.id].clear()
                await ledger.heard(agent.id, 0.05)
        await ledger.runner.close()
        assert one.kinds(agent.id).count("turn.completed") == 2

    story(tmp_path, told)
