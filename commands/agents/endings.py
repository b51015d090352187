"""How agents end: a report, a word from outside, and those that they had sent out end with them."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from commands.agents.ledger import HARNESS, Ledger
from commands.agents.wishes import EndWork, Kill, Note, Undraft, at_work, still_there
from domain.actors import Actor
from domain.agent_errors import AgentHasEnded
from domain.agents import Agent, Report
from domain.events import WorkerDispatched, WorkerKilled, WorkerReported
from domain.events.agents import Ended
from domain.sentences import cost, count
from domain.streams import agent_stream

_REPORTS = ("worker.reported", "worker.killed")


class Endings:
    """Ends agents, and tells those who have to know."""

    def __init__(
        self, ledger: Ledger, ending: Callable[[str, str], AbstractAsyncContextManager[None]]
    ) -> None:
        """Of the agents of a ledger.

        Args:
            ledger: where they live.
            ending: breaks off the turn of an agent that goes on here, with a sentence that says
                why, and lets no other begin here while it lasts.
        """
        self._ledger, self._ending = ledger, ending

    async def undraft(
        self, agent: str, reason: Ended = "asked", detail: str | None = None
    ) -> Agent:
        """End the conversation with an agent; those that it drafted end with it.

        Raises:
            NoSuchAgent, AgentHasEnded: there is nobody to be undrafted.
        """
        stands = still_there(await self._ledger.agent(agent))
        if stands.way == "work":  # before its turn is stopped
            raise at_work(stands)
        async with self._ending(agent, "The conversation was ended."):
            wish = Undraft(reason=reason, detail=detail, now=self._ledger.world.now())
            ended = await self._ledger.do(agent, wish)
        await self._end_children(ended)
        await self._tell_parent(ended)
        spent = cost(ended.cost_usd, ended.unknown_costs)
        text = f"{agent} is undrafted: {count(ended.completed, 'turn')}, {spent}."
        self._ledger.say("lifecycle", ended, text)
        self._ledger.status(ended)
        self._ledger.tell_pool()
        return ended

    async def report(self, agent: str, report: Report) -> Agent:
        """Record what came of a piece of work, as its end."""
        wish = EndWork(report=report, now=self._ledger.world.now())
        done = await self._ledger.do(agent, wish, by=Actor("agent", agent))
        self._ledger.say("result", done, report.summary, **_plain(report))
        await self._over(done)
        return done

    async def kill(self, name: str, reason: Any, detail: str) -> Agent:
        """End a worker from outside, and the turn that it is at here."""
        async with self._ending(name, detail):
            wish = Kill(reason=reason, detail=detail, now=self._ledger.world.now())
            agent = await self._ledger.do(name, wish, by=None if reason == "asked" else HARNESS)
        self._ledger.say("error", agent, f"{name} was ended: {detail}", reason=reason)
        await self._over(agent)
        return agent

    async def _over(self, agent: Agent) -> None:
        """A worker has ended: whoever sent it out is told, whom it sent out ends, too."""
        await self._end_children(agent)
        await self._tell_parent(agent)
        self._ledger.status(agent)
        self._ledger.tell_pool()

    async def _end_children(self, agent: Agent) -> None:
        for name in agent.workers:
            child = await self._ledger.agent(name)
            if child.ended is not None:
                continue
            with suppress(AgentHasEnded):  # by itself, meanwhile
                if child.way == "conversation":
                    await self.undraft(name)
                else:
                    why = f"{agent.id}, who sent it out, has ended."
                    await self.kill(name, "parent ended", why)

    async def mention(self, agent: Agent) -> None:
        """See to it that whoever sent an agent out knows of it.

        A process may have been killed between the word in one stream and that in the other.
        """
        parent = agent.drafted.parent
        if parent is not None and agent.id not in (await self._ledger.agent(parent)).workers:
            word = WorkerDispatched(
                worker=agent.id, role=agent.drafted.role, prompt="", way=agent.way
            )
            await self._ledger.do(parent, Note(event=word), by=HARNESS)

    async def settle(self, agent: Agent) -> None:
        """See to it that an agent knows who of those that it sent out has ended, and how.

        Where it has ended itself, they end as well.
        """
        if agent.ended is not None:
            await self._end_children(agent)
        for name in agent.workers:
            await self._tell_parent(await self._ledger.agent(name))

    async def agree(self, agent: Agent) -> None:
        """See to it that all is said that the end of an agent has to be followed by."""
        await self.settle(agent)
        await self._tell_parent(agent)

    async def _tell_parent(self, agent: Agent) -> None:
        """Put the end of an agent into the stream of whoever sent it out, once."""
        parent = agent.drafted.parent
        if parent is None or agent.ended is None:
            return
        event = await asyncio.to_thread(self._word, agent)
        if event is None:  # it was a conversation
            event = WorkerReported(
                worker=agent.id,
                status="success",
                summary=f"The conversation ended after {count(agent.completed, 'turn')}.",
                turns=agent.spent.calls,
                cost_usd=agent.cost_usd,
                duration_ms=max(0, (agent.at - agent.begun) // 1000),
            )
        await self._ledger.do(parent, Note(event=event), by=HARNESS)

    def _word(self, agent: Agent) -> WorkerReported | WorkerKilled | None:
        """An agent's own end: behind it stand those of whom it had sent out."""
        stream = agent_stream(agent.id).id
        for recorded in self._ledger.log.read(stream, kinds=_REPORTS, newest_first=True, page=8):
            event = recorded.event
            if isinstance(event, WorkerReported | WorkerKilled) and event.worker == agent.id:
                return event
        return None


def _plain(report: Report) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in report._asdict().items()}
