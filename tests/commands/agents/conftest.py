"""What the tests of neutral agents share: agents, and turns that note what they hear."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from commands.agents.backend import Answer, Ask, Called, Heard, Spoken, Text, TurnBroke, Warned
from commands.agents.neutral import NeutralBackend
from commands.agents.tools import Outcome, Tool
from domain.agents import Agent
from domain.events import AgentDrafted
from domain.ids import AgentId
from domain.limits import Spent
from tests.commands.minds.conftest import KEY, env, provider

__all__ = ["KEY", "env", "provider"]


def agent_on(model: str, calls: int = 0) -> Agent:
    """An agent that nobody has spoken to, or that has called its model before."""
    drafted = AgentDrafted(
        role="analyst",
        instructions="You analyse.",
        model=model,
        client="cli",
        project="p",
        task="t",
    )
    return Agent(AgentId("analyst-1"), drafted, 1, spent=Spent(calls=calls))


async def _nothing(_: dict[str, Any]) -> str:
    return ""


TASKS = Tool(
    "list_tasks",
    "The tasks of a project.",
    {"type": "object", "properties": {"project": {"type": "string"}}, "required": ["project"]},
    _nothing,
)


class Played:
    """A turn, and all that was heard of it."""

    def __init__(self, backend: NeutralBackend, model: str = "m", **about: Any) -> None:
        self.backend = backend
        self.heard: list[Heard] = []
        self.used: list[tuple[str, str, str]] = []
        self.outcome = Outcome('["refunds"]')
        self.enough: Callable[[], bool] = lambda: False
        self.ask = Ask(
            agent=about.get("agent", agent_on(model)),
            instructions=about.get("instructions", "You analyse."),
            conversation=about.get("conversation", ()),
            summary=about.get("summary", ""),
            prompt=about.get("prompt", "What is open?"),
            tools=about.get("tools", (TASKS,)),
            path=None,
            hear=self.heard.append,
            use=self._use,
            enough=lambda: self.enough(),  # noqa: PLW0108 — a test may set another one
        )

    async def _use(self, call: str, name: str, arguments: str) -> Outcome:
        self.used.append((call, name, arguments))
        return self.outcome

    def answer(self) -> Answer:
        """The turn's answer."""
        return asyncio.run(self.backend.turn(self.ask))

    def breaks(self) -> TurnBroke:
        """The turn's failure."""
        with pytest.raises(TurnBroke) as broke:
            self.answer()
        return broke.value

    @property
    def text(self) -> str:
        """What streamed."""
        return "".join(one.text for one in self.heard if isinstance(one, Text))

    @property
    def calls(self) -> list[Called]:
        """What the calls of the model took."""
        return [one for one in self.heard if isinstance(one, Called)]

    @property
    def warnings(self) -> list[str]:
        """What the user was told."""
        return [one.sentence for one in self.heard if isinstance(one, Warned)]


def turn(number: int, prompt: str, answer: str, **more: Any) -> Spoken:
    """A turn that is over."""
    return Spoken(number, prompt, more.get("calls", ()), answer, more.get("failed", False))
