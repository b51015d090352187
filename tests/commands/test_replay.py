"""Counterfactuals: the user's past is lived again, under other settings, and never twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.handle import handle
from commands.iterate import iterate
from commands.picks import Pick, find_picked
from commands.presence import SetSignal
from commands.relived import Ask, steps
from commands.thinking import InjectThought
from domain.actors import Actor
from domain.events import (
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    ExchangesPruned,
    MessageSent,
    MindInvoked,
    ReplayBegun,
    RunStarted,
    RunStopped,
    SessionForked,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import SessionId
from tests.stories.again import BRANCH, Steady, begun, events, goes_on, lived, own, story, told
from tests.stories.cast import Rehearsed, Stage, kinds
from tests.stories.thinker import Cast, reply


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with three exchanges, and all that a user can do in one."""
    stage = story(Stage(tmp_path))
    yield stage
    stage.log.close()


# what is lived again


def test_the_users_past_is_lived_again(stage: Stage) -> None:
    """Messages, thoughts, signals, marks, prunes and settings, in order; drafts are its own."""
    ended = lived(stage)
    assert (ended.reason, ended.lived, ended.iterations) == ("done", ended.steps, 8)
    users = ("message.sent", "signal.changed", "exchanges.pruned", "draft.accepted")
    source, branch = stage.session, BRANCH
    after = stage.log.newest(branch, ["session.forked"])
    assert after is not None
    was = [r.event.kind for r in stage.log.read(source, after=1) if r.event.kind in users]
    now = [r.event.kind for r in own(stage) if r.event.kind in users]
    assert now == was
    for of in (MessageSent, SignalChanged):
        same = {"exclude": {"source"}}
        assert [e.model_dump(**same) for e in events(stage, branch, of)] == [
            e.model_dump(**same) for e in events(stage, source, of)
        ]
    assert events(stage, branch, ThoughtAdded)[0].text == "think of Fundy"
    assert events(stage, branch, ExchangesPruned)[-1].exchanges == ("exc_1_000",)
    taken = [(e.exchange, e.index) for e in events(stage, branch, DraftAccepted)]
    assert taken == [("exc_1_000", 3), ("exc_4_000", 3)]
    answers = [e.answer for e in stage.log.state(branch).dialogue.history]
    assert answers == ["the other answer no 3", "the other answer no 6"]
    awaiting = stage.log.state(branch).dialogue.awaiting
    assert awaiting is not None
    assert (awaiting.text, len(stage.log.state(branch).dialogue.drafts)) == ("and the wind?", 2)


def test_the_branch_begins_before_the_first_message(stage: Stage) -> None:
    """Fork, replay and settings are one append; each step names the replay as its cause."""
    head = stage.log.head(stage.session)
    lived(stage, settings={"model": "script:third", "token_limit": "100"})
    history = list(stage.log.read(BRANCH))
    assert kinds(history)[:5] == [
        "session.started",
        "session.forked",
        "replay.begun",
        "config.changed",
        "config.changed",
    ]
    assert len({r.command for r in history[1:5]}) == 1
    forked, replay = history[1].event, history[2].event
    assert isinstance(forked, SessionForked)
    assert (forked.parent, forked.at_version) == (stage.session, 1)
    assert replay == ReplayBegun(source=stage.session, after=1, upto=head.version)
    assert {r.cause for r in history if r.event.kind == "message.sent"} == {3}
    assert stage.log.head(stage.session) == head, "the source never knows"
    assert not [f for v in stage.log.verify() for f in v.findings]


