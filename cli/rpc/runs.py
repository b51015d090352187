"""Minds at work: one run of a session at a time, each in a thread of its own."""

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from cli.rpc.pieces import Later, Pieces
from cli.wiring import gatherer_for, hooks_for, mind_for
from commands.eventlog import EventLog
from commands.handle import Done
from commands.minds.mind import Listener, Mind, MindFailed, Reply, Request
from commands.runs import Stopped, run_session
from commands.world import RealWorld
from domain.config import Config
from domain.errors import Broken
from domain.events import MindInvoked
from domain.events.runs import Mode
from domain.ids import SessionId
from domain.protocol.prompts import Dialect

Tell = Callable[[str, Mapping[str, Any]], object]
"""Sends a notification to all, from any thread."""

JOINED = 30.0
"""Seconds that a closing service waits for a run to write down its end."""


class Wish(NamedTuple):
    """What is to be run."""

    session: SessionId
    mode: Mode
    iterations: int | None


class Runs:
    """The runs of one service: begun, told about, stopped."""

    def __init__(self, log: EventLog, world: RealWorld, *, tell: Tell, later: Later) -> None:
        self._log, self._world, self._tell, self._later = log, world, tell, later
        self._going: dict[threading.Thread, Run] = {}

    async def run(self, wish: Wish) -> Stopped:
        """Let a mind work until a rule, or somebody, stops it.

        Who waits for the end may stop waiting: the run goes on.

        Raises:
            NothingAwaits, SomeoneRuns, MindUnavailable: nothing was run.
        """
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Stopped] = loop.create_future()
        run = Run(wish, self._tell, self._later)

        def work() -> None:
            end: Stopped | BaseException
            try:
                end = run.work(self._log, self._world)
            except BaseException as error:  # noqa: BLE001 — whoever awaits the end hears of it
                end = error
            # first: who hears of the end may begin another one at once
            del self._going[threading.current_thread()]
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, ended, end)

        # a process that ends does not wait for a provider: the next run finds this one gone
        thread = threading.Thread(target=work, name=f"run of {wish.session}", daemon=True)
        self._going[thread] = run
        thread.start()
        return await ended

    def stop(self, session: SessionId) -> bool:
        """Ask the run of a session to stop now: whether there was one to ask."""
        runs = [run for run in tuple(self._going.values()) if run.wish.session == session]
        for run in runs:
            run.stop()
        return bool(runs)

    def sessions(self) -> frozenset[SessionId]:
        """Those with a run of this process."""
        return frozenset(run.wish.session for run in tuple(self._going.values()))

    async def close(self) -> None:
        """Stop all runs, and wait until their ends are in the log."""
        going = dict(self._going)
        for run in going.values():
            run.stop()
        for thread in going:
            await asyncio.to_thread(thread.join, JOINED)


