"""Turns, one after the other for each agent, side by side for many."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from commands.agents import report as reporting
from commands.agents.backend import Backend, Spoken
from commands.agents.conversation import conversation_of
from commands.agents.endings import Endings
from commands.agents.ledger import HARNESS, Ledger, sentence_of
from commands.agents.notices import NoticeKind
from commands.agents.rules import Rules
from commands.agents.tools import Tool
from commands.agents.turn import Setting, Turn
from commands.agents.wishes import Happened, Recordable, StartTurn, SubmitPrompt
from commands.handle import Fulfilled
from commands.holder import is_alive, this_process
from commands.places import project_of
from domain.actors import Actor
from domain.agent_errors import AgentHasEnded, TurnIsRunning
from domain.agents import Agent, Report
from domain.agents import Turn as Going
from domain.errors import LogosphereError
from domain.events import TurnCompleted, TurnFailed
from domain.events.agents import Failure
from domain.limits import Limits

T = TypeVar("T")

STOPPED: tuple[Failure, str] = ("stopped", "It was stopped.")


class Runner:
    """Works off the prompts that wait for agents, in this process."""

    def __init__(
        self,
        ledger: Ledger,
        backend_for: Callable[[Agent], Backend],
        tools_for: Callable[[Agent], Sequence[Tool]],
        rules: Rules,
    ) -> None:
        self._ledger, self._rules = ledger, rules
        self._backend_for, self._tools_for = backend_for, tools_for
        self._holder = this_process()
        self._pumps: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._turns: dict[str, Turn] = {}
        self._begun: dict[str, int] = {}
        """The newest turn of each agent that began here."""
        self._ending: set[str] = set()
        self._closing = False
        self.endings = Endings(ledger, self.ending)

    async def close(self) -> None:
        """End what goes on here; it is recorded as interrupted."""
        self._closing = True
        for turn in self._turns.values():
            turn.stop("interrupted", "The harness was closed.")
        await asyncio.gather(*self._pumps.values(), return_exceptions=True)

    def stop(self, name: str, number: int) -> None:
        """End a turn at once if it goes on here; another process will see that it is to end."""
        turn = self._turns.get(name)
        if turn is not None and turn.number == number:
            turn.stop(*STOPPED)

    @asynccontextmanager
    async def ending(self, name: str, detail: str) -> AsyncIterator[None]:
        """Break off the turn that goes on here, and begin no other while the agent is ended."""
        self._ending.add(name)
        try:
            await self._stop(name, detail)
            yield
        finally:
            self._ending.discard(name)
            self.wake(name)  # where it has not ended after all, what waits is answered

    async def _stop(self, name: str, detail: str) -> None:
        """Break off a turn, and wait until it is recorded as over."""
        turn = self._turns.get(name)
        if turn is None:
            return
        turn.stop("interrupted", detail)
        while self._turns.get(name) is turn:
            self._ledger.news[name].clear()
            await self._ledger.heard(name, 0.05)

    def wake(self, agent: str) -> None:
        """See to it that somebody works off the queue of an agent."""
        self._again.add(agent)
        pump = self._pumps.get(agent)
        if (pump is None or pump.done()) and not self._closing:
            self._pumps[agent] = asyncio.create_task(self._pump(agent))

    async def _pump(self, name: str) -> None:
        """Turn after turn, one at a time, until nothing waits."""
        calls: list[str] = []
        while not self._closing and name not in self._ending:
            self._again.discard(name)
            try:
                agent = await self._started(name)
                if agent is not None:
                    await self._answered(agent, calls)
                elif name not in self._again:
                    await self._end_what_broke_off(name)
                    if name not in self._again:  # nothing came while that was looked at
                        break
            except AgentHasEnded:
                break
            except Exception as error:  # noqa: BLE001 — the log is full, or busy: prompts wait in it
                await self._complain(name, error)
        self._pumps.pop(name, None)

    async def _end_what_broke_off(self, name: str) -> None:
        """End a worker that was at work here and has nothing to do any more: nobody else would."""
        agent = await self._ledger.agent(name)
        idle = agent.active and agent.turn is None and not agent.queue
        if idle and agent.way == "work" and self._begun.get(name) == agent.turns:
            await self.endings.kill(name, "lost", "Its work broke off.")

    async def _lasting(self, name: str, act: Callable[[], Awaitable[T]]) -> T:
        """Do what has to be in the log: again, where that is full or busy for a while."""
        while True:
            try:
                return await act()
            except AgentHasEnded:
                raise
            except LogosphereError as error:
                if self._closing or name in self._ending:
                    raise
                await self._complain(name, error)

    async def _complain(self, name: str, error: Exception) -> None:
        """Say what went wrong, and wait a moment before the next attempt."""
        self._ledger.complain(name, sentence_of(error))
        self._ledger.news[name].clear()
        await self._ledger.heard(name, self._rules.look)

    async def _started(self, name: str) -> Agent | None:
        """An agent whose next turn has begun here; None where nothing waits."""
        dead = None
        while not self._closing:
            try:
                agent = await self._ledger.do(
                    name, StartTurn(holder=self._holder, dead=dead), by=HARNESS
                )
            except TurnIsRunning:
                turn = (await self._ledger.agent(name)).turn
                if turn is not None and self._is_dead(name, turn):
                    dead = turn.holder
                    continue
                # another process answers; this one waits for it
                self._ledger.news[name].clear()
                await self._ledger.heard(name, self._rules.look)
                continue
            if agent.turn is None:
                return None
            self._begun[name] = agent.turn.number
            return agent
        return None

    def _is_dead(self, name: str, turn: Going) -> bool:
        """Whether nobody is at a turn: its process is gone, or could not record its end."""
        if is_alive(turn.holder) is False:
            return True
        return turn.holder == self._holder and self._begun.get(name) == turn.number

    async def _answered(self, agent: Agent, calls: list[str]) -> None:
        """One turn, and what follows from it."""
        name = agent.id
        desk = reporting.Desk() if agent.way == "work" else None
        try:
            end = await self._turn(agent, desk, calls)
        finally:
            self._turns.pop(name, None)
        if desk is not None:
            await self._lasting(name, partial(self._after_work, name, desk, end))
        elif isinstance(end, TurnFailed) and end.reason == "session gone":
            await self._gone(name, end.detail)

    async def _turn(
        self, agent: Agent, desk: reporting.Desk | None, calls: list[str]
    ) -> TurnCompleted | TurnFailed:
        """Answer one prompt, and record how that ended."""
        going = agent.turn
        if going is None:
            raise ValueError("no turn has begun")
        name, number = agent.id, going.number
        self._ledger.say("turn", agent, "", turn=number, prompt=going.prompt.id)
        self._ledger.status(agent)

        async def happened(event: Recordable) -> Fulfilled[Agent]:
            wish = Happened(turn=number, event=event)
            return await self._ledger.fulfil(name, wish, by=Actor("agent", agent.id))

        async def record(event: Recordable) -> None:
            await self._lasting(name, partial(happened, event))

        try:
            turn = await self._made(agent, number, desk, calls, record)
        except Exception as error:  # noqa: BLE001 — a turn that has begun has an end
            end: TurnCompleted | TurnFailed = TurnFailed(
                turn=number, prompt=going.prompt.id, reason="failed", detail=sentence_of(error)
            )
        else:
            self._turns[name] = turn
            if self._closing or name in self._ending:
                turn.stop("interrupted", "It was ended before it began.")
            end = await turn.run(lambda: self._backend_for(agent))
        done = await self._lasting(name, partial(happened, end))
        self._tell_end(done.state, end)
        return end

    async def _made(
        self,
        agent: Agent,
        number: int,
        desk: reporting.Desk | None,
        calls: list[str],
        record: Callable[[Recordable], Awaitable[None]],
    ) -> Turn:
        """A turn with everything around it."""

        async def over() -> tuple[Failure, str] | None:
            now = await self._ledger.agent(agent.id)
            if now.turn is None or now.turn.number != number:
                return "interrupted", "It was ended by somebody else."
            return STOPPED if now.turn.stopping else None

        def tell(kind: NoticeKind, text: str = "", **data: Any) -> None:
            self._ledger.say(kind, agent, text, **data)

        instructions = agent.drafted.instructions
        if desk is not None:
            instructions = f"{instructions}\n\n{reporting.ORDERS}"
        conversation: tuple[Spoken, ...] = ()
        if agent.backend is None:  # else the backend keeps it
            conversation = await asyncio.to_thread(conversation_of, self._ledger.log, agent)
        return Turn(
            Setting(
                agent,
                instructions,
                conversation,
                (*self._tools_for(agent), *((desk.tool,) if desk is not None else ())),
                await asyncio.to_thread(self._path, agent.drafted.project),
                limits_of(agent, self._rules),
                record,
                tell,
                over,
                self._rules,
                lambda: desk is not None and desk.report is not None,
                lambda: self._delegated(agent.id),
                calls,
            )
        )

    def _delegated(self, name: str) -> float:
        agent = self._ledger.pool.agent(name)
        return self._ledger.pool.cost_of(agent) - agent.spent.cost_usd

    def _tell_end(self, agent: Agent, end: TurnCompleted | TurnFailed) -> None:
        if isinstance(end, TurnCompleted):
            self._ledger.say("answer", agent, end.text, turn=end.turn, prompt=end.prompt)
        else:
            self._ledger.say(
                "error",
                agent,
                end.detail,
                turn=end.turn,
                prompt=end.prompt,
                reason=end.reason,
                partial=end.partial,
            )
        self._ledger.status(agent)

    async def _after_work(
        self, name: str, desk: reporting.Desk, end: TurnCompleted | TurnFailed
    ) -> None:
        """A worker's turn is over: it ends with its report, or is reminded of it once."""
        agent = await self._ledger.agent(name)
        if agent.ended is not None:  # by somebody else, or here, and the log was full then
            await self.endings.agree(agent)
            return
        report = desk.report
        if report is None and isinstance(end, TurnFailed):
            if end.reason in {"budget", "time", "idle", "loop"}:
                await self.endings.kill(name, end.reason, end.detail)
                return
            if end.reason == "interrupted":  # by whoever ends the worker, too
                if self._closing:
                    await self.endings.kill(name, "lost", end.detail)
                return
            report = Report("failed", end.detail, issues=(end.detail,))
        if report is None and agent.turns == 1:
            await self._ledger.fulfil(name, SubmitPrompt(text=reporting.REMINDER), by=HARNESS)
            self._again.add(name)
            return
        if report is None:
            text = end.text if isinstance(end, TurnCompleted) else ""
            issue = "It ended without a report; its last answer stands as the summary."
            report = Report("failed", text or issue, issues=(issue,))
        await self.endings.report(name, report)

    async def _gone(self, name: str, detail: str) -> None:
        """The backend has lost the conversation: the user is told, the log keeps everything."""
        agent = await self.endings.undraft(name, "session gone", detail)
        self._ledger.say(
            "error",
            agent,
            f"{detail} The draft is closed, and the log keeps it all: draft again to go on.",
            reason="session gone",
        )

    def _path(self, project: str) -> Path | None:
        path = project_of(self._ledger.log, project).created.path
        return Path(path) if path else None


def limits_of(agent: Agent, rules: Rules) -> Limits:
    """What an agent may use up; a conversation is bounded by the rules of today as well."""
    limits = agent.limits
    if agent.way == "conversation" and limits.idle_seconds is None:
        return limits.model_copy(update={"idle_seconds": rules.conversation.idle_seconds})
    return limits
