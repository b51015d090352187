"""The receipt of anything: complete, as of any moment, the same in every branch."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from commands.iterate import iterate
from commands.minds.mind import MindFailed, Reply
from commands.presence import SetSignal
from commands.recording import RecordIteration
from commands.redaction import redact_events
from commands.sessions import ChangeConfig, start_session
from commands.thinking import InjectThought
from domain.errors import NoSuchCluster, NoSuchMoment
from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    MindInvoked,
    Source,
    ThoughtAdded,
)
from domain.ids import ExchangeId, SessionId
from domain.log import Log
from domain.protocol.prompts import system_prompt
from domain.recorded import Draw, Recorded
from projections.causes import Told, causes, told
from projections.past import as_of
from projections.receipts import (
    EVENTS_LOOKED_AT,
    DraftFacts,
    Receipt,
    cluster_receipt,
    receipt,
)
from tests.domain.happened import FIRST, invoked
from tests.often import often
from tests.projections.branching import Branch, branches, grown
from tests.stories.cast import Rehearsed, Stage
from tests.stories.thinker import Cast, sentence
from tests.strategies import Wish, turns

ONE, TWO = "The first answer of them all", "The second answer of them all"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with a question that awaits an answer."""
    stage = Stage(tmp_path).begins()
    yield stage
    stage.log.close()


def nth(stage: Stage, kind: type[Event], place: int = -1) -> Recorded:
    """An event of a kind, the newest unless said otherwise."""
    return [r for r in stage.history() if isinstance(r.event, kind)][place]


def explained(stage: Stage, kind: type[Event], place: int = -1, depth: int = 0) -> Receipt:
    """Its receipt."""
    return receipt(stage.log, stage.session, nth(stage, kind, place).version, depth)


def facts(stage: Stage, place: int = -1) -> DraftFacts:
    """What is known of a draft, the newest unless said otherwise."""
    draft = explained(stage, DraftEmitted, place).draft
    assert draft is not None
    return draft


def kinds(events: tuple[Told, ...]) -> list[str]:
    """What happened."""
    return [event.kind for event in events]


def test_the_receipt_of_a_draft(stage: Stage) -> None:
    """Who, when, by which mind, shown what, at what cost; seen and accepted by whom."""
    stage.does(
        InjectThought(text="compare with Fundy", by="user:ann"),
        SetSignal(presence="reviewing", status="back", time=stage.world.local_time()),
    )
    reply = Reply(
        f"```\nthoughts: [the far bulge]\ndraft: {ONE}\nconfidence: 0.5\nworking: true\n```",
        "model-of-today",
        tokens_in=10,
        tokens_out=5,
        cost_usd=0.25,
        latency_ms=1500,
        attempts=2,
    )
    stage.runs(reply)
    stage.does(AcceptDraft())
    found = explained(stage, DraftEmitted)
    recorded, invocation = nth(stage, DraftEmitted), nth(stage, MindInvoked)
    assert found.event == told(recorded)
    assert found.event.actor == "mind:rehearsed"
    assert found.command == recorded.command
    assert kinds(found.wish) == ["mind.invoked", "thought.added", "draft.seen"]
    assert found.redaction is None
    assert kinds(found.effects.events) == ["draft.seen", "draft.accepted"]
    draft, invoked_ = found.draft, found.invocation
    assert draft is not None
    assert invoked_ is not None
    assert (draft.exchange, draft.index, draft.text, draft.iteration) == ("exc_1_000", 1, ONE, 1)
    assert (draft.signal, draft.late, draft.confidence, draft.working) == (False, False, 0.5, True)
    assert (draft.repeats, draft.source) == (None, None)
    assert draft.message is not None
    assert (draft.message.text, draft.message.version) == ("why two tides?", 2)
    assert (draft.message.actor, draft.message.redacted) == ("user:ann", False)
    assert [event.actor for event in draft.seen] == ["user:ann"]
    assert draft.accepted == draft.closed == told(nth(stage, DraftAccepted))
    event = invocation.event
    assert isinstance(event, MindInvoked)
    assert (invoked_.model, invoked_.answered_by) == ("rehearsed", "model-of-today")
    assert (invoked_.protocol, invoked_.dialect) == ("1.4", "full")
    assert (invoked_.system_hash, invoked_.prompt_hash) == (
        system_prompt("full").sha256,
        event.prompt_hash,
    )
    assert (invoked_.based_on, invoked_.seed) == (event.based_on, event.seed)
    assert (invoked_.presence, invoked_.status, invoked_.mode) == ("reviewing", "back", "observe")
    assert (invoked_.tokens_in, invoked_.tokens_out, invoked_.cost_usd) == (10, 5, 0.25)
    assert (invoked_.latency_ms, invoked_.attempts, invoked_.outcome) == (1500, 2, "ok")
    assert invoked_.repairs == event.repairs != ()
    assert invoked_.message == draft.message
    assert [(s.text, s.mind, s.origin, s.iteration) for s in invoked_.shown] == [
        ("compare with Fundy", "user:ann", "injected", 1)
    ]


