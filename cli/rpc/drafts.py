"""Draft sessions: draft, undraft, get_draft_status, submit_prompt, withdraw_prompt, reset_context.

A client talks with one drafted agent at a time; what it submits goes there, or out to a worker.
"""

from typing import Annotated

from pydantic import Field

from cli.rpc.described import described
from cli.rpc.draft_session import DraftSession, draft_session
from cli.rpc.errors import AGENT, DRAFT_IS_ACTIVE, NO_ACTIVE_DRAFT, PROJECT, ROLE, TASK
from cli.rpc.method import Method, Params, Peer, Result
from cli.rpc.service import Service
from commands.places import only_project
from commands.projects import create_task
from domain.agent_errors import NoActiveDraft
from domain.agents import Agent
from domain.errors import BadSetting
from domain.events import TurnCompleted, TurnFailed
from domain.ids import CommandId
from domain.titles import title_of


class Drafting(Params):
    """Whom, and for what."""

    role: str
    project: str
    task: str
    """The task's slug; it has to be open."""
    model: str | None = None
    """Who answers, where not as the role says."""


class Drafted(Result):
    """The agent that is drafted."""

    session_id: str
    role: str
    project: str
    task_slug: str
    model: str


class Which(Params):
    """An agent, whoever has drafted it; the client's own active draft by default."""

    session_id: str | None = None


class Undrafted(Result):
    """What the conversation came to."""

    session_id: str
    role: str
    project: str
    task_slug: str
    turns: int
    cost: float
    """US dollars, as far as known."""
    duration_ms: int


class Status(Result):
    """Whether the client has an active draft, and where that stands."""

    active: bool
    session: DraftSession | None = None


class Prompting(Params):
    """What is said, and to whom if not to the active draft."""

    content: str
    session_id: str | None = None
    role: str | None = None
    """For a worker, where nobody is drafted; ignored otherwise, as are project and taskSlug."""
    project: str | None = None
    task_slug: str | None = None
    """Without one, a task is made of the prompt's first words."""
    wait: bool = False
    """Answer when the turn, or the work, has ended; the result then says how."""
    command_id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")] | None = None
    """Drawn by the client: the same prompt under the same id is said once."""


class Submitted(Result):
    """Where it went; the answer comes in notifications."""

    session_id: str
    task_slug: str
    way: str
    """``conversation``, or ``work`` for a worker."""
    prompt: int
    """Its id."""
    outcome: str | None = None
    """With ``wait``: completed, failed, lost or withdrawn; of a worker its status."""
    answer: str | None = None
    """With ``wait``: the answer, or why there is none."""


class Withdrawing(Params):
    """A prompt that waits."""

    session_id: str | None = None
    prompt: int


class Resetting(Params):
    """A conversation that begins anew."""

    session_id: str | None = None
    reason: str = ""


