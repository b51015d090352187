"""A person at the app who talks with agents: a real store, a harness, recorded models."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from cli.tui.agent_list import Agents
from cli.tui.drafting import DraftMode
from commands.projects import create_project, create_task
from domain.recorded import Recorded
from domain.streams import agent_stream
from tests.cli.tui.house import Sitting, play_as, stage_in
from tests.stories.cast import Stage

Line = dict[str, Any]

PROJECT, TASK = "tides", "predict-fundy"

LONG: Line = {"delay": 3600, "text": "never"}
"""The reply of a model that is at it until somebody ends it."""


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

    async def settles(self) -> None:
        """Wait until nothing is under way, here or at the mind."""
        await super().settles()
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


def play(
    stage: Stage, act: Callable[[Room], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> None:
    """Let somebody sit at the app, and do something."""
    play_as(Room, stage, act, size)


def calls(name: str, /, text: str = "", **arguments: Any) -> Line:
    """A line that calls a tool."""
    return {"text": text, "tool_calls": [{"name": name, "arguments": arguments}]}


def report(**more: Any) -> Line:
    """A line with the report of a worker."""
    return calls("report", **{"status": "success", "summary": "It is done.", **more})