def test_what_the_user_did_in_between(stage: Stage) -> None:
    """Signals, seen marks, settings and thoughts of theirs; the mind's own thoughts are no such."""
    stage.runs(f"thoughts: [the far bulge]\ndraft: {ONE}")
    stage.does(
        SetSignal(presence="engaged", time=stage.world.local_time()),
        InjectThought(text="compare with Fundy", by="user:ann"),
        ChangeConfig(key="token_limit", value="99"),
    )

    def act(*_: object) -> str:
        stage.does(SetSignal(presence="absent", time=stage.world.local_time()))
        return f"draft: {TWO}"

    stage.runs(act)
    acts = facts(stage).interventions
    assert [(act.event.kind, act.shown) for act in acts] == [
        ("draft.seen", True),
        ("signal.changed", True),
        ("thought.added", True),
        ("config.changed", True),
        ("signal.changed", False),  # while the mind was at work
    ]
    assert {act.event.actor for act in acts} == {"user:ann"}
    assert facts(stage).interventions_after == 2
    found = explained(stage, DraftEmitted).invocation
    assert found is not None
    assert found.presence == "engaged"
    assert facts(stage, 0).interventions == ()


def test_an_endless_exchange_is_looked_at_from_its_end(stage: Stage) -> None:
    """What was done so long ago is left out, and it is said from where on."""
    stage.does(InjectThought(text="long ago", by="user:ann"))
    many = tuple(f"thought {n}" for n in range(EVENTS_LOOKED_AT))
    for texts, far in ((many[1:], False), (("one more",), True)):
        invocation = invoked(1, based_on=stage.state.version)
        wish = RecordIteration(invocation=invocation, exchange=FIRST, texts=texts, draft=ONE)
        stage.does(wish)
        assert facts(stage).interventions_after == (3 if far else 2)
        acts = [act.event.summary for act in facts(stage).interventions]
        assert acts == ([] if far else ["(injected) long ago"])


def test_a_repetition_says_where_it_was_said_first(stage: Stage) -> None:
    """And which one it repeats, the newest of those with its words; signals repeat as well."""
    for text in (ONE, TWO, ONE, "'+1'", ONE, "'+1'"):
        stage.runs(f"draft: {text}")
    repeats = [facts(stage, place).repeats for place in range(6)]
    assert [(r.index, r.first) if r else None for r in repeats] == [
        None,
        None,
        (1, 1),
        None,
        (3, 1),
        (4, 4),
    ]
    fifth, first, third = repeats[4], nth(stage, DraftEmitted, 0), nth(stage, DraftEmitted, 2)
    assert fifth is not None
    assert (fifth.version, fifth.iteration) == (third.version, 3)
    assert (fifth.first_version, fifth.first_iteration) == (first.version, 1)
    assert [facts(stage, place).signal for place in (3, 4)] == [True, False]


def test_who_saw_a_draft(stage: Stage) -> None:
    """Nobody in the background, until somebody marks it; of each draft its own."""
    stage.runs(f"draft: {ONE}", f"draft: {TWO}", mode="background", iterations=2)
    assert [facts(stage, place).seen for place in (0, 1)] == [(), ()]
    stage.does(MarkSeen(indexes=(2,)))
    assert facts(stage, 0).seen == ()
    assert [event.summary for event in facts(stage, 1).seen] == ["#2"]
    stage.does(AcceptDraft(index=1), SendMessage(text="and spring tides?"))
    stage.runs("draft: another exchange altogether")
    assert facts(stage, 0).seen == ()
    assert len(facts(stage, 1).seen) == 1
    other = facts(stage, 1)
    assert (other.accepted, other.closed) == (None, told(nth(stage, DraftAccepted)))
    assert facts(stage).closed is None


