"""What is taken away is gone wherever it was said, and everything else goes on without it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from commands.iterate import prepare
from commands.moments import resolve
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.redaction import (
    SHORTEST,
    copies,
    has_content,
    redact_events,
    texts,
    whole_exchange,
    with_its_reply,
)
from commands.sessions import LabelMoment, start_session
from commands.thinking import InjectThought
from domain.errors import BadText, NoSuchMoment, NothingChanges
from domain.events import (
    REDACTED,
    DraftEmitted,
    ThoughtAdded,
    ThoughtEmbedded,
)
from domain.ids import SessionId
from domain.protocol.observe import thoughts_limit
from domain.recorded import Recorded
from domain.refs import parse_ref
from domain.sampling import sample
from domain.session import fold
from projections.board import board
from projections.history import History
from projections.thoughts import Thoughts
from projections.timeline import summary
from tests.stories.cast import Rehearsed, Stage
from tests.stories.thinker import Cast
from tests.strategies import histories

SAID = "she lives in Bay Street 7"
CHILD, LEAF = SessionId("tides/b"), SessionId("tides/b/c")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An exchange with two drafts, the second accepted, and another one that awaits an answer."""
    stage = Stage(tmp_path).begins(f"why? I ask since {SAID}")
    stage.runs(f"thoughts: [her address, '{SAID}']\ndraft: |\n  Because\n  {SAID}, as you say.")
    stage.runs("thoughts: [the moon]\ndraft: Because the moon pulls on both sides.")
    stage.does(MarkSeen(indexes=(1, 2)), AcceptDraft(index=2))
    stage.does(SendMessage(text="and the sun? what does it do?"))
    stage.runs("thoughts: [the sun]\ndraft: It does the same from farther away.")
    yield stage
    stage.log.close()


def one(stage: Stage, kind: str, which: int = 0) -> Recorded:
    """The n-th event of a kind."""
    return [r for r in stage.history() if r.event.kind == kind][which]


def names(events: Sequence[Recorded]) -> list[str]:
    """Which events, by kind and version."""
    return [f"{r.event.kind} {r.version}" for r in events]


def gone(stage: Stage, *events: Recorded, reason: str = "private") -> None:
    """Take them away."""
    assert redact_events(stage.log, events, reason, stage.world).gone


# what goes along


def test_a_draft_and_the_reply_it_came_from(stage: Stage) -> None:
    """The raw output holds the same text, so it goes along, in whatever session one asks."""
    draft = one(stage, "draft.emitted")
    assert draft.cause is not None
    reply = stage.log.pick(stage.session, [draft.cause])[0]
    assert with_its_reply(stage.log, stage.session, draft.version) == [draft, reply]
    fork_session(stage.log, stage.session, draft.version + 3, CHILD, stage.world)
    assert with_its_reply(stage.log, CHILD, draft.version) == [draft, reply]
    gone(stage, reply)
    (alone,) = with_its_reply(stage.log, stage.session, draft.version)
    assert alone.event == draft.event


def test_a_thought_and_the_reply_it_came_from(stage: Stage) -> None:
    """What the mind thought came in a reply, too; what the user thought did not."""
    thought = one(stage, "thought.added", 1)
    found = with_its_reply(stage.log, stage.session, thought.version)
    assert [r.event.kind for r in found] == ["thought.added", "mind.invoked"]
    stage.does(InjectThought(text="of my own", by="user:ann"))
    own = one(stage, "thought.added", -1)
    assert with_its_reply(stage.log, stage.session, own.version) == [own]


def test_others_go_alone(stage: Stage) -> None:
    """A message, a reply, a label: whatever caused them stays."""
    for kind in ("message.sent", "mind.invoked", "draft.accepted", "session.started"):
        recorded = one(stage, kind)
        assert with_its_reply(stage.log, stage.session, recorded.version) == [recorded]
    assert with_its_reply(stage.log, stage.session, 999) == []


def test_a_whole_exchange(stage: Stage) -> None:
    """Its message, its drafts and all replies while it was open; no thought, no other exchange."""
    head = stage.state.version
    found = whole_exchange(stage.log, stage.session, "exc_1_000", head)
    kinds = [r.event.kind for r in found]
    assert kinds == ["message.sent", *["mind.invoked", "draft.emitted"] * 2]
    assert [r.version for r in found] == sorted(r.version for r in found)
    assert whole_exchange(stage.log, stage.session, "exc_1", head) == found
    second = whole_exchange(stage.log, stage.session, "exc_3", head)
    assert [r.event.kind for r in second] == ["message.sent", "mind.invoked", "draft.emitted"]
    gone(stage, *found)
    assert whole_exchange(stage.log, stage.session, "exc_1_000", head) == []
    gone(stage, *second[1:])
    assert names(whole_exchange(stage.log, stage.session, "exc_3", head)) == names(second[:1])


