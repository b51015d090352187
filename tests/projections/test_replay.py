"""The replay proof: what was shown and what is kept comes out of the log again, or is named."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from commands.eventlog import EventLog
from commands.eventlog.recorder import Mark
from commands.eventlog.snapshots import Snapshot
from commands.forks import fork_session
from commands.handle import handle
from commands.minds.mind import MindFailed
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.recording import RecordIteration
from commands.redaction import redact_events
from commands.sessions import ChangeConfig
from commands.thinking import InjectThought
from domain.errors import NoSuchSession
from domain.events import MindInvoked
from domain.ids import SessionId
from domain.session import Session
from projections.replay import Proof, Tally, differing, prove
from tests.often import often
from tests.projections.branching import Branch, branches, grown
from tests.stories.again import lived, story
from tests.stories.cast import Rehearsed, Stage
from tests.stories.thinker import Cast, reply, sentence
from tests.strategies import Wish, turns


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with eight iterations."""
    stage = story(Stage(tmp_path))
    yield stage
    stage.log.close()


def proven(log: EventLog, *sessions: str) -> Proof:
    """The proof of these sessions, or of all."""
    names = [SessionId(name) for name in sessions] or log.sessions()
    return prove(log, names, log.snapshots)


def last_invoked(stage: Stage) -> MindInvoked:
    """The newest invocation."""
    recorded = stage.log.newest(stage.session, ["mind.invoked"])
    assert recorded is not None
    assert isinstance(recorded.event, MindInvoked)
    return recorded.event


def records(stage: Stage, **changes: Any) -> MindInvoked:
    """One more iteration, recorded with something that is not so."""
    stage.runs(reply("a thought"), iterations=1)
    invocation = last_invoked(stage).model_copy(update=changes)
    awaiting = stage.state.dialogue.awaiting
    assert awaiting is not None
    stage.does(RecordIteration(invocation=invocation, exchange=awaiting.exchange))
    return invocation


def keeps(log: EventLog, session: SessionId, *states: Session) -> None:
    """States are kept as if they were those of their versions."""
    snapshots = [Snapshot(s, log.head(session, s.version).hash) for s in states]
    log._states._snapshots.save(session, snapshots, Mark("", log.mark()))


def test_everything_comes_out_as_it_was(stage: Stage) -> None:
    """Prompts, draws and states of a session and of a branch that lived its past again."""
    assert lived(stage).reason == "done"
    proof = proven(stage.log)
    assert proof.holds
    assert proof.prompts == proof.samples == Tally(equal=16)
    assert proof.states == Tally(equal=2)
    assert proof.other_system_prompts == 0
    assert proof.events == stage.log.position()
    assert proof.differences == ()


@pytest.mark.parametrize("dialect", ["full", "compact"])
def test_both_dialects(tmp_path: Path, dialect: Any) -> None:
    """Failed, skipped and unreadable iterations had a prompt as well."""
    stage = Stage(tmp_path).begins()
    failure = MindFailed("Too late.", retryable=True)
    lines = (reply("x"), failure, "skip: true", "{", "draft: '+1'", "draft: good enough, I think")
    stage.runs(mind=Rehearsed(*lines, dialect=dialect), mode="background", iterations=6)
    proof = proven(stage.log)
    assert proof.holds
    assert proof.prompts == Tally(equal=6)


def test_a_session_without_iterations(tmp_path: Path) -> None:
    """There is nothing to prove but its state."""
    stage = Stage(tmp_path)
    assert proven(stage.log) == Proof(())
    with pytest.raises(NoSuchSession):
        proven(stage.log, "nowhere")
    proof = proven(stage.begins(message=None).log)
    assert (proof.holds, proof.events, proof.prompts.checked) == (True, 1, 0)


def test_each_stream_is_replayed_once(stage: Stage) -> None:
    """Of many branches of branches, whatever they share is proven once, inside iterations too."""
    names = []
    for number in range(6):
        parent, child = stage.session, SessionId(f"b{number}")
        invoked = list(stage.log.read(parent, kinds=["mind.invoked"]))[-1 - number % 3]
        fork_session(stage.log, parent, invoked.version + number % 2, child, stage.world)
        stage.session = child if number < 4 else SessionId("tides")
        if stage.state.dialogue.awaiting is not None:
            stage.runs(reply("of its own") + "\ndraft: an answer of its own", iterations=2)
        names.append(child)
    every = proven(stage.log)
    assert every.holds
    assert every.events == stage.log.position()
    assert every.prompts.equal == sum(r.event.kind == "mind.invoked" for r in stage.log.feed())
    alone = proven(stage.log, names[2])
    assert alone.holds
    assert alone.events == stage.log.head(names[2]).version
    both = proven(stage.log, names[2], "tides", names[2])
    assert both.sessions == (names[2], "tides")
    assert both.events > alone.events


