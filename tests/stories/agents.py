"""A stage with an office beside it: a project, a task, and agents that were drafted for it."""

from pathlib import Path
from typing import Any

from commands.agents.wishes import AgentWish, Happened, Note, StartTurn, SubmitPrompt
from commands.handle import handle
from domain.actors import Actor
from domain.agents import Agent
from domain.events import (
    AgentDrafted,
    Caused,
    Event,
    ProjectCreated,
    TaskCreated,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
    WorkerDispatched,
)
from domain.ids import SessionId
from domain.recorded import BEGINNING, Draw, Recorded
from domain.streams import agent_stream, project_stream, task_stream
from tests.stories.cast import Stage

PROJECT, TASK = "harbour", "gauges"
HERE = "here:1:0"
"""Who holds the turns."""


class Office(Stage):
    """A store with a session, a project, a task and agents, and short words for what they do."""

    def opens(self, project: str = PROJECT, task: str = TASK) -> "Office":
        """There is a project with a task."""
        self._begins(project_stream(project).id, ProjectCreated(name=project, description="Tides."))
        self._begins(
            task_stream(project, task).id,
            TaskCreated(project=project, slug=task, title="Read the gauges"),
        )
        return self

    def drafts(self, name: str = "analyst-1", **fields: Any) -> str:
        """Somebody drafts an agent; its parent, if it has one, sent it out."""
        drafted = AgentDrafted.model_validate(
            {
                "role": name.rpartition("-")[0],
                "instructions": "You read gauges.",
                "model": "local",
                "client": "cli",
                "project": PROJECT,
                "task": TASK,
                **fields,
            }
        )
        self._begins(agent_stream(name).id, drafted)
        if drafted.parent is not None:
            word = WorkerDispatched(worker=name, role=drafted.role, prompt="Go.", way=drafted.way)
            self.does_to(drafted.parent, Note(event=word))
        return name

    def says(self, text: str, name: str = "analyst-1", *, sender: str | None = None) -> int:
        """Somebody says something to an agent; the prompt's id."""
        return self.does_to(name, SubmitPrompt(text=text, sender=sender)).queue[-1].id

    def hears(
        self, text: str, name: str = "analyst-1", *, tools: tuple[str, ...] = (), **fields: Any
    ) -> Agent:
        """The agent answers what waits longest."""
        turn, prompt = self.starts(name)
        for number, tool in enumerate(tools, 1):
            called = ToolCalled(
                turn=turn,
                call=f"call_{number}",
                name=tool,
                arguments='{"month": "May"}',
                result="none lags",
                latency_ms=40,
            )
            self.does_to(name, Happened(turn=turn, event=called))
        values = {
            "model": "local",
            "tokens_in": 100,
            "tokens_out": 10,
            "cost_usd": 0.01,
            "context_tokens": 100,
            "context_window": 1000,
            "latency_ms": 500,
            **fields,
        }
        said = TurnCompleted(turn=turn, prompt=prompt, text=text, **values)
        return self.does_to(name, Happened(turn=turn, event=said))

    def fails(self, name: str = "analyst-1", **fields: Any) -> Agent:
        """What waits longest gets no answer."""
        turn, prompt = self.starts(name)
        values = {"reason": "failed", "detail": "HTTP 500 of the provider.", **fields}
        return self.does_to(
            name, Happened(turn=turn, event=TurnFailed(turn=turn, prompt=prompt, **values))
        )

    def starts(self, name: str = "analyst-1") -> tuple[int, int]:
        """The next turn begins: its number, and its prompt."""
        turn = self.does_to(name, StartTurn(holder=HERE)).turn
        assert turn is not None
        return turn.number, turn.prompt.id

    def does_to(self, name: str, *wishes: AgentWish) -> Agent:
        """Wishes come true, the agent's own where it is in a turn."""
        for wish in wishes:
            own = isinstance(wish, Happened)
            by = Actor("agent", name) if own else self.world.actor
            handle(self.log, agent_stream(name), wish, self.world, by=by)
        return self.agent(name)

    def agent(self, name: str = "analyst-1") -> Agent:
        """How things stand with an agent."""
        return self.log.stands(agent_stream(name))

    def life(self, name: str = "analyst-1") -> list[Recorded]:
        """All that happened to an agent."""
        return list(self.log.read(agent_stream(name).id))

    def _begins(self, stream: SessionId, event: Event) -> None:
        world = self.world
        draw = Draw((Caused(event),), world.now(), world.actor, world.command_id())
        self.log.begin(stream, BEGINNING, draw)


QUESTION, ANSWER = "Which gauge lags?", "The one at the weir, by 20 minutes."


def harbour(directory: Path) -> Office:
    """The session ``tides``, a project with a task, and ``analyst-1`` after two turns.

    Eight events of the agent: drafted; a prompt, its turn with a tool, an answer; and one more
    prompt whose turn failed.
    """
    office = Office(directory)
    office.begins()
    office.opens()
    office.drafts()
    office.says(QUESTION)
    office.hears(ANSWER, tools=("read_file",))
    office.says("Why does it?")
    office.fails(partial="Because")
    return office
