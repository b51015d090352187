"""The state of the shelf: the artifacts that a mind may be shown, and where the talk stands.

Only what may be shown lies here: what was evicted, superseded, merged or rejected has left, and is
read from the log when somebody asks. What comes back brings its words along in its event.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from domain.events import (
    ArtifactEdited,
    ArtifactExcluded,
    ArtifactImported,
    ArtifactLinked,
    ArtifactMerged,
    ArtifactRecalled,
    ArtifactRejected,
    ArtifactsEvicted,
    ContextCompacted,
    DetectorInvoked,
    EffortBranched,
    EffortCollapsed,
    EffortExpanded,
    EffortFocused,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    FactSuperseded,
    MessageSent,
    Source,
)
from domain.events.artifacts import ArtifactType, Outcome
from domain.ids import ExchangeId

Status = Literal["open", "resolved", "current"]

MOST = 200
"""Artifacts on the shelf; the commands evict long before, this is the last bound."""

THREADS = 128
"""Exchanges of which the state knows where they belong: some more than it has texts of."""


class Artifact(NamedTuple):
    """Something of value that came out of a conversation."""

    id: int
    """The version of the event that brought it."""
    type: ArtifactType
    text: str
    """The goal, the statement, what happens, or the summary."""
    status: Status
    turn: int
    """The user's turn at which it came."""
    referenced: int
    """The user's turn that last spoke of it."""
    resolution: str | None = None
    outcome: Outcome | None = None
    parent: int | None = None
    when: str | None = None
    expires: str | None = None
    expanded: bool = False
    """The exchanges of a concluded effort are shown all the same."""
    excluded: bool = False
    """Kept from the mind."""
    branch: str | None = None
    """The session in which this effort is worked on alone."""
    origin: Source | None = None
    """The event of another session that brought it there."""
    follows: int | None = None
    """The version of its origin's session that its words are from, where it follows them."""

    @property
    def is_open(self) -> bool:
        """Whether it is an effort that goes on."""
        return self.status == "open"


class Place(NamedTuple):
    """Where an exchange belongs."""

    exchange: ExchangeId
    effort: int | None = None
    stands: int | None = None
    """The artifact that stands for it, once it was compacted."""


class Shelf(NamedTuple):
    """What lies there, oldest first, and how the newest exchanges belong to it."""

    artifacts: tuple[Artifact, ...] = ()
    turns: int = 0
    """How many messages the user has sent."""
    exchange: ExchangeId | None = None
    """The one that the talk is at: of the newest message, or of an older one that is looked at."""
    turn: int = 0
    """Its turn, counted from 1."""
    effort: int | None = None
    """The effort that the talk is about."""
    focus: int | None = None
    """The effort that this whole session is about, where it is the branch of one."""
    threads: tuple[Place, ...] = ()
    """Where the newest exchanges belong, oldest first; those that belong nowhere are left out."""
    spent: float = 0.0
    """US dollars that looking has cost."""

    def get(self, id_: int) -> Artifact | None:
        """The artifact of that id, if it lies here."""
        return next((a for a in self.artifacts if a.id == id_), None)

    @property
    def open_efforts(self) -> tuple[Artifact, ...]:
        """Efforts that go on, oldest first."""
        return tuple(a for a in self.artifacts if a.is_open)

    def effort_of(self, exchange: ExchangeId) -> int | None:
        """The effort that an exchange belongs to, while the state knows."""
        return next((p.effort for p in reversed(self.threads) if p.exchange == exchange), None)

    def stands_for(self, exchange: ExchangeId) -> int | None:
        """The artifact that stands for a compacted exchange."""
        return next((p.stands for p in reversed(self.threads) if p.exchange == exchange), None)

    def thread(self, effort: int) -> tuple[ExchangeId, ...]:
        """The newest exchanges that belong to an effort, oldest first."""
        return tuple(place.exchange for place in self.threads if place.effort == effort)


def evolve(shelf: Shelf, event: Event, version: int) -> Shelf:
    """The shelf after one of the events of :data:`EVOLVE`."""
    return EVOLVE[type(event)](shelf, event, version)


def sent(shelf: Shelf, event: MessageSent) -> Shelf:
    """One more turn of the user; in the branch of an effort it is the effort's."""
    turn = shelf.turns + 1
    shelf = shelf._replace(turns=turn, exchange=event.exchange, turn=turn)
    if shelf.focus is None:
        return shelf
    return _threaded(shelf, [event.exchange], effort=shelf.focus)._replace(effort=shelf.focus)


