"""What can be wished of an agent: each becomes events of its stream."""

from abc import ABC, abstractmethod
from typing import Literal

from commands.command import Decision, Wish
from domain.agent_errors import AgentHasEnded, QueueIsFull, TurnIsRunning
from domain.agents import Agent, Report
from domain.errors import NothingChanges, Refused
from domain.events import (
    AgentUndrafted,
    BackendOpened,
    ContextReset,
    ConversationCompacted,
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
from domain.events.agents import Ended, Failure
from domain.texts import checked_text

MOST_WAITING = 100
"""Prompts that may wait for one agent."""


class AgentWish(Wish, ABC):
    """Something that somebody wants of an agent."""

    @abstractmethod
    def decide(self, agent: Agent) -> Decision:
        """The events that fulfil the wish.

        Raises:
            Refused: it can't be fulfilled as things are.
        """
        ...


def still_there(agent: Agent) -> Agent:
    """The agent, if it can still be spoken to.

    Raises:
        AgentHasEnded: it can't.
    """
    if agent.ended is not None:
        raise AgentHasEnded(agent.id, f"{agent.ended.how}, {agent.ended.reason}")
    return agent


class SubmitPrompt(AgentWish):
    """Say something to an agent; it answers when its turn comes."""

    text: str
    sender: str | None = None

    def decide(self, agent: Agent) -> Decision:
        """The prompt, behind those that wait."""
        text = checked_text(self.text, "prompt")
        if len(still_there(agent).queue) >= MOST_WAITING:
            raise QueueIsFull(agent.id, MOST_WAITING)
        yield PromptSubmitted(text=text, sender=self.sender)


class WithdrawPrompt(AgentWish):
    """Take back a prompt that waits for its turn."""

    prompt: int

    def decide(self, agent: Agent) -> Decision:
        """The prompt as taken back."""
        if self.prompt not in {waiting.id for waiting in agent.queue}:
            raise NothingChanges(
                f"Prompt {self.prompt} does not wait: its turn has begun or ended."
            )
        yield PromptWithdrawn(prompt=self.prompt).because(self.prompt)


class StartTurn(AgentWish):
    """Begin to answer the prompt that waits longest; nothing where none does."""

    holder: str
    dead: str | None = None
    """The holder of a turn that was found to be gone."""

    def decide(self, agent: Agent) -> Decision:
        """The turn; one whose process is gone is lost first."""
        still_there(agent)
        if agent.turn is not None:
            if agent.turn.holder != self.dead:
                raise TurnIsRunning(agent.id)
            yield TurnLost(turn=agent.turn.number, prompt=agent.turn.prompt.id)
        if agent.queue:
            first = agent.queue[0]
            yield TurnStarted(turn=agent.turns + 1, prompt=first.id, holder=self.holder).because(
                first.id
            )


class LoseTurn(AgentWish):
    """Say that a turn's process is gone."""

    dead: str

    def decide(self, agent: Agent) -> Decision:
        """The turn as lost, if it is still that one."""
        if agent.turn is not None and agent.turn.holder == self.dead:
            yield TurnLost(turn=agent.turn.number, prompt=agent.turn.prompt.id)


class Happened(AgentWish):
    """Something that the turn which is going on did; too late once it is over."""

    turn: int
    event: (
        ToolCalled
        | TurnCompleted
        | TurnFailed
        | BackendOpened
        | ConversationCompacted
        | LoopNoticed
    )

    def decide(self, agent: Agent) -> Decision:
        """The event, while the turn is still that one."""
        if agent.turn is not None and agent.turn.number == self.turn:
            yield self.event.because(agent.turn.prompt.id)


class ResetContext(AgentWish):
    """Begin the conversation anew: the model is shown nothing of what was before."""

    reason: str = ""

    def decide(self, agent: Agent) -> Decision:
        """The moment from which on it is shown what is said."""
        if still_there(agent).turn is not None:
            raise TurnIsRunning(agent.id)
        yield ContextReset(reason=self.reason)


class Undraft(AgentWish):
    """End the conversation with an agent."""

    reason: Ended = "asked"
    detail: str | None = None
    now: int
    """µs since 1970."""

    def decide(self, agent: Agent) -> Decision:
        """The end, with what it took; a turn that is going on is interrupted."""
        if still_there(agent).way == "work":
            raise Refused(f"{agent.id!r} is at work: end it with mind agent kill {agent.id}.")
        if agent.turn is not None:
            yield TurnFailed(
                turn=agent.turn.number,
                prompt=agent.turn.prompt.id,
                reason="interrupted",
                detail="The conversation was ended.",
            )
        yield AgentUndrafted(
            reason=self.reason,
            turns=agent.completed,
            cost_usd=agent.cost_usd,
            duration_ms=max(0, (self.now - agent.begun) // 1000),
            detail=self.detail,
        )


class EndWork(AgentWish):
    """Hand in what came of a piece of work, and end."""

    report: Report
    now: int
    """µs since 1970."""

    def decide(self, agent: Agent) -> Decision:
        """The report, as the end of the worker."""
        if still_there(agent).way != "work":
            raise Refused(f"{agent.id!r} is in a conversation: it has nothing to report.")
        yield WorkerReported(
            worker=agent.id,
            status=self.report.status,
            summary=self.report.summary,
            changes=self.report.changes,
            issues=self.report.issues,
            questions=self.report.questions,
            turns=agent.spent.calls,
            cost_usd=agent.cost_usd,
            duration_ms=max(0, (self.now - agent.begun) // 1000),
        )


class Kill(AgentWish):
    """End an agent from outside, whatever it does just now."""

    reason: Literal["asked", "budget", "time", "idle", "loop", "lost", "parent ended"] = "asked"
    detail: str
    """One sentence for a person."""
    now: int
    """µs since 1970."""

    def decide(self, agent: Agent) -> Decision:
        """The end, and that of the turn that is going on."""
        still_there(agent)
        if agent.turn is not None:
            yield TurnFailed(
                turn=agent.turn.number,
                prompt=agent.turn.prompt.id,
                reason=_FAILURES.get(self.reason, "interrupted"),
                detail=self.detail,
            )
        yield WorkerKilled(
            worker=agent.id,
            reason=self.reason,
            detail=self.detail,
            turns=agent.spent.calls,
            cost_usd=agent.cost_usd,
            duration_ms=max(0, (self.now - agent.begun) // 1000),
        )


_FAILURES: dict[str, Failure] = {
    "budget": "budget",
    "time": "time",
    "idle": "idle",
    "loop": "loop",
}


class Note(AgentWish):
    """A word about another agent, in the stream of the one that sent it out or asked it."""

    event: WorkerDispatched | WorkerReported | WorkerKilled | PeerAsked | PeerAnswered

    def decide(self, agent: Agent) -> Decision:
        """The word; that a worker began, and that it ended, is told once."""
        event = self.event
        match event:
            case WorkerDispatched():
                new = event.worker not in agent.workers
            case WorkerReported() | WorkerKilled():
                new = event.worker in agent.workers
            case _:
                new = True
        if new:
            yield event
