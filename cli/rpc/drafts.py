"""Draft sessions: draft, undraft, their status, prompts and turns, and a context that is reset.

A client talks with one drafted agent at a time; what it submits goes there, or out to a worker.
"""

from typing import Annotated

from pydantic import Field

from cli.rpc.draft_session import DraftSession, draft_session
from cli.rpc.errors import AGENT, DRAFT_IS_ACTIVE, NO_ACTIVE_DRAFT, PROJECT, ROLE, TASK
from cli.rpc.functions import on_loop
from cli.rpc.method import Method, Params, Peer, Result
from cli.rpc.service import Service
from commands.agents.ledger import said_at
from commands.places import only_project
from commands.projects import create_task
from domain.agent_errors import NoActiveDraft
from domain.agents import Agent
from domain.errors import BadSetting
from domain.events import TurnFailed
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
    unknown_costs: int
    """Calls of the model whose cost nobody could say."""
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


class Stopping(Params):
    """A turn that goes on."""

    session_id: str | None = None
    turn: int | None = None
    """Only this one: by the time that it is wished, the next may be going on."""


class Stopped(Result):
    """How the turn has ended."""

    session_id: str
    turn: int
    prompt: int
    """The prompt that it was about."""
    outcome: str
    """``stopped``; completed, failed or lost where it had an end of its own meanwhile."""
    waiting: int
    """Prompts that are answered next."""


class Resetting(Params):
    """A conversation that begins anew."""

    session_id: str | None = None
    reason: str = ""


async def draft(service: Service, peer: Peer, asked: Drafting) -> Drafted:
    """Draft an agent by role to talk with."""
    agent = await service.harness.draft(
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


async def undraft(service: Service, peer: Peer, asked: Which) -> Undrafted:
    """End the conversation with the drafted agent; the log keeps all of it."""
    agent = await service.harness.undraft((await _own(service, peer, asked.session_id)).id)
    drafted = agent.drafted
    return Undrafted(
        session_id=agent.id,
        role=drafted.role,
        project=drafted.project,
        task_slug=drafted.task,
        turns=agent.completed,
        cost=agent.cost_usd,
        unknown_costs=agent.unknown_costs,
        duration_ms=max(0, (agent.at - agent.begun) // 1000),
    )


async def get_draft_status(service: Service, peer: Peer, asked: Which) -> Status:
    """Say whom the client has drafted, and where the conversation stands."""
    try:
        agent = await _own(service, peer, asked.session_id)
    except NoActiveDraft:
        return Status(active=False)
    return Status(active=agent.active, session=draft_session(agent))


async def submit_prompt(service: Service, peer: Peer, asked: Prompting) -> Submitted:
    """Say something to the drafted agent; where there is none, send out a worker with it."""
    command = CommandId(bytes.fromhex(asked.command_id)) if asked.command_id else None
    try:
        agent = await _own(service, peer, asked.session_id)
    except NoActiveDraft:
        return await _dispatched(service, peer, asked, command)
    prompt = await service.harness.submit(agent.id, asked.content, command_id=command)
    answer = Submitted(
        session_id=agent.id,
        task_slug=agent.drafted.task,
        way=agent.way,
        prompt=prompt,
    )
    if not asked.wait:
        return answer
    end = await service.harness.answered(agent.id, prompt)
    outcome = end.kind.rpartition(".")[2]
    return answer.model_copy(update={"outcome": outcome, "answer": said_at(end)})


async def _dispatched(
    service: Service, peer: Peer, asked: Prompting, command: CommandId | None
) -> Submitted:
    if asked.role is None:
        raise BadSetting(
            f"Nobody is drafted by {peer.name!r}: draft an agent first, or name a role to send"
            " out a worker."
        )
    aside = service.aside
    agent = await aside(service.harness.begun_by, command) if command is not None else None
    if agent is None:
        agent = await _sent(service, peer, asked, asked.role, command)
    return await _reported(service, agent, wait=asked.wait)


async def _sent(
    service: Service, peer: Peer, asked: Prompting, role: str, command: CommandId | None
) -> Agent:
    await service.aside(service.harness.check_work, role)  # no task is made for nobody
    project, task = asked.project, asked.task_slug
    if project is None:
        project = await service.aside(only_project, service.log)
    if task is None:
        task = await service.aside(_task, service, project, asked.content)
    return await service.harness.dispatch(
        client=peer.name,
        role=role,
        prompt=asked.content,
        project=project,
        task=task,
        command_id=command,
    )


async def _reported(service: Service, agent: Agent, *, wait: bool) -> Submitted:
    task = agent.drafted.task
    answer = Submitted(session_id=agent.id, task_slug=task, way="work", prompt=2)
    if not wait:
        return answer
    ended = await service.harness.ended(agent.id)
    report = ended.report
    outcome = report.status if report is not None else "failed"
    detail = ended.ended.detail if ended.ended is not None else ""
    said = report.summary if report is not None else detail
    return answer.model_copy(update={"outcome": outcome, "answer": said})


def _task(service: Service, project: str, content: str) -> str:
    title = title_of(content) or "a prompt"
    return create_task(service.log, service.world, project, title).created.slug


async def withdraw_prompt(service: Service, peer: Peer, asked: Withdrawing) -> Status:
    """Take back a prompt that waits for its turn."""
    agent = await _own(service, peer, asked.session_id)
    agent = await service.harness.withdraw(agent.id, asked.prompt)
    return Status(active=agent.active, session=draft_session(agent))


async def stop_turn(service: Service, peer: Peer, asked: Stopping) -> Stopped:
    """End the turn that an agent is at, within a second; the conversation goes on."""
    agent = await _own(service, peer, asked.session_id)
    end = await service.harness.stop(agent.id, turn=asked.turn)
    now = await service.aside(service.harness.agent, agent.id)
    stopped = isinstance(end, TurnFailed) and end.reason == "stopped"
    return Stopped(
        session_id=agent.id,
        turn=end.turn,
        prompt=end.prompt,
        outcome="stopped" if stopped else end.kind.rpartition(".")[2],
        waiting=len(now.queue) + (now.turn is not None),
    )


async def reset_context(service: Service, peer: Peer, asked: Resetting) -> Status:
    """Begin the conversation anew: the model is shown nothing of what was before."""
    agent = await _own(service, peer, asked.session_id)
    agent = await service.harness.reset(agent.id, asked.reason)
    return Status(active=agent.active, session=draft_session(agent))


async def _own(service: Service, peer: Peer, name: str | None) -> Agent:
    """The agent that is meant.

    Raises:
        NoActiveDraft: none is named, and the client has none.
        NoSuchAgent: there is none of that name.
    """
    if name is not None:
        return await service.aside(service.harness.agent, name)
    agent = await service.aside(service.harness.draft_of, peer.name)
    if agent is None:
        raise NoActiveDraft(peer.name)
    return agent


def methods(service: Service) -> list[Method]:
    """The methods of draft sessions."""
    place = (TASK, ROLE, PROJECT)
    return [
        on_loop(service, draft, *place, DRAFT_IS_ACTIVE),
        on_loop(service, undraft, AGENT, NO_ACTIVE_DRAFT),
        on_loop(service, get_draft_status, AGENT),
        on_loop(service, submit_prompt, *place, AGENT),
        on_loop(service, withdraw_prompt, AGENT, NO_ACTIVE_DRAFT),
        on_loop(service, stop_turn, AGENT, NO_ACTIVE_DRAFT),
        on_loop(service, reset_context, AGENT, NO_ACTIVE_DRAFT),
    ]
