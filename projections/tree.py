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
from domain.recorded import Look, Recorded, Segment
from domain.rounds import Looking, together

_TITLE = ("session.started", "session.renamed")
_INVOKED = ("mind.invoked",)
_TURN = ("message.sent", "draft.accepted")
_DRAFT = ("draft.emitted",)
_LABEL = ("session.labelled",)
_ARCHIVE = ("session.archived", "session.restored")

_TOGETHER = 512
"""Branches that are asked about at once: what is found for them is held until all are told."""


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


def branches(log: Log, sessions: Iterable[SessionId] | None = None) -> list[Branch]:
    """These sessions; all of them by default, in order of their beginnings."""
    return _told(log, log.sessions() if sessions is None else list(sessions))


def branch(log: Log, session: SessionId) -> Branch:
    """One session.

    Raises:
        NoSuchSession: it is not there.
    """
    return _told(log, [session])[0]


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


def _told(log: Log, sessions: Sequence[SessionId]) -> list[Branch]:
    looks = _Looks(log)
    paths = zip(sessions, log.paths(sessions), strict=True)
    asking = [looks.branch(session, path) for session, path in paths]
    parts = (asking[first : first + _TOGETHER] for first in range(0, len(asking), _TOGETHER))
    return [told for part in parts for told in together(part, log.newest_of)]


class _Looks:
    """What has to be known of branches, and what was found for the moments that they share."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._found: dict[tuple[SessionId, int | None, tuple[str, ...]], Recorded | None] = {}
        self._places: dict[tuple[SessionId, int | None], Place] = {}

    def branch(self, session: SessionId, path: Sequence[Segment]) -> Looking[Branch]:
        """What is known of one session.

        Raises:
            NoSuchSession: it is not there.
        """
        own, inherited = path[0], path[1:]
        newest = yield Look(own)
        if newest is None:
            raise NoSuchSession(session)
        fork = (yield from self._place(inherited, own.after)) if inherited else None
        # a branch to which nothing has happened yet stands where it branched off
        fresh = fork is not None and newest.version == own.after + 1
        label = None if fresh else _event((yield Look(own, _LABEL)))
        away = None if fresh else _event((yield Look(own, _ARCHIVE)))
        title = yield from self._newest(inherited if fresh else path, _TITLE)
        return Branch(
            session,
            _title(title) or session,
            title is not None and title.session == session,
            inherited[0].stream if inherited else None,
            fork,
            fork._replace(version=newest.version)
            if fork is not None and fresh
            else (yield from self._place(path, newest.version)),
            newest.version - own.after,
            newest.at,
            label.label if isinstance(label, SessionLabelled) else None,
            label.version if isinstance(label, SessionLabelled) else None,
            isinstance(away, SessionArchived),
        )

    def _place(self, path: Sequence[Segment], version: int) -> Looking[Place]:
        """Where the end of a path is."""
        key = path[0].stream, path[0].upto
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = yield from self._placed(path, version)
        return known

    def _placed(self, path: Sequence[Segment], version: int) -> Looking[Place]:
        invoked = _event((yield from self._newest(path, _INVOKED)))
        iteration = invoked.iteration if isinstance(invoked, MindInvoked) else 0
        turn = yield from self._newest(path, _TURN)
        match turn.event if turn is not None else None:
            case MessageSent(exchange=exchange):
                drafts = yield from self._drafts(path, version, exchange)
                return Place(version, iteration, exchange, drafting=True, drafts=drafts)
            case DraftAccepted(exchange=exchange):
                return Place(version, iteration, exchange, drafting=False, drafts=0)
            case _:
                return Place(version, iteration, None, drafting=False, drafts=0)

    def _drafts(self, path: Sequence[Segment], version: int, exchange: ExchangeId) -> Looking[int]:
        """The index of the newest draft of an exchange that is open at the end of a path."""
        newest = _event((yield from self._newest(path, _DRAFT)))
        if isinstance(newest, DraftEmitted) and newest.late:
            # it answers an exchange before this one, and may stand behind drafts of this one
            drafts = self._log.read(
                path[0].stream, upto=version, kinds=_DRAFT, newest_first=True, page=8
            )
            events = (recorded.event for recorded in drafts)
            newest = next((e for e in events if not (isinstance(e, DraftEmitted) and e.late)), None)
        if isinstance(newest, DraftEmitted) and newest.exchange == exchange:
            return newest.index
        return 0

    def _newest(self, path: Sequence[Segment], kinds: tuple[str, ...]) -> Looking[Recorded | None]:
        """The newest event of these kinds up to the end of a path."""
        found, passed = None, []
        for segment in path:
            key = segment.stream, segment.upto, kinds
            if key in self._found:
                found = self._found[key]
                break
            passed.append(key)
            found = yield Look(segment, kinds)
            if found is not None:
                break
        self._found.update(dict.fromkeys(passed, found))
        return found


def _event(recorded: Recorded | None) -> Event | None:
    return recorded.event if recorded is not None else None


def _title(recorded: Recorded | None) -> str:
    event = _event(recorded)
    return event.title if isinstance(event, SessionStarted | SessionRenamed) else ""
