"""What happens to agents, projects and tasks, each in a line that a person can read."""

from collections.abc import Callable
from typing import Any

from domain.events import (
    AgentDrafted,
    AgentUndrafted,
    BackendOpened,
    ContextReset,
    ConversationCompacted,
    Event,
    LoopNoticed,
    PeerAnswered,
    PeerAsked,
    ProjectClosed,
    ProjectCreated,
    PromptSubmitted,
    PromptWithdrawn,
    StopAsked,
    TaskClosed,
    TaskCreated,
    TaskReopened,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
    TurnLost,
    TurnStarted,
    WorkerDispatched,
    WorkerKilled,
    WorkerReported,
)


def _drafted(e: AgentDrafted) -> str:
    for_ = "work" if e.way == "work" else "a conversation"
    by = e.client if e.parent is None else e.parent
    return f"{e.role} for {for_} on {e.project}/{e.task}, {e.model}, by {by}"


def lasted(milliseconds: int) -> str:
    """``12.3 s``, or ``4 min``."""
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _took(turns: int, cost_usd: float, duration_ms: int) -> str:
    """A cost of nothing is left out: the event does not say whether anybody knew it."""
    cost = f", ${cost_usd:.4f}" if cost_usd else ""
    return f"{_counted(turns, 'turn')}{cost}, {lasted(duration_ms)}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _undrafted(e: AgentUndrafted) -> str:
    why = "" if e.reason == "asked" else f"{e.reason}, "
    return f"{why}{_took(e.turns, e.cost_usd, e.duration_ms)}" + _behind(e.detail)


def _behind(text: str | None) -> str:
    return f": {text}" if text else ""


def _submitted(e: PromptSubmitted) -> str:
    return f"({e.sender}) {e.text}" if e.sender is not None else e.text


def _called(e: ToolCalled) -> str:
    failed = " (failed)" if e.failed else ""
    return f"turn {e.turn}, {e.name}{failed}: {e.arguments} → {e.result}"


def _completed(e: TurnCompleted) -> str:
    shown = None
    if e.tokens_in is not None:
        shown = e.tokens_in + e.cache_read + e.cache_creation
    used = _used(shown, e.tokens_out, e.cost_usd, e.latency_ms)
    return f"turn {e.turn}, {e.model}, {used}: {e.text}"


def _failed(e: TurnFailed) -> str:
    used = _used(e.tokens_in, e.tokens_out, e.cost_usd, e.latency_ms)
    return f"turn {e.turn}, {e.reason}, {used}: {e.detail}"


def _used(tokens_in: int | None, tokens_out: int | None, cost: float | None, ms: int) -> str:
    counts = ["?" if n is None else str(n) for n in (tokens_in, tokens_out)]
    tokens = f", {' → '.join(counts)} tokens" if counts != ["?", "?"] else ""
    return f"{lasted(ms)}{tokens}" + (f", ${cost:.4f}" if cost else "")


def _compacted(e: ConversationCompacted) -> str:
    how = "" if e.trigger == "auto" else f" ({e.trigger})"
    return f"up to turn {e.upto}, {e.pre_tokens} tokens{how}" + _behind(e.summary)


def _dispatched(e: WorkerDispatched) -> str:
    way = "to talk with" if e.way == "conversation" else "to work"
    return f"{e.worker} ({e.role}) {way}: {e.prompt}"


def _reported(e: WorkerReported) -> str:
    more = [
        _counted(len(things), noun)
        for things, noun in ((e.changes, "change"), (e.issues, "issue"), (e.questions, "question"))
        if things
    ]
    took = _took(e.turns, e.cost_usd, e.duration_ms)
    return f"{e.worker}, {', '.join([e.status, *more])} ({took}): {e.summary}"


def _killed(e: WorkerKilled) -> str:
    took = _took(e.turns, e.cost_usd, e.duration_ms)
    return f"{e.worker}, {e.reason} ({took}): {e.detail}"


def _answered(e: PeerAnswered) -> str:
    failed = " (failed)" if e.failed else ""
    return f"{e.agent}, prompt {e.prompt}{failed}: {e.text}"


def _project(e: ProjectCreated) -> str:
    notes = [
        *(["virtual"] if e.virtual else []),
        *([f"for {', '.join(e.roles)}"] if e.roles else []),
        *([f"in {e.path}"] if e.path else []),
    ]
    return e.name + (f" ({', '.join(notes)})" if notes else "") + _behind(e.description)


AGENT_SUMMARIES: dict[type[Event], Callable[[Any], str]] = {
    AgentDrafted: _drafted,
    AgentUndrafted: _undrafted,
    PromptSubmitted: _submitted,
    PromptWithdrawn: lambda e: f"prompt {e.prompt}",
    TurnStarted: lambda e: f"turn {e.turn}, on prompt {e.prompt}",
    StopAsked: lambda e: f"turn {e.turn}",
    ToolCalled: _called,
    TurnCompleted: _completed,
    TurnFailed: _failed,
    TurnLost: lambda e: f"turn {e.turn}: its process was gone",
    BackendOpened: lambda e: e.session,
    ConversationCompacted: _compacted,
    ContextReset: lambda e: e.reason,
    LoopNoticed: lambda e: f"turn {e.turn}, {e.times} times: {e.call}",
    WorkerDispatched: _dispatched,
    WorkerReported: _reported,
    WorkerKilled: _killed,
    PeerAsked: lambda e: f"{e.agent}, prompt {e.prompt}: {e.text}",
    PeerAnswered: _answered,
    ProjectCreated: _project,
    ProjectClosed: lambda e: e.reason,
    TaskCreated: lambda e: f"{e.project}/{e.slug}: {e.title}" + _behind(e.description),
    TaskClosed: lambda e: e.reason,
    TaskReopened: lambda e: e.reason,
}
"""A line for each kind; texts are not cut."""
