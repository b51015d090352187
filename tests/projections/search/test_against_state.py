"""What the index says of artifacts is what the state of the session says, in every branch."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from domain.artifacts import Artifact
from domain.events import (
    ArtifactEdited,
    ArtifactMerged,
    ArtifactRejected,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    FactLearned,
    FactSuperseded,
)
from domain.ids import SessionId
from projections.search.hit import ARTIFACTS, Branch
from projections.search.index import Index
from projections.search.rows import joined
from projections.search.scope import view
from tests.projections.search.library import Library

STEPS = 60


@pytest.mark.parametrize("seed", range(4))
def test_every_branch_sees_what_its_state_has(tmp_path: Path, seed: int) -> None:
    """After random wishes in random branches of branches, now and at every version before."""
    library, dice = Library(tmp_path / "store"), Random(seed)  # noqa: S311 — the same each time
    sessions = [SessionId("main")]
    for step in range(STEPS):
        session = dice.choice(sessions)
        if dice.random() < 0.1:
            child = SessionId(f"s{step}")
            library.forks(child, dice.randint(1, library.log.head(session).version), session)
            sessions.append(child)
            continue
        shelf = library.log.state(session).shelf
        library.records(_wish(dice, shelf.artifacts, step), session=session)
        if dice.random() < 0.2:  # followed in parts, or in one go
            library.finds("anything")
    for session in sessions:
        for version in range(1, library.log.head(session).version + 1, 3):
            assert _indexed(library, session, version) == _known(library, session, version)
        newest = library.log.head(session).version
        assert _indexed(library, session, None) == _known(library, session, newest)


def _wish(dice: Random, having: Sequence[Artifact], step: int) -> Event:
    """Something new, or something about what lies there."""
    new: list[Callable[[], Event]] = [
        lambda: EffortOpened(goal=f"goal {step}"),
        lambda: FactLearned(statement=f"fact {step}"),
        lambda: EventNoted(what=f"what {step}", when=f"2026-01-{step % 28 + 1:02}"),
    ]
    if len(having) < 2 or dice.random() < 0.4:
        return dice.choice(new)()
    chosen, another = dice.sample(having, 2)
    one, other = chosen.id, another.id
    about: list[Event] = [
        ArtifactEdited(artifact=one, text=f"text {step}"),
        ArtifactMerged(artifact=one, into=other),
        ArtifactRejected(artifact=one),
    ]
    match chosen.type:
        case "effort":
            resolved = EffortResolved(effort=one, resolution=f"done {step}")
            about += [resolved, resolved, EffortReopened(effort=one)]
            about.append(ArtifactEdited(artifact=one, resolution=f"ended {step}"))
        case "fact":
            about.append(FactSuperseded(fact=one, by=other))
        case _:
            about.append(ArtifactEdited(artifact=one, when="2027-01-01"))
    return dice.choice(about)


def _known(library: Library, session: SessionId, version: int) -> dict[int, str]:
    """What the state has."""
    found = {}
    for one in library.log.state(session, version).shelf.artifacts:
        tail = one.when if one.type == "event" else one.resolution
        found[one.id] = joined(one.type, one.text, tail or "")
    return found


def _indexed(library: Library, session: SessionId, version: int | None) -> dict[int, str]:
    """What the index has."""
    with Index(library.log, library.directory) as index:
        index.catch_up()
        seen = view(library.log, Branch(session, version), ARTIFACTS)
        rows = index.connection.execute(
            f"SELECT artifact, kind, head, tail FROM texts AS t WHERE {seen.condition}",  # noqa: S608
            seen.parameters,
        ).fetchall()
    found = {artifact: joined(kind, head, tail) for artifact, kind, head, tail in rows}
    assert len(found) == len(rows)
    return found