def test_a_late_draft_belongs_to_the_message_of_its_time(stage: Stage) -> None:
    """It is never accepted, and what closed its exchange came while the mind was at work."""
    stage.runs(f"draft: {ONE}")

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
        return f"draft: {TWO}"

    iterate(stage.log, stage.session, Rehearsed(act), stage.world, seen=True)
    late = facts(stage)
    assert late.late
    assert late.message is not None
    assert late.message.text == "why two tides?"
    assert (late.accepted, late.seen) == (None, ())
    assert late.closed == told(nth(stage, DraftAccepted))
    acts = [(act.event.kind, act.shown) for act in late.interventions]
    assert acts == [("draft.seen", True), ("draft.accepted", False), ("message.sent", False)]


@pytest.mark.parametrize(
    ("line", "outcome", "error"),
    [
        ("Certainly! Here it is.", "unparseable", "not"),
        (MindFailed("The provider is in trouble.", retryable=True), "failed", "in trouble"),
        ("skip: true", "skipped", None),
        ("thoughts: []", "ok", None),
    ],
)
def test_an_iteration_without_a_draft(
    stage: Stage, line: Any, outcome: str, error: str | None
) -> None:
    """It has a receipt like any other, with what went wrong."""
    stage.runs(line, iterations=1)
    found = explained(stage, MindInvoked)
    invoked_ = found.invocation
    assert invoked_ is not None
    assert invoked_.outcome == outcome
    assert (invoked_.error is None) == (error is None)
    assert found.draft is None
    assert "draft.emitted" not in kinds(found.wish)


def test_the_receipt_of_an_iteration(stage: Stage) -> None:
    """All that it brought, with the thoughts it was shown."""
    stage.runs("thoughts: [the far bulge]", f"draft: {ONE}", iterations=2)
    found = explained(stage, MindInvoked)
    assert kinds(found.wish) == ["draft.emitted", "draft.seen"]
    assert kinds(found.effects.events) == ["draft.emitted"]
    assert found.invocation is not None
    assert [s.text for s in found.invocation.shown] == ["the far bulge"]
    first = explained(stage, MindInvoked, 0)
    assert first.effects.invocation == found.event


def test_the_receipt_of_a_message(stage: Stage) -> None:
    """Which iteration saw it first, and which answer it got."""
    stage.runs(f"draft: {ONE}")
    found = explained(stage, MessageSent)
    assert found.message is not None
    assert (found.message.text, found.message.exchange) == ("why two tides?", "exc_1_000")
    assert found.answer is None
    assert found.effects.invocation == told(nth(stage, MindInvoked))
    assert kinds(found.wish) == ["session.started"]
    stage.does(AcceptDraft())
    assert explained(stage, MessageSent).answer == told(nth(stage, DraftAccepted))


def test_effects_are_looked_for_so_far(stage: Stage) -> None:
    """Not through all that ever came."""
    stage.runs(f"draft: {ONE}")
    version = nth(stage, DraftEmitted).version
    for _ in range(EVENTS_LOOKED_AT):
        stage.does(SetSignal(presence="absent", time=stage.world.local_time()))
    stage.does(AcceptDraft())
    found = receipt(stage.log, stage.session, version)
    assert kinds(found.effects.events) == ["draft.seen"]
    assert found.effects.upto == version + EVENTS_LOOKED_AT
    assert found.draft is not None
    assert found.draft.accepted == told(nth(stage, DraftAccepted))


def test_a_thought_has_its_invocation_in_short(stage: Stage) -> None:
    """What was shown is told once, by similarity."""
    stage.does(InjectThought(text="compare with Fundy", by="user:ann"))
    stage.runs("thoughts: [the far bulge]", iterations=1)
    found = explained(stage, ThoughtAdded, depth=3)
    assert found.thought is not None
    assert found.invocation is not None
    assert found.invocation.shown == ()
    assert [a.text for a in found.thought.ancestors] == ["compare with Fundy"]
    assert found.line == ()  # nothing has a vector here
    assert [step.way for step in found.causes] == ["because of", "based on", "in answer to"]


def test_what_is_not_there_is_refused(stage: Stage) -> None:
    """With what there is."""
    for version in (0, 3):
        with pytest.raises(NoSuchMoment, match="nearest are 1, 2"):
            receipt(stage.log, stage.session, version)
    with pytest.raises(NoSuchCluster):
        cluster_receipt(stage.log, stage.session, 1)


