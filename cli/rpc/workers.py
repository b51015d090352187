"""Agents at work: dispatch_worker, await_agent, kill_agent, list_agents, get_agent, its transcript.

What an agent was drafted for never changes; whatever else is told of it is as of now.
"""

from typing import Annotated, Any

from pydantic import Field

from cli.output import iso
from cli.rpc.draft_session import DraftSession, draft_session
from cli.rpc.errors import AGENT, PROJECT, ROLE, TASK
from cli.rpc.functions import in_store, on_loop
from cli.rpc.method import Method, Params, Peer, Result
from cli.rpc.service import Service
from commands.agents.agent_tools import result_of
from domain.agents import Agent
from domain.limits import Limits
from projections.agents import AgentRow, TurnRow, roster, transcript

MOST_TURNS = 200


class Dispatching(Params):
    """A piece of work."""

    role: str
    prompt: str
    """All that the worker needs to know."""
    project: str
    task_slug: str
    model: str | None = None
    limits: Limits | None = None
    """Tighter bounds than those of its role."""


class Sent(Result):
    """The worker that is at it."""

    agent_id: str
    task_slug: str
    project: str


class Named(Params):
    """One agent."""

    agent_id: str


class Report(Result):
    """How an agent ended, and what came of it."""

    agent_id: str
    ended: str
    """``undrafted``, ``reported`` or ``killed``."""
    status: str | None = None
    """Of a worker: success, partial, failed or blocked."""
    summary: str = ""
    changes: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    reason: str = ""
    """Why it was ended, where it did not report."""
    detail: str = ""
    turns: int
    cost_usd: float
    duration_ms: int


class Listing(Params):
    """Which agents."""

    all: bool = False
    """Those that have ended, too."""
    project: str | None = None
    task_slug: str | None = None


class Row(Result):
    """An agent in a list."""

    agent_id: str
    role: str
    project: str
    task_slug: str
    way: str
    state: str
    """working, waiting, idle or ended."""
    model: str
    client: str
    parent: str | None
    turns: int
    failed: int
    lost: int
    waiting: int
    cost_usd: float
    unknown_costs: int
    context_pct: float | None
    workers: tuple[str, ...]
    begun: str
    last_activity: str


class Rows(Result):
    """Agents, the newest first."""

    agents: tuple[Row, ...]


class Whole(Result):
    """An agent: what it was drafted as, where it stands, and how it ended, if it has."""

    session: DraftSession
    way: str
    client: str
    parent: str | None
    permissions: tuple[str, ...]
    limits: Limits
    instructions: str
    report: Report | None


class Reading(Params):
    """The newest turns of an agent."""

    agent_id: str
    count: Annotated[int, Field(ge=1, le=MOST_TURNS)] = 50


class UsedTool(Result):
    """A tool that was used in a turn."""

    name: str
    arguments: str
    """JSON."""
    failed: bool


class Beside(Result):
    """Something else that happened: of workers, peers, the context."""

    kind: str
    text: str
    agent: str | None


class Spoken(Result):
    """A prompt, and what came of it."""

    prompt: int
    prompt_text: str
    sender: str | None
    outcome: str
    """completed, failed, lost, running, waiting, withdrawn or unanswered."""
    turn: int | None
    answer: str
    detail: str | None
    """Why there is no answer."""
    tools: tuple[UsedTool, ...]
    asides: tuple[Beside, ...]
    cost_usd: float | None
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int | None
    at: str
    """When it was said."""


class Transcript(Result):
    """Turns, the oldest first."""

    agent_id: str
    turns: tuple[Spoken, ...]


async def dispatch_worker(service: Service, peer: Peer, asked: Dispatching) -> Sent:
    """Send out a worker: it works alone on one prompt, and ends with a report."""
    agent = await service.harness.dispatch(
        client=peer.name,
        role=asked.role,
        prompt=asked.prompt,
        project=asked.project,
        task=asked.task_slug,
        model=asked.model,
        limits=asked.limits,
    )
    return Sent(agent_id=agent.id, task_slug=asked.task_slug, project=asked.project)


async def await_agent(service: Service, _: Peer, asked: Named) -> Report:
    """Answer when an agent has ended, with what came of it."""
    return _reported(await service.harness.ended(asked.agent_id))


async def kill_agent(service: Service, _: Peer, asked: Named) -> Report:
    """End an agent, whatever it does just now, within a second; and those it sent out."""
    return _reported(await service.harness.kill(asked.agent_id))


def list_agents(service: Service, asked: Listing) -> Rows:
    """List the agents that are there, the newest first."""
    found = roster(service.log, all_=asked.all, project=asked.project, task=asked.task_slug)
    return Rows(agents=tuple(map(_row, found)))


def get_agent(service: Service, asked: Named) -> Whole:
    """Show an agent: what it was drafted as, where it stands, and how it ended."""
    agent = service.harness.agent(asked.agent_id)
    return Whole(
        session=draft_session(agent),
        way=agent.way,
        client=agent.drafted.client,
        parent=agent.drafted.parent,
        permissions=agent.drafted.permissions,
        limits=agent.limits,
        instructions=agent.drafted.instructions,
        report=_reported(agent) if agent.ended is not None else None,
    )


def agent_transcript(service: Service, asked: Reading) -> Transcript:
    """Show what was said to an agent, and what came back; the newest turns, oldest first."""
    found = transcript(service.log, asked.agent_id, count=asked.count)
    return Transcript(agent_id=asked.agent_id, turns=tuple(map(_spoken, found)))


def _reported(agent: Agent) -> Report:
    found: dict[str, Any] = result_of(agent)
    return Report.model_validate({"agentId": agent.id, **found})


def _row(row: AgentRow) -> Row:
    return Row(
        agent_id=row.agent,
        role=row.role,
        project=row.project,
        task_slug=row.task,
        way=row.way,
        state=row.state,
        model=row.model,
        client=row.client,
        parent=row.parent,
        turns=row.turns,
        failed=row.failed,
        lost=row.lost,
        waiting=row.waiting,
        cost_usd=row.cost_usd,
        unknown_costs=row.unknown_costs,
        context_pct=row.context_pct,
        workers=row.workers,
        begun=iso(row.begun),
        last_activity=iso(row.at),
    )


def _spoken(row: TurnRow) -> Spoken:
    return Spoken(
        prompt=row.prompt,
        prompt_text=row.prompt_text,
        sender=row.sender,
        outcome=row.outcome,
        turn=row.turn,
        answer=row.answer,
        detail=row.detail,
        tools=tuple(
            UsedTool(name=tool.name, arguments=tool.arguments, failed=tool.failed)
            for tool in row.tools
        ),
        asides=tuple(
            Beside(kind=aside.kind, text=aside.text, agent=aside.agent) for aside in row.asides
        ),
        cost_usd=row.cost_usd,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        latency_ms=row.latency_ms,
        at=iso(row.asked_at),
    )


def methods(service: Service) -> list[Method]:
    """The methods of agents at work."""
    return [
        on_loop(service, dispatch_worker, TASK, ROLE, PROJECT, AGENT),
        on_loop(service, await_agent, AGENT),
        on_loop(service, kill_agent, AGENT),
        in_store(service, list_agents),
        in_store(service, get_agent, AGENT),
        in_store(service, agent_transcript, AGENT),
    ]
