"""A harness on a real log, with recorded models: for stories about agents."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from commands.agents.agent_tools import agent_tools
from commands.agents.choose import make_backend
from commands.agents.harness import Harness
from commands.agents.notices import Notice
from commands.agents.roles import Roles
from commands.agents.rules import Rules
from commands.agents.tools import Tool
from commands.eventlog import EventLog
from commands.projects import create_project, create_task
from commands.world import RealWorld
from domain.actors import Actor
from domain.agents import Agent
from domain.recorded import Recorded
from domain.streams import agent_stream

ANN = RealWorld(Actor("user", "ann"))
PROJECT, TASK = "tides", "predict-fundy"

ROLES = {
    "analyst": "permissions: [agent-draft, projects-list, projects-create]",
    "reader": "",
    "frugal": "limits: {budget_usd: 0.015}",
}


class Crew(NamedTuple):
    """What a story needs."""

    directory: Path
    log: EventLog
    harness: Harness
    told: list[Notice]
    news: asyncio.Event
    """Set whenever something is told."""

    async def until(self, check: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until something has come about; looked at whenever something is told."""
        async with asyncio.timeout(seconds):
            while not check():
                self.news.clear()
                await self.news.wait()

    def history(self, agent: str) -> list[Recorded]:
        """All that has happened to an agent."""
        return list(self.log.read(agent_stream(agent).id))

    def kinds(self, agent: str) -> list[str]:
        """The kinds of it."""
        return [recorded.event.kind for recorded in self.history(agent)]

    async def drafted(self, *lines: dict[str, Any], role: str = "analyst", **more: Any) -> Agent:
        """An agent that answers with these lines."""
        more = {"client": "test", "project": PROJECT, "task": TASK, **more}
        return await self.harness.draft(role=role, model=self.script(*lines), **more)

    async def at_work(self, *lines: dict[str, Any], role: str = "reader", **more: Any) -> Agent:
        """A worker that answers with these lines."""
        more = {"client": "test", "project": PROJECT, "task": TASK, "prompt": "Do it.", **more}
        return await self.harness.dispatch(role=role, model=self.script(*lines), **more)

    async def asked(self, agent: str, text: str = "Well?") -> Any:
        """Say something, and wait for how its turn ends."""
        return await self.harness.answered(agent, await self.harness.submit(agent, text))

    def script(self, *lines: dict[str, Any]) -> str:
        """The name of a model that answers with these lines."""
        return scripted(self.directory, *lines)


def scripted(directory: Path, *lines: dict[str, Any]) -> str:
    """The name of a model that answers with these lines, in a file of its own."""
    file = directory / f"{len(list(directory.glob('*.jsonl')))}.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return f"script:{file}"


def lay_out(directory: Path) -> None:
    """A store with a project, an open task and some roles."""
    with EventLog.create(directory) as log:
        create_project(log, ANN, PROJECT, description="What the sea does.")
        create_task(log, ANN, PROJECT, "Predict Fundy", slug=TASK)
    roles = directory / "roles"
    roles.mkdir()
    for name, more in ROLES.items():
        text = f"---\nname: {name}\ndescription: for tests\n{more}\n---\nYou are {name}.\n"
        (roles / f"{name}.md").write_text(text, "utf-8")


@asynccontextmanager
async def crew(
    directory: Path, *, rules: Rules | None = None, tools: Sequence[Tool] = ()
) -> AsyncIterator[Crew]:
    """A harness on the store of a directory, which is laid out where it is not there yet."""
    if not (directory / "log.db").exists():
        lay_out(directory)
    told: list[Notice] = []
    news = asyncio.Event()

    def tell(notice: Notice) -> None:
        told.append(notice)
        news.set()

    with EventLog(directory) as log:

        def tools_for(agent: Agent) -> list[Tool]:
            drafted = agent.drafted
            mine = agent_tools(
                harness,
                log,
                ANN,
                client=drafted.client,
                permissions=drafted.permissions,
                role=drafted.role,
                caller=agent.id,
            )
            return [*tools, *mine]

        harness = Harness(
            log,
            ANN,
            backend_for=lambda agent: make_backend(agent.drafted.model, {}),
            roles=Roles([directory / "roles"]),
            tools_for=tools_for,
            tell=tell,
            rules=rules or Rules(look=0.05),
        )
        try:
            yield Crew(directory, log, harness, told, news)
        finally:
            await harness.close()


def report(status: str = "success", summary: str = "It is done.", **more: Any) -> dict[str, Any]:
    """A line in which a worker hands in its report."""
    call = {"name": "report", "arguments": {"status": status, "summary": summary, **more}}
    return {"tool_calls": [call]}


def calls(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A line that calls a tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}