def test_as_many_iterations_in_each_exchange(stage: Stage) -> None:
    """The mind is asked as often as the other one was, watched where that one was watched."""
    lived(stage)
    asked = [kind for kind in kinds(own(stage)) if kind in {"message.sent", "mind.invoked"}]
    three = ["message.sent", *["mind.invoked"] * 3]
    assert asked == [*three, *three, "message.sent", *["mind.invoked"] * 2]
    runs = [(e.mode, e.limit, e.exact) for e in events(stage, BRANCH, RunStarted)]
    assert runs == [("background", 3, True), ("observe", 3, True), ("observe", 2, True)]
    assert [e.indexes for e in events(stage, BRANCH, DraftSeen)] == [
        (1, 3),  # marked, as it was
        *((1,), (2,), (3,)),  # watched
        *((1,), (2,)),
    ]
    assert {e.reason for e in events(stage, BRANCH, RunStopped)} == {"limit"}
    assert stage.log.state(BRANCH).work.run is None


def test_what_is_set_stays_set(stage: Stage) -> None:
    """The source's later changes of these keys are left out, those of others are lived again."""
    lived(stage, settings={"model": "script:third"})
    changes = [(e.key, e.new) for e in events(stage, BRANCH, ConfigChanged)]
    assert changes == [("model", "script:third"), ("temperature", 1.0)]


def test_what_is_set_to_what_it_was_stays_too(stage: Stage) -> None:
    """Keeping a setting that the source gave up later is a choice, and is recorded as one."""
    lived(stage, settings={"model": "script:rehearsed", "token_limit": "4000"})
    changes = [(e.key, e.new) for e in events(stage, BRANCH, ConfigChanged)]
    assert changes == [("model", "script:rehearsed"), ("temperature", 1.0)]


def test_the_mind_is_shown_the_times_of_then(stage: Stage) -> None:
    """Nothing in a prompt differs by when it is asked again."""
    source = [e.user_time for e in events(stage, stage.session, MindInvoked)]
    stage.world.time += 10**12
    lived(stage)
    assert [e.user_time for e in events(stage, BRANCH, MindInvoked)] == source
    assert own(stage)[0].at > 10**12, "when it happened is another matter"


def test_the_same_mind_says_the_same(stage: Stage) -> None:
    """Replaying with a mind that always answers the same gives the same conversation."""
    lived(stage, "one", Steady(stage, SessionId("one"), "same"))
    stage.session = SessionId("one")
    lived(stage, "two", Steady(stage, SessionId("two"), "same"))
    assert told(stage, "two") == told(stage, "one")
    one, two = (stage.log.state(SessionId(name)) for name in ("one", "two"))
    assert [e.answer for e in two.dialogue.history] == [e.answer for e in one.dialogue.history]


def test_a_part_of_the_past(stage: Stage) -> None:
    """From a moment in mid-exchange, up to another one."""
    messages = list(stage.log.read(stage.session, kinds=["message.sent"]))
    drafts = list(stage.log.read(stage.session, kinds=["draft.emitted"]))
    ended = lived(stage, after=drafts[0].version, upto=messages[1].version)
    assert ended.reason == "done"
    state = stage.log.state(BRANCH)
    assert state.dialogue.awaiting is not None
    assert state.dialogue.awaiting.text == "and the sun?"
    assert state.iteration == 3
    (exchange,) = state.dialogue.history
    assert (exchange.drafts, exchange.answer) == (3, "the other answer no 2")


@pytest.mark.parametrize("kind", ["mind.invoked", "thought.added", "draft.emitted"])
def test_a_branch_that_begins_inside_an_iteration(stage: Stage, kind: str) -> None:
    """The iteration that was cut in two is not lived again: the first part of it is there."""
    first = next(iter(stage.log.read(stage.session, after=4, kinds=[kind])))
    ended = lived(stage, after=first.version)
    assert (ended.reason, ended.iterations) == ("done", 7)
    assert stage.log.state(BRANCH).iteration == 8


