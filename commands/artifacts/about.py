"""What all wishes about artifacts share: finding the one that is meant, and bringing it back."""

from collections.abc import Iterable

from commands.command import Command
from domain.artifacts import Artifact
from domain.errors import NoSuchArtifact, NothingChanges, Refused
from domain.events import ArtifactExcluded, ArtifactRecalled, Event
from domain.lives import Life
from domain.session import Session


class About(Command):
    """A wish about artifacts, some of which may have left the shelf."""

    known: tuple[Life, ...] = ()
    """Artifacts that may not lie on the shelf, as last known, with those that they are parts of."""


def life_of(session: Session, id_: int, known: Iterable[Life] = ()) -> Life:
    """An artifact as it is on the shelf, or as last known.

    Raises:
        NoSuchArtifact: it is neither.
    """
    artifact = session.shelf.get(id_)
    if artifact is not None:
        return Life(artifact, id_)
    life = next((life for life in known if life.artifact.id == id_), None)
    if life is None:
        raise NoSuchArtifact(id_)
    # what is on no shelf has left it, even where no event says so
    return life if life.left else life._replace(left="evicted")


def valid(session: Session, id_: int, known: Iterable[Life] = ()) -> Artifact:
    """An artifact that holds: on the shelf, or only evicted from it.

    Raises:
        NoSuchArtifact: there never was one.
        Refused: it was superseded, merged or rejected.
    """
    life = life_of(session, id_, known)
    if life.left in {"superseded", "merged", "rejected"}:
        raise Refused(f"{gone(life)}: {_way_back(life)}")
    return life.artifact


def effort_at(session: Session, id_: int, known: Iterable[Life] = ()) -> Artifact:
    """An effort that holds.

    Raises:
        NoSuchArtifact: there never was one.
        Refused: it is none, or does not hold.
    """
    return of_type(valid(session, id_, known), "effort")


def of_type(artifact: Artifact, wanted: str) -> Artifact:
    """The same artifact.

    Raises:
        Refused: it is of another type.
    """
    if artifact.type != wanted:
        raise Refused(
            f"{artifact.id} is {_one(artifact.type)}, not {_one(wanted)}: name {_one(wanted)}"
            f" (mind {wanted} list)."
        )
    return artifact


def back(
    session: Session, id_: int, known: Iterable[Life] = (), words: str | None = None
) -> list[Event]:
    """What brings an artifact back to the shelf; nothing where it lies there.

    Args:
        session: the state.
        id_: the artifact.
        known: those that may not lie there.
        words: the words that call it.
    """
    if session.shelf.get(id_) is not None:
        return []
    return recalled(life_of(session, id_, known).artifact, words)


def recalled(artifact: Artifact, words: str | None = None) -> list[Event]:
    """An artifact comes back as it was last; one that was excluded stays excluded."""
    events: list[Event] = [
        ArtifactRecalled(
            artifact=artifact.id,
            type=artifact.type,
            text=artifact.text,
            status=artifact.status,
            outcome=artifact.outcome,
            resolution=artifact.resolution,
            parent=artifact.parent,
            when=artifact.when,
            expires=artifact.expires,
            source=artifact.origin,
            follows=artifact.follows,
            words=words,
        )
    ]
    if artifact.excluded:
        events.append(ArtifactExcluded(artifact=artifact.id))
    return events


class RecallArtifact(About):
    """Bring back an artifact that has left the context: it is shown to the mind again."""

    artifact: int
    words: str | None = None

    def decide(self, session: Session) -> Iterable[Event]:
        """The artifact as it was last, even if it was superseded or rejected since."""
        life = life_of(session, self.artifact, self.known)
        if life.left is None:
            raise NothingChanges(f"{named(life.artifact)} is in the context already.")
        if life.left == "merged":
            raise Refused(f"{gone(life)}: {_way_back(life)}")
        yield from recalled(life.artifact, self.words)


def named(artifact: Artifact) -> str:
    """``Effort 412``."""
    return f"{artifact.type.capitalize()} {artifact.id}"


def gone(life: Life) -> str:
    """``Fact 412 was superseded by 500``."""
    how = {"superseded": " by", "merged": " into"}.get(life.left or "", "")
    into = f"{how} {life.instead}" if how and life.instead is not None else ""
    return f"{named(life.artifact)} was {life.left}{into}"


def _way_back(life: Life) -> str:
    if life.instead is not None:
        return f"name {life.instead} instead."
    return f"bring it back first (mind artifact recall {life.artifact.id})."


def _one(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
