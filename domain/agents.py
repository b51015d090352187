"""The state of an agent: what it is, what it does now, what it has used up.

Bounded as a session's: the text of its turns stays in the log.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from domain.events import (
    AgentDrafted,
    AgentUndrafted,
    BackendOpened,
    ContextReset,
    ConversationCompacted,
    Event,
    EventRedacted,
    LoopNoticed,
    PeerAnswered,
    PeerAsked,
    PromptSubmitted,
    PromptWithdrawn,
    StopAsked,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
    TurnLost,
    TurnStarted,
    WorkerDispatched,
    WorkerKilled,
    WorkerReported,
)
from domain.events.agents import Status, Way
from domain.ids import AgentId, CommandId
from domain.limits import Limits, Spent
from domain.recorded import Recorded

COMMANDS_KEPT = 32


class Prompt(NamedTuple):
    """Something said to an agent that no turn has begun with."""

    id: int
    """The version of its event."""
    text: str
    sender: str | None
    """The agent that said it; None for a person."""


class Turn(NamedTuple):
    """The turn that is going on."""

    number: int
    prompt: Prompt
    holder: str
    at: int
    """When it began, µs since 1970."""
    stopping: bool = False
    """Whether somebody wanted it to end."""


class Report(NamedTuple):
    """What came of a piece of work."""

    status: Status
    summary: str
    changes: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


class Ending(NamedTuple):
    """How an agent ended."""

    how: str
    """``undrafted``, ``reported`` or ``killed``."""
    reason: str
    detail: str
    at: int


class Agent(NamedTuple):
    """Everything one moment of an agent is."""

    id: AgentId
    drafted: AgentDrafted
    """By whom, for what, under which role: never changes."""
    begun: int
    """µs since 1970."""
    version: int = 0
    at: int = 0
    """When the newest event happened: its last activity."""
    queue: tuple[Prompt, ...] = ()
    """Prompts that wait for their turn, oldest first."""
    turn: Turn | None = None
    turns: int = 0
    """Turns that have begun."""
    completed: int = 0
    lost: int = 0
    failed: int = 0
    spent: Spent = Spent()
    delegated_usd: float = 0.0
    """Known cost of agents that it had sent out and that have ended, with all that those had."""
    unknown_costs: int = 0
    """Calls of the model whose cost nobody could say."""
    tokens_in: int = 0
    tokens_out: int = 0
    last_tokens_in: int = 0
    """What the newest call of the model was shown, cached parts included."""
    context_window: int = 0
    """Tokens; 0 while nobody knows."""
    shown_after: int = 0
    """The version behind which the model is shown the conversation: since a reset."""
    compacted_upto: int = 0
    """Turns up to this one are shown as a summary."""
    summary: str = ""
    backend: str | None = None
    """The backend's own name of the conversation, by which it resumes it."""
    workers: tuple[str, ...] = ()
    """Agents that it sent out or drafted and that have not ended."""
    report: Report | None = None
    ended: Ending | None = None
    commands: tuple[CommandId, ...] = ()
    """By which the newest prompts were submitted: each is said once."""

    @property
    def active(self) -> bool:
        """Whether it can still be spoken to."""
        return self.ended is None

    @property
    def way(self) -> Way:
        """Whether it is for a conversation or for one piece of work."""
        return self.drafted.way

    @property
    def limits(self) -> Limits:
        """What it may use up."""
        return Limits.model_validate(self.drafted.limits)

    @property
    def cost_usd(self) -> float:
        """Its known cost, with that of all that it had sent out: what its budget bounds."""
        return self.spent.cost_usd + self.delegated_usd

    @property
    def context_pct(self) -> float | None:
        """How full the model's context was at the newest call, 0 to 100; None if nobody knows."""
        if not self.context_window:
            return None
        return min(100.0, 100 * self.last_tokens_in / self.context_window)


_PLACE = {name: place for place, name in enumerate(Agent._fields)}

Changes = dict[str, Any]


def evolve(agent: Agent | None, recorded: Recorded) -> Agent:
    """The state after one more event. Never reads a clock, never changes its input.

    Raises:
        ValueError: the event can't be there.
    """
    event = recorded.event
    if agent is None:
        if not isinstance(event, AgentDrafted):
            raise ValueError(f"an agent can't begin with {event.kind}")
        who = AgentId(recorded.session.partition(":")[2])
        agent, changes = Agent(who, event, recorded.at), Changes()
    else:
        change = _EVOLVE.get(type(event))
        if change is None:
            raise ValueError(f"{event.kind} does not happen to an agent")
        changes = change(agent, recorded)
    known = agent.commands
    # a client repeats what it said; a turn that uses many tools must not make that forgotten
    if isinstance(event, PromptSubmitted):
        changes["commands"] = (*known[1 - COMMANDS_KEPT :], recorded.command)
    changes["version"], changes["at"] = recorded.version, recorded.at
    values = list(agent)
    for name, value in changes.items():
        values[_PLACE[name]] = value
    return Agent._make(values)


