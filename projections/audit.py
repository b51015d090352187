"""The audit: who did what to a session, when, through which command, and what came of it.

An intervention is what one actor did with one wish. What the mind does by itself is none; a run is
one, and so is everything that a person, an agent, a hook or the system did meanwhile.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeVar

from domain.actors import SYSTEM, Actor
from domain.errors import LogosphereError
from domain.events import DraftEmitted, MindInvoked, RunStarted, SessionForked, Source, ThoughtAdded
from domain.ids import CommandId, SessionId
from domain.log import Log
from domain.recorded import Look, Recorded, Segment
from domain.rounds import Looking, together
from domain.server_errors import StoreIsUnreachable
from projections.deeds import Book, Deed, branch, vectors

T = TypeVar("T")

VERBS = {
    "session.started": "new",
    "replay.begun": "replay",
    "session.forked": "fork",
    "event.redacted": "redact",
    "mind.invoked": "run",
    "run.started": "run",
    "run.stopped": "run",
    "message.sent": "message",
    "draft.accepted": "accept",
    "draft.seen": "drafts seen",
    "exchanges.pruned": "prune",
    "signal.changed": "signal",
    "thought.added": "think",
    "thought.embedded": "embed",
    "config.changed": "config",
    "note.added": "note",
    "session.labelled": "label",
    "session.renamed": "rename",
    "session.archived": "archive",
    "session.restored": "archive",
    "effort.resolved": "effort resolve",
    "effort.reopened": "effort reopen",
    "effort.opened": "effort open",
    "effort.branched": "effort work",
    "effort.focused": "effort work",
    "effort.expanded": "effort expand",
    "effort.collapsed": "effort collapse",
    "fact.superseded": "fact supersede",
    "fact.learned": "fact learn",
    "event.noted": "event note",
    "artifact.imported": "artifact import",
    "artifact.edited": "artifact edit",
    "artifact.merged": "artifact merge",
    "artifact.rejected": "artifact reject",
    "artifact.linked": "artifact link",
    "artifact.excluded": "artifact exclude",
    "exchange.routed": "artifact route",
    "artifact.recalled": "artifact recall",
}
"""The command behind a wish: that of the first of these kinds that the wish became.

A wish that brought something from another branch is a ``pick``; the first session of a store began
by ``init``; see :func:`command_of`.
"""

KINDS = frozenset(VERBS) - {"mind.invoked"} | {"draft.emitted"}
"""Kinds of events that can be a deed."""

Time = tuple[int, int]
"""When something happened: microseconds since 1970, and the place in the store where these are
equal. Places alone tell nothing where sessions were imported."""

_ALWAYS: Time = (2**62, 0)


class Intervention(NamedTuple):
    """What one actor did with one wish."""

    session: SessionId
    """The session whose stream holds it: for inherited ones an ancestor, for forks the branch."""
    version: int
    """Of their first event."""
    last: int
    """The last version of the wish, as far as it is part of this history."""
    position: int
    at: int
    """Microseconds since 1970, UTC."""
    actor: Actor
    command: str
    """``accept``, ``run -b`` …: what was typed, or its like on other surfaces."""
    wish: CommandId
    deeds: tuple[Deed, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what was done."""
        return tuple(dict.fromkeys(deed.kind for deed in self.deeds))

    @property
    def what(self) -> str:
        """What was done, on one line."""
        return "; ".join(dict.fromkeys(deed.what for deed in self.deeds if deed.what))

    @property
    def effect(self) -> str:
        """What came of it, on one line."""
        return "; ".join(dict.fromkeys(deed.effect for deed in self.deeds if deed.effect))


class Wanted(NamedTuple):
    """Which interventions are asked for; all of them, unless something is said."""

    by: str | None = None
    """``user``, ``user:ann``, ``agent:hook`` …: an actor, or the beginning of one."""
    kinds: Collection[str] = ()
    after: int = 0
    until: int | None = None
    """Only those that began at ``after < version <= until``."""
    since_at: int | None = None
    until_at: int | None = None
    """The times that these versions stand for, if they do, in microseconds since 1970: a branch
    has no version of its parent. Without them it counts from its moment on to the next event."""

    def covers(self, version: int) -> bool:
        """Whether one that began there is in time."""
        return version > self.after and not self.is_over(version - 1)

    def is_over(self, version: int) -> bool:
        """Whether none that begins behind a version is in time."""
        return self.until is not None and version >= self.until

    def takes(self, actor: Actor, kinds: Collection[str]) -> bool:
        """Whether it is one of theirs and of these kinds."""
        return acts(self.by, actor) and (not self.kinds or any(k in self.kinds for k in kinds))


def acts(by: str | None, actor: Actor) -> bool:
    """Whether an actor is meant by ``user``, ``user:ann`` or the like."""
    return by is None or f"{actor}:".startswith(f"{by}:")


