"""What a detector found, as a wish to record it: checked against the state as it is by now."""

from collections.abc import Iterator

from commands.artifacts.about import recalled
from commands.artifacts.efforts import reopening_events, resolution_events
from commands.command import Command, Decision
from domain.actors import SYSTEM
from domain.artifacts import EVOLVE, Artifact, Shelf, evolve
from domain.detection.findings import HERE, Findings, Learned
from domain.events import (
    Caused,
    DetectorInvoked,
    EffortOpened,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    FactSuperseded,
    SessionRenamed,
)
from domain.events.artifacts import Finder
from domain.ids import ExchangeId
from domain.session import Session
from domain.titles import title_of


class RecordFindings(Command):
    """Record what a look at an exchange found, and that there was one."""

    invocation: DetectorInvoked
    findings: Findings
    messages: tuple[int, ...]
    """Versions of the message and of the draft that were looked at."""
    asked_for: bool = False
    """Somebody wanted to have all looked at: then it is noted what has been."""
    mentioned: tuple[Artifact, ...] = ()
    """Artifacts that had left the shelf and that the message speaks of."""

    def decide(self, session: Session) -> Decision:
        """The look, and what of its findings still makes sense.

        Nothing where rules found nothing: who reads the log shall not have to read that.
        """
        look, *found = _Finding(self, session).events()
        tried = self.invocation.attempts or self.invocation.error
        if found or self.asked_for or tried:
            yield look
            yield from found


class _Finding:
    """Findings on their way into events; each is decided on the shelf behind the one before."""

    def __init__(self, wish: RecordFindings, session: Session) -> None:
        self.wish, self.session = wish, session
        self.shelf: Shelf = session.shelf
        self.version = session.version
        self.here: int | None = None
        """The effort that was opened."""
        self.by: Finder = wish.invocation.found_by
        self.exchange: ExchangeId = wish.invocation.exchange

    def events(self) -> Iterator[Caused]:
        """All that is to be recorded."""
        found, why = self.wish.findings, self.wish.messages[-1]
        yield self._put(self.wish.invocation, why)
        why = self.version
        steps = (
            self._recalled,
            self._opened,
            self._routed,
            self._reopened,
            self._resolved,
            self._learned,
            self._noted,
        )
        for step in steps:
            for event in step(found):
                yield self._put(event, why)

    def _put(self, event: Event, why: int) -> Caused:
        self.version += 1
        if type(event) in EVOLVE:
            self.shelf = evolve(self.shelf, event, self.version)
        if isinstance(event, EffortOpened):
            self.here = self.version
        return event.because(why, by=SYSTEM)

    def _recalled(self, found: Findings) -> Iterator[Event]:
        for artifact in self.wish.mentioned:
            if self.shelf.get(artifact.id) is None:
                yield from recalled(artifact, found.words)

    def _opened(self, found: Findings) -> Iterator[Event]:
        if found.opened is None:
            return
        goal = _plain(found.opened.goal)
        same = next((a for a in self.shelf.open_efforts if _plain(a.text) == goal), None)
        if same is not None:
            self.here = same.id
            return
        if self.session.title == self.session.id and (title := title_of(found.opened.goal)):
            yield SessionRenamed(title=title)
        parent = self._effort(found.opened.parent)
        yield EffortOpened(
            goal=found.opened.goal,
            parent=self.shelf.focus if parent is None else parent,
            exchange=self.exchange,
            messages=self.wish.messages,
            found_by=self.by,
        )

    def _routed(self, found: Findings) -> Iterator[Event]:
        effort = self._effort(found.effort)
        if effort is None:
            effort = self.shelf.effort_of(self.exchange) or self.shelf.focus
        # what this turn has spoken of before need not be said again
        mentions = tuple(
            id_
            for id_ in found.mentions
            if (artifact := self.shelf.get(id_)) is not None
            and artifact.referenced != self.shelf.turn
        )
        moved = effort != self.shelf.effort_of(self.exchange)
        if mentions or (moved and effort is not None):
            yield ExchangeRouted(
                exchange=self.exchange,
                effort=effort,
                mentions=mentions,
                found_by=self.by,
                words=found.words,
            )

    def _reopened(self, found: Findings) -> Iterator[Event]:
        for effort in found.reopened:
            artifact = self.shelf.get(effort)
            if artifact is not None and artifact.status == "resolved":
                yield from reopening_events(
                    self._now(), effort, messages=self.wish.messages, found_by=self.by
                )

    def _resolved(self, found: Findings) -> Iterator[Event]:
        for one in found.resolved:
            effort = self._effort(one.effort)
            if effort is not None:
                yield from resolution_events(
                    self._now(),
                    effort,
                    one.resolution,
                    outcome=one.outcome,
                    messages=self.wish.messages,
                    found_by=self.by,
                )

    def _learned(self, found: Findings) -> Iterator[Event]:
        for fact in found.learned:
            yield from self._fact(fact)

    def _fact(self, fact: Learned) -> Iterator[Event]:
        known = {_plain(a.text): a for a in self.shelf.artifacts if a.type == "fact"}
        if _plain(fact.statement) in known:
            return
        yield FactLearned(
            statement=fact.statement,
            since=fact.since,
            effort=self.shelf.effort_of(self.exchange),
            messages=self.wish.messages,
            found_by=self.by,
        )
        old = self.shelf.get(fact.supersedes) if fact.supersedes is not None else None
        if old is not None and old.type == "fact":
            yield FactSuperseded(fact=old.id, by=self.version)

    def _noted(self, found: Findings) -> Iterator[Event]:
        known = {(_plain(a.text), a.when) for a in self.shelf.artifacts if a.type == "event"}
        for one in found.noted:
            if (_plain(one.what), one.when) not in known:
                yield EventNoted(
                    what=one.what,
                    when=one.when,
                    expires=one.expires,
                    messages=self.wish.messages,
                    found_by=self.by,
                )

    def _now(self) -> Session:
        return self.session._replace(shelf=self.shelf, version=self.version)

    def _effort(self, id_: int | None) -> int | None:
        """An effort that is open, or the one that was opened here."""
        if id_ == HERE:
            return self.here
        artifact = self.shelf.get(id_) if id_ is not None else None
        return artifact.id if artifact is not None and artifact.is_open else None


def _plain(text: str) -> str:
    """What two texts have in common that say the same in the same words."""
    return " ".join(text.casefold().split()).strip(" .!?")