def test_the_past_tells_nothing_of_what_came_later(stage: Stage) -> None:
    """A draft that was accepted was not, then; nor seen, nor shown to anybody."""
    stage.runs(f"draft: {ONE}")
    version = nth(stage, DraftEmitted).version
    stage.does(AcceptDraft())
    then = receipt(as_of(stage.log, stage.session, version), stage.session, version)
    assert then.draft is not None
    assert (then.draft.accepted, then.draft.closed, then.draft.seen) == (None, None, ())
    assert (then.effects.events, then.effects.upto) == ((), version)
    assert kinds(then.wish) == ["mind.invoked"]


def test_what_was_redacted_says_by_whom(stage: Stage) -> None:
    """In every branch that shares it, though that is written down in the stream that holds it."""
    stage.does(InjectThought(text="a secret thought", by="user:ann"))
    stage.runs(f"draft: {ONE}")
    here, child = stage.session, SessionId("tides/b")
    fork_session(stage.log, here, stage.state.version, child, stage.world)
    then = stage.state.version
    taken = [nth(stage, kind) for kind in (MessageSent, DraftEmitted, ThoughtAdded, MindInvoked)]
    redact_events(stage.log, taken, "it named somebody", stage.world)
    for session in (here, child):
        for recorded in taken:
            found = receipt(stage.log, session, recorded.version, 9)
            assert found.event.redacted
            assert found.redaction is not None
            assert found.redaction.actor == "user:ann"
            assert "it named somebody" in found.redaction.summary
            for text in ("secret", ONE, "two tides"):
                assert text not in repr(found)
    draft = receipt(stage.log, child, taken[1].version).draft
    assert draft is not None
    assert draft.text == "[redacted]"
    assert draft.message is not None
    assert draft.message.redacted
    early = receipt(as_of(stage.log, here, then), here, taken[1].version)
    assert (early.event.redacted, early.redaction) == (True, None)


def test_what_was_picked_says_from_where(stage: Stage) -> None:
    """A draft of another session has no invocation here; the one it had is there."""
    stage.runs(f"draft: {ONE}")
    origin = nth(stage, DraftEmitted)
    head = stage.log.head(stage.session, origin.version)
    here = SessionId("here")
    start_session(stage.log, here, stage.world)
    source = Source(stage.session, origin.version, head.hash)
    exchange = ExchangeId("exc_1_000")
    picked: list[Event] = [
        MessageSent(exchange=exchange, text="why?", iteration=1, source=source),
        DraftEmitted(exchange=exchange, index=1, text=ONE, iteration=1, source=source),
        DraftAccepted(exchange=exchange, index=1),
    ]
    state = stage.log.state(here)
    draw = Draw(
        [event.because(1) for event in picked], 2**50, stage.world.actor, stage.world.command_id()
    )
    stage.log.append(here, state.version, draw)
    found = receipt(stage.log, here, state.version + 2, 9)
    assert found.invocation is None
    assert found.draft is not None
    assert found.draft.source is not None
    assert (found.draft.source.session, found.draft.source.here) == ("tides", True)
    assert found.draft.message is not None
    assert found.draft.message.text == "why?"
    assert found.draft.accepted is not None
    assert found.causes[0].event == told(origin)
    assert found.causes[1:] == causes(stage.log, stage.session, origin, 8)


def test_a_draft_of_a_branch_of_a_branch(stage: Stage) -> None:
    """What it inherits is told as its own: the message, the thoughts, the drafts it repeats."""
    stage.does(InjectThought(text="compare with Fundy", by="user:ann"))
    stage.runs(f"thoughts: [the far bulge]\ndraft: {ONE}")
    middle = nth(stage, DraftEmitted).version  # within the iteration: nobody has seen it yet
    for name in ("tides/b", "tides/b/c"):
        fork_session(stage.log, stage.session, middle, SessionId(name), stage.world)
        stage.session, middle = SessionId(name), middle + 1
    stage.runs(f"draft: {ONE}", mode="background", iterations=1)
    found = explained(stage, DraftEmitted)
    assert found.event.session == "tides/b/c"
    assert found.draft is not None
    assert found.draft.repeats is not None
    assert (found.draft.repeats.index, found.draft.repeats.version) == (1, middle - 2)
    assert found.draft.message is not None
    assert found.draft.message.session == "tides"
    assert found.invocation is not None
    assert {s.session for s in found.invocation.shown} == {"tides"}
    first = explained(stage, DraftEmitted, 0)
    assert first.event.session == "tides"
    assert first.draft is not None
    assert (first.draft.seen, first.draft.accepted) == ((), None)
    assert kinds(first.wish) == ["mind.invoked", "thought.added"]