def test_another_prompt(stage: Stage) -> None:
    """It is named with its iteration, its version, the recorded hash, and the one that is found."""
    honest = last_invoked(stage).prompt_hash
    invocation = records(stage, prompt_hash=b"\7" * 32)
    proof = proven(stage.log)
    assert not proof.holds
    assert proof.prompts == Tally(equal=9, different=1)
    (difference,) = proof.differences
    version = stage.log.newest(stage.session, ["mind.invoked"])
    assert version is not None
    assert difference[:4] == ("prompt", stage.session, version.version, 10)
    assert difference.recorded == "07" * 32
    assert len(difference.found) == 64
    assert difference.found not in {honest.hex(), difference.recorded}
    assert invocation.iteration == 9, "recorded as the tenth"


def test_another_sample(stage: Stage) -> None:
    """A draw that the seed does not give is told with the first thought that differs."""
    stage.runs(reply("one", "two", "three", "four"), iterations=1)
    stage.runs(reply("x"), iterations=1)
    honest, awaiting = last_invoked(stage), stage.state.dialogue.awaiting
    assert awaiting is not None
    drawn = honest.sampled
    cases = (
        ((*drawn, 4), len(drawn) + 1),
        (drawn[:-1], len(drawn)),
        ((drawn[1], drawn[0], *drawn[2:]), 1),
    )
    for told, where in cases:
        wrong = honest.model_copy(update={"sampled": told})
        stage.does(RecordIteration(invocation=wrong, exchange=awaiting.exchange))
        newest = proven(stage.log).differences[-1]
        assert newest.what == "sample"
        assert newest.recorded == " ".join(map(str, told))
        assert newest.found == " ".join(map(str, drawn))
        assert newest.where == (f"thought {where} of the sample",)
    assert proven(stage.log).samples.different == len(cases)


def test_an_invocation_that_is_based_on_nothing(stage: Stage) -> None:
    """It is named, and the others are still proven."""
    for version in (0, 10_000):
        records(stage, based_on=version)
    proof = proven(stage.log)
    assert proof.prompts == Tally(equal=10, different=2)
    assert [d.where for d in proof.differences] == [
        ("there is no event 0",),
        ("there is no event 10000",),
    ]


def test_another_system_prompt_is_told_and_is_no_difference(stage: Stage) -> None:
    """A later version has other words for the rules; what the mind was shown is proven still."""
    records(stage, system_hash=bytes(32))
    records(stage, dialect="klingon")
    proof = proven(stage.log)
    assert proof.other_system_prompts == 2


def test_a_long_time_between_a_prompt_and_its_answer(tmp_path: Path) -> None:
    """Whatever the user did meanwhile, the prompt is rendered from the state that was shown."""
    stage = Stage(tmp_path).begins()

    def slowly(*_: Any) -> str:
        for number in range(200):
            stage.does(AddNote(text=f"note {number}"))
        stage.does(SetSignal(presence="engaged", time=stage.world.local_time()))
        return "draft: an answer that took its time"

    stage.runs(reply("x"), slowly, "draft: and another one", iterations=3)
    proof = proven(stage.log)
    assert proof.holds
    assert proof.prompts == Tally(equal=3)
    assert proof.states.equal > 1, "there are kept states by now"


def test_recalled_thoughts(tmp_path: Path) -> None:
    """What was called back from beyond the pool is in the prompt; such draws prove nothing."""
    stage = Cast(tmp_path)
    stage.begins("why?", active_pool_size=8, sampling="recall", min_cluster_size=2)
    stage.thinks_a_lot(12)
    recalled = [r.event.recalled for r in stage.log.read(stage.session, kinds=["mind.invoked"])]
    assert any(recalled)
    proof = proven(stage.log)
    assert proof.holds
    assert proof.prompts == Tally(equal=12)
    assert proof.samples == Tally()
    stage.does(ChangeConfig(key="sampling", value="uniform"))
    stage.thinks(sentence("moon", 99))
    assert proven(stage.log).samples == Tally(equal=1)


# what was redacted