def test_a_late_draft_belongs_to_its_exchange(tmp_path: Path) -> None:
    """A draft that came after the acceptance goes with its exchange, and so does its reply."""
    stage = Stage(tmp_path).begins()
    stage.runs("draft: Because the moon pulls on both sides.")

    def accepted(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and the sun? what does it do?"))
        return "draft: This answer comes too late."

    stage.runs(accepted, iterations=1)
    head = stage.state.version
    found = whole_exchange(stage.log, stage.session, "exc_1", head)
    drafts = [r.event for r in found if isinstance(r.event, DraftEmitted)]
    assert [draft.late for draft in drafts] == [False, True]
    assert [r.event.kind for r in found].count("mind.invoked") == 2
    (later,) = whole_exchange(stage.log, stage.session, "exc_2", head)
    assert later.event.kind == "message.sent"


def test_exchanges_that_are_not_there(stage: Stage) -> None:
    """They are refused with those that are."""
    for name in ("exc_9_000", "exc_9", "exc_1_001"):
        with pytest.raises(NoSuchMoment):
            whole_exchange(stage.log, stage.session, name, stage.state.version)
    with pytest.raises(NoSuchMoment):
        whole_exchange(stage.log, stage.session, "exc_3", 4)


def test_a_vector_that_came_later(tmp_path: Path) -> None:
    """It tells what the text was, so it goes along: here and in branches that made their own."""
    stage = Cast(tmp_path, *[OSError("not yet")] * 2).begins()
    assert isinstance(stage, Cast)
    stage.injects(SAID)
    stage.injects("something else")
    thought = one(stage, "thought.added")
    fork_session(stage.log, stage.session, stage.state.version, CHILD, stage.world)
    fork_session(stage.log, stage.session, thought.version - 1, LEAF, stage.world)
    for name in (LEAF, CHILD, stage.session):
        stage.session = name
        stage.injects("another thought")
        stage.catches_up(9)
    found = with_its_reply(stage.log, stage.session, thought.version)
    kinds = [(r.session, r.event.kind) for r in found]
    assert kinds == [
        ("tides", "thought.added"),
        ("tides", "thought.embedded"),
        (CHILD, "thought.embedded"),
    ]
    gone(stage, *found)
    for name in (CHILD, SessionId("tides")):
        vectors = [
            r.event.embedding
            for r in stage.log.read(name, kinds=["thought.added", "thought.embedded"])
            if isinstance(r.event, ThoughtAdded | ThoughtEmbedded)
            and r.event.embedding is not None
            and getattr(r.event, "thought", r.version) == thought.version
        ]
        assert vectors
        assert not any(any(vector) for vector in vectors)


# copies


def test_copies_of_a_text(stage: Stage) -> None:
    """Messages, thoughts, drafts, replies and notes with the text in them, in any session."""
    fork_session(stage.log, stage.session, stage.state.version, CHILD, stage.world)
    other = SessionId("other")
    start_session(stage.log, other, stage.world, message=f"Look: {SAID}!")
    stage.does(AddNote(text=f"NB: {SAID}"))
    stage.session = CHILD
    stage.does(InjectThought(text=f"and\n  {SAID}\n", by="user:ann"))
    thought = next(
        r for r in stage.history() if isinstance(r.event, ThoughtAdded) and r.event.text == SAID
    )
    found = list(copies(stage.log, [thought]))
    assert [(r.session, r.event.kind) for r in found] == [
        ("tides", "message.sent"),
        ("tides", "mind.invoked"),
        ("tides", "draft.emitted"),
        (other, "session.started"),
        (other, "message.sent"),
        ("tides", "note.added"),
        (CHILD, "thought.added"),
    ]
    gone(stage, thought, *found)
    assert list(copies(stage.log, [thought])) == []
    content = b"".join(f.read_bytes() for f in stage.log.place.home.iterdir())
    assert SAID.encode() not in content


def test_a_text_that_is_too_short_to_be_looked_for(stage: Stage) -> None:
    """What everybody says is not a copy."""
    stage.does(InjectThought(text="x" * (SHORTEST - 1), by="user:ann"))
    stage.does(InjectThought(text="x" * (SHORTEST - 1) + " y", by="user:ann"))
    short, longer = (one(stage, "thought.added", n) for n in (-2, -1))
    assert list(copies(stage.log, [short])) == []
    assert list(copies(stage.log, [longer])) == []
    stage.does(InjectThought(text="x" * SHORTEST, by="user:ann"))
    stage.does(InjectThought(text="…" + "x" * SHORTEST + "…", by="user:ann"))
    just, around = (one(stage, "thought.added", n) for n in (-2, -1))
    assert list(copies(stage.log, [just])) == [around]


def test_what_is_redacted_has_no_copies(stage: Stage) -> None:
    """``[redacted]`` is nobody's text."""
    for which in (0, 1):
        gone(stage, one(stage, "draft.emitted", which))
    (first, second) = (one(stage, "draft.emitted", n) for n in (0, 1))
    assert texts(first.event) == texts(second.event) == []
    assert list(copies(stage.log, [first])) == []
    assert not has_content(first)


def test_a_reason_is_needed(stage: Stage) -> None:
    """Whoever reads it later wants to know why."""
    before = stage.history()
    for reason in ("", "  \n", "\0"):
        with pytest.raises(BadText, match="reason"):
            redact_events(stage.log, [one(stage, "message.sent")], reason, stage.world)
    assert stage.history() == before


def test_events_of_several_sessions_at_once(stage: Stage) -> None:
    """One wish, one actor, and each word stands where the event stands; or nothing is done."""
    fork_session(stage.log, stage.session, stage.state.version, CHILD, stage.world)
    message = one(stage, "message.sent")
    stage.session = CHILD
    stage.does(InjectThought(text=SAID, by="user:ann"))
    thought = one(stage, "thought.added", -1)
    gone(stage, message, thought)
    words = list(stage.log.read(CHILD, kinds=["event.redacted"]))
    words += stage.log.read(SessionId("tides"), kinds=["event.redacted"])
    assert [(r.session, r.cause) for r in words] == [
        (CHILD, thought.version),
        ("tides", message.version),
    ]
    assert len({(r.command, r.at, str(r.actor)) for r in words}) == 1
    before = list(stage.log.feed())
    with pytest.raises(NothingChanges, match="redacted already"):
        redact_events(stage.log, [one(stage, "draft.emitted"), thought], "x", stage.world)
    assert list(stage.log.feed()) == before


# what goes on


def everything(stage: Stage) -> None:
    """Take away all that was ever said."""
    gone(stage, *(r for r in stage.history() if has_content(r)))


def test_the_state_of_what_is_left(stage: Stage) -> None:
    """The dialogue keeps its shape: who asked, how many drafts, which was accepted."""
    before = stage.state
    everything(stage)
    after = stage.state
    assert after.dialogue.awaiting is not None
    assert after.dialogue.awaiting.text == REDACTED
    (past,) = after.dialogue.history
    (was,) = before.dialogue.history
    assert past == was._replace(question=REDACTED, answer=REDACTED)
    assert [d.text for d in after.dialogue.drafts] == [REDACTED]
    assert after.pool.active == ()
    assert after.pool.total == before.pool.total
    assert (after.iteration, after.config, after.work) == (
        before.iteration,
        before.config,
        before.work,
    )
    assert after == fold(stage.history())


def test_it_goes_on_from_there(stage: Stage) -> None:
    """Redacted drafts can be accepted, messages answered, branches made, runs begun."""
    everything(stage)
    fork_session(stage.log, stage.session, 9, CHILD, stage.world)
    stage.runs("thoughts: [a new one]\ndraft: A new draft after all that.")
    stage.does(AcceptDraft(index=1))
    stage.does(SendMessage(text="what now?"))
    stage.runs("draft: Now we go on as before.")
    stage.does(AcceptDraft())
    assert [e.answer for e in stage.state.dialogue.history] == [
        REDACTED,
        REDACTED,
        "Now we go on as before.",
    ]
    stage.session = CHILD
    assert stage.runs("draft: Another way to answer it.").reason == "draft"
    assert not [f for verdict in stage.log.verify() for f in verdict.findings]


def test_every_moment_can_still_be_named(stage: Stage) -> None:
    """Versions, iterations, exchanges, drafts, times and other labels are found as before."""
    stage.does(LabelMoment(label="kept", version=3), LabelMoment(label="dropped", version=4))
    refs = ["1", "head", "~2", "iter:1", "iter:3", "exc_1_000", "exc_1_000:1", "exc_3", "draft:1"]
    refs += ["@kept", one(stage, "message.sent", 1).when.isoformat()]
    head = stage.state.version
    before = {ref: resolve(stage.log, stage.session, parse_ref(ref), upto=head) for ref in refs}
    keep = one(stage, "session.labelled")
    gone(stage, *(r for r in stage.history() if has_content(r) and r != keep))
    fork_session(stage.log, stage.session, head, CHILD, stage.world)
    for name in (stage.session, CHILD):
        assert before == {ref: resolve(stage.log, name, parse_ref(ref), upto=head) for ref in refs}
        with pytest.raises(NoSuchMoment) as refusal:
            resolve(stage.log, name, parse_ref("@dropped"))
        assert "dropped" not in refusal.value.sentence.replace("'@dropped'", "")
        with pytest.raises(NoSuchMoment):
            resolve(stage.log, name, parse_ref("@[redacted]"))


def test_what_is_shown_of_it(stage: Stage) -> None:
    """History, board, log lines and thoughts say that it was redacted, and hold nothing else."""
    stage.does(SetSignal(presence="engaged", status=SAID, time=stage.world.local_time()))
    everything(stage)
    (turn,) = History(stage.log, stage.session).newest(5)
    assert list(History(stage.log, stage.session).all()) == [turn]
    assert (turn.question, turn.answer, turn.index) == (REDACTED, REDACTED, 2)
    pinned = board(stage.log, stage.session, "exc_1_000")
    assert pinned is not None
    assert pinned.question == REDACTED
    assert [d.text for d in pinned.drafts] == [REDACTED] * 2
    assert [d.accepted for d in pinned.drafts] == [False, True]
    assert [d.seen for d in pinned.drafts] == [True, True]
    lines = [summary(r.event) for r in stage.history()]
    assert not [line for line in lines if "Bay Street" in line or "moon" in line]
    assert "redacted" in summary(one(stage, "thought.added").event)
    thoughts = Thoughts(stage.log, stage.state)
    assert thoughts.pool() == []
    assert {found.text for found in thoughts.since(0)} == {REDACTED}
    assert not any(found.active for found in thoughts.since(0))
    assert {found.text for found in thoughts.sampled(2)} == {REDACTED}


def test_what_a_mind_is_shown(stage: Stage) -> None:
    """No redacted thought is drawn, and no prompt holds what was taken away."""
    stage.does(InjectThought(text="still here", by="user:ann"))
    keep = one(stage, "thought.added", -1)
    gone(stage, *(r for r in stage.history() if has_content(r) and r != keep))
    prepared = prepare(stage.state, Rehearsed("draft: x"), "2026-05-02T10:30:00+00:00")
    assert prepared.invocation.sampled == (keep.version,)
    for word in ("Bay Street", "moon", "the sun"):
        assert word not in prepared.request.prompt
    assert "still here" in prepared.request.prompt
    assert REDACTED in prepared.request.prompt
    for number in range(20):
        drawn = sample(stage.state.pool, thoughts_limit(stage.state), number).thoughts
        assert {thought.version for thought in drawn} == {keep.version}


def test_thoughts_leave_the_pool_at_every_version(tmp_path: Path) -> None:
    """Since ever: the pool is what it would have been, and the count is as it was."""
    stage = Stage(tmp_path).begins(active_pool_size=3)
    stage.does(*(InjectThought(text=f"thought {n}", by="user:ann") for n in range(6)))
    thoughts = [r for r in stage.history() if isinstance(r.event, ThoughtAdded)]
    gone(stage, thoughts[1], thoughts[4])
    pools = [
        [t.text[-1] for t in stage.log.state(stage.session, r.version).pool.active]
        for r in thoughts
    ]
    assert pools == [["0"], ["0"], ["0", "2"], ["0", "2", "3"], ["0", "2", "3"], ["2", "3", "5"]]
    assert stage.state.pool.total == 6


# any history


@settings(max_examples=40, deadline=None)
@given(histories(), st.data())
def test_any_history_folds_without_what_was_redacted(
    history: list[Recorded], data: st.DataObject
) -> None:
    """Whatever is taken away: there is a state at each version, of the same shape as before."""
    some = data.draw(st.sets(st.sampled_from(range(len(history)))))
    left = [
        r._replace(event=r.event.redacted(), redacted=True) if n in some and has_content(r) else r
        for n, r in enumerate(history)
    ]
    before, after = None, None
    for was, now in zip(history, left, strict=True):
        before, after = fold([was], before), fold([now], after)
        assert before is not None
        assert after is not None
        assert (after.version, after.iteration, after.config, after.work.run) == (
            before.version,
            before.iteration,
            before.config,
            before.work.run,
        )
        assert [e.id for e in after.dialogue.history] == [e.id for e in before.dialogue.history]
        assert len(after.dialogue.drafts) == len(before.dialogue.drafts)
        assert after.pool.total == before.pool.total
        assert len(after.pool.active) <= after.config.active_pool_size
        redacted = {r.version for r in left if r.redacted}
        assert not redacted & {t.version for t in after.pool.active}
        assert summary(now.event) or not now.redacted