def actors(log: Log, session: SessionId, upto: int | None = None) -> list[Actor]:
    """Everybody who ever acted; looks at the whole history."""
    return sorted({recorded.actor for recorded in log.read(session, upto=upto)})


def command_of(wish: Sequence[Recorded], running: str) -> str:
    """Through which command a wish was made; the log keeps what it became, not its name.

    Args:
        wish: its events.
        running: the command of the run that holds the session.
    """
    kinds = {recorded.event.kind for recorded in wish}
    verb = next((verb for kind, verb in VERBS.items() if kind in kinds), "")
    if verb == "run" or acts("agent:hook", wish[0].actor):
        begun = [r.event for r in wish if isinstance(r.event, RunStarted)]
        return _run(begun[0].mode) if begun else running
    if verb == "new" and wish[0].position == 1:
        return "init"
    if any(isinstance(getattr(r.event, "source", None), Source) for r in wish):
        return verb if verb.startswith(("effort", "fact", "artifact")) else "pick"
    if verb == "think" and any(getattr(r.event, "origin", None) == "imported" for r in wish):
        return "import"
    return verb


class Audit:
    """The interventions of a session, as of a moment; inherited ones are part of its history."""

    def __init__(self, log: Log, session: SessionId, upto: int | None = None) -> None:
        self._log, self._session, self._upto = log, session, upto

    def all(self, wanted: Wanted = Wanted()) -> Iterator[Intervention]:
        """Those that are wanted, oldest first, each with all that came of it up to the moment.

        Goes once through the history behind ``wanted.after``, and holds back what may still get
        an effect, with all that follows: a thought that was put into the pool may be shown again
        at any time, a run is over when it stops.
        """
        start = self._beginning(wanted.after)
        book = Book.begun_at(self._log, self._session, start)
        branches = deque(self._branches(wanted))
        rows: deque[Intervention] = deque()
        for wish in self._wishes(start):
            while branches and _time(branches[0][0]) < _time(wish[0]):
                rows.append(self._off(book, branches.popleft()))
            for row in _interventions(book, wish):
                if wanted.covers(row.version) and wanted.takes(row.actor, row.kinds):
                    rows.append(row)
                else:
                    _finished(book, row)
            while rows and not any(deed.position in book.open for deed in rows[0].deeds):
                yield _finished(book, rows.popleft())
            if wanted.is_over(wish[-1].version) and not rows and not branches:
                return
        book.close()
        rows += [self._off(book, begun) for begun in branches]
        yield from (_finished(book, row) for row in rows)

    def newest(self, count: int, wanted: Wanted = Wanted()) -> list[Intervention]:
        """The last so many of those that are wanted, oldest first.

        Looks only at what has happened since the first of them, unless ``wanted`` is rare.
        """
        since = max(wanted.after, self._since(count, wanted))
        return list(deque(self.all(wanted._replace(after=since)), maxlen=count))

    def _since(self, count: int, wanted: Wanted) -> int:
        """A version behind which at least so many of them began, if there are so many."""
        ends = [end for end in (wanted.until, self._upto) if end is not None]
        # vectors are mostly no deed of their own; not to count them reaches too far, never too near
        kinds = KINDS - {"thought.embedded"}
        found: set[tuple[CommandId, Actor]] = set()
        for recorded in self._log.read(
            self._session,
            after=wanted.after,
            upto=min(ends, default=None),
            kinds=kinds,
            newest_first=True,
        ):
            event = recorded.event
            if isinstance(event, ThoughtAdded) and event.origin == "mind":
                continue
            if isinstance(event, DraftEmitted) and event.source is None:
                continue
            if wanted.takes(recorded.actor, (event.kind,)):
                if len(found) == count and (recorded.command, recorded.actor) not in found:
                    return self._beginning(recorded.version)
                found.add((recorded.command, recorded.actor))
        return 0

    def _wishes(self, after: int) -> Iterator[tuple[Recorded, ...]]:
        events = self._log.read(self._session, after=after, upto=self._upto)
        for _, wish in groupby(events, key=lambda recorded: recorded.command):
            yield tuple(wish)

    def _beginning(self, version: int) -> int:
        """The version before the wish that a version belongs to."""
        first: Recorded | None = None
        for recorded in self._log.read(self._session, upto=version, newest_first=True, page=32):
            if first is not None and recorded.command != first.command:
                break
            first = recorded
        return first.version - 1 if first is not None else 0

    def _time(self, version: int) -> Time | None:
        return next((_time(r) for r in self._log.pick(self._session, [version])), None)

    def _over(self, version: int | None) -> Time:
        """When the moment of a version was over: it lasts until the next event."""
        return _ALWAYS if version is None else self._time(version + 1) or _ALWAYS

    def _branches(self, wanted: Wanted) -> list[list[Recorded]]:
        """How the branches began that were made off this history while it was this one.

        A branch off an ancestor counts if it was made before the way to this session parted, and
        at a moment that this session sees.
        """
        if "session.forked" not in (wanted.kinds or KINDS):
            return []
        over: dict[SessionId, Time] = {}
        for stream, after, upto in self._path():
            ends = [end for end in (upto, self._upto) if end is not None]
            if self._upto is None or after < self._upto:
                over[stream] = self._over(min(ends, default=None))
        low, high = self._span(wanted)

        def begun(name: SessionId, after: int) -> Looking[list[Recorded]]:
            """The first events of a branch, if it is one that is asked for."""
            first = yield Look(Segment(name, after, after + 1))
            if first is None or not acts(wanted.by, first.actor):
                return []
            if not low < _time(first) < min(high, over.get(self._parent(first), low)):
                return []
            second = yield Look(Segment(name, after + 1, after + 2))
            return [r for r in (first, second) if r is not None and r.command == first.command]

        names = [name for name in self._log.relatives(self._session) if name not in over]
        asking = [partial(begun, *left) for left in self._left(names)]
        found = [wish for wish in _readable(self._log, asking) if wish]
        return sorted(found, key=lambda wish: _time(wish[0]))

    def _span(self, wanted: Wanted) -> tuple[Time, Time]:
        """Behind and before what a branch that is wanted was made."""
        low, high = self._time(wanted.after) or (0, 0), self._over(wanted.until)
        if wanted.since_at is not None:
            low = max(low, (wanted.since_at, _ALWAYS[0]))
        if wanted.until_at is not None:
            high = min(high, (wanted.until_at, _ALWAYS[0]))
        return low, high

    def _left(self, names: Sequence[SessionId]) -> list[tuple[SessionId, int]]:
        """Those that branched off a moment that is visible here, and its versions."""
        found = []
        with suppress(LogosphereError):  # met again below
            self._log.paths(names)
        for name in names:
            with suppress(LogosphereError):  # damage elsewhere is told by whoever reads there
                own, *above = self._log.path(name)
                if above and _holder(self._path(), own.after) == above[0].stream:
                    found.append((name, own.after))
        return found

    def _parent(self, first: Recorded) -> SessionId:
        """From where a branch was made: the session that was named, if the moment is one of its.

        An import may have renamed it; then it is the one that holds the moment.
        """
        at = first.version - 1
        holder = self._log.path(first.session)[1].stream
        named = SessionId(first.event.parent if isinstance(first.event, SessionForked) else "")
        with suppress(LogosphereError):
            if _holder(self._log.path(named), at) == holder:
                return named
        return holder

    def _off(self, book: Book, wish: Sequence[Recorded]) -> Intervention:
        """A branch that others made."""
        first = wish[0]
        if isinstance(first.event, SessionForked):
            book.enter(first, branch(first, first.event))
        return _row(book, command_of(wish, ""), first.version, first.actor, [first])

    def _path(self) -> tuple[Segment, ...]:
        return self._log.path(self._session)