@pytest.mark.parametrize(
    "kind", ["message.sent", "thought.added", "draft.emitted", "signal.changed"]
)
def test_prompts_that_can_not_be_rendered_any_more(stage: Stage, kind: str) -> None:
    """Those that were made from what was redacted are counted apart; the others are proven."""
    before = proven(stage.log).prompts.equal
    spoken = [
        r for r in stage.log.read(stage.session, kinds=[kind]) if getattr(r.event, "status", "x")
    ][-1]
    later = sum(
        isinstance(r.event, MindInvoked) and r.event.based_on >= spoken.version
        for r in stage.history()
    )
    redact_events(stage.log, [spoken], "personal", stage.world)
    proof = proven(stage.log)
    assert proof.holds
    assert proof.differences == ()
    assert proof.prompts == Tally(equal=before - later, unproven=later)
    assert proof.samples.checked == before
    assert proof.states.different == 0


def test_a_redaction_hides_no_other_difference(stage: Stage) -> None:
    """A prompt that nothing redacted was part of is still held to its hash."""
    thoughts = list(stage.log.read(stage.session, kinds=["mind.invoked"]))
    raw = next(r for r in thoughts if isinstance(r.event, MindInvoked) and r.event.raw)
    redact_events(stage.log, [raw], "personal", stage.world)
    records(stage, prompt_hash=bytes(32))
    assert proven(stage.log).prompts == Tally(equal=9, different=1)


# what is kept


def test_kept_states(stage: Stage) -> None:
    """Each is compared with the folded one of its version, and so is what the log answers now."""
    versions = (3, 7, 20)
    keeps(stage.log, stage.session, *(stage.log.state(stage.session, v) for v in versions))
    fork_session(stage.log, stage.session, 10, SessionId("b"), stage.world)
    assert proven(stage.log).states == Tally(equal=5)
    assert proven(stage.log, "b").states == Tally(equal=3), "two of the parent's, and its own"


def test_a_kept_state_that_is_another(stage: Stage) -> None:
    """The parts that differ are named, with both values of the first."""
    state = stage.log.state(stage.session, 9)
    config = state.config.changed("token_limit", 17)
    thought = state.pool.active[0]._replace(text="never thought")
    pool = state.pool._replace(active=(thought, *state.pool.active[1:]))
    keeps(stage.log, stage.session, state._replace(config=config, iteration=7, pool=pool))
    proof = proven(stage.log)
    assert not proof.holds
    assert proof.states == Tally(equal=1, different=1)
    (difference,) = proof.differences
    assert difference[:3] == ("state", stage.session, 9)
    assert difference.where == ("config.token_limit", "iteration", "pool.active.0.text")
    assert (difference.recorded, difference.found) == ("17", "4000")


def test_kept_states_of_events_that_are_not_there(stage: Stage) -> None:
    """A tail that was cut off may be remembered by what was kept of it."""
    newest = stage.state
    snapshot = Snapshot(newest._replace(version=newest.version + 5), bytes(32))
    stage.log._states._snapshots.save(stage.session, [snapshot], Mark("", b""))
    (difference,) = proven(stage.log).differences
    assert (difference.version, difference.where) == (newest.version + 5, ("version",))


def test_a_torn_snapshot_is_nothing_to_hold_on_to(stage: Stage, tmp_path: Path) -> None:
    """It is a cache that nobody reads: counted, and no difference."""
    keeps(stage.log, stage.session, stage.log.state(stage.session, 9))
    with sqlite3.connect(tmp_path / "snapshots.db") as connection:
        connection.execute("UPDATE states SET state = x'00'")
    connection.close()
    proof = proven(stage.log)
    assert proof.holds
    assert proof.states == Tally(equal=1, unproven=1)


@often(10, 25, steps=turns, more=branches, data=st.data())
def test_states_of_any_history(steps: Sequence[Wish], more: Sequence[Branch], data: Any) -> None:
    """Whatever happened in whatever branches, each kept state is the folded one."""
    with grown(steps, more) as log:
        kept = 0
        for session in log.sessions():
            first, last = log.path(session)[0].after + 1, log.head(session).version
            versions = data.draw(st.sets(st.integers(first, last), max_size=4))
            keeps(log, session, *(log.state(session, version) for version in sorted(versions)))
            kept += len(versions)
        proof = proven(log)
        assert proof.states == Tally(equal=kept + len(log.sessions()))
        assert proof.events == log.position()
        assert {d.what for d in proof.differences} <= {"prompt", "sample"}


def test_where_two_states_differ(stage: Stage) -> None:
    """Part by part: fields by name, elements by place, sequences of other lengths as a whole."""
    state = stage.state
    assert list(differing(state, state)) == []
    shorter = state._replace(commands=state.commands[1:], archived=True)
    assert [d.path for d in differing(shorter, state)] == ["commands", "archived"]
    handle(stage.log, stage.session, InjectThought(text="x", by="user:ann"), stage.world)
    assert [d.path for d in differing(stage.state, state)] == [
        *("version", "at", "pool.active", "pool.total", "commands"),
    ]
