"""The replay proof: all that was ever shown or kept comes out of the log again as it was.

One pass over each stream, whatever the number of sessions that share it: the state is folded along
the way, each prompt is rendered again from the state that it was based on, each draw of thoughts
is drawn again, and each kept state is compared with the one that was folded.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from pydantic import BaseModel

from domain.errors import NoSuchMoment
from domain.events import MindInvoked
from domain.ids import SessionId
from domain.log import Log
from domain.protocol.observe import thoughts_limit
from domain.recorded import Recorded
from domain.sampling import sample
from domain.session import Session, evolve
from projections.prompts import prompt_hash, redacted, reprompt

STATES_HELD = 64
"""States behind the newest one that are at hand: so much may happen while a mind is at work."""

DIFFERENCES_TOLD = 20

Kept = Callable[[SessionId], Iterable[tuple[int, Session | None]]]
"""The states that are kept of a stream, in order of versions; None where one can't be read."""

What = Literal["prompt", "sample", "state"]


class Tally(NamedTuple):
    """How many there were, and how they came out."""

    equal: int = 0
    different: int = 0
    unproven: int = 0
    """What they were made from was redacted since, or can't be read."""

    @property
    def checked(self) -> int:
        """All of them."""
        return sum(self)


class Difference(NamedTuple):
    """Something that does not come out as it was."""

    what: What
    session: SessionId
    version: int
    """Of the invocation, or of the state."""
    iteration: int
    recorded: str
    """The prompt's sha256, the thoughts that were drawn, or the value that is kept."""
    found: str
    """The same, from the log as it is now."""
    where: tuple[str, ...] = ()
    """The parts of a state that differ, or the place of the first other thought."""


class Proof(NamedTuple):
    """What a replay of some sessions came to."""

    sessions: tuple[SessionId, ...]
    events: int = 0
    prompts: Tally = Tally()
    samples: Tally = Tally()
    """Draws that depend on nothing but the pool: those without recall."""
    states: Tally = Tally()
    other_system_prompts: int = 0
    """Invocations that were told something else beforehand than this version would tell."""
    differences: tuple[Difference, ...] = ()
    """The first of them, in order."""

    @property
    def holds(self) -> bool:
        """Whether nothing came out otherwise."""
        return not (self.prompts.different or self.samples.different or self.states.different)


def prove(log: Log, sessions: Iterable[SessionId], kept: Kept) -> Proof:
    """Replay sessions from their beginnings, ancestors included, each stream once.

    Args:
        log: where they live.
        sessions: whose history is looked at.
        kept: gives the states that are kept of a stream.

    Raises:
        NoSuchSession: one of them is not there.
        StoreIsDamaged: the log can't be read to the end.
    """
    wanted = tuple(dict.fromkeys(sessions))
    replayed = _Replayed(log, kept, wanted)
    for part in _parts(log, wanted):
        replayed.stream(part)
    return replayed.proof


class _Part(NamedTuple):
    """A stream as far as it is looked at."""

    stream: SessionId
    after: int
    parent: SessionId | None
    """The stream that holds the event before it."""
    upto: int | None
    branches: frozenset[int]
    """Versions behind which others branch off."""


def _parts(log: Log, sessions: Iterable[SessionId]) -> Iterator[_Part]:
    """The streams of these histories, each behind the ones that it descends from."""
    parts: dict[SessionId, _Part] = {}
    for session in sessions:
        parent: SessionId | None = None
        for stream, after, upto in reversed(log.path(session)):
            known = parts.get(stream, _Part(stream, after, parent, upto or 0, frozenset()))
            end = None if upto is None or known.upto is None else max(upto, known.upto)
            branches = known.branches if upto is None else known.branches | {upto}
            parts[stream] = known._replace(upto=end, branches=branches)
            parent = stream
    yield from parts.values()


class _Held(NamedTuple):
    """A state, and those shortly before it."""

    state: Session | None
    recent: OrderedDict[int, Session]


