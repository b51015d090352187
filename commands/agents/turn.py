"""One turn of an agent: the backend answers, tools are used, bounds hold, all is recorded."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from commands.agents.arguments import checked
from commands.agents.backend import (
    Answer,
    Ask,
    Backend,
    Called,
    Compacted,
    Heard,
    Opened,
    SessionGone,
    Spoken,
    Text,
    ToolBegan,
    ToolEnded,
    TurnBroke,
    Warned,
)
from commands.agents.ledger import sentence_of
from commands.agents.rules import Rules
from commands.agents.tally import Tally
from commands.agents.tools import Outcome, Tool, bounded
from commands.agents.wishes import Recordable
from commands.minds.hosted import MOST_TEXT
from domain.agent_errors import NoSuchTool, NotPermitted
from domain.agents import Agent
from domain.agents import Turn as Going
from domain.errors import LogosphereError
from domain.events import (
    BackendOpened,
    ConversationCompacted,
    LoopNoticed,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
)
from domain.events.agents import Failure
from domain.limits import Limits, Spent, used_up
from domain.loops import WINDOW, circle

Tell = Callable[..., None]
"""``tell(kind, text, **data)``: what happens, for whoever looks on."""


class Setting(NamedTuple):
    """Everything around a turn."""

    agent: Agent
    instructions: str
    conversation: tuple[Spoken, ...]
    tools: tuple[Tool, ...]
    path: Path | None
    limits: Limits
    record: Callable[[Recordable], Awaitable[None]]
    tell: Tell
    over: Callable[[], Awaitable[tuple[Failure, str] | None]]
    """Why the turn is to end, where somebody has ended it or the agent, or wants it to end."""
    rules: Rules
    reported: Callable[[], bool]
    """Whether a worker has handed in its report."""
    delegated: Callable[[], float]
    """What agents that it had sent out have cost by now, in US dollars."""
    calls: list[str]
    """Tool calls of the agent's turns so far, tool and arguments; grows."""


