"""Where the words of a message, a draft or an artifact were taken over: for a redaction.

A look of the detector and the words that routed an exchange hold what was said itself, and later
events of an artifact hold its words again. What was made of a message, artifacts and summaries, is
in words of its own, and may tell as much.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.events import (
    ArtifactEdited,
    ArtifactRecalled,
    ContextCompacted,
    DetectorInvoked,
    DraftEmitted,
    Event,
    ExchangeRouted,
    MessageSent,
    Source,
)
from domain.ids import ExchangeId, SessionId
from domain.lives import brought
from domain.log import Log
from domain.recorded import Recorded
from domain.titles import title_of

_COPIES = ("artifact.edited", "artifact.recalled")
"""What holds words of an artifact again, or new ones; what brings it back comes last."""

_HEARD = ("detector.invoked", "exchange.routed")
_MADE = ("effort.opened", "effort.resolved", "effort.reopened", "fact.learned", "event.noted")
_IMPORTED = ("artifact.imported", "effort.resolved", "fact.learned", "event.noted")
_FOLLOWED = ("artifact.edited",)
_TITLES = ("session.started", "session.renamed")

_Name = tuple[SessionId, int]


class Traces(NamedTuple):
    """Events that hold the words of others."""

    same: tuple[Recorded, ...]
    """Those that hold the very words, in the same branch or those that inherit it."""
    made: tuple[Recorded, ...]
    """What was made of them: artifacts, summaries, copies in other sessions."""


def traces(log: Log, of: Iterable[Recorded], sessions: Iterable[SessionId] | None = None) -> Traces:
    """Where the words of these events were taken over, whatever they became there.

    Reads by kind what came after each of them, in its session and in branches that inherit it.
    """
    chosen = list(of)
    heirs = _Heirs(log, log.sessions() if sessions is None else sessions)
    known: set[_Name] = {_name(recorded) for recorded in chosen}
    same = _new(known, (r for one in chosen for r in _repeated(heirs, one)))
    made: list[Recorded] = []
    waiting = [*chosen, *same]
    while waiting:
        found = _new(known, (r for one in waiting for r in _made(heirs, one)))
        # what was made of it was edited, recalled and imported in turn
        found += _new(known, (r for one in found for r in _repeated(heirs, one)))
        made += found
        waiting = found
    return Traces(tuple(same), tuple(made))


class _Heirs:
    """Who goes on with what a stream held at some version."""

    def __init__(self, log: Log, sessions: Iterable[SessionId]) -> None:
        self.log = log
        self._paths = {session: log.path(session) for session in sessions}

    def later(self, one: Recorded, kinds: Iterable[str]) -> Iterator[Recorded]:
        """Events of these kinds behind one, in its stream and in branches that inherit it."""
        kinds = list(kinds)
        for session, (own, *inherited) in self._paths.items():
            if session == one.session:
                yield from self.log.read(session, after=one.version, kinds=kinds)
            elif any(
                part.stream == one.session and (part.upto or 0) >= one.version > part.after
                for part in inherited
            ):
                yield from self.log.read(session, after=own.after, kinds=kinds)

    def copies(self, one: Recorded) -> Iterator[Recorded]:
        """Events of all sessions that say that they are from this one."""
        hash_: bytes | None = None
        for session, (own, *_) in self._paths.items():
            for recorded in self.log.read(session, after=own.after, kinds=_IMPORTED):
                source = getattr(recorded.event, "source", None)
                if isinstance(source, Source) and source.version == one.version:
                    if hash_ is None:
                        hash_ = self.log.head(one.session, one.version).hash
                    if source.hash == hash_:
                        yield recorded

    def followers(self, one: Recorded) -> Iterator[Recorded]:
        """Edits of imported artifacts that took over the words of an artifact's edit."""
        for session, (own, *_) in self._paths.items():
            for recorded in self.log.read(session, after=own.after, kinds=_FOLLOWED):
                source = getattr(recorded.event, "source", None)
                if (
                    isinstance(source, Source)
                    and source.version >= one.version
                    and isinstance(recorded.event, ArtifactEdited)
                    and self._is_copy_of(recorded, one)
                ):
                    yield recorded

    def _is_copy_of(self, edit: Recorded, one: Recorded) -> bool:
        theirs, mine = edit.event, one.event
        if not isinstance(theirs, ArtifactEdited) or not isinstance(mine, ArtifactEdited):
            return False
        words = {mine.text, mine.resolution} - {None}
        return bool(words & {theirs.text, theirs.resolution})


def _repeated(heirs: _Heirs, one: Recorded) -> Iterator[Recorded]:
    """Later events that hold the very words of one."""
    event = one.event
    exchange = _exchange(event)
    if exchange is not None:
        for recorded in heirs.later(one, _HEARD):
            later = recorded.event
            if isinstance(later, DetectorInvoked | ExchangeRouted) and later.exchange == exchange:
                yield recorded
    is_first = brought(event, one.version) is not None
    artifact = one.version if is_first else _about(event)
    if artifact is not None:
        # of an artifact as such all words go; of later words those that came back with it
        for recorded in heirs.later(one, _COPIES if is_first else _COPIES[1:]):
            if getattr(recorded.event, "artifact", None) == artifact:
                yield recorded
    if one.cause is not None and event.kind in _MADE:
        # the look of the detector that it came from: its reply holds the words
        for cause in heirs.log.pick(one.session, [one.cause]):
            if isinstance(cause.event, DetectorInvoked):
                yield cause


def _made(heirs: _Heirs, one: Recorded) -> Iterator[Recorded]:
    """What was made of an event."""
    yield from _named_after(heirs.log, one)
    exchange = _exchange(one.event)
    if exchange is not None:
        for recorded in heirs.later(one, (*_MADE, "context.compacted")):
            event = recorded.event
            if isinstance(event, ContextCompacted):
                if event.summary is not None and exchange in event.exchanges:
                    yield recorded
            elif one.version in getattr(event, "messages", ()):
                yield recorded
    if brought(one.event, one.version) is not None or one.event.kind in _IMPORTED:
        yield from heirs.copies(one)
    if isinstance(one.event, ArtifactEdited):
        yield from heirs.followers(one)


def _named_after(log: Log, one: Recorded) -> Iterator[Recorded]:
    """The title that a session got from a message."""
    title = title_of(one.event.text) if isinstance(one.event, MessageSent) else None
    if title is not None:
        for recorded in log.read(one.session, kinds=_TITLES):
            if getattr(recorded.event, "title", None) == title:
                yield recorded


def _exchange(event: Event) -> ExchangeId | None:
    return event.exchange if isinstance(event, MessageSent | DraftEmitted) else None


def _about(event: Event) -> int | None:
    """The artifact whose words an event holds beside the one that brought it."""
    if isinstance(event, ArtifactEdited | ArtifactRecalled):
        return event.artifact
    if event.kind == "effort.resolved":
        effort: int = getattr(event, "effort", 0)
        return effort
    return None


def _name(recorded: Recorded) -> _Name:
    return recorded.session, recorded.version


def _new(known: set[_Name], found: Iterable[Recorded]) -> list[Recorded]:
    """Those that are not known yet, that say something, and that are known from now on."""
    fresh = []
    for recorded in found:
        says = not recorded.redacted and recorded.event.redacted() != recorded.event
        if says and _name(recorded) not in known:
            known.add(_name(recorded))
            fresh.append(recorded)
    return fresh