# any history


@often(5, 12, turns, branches)
def test_every_event_has_a_receipt(steps: list[Wish], more: list[Branch]) -> None:
    """Its wish and its effects are those of the whole history, and its causes lie behind it."""
    with grown(steps, more) as log:
        for session in log.sessions():
            history = list(log.read(session))
            for recorded in history:
                if isinstance(recorded.event, ThoughtAdded) and recorded.version % 3:
                    continue  # mostly thoughts
                found = receipt(log, session, recorded.version, 5)
                assert found.event == told(recorded)
                assert list(found.wish) == [
                    told(r) for r in history if r.command == recorded.command and r != recorded
                ]
                assert list(found.effects.events) == [
                    told(r) for r in history if r.cause == recorded.version
                ]
                versions = [recorded.version, *(step.event.version for step in found.causes)]
                assert versions == sorted(set(versions), reverse=True)
                _check_draft(log, session, found)


def _check_draft(log: Log, session: SessionId, found: Receipt) -> None:
    """A draft as the state has it, where that still has it."""
    draft, dialogue = found.draft, log.state(session).dialogue
    if draft is None:
        return
    assert draft.message is not None
    assert draft.message.exchange == draft.exchange
    if dialogue.awaiting is not None and dialogue.awaiting.exchange == draft.exchange:
        held = dialogue.draft(draft.index)
        assert held is not None
        assert (held.version, held.seen) == (found.event.version, bool(draft.seen))
        assert held.repeats == (draft.repeats.index if draft.repeats else None)
        assert draft.closed is None
    past = dialogue.past(draft.exchange)
    if past is not None:
        assert (past.draft_version == found.event.version) == (draft.accepted is not None)
        assert draft.closed is not None
        assert draft.closed.version == past.version


@often(5, 12, turns, branches)
def test_branches_tell_of_the_past_what_their_parents_do(
    steps: list[Wish], more: list[Branch]
) -> None:
    """As of the moment where they part, everything has the same receipt on both sides."""
    with grown(steps, more) as log:
        for session in log.sessions()[1:]:
            parent, own = log.path(session)[1].stream, log.path(session)[0].after
            here, there = as_of(log, session, own), as_of(log, parent, own)
            for version in range(1, own + 1, 3):
                assert receipt(here, session, version, 4) == receipt(there, parent, version, 4)


@often(5, 12, turns, branches)
def test_no_receipt_tells_the_future(steps: list[Wish], more: list[Branch]) -> None:
    """Nothing in it was recorded behind the moment that is looked at."""
    with grown(steps, more) as log:
        for session in log.sessions():
            head = log.head(session).version
            for upto in range(1, head + 1, 5):
                past = as_of(log, session, upto)
                (moment,) = log.pick(session, [upto])
                for version in {1, max(1, upto - 3), upto}:
                    found = receipt(past, session, version, 4)
                    assert _latest(found._replace(redaction=None)) <= upto
                    # the session that it stands in counts by itself
                    assert found.redaction is None or found.redaction.at <= moment.at


def _latest(value: Any) -> int:
    """The newest version of all events that are told in a receipt."""
    if isinstance(value, Told):
        return value.version
    if isinstance(value, tuple):
        return max((_latest(one) for one in value), default=0)
    return 0


# clusters


@pytest.fixture(scope="module")
def cast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    """Twelve iterations on five topics, and a thought of the user's."""
    cast = Cast(tmp_path_factory.mktemp("thinking") / "store")
    cast.begins(active_pool_size=20)
    cast.thinks_a_lot(12)
    cast.injects(sentence("moon", 99))
    yield cast
    cast.log.close()


