"""Agents that were drafted, their turns, and the workers they send out; each has its own stream.

An ``agent.drafted`` that no ``agent.undrafted``, ``worker.reported`` or ``worker.killed`` follows
*is* an active agent: nothing else has to be kept for it to outlive the process that drafted it.
"""

from typing import Literal

from pydantic import Field

from domain.events.base import Event

Way = Literal["conversation", "work"]
"""A conversation has turns until somebody ends it; work is one task that ends with a report."""

Status = Literal["success", "partial", "failed", "blocked"]
"""What came of a piece of work, in the words of whoever did it."""

Failure = Literal[
    "failed", "stopped", "interrupted", "budget", "time", "idle", "loop", "session gone"
]
"""Why a turn has no answer; ``stopped`` is by somebody who wanted no more of it."""

Ended = Literal["asked", "session gone", "task closed"]


class AgentDrafted(Event):
    """Somebody drafted an agent by role; everything it needs to go on later stands here."""

    kind: Literal["agent.drafted"] = "agent.drafted"
    content = ("instructions",)
    role: str
    instructions: str
    """The text of the role as it was then: the system prompt of every turn."""
    model: str
    """The mind that answers, as ``mind config`` names it; ``claude:NAME`` is Claude Code."""
    client: str
    """Whose draft it is, by the name that a client gave itself; of agents that agents drafted it is
    the client of the first of them."""
    project: str
    task: str
    way: Way = "conversation"
    parent: str | None = None
    """The agent that drafted it, where one did."""
    permissions: tuple[str, ...] = ()
    limits: dict[str, float] = Field(default_factory=dict)
    """What it may use up, by the names of :class:`domain.limits.Limits`."""
    tools: tuple[str, ...] = ()
    """Tools of the backend's own that the role allows."""


class AgentUndrafted(Event):
    """The conversation with an agent ended."""

    kind: Literal["agent.undrafted"] = "agent.undrafted"
    content = ("detail",)
    reason: Ended = "asked"
    turns: int
    cost_usd: float
    duration_ms: int
    detail: str | None = None


class PromptSubmitted(Event):
    """Somebody said something to an agent; its version is the prompt's id."""

    kind: Literal["prompt.submitted"] = "prompt.submitted"
    content = ("text",)
    text: str
    sender: str | None = None
    """The agent that said it, where it was one."""


class PromptWithdrawn(Event):
    """A prompt was taken back before its turn had begun."""

    kind: Literal["prompt.withdrawn"] = "prompt.withdrawn"
    prompt: int


class TurnStarted(Event):
    """A turn began: the agent answers one prompt."""

    kind: Literal["turn.started"] = "turn.started"
    turn: int
    """1 for the first."""
    prompt: int
    holder: str
    """``host:pid:start`` of the process, to tell a live one from a dead one."""


class StopAsked(Event):
    """Somebody wanted the turn to end; the process that runs it ends it, and says what it took."""

    kind: Literal["stop.asked"] = "stop.asked"
    turn: int


class ToolCalled(Event):
    """An agent used a tool in a turn."""

    kind: Literal["tool.called"] = "tool.called"
    content = ("arguments", "result")
    turn: int
    call: str
    """The id that the model gave this call."""
    name: str
    arguments: str
    """JSON."""
    result: str
    failed: bool = False
    latency_ms: int = 0


class TurnCompleted(Event):
    """The answer of a turn is whole."""

    kind: Literal["turn.completed"] = "turn.completed"
    content = ("text",)
    turn: int
    prompt: int
    text: str
    model: str
    """The model that really answered."""
    calls: int = 1
    """Calls of the model in this turn."""
    tokens_in: int | None = None
    """Of all calls together, as ``tokens_out``; cached ones are not among them."""
    tokens_out: int | None = None
    cache_read: int = 0
    cache_creation: int = 0
    cost_usd: float | None = None
    """Sum of the known costs; None where none is known."""
    unknown_costs: int = 0
    """Calls whose cost nobody could say."""
    context_tokens: int | None = None
    """What the last call was shown: input, cache read and cache creation."""
    context_window: int | None = None
    latency_ms: int = 0
    finish: str | None = None


class TurnFailed(Event):
    """A turn ended without an answer, and somebody was there to say why."""

    kind: Literal["turn.failed"] = "turn.failed"
    content = ("detail", "partial")
    turn: int
    prompt: int
    reason: Failure
    detail: str
    """One sentence for a person."""
    partial: str = ""
    """What had arrived."""
    calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    unknown_costs: int = 0
    latency_ms: int = 0


class TurnLost(Event):
    """A turn had begun and its process was gone: whatever it had thought is lost."""

    kind: Literal["turn.lost"] = "turn.lost"
    turn: int
    prompt: int


class BackendOpened(Event):
    """The backend gave the conversation a name of its own, by which it is resumed."""

    kind: Literal["backend.opened"] = "backend.opened"
    session: str


class ConversationCompacted(Event):
    """The oldest turns of a conversation made way for a summary."""

    kind: Literal["conversation.compacted"] = "conversation.compacted"
    content = ("summary",)
    upto: int
    """Turns up to this one are no longer shown to the model in their own words."""
    pre_tokens: int
    trigger: Literal["auto", "manual"] = "auto"
    summary: str = ""
    """Empty where a backend that keeps its own history has done it."""


class ContextReset(Event):
    """The conversation begins anew: the model is shown nothing of what was before."""

    kind: Literal["context.reset"] = "context.reset"
    content = ("reason",)
    reason: str = ""


class LoopNoticed(Event):
    """An agent kept calling the same tool with the same arguments, and was warned."""

    kind: Literal["loop.noticed"] = "loop.noticed"
    content = ("call",)
    turn: int
    call: str
    """The tool and its arguments."""
    times: int


class WorkerDispatched(Event):
    """An agent sent out a worker, or drafted another agent to talk with: in the sender's stream."""

    kind: Literal["worker.dispatched"] = "worker.dispatched"
    content = ("prompt",)
    worker: str
    role: str
    prompt: str
    way: Way = "work"


class WorkerReported(Event):
    """Work ended with a result: the end of the worker's stream, and a word in its sender's."""

    kind: Literal["worker.reported"] = "worker.reported"
    content = ("summary", "changes", "issues", "questions")
    worker: str
    status: Status
    summary: str
    changes: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    turns: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0


class WorkerKilled(Event):
    """Work was ended from outside: the end of the worker's stream, and a word in its sender's."""

    kind: Literal["worker.killed"] = "worker.killed"
    content = ("detail",)
    worker: str
    reason: Literal["asked", "budget", "time", "idle", "loop", "lost", "parent ended"]
    detail: str
    turns: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0


class PeerAsked(Event):
    """An agent said something to an agent that it drafted: the word in the asking one's stream."""

    kind: Literal["peer.asked"] = "peer.asked"
    content = ("text",)
    agent: str
    prompt: int
    """The prompt's version in the other's stream."""
    text: str


class PeerAnswered(Event):
    """And what came back."""

    kind: Literal["peer.answered"] = "peer.answered"
    content = ("text",)
    agent: str
    prompt: int
    text: str
    failed: bool = False
