"""From a wish to events: once, in order of time, and again when somebody else was faster."""

from pathlib import Path

import pytest

from commands.command import Command, Decision
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.eventlog import EventLog
from commands.handle import RACES, handle
from commands.thinking import InjectThought
from domain.actors import Actor
from domain.errors import AnswerFirst, NoSuchSession, NothingAwaits
from domain.events import ThoughtAdded
from domain.ids import CommandId, SessionId
from domain.session import Session
from tests.stories.cast import Stage, SteadyWorld

WISH = CommandId(b"one and the same")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A session with a question that awaits an answer."""
    return Stage(tmp_path).begins()


class Outrun(Command):
    """A thought that others are faster than, so many times."""

    text: str

    def decide(self, session: Session) -> Decision:
        """The thought, numbered by what is there."""
        yield ThoughtAdded(text=f"{self.text} {session.version}", iteration=1, mind="user:ann")


def test_a_wish_is_carried_out_once(stage: Stage) -> None:
    """A client that repeats it under the same id, after an answer was lost, changes nothing."""
    wish = InjectThought(text="mind the sun", by="user:ann")
    first = handle(stage.log, stage.session, wish, stage.world, command_id=WISH)
    again = handle(stage.log, stage.session, wish, stage.world, command_id=WISH)
    assert len(first.events) == 1
    assert again.events == ()
    assert again.state == first.state
    with EventLog(stage.log.place.home) as other:
        assert handle(other, stage.session, wish, stage.world, command_id=WISH).events == ()


def test_a_refused_wish_leaves_no_trace(stage: Stage) -> None:
    """It may even be tried again under the same id once things have changed."""
    for _ in range(2):
        with pytest.raises(AnswerFirst):
            handle(stage.log, stage.session, SendMessage(text="x"), stage.world, command_id=WISH)
    assert stage.state.version == 2


def test_a_wish_that_becomes_nothing_writes_nothing(stage: Stage) -> None:
    """The state is given back as it was."""
    before = stage.state
    done = handle(stage.log, stage.session, MarkSeen(), stage.world)
    assert (done.state, done.events) == (before, ())


def test_who_wished_it_is_in_the_log(stage: Stage) -> None:
    """The present user, unless somebody else is named."""
    mind = Actor("mind", "script:a:b")
    wish = InjectThought(text="mind the sun", by="user:ann")
    handle(stage.log, stage.session, wish, stage.world)
    handle(stage.log, stage.session, wish, stage.world, by=mind)
    assert [r.actor for r in stage.history()[-2:]] == [stage.world.actor, mind]


def test_time_never_runs_backwards(stage: Stage) -> None:
    """Whatever the clock of this machine says."""
    before = stage.state.at
    stage.world.time -= 10**15
    stage.does(InjectThought(text="mind the sun", by="user:ann"))
    assert stage.state.at == before
    stage.world.time += 2 * 10**15
    stage.does(InjectThought(text="mind the moon", by="user:ann"))
    assert stage.state.at > before


def test_a_session_that_is_not_there(stage: Stage) -> None:
    """Refused by name."""
    with pytest.raises(NoSuchSession, match="'nowhere'"):
        handle(stage.log, SessionId("nowhere"), AcceptDraft(), stage.world)


class Racing(SteadyWorld):
    """A world in which somebody else writes just before each of our first looks at the clock."""

    def __init__(self, stage: Stage, *others: Command) -> None:
        super().__init__("eve")
        self.time = stage.world.time
        self.directory, self.session = stage.log.place.home, stage.session
        self.others = list(others)
        self.bob = SteadyWorld("bob")

    def now(self) -> int:
        """The others are faster, while there are any."""
        if self.others:
            other = self.others.pop(0)
            with EventLog(self.directory) as log:
                handle(log, self.session, other, self.bob)
        return super().now()


def thoughts(count: int) -> list[Command]:
    """What the others put in."""
    return [InjectThought(text=f"other {n}", by="user:bob") for n in range(count)]


def test_a_lost_race_is_decided_again(stage: Stage) -> None:
    """On the newer state: both wishes are fulfilled, one after the other."""
    world = Racing(stage, *thoughts(3))
    done = handle(stage.log, stage.session, Outrun(text="mine"), world)
    assert [t.text for t in done.state.pool.active] == ["other 0", "other 1", "other 2", "mine 5"]
    assert done.state == stage.log.state(stage.session)


def test_a_lost_race_may_end_in_a_refusal(stage: Stage) -> None:
    """The draft was accepted by somebody else first."""
    stage.runs("draft: Because the moon pulls on both sides.")
    with pytest.raises(NothingAwaits):
        handle(stage.log, stage.session, AcceptDraft(), Racing(stage, AcceptDraft()))
    assert len(stage.state.dialogue.history) == 1


def test_nobody_loses_for_ever(stage: Stage) -> None:
    """After a few lost races a wish is decided while nobody else can write."""
    world = Racing(stage, *thoughts(RACES))
    done = handle(stage.log, stage.session, Outrun(text="mine"), world)
    assert [t.text for t in done.state.pool.active][-1] == f"mine {RACES + 2}"
    assert [e.text for e in stage.events(ThoughtAdded)] == [t.text for t in done.state.pool.active]


def test_a_wish_that_lost_every_race_may_still_be_refused(stage: Stage) -> None:
    """The last word is the newest state's; others can write again afterwards."""
    stage.runs("draft: Because the moon pulls on both sides.")
    others = [*thoughts(RACES - 1), AcceptDraft()]
    with pytest.raises(NothingAwaits):
        handle(stage.log, stage.session, AcceptDraft(), Racing(stage, *others))
    stage.does(InjectThought(text="and on", by="user:ann"))
    assert len(stage.state.pool.active) == RACES