def test_the_receipt_of_a_cluster(cast: Cast) -> None:
    """The decision that made it, the thought that led to that, its newest members."""
    for recorded in (r for r in cast.history() if isinstance(r.event, ClusterFormed)):
        event = recorded.event
        assert isinstance(event, ClusterFormed)
        found = cluster_receipt(cast.log, cast.session, event.cluster, depth=2, members=3)
        cluster = found.cluster
        assert cluster is not None
        assert found.event == told(recorded) == cluster.turnings[0].event
        first = cluster.turnings[0]
        assert (first.how, first.similarity) == (event.how, event.similarity)
        assert first.because is not None
        assert first.because.version == recorded.cause
        assert first.iteration == next(
            r.event.iteration
            for r in cast.history()
            if isinstance(r.event, MindInvoked) and r.command == recorded.command
        )
        assert (cluster.asked_for, cluster.id) == (event.cluster, event.cluster)
        assert len(cluster.members) == 3
        assert cluster.standing is not None
        assert cluster.standing.size > 3
        assert [step.way for step in found.causes] == ["because of", "because of"]
        assert found.causes[1].event.kind == "mind.invoked"
    everything = cluster_receipt(cast.log, cast.session, event.cluster)
    assert everything.cluster is not None
    assert everything.cluster.standing is not None
    assert len(everything.cluster.members) == everything.cluster.standing.size


def test_a_cluster_that_came_from_the_user(tmp_path: Path) -> None:
    """No iteration made it, and it says which thought did."""
    cast = Cast(tmp_path / "store")
    cast.begins()
    for n in range(4):
        cast.injects(sentence("moon", n))
    formed = nth(cast, ClusterFormed)
    assert isinstance(formed.event, ClusterFormed)
    found = cluster_receipt(cast.log, cast.session, formed.event.cluster, depth=9)
    assert found.cluster is not None
    assert found.cluster.turnings[0].iteration is None
    assert found.cluster.turnings[0].because is not None
    assert found.cluster.turnings[0].because.actor == "user:ann"
    assert [step.event.kind for step in found.causes] == ["thought.added"]
    cast.log.close()


def test_what_became_of_a_cluster(tmp_path: Path) -> None:
    """One that was merged is part of another; one out of a split was made by that."""
    cast = Cast(tmp_path / "store")
    cast.begins()
    cast.thinks_a_lot(6)
    one, other, *_ = sorted(cast.state.pool.sizes)
    inner = [t.version for t in cast.state.pool.active if t.cluster == other]
    merged = ClusterMerged(cluster=one, absorbed=other, similarity=0.5)
    split = ClusterSplit(cluster=one, into=77, members=tuple(inner[:2]), similarity=0.25)
    draw = Draw(
        [merged.because(inner[-1]), split.because(inner[-1])],
        2**50,
        cast.world.actor,
        cast.world.command_id(),
    )
    cast.log.append(cast.session, cast.state.version, draw)
    absorbed = cluster_receipt(cast.log, cast.session, other).cluster
    assert absorbed is not None
    assert (absorbed.asked_for, absorbed.id) == (other, one)
    assert [t.event.kind for t in absorbed.turnings] == ["cluster.formed", "cluster.merged"]
    part = cluster_receipt(cast.log, cast.session, 77)
    assert part.event.kind == "cluster.split"
    assert part.cluster is not None
    assert [(t.how, t.similarity) for t in part.cluster.turnings] == [(None, 0.25)]
    assert {m.version for m in part.cluster.members} == set(inner[:2])
    cast.log.close()


def test_a_cluster_of_another_model_is_history(tmp_path: Path) -> None:
    """It has no members any more; what is known of it is how it was made."""
    cast = Cast(tmp_path / "store")
    cast.begins()
    cast.thinks_a_lot(4)
    known = min(cast.state.pool.sizes)
    then = cast.state.version
    cast.changes_embedder("other")
    found = cluster_receipt(cast.log, cast.session, known).cluster
    assert found is not None
    assert (found.standing, found.members) == (None, ())
    assert found.turnings[0].event.kind == "cluster.formed"
    past = as_of(cast.log, cast.session, then)
    before = cluster_receipt(past, cast.session, known).cluster
    assert before is not None
    assert before.standing is not None
    with pytest.raises(NoSuchCluster):
        cluster_receipt(cast.log, cast.session, 999)
    cast.log.close()


def test_hashes_are_of_what_was_said(stage: Stage) -> None:
    """The prompt's hash is that of the text that the mind got."""
    mind = Rehearsed(f"draft: {ONE}")
    stage.runs(mind=mind)
    found = explained(stage, DraftEmitted).invocation
    assert found is not None
    assert found.prompt_hash == sha256(mind.requests[0].prompt.encode()).digest()
