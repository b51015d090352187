"""Artifacts of other sessions, used here too: imported by reference, and followed by choice."""

from typing import NamedTuple

from commands.artifacts.about import About, back, gone, named, valid
from commands.artifacts.efforts import (
    because_of_resolution,
    reopening_events,
    resolution_events,
)
from commands.command import Command, Decision
from domain.artifacts import Artifact
from domain.errors import NoSuchArtifact, NothingChanges, Refused
from domain.events import (
    REDACTED,
    ArtifactEdited,
    ArtifactImported,
    ArtifactRejected,
    Event,
    FactSuperseded,
    Source,
)
from domain.ids import SessionId
from domain.lives import LIVES, Life, lives
from domain.log import Log
from domain.session import Session


class Origin(NamedTuple):
    """An artifact of another session, as it was read there."""

    life: Life
    source: Source
    """The event that brought it there."""
    now: Source
    """The moment of that session at which it was read."""


def find_origin(
    log: Log, into: SessionId, session: SessionId, artifact: int, *, upto: int | None = None
) -> Origin:
    """An artifact of another session, for import.

    Args:
        log: where both live.
        into: the session that it is for.
        session: the session that has it.
        artifact: its id there.
        upto: the version up to which it is read; all of it by default.

    Raises:
        NoSuchSession, NoSuchMoment: there is no such session, or version.
        NoSuchArtifact: that session has none of that id.
        NothingChanges: it is part of the session that it is for already, by descent.
        Refused: it is a summary, redacted, or does not hold.
    """
    origin = read_origin(log, session, artifact, upto=upto)
    if origin is None:
        raise NoSuchArtifact(artifact, session)
    (brought,) = log.pick(session, [artifact])
    if any(own.session == brought.session for own in log.pick(into, [artifact])):
        raise NothingChanges(
            f"{session}@{artifact} is part of session {into!r} already, by descent."
        )
    if origin.life.left in {"superseded", "merged", "rejected"}:
        raise Refused(f"{gone(origin.life)} there: nothing was brought over.")
    if origin.life.artifact.type == "summary":
        raise Refused(
            f"{session}@{artifact} is a summary, which is of use where its exchanges are: import"
            " an effort, a fact or an event."
        )
    if origin.life.artifact.text == REDACTED:
        raise Refused(f"{session}@{artifact} was redacted: there is nothing to bring over.")
    return origin


def read_origin(
    log: Log, session: SessionId, artifact: int, *, upto: int | None = None
) -> Origin | None:
    """An artifact as that session last knew it; None where it never was.

    Raises:
        NoSuchSession, NoSuchMoment: there is no such session, or version.
    """
    head = log.head(session, upto)
    if not 1 <= artifact <= head.version:
        return None
    found = lives(log.read(session, after=artifact - 1, upto=head.version, kinds=LIVES))
    life = found.get(artifact)
    if life is None:
        return None
    source = Source(session, artifact, log.head(session, artifact).hash)
    return Origin(life, source, Source(session, head.version, head.hash))


class ImportArtifact(Command):
    """Use an artifact of another session here too; it keeps its origin, and may follow it."""

    origin: Origin
    follow: bool = False

    def decide(self, session: Session) -> Decision:
        """The artifact as it is there."""
        life, source, now = self.origin
        one = life.artifact
        for artifact in session.shelf.artifacts:
            if artifact.origin is not None and artifact.origin.hash == source.hash:
                raise NothingChanges(
                    f"{named(artifact)} is that of {source.session}@{source.version} already."
                )
        if one.type == "summary":
            raise TypeError("summaries are not imported")
        yield ArtifactImported(
            type=one.type,
            text=one.text,
            status=one.status,
            resolution=one.resolution,
            outcome=one.outcome,
            when=one.when,
            expires=one.expires,
            source=source,
            as_of=now.version,
            follow=self.follow,
        )


class FollowOrigin(About):
    """Bring an imported artifact up to date with its origin, and follow it from now on."""

    artifact: int
    origin: Origin

    def decide(self, session: Session) -> Decision:
        """What has changed there since, here too; each change names the moment that it is of."""
        artifact = valid(session, self.artifact, self.known)
        if artifact.origin is None:
            raise Refused(f"{named(artifact)} was not imported: it has no origin to follow.")
        if artifact.follows is not None and self.origin.life.changed <= artifact.follows:
            raise NothingChanges(f"{named(artifact)} is as it is in its origin.")
        return because_of_resolution(session, self._followed(session, artifact))

    def _followed(self, session: Session, artifact: Artifact) -> list[Event]:
        life, source, now = self.origin
        there = life.artifact
        events = back(session, self.artifact, self.known)
        here = session if not events else _with(session, artifact)
        if life.left == "superseded" and artifact.type == "fact":
            reason = f"it no longer holds in {source.session}"
            return [FactSuperseded(fact=self.artifact, reason=reason)]
        if life.left == "rejected":
            reason = f"it was rejected in {source.session}"
            return [ArtifactRejected(artifact=self.artifact, reason=reason)]
        if artifact.is_open and there.status == "resolved":
            events += resolution_events(
                here,
                self.artifact,
                there.resolution or REDACTED,
                outcome=there.outcome or "done",
                source=now,
            )
        elif not artifact.is_open and there.is_open:
            reason = f"it goes on in {source.session}"
            events += reopening_events(here, self.artifact, reason=reason)
        reworded = not artifact.is_open and there.resolution != artifact.resolution
        edited = ArtifactEdited(
            artifact=self.artifact,
            text=there.text if there.text != artifact.text else None,
            resolution=there.resolution if reworded else None,
            when=there.when if there.when != artifact.when else None,
            expires=there.expires if there.expires != artifact.expires else None,
            source=now,
        )
        return [*events, edited]


def _with(session: Session, artifact: Artifact) -> Session:
    """The session with an artifact back on its shelf."""
    shelf = session.shelf
    return session._replace(shelf=shelf._replace(artifacts=(*shelf.artifacts, artifact)))