def _submitted(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("PromptSubmitted", recorded.event)
    return {"queue": (*agent.queue, Prompt(recorded.version, event.text, event.sender))}


def _withdrawn(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("PromptWithdrawn", recorded.event)
    return {"queue": tuple(p for p in agent.queue if p.id != event.prompt)}


def _started(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("TurnStarted", recorded.event)
    prompt = next(p for p in agent.queue if p.id == event.prompt)
    return {
        "queue": tuple(p for p in agent.queue if p.id != event.prompt),
        "turn": Turn(event.turn, prompt, event.holder, recorded.at),
        "turns": event.turn,
    }


def _stop_asked(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("StopAsked", recorded.event)
    if agent.turn is None or agent.turn.number != event.turn:
        return {}
    return {"turn": agent.turn._replace(stopping=True)}


def _completed(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("TurnCompleted", recorded.event)
    used = (event.tokens_in or 0) + event.cache_read + event.cache_creation
    return {
        "turn": None,
        "completed": agent.completed + 1,
        "spent": _spent(agent, event, used),
        "unknown_costs": agent.unknown_costs + event.unknown_costs,
        "tokens_in": agent.tokens_in + used,
        "tokens_out": agent.tokens_out + (event.tokens_out or 0),
        "last_tokens_in": event.context_tokens or agent.last_tokens_in,
        "context_window": event.context_window or agent.context_window,
    }


def _failed(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("TurnFailed", recorded.event)
    return {
        "turn": None,
        "failed": agent.failed + 1,
        "spent": _spent(agent, event, event.tokens_in or 0),
        "unknown_costs": agent.unknown_costs + event.unknown_costs,
        "tokens_in": agent.tokens_in + (event.tokens_in or 0),
        "tokens_out": agent.tokens_out + (event.tokens_out or 0),
    }


def _spent(agent: Agent, event: TurnCompleted | TurnFailed, tokens_in: int) -> Spent:
    cost, tokens, calls, seconds = agent.spent
    return Spent(
        cost + (event.cost_usd or 0.0),
        tokens + tokens_in + (event.tokens_out or 0),
        calls + event.calls,
        seconds + event.latency_ms / 1000,
    )


def _lost(agent: Agent, _: Recorded) -> Changes:
    return {"turn": None, "lost": agent.lost + 1}


def _opened(_: Agent, recorded: Recorded) -> Changes:
    return {"backend": cast("BackendOpened", recorded.event).session}


def _compacted(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("ConversationCompacted", recorded.event)
    if not event.upto:  # the backend keeps the conversation, and has done it there
        return {}
    return {"compacted_upto": max(agent.compacted_upto, event.upto), "summary": event.summary}


def _reset(_: Agent, recorded: Recorded) -> Changes:
    return {
        "shown_after": recorded.version,
        "summary": "",
        "backend": None,
        "last_tokens_in": 0,
    }


def _dispatched(agent: Agent, recorded: Recorded) -> Changes:
    return {"workers": (*agent.workers, cast("WorkerDispatched", recorded.event).worker)}


def _reported(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("WorkerReported", recorded.event)
    if event.worker != agent.id:
        return _heard_of(agent, event)
    report = Report(event.status, event.summary, event.changes, event.issues, event.questions)
    return {
        "report": report,
        "ended": Ending("reported", event.status, event.summary, recorded.at),
        **_OVER,
    }


def _heard_of(agent: Agent, event: WorkerReported | WorkerKilled) -> Changes:
    """Somebody that it had sent out has ended; what that cost is the sender's cost as well."""
    if event.worker not in agent.workers:
        return {}
    return {
        "workers": tuple(w for w in agent.workers if w != event.worker),
        "delegated_usd": agent.delegated_usd + event.cost_usd,
    }


def _killed(agent: Agent, recorded: Recorded) -> Changes:
    event = cast("WorkerKilled", recorded.event)
    if event.worker != agent.id:
        return _heard_of(agent, event)
    return {"ended": Ending("killed", event.reason, event.detail, recorded.at), **_OVER}


def _undrafted(_: Agent, recorded: Recorded) -> Changes:
    event = cast("AgentUndrafted", recorded.event)
    detail = event.detail or ""
    return {"ended": Ending("undrafted", event.reason, detail, recorded.at), **_OVER}


def _nothing(_: Agent, __: Recorded) -> Changes:
    return {}


_OVER: Changes = {"queue": (), "turn": None}

_EVOLVE: dict[type[Event], Callable[[Agent, Recorded], Changes]] = {
    PromptSubmitted: _submitted,
    PromptWithdrawn: _withdrawn,
    TurnStarted: _started,
    StopAsked: _stop_asked,
    ToolCalled: _nothing,
    TurnCompleted: _completed,
    TurnFailed: _failed,
    TurnLost: _lost,
    BackendOpened: _opened,
    ConversationCompacted: _compacted,
    ContextReset: _reset,
    LoopNoticed: _nothing,
    WorkerDispatched: _dispatched,
    WorkerReported: _reported,
    WorkerKilled: _killed,
    PeerAsked: _nothing,
    PeerAnswered: _nothing,
    AgentUndrafted: _undrafted,
    EventRedacted: _nothing,
}
