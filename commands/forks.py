"""Branching: one event, whatever the length of history."""

from collections.abc import Iterable

from commands.world import World
from domain.errors import BadSetting
from domain.events import Caused, Event, SessionForked
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Draw, Head
from domain.texts import checked_text


def fork_session(
    log: Log,
    parent: SessionId,
    version: int,
    child: SessionId,
    world: World,
    *,
    reason: str | None = None,
    then: Iterable[Event] = (),
) -> Head:
    """Begin ``child`` with the parent's history up to ``version``, by reference.

    The parent is untouched, and nothing is copied. It may be the middle of an exchange. What
    happens ``then`` is part of the beginning: there is no branch without it.

    Raises:
        SessionExists: the child's name is taken.
        NoSuchSession, NoSuchMoment: there is nothing to branch off.
        BadText: the reason is none.
    """
    if reason is not None:
        reason = checked_text(reason, "reason")
    if version < 1:
        raise BadSetting("A branch needs at least the first event of a session.")
    onto, last = log.onto(parent, version)
    at = max(world.now(), last.at)
    forked = SessionForked(parent=parent, at_version=version, parent_hash=onto.hash, reason=reason)
    begun = [Caused(forked, version), *(Caused(event, version + 1) for event in then)]
    draw = Draw(begun, at, world.actor, world.command_id())
    return log.begin(child, onto, draw)
