"""The branches of a store: who branched off whom and where, and how far each has come.

No state is loaded. What a branch did not change itself is what held where it branched off, looked
up by index once for all branches of that moment; so a thousand forks cost little more each than
the one event that made them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from domain.errors import NoSuchSession
from domain.events import (
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    MindInvoked,
    SessionArchived,
    SessionLabelled,
    SessionRenamed,
    SessionStarted,
)
from domain.ids import ExchangeId, SessionId
from domain.log import Log
from domain.recorded import Recorded, Segment

_TITLE = ("session.started", "session.renamed")
_INVOKED = ("mind.invoked",)
_TURN = ("message.sent", "draft.accepted")
_DRAFT = ("draft.emitted",)
_LABEL = ("session.labelled",)
_ARCHIVE = ("session.archived", "session.restored")


class Place(NamedTuple):
    """Where in a dialogue a moment is."""

    version: int
    iteration: int
    """The newest one; 0 before the first."""
    exchange: ExchangeId | None
    """The newest one; None before the first message."""
    drafting: bool
    """Whether that exchange is open."""
    drafts: int
    """Of the open exchange."""


class Branch(NamedTuple):
    """A session among the others."""

    session: SessionId
    title: str
    titled: bool
    """Whether it got this title itself; else it is its parent's where it branched off."""
    parent: SessionId | None
    """Whose event it branched off; None for one that began with nothing."""
    fork: Place | None
    """Where it branched off."""
    now: Place
    events: int
    """Its own, without those that it shares with its parent."""
    at: int
    """When its newest event happened, microseconds since 1970, UTC."""
    label: str | None
    """The newest that it was given itself."""
    label_version: int | None
    archived: bool


class Twig(NamedTuple):
    """A branch in the drawn tree."""

    branch: Branch
    last: tuple[bool, ...]
    """For each level from the root's children down to it: whether it is the last there."""


def branches(log: Log) -> list[Branch]:
    """All sessions, in order of their beginnings."""
    looks = _Looks(log)
    return [looks.branch(session) for session in log.sessions()]


def branch(log: Log, session: SessionId) -> Branch:
    """One session.

    Raises:
        NoSuchSession: it is not there.
    """
    return _Looks(log).branch(session)


def visible(found: Sequence[Branch], current: SessionId | None) -> list[Branch]:
    """The branches without those that were put away, unless others hang on them.

    Args:
        found: all branches; a parent need not stand before its children.
        current: always shown.
    """
    by_name = {branch.session: branch for branch in found}
    kept: set[SessionId] = set()
    for each in found:
        if each.archived and each.session != current:
            continue
        step: Branch | None = each
        while step is not None and step.session not in kept:
            kept.add(step.session)
            step = by_name.get(step.parent) if step.parent else None
    return [branch for branch in found if branch.session in kept]


def drawn(found: Iterable[Branch]) -> Iterator[Twig]:
    """The branches as a tree, parents first; a branch whose parent is missing is a root."""
    listed = list(found)
    names = {branch.session for branch in listed}
    children: dict[SessionId | None, list[Branch]] = {}
    for each in listed:
        parent = each.parent if each.parent in names else None
        children.setdefault(parent, []).append(each)
    # a stack, so that a chain of forks may be of any length
    waiting = [Twig(root, ()) for root in reversed(children.get(None, []))]
    while waiting:
        twig = waiting.pop()
        yield twig
        below = children.get(twig.branch.session, [])
        waiting += reversed(
            [Twig(child, (*twig.last, child is below[-1])) for child in below],
        )


class _Looks:
    """Look-ups that remember what they found for the moments that branches share."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._found: dict[tuple[SessionId, int | None, tuple[str, ...]], Recorded | None] = {}
        self._places: dict[tuple[SessionId, int | None], Place] = {}

    def branch(self, session: SessionId) -> Branch:
        """What is known of one session.

        Raises:
            NoSuchSession: it is not there.
        """
        path = self._log.path(session)
        own, inherited = path[0], path[1:]
        newest = self._own(own, None)
        if newest is None:
            raise NoSuchSession(session)
        fork = self._place(inherited, own.after) if inherited else None
        # a branch to which nothing has happened yet stands where it branched off
        fresh = fork is not None and newest.version == own.after + 1
        label = None if fresh else _event(self._own(own, _LABEL))
        away = None if fresh else _event(self._own(own, _ARCHIVE))
        title = self._newest(inherited if fresh else path, _TITLE)
        return Branch(
            session,
            _title(title) or session,
            title is not None and title.session == session,
            inherited[0].stream if inherited else None,
            fork,
            fork._replace(version=newest.version)
            if fork is not None and fresh
            else self._place(path, newest.version),
            newest.version - own.after,
            newest.at,
            label.label if isinstance(label, SessionLabelled) else None,
            label.version if isinstance(label, SessionLabelled) else None,
            isinstance(away, SessionArchived),
        )

    def _place(self, path: Sequence[Segment], version: int) -> Place:
        """Where the end of a path is."""
        key = path[0].stream, path[0].upto
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = self._placed(path, version)
        return known

    def _placed(self, path: Sequence[Segment], version: int) -> Place:
        invoked = _event(self._newest(path, _INVOKED))
        iteration = invoked.iteration if isinstance(invoked, MindInvoked) else 0
        turn = self._newest(path, _TURN)
        match turn.event if turn is not None else None:
            case MessageSent(exchange=exchange):
                drafts = self._drafts(path, exchange)
                return Place(version, iteration, exchange, drafting=True, drafts=drafts)
            case DraftAccepted(exchange=exchange):
                return Place(version, iteration, exchange, drafting=False, drafts=0)
            case _:
                return Place(version, iteration, None, drafting=False, drafts=0)

    def _drafts(self, path: Sequence[Segment], exchange: ExchangeId) -> int:
        """The index of the newest draft of an exchange that is open at the end of a path."""
        newest = _event(self._newest(path, _DRAFT))
        if isinstance(newest, DraftEmitted) and newest.exchange == exchange:
            return newest.index
        return 0

    def _newest(self, path: Sequence[Segment], kinds: tuple[str, ...]) -> Recorded | None:
        """The newest event of these kinds up to the end of a path."""
        found, passed = None, []
        for segment in path:
            key = segment.stream, segment.upto, kinds
            if key in self._found:
                found = self._found[key]
                break
            passed.append(key)
            found = self._own(segment, kinds)
            if found is not None:
                break
        self._found.update(dict.fromkeys(passed, found))
        return found

    def _own(self, segment: Segment, kinds: tuple[str, ...] | None) -> Recorded | None:
        """The newest event of these kinds in one segment."""
        stream, after, upto = segment
        events = self._log.read(
            stream, after=after, upto=upto, kinds=kinds, newest_first=True, page=1
        )
        return next(iter(events), None)


def _event(recorded: Recorded | None) -> Event | None:
    return recorded.event if recorded is not None else None


def _title(recorded: Recorded | None) -> str:
    event = _event(recorded)
    return event.title if isinstance(event, SessionStarted | SessionRenamed) else ""