def _opened(shelf: Shelf, event: EffortOpened, version: int) -> Shelf:
    """An effort begins, with the exchange that it came from."""
    shelf = _put(
        shelf, _new(shelf, version, "effort", event.goal, "open")._replace(parent=event.parent)
    )
    if event.exchange is None:
        return shelf
    return _threaded(shelf, [event.exchange], effort=version)._replace(effort=version)


def _resolved(shelf: Shelf, event: EffortResolved) -> Shelf:
    """An effort ends; the talk is in its parent again, if that goes on."""
    artifact = shelf.get(event.effort)
    shelf = _changed(
        shelf,
        event.effort,
        status="resolved",
        resolution=event.resolution,
        outcome=event.outcome,
        referenced=shelf.turn,
        expanded=False,
    )
    if shelf.effort != event.effort:
        return shelf
    parent = shelf.get(artifact.parent) if artifact and artifact.parent else None
    return shelf._replace(effort=parent.id if parent and parent.is_open else None)


def _reopened(shelf: Shelf, effort: int) -> Shelf:
    """An effort goes on, and its exchanges are what the talk is about."""
    return _changed(
        shelf, effort, status="open", resolution=None, outcome=None, referenced=shelf.turn
    )._replace(effort=effort)


def _expanded(shelf: Shelf, effort: int, *, shown: bool) -> Shelf:
    """The exchanges of a concluded effort are shown, or no longer."""
    turn = {"referenced": shelf.turn} if shown else {}
    return _changed(shelf, effort, expanded=shown, **turn)


def _focused(shelf: Shelf, effort: int) -> Shelf:
    """From now on this session is about one effort."""
    return _changed(shelf, effort, branch=None)._replace(focus=effort, effort=effort)


def _learned(shelf: Shelf, event: FactLearned, version: int) -> Shelf:
    """A fact."""
    fact = _new(shelf, version, "fact", event.statement, "current")
    return _put(shelf, fact._replace(when=event.since, parent=event.effort, origin=event.source))


def _noted(shelf: Shelf, event: EventNoted, version: int) -> Shelf:
    """An event."""
    one = _new(shelf, version, "event", event.what, "current")
    return _put(shelf, one._replace(when=event.when, expires=event.expires, origin=event.source))


def _edited(shelf: Shelf, event: ArtifactEdited) -> Shelf:
    """Other words; what is None stays."""
    new = {
        name: value
        for name in ("text", "resolution", "when", "expires")
        if (value := getattr(event, name)) is not None
    }
    if event.source is not None:
        new["follows"] = event.source.version
    return _changed(shelf, event.artifact, **new)


def _merged(shelf: Shelf, event: ArtifactMerged) -> Shelf:
    """One stands for both: what belonged to the other belongs to it."""
    shelf = _gone(_changed(shelf, event.into, referenced=shelf.turn), [event.artifact])

    def stands(id_: int | None) -> int | None:
        return event.into if id_ == event.artifact else id_

    return shelf._replace(
        artifacts=tuple(
            a._replace(parent=stands(a.parent)) if a.parent == event.artifact else a
            for a in shelf.artifacts
        ),
        effort=stands(shelf.effort),
        focus=stands(shelf.focus),
        threads=tuple(
            p._replace(effort=stands(p.effort), stands=stands(p.stands)) for p in shelf.threads
        ),
    )


def _rejected(shelf: Shelf, artifact: int) -> Shelf:
    """It never was: what it stood for stands for itself again."""
    shelf = _gone(shelf, [artifact])
    return shelf._replace(
        effort=None if shelf.effort == artifact else shelf.effort,
        threads=tuple(
            p._replace(
                effort=None if p.effort == artifact else p.effort,
                stands=None if p.stands == artifact else p.stands,
            )
            for p in shelf.threads
        ),
    )


def _imported(shelf: Shelf, event: ArtifactImported, version: int) -> Shelf:
    """An artifact of elsewhere."""
    one = _new(shelf, version, event.type, event.text, event.status)
    return _put(
        shelf,
        one._replace(
            resolution=event.resolution,
            outcome=event.outcome,
            when=event.when,
            expires=event.expires,
            origin=event.source,
            follows=event.as_of if event.follow else None,
        ),
    )


def _recalled(shelf: Shelf, event: ArtifactRecalled) -> Shelf:
    """One is back, in its old place."""
    back = _new(shelf, event.artifact, event.type, event.text, event.status)._replace(
        resolution=event.resolution,
        outcome=event.outcome,
        parent=event.parent,
        when=event.when,
        expires=event.expires,
        origin=event.source,
        follows=event.follows,
    )
    return _put(_gone(shelf, [event.artifact]), back)


