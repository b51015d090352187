"""A store of many sessions, with branches of branches, written quickly."""

from collections.abc import Iterator
from pathlib import Path

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.sessions import start_session
from domain.events import Caused, Event, SignalChanged
from domain.ids import SessionId, exchange_id
from domain.recorded import Draw
from domain.session import Session
from tests.domain.happened import accepted, asked, drafted, invoked, thought
from tests.stories.cast import SteadyWorld

EVENTS = 6
"""Of one exchange."""

AT_ONCE = 20
"""Exchanges of one append."""


def grown(directory: Path, sessions: int, exchanges: int) -> Path:
    """A store with so many sessions; every fourth branches off the one before it.

    The last of each four branches off that branch, so that there are forks of forks.
    """
    directory.mkdir()
    with EventLog.create(directory) as log:
        grow(log, sessions, exchanges)
    return directory


def grow(log: EventLog, sessions: int, exchanges: int) -> None:
    """The same in a store that is there."""
    world = SteadyWorld()
    for number in range(sessions):
        name = SessionId(f"s{number:04d}")
        if number % 4 < 2:
            start_session(log, name, world, settings={"model": f"script:{number % 3}"})
        else:
            parent = SessionId(f"s{number - 1:04d}")
            fork_session(log, parent, log.head(parent).version - 3, name, world)
        say(log, name, world, exchanges)


def grow_until(directory: Path, end: Path) -> None:
    """Sessions begin and go on, for a process of its own, until there is a file."""
    world, number = SteadyWorld("ben"), 0
    with EventLog(directory) as log:
        while not end.exists():
            number += 1
            session = SessionId(f"more-{number}")
            start_session(log, session, world)
            for name in (session, SessionId("s0001"), SessionId("s0002")):
                say(log, name, world, 1)


def say(log: EventLog, session: SessionId, world: SteadyWorld, exchanges: int) -> None:
    """So many more exchanges, some of them in one append."""
    state = log.state(session)
    while exchanges > 0:
        some = min(exchanges, AT_ONCE)
        starts = range(state.version, state.version + some * EVENTS, EVENTS)
        events = [Caused(event) for start in starts for event in _exchange(start, state)]
        draw = Draw(events, world.now(), world.actor, world.command_id())
        state = log.append(session, state.version, draw)
        exchanges -= some


def _exchange(version: int, state: Session) -> Iterator[Event]:
    iteration = version + 1  # grows, which is all that counts here
    name = exchange_id(iteration, 0)
    known = version % 5 != 0
    yield asked("why two tides a day, and not one?", name, iteration)
    yield SignalChanged(presence="reviewing", time="Sat 10:30", iteration=iteration)
    yield invoked(
        iteration,
        model=state.config.model,
        tokens_in=100 + version,
        tokens_out=20,
        cost_usd=0.1 * version if known else None,
    )
    yield thought(f"the far bulge is the surprising half of {version}", iteration)
    text = f"The Moon pulls the near water more than the Earth: {version}."
    yield drafted(1, text, iteration, exchange=name)
    yield accepted(1, name)
