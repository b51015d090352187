"""A store as anybody would write it down: no stream, no reference, no cache, only copies.

Every session has all of its events and every state it ever had, those of its ancestors included.
A redaction changes every copy and folds all that is behind it again; an import copies, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from commands.eventlog import Taken
from domain.events import Caused, EventRedacted
from domain.ids import CommandId, SessionId
from domain.recorded import Recorded
from domain.session import Session, evolve
from tests.strategies import USER, sealed


def the_same(found: Any, wanted: Any) -> None:
    """Check that two long things are equal; where not, name their first difference alone."""
    if found == wanted:
        return
    if isinstance(found, Session) and isinstance(wanted, Session):
        for name, one, other in zip(Session._fields, found, wanted, strict=True):
            assert one == other, f"{wanted.id}@{wanted.version}: {name}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=False)):
        assert one == other, f"number {number}"
    assert len(found) == len(wanted)
    raise AssertionError(found)


class Clock:
    """A world whose time moves only when it is told to."""

    actor = USER

    def __init__(self) -> None:
        self.time = 1_777_717_800_000_000
        self.wish = CommandId(bytes(16))

    def now(self) -> int:
        """What the clock shows."""
        return self.time

    def local_time(self) -> datetime:
        """The same."""
        return datetime.fromtimestamp(self.time / 1e6, UTC)

    def command_id(self) -> CommandId:
        """The wish that is being carried out."""
        return self.wish

    def seed(self) -> int:
        """Always seven."""
        return 7

    def tick(self, microseconds: int) -> None:
        """Time goes on, or back, and another wish is made."""
        self.time += microseconds
        self.wish = CommandId((int.from_bytes(self.wish, "big") + 1).to_bytes(16, "big"))


class Row(NamedTuple):
    """An event in the order of a store."""

    recorded: Recorded
    origin: str
    """Tells apart events that were written apart, in whatever store they are now."""


class Naive:
    """A store in a few lists and dictionaries."""

    def __init__(self, name: str) -> None:
        """An empty store; no two have the same ``name``."""
        self._name = name
        self.events: dict[SessionId, list[Recorded]] = {}
        self.states: dict[SessionId, list[Session]] = {}
        self.parents: dict[SessionId, tuple[SessionId, int]] = {}
        self.rows: list[Row] = []

    @property
    def feed(self) -> list[Recorded]:
        """All events in the order of the store."""
        return [row.recorded for row in self.rows]

    def own(self, session: SessionId) -> list[Row]:
        """What a session holds and does not inherit."""
        return [row for row in self.rows if row.recorded.session == session]

    def depth(self, session: SessionId) -> int:
        """How many forks are between a session and the one that it goes back to."""
        return len({recorded.session for recorded in self.events[session]}) - 1

    def family(self, sessions: Iterable[SessionId]) -> set[SessionId]:
        """Sessions, their branches, and the branches of those."""
        found = set(sessions)
        for child, (parent, _) in self.parents.items():  # in order of their beginnings
            if parent in found:
                found.add(child)
        return found

    def append(self, session: SessionId, events: Iterable[Caused], clock: Clock) -> None:
        """More has happened."""
        past, states = self.events.setdefault(session, []), self.states.setdefault(session, [])
        at = max(clock.now(), states[-1].at if states else 0)
        for recorded in sealed(session, len(past), at, list(events), clock.wish):
            self._put(recorded, f"{self._name} {len(self.rows)}")

    def fork(self, parent: SessionId, version: int, child: SessionId) -> None:
        """Copy everything, and fold it all again."""
        self.parents[child] = (parent, version)
        self.events[child], self.states[child] = self.events[parent][:version], []
        self._fold(child)

    def redact(
        self,
        targets: Mapping[SessionId, Sequence[int]],
        said: Callable[[Recorded], EventRedacted],
        clock: Clock,
    ) -> None:
        """Take content away from every copy, and say so at the end of what holds it.

        Args:
            targets: versions by the session that holds them.
            said: the word of it, for an event.
            clock: when.
        """
        for stream, versions in targets.items():
            gone = [self.events[stream][version - 1] for version in sorted(set(versions))]
            words = [Caused(said(recorded), recorded.version) for recorded in gone]
            self._empty({recorded.position for recorded in gone})
            self.append(stream, words, clock)

    def bundle(self, session: SessionId) -> dict[SessionId, list[Row]]:
        """What belongs into one file with a session, its branches and all before them.

        Of an ancestor that is what they share with it; and where an event in it is redacted, all
        up to the word of that.
        """
        upto: dict[SessionId, int] = {}
        for child in self.family([session]):
            for recorded in self.events[child]:
                known = upto.get(recorded.session, 0)
                upto[recorded.session] = max(recorded.version, known)
        return {stream: self._cut(stream, version) for stream, version in upto.items()}

    def _cut(self, stream: SessionId, last: int) -> list[Row]:
        own = self.own(stream)
        for recorded, _ in own:
            event = recorded.event
            if isinstance(event, EventRedacted) and event.version <= last:
                last = max(last, recorded.version)
        return [row for row in own if row.recorded.version <= last]

    def take_over(self, source: "Naive", session: SessionId, taken: Sequence[Taken]) -> None:
        """Check what an import of a session says that it did, and do the same."""
        bundle, names = source.bundle(session), dict[SessionId, SessionId]()
        assert sorted(one.session for one in taken) == sorted(bundle)
        for original, name, what, events, redacted in taken:
            theirs = bundle[original]
            twins = [stream for stream in self.events if self._is_same(stream, theirs)]
            news = theirs[len(self.own(name)) :] if twins else theirs
            assert events == len(news)
            assert what == ("new" if not twins else "longer" if news else "known")
            assert name in twins if twins else name not in self.events
            if not twins:
                assert name == original or original in self.events
                self._branch(source, original, name, names)
            names[original] = name
            for recorded, origin in news:
                self._put(recorded._replace(session=name), origin)
            words = [recorded.event for recorded, _ in news]
            gone = [event.version for event in words if isinstance(event, EventRedacted)]
            assert redacted == self._empty(
                {self.events[name][version - 1].position for version in gone}
            )

    def _branch(
        self,
        source: "Naive",
        original: SessionId,
        name: SessionId,
        names: Mapping[SessionId, SessionId],
    ) -> None:
        """Begin a session from elsewhere with what it inherits, if it does."""
        parent, at = source.parents.get(original, (None, 0))
        if parent is not None and parent not in names:  # nothing of it is shared
            parent = source.events[original][at - 1].session
        if parent is not None:
            self.fork(names[parent], at, name)

    def _is_same(self, stream: SessionId, theirs: list[Row]) -> bool:
        """Whether a stream and one from elsewhere are the same as far as both go."""
        both = zip(self.own(stream), theirs, strict=False)
        return all(ours.origin == other.origin for ours, other in both)

    def _put(self, recorded: Recorded, origin: str) -> None:
        session = recorded.session
        whole = recorded._replace(position=len(self.rows) + 1)
        self.rows.append(Row(whole, origin))
        self.events.setdefault(session, []).append(whole)
        self.states.setdefault(session, [])
        self._fold(session, len(self.events[session]) - 1)

    def _empty(self, positions: set[int]) -> int:
        """Take content away from every copy; of how many events it had not been before."""
        count = 0
        for position in positions:
            whole, origin = self.rows[position - 1]
            if not whole.redacted:
                empty = whole._replace(event=whole.event.redacted(), redacted=True)
                self.rows[position - 1] = Row(empty, origin)
                count += 1
        for session, past in self.events.items():
            touched = [n for n, recorded in enumerate(past) if recorded.position in positions]
            for n in touched:
                past[n] = self.rows[past[n].position - 1].recorded
            if touched:
                self._fold(session, touched[0])
        return count

    def _fold(self, session: SessionId, after: int = 0) -> None:
        """Every state behind the first so many events, anew."""
        states = self.states[session]
        del states[after:]
        for recorded in self.events[session][after:]:
            states.append(evolve(states[-1] if states else None, recorded))
