"""Facts and events by hand: learned, superseded, noted."""

from commands.artifacts.about import About, gone, life_of, named, of_type, valid
from commands.artifacts.dates import check_order, optional_moment
from commands.command import Command, Decision
from domain.artifacts import Artifact
from domain.errors import BadSetting, NothingChanges
from domain.events import EventNoted, FactLearned, FactSuperseded
from domain.session import Session
from domain.texts import checked_text


class LearnFact(About):
    """Note a fact: something that turned out to be so, or was decided."""

    statement: str
    since: str | None = None
    effort: int | None = None
    """The effort that it was learned in."""
    supersedes: int | None = None
    """The fact that no longer holds by it."""
    messages: tuple[int, ...] = ()

    def decide(self, session: Session) -> Decision:
        """The fact, and the end of the one that it takes the place of."""
        learned = _learned(session, self.statement)
        since = optional_moment(self.since)
        if self.effort is not None:
            of_type(valid(session, self.effort, self.known), "effort")
        if self.supersedes is not None:
            current_fact(self, session, self.supersedes)
        yield learned.model_copy(
            update={"since": since, "effort": self.effort, "messages": self.messages}
        )
        if self.supersedes is not None:
            new = session.version + 1
            yield FactSuperseded(fact=self.supersedes, by=new).because(new)


class SupersedeFact(About):
    """Say that a fact no longer holds, and which one holds instead, if one does."""

    fact: int
    by: int | None = None
    """A fact that is known already."""
    statement: str | None = None
    """A new fact."""
    reason: str | None = None

    def decide(self, session: Session) -> Decision:
        """The end of a fact, behind the one that takes its place."""
        if self.by is not None and self.statement is not None:
            raise BadSetting("Name a fact that holds instead, or give a new statement, not both.")
        if self.by == self.fact:
            raise BadSetting(f"Fact {self.fact} can't take its own place: name another one.")
        reason = checked_text(self.reason, "reason") if self.reason is not None else None
        old = current_fact(self, session, self.fact)
        if self.by is not None:
            of_type(valid(session, self.by, self.known), "fact")
        if self.statement is None:
            yield FactSuperseded(fact=self.fact, by=self.by, reason=reason)
            return
        # what it was learned in, it is corrected in
        yield _learned(session, self.statement).model_copy(update={"effort": old.parent})
        new = session.version + 1
        yield FactSuperseded(fact=self.fact, by=new, reason=reason).because(new)


class NoteEvent(Command):
    """Note an event: an appointment, a deadline, a reminder; it leaves when it is over."""

    what: str
    when: str | None = None
    """ISO 8601 in the user's local time: a date, or a date and a time."""
    expires: str | None = None
    """When it is over; the end of its day where only ``when`` is known."""
    messages: tuple[int, ...] = ()

    def decide(self, session: Session) -> Decision:
        """The event."""
        what = checked_text(self.what, "event")
        when, expires = optional_moment(self.when), optional_moment(self.expires)
        check_order(when, expires)
        for one in session.shelf.artifacts:
            if one.type == "event" and (one.text, one.when) == (what, when):
                raise NothingChanges(f"{named(one)} says that already.")
        yield EventNoted(what=what, when=when, expires=expires, messages=self.messages)


def current_fact(wish: About, session: Session, fact: int) -> Artifact:
    """A fact that still holds.

    Raises:
        NoSuchArtifact: there never was one.
        NothingChanges: it holds no longer.
        Refused: it is no fact.
    """
    life = life_of(session, fact, wish.known)
    if life.left in {"superseded", "merged", "rejected"}:
        raise NothingChanges(f"{gone(life)} already.")
    return of_type(life.artifact, "fact")


def _learned(session: Session, statement: str) -> FactLearned:
    statement = checked_text(statement, "statement")
    for one in session.shelf.artifacts:
        if one.type == "fact" and one.text == statement:
            raise NothingChanges(f"{named(one)} says that already.")
    return FactLearned(statement=statement)
