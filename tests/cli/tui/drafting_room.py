"""A person at the app who talks with agents: a real store, a harness, recorded models."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cli.rpc.service import open_service
from cli.tui.agent_list import Agents
from cli.tui.app import ChatApp
from cli.tui.drafting import DraftMode
from commands.projects import create_project, create_task
from domain.recorded import Recorded
from domain.streams import agent_stream
from tests.cli.tui.house import Droppable, Sitting, stage_in
from tests.stories.cast import Stage

Line = dict[str, Any]

PROJECT, TASK = "tides", "predict-fundy"

LONG: Line = {"delay": 3600, "text": "never"}
"""The reply of a model that is at it until somebody ends it."""


class Wire(Droppable):
    """A client to which nothing is told while its connection is lost."""

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notification, if it arrives."""
        if not self._lost:
            super().notify(method, params)


class Room(Sitting):
    """The app, and who talks with agents there."""

    __slots__ = ()

    @property
    def mode(self) -> DraftMode:
        """The mode for agents."""
        return self.app.drafting

    @property
    def agents(self) -> Agents:
        """Those at work."""
        return self.mode.query_one(Agents)

    @property
    def title(self) -> str:
        """The first line."""
        return self.screen.partition("\n")[0].strip()

    async def types(self, line: str) -> None:
        """Paste a line in place of what stands there, send it, and see what comes of it."""
        await self.sends(line)
        await self.rests()

    async def rests(self) -> None:
        """Wait until all that was told is shown."""
        await self.pilot.pause()
        await self.until(lambda: not self.app.taking and self.mode.settled)
        await self.pilot.pause()

    def kinds(self, agent: str) -> list[str]:
        """The kinds of all that has happened to an agent."""
        return [recorded.event.kind for recorded in self.history(agent)]

    def history(self, agent: str) -> list[Recorded]:
        """All that has happened to an agent."""
        return list(self.stage.log.read(agent_stream(agent).id))


def script(directory: Path, name: str, *lines: Line) -> str:
    """The name of a model, here in the directory, that answers so, with tokens and costs."""
    costs = {"tokens_in": 900, "tokens_out": 60, "cost_usd": 0.05, "context_window": 10_000}
    file = directory / f"{name}.jsonl"
    file.write_text("".join(f"{json.dumps({**costs, **line})}\n" for line in lines), "utf-8")
    return f"script:{file.name}"


def room_in(directory: Path, *, place: bool = True, **roles: tuple[Line, ...]) -> Stage:
    """A store with a session, a project, a task, and a role for each list of replies."""
    stage = stage_in(directory)
    if place:
        create_project(stage.log, stage.world, PROJECT, description="What the sea does.")
        create_task(stage.log, stage.world, PROJECT, "Predict Fundy", slug=TASK)
    (stage.directory / "roles").mkdir()
    for role, lines in roles.items():
        name = role.replace("_", "-")
        head = f"name: {name}\ndescription: For tests.\nmodel: {script(directory, name, *lines)}\n"
        more = "permissions: [agent-draft]\n" if "analyst" in name else ""
        text = f"---\n{head}{more}---\nYou are {name}.\n"
        (stage.directory / "roles" / f"{name}.md").write_text(text, "utf-8")
    return stage


@asynccontextmanager
async def seated(stage: Stage, size: tuple[int, int]) -> AsyncIterator[Room]:
    """The app on the store of a stage, in a terminal of that size."""
    async with open_service(stage.directory, {}) as service:
        client = Wire(service, "chat")
        try:
            app = ChatApp(client, stage.session)
            async with app.run_test(size=size) as pilot:
                room = Room(app, pilot, client, stage)
                await room.settles()
                await room.rests()
                yield room
        finally:
            await client.close()


def play(
    stage: Stage, act: Callable[[Room], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> None:
    """Let somebody sit at the app, and do something."""

    async def whole() -> None:
        async with seated(stage, size) as room:
            await act(room)

    asyncio.run(whole())


def calls(name: str, /, text: str = "", **arguments: Any) -> Line:
    """A line that calls a tool."""
    return {"text": text, "tool_calls": [{"name": name, "arguments": arguments}]}


def report(**more: Any) -> Line:
    """A line with the report of a worker."""
    return calls("report", **{"status": "success", "summary": "It is done.", **more})
