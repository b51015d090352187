"""Artifacts that left the shelf, read from the log before a wish about them is made."""

from collections.abc import Iterable

from domain.ids import SessionId
from domain.lives import LIVES, Life, lives
from domain.log import Log


def known(log: Log, session: SessionId, ids: Iterable[int | None]) -> tuple[Life, ...]:
    """These artifacts as last known, with those that they are parts of; none that never was.

    Reads nothing where all of them, and what they are parts of, lie on the shelf.
    """
    shelf = log.state(session).shelf
    wanted = {id_ for id_ in ids if id_ is not None}
    missing = set(wanted)
    for id_ in wanted:
        artifact = shelf.get(id_)
        seen: set[int] = set()
        while artifact is not None and artifact.id not in seen:
            seen.add(artifact.id)
            missing.discard(artifact.id)
            if artifact.parent is None:
                break
            missing.add(artifact.parent)
            artifact = shelf.get(artifact.parent)
            if artifact is not None:
                missing.discard(artifact.id)
    if not missing:
        return ()
    return with_wholes(lives(log.read(session, kinds=LIVES)), wanted)


def with_wholes(all_: dict[int, Life], wanted: Iterable[int]) -> tuple[Life, ...]:
    """Those that are wanted, and what they are parts of, as far as that goes."""
    found: dict[int, Life] = {}
    for id_ in wanted:
        life = all_.get(id_)
        while life is not None and life.artifact.id not in found:
            found[life.artifact.id] = life
            life = all_.get(life.artifact.parent) if life.artifact.parent is not None else None
    return tuple(found.values())
