"""A process on some host that writes to a store, or follows it, and says what it was told.

``python -m tests.faults.host_driver PLACE SESSION`` reads words: ``append`` and ``exclusively``
write one note each; ``hold`` is ``exclusively`` too, and waits in its middle for another word;
``on`` appends, and ``turns`` writes exclusively, without end. The session ``follow`` writes
nothing: it says each event that it hears of.

Each line it prints is JSON. A line with ``text`` stands only after the log has acknowledged it.
"""

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from commands.sessions import start_session
from commands.world import RealWorld
from domain.actors import Actor
from domain.errors import LogosphereError
from domain.events import Caused, NoteAdded
from domain.ids import SessionId
from domain.recorded import Draw
from domain.session import Session

PACE = 0.004
"""Seconds between the end of a write and the next one: a few hosts share two cores here."""


def say(**told: Any) -> None:
    """One line."""
    print(json.dumps({**told, "at": time.monotonic()}), flush=True)


def failed(error: LogosphereError) -> None:
    """One line about what could not be done."""
    say(failed=type(error).__name__, why=error.sentence)


class Writer:
    """Writes notes to one session, in several ways."""

    def __init__(self, log: EventLog, session: SessionId) -> None:
        self.log, self.session = log, session
        self.world = RealWorld(Actor("user", session))
        self.ways: dict[str, Callable[[Draw], Session]] = {
            "append": self.append,
            "exclusively": self.exclusively,
            "hold": self.hold,
        }
        self._texts = (f"{session} {os.getpid()} {number}" for number in itertools.count(1))
        if not log.exists(session):
            start_session(log, session, self.world)

    def append(self, draw: Draw) -> Session:
        """Write behind what is there, unless this wish is there already."""
        state = self.log.state(self.session)
        if draw.command in state.commands:
            return state
        return self.log.append(self.session, state.version, draw)

    def exclusively(self, draw: Draw) -> Session:
        """Write while nobody else can."""
        return self.log.exclusively(self.session, lambda state: _unless_there(draw, state))

    def hold(self, draw: Draw) -> Session:
        """The same, with a pause in between."""

        def held(state: Session) -> Draw | None:
            say(held=True)
            sys.stdin.readline()
            return _unless_there(draw, state)

        return self.log.exclusively(self.session, held)

    def note(self, way: str) -> None:
        """Write one note until it is acknowledged; under one id, so that it is there once."""
        text = next(self._texts)
        event = NoteAdded(text=text, iteration=0)
        world = self.world
        draw = Draw((Caused(event),), world.now(), world.actor, world.command_id())
        while True:
            try:
                state = self.ways[way](draw)
            except LogosphereError as error:
                failed(error)
                way = "exclusively" if way == "hold" else way
            else:
                say(text=text, version=state.version)
                return

    def obey(self, word: str) -> None:
        """Do what a word says."""
        if word in self.ways:
            self.note(word)
            return
        while True:
            self.note({"on": "append", "turns": "exclusively"}[word])
            time.sleep(PACE)


def _unless_there(draw: Draw, state: Session) -> Draw | None:
    return None if draw.command in state.commands else draw


def follow(log: EventLog) -> None:
    """Say each event of the store, from the first one on."""
    try:
        for recorded in log.follow(0, threading.Event()):
            say(position=recorded.position, session=recorded.session, version=recorded.version)
    except LogosphereError as error:
        failed(error)


def main(place: str, session: str) -> None:
    """Open the store, and do as told."""
    with EventLog(place_of(place)) as log:
        if session == "follow":
            say(ready=True)
            follow(log)
            return
        writer = Writer(log, SessionId(session))
        say(ready=True)
        for line in iter(sys.stdin.readline, ""):
            writer.obey(line.strip())


if __name__ == "__main__":
    main(*sys.argv[1:])