class _Replayed:
    """What has come out so far."""

    def __init__(self, log: Log, kept: Kept, sessions: tuple[SessionId, ...]) -> None:
        self._log, self._kept = log, kept
        self.proof = Proof(sessions)
        self._branching: dict[tuple[SessionId, int], _Held] = {}

    def stream(self, part: _Part) -> None:
        """Replay one stream."""
        state: Session | None = None
        recent: OrderedDict[int, Session] = OrderedDict()
        if part.parent is not None:
            state, recent = self._branching[part.parent, part.after]
            recent = recent.copy()
        kept = iter(self._kept(part.stream))
        waiting = next(kept, None)
        count = 0
        for recorded in self._log.read(part.stream, after=part.after, upto=part.upto):
            if isinstance(recorded.event, MindInvoked):
                self._invocation(part.stream, recorded, recorded.event, recent)
            state = evolve(state, recorded)
            count += 1
            recent[state.version] = state
            if len(recent) > STATES_HELD:
                recent.popitem(last=False)
            while waiting is not None and waiting[0] <= state.version:
                self._state(part.stream, state, *waiting)
                waiting = next(kept, None)
            if state.version in part.branches:
                self._branching[part.stream, state.version] = _Held(state, recent.copy())
        if state is not None and part.upto is None:
            if waiting is not None:
                self._state(part.stream, state, *waiting)
            # and what the log itself would answer now
            version = state.version
            self._state(part.stream, state, version, self._log.state(part.stream, version))
        self.proof = self.proof._replace(events=self.proof.events + count)

    def _invocation(
        self,
        stream: SessionId,
        recorded: Recorded,
        event: MindInvoked,
        recent: OrderedDict[int, Session],
    ) -> None:
        state = recent.get(event.based_on) or self._earlier(stream, event.based_on)
        if state is None:
            nothing = Difference(
                *("prompt", stream, recorded.version, event.iteration),
                *(event.prompt_hash.hex(), "", (f"there is no event {event.based_on}",)),
            )
            self._count("prompts", nothing)
            return
        again = reprompt(self._log, stream, recorded, state)
        differs = None
        if not again.matches:
            found = prompt_hash(again.text).hex()
            differs = Difference(
                *("prompt", stream, recorded.version, event.iteration),
                *(event.prompt_hash.hex(), found),
            )
        gone = differs is not None and bool(redacted(self._log, stream, recorded))
        self._count("prompts", differs, unproven=gone)
        if not again.system_matches:
            others = self.proof.other_system_prompts + 1
            self.proof = self.proof._replace(other_system_prompts=others)
        if state.config.sampling == "uniform" and not event.recalled:
            self._sample(stream, recorded, event, state)

    def _earlier(self, stream: SessionId, version: int) -> Session | None:
        try:
            return self._log.state(stream, version) if version > 0 else None
        except NoSuchMoment:
            return None

    def _sample(
        self, stream: SessionId, recorded: Recorded, event: MindInvoked, state: Session
    ) -> None:
        drawn = sample(state.pool, thoughts_limit(state), event.seed).thoughts
        found, told = tuple(thought.version for thought in drawn), event.sampled
        differs = None
        if found != told:
            pairs = enumerate(zip(found, told, strict=False), 1)
            place = next((n for n, (a, b) in pairs if a != b), min(len(found), len(told)) + 1)
            differs = Difference(
                *("sample", stream, recorded.version, event.iteration),
                *(_versions(told), _versions(found), (f"thought {place} of the sample",)),
            )
        gone = differs is not None and bool(redacted(self._log, stream, recorded))
        self._count("samples", differs, unproven=gone)

    def _state(self, stream: SessionId, state: Session, version: int, kept: Session | None) -> None:
        """Compare a kept state with the one at its version, or, where there is none, nearby."""
        differs = None
        if kept is not None and (version != state.version or kept != state):
            parts = list(differing(kept, state)) or [Differing("version", str(version), "")]
            differs = Difference(
                *("state", stream, version, state.iteration),
                *(parts[0].one, parts[0].other),
                tuple(part.path for part in parts[:DIFFERENCES_TOLD]),
            )
        self._count("states", differs, unproven=kept is None)

    def _count(
        self,
        of: Literal["prompts", "samples", "states"],
        differs: Difference | None,
        *,
        unproven: bool = False,
    ) -> None:
        proof, tally = self.proof, getattr(self.proof, of)
        if unproven:
            tally = tally._replace(unproven=tally.unproven + 1)
        elif differs is None:
            tally = tally._replace(equal=tally.equal + 1)
        else:
            tally = tally._replace(different=tally.different + 1)
            if len(proof.differences) < DIFFERENCES_TOLD:
                proof = proof._replace(differences=(*proof.differences, differs))
        self.proof = proof._replace(**{of: tally})


def _versions(thoughts: tuple[int, ...]) -> str:
    return " ".join(map(str, thoughts))


class Differing(NamedTuple):
    """Two values at the same place of two states."""

    path: str
    one: str
    other: str


def differing(one: object, other: object, path: str = "") -> Iterator[Differing]:
    """Where two states differ, part by part: ``pool.active.3.text``."""
    if type(one) is type(other):
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            names = getattr(one, "_fields", range(len(one)))
            for name, first, second in zip(names, one, other, strict=True):
                yield from differing(first, second, f"{path}.{name}" if path else str(name))
            return
        if isinstance(one, BaseModel) and isinstance(other, BaseModel):
            for name in type(one).model_fields:
                first, second = getattr(one, name), getattr(other, name)
                yield from differing(first, second, f"{path}.{name}")
            return
    if one != other:
        yield Differing(path, repr(one), repr(other))