def _routed(shelf: Shelf, event: ExchangeRouted) -> Shelf:
    """The exchange belongs there, and what it speaks of was spoken of."""
    spoken = {*event.mentions, event.effort}
    shelf = shelf._replace(
        artifacts=tuple(
            a._replace(referenced=shelf.turn) if a.id in spoken else a for a in shelf.artifacts
        )
    )
    before = shelf.effort_of(event.exchange)
    stood = before is not None and shelf.stands_for(event.exchange) == before != event.effort
    # what stood for it there does not stand for it here
    freed = {"stands": None} if stood else {}
    shelf = _threaded(shelf, [event.exchange], effort=event.effort, **freed)
    return shelf._replace(effort=event.effort) if event.exchange == shelf.exchange else shelf


def _compacted(shelf: Shelf, event: ContextCompacted, version: int) -> Shelf:
    """Exchanges left; the effort's resolution or this summary stands for them."""
    if event.summary is not None:
        one = _new(shelf, version, "summary", event.summary, "current")
        shelf = _put(shelf, one._replace(parent=event.effort))
        return _threaded(shelf, event.exchanges, stands=version)
    return _threaded(shelf, event.exchanges, stands=event.effort)


def _detected(shelf: Shelf, event: DetectorInvoked) -> Shelf:
    """The talk is at what was looked at."""
    return shelf._replace(
        exchange=event.exchange,
        turn=event.turn,
        spent=shelf.spent + (event.cost_usd or 0.0),
    )


def _new(shelf: Shelf, version: int, type_: ArtifactType, text: str, status: Status) -> Artifact:
    return Artifact(version, type_, text, status, shelf.turn, shelf.turn)


def _put(shelf: Shelf, artifact: Artifact) -> Shelf:
    kept = (*shelf.artifacts, artifact)
    if len(shelf.artifacts) and artifact.id < shelf.artifacts[-1].id:
        kept = tuple(sorted(kept))
    if len(kept) > MOST:
        others = (a for a in kept if a.id != artifact.id)
        leaves = min(others, key=lambda a: (a.is_open, a.referenced, a.id))
        kept = tuple(a for a in kept if a.id != leaves.id)
    return shelf._replace(artifacts=kept)


def _changed(shelf: Shelf, id_: int, **new: Any) -> Shelf:
    return shelf._replace(
        artifacts=tuple(a._replace(**new) if a.id == id_ else a for a in shelf.artifacts)
    )


def _gone(shelf: Shelf, ids: Iterable[int]) -> Shelf:
    left = frozenset(ids)
    return shelf._replace(artifacts=tuple(a for a in shelf.artifacts if a.id not in left))


def _threaded(shelf: Shelf, exchanges: Iterable[ExchangeId], **new: Any) -> Shelf:
    """The shelf with these exchanges at another place."""
    wanted = dict.fromkeys(exchanges)
    threads = []
    for place in shelf.threads:
        known = place.exchange in wanted
        wanted.pop(place.exchange, None)
        threads.append(place._replace(**new) if known else place)
    threads += [Place(exchange, **new) for exchange in wanted]
    return shelf._replace(threads=tuple(threads)[-THREADS:])


EVOLVE: dict[type[Event], Callable[[Shelf, Any, int], Shelf]] = {
    EffortOpened: _opened,
    EffortResolved: lambda shelf, e, _: _resolved(shelf, e),
    EffortReopened: lambda shelf, e, _: _reopened(shelf, e.effort),
    EffortExpanded: lambda shelf, e, _: _expanded(shelf, e.effort, shown=True),
    EffortCollapsed: lambda shelf, e, _: _expanded(shelf, e.effort, shown=False),
    EffortBranched: lambda shelf, e, _: _changed(shelf, e.effort, branch=e.branch),
    EffortFocused: lambda shelf, e, _: _focused(shelf, e.effort),
    FactLearned: _learned,
    FactSuperseded: lambda shelf, e, _: _gone(shelf, [e.fact]),
    EventNoted: _noted,
    ArtifactEdited: lambda shelf, e, _: _edited(shelf, e),
    ArtifactMerged: lambda shelf, e, _: _merged(shelf, e),
    ArtifactRejected: lambda shelf, e, _: _rejected(shelf, e.artifact),
    ArtifactLinked: lambda shelf, *_: shelf,
    ArtifactImported: _imported,
    ArtifactExcluded: lambda shelf, e, _: _changed(shelf, e.artifact, excluded=e.excluded),
    ArtifactsEvicted: lambda shelf, e, _: _gone(shelf, e.artifacts),
    ArtifactRecalled: lambda shelf, e, _: _recalled(shelf, e),
    ExchangeRouted: lambda shelf, e, _: _routed(shelf, e),
    ContextCompacted: _compacted,
    DetectorInvoked: lambda shelf, e, _: _detected(shelf, e),
}
"""What each of these events changes, given the version of the event."""