class Turn:
    """A turn that is going on; at its end, the event that says how."""

    def __init__(self, setting: Setting) -> None:
        self._at = setting
        self._agent = setting.agent
        if setting.agent.turn is None:
            raise ValueError("no turn has begun")
        self._going: Going = setting.agent.turn
        self._began = time.monotonic()
        self._heard_at = self._began
        self._using = 0
        self._text: list[str] = []
        self._length = 0
        self._pending: list[Recordable] = []
        self._recording = asyncio.Lock()
        self._tally = Tally()
        self._why: tuple[Failure, str] | None = None
        self._short = False
        self._answering: asyncio.Task[Answer] | None = None
        self._own: dict[str, float] = {}
        self._tools = {tool.name: tool for tool in setting.tools}

    @property
    def number(self) -> int:
        """1 for the agent's first."""
        return self._going.number

    def stop(self, reason: Failure, detail: str) -> None:
        """End it from outside, within a second; the first reason counts."""
        if self._why is None:
            self._why = (reason, detail)
        self._cut_off()

    def _cut_off(self) -> None:
        """Cancel the answer, once: it may be saying what it took."""
        if self._answering is not None and not self._answering.cancelling():
            self._answering.cancel()

    async def run(self, backend_for: Callable[[], Backend]) -> TurnCompleted | TurnFailed:
        """Answer the prompt. Never raises for what a backend or a tool does.

        Returns:
            What is to be recorded as the end of the turn.
        """
        ask = Ask(
            self._agent,
            self._at.instructions,
            self._at.conversation,
            self._agent.summary,
            self._going.prompt.text,
            self._at.tools,
            self._at.path,
            self._hear,
            self._use,
            self._enough,
        )
        try:
            if self._enough():  # by prompts that had waited behind one another
                return await self._ended(failure=self._why)
            backend = backend_for()
            self._answering = asyncio.ensure_future(backend.turn(ask))
            if self._why is not None:  # it was ended before it could begin
                self._cut_off()
            await self._watch(self._answering)
        except Exception as error:  # noqa: BLE001 — a turn that has begun has an end
            return await self._ended(failure=self._told(error))
        if self._answering.cancelled() or not self._answering.done():
            return await self._ended(failure=self._why or ("interrupted", "It was broken off."))
        broke = self._answering.exception()
        if broke is not None:
            return await self._ended(failure=self._told(broke))
        return await self._ended(answer=self._answering.result())

    def _told(self, error: BaseException) -> tuple[Failure, str]:
        if self._why is not None:
            return self._why
        if isinstance(error, SessionGone):
            return "session gone", error.sentence
        if isinstance(error, TurnBroke):
            if error.partial and not self._text:
                self._text.append(error.partial)
            return "failed", error.sentence
        return "failed", sentence_of(error)

    async def _ended(
        self, answer: Answer | None = None, failure: tuple[Failure, str] | None = None
    ) -> TurnCompleted | TurnFailed:
        await self._flush()
        turn, prompt = self._going.number, self._going.prompt.id
        took = self._tally.took()
        took["latency_ms"] = round((time.monotonic() - self._began) * 1000)
        if self._short and answer is not None:
            failure = self._why or ("budget", "What it may use up is used up.")
        if answer is None or failure is not None:
            reason, detail = failure or ("failed", "It failed.")
            partial = "".join(self._text)
            return TurnFailed(
                turn=turn, prompt=prompt, reason=reason, detail=detail, partial=partial, **took
            )
        return TurnCompleted(
            turn=turn,
            prompt=prompt,
            text=answer.text,
            model=answer.model,
            finish=answer.finish,
            **took,
            **self._tally.held(),
        )

    # bounds

    async def _watch(self, answering: "asyncio.Task[Answer]") -> None:
        """Wait for the end, and bring it about where a bound is reached."""
        try:
            while not answering.done():
                await asyncio.wait({answering}, timeout=self._nap())
                if answering.done():
                    break
                self._look_at_the_clock()
                if self._why is None and (why := await self._at.over()) is not None:
                    self.stop(*why)
                if self._why is not None:
                    break
        finally:
            self._cut_off()
        if not answering.done():
            answering.add_done_callback(lambda late: late.cancelled() or late.exception())
            await asyncio.wait({answering}, timeout=self._at.rules.grace)
            answering.cancel()  # it had its time

    def _nap(self) -> float:
        now, limits = time.monotonic(), self._at.limits
        until = [self._at.rules.look]
        if limits.seconds is not None:
            until.append(limits.seconds - self._agent.spent.seconds - (now - self._began))
        if limits.idle_seconds is not None and not self._using:
            until.append(limits.idle_seconds - (now - self._heard_at))
        return max(0.001, min(until))

    def _look_at_the_clock(self) -> None:
        now, limits = time.monotonic(), self._at.limits
        over = used_up(limits, self._spent())
        if over is not None and over[0] == "time":
            self.stop("time", over[1])
        idle = limits.idle_seconds
        if idle is not None and not self._using and now - self._heard_at >= idle:
            self.stop("idle", f"Nothing arrived for {idle:g} seconds.")

    def _spent(self) -> Spent:
        so_far = self._tally.after(self._agent.spent)
        return so_far._replace(
            cost_usd=so_far.cost_usd + self._at.delegated(),
            seconds=so_far.seconds + time.monotonic() - self._began,
        )

    def _enough(self) -> bool:
        """Whether the model must not be called again."""
        if self._at.reported():
            return True
        over = used_up(self._at.limits, self._spent())
        if over is not None:
            self._why = self._why or over
            self._short = True
        return self._why is not None

    # what the backend says and does

    def _hear(self, heard: Heard) -> None:
        self._heard_at = time.monotonic()
        turn, tell = self._going.number, self._at.tell
        match heard:
            case Text(text):
                self._length += len(text)
                if self._length > MOST_TEXT:
                    self._short = True
                    self.stop("failed", f"It wrote over {MOST_TEXT:,} characters without an end.")
                    return
                self._text.append(text)
                tell("chunk", text, turn=turn)
            case Called():
                self._tally.add(heard)
            case ToolBegan(call, name, arguments):
                self._own[call] = self._heard_at
                self._using += 1
                tell("tool_use", name, turn=turn, call=call, name=name, arguments=arguments)
            case ToolEnded(call, name, arguments, result, failed, latency):
                self._using -= self._own.pop(call, None) is not None
                self._note(call, name, arguments, Outcome(bounded(result), failed), latency)
                self._circles(name, arguments)
            case Opened(session):
                self._pending.append(BackendOpened(session=session))
            case Compacted(pre_tokens, trigger, upto, summary):
                self._pending.append(
                    ConversationCompacted(
                        upto=upto,
                        pre_tokens=pre_tokens,
                        trigger="manual" if trigger == "manual" else "auto",
                        summary=summary,
                    )
                )
                tell("compacted", "", preTokens=pre_tokens, trigger=trigger)
            case Warned(sentence):
                tell("warning", sentence, turn=turn)

    async def _use(self, call: str, name: str, arguments: str) -> Outcome:
        """Use a tool for the model, if it may."""
        turn, tell = self._going.number, self._at.tell
        began = self._heard_at = time.monotonic()
        tell("tool_use", name, turn=turn, call=call, name=name, arguments=arguments)
        self._using += 1
        outcome = Outcome("It was broken off: nobody knows how far it came.", failed=True)
        try:
            said = await self._outcome(name, arguments)
            outcome = said._replace(text=bounded(said.text))
        finally:
            self._using -= 1
            self._heard_at = time.monotonic()
            latency = round((self._heard_at - began) * 1000)
            self._note(call, name, arguments, outcome, latency)
        warning = self._circles(name, arguments)
        await self._flush()
        return outcome._replace(text=f"{outcome.text}\n\n{warning}") if warning else outcome

    async def _outcome(self, name: str, arguments: str) -> Outcome:
        if self._why is not None or self._at.reported():
            return Outcome("Nothing more is wanted: end here.", failed=True)
        try:
            tool = self._allowed(name)
            said = await tool.run(checked(tool, arguments))
            text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        except LogosphereError as error:
            return Outcome(error.sentence, failed=True)
        except Exception as error:  # noqa: BLE001 — whatever a tool does, the model is told
            return Outcome(f"The tool failed ({type(error).__name__}: {error}).", failed=True)
        return Outcome(text)

    def _allowed(self, name: str) -> Tool:
        """The tool of a name, if the role may use it."""
        tool, drafted = self._tools.get(name), self._agent.drafted
        if tool is None:
            raise NoSuchTool(name, self._tools)
        if tool.permission is not None and tool.permission not in drafted.permissions:
            raise NotPermitted(drafted.role, tool.permission, name)
        return tool

    def _note(self, call: str, name: str, arguments: str, outcome: Outcome, latency: int) -> None:
        turn = self._going.number
        self._pending.append(
            ToolCalled(
                turn=turn,
                call=call,
                name=name,
                arguments=bounded(arguments),
                result=outcome.text,
                failed=outcome.failed,
                latency_ms=latency,
            )
        )
        self._at.tell(
            "tool_result",
            outcome.text[:2000],
            turn=turn,
            call=call,
            name=name,
            failed=outcome.failed,
        )

    def _circles(self, name: str, arguments: str) -> str | None:
        """Whether a worker goes in circles: a warning for it, or its end."""
        if self._agent.way != "work":
            return None
        self._at.calls.append(f"{name} {_canonical(arguments)}")
        del self._at.calls[:-WINDOW]
        found = circle(self._at.calls)
        if found is None:
            return None
        call = found.call[:300]
        if found.what == "end":
            detail = f"It called {name} {found.times} times with the same arguments."
            self.stop("loop", detail)
            return None
        self._pending.append(LoopNoticed(turn=self._going.number, call=call, times=found.times))
        self._at.tell("warning", f"{self._agent.id} goes in circles: {call}")
        return (
            f"You have called this {found.times} times with the same arguments: the answer will"
            " not change. Do something else, or end."
        )

    async def _flush(self) -> None:
        """Record what waits to be; a turn that is cancelled meanwhile loses none of it."""
        await asyncio.shield(self._recorded())

    async def _recorded(self) -> None:
        async with self._recording:
            while self._pending:
                await self._at.record(self._pending[0])  # it may fail, and then it waits
                del self._pending[0]


def _canonical(arguments: str) -> str:
    """The same arguments in another order are the same."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
