"""Small real stores: a still world, streams of thoughts, and a way behind the guards."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from commands.eventlog import EventLog
from domain.actors import Actor
from domain.config import Config
from domain.events import Caused, Event, SessionForked, SessionStarted, ThoughtAdded
from domain.ids import CommandId, SessionId
from domain.recorded import BEGINNING, Draw, Head

MAIN = SessionId("main")
ANN = Actor("user", "ann")
NOON = 1_750_000_000_000_000


@dataclass
class StillWorld:
    """Time moves only when it is told to, and chance counts."""

    actor: Actor = ANN
    at: int = NOON
    drawn: int = field(default=0)

    def now(self) -> int:
        """The time that was set."""
        return self.at

    def local_time(self) -> datetime:
        """The same as a datetime."""
        return datetime.fromtimestamp(self.at / 1e6, UTC)

    def command_id(self) -> CommandId:
        """The next of all ids."""
        self.drawn += 1
        return CommandId(self.drawn.to_bytes(16, "big"))

    def seed(self) -> int:
        """Always the same."""
        return 7


def draw(*events: Event, wish: int = 0, at: int = NOON) -> Draw:
    """Events as ann would record them."""
    return Draw([Caused(e) for e in events], at, ANN, CommandId(wish.to_bytes(16, "big")))


def started(title: str = "tides") -> SessionStarted:
    """The first event of a session."""
    return SessionStarted(title=title, config=Config().model_dump(), protocol="1.4", seed=7)


def thought(text: str) -> ThoughtAdded:
    """The smallest event that changes a state."""
    return ThoughtAdded(text=text, iteration=1, mind="user:ann", origin="injected")


def begin(log: EventLog, session: str = MAIN, *, events: int = 1, tag: str = "t") -> Head:
    """A session of so many events: its beginning and thoughts ``t2``, ``t3``, and so on."""
    thoughts = [thought(f"{tag}{n}") for n in range(2, events + 1)]
    return log.begin(SessionId(session), BEGINNING, draw(started(session), *thoughts))


def grow(log: EventLog, session: str, events: int, *, tag: str = "t") -> Head:
    """So many more thoughts, named by their versions, in one append."""
    after = log.head(SessionId(session)).version
    thoughts = [thought(f"{tag}{after + n}") for n in range(1, events + 1)]
    log.append(SessionId(session), after, draw(*thoughts, wish=(1 << 50) + after))
    return log.head(SessionId(session))


def branch(log: EventLog, parent: str, version: int, child: str) -> Head:
    """A fork of ``parent`` right after that version."""
    onto = log.head(SessionId(parent), version)
    forked = SessionForked(parent=parent, at_version=version, parent_hash=onto.hash)
    return log.begin(SessionId(child), onto, draw(forked, wish=(1 << 60) + version))


def pool(log: EventLog, session: str, version: int | None = None) -> list[str]:
    """The texts of the pool at a moment."""
    return [t.text for t in log.state(SessionId(session), version).pool.active]


@contextmanager
def raw(directory: Path, file: str = "log.db") -> Iterator[sqlite3.Connection]:
    """A connection that knows nothing of us; commits at the end."""
    with closing(sqlite3.connect(directory / file)) as connection:
        yield connection
        connection.commit()


@contextmanager
def unguarded(directory: Path) -> Iterator[sqlite3.Connection]:
    """The same without triggers and types: what an attacker, or a bad disk, can do."""
    with raw(directory) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall()
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_master SET sql=replace(sql, ' STRICT', '')")
        connection.commit()
    with raw(directory) as connection:
        yield connection
