"""Efforts by hand: opened, resolved with a resolution, reopened, shown in full and folded again."""

from collections.abc import Iterable, Iterator

from commands.artifacts.about import About, back, effort_at, named
from commands.artifacts.compaction import conclusion, taken
from commands.command import Decision
from domain.artifacts import Artifact
from domain.errors import NoSuchExchange, NothingChanges, Refused
from domain.events import (
    Caused,
    ContextCompacted,
    EffortCollapsed,
    EffortExpanded,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    ExchangeRouted,
    Source,
)
from domain.events.artifacts import Finder, Outcome
from domain.ids import ExchangeId
from domain.lives import Life
from domain.session import Session
from domain.texts import checked_text


class OpenEffort(About):
    """Open an effort: something that is to be achieved, on its own or as part of another one."""

    goal: str
    parent: int | None = None
    exchange: str | None = None
    """The exchange that it begins in; it belongs to the effort from then on."""
    messages: tuple[int, ...] = ()

    def decide(self, session: Session) -> Decision:
        """The effort, as part of one that goes on."""
        yield from opening_events(
            session,
            self.goal,
            parent=self.parent,
            exchange=self.exchange,
            messages=self.messages,
            known=self.known,
        )


class ResolveEffort(About):
    """Resolve an effort: say how it ended; its exchanges leave the context, and this stays."""

    effort: int
    resolution: str
    outcome: Outcome = "done"
    messages: tuple[int, ...] = ()

    def decide(self, session: Session) -> Decision:
        """The resolution, and what leaves the context by it."""
        events = resolution_events(
            session,
            self.effort,
            self.resolution,
            outcome=self.outcome,
            messages=self.messages,
            known=self.known,
        )
        return because_of_resolution(session, events)


class ReopenEffort(About):
    """Reopen an effort that is not done after all; its exchanges are shown to the mind again."""

    effort: int
    reason: str | None = None

    def decide(self, session: Session) -> Decision:
        """The effort goes on."""
        yield from reopening_events(session, self.effort, reason=self.reason, known=self.known)


class ExpandEffort(About):
    """Show the mind the exchanges of a resolved effort again, until nobody speaks of it."""

    effort: int

    def decide(self, session: Session) -> Decision:
        """Its exchanges are shown; it stays resolved."""
        artifact = effort_at(session, self.effort, self.known)
        if artifact.is_open:
            raise NothingChanges(f"{named(artifact)} is open: its exchanges are shown already.")
        on_shelf = session.shelf.get(self.effort)
        if on_shelf is not None and on_shelf.expanded:
            raise NothingChanges(f"{named(artifact)} is expanded already.")
        yield from back(session, self.effort, self.known)
        yield EffortExpanded(effort=self.effort)


class CollapseEffort(About):
    """Take the exchanges of an expanded effort out of the context again; its summary stays."""

    effort: int

    def decide(self, session: Session) -> Decision:
        """Its exchanges leave."""
        artifact = effort_at(session, self.effort, self.known)
        if artifact.is_open:
            raise Refused(
                f"{named(artifact)} is open, so its exchanges are shown: resolve it first"
                f' (mind effort resolve {self.effort} "…").'
            )
        on_shelf = session.shelf.get(self.effort)
        if on_shelf is None or not on_shelf.expanded:
            raise NothingChanges(f"{named(artifact)} is not expanded.")
        yield EffortCollapsed(effort=self.effort)


class RouteExchange(About):
    """Say which effort an exchange belongs to, or that it belongs to none."""

    exchange: str
    effort: int | None = None

    def decide(self, session: Session) -> Decision:
        """The exchange belongs there; where the effort is resolved, that stands for it."""
        shelf, exchange = session.shelf, ExchangeId(self.exchange)
        if not _is_known(session, exchange):
            raise NoSuchExchange(self.exchange)
        if shelf.effort_of(exchange) == self.effort:
            where = "no effort" if self.effort is None else f"effort {self.effort}"
            raise NothingChanges(f"{self.exchange} belongs to {where} already.")
        routed = ExchangeRouted(exchange=exchange, effort=self.effort)
        if self.effort is None:
            yield routed
            return
        artifact = effort_at(session, self.effort, self.known)
        yield from back(session, self.effort, self.known)
        yield routed
        if not artifact.is_open:
            yield from _concluded(session, artifact, [exchange], instead=shelf.effort_of(exchange))