def test_seen_marks_of_drafts_that_are_not_there(stage: Stage) -> None:
    """They are made as far as drafts of that index exist, and else passed by."""
    invoked = list(stage.log.read(stage.session, kinds=["mind.invoked"]))
    lived(stage, mind=Rehearsed(reply("x"), reply("y"), "draft: a draft, and the only one"))
    assert events(stage, BRANCH, DraftSeen)[0].indexes == (1,)
    lived(stage, "late", after=invoked[2].version, mind=Rehearsed(reply("nothing to say")))
    assert [e.indexes for e in events(stage, "late", DraftSeen)] == [(1,)]


def test_forks_of_forks_are_sources_too(stage: Stage) -> None:
    """A part that three sessions hold between them is one past."""
    drafts = list(stage.log.read(stage.session, kinds=["draft.emitted"]))
    fork_session(stage.log, stage.session, drafts[1].version, SessionId("b"), stage.world)
    stage.session = SessionId("b")
    stage.does(SetSignal(presence="absent", time=stage.world.local_time()))
    invoked = stage.runs(reply("a thought") + "\ndraft: a third answer to it", iterations=1)
    assert invoked.iterations == 1
    version = stage.log.head(stage.session).version - 2  # in the middle of that iteration
    fork_session(stage.log, stage.session, version, SessionId("c"), stage.world)
    stage.session = SessionId("c")
    stage.does(AcceptDraft(), SendMessage(text="and then?"))
    ended = lived(stage)
    assert (ended.reason, ended.iterations) == ("done", 3)
    assert [e.answer for e in stage.log.state(BRANCH).dialogue.history] == ["the other answer no 3"]
    assert [e.presence for e in events(stage, BRANCH, SignalChanged)] == ["reviewing", "absent"]


def test_hooks_are_not_lived_again(stage: Stage) -> None:
    """What code around iterations put into the pool was an answer to another mind."""
    wish = InjectThought(text="said the hook", by="agent:hook:novelty")
    by = Actor("agent", "hook:novelty")
    handle(stage.log, stage.session, wish, stage.world, by=by)
    lived(stage)
    assert "said the hook" not in [t.text for t in events(stage, BRANCH, ThoughtAdded)]


def test_what_the_user_did_while_the_mind_was_at_work(tmp_path: Path) -> None:
    """It stands behind the iteration that did not see it; a late draft is in time here."""
    stage = Stage(tmp_path).begins("first question")

    def meanwhile(*_: Any) -> str:
        stage.does(
            InjectThought(text="meanwhile", by="user:ann"),
            AcceptDraft(),
            SendMessage(text="second question"),
        )
        return "draft: too late for the first question"

    stage.runs("draft: the answer to the first question", meanwhile, iterations=2)
    assert [e.late for e in events(stage, stage.session, DraftEmitted)] == [False, True]
    stage.runs("draft: the answer to the second question", iterations=1)
    stage.does(AcceptDraft(), PruneExchanges(exchanges=("exc_2_000",)))
    ended = lived(stage)
    assert (ended.reason, ended.iterations) == ("done", 3)
    assert [k for k in kinds(own(stage)) if k in {"mind.invoked", "message.sent"}] == [
        *("message.sent", "mind.invoked", "mind.invoked", "message.sent", "mind.invoked"),
    ]
    history = stage.log.state(BRANCH).dialogue.history
    assert [(e.id, e.answer) for e in history] == [
        ("exc_1_000", "the other answer no 2"),
        ("exc_3_000", "the other answer no 3"),
    ]
    assert [e.pruned for e in history] == [False, True], "known by its place, not by its id"


def test_iterations_without_a_run(tmp_path: Path) -> None:
    """Whether somebody watched is told by what the iteration left behind."""
    stage = Stage(tmp_path).begins()
    for seen in (True, False):
        iterate(stage.log, stage.session, Rehearsed("draft: one of two"), stage.world, seen=seen)
    upto = stage.log.head(stage.session).version
    asks = [s.what for s in steps(stage.log, stage.session, 1, upto) if isinstance(s.what, Ask)]
    assert [ask.seen for ask in asks] == [True, False]


