"""The harness: agents are drafted, answer turn by turn, send out workers, and end.

All that it knows stands in the log; what it holds in memory is who runs in this process just now.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, cast

from commands.agents.backend import Backend
from commands.agents.begin import Wanted, begin
from commands.agents.ledger import HARNESS, Ledger, TurnEnd, TurnOver
from commands.agents.notices import Notice
from commands.agents.recovery import Recovered, recover
from commands.agents.role_file import checked_model
from commands.agents.roles import Roles
from commands.agents.rules import Rules
from commands.agents.runner import Runner, limits_of
from commands.agents.tools import Tool
from commands.agents.wishes import (
    Happened,
    ResetContext,
    StopTurn,
    SubmitPrompt,
    WithdrawPrompt,
    still_there,
)
from commands.places import place
from commands.world import World
from domain.actors import Actor
from domain.agent_errors import AgentHasEnded
from domain.agents import Agent
from domain.errors import Refused
from domain.events import TurnFailed
from domain.events.agents import Ended
from domain.ids import CommandId
from domain.limits import Limits, used_up
from domain.log import Log
from domain.texts import checked_text


class Harness:
    """Runs the agents of a log in this process. Every method may refuse, or find the log broken."""

    def __init__(
        self,
        log: Log,
        world: World,
        *,
        backend_for: Callable[[Agent], Backend],
        roles: Roles,
        can_answer: Callable[[str], object] = lambda _: None,
        tools_for: Callable[[Agent], Sequence[Tool]] = lambda _: (),
        tell: Callable[[Notice], None] = lambda _: None,
        rules: Rules = Rules(),
    ) -> None:
        """One for a log.

        Args:
            log: where agents live.
            world: time, chance and the present user.
            backend_for: what answers for an agent; may refuse.
            roles: whom one can draft.
            can_answer: raises where nothing could answer by a model of that name.
            tools_for: what an agent is given, beside the report of a worker.
            tell: told what happens, in the thread of the event loop. Never raises.
            rules: how many there may be, and what they may use up.
        """
        self._ledger = Ledger(log, world, tell)
        self._runner = Runner(self._ledger, backend_for, tools_for, rules)
        self._roles, self.rules, self._can_answer = roles, rules, can_answer
        self._acts: set[asyncio.Task[Agent]] = set()

    # beginning and ending

    async def recover(self, *, resume: bool = True) -> Recovered:
        """Find what a process before this one has left: lost turns are recorded, queues go on.

        Args:
            resume: whether this process stays to answer what has waited.
        """
        return await recover(self._ledger, self._runner.endings, self._runner.wake, resume=resume)

    async def close(self) -> None:
        """End what goes on in this process; it is recorded as interrupted."""
        await self._runner.close()
        await asyncio.gather(*self._acts, return_exceptions=True)

    # drafts

    async def draft(
        self,
        *,
        client: str,
        role: str,
        project: str,
        task: str,
        model: str | None = None,
        parent: str | None = None,
    ) -> Agent:
        """Draft an agent by role to talk with.

        Args:
            client: whose draft it is.
            role: which role.
            project: where it works.
            task: on what; it has to be open.
            model: who answers, where not as the role says.
            parent: the agent that drafts it, where one does.

        Raises:
            NoSuchRole, BadRole, RoleNotInProject, NoSuchProject, ProjectIsVirtual, NoSuchTask,
            TaskIsClosed, DraftIsActive: nobody was drafted.
        """
        wanted = Wanted(client, role, project, task, "conversation", model, parent)
        return await self._wholly(self._drafted(wanted))

    async def submit(
        self,
        agent: str,
        text: str,
        *,
        sender: str | None = None,
        command_id: CommandId | None = None,
    ) -> int:
        """Say something to an agent; it answers when its turn comes.

        Returns:
            The prompt's id.

        Raises:
            NoSuchAgent, AgentHasEnded, TaskIsClosed, QueueIsFull, BadText: it was not said.
            Refused: nothing can be said to a worker, or nothing is left that it may use up.
        """
        stands = await self._ledger.agent(agent)
        drafted = still_there(stands).drafted
        if stands.way == "work":
            raise Refused(f"{agent!r} works alone and can't be spoken to: await its report.")
        await asyncio.to_thread(place, self._ledger.log, drafted.project, drafted.task)
        over = used_up(limits_of(stands, self.rules), self._ledger.pool.used_by(stands))
        if over is not None:
            raise Refused(f"{over[1]} Undraft {agent!r} and draft another one.")
        done = await self._ledger.fulfil(
            agent,
            SubmitPrompt(text=text, sender=sender),
            by=Actor("agent", sender) if sender else None,
            command_id=command_id,
        )
        if not done.events:  # said before under the same id
            return await asyncio.to_thread(self._ledger.said_before, agent, command_id)
        prompt = done.state.queue[-1]
        self._ledger.say(
            "prompt",
            done.state,
            prompt.text,
            prompt=prompt.id,
            sender=sender,
            waiting=len(done.state.queue) - (done.state.turn is None),
        )
        self._runner.wake(agent)
        return prompt.id

    async def withdraw(self, agent: str, prompt: int) -> Agent:
        """Take back a prompt that waits.

        Raises:
            NothingChanges: it does not wait.
        """
        return await self._ledger.do(agent, WithdrawPrompt(prompt=prompt))

    async def answered(self, agent: str, prompt: int) -> TurnEnd:
        """Wait for the end of the turn that answers a prompt, whichever process runs it.

        Raises:
            AgentHasEnded: it never will.
        """
        await self._ledger.agent(agent)  # or say that there is none
        while True:
            self._ledger.news[agent].clear()
            stands = await self._ledger.agent(agent)  # first: its end comes after its answers
            end = await asyncio.to_thread(self._ledger.end_of, agent, prompt)
            if end is not None:
                return end
            if stands.ended is not None:
                raise AgentHasEnded(agent, f"{stands.ended.how}, {stands.ended.reason}")
            await self._ledger.heard(agent, self.rules.look)

    async def stop(self, agent: str, *, turn: int | None = None) -> TurnOver:
        """End the turn that an agent is at, within a second, whichever process runs it.

        The conversation goes on, and what waits is answered next.

        Args:
            agent: its name.
            turn: only this turn, if another may be going on by now.

        Returns:
            How the turn has ended: it may have been faster.

        Raises:
            NoSuchAgent, AgentHasEnded, NothingChanges: no turn goes on.
            Refused: it is at work, and can only be killed.
        """
        going = (await self._ledger.do(agent, StopTurn(turn=turn))).turn
        if going is None:
            raise ValueError("a turn that is to stop was going on")
        self._runner.stop(agent, going.number)
        prompt = going.prompt.id
        with suppress(TimeoutError):
            async with asyncio.timeout(self.rules.answer):
                return cast("TurnOver", await self.answered(agent, prompt))
        end = TurnFailed(
            turn=going.number,
            prompt=prompt,
            reason="stopped",
            detail="It was stopped; its process did not say what it took.",
        )
        await self._ledger.do(agent, Happened(turn=going.number, event=end), by=HARNESS)
        return cast("TurnOver", await self.answered(agent, prompt))

    async def undraft(self, agent: str, *, reason: Ended = "asked") -> Agent:
        """End the conversation with an agent; those that it drafted end with it.

        Raises:
            NoSuchAgent, AgentHasEnded: there is nobody to be undrafted.
        """
        return await self._wholly(self._runner.endings.undraft(agent, reason))

    async def reset(self, agent: str, reason: str = "") -> Agent:
        """Begin an agent's conversation anew.

        Raises:
            NoSuchAgent, AgentHasEnded, TurnIsRunning: nothing was changed.
        """
        await self._ledger.agent(agent)
        done = await self._ledger.do(agent, ResetContext(reason=reason))
        self._ledger.status(done)
        return done

    # workers

    async def dispatch(
        self,
        *,
        client: str,
        role: str,
        prompt: str,
        project: str,
        task: str,
        model: str | None = None,
        parent: str | None = None,
        limits: Limits | None = None,
        command_id: CommandId | None = None,
    ) -> Agent:
        """Send out a worker: it works alone on one prompt, and ends with a report.

        Raises:
            As :meth:`draft`; TooManyAgents: as many as may be are at work.
        """
        text = checked_text(prompt, "prompt")
        wanted = Wanted(
            client, role, project, task, "work", model, parent, limits or Limits(), text, command_id
        )
        return await self._wholly(self._drafted(wanted))

    async def ended(self, agent: str) -> Agent:
        """Wait for the end of an agent; raises NoSuchAgent."""
        await self._ledger.agent(agent)  # or say that there is none
        while True:
            self._ledger.news[agent].clear()
            stands = await self._ledger.agent(agent)
            if stands.ended is not None:
                return stands
            await self._ledger.heard(agent, self.rules.look)

    async def kill(self, agent: str) -> Agent:
        """End an agent, whatever it does just now, within a second; and those it sent out.

        Raises:
            NoSuchAgent, AgentHasEnded: there is nobody to be ended.
        """
        return await self._wholly(self._killed(agent))

    async def _killed(self, agent: str) -> Agent:
        endings = self._runner.endings
        if still_there(await self._ledger.agent(agent)).way == "conversation":
            return await endings.undraft(agent)
        return await endings.kill(agent, "asked", "It was ended by hand.")

    async def _drafted(self, wanted: Wanted) -> Agent:
        agent = await asyncio.to_thread(
            begin, self._ledger, self._roles, self.rules, wanted, self._can_answer
        )
        if wanted.parent is not None:
            above = await self._ledger.agent(wanted.parent)
            if above.ended is not None:  # meanwhile: nobody works for somebody who is gone
                await self._runner.endings.settle(above)
                still_there(above)
        place = f"{wanted.project}/{wanted.task}"
        if wanted.way == "work":
            self._ledger.say("lifecycle", agent, f"{agent.id} is at work for {place}.")
            self._runner.wake(agent.id)
        else:
            self._ledger.say("lifecycle", agent, f"{agent.id} is drafted for {place}.")
            self._ledger.status(agent)
        self._ledger.tell_pool()
        return agent

    async def _wholly(self, act: Coroutine[Any, Any, Agent]) -> Agent:
        """Do all of it, even where whoever wants it stops waiting: half of it would stay so."""
        task = asyncio.create_task(act)
        self._acts.add(task)
        task.add_done_callback(self._over)
        return await asyncio.shield(task)

    def _over(self, task: "asyncio.Task[Agent]") -> None:
        self._acts.discard(task)
        if not task.cancelled():
            task.exception()  # it was told to whoever waited

    # reading

    def check_work(self, role: str) -> None:
        """Make sure that a worker of a role could be sent out now.

        Raises:
            NoSuchRole, BadRole, BadSetting, BackendUnavailable, TooManyAgents: none could.
        """
        self._can_answer(checked_model(self._roles.get(role).model or self.rules.model))
        self._ledger.pool.check_work(self.rules)

    def begun_by(self, command: CommandId) -> Agent | None:
        """The agent that a wish has begun, if it was granted before."""
        return self._ledger.pool.begun_by(command)

    def draft_of(self, client: str) -> Agent | None:
        """The active draft of a client."""
        return self._ledger.pool.draft_of(client)

    def agent(self, name: str) -> Agent:
        """An agent as it is now; raises NoSuchAgent."""
        return self._ledger.pool.agent(name)

    def active(self) -> list[Agent]:
        """Agents that have not ended."""
        return list(self._ledger.pool.active())
