"""What led to an event: back along recorded causes, answers, picks and branches."""

from typing import Literal, NamedTuple

from domain.errors import NoSuchMoment, NoSuchSession
from domain.events import (
    ArtifactImported,
    DraftEmitted,
    EventNoted,
    FactLearned,
    MessageSent,
    MindInvoked,
    SessionForked,
    Source,
    ThoughtAdded,
)
from domain.ids import SessionId
from domain.lives import touched
from domain.log import Log
from domain.recorded import Recorded
from projections.timeline import summary

Way = Literal[
    "because of",
    "based on",
    "in answer to",
    "after",
    "branched at",
    "picked from",
    "came from",
    "tells of",
]
"""Why one event stands behind another: its recorded cause, the newest event that a mind was shown,
the message that awaited, the acceptance or iteration before, the moment of a branch, the event of
another session that was picked, the message that an artifact came from, the artifact that it tells
of."""


_PICKED = (MessageSent, DraftEmitted, ThoughtAdded, ArtifactImported, FactLearned, EventNoted)
"""What may have come from another session."""


class Told(NamedTuple):
    """An event in short."""

    session: SessionId
    """The branch whose stream holds it."""
    version: int
    at: int
    """Microseconds since 1970, UTC."""
    actor: str
    kind: str
    summary: str
    redacted: bool


class Step(NamedTuple):
    """An event that stands behind another one."""

    way: Way
    event: Told


class Picked(NamedTuple):
    """Where something was picked from."""

    session: str
    version: int
    hash: bytes
    here: bool
    """Whether the very same event is in this store, under that name."""


def told(recorded: Recorded) -> Told:
    """An event in short."""
    return Told(
        recorded.session,
        recorded.version,
        recorded.at,
        str(recorded.actor),
        recorded.event.kind,
        summary(recorded.event),
        recorded.redacted,
    )


def at_version(log: Log, session: SessionId, version: int) -> Recorded | None:
    """The event of a version; None where there is none."""
    return next(iter(log.pick(session, [version])), None)


def picked(log: Log, source: Source | None) -> Picked | None:
    """Where something was picked from, and whether that can be looked at."""
    if source is None:
        return None
    here = False
    name = SessionId(source.session)
    if log.exists(name):
        try:
            here = log.head(name, source.version).hash == source.hash
        except (NoSuchMoment, NoSuchSession):
            here = False
    return Picked(source.session, source.version, source.hash, here)


def awaiting_at(log: Log, session: SessionId, version: int) -> Recorded | None:
    """The newest message up to a version: what an invocation based on it was to answer."""
    return log.newest(session, ["message.sent"], upto=version)


def causes(log: Log, session: SessionId, start: Recorded, most: int) -> tuple[Step, ...]:
    """What led to an event, the nearest first, at most so many steps back.

    An act of the user has no cause. Where a mind was shown one last, the way goes on with what it
    was shown beside that: the iteration before, or the message that it was to answer; and from a
    message with the acceptance before it.
    """
    found: list[Step] = []
    recorded, shown = start, False
    while len(found) < most:
        before = _before(log, session, recorded, shown=shown)
        if before is None:
            break
        shown = shown or isinstance(recorded.event, MindInvoked)
        way, session, recorded = before
        found.append(Step(way, told(recorded)))
    return tuple(found)


_Before = tuple[Way, SessionId, Recorded]
"""An event that stands behind another, the session to look on in, and how they belong together."""


def _before(log: Log, session: SessionId, recorded: Recorded, *, shown: bool) -> _Before | None:
    before = (
        _elsewhere(log, recorded)
        or _message(log, session, recorded)
        or _cause(log, session, recorded)
        or _artifact(log, session, recorded)
    )
    if before is not None:
        return before
    if isinstance(recorded.event, MessageSent):
        accepted = log.newest(session, ["draft.accepted"], upto=recorded.version - 1)
        return ("after", session, accepted) if accepted is not None else None
    if not shown:
        return None
    kinds = ["mind.invoked", "message.sent"]
    earlier = log.newest(session, kinds, upto=recorded.version - 1)
    if earlier is None:
        return None
    answers = isinstance(earlier.event, MessageSent)
    return ("in answer to" if answers else "after"), session, earlier


def _elsewhere(log: Log, recorded: Recorded) -> _Before | None:
    """The event of another session that it was picked from."""
    event = recorded.event
    origin = picked(log, event.source) if isinstance(event, _PICKED) else None
    if origin is None or not origin.here:
        return None
    there = SessionId(origin.session)
    (source,) = log.pick(there, [origin.version])
    return "picked from", there, source


def _message(log: Log, session: SessionId, recorded: Recorded) -> _Before | None:
    """The newest message or draft that an artifact came from."""
    messages: tuple[int, ...] = getattr(recorded.event, "messages", ())
    for one in log.pick(session, [v for v in messages[-1:] if v < recorded.version]):
        return "came from", session, one
    return None


def _cause(log: Log, session: SessionId, recorded: Recorded) -> _Before | None:
    """The recorded cause."""
    cause = at_version(log, session, recorded.cause) if recorded.cause is not None else None
    if cause is None or cause.version >= recorded.version:
        return None
    way: Way = "because of"
    if isinstance(recorded.event, MindInvoked):
        way = "in answer to" if isinstance(cause.event, MessageSent) else "based on"
    elif isinstance(recorded.event, SessionForked):
        way = "branched at"
    return way, session, cause


def _artifact(log: Log, session: SessionId, recorded: Recorded) -> _Before | None:
    """The artifact that it tells of."""
    about = [id_ for id_ in touched(recorded.event)[:1] if id_ < recorded.version]
    for one in log.pick(session, about):
        return "tells of", session, one
    return None