def test_what_was_picked_is_brought_again(stage: Stage) -> None:
    """It comes as it came, names where it is from, and asks no mind."""
    fork_session(stage.log, stage.session, 1, SessionId("other"), stage.world)
    here, stage.session = stage.session, SessionId("other")
    stage.does(SendMessage(text="q1"))
    stage.answers("q1", "the answer to question 1")
    stage.answers("q2", "the answer to question 2")
    stage.does(InjectThought(text="from elsewhere", by="user:bob"))
    accepted = [r.version for r in stage.log.read(stage.session, kinds=["draft.accepted"])]
    elsewhere = [*accepted, stage.log.head(stage.session).version]
    picked = find_picked(stage.log, here, [(stage.session, version) for version in elsewhere])
    stage.session = here
    stage.does(AcceptDraft(), Pick(picked=tuple(picked)))
    ended = lived(stage)
    assert (ended.reason, ended.iterations) == ("done", 8)
    history = stage.log.state(BRANCH).dialogue.history
    assert [(e.question, e.answer) for e in history[-2:]] == [
        ("q1", "the answer to question 1"),
        ("q2", "the answer to question 2"),
    ]
    kinds_ = ["message.sent", "draft.emitted", "draft.accepted"]
    assert kinds(own(stage))[-7:] == [*kinds_, *kinds_, "thought.added"]
    for event in (MessageSent, DraftEmitted, ThoughtAdded):
        was, now = (events(stage, name, event)[-1] for name in (here, BRANCH))
        assert now.source == was.source is not None
        assert now.text == was.text
    thought = events(stage, BRANCH, ThoughtAdded)[-1]
    assert (thought.origin, thought.mind) == ("imported", "user:bob")


@pytest.mark.parametrize("embedder", [None, "local", "openai:other"])
@pytest.mark.parametrize("late", [False, True])
def test_vectors_and_clusters_are_made_as_in_any_run(
    tmp_path: Path, embedder: str | None, *, late: bool
) -> None:
    """Thoughts find company in the branch, also where another model makes the vectors."""
    stage = Cast(tmp_path)
    stage.begins("why?")
    stage.thinks_a_lot(4)
    after = stage.log.head(stage.session).version if late else 1
    stage.injects("moon and moon moon number 99")
    stage.thinks("wind and wind wind number 98")
    chosen = {"embedding_model": embedder} if embedder else {}
    begun(stage, after=after, settings=chosen, gatherer=stage.gatherer)
    mind = Rehearsed(reply("moon and moon moon number 7", "sun and sun sun number 8"))
    assert goes_on(stage, mind, gatherer=stage.gatherer).reason == "done"
    pool = stage.log.state(BRANCH).pool
    assert len(pool.active) == (23 if late else 11)
    assert all(thought.embedded for thought in pool.active)
    assert pool.sizes
    newest = events(stage, BRANCH, ThoughtAdded)[-1]
    assert newest.embedding_model == stage.embedders[embedder or "local"].model
    assert not stage.problems


def test_another_model_of_vectors_in_the_middle(tmp_path: Path) -> None:
    """Where the source gave its pool new vectors, the branch does, unless it was told not to."""
    stage = Cast(tmp_path)
    stage.begins("why?")
    stage.thinks("moon and moon moon number 1")
    stage.changes_embedder("openai:other")
    stage.thinks("moon and moon moon number 2")
    mind = Rehearsed(reply("sun and sun sun number 8"))
    for name, model in (("same", None), ("kept", "local")):
        chosen = {"embedding_model": model} if model else {}
        begun(stage, name, settings=chosen, gatherer=stage.gatherer)
        assert goes_on(stage, mind, name, gatherer=stage.gatherer).reason == "done"
        state = stage.log.state(SessionId(name))
        assert state.config.embedding_model == (model or "openai:other")
        assert [t.embedded for t in state.pool.active] == [True, True]
    assert not stage.problems
