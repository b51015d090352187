"""Agents as people look at them: who there is, and what was said to one of them and came back."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from domain.agent_errors import NoSuchAgent
from domain.agents import Agent, Ending
from domain.events import (
    AgentDrafted,
    AgentUndrafted,
    ContextReset,
    ConversationCompacted,
    Event,
    LoopNoticed,
    PeerAnswered,
    PeerAsked,
    PromptSubmitted,
    PromptWithdrawn,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
    TurnLost,
    TurnStarted,
    WorkerDispatched,
    WorkerKilled,
    WorkerReported,
)
from domain.events.agents import Way
from domain.ids import AgentId
from domain.log import Log
from domain.recorded import Recorded
from domain.streams import agent_of, agent_stream
from projections.timeline import summary

Doing = Literal["working", "waiting", "idle", "ended"]
"""A turn goes on; prompts wait and none goes on; nothing waits; it can't be spoken to any more."""

Outcome = Literal["completed", "failed", "lost", "running", "waiting", "withdrawn", "unanswered"]
"""What became of a prompt; ``unanswered`` is one that had no end when its agent ended."""

_ENDS = ("agent.undrafted", "worker.reported", "worker.killed")


class AgentRow(NamedTuple):
    """An agent, as a list of them tells it."""

    agent: AgentId
    role: str
    project: str
    task: str
    way: Way
    state: Doing
    model: str
    client: str
    parent: str | None
    """The agent that drafted it, where one did."""
    turns: int
    """Turns that have an answer."""
    failed: int
    lost: int
    waiting: int
    """Prompts that no turn has begun with."""
    cost_usd: float
    unknown_costs: int
    """Calls of the model whose cost nobody could say."""
    tokens_in: int
    tokens_out: int
    last_tokens_in: int
    """What the newest call of the model was shown."""
    context_window: int
    """Tokens; 0 while nobody knows."""
    context_pct: float | None
    """How full its context is, 0 to 100; None if nobody knows."""
    workers: tuple[str, ...]
    """Agents that it sent out or drafted and that have not ended."""
    begun: int
    at: int
    """Its last activity, as ``begun`` µs since 1970."""
    version: int
    ended: Ending | None


class ToolRow(NamedTuple):
    """A tool that was used in a turn."""

    version: int
    call: str
    name: str
    arguments: str
    """JSON."""
    result: str
    failed: bool
    latency_ms: int


class Aside(NamedTuple):
    """Something that is neither said nor answered: of workers, peers, the context, the end."""

    version: int
    at: int
    kind: str
    """The kind of its event."""
    text: str
    """It in a few words on one line, as in a timeline."""
    agent: str | None = None
    """The worker, or the peer."""


class TurnRow(NamedTuple):
    """Something said to an agent, and what came of it."""

    prompt: int
    """The prompt's id: the version of its event."""
    prompt_text: str
    sender: str | None
    """The agent that said it; None for a person."""
    asked_at: int
    """µs since 1970, as all times here."""
    outcome: Outcome
    turn: int | None = None
    """1 for the first; None where no turn began."""
    begun_at: int | None = None
    ended_at: int | None = None
    answer: str = ""
    """All of it, or what had arrived of one that failed."""
    reason: str | None = None
    """Why there is no answer, in a word."""
    detail: str | None = None
    """The same as a sentence."""
    tools: tuple[ToolRow, ...] = ()
    asides: tuple[Aside, ...] = ()
    """What else happened since the turn began, up to the beginning of the next."""
    model: str | None = None
    tokens_in: int | None = None
    """Shown to the model in all calls together, cached parts included."""
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: int | None = None
    version: int = 0
    """Of the turn's end; of its beginning, or of the prompt, while there is none."""


def roster(
    log: Log, *, all_: bool = False, project: str | None = None, task: str | None = None
) -> list[AgentRow]:
    """The agents, the newest first.

    Args:
        log: where they live.
        all_: those that have ended too.
        project: of this project alone.
        task: of this task alone: its slug.
    """
    rows = []
    for stream in reversed(log.streams("agent")):
        name = agent_of(stream)
        if (project or task) and not _of(log, name, project, task):
            continue
        if not all_ and _is_over(log, name):
            continue
        row = row_of(log.stands(agent_stream(name)))
        if all_ or row.ended is None:
            rows.append(row)
    return rows


def row_of(agent: Agent) -> AgentRow:
    """An agent as a list of them tells it."""
    drafted = agent.drafted
    return AgentRow(
        agent=agent.id,
        role=drafted.role,
        project=drafted.project,
        task=drafted.task,
        way=drafted.way,
        state=_doing(agent),
        model=drafted.model,
        client=drafted.client,
        parent=drafted.parent,
        turns=agent.completed,
        failed=agent.failed,
        lost=agent.lost,
        waiting=len(agent.queue),
        cost_usd=agent.spent.cost_usd,
        unknown_costs=agent.unknown_costs,
        tokens_in=agent.tokens_in,
        tokens_out=agent.tokens_out,
        last_tokens_in=agent.last_tokens_in,
        context_window=agent.context_window,
        context_pct=agent.context_pct,
        workers=agent.workers,
        begun=agent.begun,
        at=agent.at,
        version=agent.version,
        ended=agent.ended,
    )