class Run:
    """One run: looks on for those who are connected, and can be stopped at any time."""

    def __init__(self, wish: Wish, tell: Tell, later: Later) -> None:
        self.wish = wish
        self._tell_all = tell
        self._pieces = Pieces(self._text, later)
        self._asked = threading.Event()
        self._waiting: queue.SimpleQueue[Reply | BaseException] | None = None
        self._iteration = 0

    def work(self, log: EventLog, world: RealWorld) -> Stopped:
        """All iterations."""
        return run_session(
            log,
            self.wish.session,
            self._mind_for,
            world,
            mode=self.wish.mode,
            iterations=self.wish.iterations,
            watcher=self,
            stop_asked=self._asked.is_set,
            gatherer=gatherer_for(log, self._problem),
            hooks=hooks_for(()),
            on_problem=self._problem,
        )

    def stop(self) -> None:
        """End it: what the mind has said so far is kept, and recorded as broken off."""
        self._asked.set()
        waiting = self._waiting
        if waiting is not None:
            waiting.put(KeyboardInterrupt())

    # what a mind is asked through

    def _mind_for(self, config: Config) -> Mind:
        return self.stoppable(mind_for(config, self.waiting, sleep=self._pause))

    def stoppable(self, mind: Mind) -> Mind:
        """The same mind, whose answer is no longer waited for once the run is to stop."""
        return Stoppable(mind, self._ask)

    def _pause(self, seconds: float) -> None:
        if self._asked.wait(seconds):
            _break_off()

    def _ask(self, mind: Mind, request: Request, listener: Listener | None) -> Reply:
        """Ask in a thread that can be left behind, as no provider can be hurried."""
        waiting: queue.SimpleQueue[Reply | BaseException] = queue.SimpleQueue()
        over = threading.Event()

        def hear(piece: str) -> None:
            if over.is_set():
                _break_off()
            if listener is not None:
                listener(piece)

        def ask() -> None:
            try:
                waiting.put(mind.reply(request, hear))
            except BaseException as error:  # noqa: BLE001 — raised again where it is waited for
                waiting.put(error)

        self._waiting = waiting
        try:
            if self._asked.is_set():
                _break_off()
            threading.Thread(target=ask, name="mind", daemon=True).start()
            answer = waiting.get()
        finally:
            self._waiting = None
            over.set()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    # looking on

    def asked(self, request: Request) -> None:
        """The mind is about to be asked."""
        self._iteration = request.iteration
        self._tell("began")

    def heard(self, piece: str) -> None:
        """A piece of the reply streamed in."""
        self._pieces.add(piece)

    def _text(self, text: str) -> None:
        self._send("text", text)

    def waiting(self, failure: MindFailed, pause: float) -> None:
        """An attempt failed, and another one follows."""
        self._tell("retry", f"{failure.sentence} Trying again in {pause:.0f} s.")

    def answered(self, reply: Reply | MindFailed) -> None:
        """Nothing: what is recorded says the same."""

    def recorded(self, done: Done) -> None:
        """The iteration is in the log."""
        for event in done.events:
            if isinstance(event, MindInvoked):
                self._iteration = event.iteration
                self._tell("ended", event.error or "", event)

    def _problem(self, sentence: str) -> None:
        self._tell("problem", sentence)

    def _tell(self, kind: str, text: str = "", event: MindInvoked | None = None) -> None:
        self._pieces.flush()
        self._send(kind, text, event)

    def _send(self, kind: str, text: str, event: MindInvoked | None = None) -> None:
        progress = {
            "session": self.wish.session,
            "iteration": self._iteration,
            "kind": kind,
            "text": text,
            "outcome": event.outcome if event else None,
            "tokensIn": event.tokens_in if event else None,
            "tokensOut": event.tokens_out if event else None,
            "costUsd": event.cost_usd if event else None,
            "latencyMs": event.latency_ms if event else None,
        }
        self._tell_all("run_progress", progress)


class Stoppable(NamedTuple):
    """A mind whose answer need not be waited for."""

    mind: Mind
    ask: Callable[[Mind, Request, Listener | None], Reply]

    @property
    def name(self) -> str:
        """The name of the mind that is asked."""
        return self.mind.name

    @property
    def dialect(self) -> Dialect:
        """The dialect of the mind that is asked."""
        return self.mind.dialect

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Ask, and wait for an answer or for the end of the run.

        Raises:
            KeyboardInterrupt: the run was stopped meanwhile, as Ctrl-C would have.
            MindFailed, MindUnavailable: as the mind raises them.
        """
        return self.ask(self.mind, request, listener)


def _break_off() -> NoReturn:
    raise KeyboardInterrupt


def _settle(ended: "asyncio.Future[Stopped]", end: Stopped | BaseException) -> None:
    if ended.done():
        return  # who waited has gone
    if isinstance(end, Exception):
        ended.set_exception(end)
    elif isinstance(end, BaseException):  # an event loop is not to be ended by what ended a run
        ended.set_exception(Broken(repr(end)))
    else:
        ended.set_result(end)
