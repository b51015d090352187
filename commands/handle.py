"""From a wish to events: read, decide, append, and again when somebody else was faster."""

import random
import time
from typing import NamedTuple

from commands.command import Command
from commands.world import World
from domain.actors import Actor
from domain.errors import LostRace
from domain.events import Caused, Event
from domain.ids import CommandId, SessionId
from domain.log import Draw, Log
from domain.session import Session

RACES = 50
"""Lost races in a row after which a wish is given up; the loser's odds improve with each."""


class Done(NamedTuple):
    """What came of a wish: the state behind it, and the events it became."""

    state: Session
    events: tuple[Event, ...]


def handle(
    log: Log,
    session: SessionId,
    command: Command,
    world: World,
    *,
    by: Actor | None = None,
    command_id: CommandId | None = None,
) -> Done:
    """Fulfil a wish, durably, all of it or nothing.

    Args:
        log: where the session lives.
        session: which session.
        command: the wish.
        world: time, chance and the present user.
        by: who wishes it; the present user unless said otherwise.
        command_id: repeats of a wish under the same id are fulfilled once.

    Raises:
        Refused: the wish can't be fulfilled as things are.
        LostRace: others kept being faster.
    """
    wish = command_id or world.command_id()
    for attempt in range(RACES):
        state = log.state(session)
        if wish in state.commands:
            return Done(state, ())
        events = [e if isinstance(e, Caused) else Caused(e) for e in command.decide(state)]
        if not events:
            return Done(state, ())
        # time never runs backwards within a session, whatever the clock does
        at = max(world.now(), state.at)
        try:
            log.append(session, state.version, Draw(events, at, by or world.actor, wish))
        except LostRace:
            time.sleep(random.uniform(0, 0.002 * (attempt + 1)))  # noqa: S311 — no secret
            continue
        return Done(log.state(session), tuple(caused.event for caused in events))
    raise LostRace(f"Others kept writing to session {session!r}: try again.")
