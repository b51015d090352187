"""What a process before this one has left: lost turns, work that nobody ends, words not said.

A process may be killed between any two appends. Whatever it had begun is ended here, and the
streams of agents and of those that they sent out agree again. Several processes may do so at once.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, cast

from commands.agents.endings import Endings
from commands.agents.ledger import HARNESS, Ledger
from commands.agents.wishes import LoseTurn
from commands.holder import is_alive
from domain.agent_errors import AgentHasEnded
from domain.agents import Agent, Turn
from domain.events import TurnStarted
from domain.streams import agent_stream

GONE = "Its process was gone."


class Recovered(NamedTuple):
    """What was found at start-up."""

    lost: tuple[tuple[str, int], ...]
    """Agents, and the turns that nobody had ended."""
    resumed: tuple[str, ...]
    """Agents that go on with prompts that had waited."""


async def recover(
    ledger: Ledger, endings: Endings, wake: Callable[[str], None], *, resume: bool
) -> Recovered:
    """Put right what was left.

    Args:
        ledger: where the agents live.
        endings: what ends them.
        wake: sees to it that an agent's queue is worked off.
        resume: whether this process stays to answer what has waited.
    """
    lost: list[tuple[str, int]] = []
    found = await asyncio.to_thread(lambda: list(ledger.pool.unsettled()))
    for agent in found:
        if agent.active:
            await endings.mention(agent)
        if agent.turn is not None and is_alive(agent.turn.holder) is False:
            lost.append((str(agent.id), agent.turn.number))
            await _lose(ledger, agent, agent.turn)
    for agent in found:  # whoever sent out others comes before them, and takes them along
        now = await ledger.agent(agent.id)
        if now.active and (agent.id in dict(lost) or not now.queue) and await _is_idle(ledger, now):
            with suppress(AgentHasEnded):  # another process was faster
                await endings.kill(agent.id, "lost", GONE)
        await endings.settle(await ledger.agent(agent.id))
    resumed: list[str] = []
    for agent in found:
        now = await ledger.agent(agent.id)
        if resume and now.queue:
            resumed.append(str(now.id))
            wake(now.id)
    return Recovered(tuple(lost), tuple(resumed))


async def _lose(ledger: Ledger, agent: Agent, turn: Turn) -> None:
    now = await ledger.do(agent.id, LoseTurn(dead=turn.holder), by=HARNESS)
    ledger.say(
        "error",
        now,
        f"Turn {turn.number} of {agent.id} was lost when its process ended: say it again.",
        turn=turn.number,
        prompt=turn.prompt.id,
        reason="lost",
    )


async def _is_idle(ledger: Ledger, agent: Agent) -> bool:
    """Whether it is a worker whose last turn is over, and whose process can't end it any more."""
    if agent.way != "work" or agent.turn is not None:
        return False
    last = await asyncio.to_thread(ledger.log.newest, agent_stream(agent.id).id, ("turn.started",))
    return last is not None and is_alive(cast("TurnStarted", last.event).holder) is False