class _Drafts:
    """The methods, on one service."""

    def __init__(self, service: Service) -> None:
        self._service, self._harness = service, service.harness

    async def draft(self, peer: Peer, asked: Drafting) -> Drafted:
        """Draft an agent by role to talk with."""
        agent = await self._harness.draft(
            client=peer.name,
            role=asked.role,
            project=asked.project,
            task=asked.task,
            model=asked.model,
        )
        return Drafted(
            session_id=agent.id,
            role=asked.role,
            project=asked.project,
            task_slug=asked.task,
            model=agent.drafted.model,
        )

    async def undraft(self, peer: Peer, asked: Which) -> Undrafted:
        """End the conversation with the drafted agent; the log keeps all of it."""
        agent = await self._harness.undraft((await self._own(peer, asked.session_id)).id)
        drafted = agent.drafted
        return Undrafted(
            session_id=agent.id,
            role=drafted.role,
            project=drafted.project,
            task_slug=drafted.task,
            turns=agent.completed,
            cost=agent.cost_usd,
            duration_ms=max(0, (agent.at - agent.begun) // 1000),
        )

    async def status(self, peer: Peer, asked: Which) -> Status:
        """Say whom the client has drafted, and where the conversation stands."""
        try:
            agent = await self._own(peer, asked.session_id)
        except NoActiveDraft:
            return Status(active=False)
        return Status(active=agent.active, session=draft_session(agent))

    async def submit(self, peer: Peer, asked: Prompting) -> Submitted:
        """Say something to the drafted agent; where there is none, send out a worker with it."""
        command = CommandId(bytes.fromhex(asked.command_id)) if asked.command_id else None
        try:
            agent = await self._own(peer, asked.session_id)
        except NoActiveDraft:
            return await self._dispatched(peer, asked, command)
        prompt = await self._harness.submit(agent.id, asked.content, command_id=command)
        answer = Submitted(
            session_id=agent.id,
            task_slug=agent.drafted.task,
            way=agent.way,
            prompt=prompt,
        )
        if not asked.wait:
            return answer
        end = await self._harness.answered(agent.id, prompt)
        said = end.text if isinstance(end, TurnCompleted) else ""
        if isinstance(end, TurnFailed):
            said = end.detail
        outcome = end.kind.rpartition(".")[2]
        return answer.model_copy(update={"outcome": outcome, "answer": said})

    async def _dispatched(
        self, peer: Peer, asked: Prompting, command: CommandId | None
    ) -> Submitted:
        if asked.role is None:
            raise BadSetting(
                f"Nobody is drafted by {peer.name!r}: draft an agent first, or name a role to send"
                " out a worker."
            )
        aside = self._service.aside
        agent = await aside(self._harness.begun_by, command) if command is not None else None
        if agent is None:
            agent = await self._sent(peer, asked, asked.role, command)
        return await self._reported(agent, wait=asked.wait)

    async def _sent(
        self, peer: Peer, asked: Prompting, role: str, command: CommandId | None
    ) -> Agent:
        await self._service.aside(self._harness.check_work, role)  # no task is made for nobody
        project, task = asked.project, asked.task_slug
        if project is None:
            project = await self._service.aside(only_project, self._service.log)
        if task is None:
            task = await self._service.aside(self._task, project, asked.content)
        return await self._harness.dispatch(
            client=peer.name,
            role=role,
            prompt=asked.content,
            project=project,
            task=task,
            command_id=command,
        )

    async def _reported(self, agent: Agent, *, wait: bool) -> Submitted:
        task = agent.drafted.task
        answer = Submitted(session_id=agent.id, task_slug=task, way="work", prompt=2)
        if not wait:
            return answer
        ended = await self._harness.ended(agent.id)
        report = ended.report
        outcome = report.status if report is not None else "failed"
        detail = ended.ended.detail if ended.ended is not None else ""
        said = report.summary if report is not None else detail
        return answer.model_copy(update={"outcome": outcome, "answer": said})

    def _task(self, project: str, content: str) -> str:
        title = title_of(content) or "a prompt"
        return create_task(self._service.log, self._service.world, project, title).created.slug

    async def withdraw(self, peer: Peer, asked: Withdrawing) -> Status:
        """Take back a prompt that waits for its turn."""
        agent = await self._own(peer, asked.session_id)
        agent = await self._harness.withdraw(agent.id, asked.prompt)
        return Status(active=agent.active, session=draft_session(agent))

    async def reset(self, peer: Peer, asked: Resetting) -> Status:
        """Begin the conversation anew: the model is shown nothing of what was before."""
        agent = await self._own(peer, asked.session_id)
        agent = await self._harness.reset(agent.id, asked.reason)
        return Status(active=agent.active, session=draft_session(agent))

    async def _own(self, peer: Peer, name: str | None) -> Agent:
        """The agent that is meant.

        Raises:
            NoActiveDraft: none is named, and the client has none.
            NoSuchAgent: there is none of that name.
        """
        if name is not None:
            return await self._service.aside(self._harness.agent, name)
        agent = await self._service.aside(self._harness.draft_of, peer.name)
        if agent is None:
            raise NoActiveDraft(peer.name)
        return agent


def methods(service: Service) -> list[Method]:
    """The methods of draft sessions."""
    one = _Drafts(service)
    place = (TASK, ROLE, PROJECT)
    return [
        described("draft", one.draft, *place, DRAFT_IS_ACTIVE),
        described("undraft", one.undraft, AGENT, NO_ACTIVE_DRAFT),
        described("get_draft_status", one.status, AGENT),
        described("submit_prompt", one.submit, *place, AGENT),
        described("withdraw_prompt", one.withdraw, AGENT, NO_ACTIVE_DRAFT),
        described("reset_context", one.reset, AGENT, NO_ACTIVE_DRAFT),
    ]
