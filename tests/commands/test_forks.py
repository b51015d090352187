"""Branching: the past is shared, the future is each one's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.thinking import InjectThought
from domain.errors import BadSetting, NoSuchMoment, NoSuchSession, SessionExists
from domain.events import SessionForked
from domain.ids import SessionId
from tests.stories.cast import Stage

CHILD, GRANDCHILD = SessionId("tides/b"), SessionId("tides/b/c")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session in the middle of an exchange."""
    stage = Stage(tmp_path).begins()
    stage.runs("thoughts: [one, two]\ndraft: Because the moon pulls on both sides.")
    yield stage
    stage.log.close()


def test_a_fork_at_every_version_sees_what_its_parent_saw(stage: Stage) -> None:
    """The state behind the fork is the parent's there, but for name, version and run."""
    before = stage.history()
    for version in range(1, stage.state.version + 1):
        child = SessionId(f"tides/at-{version}")
        fork_session(stage.log, stage.session, version, child, stage.world)
        state = stage.log.state(child)
        then = stage.log.state(stage.session, version)
        assert stage.log.state(child, version) == then
        assert list(stage.log.read(child, upto=version)) == before[:version]
        assert state == then._replace(
            id=child,
            version=version + 1,
            at=state.at,
            work=then.work._replace(run=None),
            commands=state.commands,
        )
    assert stage.history() == before


def test_a_fork_is_one_event(stage: Stage) -> None:
    """It names the parent, the moment, the parent's hash there, and why."""
    position = stage.log.position()
    fork_session(stage.log, stage.session, 4, CHILD, stage.world, reason="a colder moon")
    assert stage.log.position() == position + 1
    first = stage.log.newest(CHILD, None)
    assert first is not None
    assert first.event == SessionForked(
        parent="tides",
        at_version=4,
        parent_hash=stage.log.head(stage.session, 4).hash,
        reason="a colder moon",
    )
    assert (first.session, first.version, first.cause) == (CHILD, 5, 4)


def test_a_branch_and_its_parent_part(stage: Stage) -> None:
    """What happens in one is not seen in the other, whichever acts first."""
    at = stage.state.version
    fork_session(stage.log, stage.session, at, CHILD, stage.world)
    stage.does(AcceptDraft())
    parent = stage.state
    stage.session = CHILD
    assert stage.state.dialogue.awaiting is not None
    stage.does(InjectThought(text="only here", by="user:ann"))
    stage.runs("draft: Another answer for another moon.")
    stage.does(AcceptDraft())
    assert stage.state.dialogue.history[0].answer == "Another answer for another moon."
    stage.session = SessionId("tides")
    assert stage.state == parent


def test_a_fork_of_a_fork_below_the_fork(stage: Stage) -> None:
    """It may leave the parent before the parent began: then it is the grandparent's branch."""
    fork_session(stage.log, stage.session, 6, CHILD, stage.world)
    fork_session(stage.log, CHILD, 3, GRANDCHILD, stage.world)
    assert stage.log.state(GRANDCHILD, 3) == stage.log.state(stage.session, 3)
    assert [s.stream for s in stage.log.path(GRANDCHILD)] == [GRANDCHILD, stage.session]
    assert not [f for verdict in stage.log.verify() for f in verdict.findings]


def test_a_long_line_of_forks(stage: Stage) -> None:
    """Two hundred generations are no deeper than one: nothing is called within itself."""
    name = stage.session
    for n in range(200):
        child = SessionId(f"tides/{n}")
        fork_session(stage.log, name, stage.log.head(name).version, child, stage.world)
        name = child
    assert stage.log.state(name).version == stage.state.version + 200
    assert stage.log.state(name).dialogue == stage.state.dialogue
    assert len(stage.log.path(name)) == 201


def test_a_fork_that_is_refused(stage: Stage) -> None:
    """A name that is taken, a moment or a parent that is not there: nothing is begun."""
    position = stage.log.position()
    with pytest.raises(SessionExists):
        fork_session(stage.log, stage.session, 2, stage.session, stage.world)
    for version in (0, -1):
        with pytest.raises(BadSetting, match="at least the first event"):
            fork_session(stage.log, stage.session, version, CHILD, stage.world)
    with pytest.raises(NoSuchMoment):
        fork_session(stage.log, stage.session, 99, CHILD, stage.world)
    with pytest.raises(NoSuchSession):
        fork_session(stage.log, SessionId("nowhere"), 1, CHILD, stage.world)
    assert stage.log.position() == position
    assert stage.log.sessions() == [stage.session]


def test_a_fork_in_the_middle_of_a_run_may_run(stage: Stage) -> None:
    """The parent's claim is not inherited."""
    began = next(r.version for r in stage.history() if r.event.kind == "run.started")
    fork_session(stage.log, stage.session, began + 1, CHILD, stage.world)
    assert stage.log.state(CHILD, began + 1).work.run is not None
    stage.session = CHILD
    assert stage.runs("draft: Another answer for another moon.").reason == "draft"
