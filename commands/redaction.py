"""Taking what was said out of the log for good, wherever it was said."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from commands.eventlog import EventLog
from commands.moments import find_exchange
from commands.world import World
from domain.events import (
    REDACTED,
    DetectorInvoked,
    DraftEmitted,
    Event,
    MessageSent,
    MindInvoked,
    ThoughtAdded,
    ThoughtEmbedded,
    ToolUsed,
)
from domain.events.thinking import unpacked
from domain.ids import SessionId
from domain.recorded import Draw, Recorded
from domain.texts import checked_text

SHORTEST = 12
"""Characters that a text needs for its copies to be looked for: ``+1`` stands everywhere."""


class Redaction(NamedTuple):
    """What was taken away."""

    events: tuple[Recorded, ...]
    """As they were before."""
    gone: bool
    """Whether the bytes are gone from the files; else another process was still reading."""


def redact_events(
    log: EventLog, events: Iterable[Recorded], reason: str, world: World
) -> Redaction:
    """Take the content of events away for good; that they happened, and their hashes, stay.

    Raises:
        BadText: the reason is none.
        NothingChanges: one of them is redacted already, or holds no content; nothing was done.
    """
    reason, chosen = checked_text(reason, "reason"), tuple(events)
    targets: dict[SessionId, list[int]] = {}
    for recorded in chosen:
        targets.setdefault(recorded.session, []).append(recorded.version)
    draw = Draw((), world.now(), world.actor, world.command_id())
    return Redaction(chosen, log.redact(targets, reason, draw))


def with_its_reply(log: EventLog, session: SessionId, version: int) -> list[Recorded]:
    """An event, and what else is made of the same text.

    That is the mind's raw reply, if it came from one, and the vectors that a thought got later,
    in its own session or in branches: a text can be guessed from its vector.
    """
    found = log.pick(session, [version])
    replies = [
        r.cause
        for r in found
        if isinstance(r.event, DraftEmitted | ThoughtAdded) and r.cause is not None
    ]
    more = [*log.pick(session, replies), *(v for r in found for v in _vectors(log, r))]
    return found + [r for r in more if has_content(r)]


def _vectors(log: EventLog, thought: Recorded) -> Iterator[Recorded]:
    if not isinstance(thought.event, ThoughtAdded):
        return
    where, version = thought.session, thought.version
    for session in log.relatives(where):
        own, *inherited = log.path(session)
        heirs = [part.stream for part in inherited if (part.upto or 0) >= version > part.after]
        if session == where or where in heirs:
            after = max(own.after, version)
            for recorded in log.read(session, after=after, kinds=["thought.embedded"]):
                event = recorded.event
                if isinstance(event, ThoughtEmbedded) and event.thought == version:
                    yield recorded


def whole_exchange(log: EventLog, session: SessionId, exchange: str, upto: int) -> list[Recorded]:
    """All that was said in an exchange: its message, its drafts, their replies, what tools said.

    Raises:
        NoSuchMoment, AmbiguousRef: there is none of that name, or several.
    """
    asked = find_exchange(log, session, exchange, upto=upto)
    if isinstance(asked.event, MessageSent):
        exchange = asked.event.exchange
    said = [asked]
    kinds = ("draft.emitted", "mind.invoked", "message.sent", "tool.used")
    following: int | None = None
    for recorded in log.read(session, after=asked.version, kinds=kinds):
        event = recorded.event
        if isinstance(event, MessageSent):
            if following:  # a late draft may come while the next exchange is open, not after it
                break
            following = recorded.version
        elif isinstance(event, DraftEmitted) and event.exchange == exchange:
            said += with_its_reply(log, session, recorded.version)
        elif isinstance(event, ToolUsed):
            said += [recorded] if event.exchange == exchange else []
        elif isinstance(event, MindInvoked) and asked.version <= event.based_on < (
            following or recorded.version
        ):
            said.append(recorded)
    unique = {(r.session, r.version): r for r in said if has_content(r)}
    return [unique[key] for key in sorted(unique)]


def has_content(recorded: Recorded) -> bool:
    """Whether there is something in an event that could be taken away."""
    return not recorded.redacted and recorded.event.redacted() != recorded.event


def copies(log: EventLog, of: Iterable[Recorded]) -> Iterator[Recorded]:
    """Other events of the whole store that hold the text of one of these; reads all of it."""
    known = {(r.session, r.version) for r in of}
    wanted = {_plain(text) for r in of for text in texts(r.event)}
    wanted = {text for text in wanted if len(text) >= SHORTEST}
    if not wanted:
        return
    for recorded in log.throughout():
        if recorded.redacted or (recorded.session, recorded.version) in known:
            continue
        own = [_plain(text) for text in texts(recorded.event)]
        if any(text in one for one in own for text in wanted):
            yield recorded


def texts(event: Event) -> list[str]:
    """What people or minds said in an event."""
    if isinstance(event, MindInvoked):
        return [event.output, *_flat(event.repairs), *_flat(event.error)]
    if isinstance(event, DetectorInvoked):
        return [*([unpacked(event.raw)] if event.raw else []), *_flat(event.error)]
    said = [_flat(getattr(event, name)) for name in event.content]
    return [text for some in said for text in some if text != REDACTED]


def _plain(text: str) -> str:
    """Without the line breaks and indents that a reply in YAML may have added."""
    return " ".join(text.split())


def _flat(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, tuple) else []
