"""Who plays in the tests that use a real log: a steady world, a mind with lines, a stage."""

import weakref
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commands.command import Command
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.handle import Done, handle
from commands.minds.mind import Listener, Mind, Reply, Request
from commands.runs import Stopped, run_session
from commands.sessions import start_session
from domain.actors import Actor
from domain.config import Config
from domain.events import Event
from domain.ids import CommandId, SessionId
from domain.protocol.prompts import Dialect
from domain.recorded import Recorded
from domain.session import Session

SATURDAY = datetime(2026, 5, 2, 10, 30, tzinfo=UTC)
STEP = 250_000
"""Microseconds between two looks at the clock."""

Line = str | Reply | BaseException | Callable[[Request, Listener], "Line"]
"""What a mind does when it is asked: say it, raise it, or do something first."""


class SteadyWorld:
    """A world in which nothing is left to chance: each look at the clock takes a quarter second."""

    def __init__(self, name: str = "ann") -> None:
        self.actor = Actor("user", name)
        self.time = int(SATURDAY.timestamp()) * 1_000_000
        self.wishes = int.from_bytes(name.encode()) << 32 if name != "ann" else 0

    def now(self) -> int:
        """A quarter of a second later than the last time."""
        self.time += STEP
        return self.time

    def local_time(self) -> datetime:
        """The same time, to the second."""
        return datetime.fromtimestamp(self.time // 1_000_000, UTC)

    def command_id(self) -> CommandId:
        """The next number."""
        self.wishes += 1
        return CommandId(self.wishes.to_bytes(16, "big"))

    def seed(self) -> int:
        """Always seven."""
        return 7


class Rehearsed:
    """A mind with lines: the n-th request meets the n-th line, and the last line stays."""

    def __init__(self, *lines: Line, name: str = "rehearsed", dialect: Dialect = "full") -> None:
        self.name, self.dialect = name, dialect
        self.lines = lines
        self.requests: list[Request] = []

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Play the next line."""
        line = self.lines[min(len(self.requests), len(self.lines) - 1)]
        self.requests.append(request)
        hear = listener or (lambda _: None)
        while callable(line):
            line = line(request, hear)
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, Reply):
            return line
        hear(line)
        return Reply(line, self.name, tokens_in=10, tokens_out=5, finish="stop")


class Stage:
    """A store with one session, and short words for what is done to it."""

    def __init__(self, directory: Path, session: str = "tides") -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.log = EventLog.create(directory)
        # whoever lets go of the stage has closed its files
        weakref.finalize(self, self.log.close)
        self.world = SteadyWorld()
        self.session = SessionId(session)

    def begins(self, message: str | None = "why two tides?", **settings: Any) -> "Stage":
        """The session starts, with a message that awaits an answer."""
        settings = {"model": "script:rehearsed", **settings}
        start_session(
            self.log,
            self.session,
            self.world,
            title=self.session,
            message=message,
            settings=settings,
        )
        return self

    def does(self, *wishes: Command) -> Done:
        """The user acts."""
        done = [handle(self.log, self.session, wish, self.world) for wish in wishes]
        return done[-1]

    def runs(self, *lines: Line, mind: Mind | None = None, **more: Any) -> Stopped:
        """The mind works until a rule stops it."""
        own = mind or Rehearsed(*lines)

        def mind_for(_: Config) -> Mind:
            return own

        return run_session(self.log, self.session, mind_for, self.world, **more)

    def answers(self, question: str, answer: str) -> None:
        """A whole exchange."""
        if self.state.dialogue.awaiting is None:
            self.does(SendMessage(text=question))
        self.runs(f"draft: {answer}")
        self.does(AcceptDraft())

    @property
    def state(self) -> Session:
        """How things stand."""
        return self.log.state(self.session)

    def history(self) -> list[Recorded]:
        """All that happened."""
        return list(self.log.read(self.session))

    def events(self, *classes: type[Event]) -> list[Any]:
        """All that happened of these classes."""
        return [r.event for r in self.history() if isinstance(r.event, classes)]


def kinds(history: Iterable[Recorded]) -> list[str]:
    """What happened, by kind."""
    return [r.event.kind for r in history]