def opening_events(
    session: Session,
    goal: str,
    *,
    parent: int | None = None,
    exchange: str | None = None,
    messages: tuple[int, ...] = (),
    found_by: Finder = "user",
    known: Iterable[Life] = (),
) -> list[Event]:
    """What opens an effort; the last of these events is the opening.

    Raises:
        BadText: the goal is none.
        NoSuchArtifact, NoSuchExchange, Refused: the parent or the exchange can't be that.
        NothingChanges: an open effort has this very goal.
    """
    goal = checked_text(goal, "goal")
    same = [a for a in session.shelf.open_efforts if a.text == goal and a.parent == parent]
    if same:
        raise NothingChanges(f"{named(same[0])} has this goal already.")
    events: list[Event] = []
    if parent is not None:
        if not effort_at(session, parent, known).is_open:
            raise Refused(
                f"Effort {parent} is resolved: reopen it first (mind effort reopen {parent}),"
                " or open one that is part of nothing."
            )
        events += back(session, parent, known)
    if exchange is not None and not _is_known(session, ExchangeId(exchange)):
        raise NoSuchExchange(exchange)
    opened = EffortOpened(
        goal=goal,
        parent=parent,
        exchange=ExchangeId(exchange) if exchange is not None else None,
        messages=messages,
        found_by=found_by,
    )
    return [*events, opened]


def resolution_events(
    session: Session,
    effort: int,
    resolution: str,
    *,
    outcome: Outcome = "done",
    messages: tuple[int, ...] = (),
    found_by: Finder = "user",
    source: Source | None = None,
    known: Iterable[Life] = (),
) -> list[Event]:
    """What resolves an effort: it comes back if it had left, ends, and its exchanges leave.

    Raises:
        BadText: the resolution is none.
        NoSuchArtifact, Refused: it is no effort, or does not hold.
        NothingChanges: it is resolved already.
    """
    resolution = checked_text(resolution, "resolution")
    artifact = effort_at(session, effort, known)
    if not artifact.is_open:
        raise NothingChanges(
            f"{named(artifact)} is resolved already: reopen it (mind effort reopen {effort}), or"
            f" word it otherwise (mind artifact edit {effort} --resolution …)."
        )
    resolved = EffortResolved(
        effort=effort,
        resolution=resolution,
        outcome=outcome,
        messages=messages,
        found_by=found_by,
        source=source,
    )
    ended = artifact._replace(status="resolved", resolution=resolution, outcome=outcome)
    return [
        *back(session, effort, known),
        resolved,
        *_concluded(session, ended, session.shelf.thread(effort)),
    ]


def reopening_events(
    session: Session,
    effort: int,
    *,
    reason: str | None = None,
    messages: tuple[int, ...] = (),
    found_by: Finder = "user",
    known: Iterable[Life] = (),
) -> list[Event]:
    """What reopens a resolved effort.

    Raises:
        BadText: a reason is given, and is none.
        NoSuchArtifact, Refused: it is no effort, or does not hold.
        NothingChanges: it is open.
    """
    artifact = effort_at(session, effort, known)
    if artifact.is_open:
        raise NothingChanges(f"{named(artifact)} is open already.")
    reopened = EffortReopened(
        effort=effort,
        reason=checked_text(reason, "reason") if reason is not None else None,
        messages=messages,
        found_by=found_by,
    )
    return [*back(session, effort, known), reopened]


def because_of_resolution(session: Session, events: Iterable[Event]) -> Iterator[Caused]:
    """The same events, where what was compacted says which resolution led to it."""
    resolved: int | None = None
    for version, event in enumerate(events, session.version + 1):
        if isinstance(event, EffortResolved):
            resolved = version
        yield Caused(event, resolved if isinstance(event, ContextCompacted) else None)


def open_parts(session: Session, effort: int) -> tuple[Artifact, ...]:
    """The open efforts that are parts of one, or parts of its parts; oldest first."""
    shelf, inside = session.shelf, {effort}
    while True:
        more = {a.id for a in shelf.artifacts if a.parent in inside and a.type == "effort"}
        if more <= inside:
            break
        inside |= more
    return tuple(a for a in shelf.open_efforts if a.id in inside - {effort})


def _concluded(
    session: Session,
    ended: Artifact,
    exchanges: Iterable[ExchangeId],
    instead: int | None = None,
) -> Iterator[ContextCompacted]:
    """The accepted exchanges of these leave the context for which nothing stands yet.

    Where ``instead`` stands for one, the effort takes its place.
    """
    shelf, talk = session.shelf, session.dialogue
    leaving = [
        exchange
        for id_ in exchanges
        if shelf.stands_for(id_) in {None, instead} and (exchange := talk.past(id_)) is not None
    ]
    if leaving:
        before = sum(taken(e.question, e.answer or "") for e in leaving if not e.pruned)
        yield conclusion(ended, (exchange.id for exchange in leaving), before)


def _is_known(session: Session, exchange: ExchangeId) -> bool:
    talk = session.dialogue
    awaits = talk.awaiting is not None and talk.awaiting.exchange == exchange
    return awaits or talk.past(exchange) is not None