def _readable(log: Log, asking: Sequence[Callable[[], Looking[T]]]) -> Iterator[T]:
    """What comes of each that meets nothing damaged."""
    try:
        yield from together([ask() for ask in asking], log.newest_of)
    except StoreIsUnreachable:
        raise
    except LogosphereError:
        for ask in asking:
            with suppress(LogosphereError):  # as in Audit._left
                yield from together([ask()], log.newest_of)


def _interventions(book: Book, wish: tuple[Recorded, ...]) -> list[Intervention]:
    """What each of those who had a part in a wish did with it."""
    running = _run(book.run.mode if book.run is not None else "observe")
    doers: dict[Actor, list[Recorded]] = {}
    for recorded in wish:
        if book.take(recorded):
            doers.setdefault(recorded.actor, []).append(recorded)
    if not doers and isinstance(wish[0].event, MindInvoked):
        return []
    command = command_of(wish, running)
    given = vectors(wish) if command == "embed" else None
    if given is not None:
        book.enter(*given)
        doers.setdefault(next(iter(doers), SYSTEM), []).append(given[0])
    return [_row(book, command, wish[-1].version, actor, did) for actor, did in doers.items()]


def _row(
    book: Book, command: str, last: int, actor: Actor, did: Sequence[Recorded]
) -> Intervention:
    first, deeds = did[0], tuple(book.deeds[recorded.position] for recorded in did)
    return Intervention(
        first.session,
        first.version,
        last,
        first.position,
        first.at,
        actor,
        command,
        first.command,
        deeds,
    )


def _finished(book: Book, row: Intervention) -> Intervention:
    """The row with what came of it, which the book may forget now."""
    return row._replace(deeds=tuple(book.deeds.pop(deed.position) for deed in row.deeds))


def _time(recorded: Recorded) -> Time:
    return recorded.at, recorded.position


def _run(mode: str) -> str:
    return "run -b" if mode == "background" else "run"


def _holder(path: Sequence[Segment], version: int) -> SessionId | None:
    """The stream that holds a version of a session."""
    return next(
        (s.stream for s in path if s.after < version and (s.upto is None or version <= s.upto)),
        None,
    )
