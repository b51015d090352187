"""The turns that an agent's model is shown again, rebuilt from the log for each new turn."""

from typing import NamedTuple, cast

from commands.agents.backend import Call, Spoken
from domain.agents import Agent
from domain.events import PromptSubmitted, ToolCalled, TurnCompleted, TurnFailed, TurnStarted
from domain.log import Log
from domain.streams import agent_stream

_KINDS = ("turn.started", "tool.called", "turn.completed", "turn.failed")

_PAGE = 64
"""Events read at a time: a conversation that was compacted or reset a moment ago is short."""


class _Turn(NamedTuple):
    number: int
    prompt: int
    calls: tuple[Call, ...]
    answer: str
    failed: bool


def conversation_of(log: Log, agent: Agent) -> tuple[Spoken, ...]:
    """The finished turns that are shown in their own words, oldest first.

    They begin behind the newest reset and behind what a summary stands for. A failed turn is shown
    with what had arrived; a lost one, one that is going on and a prompt that was taken back are
    not. What was redacted says so. Reads as many events as it shows, and a page.
    """
    stream = agent_stream(agent.id).id
    turns: list[_Turn] = []
    calls: list[Call] = []
    end: TurnCompleted | TurnFailed | None = None
    for recorded in log.read(
        stream,
        after=agent.shown_after,
        upto=agent.version,
        kinds=_KINDS,
        newest_first=True,
        page=_PAGE,
    ):
        match recorded.event:
            case TurnStarted(turn=number, prompt=prompt):
                if number <= agent.compacted_upto:
                    break
                if end is not None and end.turn == number:
                    turns.append(_turn(number, prompt, calls, end))
                calls, end = [], None
            case TurnCompleted() | TurnFailed():
                calls, end = [], recorded.event
            case ToolCalled() as used:
                calls.append(Call(used.call, used.name, used.arguments, used.result, used.failed))
    turns.reverse()
    said = {
        recorded.version: cast("PromptSubmitted", recorded.event).text
        for recorded in log.pick(stream, [turn.prompt for turn in turns])
    }
    return tuple(
        Spoken(turn.number, said[turn.prompt], turn.calls, turn.answer, turn.failed)
        for turn in turns
    )


def _turn(number: int, prompt: int, newest: list[Call], end: TurnCompleted | TurnFailed) -> _Turn:
    failed = isinstance(end, TurnFailed)
    answer = end.partial if isinstance(end, TurnFailed) else end.text
    return _Turn(number, prompt, tuple(reversed(newest)), answer, failed)
