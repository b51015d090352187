"""What is wished about artifacts of any type: other words, one for two, away with it, links."""

from typing import Any

from commands.artifacts.about import About, back, gone, life_of, named, of_type, valid
from commands.artifacts.dates import check_order, optional_moment
from commands.command import Decision
from domain.artifacts import Artifact
from domain.errors import BadSetting, NothingChanges, Refused
from domain.events import (
    ArtifactEdited,
    ArtifactExcluded,
    ArtifactLinked,
    ArtifactMerged,
    ArtifactRejected,
)
from domain.session import Session
from domain.texts import checked_text

RELATION = "belongs to"
"""How two artifacts are linked unless somebody says otherwise."""

LONGEST_RELATION = 60


class EditArtifact(About):
    """Give an artifact other words, or another time; what is not named stays as it is."""

    artifact: int
    text: str | None = None
    resolution: str | None = None
    when: str | None = None
    expires: str | None = None

    def decide(self, session: Session) -> Decision:
        """What is different from now on."""
        artifact = valid(session, self.artifact, self.known)
        wanted = {
            "text": _optional_text(self.text, "text"),
            "resolution": _optional_text(self.resolution, "resolution"),
            "when": optional_moment(self.when),
            "expires": optional_moment(self.expires),
        }
        _fitting(artifact, wanted)
        new: dict[str, Any] = {
            name: value
            for name, value in wanted.items()
            if value is not None and value != getattr(artifact, name)
        }
        if not new:
            raise NothingChanges(
                f"{named(artifact)} says that already: give another --text, --resolution, --when"
                " or --expires."
            )
        check_order(new.get("when", artifact.when), new.get("expires", artifact.expires))
        yield from back(session, self.artifact, self.known)
        yield ArtifactEdited(artifact=self.artifact, **new)


class MergeArtifacts(About):
    """Merge two artifacts of one type that are one and the same: the second stands for both."""

    artifact: int
    into: int

    def decide(self, session: Session) -> Decision:
        """One of them leaves; what belonged to it belongs to the other."""
        if self.artifact == self.into:
            raise BadSetting(f"{self.artifact} can't be merged into itself: name another one.")
        one = valid(session, self.artifact, self.known)
        other = of_type(valid(session, self.into, self.known), one.type)
        if one.is_open and not other.is_open:
            raise Refused(
                f"{named(one)} is open and {other.id} is resolved: resolve the one, or reopen the"
                " other first."
            )
        if one.id in self._wholes(session, other):
            raise Refused(
                f"{named(other)} is a part of {one.id}, and would become a part of itself: merge"
                f" {other.id} into {one.id} instead (mind artifact merge {other.id} {one.id})."
            )
        yield from back(session, self.into, self.known)
        yield ArtifactMerged(artifact=self.artifact, into=self.into)

    def _wholes(self, session: Session, artifact: Artifact) -> set[int]:
        """All that an artifact is a part of."""
        found: set[int] = set()
        part: Artifact | None = artifact
        while part is not None and part.parent is not None and part.parent not in found:
            found.add(part.parent)
            known = (life.artifact for life in self.known if life.artifact.id == part.parent)
            part = session.shelf.get(part.parent) or next(known, None)
        return found


class RejectArtifact(About):
    """Reject an artifact that should never have been: it is shown to no mind."""

    artifact: int
    reason: str | None = None

    def decide(self, session: Session) -> Decision:
        """It leaves; what it stood for stands for itself again."""
        life = life_of(session, self.artifact, self.known)
        if life.left in {"merged", "rejected"}:
            raise NothingChanges(f"{gone(life)} already.")
        yield ArtifactRejected(artifact=self.artifact, reason=_optional_text(self.reason, "reason"))


class LinkArtifacts(About):
    """Link two artifacts that have to do with each other."""

    artifact: int
    to: int
    relation: str = RELATION

    def decide(self, session: Session) -> Decision:
        """The link."""
        if self.artifact == self.to:
            raise BadSetting(f"{self.artifact} can't be linked to itself: name another one.")
        for id_ in (self.artifact, self.to):
            life = life_of(session, id_, self.known)
            if life.left in {"merged", "rejected"}:
                raise Refused(f"{gone(life)}: name one that holds.")
        relation = " ".join(checked_text(self.relation, "relation").split())
        if len(relation) > LONGEST_RELATION:
            raise BadSetting(
                f"The relation has {len(relation)} characters, at most {LONGEST_RELATION} are"
                " taken: say it in a few words."
            )
        yield ArtifactLinked(artifact=self.artifact, to=self.to, relation=relation)


class ExcludeArtifact(About):
    """Keep an artifact from the mind, or show it again; it stays what it is."""

    artifact: int
    excluded: bool = True

    def decide(self, session: Session) -> Decision:
        """From now on it is not shown, or is."""
        artifact = valid(session, self.artifact, self.known)
        if artifact.excluded == self.excluded:
            how = "excluded" if self.excluded else "not excluded"
            raise NothingChanges(f"{named(artifact)} is {how} already.")
        yield ArtifactExcluded(artifact=self.artifact, excluded=self.excluded)


def _optional_text(text: str | None, what: str) -> str | None:
    return checked_text(text, what) if text is not None else None


def _fitting(artifact: Artifact, wanted: dict[str, str | None]) -> None:
    """Make sure that the artifact has what is to change.

    Raises:
        BadSetting: an artifact of its type, or as it stands, has none of that.
    """
    if wanted["resolution"] is not None and artifact.status != "resolved":
        raise BadSetting(
            f"{named(artifact)} has no resolution that could be worded otherwise: only a resolved"
            " effort has one."
        )
    if wanted["when"] is not None and artifact.type not in {"fact", "event"}:
        raise BadSetting(f"{named(artifact)} has no time: only facts and events have one.")
    if wanted["expires"] is not None and artifact.type != "event":
        raise BadSetting(f"{named(artifact)} does not expire: only events do.")
