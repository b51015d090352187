"""From a wish to events: read, decide, append, and again when somebody else was faster."""

from contextlib import suppress
from typing import Any, Generic, NamedTuple, TypeVar, overload

from commands.command import Command, Decides
from commands.world import World
from domain.actors import Actor
from domain.errors import LostRace, Refused
from domain.events import Caused, Event
from domain.ids import CommandId, SessionId
from domain.log import Log
from domain.recorded import Draw
from domain.session import Session
from domain.streams import Stream

S = TypeVar("S")

RACES = 4
"""Lost races after which a wish is decided while nobody else can write: being unlucky ends."""


class Fulfilled(NamedTuple, Generic[S]):
    """What came of a wish: the state behind it, and the events it became."""

    state: S
    events: tuple[Event, ...]


Done = Fulfilled[Session]


@overload
def handle(
    log: Log,
    stream: SessionId,
    command: Command,
    world: World,
    *,
    by: Actor | None = None,
    command_id: CommandId | None = None,
) -> Done: ...


@overload
def handle(
    log: Log,
    stream: Stream[S],
    command: Decides[S],
    world: World,
    *,
    by: Actor | None = None,
    command_id: CommandId | None = None,
) -> Fulfilled[S]: ...


def handle(
    log: Log,
    stream: SessionId | Stream[Any],
    command: Any,
    world: World,
    *,
    by: Actor | None = None,
    command_id: CommandId | None = None,
) -> Fulfilled[Any]:
    """Fulfil a wish, durably, all of it or nothing.

    Args:
        log: where the stream lives.
        stream: which session, or other stream.
        command: the wish.
        world: time, chance and the present user.
        by: who wishes it; the present user unless said otherwise.
        command_id: repeats of a wish under the same id are fulfilled once.

    Raises:
        Refused: the wish can't be fulfilled as things are.
        StoreIsBusy, StoreIsFull, StoreIsReadOnly: the log could not take it.
    """
    session = stream.id if isinstance(stream, Stream) else stream
    wish = command_id or world.command_id()
    decided: list[Caused] = []

    def decide(state: Any) -> Draw | None:
        decided.clear()
        if wish not in state.commands:
            decision = command.decide(state)
            decided.extend(e if isinstance(e, Caused) else Caused(e) for e in decision)
        if not decided:
            return None
        # time never runs backwards within a session, whatever the clock does
        return Draw(tuple(decided), max(world.now(), state.at), by or world.actor, wish)

    # what is remembered is mostly still true, and an append proves it; a refusal proves nothing
    remembered = log.remembered(session)
    if remembered is not None:
        with suppress(Refused, LostRace):
            draw = decide(remembered)
            if draw is not None:
                done = log.append(session, remembered.version, draw, upon=remembered)
                return Done(done, _events(decided))
    for _ in range(RACES):
        state = log.state(session)
        draw = decide(state)
        if draw is None:
            return Done(state, ())
        try:
            return Done(log.append(session, state.version, draw), _events(decided))
        except LostRace:
            continue
    return Done(log.exclusively(session, decide), _events(decided))


def _events(decided: list[Caused]) -> tuple[Event, ...]:
    return tuple(caused.event for caused in decided)
