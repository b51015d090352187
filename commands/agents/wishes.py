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
from domain.events.agents import Ended, Failure
from domain.texts import checked_text

Recordable = (
    ToolCalled | TurnCompleted | TurnFailed | BackendOpened | ConversationCompacted | LoopNoticed
)
"""What happens in a turn."""

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


def still_there(agent: Agent, *, spoken_to: bool = False) -> Agent:
    """The agent, if it has not ended.

    Args:
        agent: it.
        spoken_to: whether it was to be told something, which another one could be told.

    Raises:
        AgentHasEnded: it has.
    """
    if agent.ended is not None:
        how = f"{agent.ended.how}, {agent.ended.reason}"
        raise AgentHasEnded(agent.id, how, spoken_to=spoken_to)
    return agent


def at_work(agent: Agent) -> Refused:
    """Why a worker is neither undrafted nor stopped: its end is a report, or a kill."""
    return Refused(f"{agent.id!r} is at work: end it with mind agent kill {agent.id}.")


class SubmitPrompt(AgentWish):
    """Say something to an agent; it answers when its turn comes."""

    text: str
    sender: str | None = None

    def decide(self, agent: Agent) -> Decision:
        """The prompt, behind those that wait."""
        text = checked_text(self.text, "prompt")
        if len(still_there(agent, spoken_to=True).queue) >= MOST_WAITING:
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


class StopTurn(AgentWish):
    """Have the turn end that is going on; the conversation and what waits go on."""

    turn: int | None = None
    """Only this one: by the time that it is wished, the next may be going on."""

    def decide(self, agent: Agent) -> Decision:
        """The wish, for the process that runs the turn; once, however often it is wished."""
        if still_there(agent).way == "work":
            raise at_work(agent)
        if agent.turn is None or self.turn not in {None, agent.turn.number}:
            raise NothingChanges(
                f"{agent.id!r} is not answering now: there is nothing to stop."
                if self.turn is None
                else f"Turn {self.turn} of {agent.id!r} is over: there is nothing to stop."
            )
        if not agent.turn.stopping:
            yield StopAsked(turn=agent.turn.number).because(agent.turn.prompt.id)


class Happened(AgentWish):
    """Something that the turn which is going on did; too late once it is over."""

    turn: int
    event: Recordable

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
            raise at_work(agent)
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