def transcript(
    log: Log, agent: str, *, upto: int | None = None, count: int | None = None
) -> list[TurnRow]:
    """What was said to an agent and what came of it, oldest first.

    A prompt is there from the moment it was submitted, so those that wait are the last ones.

    Args:
        log: where it lives.
        agent: its name.
        upto: as of this version of its stream.
        count: at most so many, the newest ones; no more of the log is read for them.

    Raises:
        NoSuchAgent: there is none of this name.
    """
    stream = agent_stream(agent).id
    if not log.exists(stream):
        raise NoSuchAgent(agent, [agent_of(other) for other in log.streams("agent")])
    if count is None:
        return _turns(agent, log.read(stream, upto=upto))
    # each prompt comes before all that becomes of it, and they are answered in their order:
    # whoever reads back to the n-th newest prompt has read all there is of the newest n
    events, found = list[Recorded](), 0
    backwards = log.read(stream, upto=upto, newest_first=True, page=8 * count + 8)
    while found < count and (recorded := next(backwards, None)) is not None:
        events.append(recorded)
        found += isinstance(recorded.event, PromptSubmitted)
    return _turns(agent, reversed(events))


def _of(log: Log, agent: AgentId, project: str | None, task: str | None) -> bool:
    """Whether an agent was drafted for a project, and for a task of it."""
    (first,) = log.pick(agent_stream(agent).id, [1])
    drafted = first.event
    return (
        isinstance(drafted, AgentDrafted)
        and project in {None, drafted.project}
        and task in {None, drafted.task}
    )


def _is_over(log: Log, agent: AgentId) -> bool:
    """Whether an agent has surely ended, without a look at what it did.

    False where a word about one of its workers came later.
    """
    newest = log.newest(agent_stream(agent).id, _ENDS)
    return newest is not None and _ends(newest.event, agent)


def _ends(event: Event, agent: str) -> bool:
    """Whether it is the end of this agent: those of its workers are told in its stream as well."""
    if isinstance(event, WorkerReported | WorkerKilled):
        return event.worker == agent
    return isinstance(event, AgentUndrafted)


def _doing(agent: Agent) -> Doing:
    if agent.ended is not None:
        return "ended"
    if agent.turn is not None:
        return "working"
    return "waiting" if agent.queue else "idle"


def _turns(agent: str, history: Iterable[Recorded]) -> list[TurnRow]:
    """Rows from the events of an agent, oldest first; of turns that began before, nothing."""
    rows = dict[int, TurnRow]()
    now = 0
    """The prompt whose turn is the newest one."""
    for recorded in history:
        event = recorded.event
        if isinstance(event, PromptSubmitted):
            rows[recorded.version] = _asked(recorded, event)
            continue
        if isinstance(event, TurnStarted):
            now = event.prompt
        of = event.prompt if isinstance(event, _OF_A_PROMPT) else now
        row = rows.get(of)
        if row is not None:
            rows[of] = row._replace(**_change(row, recorded))
        if _ends(event, agent):
            for left in [row for row in rows.values() if row.outcome in {"waiting", "running"}]:
                rows[left.prompt] = left._replace(outcome="unanswered", ended_at=recorded.at)
    return list(rows.values())


_OF_A_PROMPT = (TurnStarted, TurnCompleted, TurnFailed, TurnLost, PromptWithdrawn)


def _asked(recorded: Recorded, event: PromptSubmitted) -> TurnRow:
    version = recorded.version
    return TurnRow(version, event.text, event.sender, recorded.at, "waiting", version=version)


def _change(row: TurnRow, recorded: Recorded) -> dict[str, Any]:
    """What an event changes in the row of its turn."""
    version, at = recorded.version, recorded.at
    match recorded.event:
        case PromptWithdrawn():
            return {"outcome": "withdrawn", "ended_at": at, "version": version}
        case TurnStarted(turn=turn):
            return {"outcome": "running", "turn": turn, "begun_at": at, "version": version}
        case ToolCalled() as e:
            used = ToolRow(version, e.call, e.name, e.arguments, e.result, e.failed, e.latency_ms)
            return {"tools": (*row.tools, used)}
        case TurnCompleted() as e:
            return {
                "outcome": "completed",
                "answer": e.text,
                "model": e.model,
                "tokens_in": _shown(e),
                **_used(e, recorded),
            }
        case TurnFailed() as e:
            return {
                "outcome": "failed",
                "answer": e.partial,
                "reason": e.reason,
                "detail": e.detail,
                "tokens_in": e.tokens_in,
                **_used(e, recorded),
            }
        case TurnLost():
            return {
                "outcome": "lost",
                "reason": "lost",
                "detail": "The process that had begun this turn was gone.",
                "ended_at": at,
                "version": version,
            }
        case event:
            if type(event) not in _ASIDES:
                return {}
            aside = Aside(version, at, event.kind, summary(event), _ASIDES[type(event)](event))
            return {"asides": (*row.asides, aside)}


def _shown(event: TurnCompleted) -> int | None:
    """What the model was shown, cached or not."""
    if event.tokens_in is None:
        return None
    return event.tokens_in + event.cache_read + event.cache_creation


def _used(event: TurnCompleted | TurnFailed, recorded: Recorded) -> dict[str, Any]:
    return {
        "ended_at": recorded.at,
        "tokens_out": event.tokens_out,
        "cost_usd": event.cost_usd,
        "latency_ms": event.latency_ms,
        "version": recorded.version,
    }


_ASIDES: dict[type[Event], Callable[[Any], str | None]] = {
    WorkerDispatched: lambda e: e.worker,
    WorkerReported: lambda e: e.worker,
    WorkerKilled: lambda e: e.worker,
    PeerAsked: lambda e: e.agent,
    PeerAnswered: lambda e: e.agent,
    LoopNoticed: lambda _: None,
    ConversationCompacted: lambda _: None,
    ContextReset: lambda _: None,
    AgentUndrafted: lambda _: None,
}
"""What is told between what was said, and the agent that it is about."""
