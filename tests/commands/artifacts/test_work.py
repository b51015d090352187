"""Working on one effort in a branch, and bringing back what came of it."""

from pathlib import Path

import pytest

from commands.artifacts.efforts import OpenEffort, ResolveEffort, RouteExchange
from commands.artifacts.facts import LearnFact
from commands.artifacts.work import bring_back, work_on
from commands.dialogue import SendMessage
from commands.forks import fork_session
from commands.handle import handle
from domain.context import assemble
from domain.errors import NoSuchArtifact, Refused, SessionExists
from domain.events import EffortBranched, EffortFocused, EffortResolved, FactLearned
from domain.ids import SessionId
from tests.stories.cast import Stage

NOW = "2026-05-02T10:30:00+00:00"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Two exchanges, of which the second belongs to an effort."""
    stage = Stage(tmp_path / "store").begins("hello to you")
    stage.answers("hello to you", "Hello, and welcome to it.")
    stage.answers("the login fails with 401", "Which token do you send?")
    stage.does(OpenEffort(goal="fix the login"))
    stage.does(RouteExchange(exchange="exc_2_000", effort=effort_of(stage)))
    return stage


def effort_of(stage: Stage) -> int:
    """The effort."""
    (effort,) = [a.id for a in stage.state.shelf.artifacts if a.type == "effort"]
    return effort


def test_the_branch_shows_the_thread_of_its_effort_alone(stage: Stage) -> None:
    """The whole history is inherited all the same, and the session knows of the branch."""
    effort = effort_of(stage)
    working = work_on(stage.log, stage.session, effort, stage.world)
    assert (working.session, working.began) == ("tides/effort-" + str(effort), True)
    branch = stage.log.state(working.session)
    assert branch.shelf.focus == effort
    turns = assemble(branch, NOW).turns
    assert [turn.text for turn in turns] == ["the login fails with 401", "Which token do you send?"]
    assert len(branch.dialogue.history) == 2
    assert stage.events(EffortBranched) == [EffortBranched(effort=effort, branch=working.session)]
    assert len(assemble(stage.state, NOW).turns) == 4


def test_what_is_said_there_belongs_to_the_effort(stage: Stage) -> None:
    """Without anybody having to say so."""
    effort = effort_of(stage)
    branch = work_on(stage.log, stage.session, effort, stage.world).session
    done = handle(stage.log, branch, SendMessage(text="I tried another token"), stage.world)
    assert done.state.shelf.thread(effort) == ("exc_2_000", "exc_3_000")


def test_there_is_one_branch_for_an_effort(stage: Stage) -> None:
    """Who wants to work on it again goes back there, under whatever name it has."""
    effort = effort_of(stage)
    first = work_on(stage.log, stage.session, effort, stage.world, name="login")
    again = work_on(stage.log, stage.session, effort, stage.world)
    assert (first.session, again.session, again.began) == ("login", "login", False)
    inside = work_on(stage.log, SessionId("login"), effort, stage.world)
    assert (inside.session, inside.began) == ("login", False)


def test_a_branch_that_was_never_noted_is_found_by_its_name(stage: Stage) -> None:
    """As after a kill between the two: who wants to work on it goes there, and it is noted then."""
    effort, version = effort_of(stage), stage.state.version
    name = SessionId(f"{stage.session}/effort-{effort}")
    focused = EffortFocused(effort=effort)
    fork_session(stage.log, stage.session, version, name, stage.world, then=[focused])
    working = work_on(stage.log, stage.session, effort, stage.world)
    assert (working.session, working.began) == (name, False)
    assert stage.events(EffortBranched) == [EffortBranched(effort=effort, branch=name)]


def test_its_end_and_what_it_taught_come_back(stage: Stage) -> None:
    """Each says which event of the branch it comes from; nothing comes twice."""
    effort = effort_of(stage)
    branch = work_on(stage.log, stage.session, effort, stage.world).session
    assert bring_back(stage.log, branch, stage.world) is None
    handle(stage.log, branch, LearnFact(statement="Tokens last an hour."), stage.world)
    handle(stage.log, branch, ResolveEffort(effort=effort, resolution="a new token"), stage.world)
    back = bring_back(stage.log, branch, stage.world)
    assert back is not None
    assert (back.session, back.effort) == (stage.session, effort)
    (fact,) = stage.events(FactLearned)
    (ended,) = stage.events(EffortResolved)
    assert (fact.statement, fact.effort, ended.resolution) == (
        "Tokens last an hour.",
        effort,
        "a new token",
    )
    for event, kind in ((fact, "fact.learned"), (ended, "effort.resolved")):
        (there,) = stage.log.pick(SessionId(event.source.session), [event.source.version])
        assert (there.session, there.event.kind) == (branch, kind)
        assert stage.log.head(branch, there.version).hash == event.source.hash
    again = bring_back(stage.log, branch, stage.world)
    assert again is not None
    assert again.events == ()


def test_parts_of_it_have_branches_of_their_own(stage: Stage) -> None:
    """An effort that is opened there is a part of it; its end comes back to that branch."""
    effort = effort_of(stage)
    branch = work_on(stage.log, stage.session, effort, stage.world).session
    handle(stage.log, branch, OpenEffort(goal="check the clock", parent=effort), stage.world)
    part = stage.log.state(branch).shelf.open_efforts[-1]
    assert part.parent == effort
    deeper = work_on(stage.log, branch, part.id, stage.world).session
    wish = ResolveEffort(effort=part.id, resolution="it was right", outcome="failed")
    handle(stage.log, deeper, wish, stage.world)
    back = bring_back(stage.log, deeper, stage.world)
    assert back is not None
    assert back.session == branch
    there = stage.log.state(branch).shelf.get(part.id)
    assert there is not None
    assert (there.status, there.outcome) == ("resolved", "failed")
    assert stage.log.state(stage.session).shelf.get(part.id) is None


def test_a_branch_of_the_branch_keeps_what_it_finds(stage: Stage) -> None:
    """It is somebody's try: only the branch that was opened for the effort brings back."""
    effort = effort_of(stage)
    branch = work_on(stage.log, stage.session, effort, stage.world).session
    version = stage.log.head(branch).version
    fork_session(stage.log, branch, version, SessionId("try"), stage.world)
    wish = ResolveEffort(effort=effort, resolution="by chance")
    handle(stage.log, SessionId("try"), wish, stage.world)
    assert bring_back(stage.log, SessionId("try"), stage.world) is None
    assert bring_back(stage.log, stage.session, stage.world) is None


def test_only_open_efforts_are_worked_on(stage: Stage) -> None:
    """A name that is taken is refused too, and nothing is begun."""
    effort = effort_of(stage)
    stage.does(LearnFact(statement="Tokens last an hour."))
    fact = stage.state.shelf.artifacts[-1].id
    with pytest.raises(Refused, match="nothing to work on"):
        work_on(stage.log, stage.session, fact, stage.world)
    with pytest.raises(NoSuchArtifact):
        work_on(stage.log, stage.session, 999, stage.world)
    with pytest.raises(SessionExists):
        work_on(stage.log, stage.session, effort, stage.world, name=stage.session)
    stage.does(ResolveEffort(effort=effort, resolution="a new token"))
    with pytest.raises(Refused, match="reopen it"):
        work_on(stage.log, stage.session, effort, stage.world)
    assert stage.log.sessions() == [stage.session]
