"""Who did what to a session, when, through which command, and what came of it."""

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import strategies as st

from commands.command import Command
from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from commands.handle import handle
from commands.minds.mind import MindFailed
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.recording import RecordIteration
from commands.redaction import has_content, redact_events
from commands.runs import StartRun
from commands.sessions import ChangeConfig, LabelMoment, start_session
from commands.thinking import ChangeEmbedder, Embedded, Embedding, EmbedWaiting, InjectThought
from domain.actors import SYSTEM, Actor
from domain.errors import Refused
from domain.events import (
    EVENTS,
    Caused,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    Event,
    MessageSent,
    MindInvoked,
    NoteAdded,
    ReplayBegun,
    RunStarted,
    RunStopped,
    SessionArchived,
    SessionEvent,
    SessionForked,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
    SignalChanged,
    Source,
    ThoughtAdded,
)
from domain.ids import ExchangeId, RunId, SessionId
from domain.recorded import Draw, Recorded
from projections.audit import KINDS, VERBS, Audit, Intervention, Wanted
from projections.deeds import _ENTRIES
from tests.domain.happened import formed, invoked, vector
from tests.often import often
from tests.stories.cast import Stage, SteadyWorld
from tests.strategies import Wish, turns

A, B = "The first answer of them all", "The second answer of them all"
NOW = datetime(2026, 5, 2, 10, 30, tzinfo=UTC)
ELSEWHERE = Source("other", 7, bytes(32))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with a message that awaits an answer."""
    stage = Stage(tmp_path).begins(embedding_model="off")
    yield stage
    stage.log.close()


def told(
    stage: Stage, upto: int | None = None, session: str | None = None, **wanted: Any
) -> list[Intervention]:
    """The audit of a session."""
    name = SessionId(session or stage.session)
    return list(Audit(stage.log, name, upto).all(Wanted(**wanted)))


def lines(rows: list[Intervention]) -> list[tuple[str, str, str, str]]:
    """Who, through which command, what, with what effect."""
    return [(str(row.actor), row.command, row.what, row.effect) for row in rows]


def newest(stage: Stage) -> tuple[str, str, str, str]:
    """The last of them."""
    return lines(told(stage))[-1]


def recorded(stage: Stage, *events: Event | Caused, by: Actor | None = None) -> int:
    """Something happened, as one wish; the version of the first event."""
    world, version = stage.world, stage.log.head(stage.session).version
    caused = [e if isinstance(e, Caused) else Caused(e) for e in events]
    stage.log.append(
        stage.session, version, Draw(caused, world.now(), by or world.actor, world.command_id())
    )
    return version + 1


def forks(stage: Stage, at: int, name: str, parent: str | None = None) -> None:
    """Somebody branches off."""
    fork_session(stage.log, SessionId(parent or stage.session), at, SessionId(name), stage.world)


# each sort of wish, and what came of it


def test_a_message_and_its_answer(stage: Stage) -> None:
    """First it is open, with what there is so far; then it has an answer, after so much."""
    assert lines(told(stage)) == [
        (
            "user:ann",
            "init",
            "tides; exc_1_000: why two tides?",
            "began with script:rehearsed; still open: 0 drafts after 0 iterations",
        )
    ]
    stage.runs(f"draft: {A}", f"draft: {B}", "draft: '+1'", mode="background", iterations=3)
    assert "still open: 3 drafts after 3 iterations" in told(stage)[0].effect
    stage.does(AcceptDraft(index=2))
    (_, sent), *_ = (row.deeds for row in told(stage))
    assert sent.effect.startswith("answered by draft 2 of 3 after 3 iterations, ")
    closed = told(stage)[-1]
    assert (closed.command, closed.what) == ("accept", "#2 of exc_1_000")
    assert closed.effect.startswith("one of 3 drafts; closed exc_1_000 after ")
    assert closed.deeds[0].facts["seconds"] == sent.facts["seconds"]
    asked, accepted = (
        next(r.at for r in stage.history() if r.event.kind == kind)
        for kind in ("message.sent", "draft.accepted")
    )
    assert sent.facts["seconds"] == (accepted - asked) / 1e6
    assert sent.facts["answered_by"] == 2


def test_a_draft_that_repeats_another_one(stage: Stage) -> None:
    """Accepting it names the one that it repeats."""
    stage.runs(f"draft: {A}", f"draft: {A}", mode="background", iterations=2)
    stage.does(AcceptDraft())
    assert newest(stage)[3].startswith("one of 2 drafts, repeats #1; closed exc_1_000")


def test_a_second_message_is_a_message(stage: Stage) -> None:
    """Only the first one came with the session."""
    stage.answers("why two tides?", A)
    stage.does(SendMessage(text="and\nspring  tides?"))
    assert newest(stage) == (
        "user:ann",
        "message",
        "exc_2_000: and spring tides?",
        "still open: 0 drafts after 0 iterations",
    )


def test_a_watched_run(stage: Stage) -> None:
    """It is one intervention when it begins and one when it stops; so is what was seen."""
    stage.runs(f"thoughts: [one, two]\ndraft: {A}")
    assert lines(told(stage))[1:] == [
        (
            "user:ann",
            "run",
            "began: observe, at most 100",
            "1 iteration, 1 draft, 2 thoughts, 10 → 5 tokens; stopped: draft",
        ),
        ("user:ann", "run", "#1", "as it appeared"),
        ("user:ann", "run", "stopped: draft after 1", "ended the run of event 3"),
    ]
    facts = told(stage)[1].deeds[0].facts
    assert (facts["iterations"], facts["thoughts"], facts["end"]) == (1, 2, "stopped: draft")


def test_a_run_in_the_background(stage: Stage) -> None:
    """Another command; what failed or could not be read is counted; costs are added up."""
    stage.runs(
        "]]] no yaml: [",
        MindFailed("No such model.", retryable=True, latency_ms=1),
        "thoughts: [x]",
        mode="background",
        iterations=3,
    )
    begun, stopped = told(stage)[1:]
    assert {begun.command, stopped.command} == {"run -b"}
    assert begun.what == "began: background, exactly 3"
    assert begun.effect.startswith("3 iterations (2 failed), 0 drafts, 1 thought, 20 → 10 tokens;")


def test_a_run_that_is_going_on(stage: Stage) -> None:
    """Seen from a moment within it, it has not stopped."""
    stage.runs("thoughts: [x]", mode="background", iterations=2)
    begun = next(r.version for r in stage.history() if isinstance(r.event, RunStarted))
    first = told(stage, begun)[-1]
    assert first.effect == "0 iterations, 0 drafts, 0 thoughts, 0 → 0 tokens; still going"
    assert told(stage, begun + 2)[-1].effect.startswith("1 iteration, 0 drafts, 1 thought")


def start(run: str, **more: Any) -> StartRun:
    """Somebody wants to run."""
    return StartRun(
        run=RunId(run), mode="background", limit=9, exact=False, holder=run, now=0, **more
    )


def test_a_run_that_was_lost(stage: Stage) -> None:
    """Whoever runs next finds it gone: both is one wish of theirs."""
    stage.does(start("run-1"))
    bob = SteadyWorld("bob")
    bob.time = stage.world.time
    handle(stage.log, stage.session, start("run-2", dead="run-1"), bob)
    lost, found = told(stage)[1:]
    assert lost.effect == "0 iterations, 0 drafts, 0 thoughts, 0 → 0 tokens; lost"
    assert lines([found])[0][:3] == (
        "user:bob",
        "run -b",
        "stopped: lost after 0; began: background, at most 9",
    )
    assert found.effect.startswith("ended the run of event 3; 0 iterations")
    assert [deed.kind for deed in found.deeds] == ["run.stopped", "run.started"]


def test_what_a_run_cost(stage: Stage) -> None:
    """All that is known of it, vectors included, and how often nobody knew."""
    stage.does(start("run-1"))
    mind = Actor("mind", "local")
    for known in ({"cost_usd": 0.25, "embedding_cost_usd": 0.125}, {"cost_usd": 0.5}, {}):
        recorded(stage, invoked(1, tokens_in=7, **known), by=mind)
    begun = told(stage)[-1]
    assert begun.effect == (
        "3 iterations, 0 drafts, 0 thoughts, 21 → 0 tokens, $0.8750; still going"
    )
    assert (begun.deeds[0].facts["cost_usd"], begun.deeds[0].facts["unknown_costs"]) == (0.875, 1)


def test_the_end_of_a_run_that_is_not_known(stage: Stage) -> None:
    """It ends no other one."""
    stage.does(start("run-1"))
    recorded(stage, RunStopped(run=RunId("run-0"), reason="limit", iterations=3))
    begun, stopped = told(stage)[1:]
    assert begun.effect.endswith("still going")
    assert (stopped.what, stopped.effect) == ("stopped: limit after 3", "")


def test_drafts_that_are_read_later(stage: Stage) -> None:
    """How long after they appeared, from the youngest to the oldest."""
    stage.runs(f"draft: {A}", f"draft: {B}", f"draft: {A}!", mode="background", iterations=3)
    stage.world.time += 5_000_000
    stage.does(MarkSeen(indexes=(2,)))
    row = told(stage)[-1]
    assert (row.command, row.what) == ("drafts seen", "#2")
    emitted = {r.event.index: r.at for r in stage.history() if isinstance(r.event, DraftEmitted)}
    assert row.deeds[0].facts["drafts"] == [{"index": 2, "seconds": (row.at - emitted[2]) / 1e6}]
    stage.world.time += 3_600_000_000
    stage.does(MarkSeen())
    assert newest(stage)[2:] == ("#1, #3", "60 min after they appeared")


def test_what_the_system_accepts(stage: Stage) -> None:
    """Auto-accept is the system's doing, within a run; the user sent the message."""
    stage.does(ChangeConfig(key="auto_accept_after", value="1"))
    stage.runs(f"draft: {A}", "thoughts: [x]", mode="background")
    (row,) = told(stage, by="system")
    assert lines([row])[0][:3] == (
        "system:logosphere",
        "run -b",
        "#1 of exc_1_000 (auto-accept)",
    )
    assert row.effect.startswith("the only draft; closed exc_1_000 after")
    assert "answered by draft 1 of 1 after 2 iterations" in told(stage)[0].effect


def test_a_late_draft_answers_nothing(stage: Stage) -> None:
    """A call that was under way when its exchange closed counts for the run alone."""
    stage.runs(f"draft: {A}")

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
        return f"draft: {B}"

    stage.runs(act, f"draft: {B}")
    rows = told(stage)
    assert "answered by draft 1 of 1 after 1 iteration," in rows[0].effect
    begun = [row for row in rows if row.what.startswith("began")][1]
    assert begun.effect.startswith("2 iterations, 2 drafts")
    (asked,) = [row for row in rows if row.command == "message"]
    assert asked.effect == "still open: 1 draft after 1 iteration"


def test_signals_are_seen_by_iterations(stage: Stage) -> None:
    """From what to what, and by whom: one that was replaced at once was seen by nobody."""
    for presence in ("reviewing", "engaged"):
        stage.does(SetSignal(presence=presence, time=NOW))
    stage.runs("thoughts: [x]", mode="background", iterations=2)
    stage.does(SetSignal(status="on the train", time=NOW))
    stage.runs("thoughts: [x]", mode="background", iterations=1)
    assert lines(told(stage, kinds=["signal.changed"])) == [
        ("user:ann", "signal", "reviewing (Sat 10:30)", "was absent; seen by no iteration"),
        ("user:ann", "signal", "engaged (Sat 10:30)", "was reviewing; seen by iterations 1 to 2"),
        (
            "user:ann",
            "signal",
            "engaged, “on the train” (Sat 10:30)",
            "was engaged; seen by iteration 3",
        ),
    ]


def test_a_signal_while_the_mind_is_asked(stage: Stage) -> None:
    """The iteration that was under way has not seen it, whatever number it gets."""

    def act(*_: object) -> str:
        stage.does(SetSignal(presence="engaged", time=NOW))
        return "thoughts: [x]"

    stage.does(SetSignal(presence="reviewing", time=NOW))
    stage.runs(act, "thoughts: [y]", mode="background", iterations=3)
    first, second = told(stage, kinds=["signal.changed"])
    assert first.effect == "was absent; seen by iteration 1"
    assert second.effect == "was reviewing; seen by iterations 2 to 3"


def test_thoughts_that_were_put_into_the_pool(stage: Stage) -> None:
    """How often the mind was shown them, and when first; those it had itself are not listed."""
    stage.does(InjectThought(text="what of the Sun?", by="user:ann"))
    assert newest(stage)[1:] == ("think", "(injected) what of the Sun?", "never shown to the mind")
    stage.runs("thoughts: [mine]", mode="background", iterations=1)
    assert told(stage)[1].effect == "shown to the mind once, in iteration 1"
    stage.runs("thoughts: [mine too]", mode="background", iterations=2)
    assert told(stage)[1].effect == "shown to the mind 3 times, first in iteration 1"
    shown = [e for e in stage.events(MindInvoked) if 3 in e.sampled]
    assert len(shown) == 3
    assert len(told(stage, kinds=["thought.added"])) == 1


def test_a_thought_that_was_called_back(stage: Stage) -> None:
    """Shown from beyond the pool counts, and is told."""
    at = recorded(stage, ThoughtAdded(text="x", iteration=1, mind="user:ann", origin="injected"))
    recorded(
        stage,
        invoked(1, based_on=at, sampled=(at,)),
        invoked(2, based_on=at, sampled=(9, at), recalled=((at, 9, 0.5),)),
        by=Actor("mind", "local"),
    )
    times = "shown to the mind 2 times, first in iteration 1"
    assert newest(stage)[3] == f"{times} (1 of them called back)"


def test_a_hook_acts_within_the_run(stage: Stage) -> None:
    """It signs with its own name, and has no command of its own; an agent that calls one has."""
    hook, agent = Actor("agent", "hook:novelty"), Actor("agent", "planner")
    stage.does(start("run-1"))
    for doer in (hook, agent):
        wish = InjectThought(text="what is missing?", by=str(doer))
        handle(stage.log, stage.session, wish, stage.world, by=doer)
    assert [row[:2] for row in lines(told(stage, by="agent"))] == [
        ("agent:hook:novelty", "run -b"),
        ("agent:planner", "think"),
    ]
    assert [str(row.actor) for row in told(stage, by="agent:hook")] == ["agent:hook:novelty"]
    assert told(stage, by="agent:hoo") == []


def test_vectors(stage: Stage) -> None:
    """Embedding what waited is one intervention, and so is changing the embedder."""
    stage.runs("thoughts: [one, two, three]", mode="background", iterations=1)
    thoughts = [r.version for r in stage.history() if isinstance(r.event, ThoughtAdded)]
    new = Embedding("letters", 2, vector(1.0, 0.0))
    waiting = tuple((version, new) for version in thoughts[:2])
    stage.does(
        ChangeEmbedder(
            model="local",
            embedded=Embedded("local", waiting=waiting),
            gather=lambda *_: [formed(1, *thoughts[:2])],
        )
    )
    assert newest(stage) == (
        "user:ann",
        "embed",
        "embedding_model; vectors of 2 thoughts",
        "off → local; made with letters, 1 cluster formed",
    )
    stage.does(EmbedWaiting(embedded=Embedded("local", waiting=((thoughts[2], new),))))
    assert newest(stage) == (
        "system:logosphere",
        "embed",
        "vectors of 1 thought",
        "made with letters",
    )
    assert len(told(stage, kinds=["thought.embedded"])) == 2


def test_vectors_that_come_along_are_no_intervention(stage: Stage) -> None:
    """What a thought's arrival does to others is not what somebody did."""
    stage.does(ChangeConfig(key="embedding_model", value="local"))
    stage.does(InjectThought(text="one", by="user:ann"))
    waits = stage.state.version
    new = Embedding("letters", 2, vector(1.0, 0.0))
    embedded = Embedded("local", (new,), waiting=((waits, new),))
    stage.does(InjectThought(text="two", by="user:ann", embedded=embedded))
    kinds = [r.event.kind for r in stage.history()][-2:]
    assert kinds == ["thought.added", "thought.embedded"]
    assert newest(stage)[:3] == ("user:ann", "think", "(injected) two")
    assert told(stage, by="system") == []


def test_small_wishes(stage: Stage) -> None:
    """Settings, labels, notes, what is pruned: each with what it changed."""
    stage.answers("why two tides?", A)
    for wish, line in (
        (PruneExchanges(keep=0), ("prune", "1 exchange", "hidden from the mind: exc_1_000")),
        (ChangeConfig(key="token_limit", value="300"), ("config", "token_limit", "4000 → 300")),
        (ChangeConfig(key="budget_usd", value="2"), ("config", "budget_usd", "off → 2.0")),
        (LabelMoment(label="tea", version=2), ("label", "@tea", "names event 2")),
        (AddNote(text="not\nso", about=(2, 4)), ("note", "not so", "about 2, 4")),
        (AddNote(text="hm"), ("note", "hm", "")),
    ):
        stage.does(wish)
        assert newest(stage) == ("user:ann", *line)


def test_what_happens_to_a_session(stage: Stage) -> None:
    """Titles, archives, lives that are lived again."""
    for event, line in (
        (SessionRenamed(title="Two tides"), ("rename", "Two tides", "was tides")),
        (SessionRenamed(title="Tides"), ("rename", "Tides", "was Two tides")),
        (SessionArchived(reason="done"), ("archive", "done", "hidden from lists")),
        (SessionArchived(), ("archive", "", "hidden from lists")),
        (SessionRestored(), ("archive", "undo", "back in lists")),
        (
            ReplayBegun(source="a", after=1, upto=9),
            ("replay", "of a, events 2 to 9", "lived again in tides"),
        ),
    ):
        recorded(stage, event)
        assert newest(stage) == ("user:ann", *line)


def test_what_was_picked_elsewhere(stage: Stage) -> None:
    """An exchange or a thought of another branch is a pick; an import has no source here."""
    stage.answers("why two tides?", A)
    exchange = ExchangeId("exc_2_000")
    recorded(
        stage,
        MessageSent(exchange=exchange, text="neap?", iteration=2, source=ELSEWHERE),
        DraftEmitted(exchange=exchange, index=1, text=B, iteration=2, source=ELSEWHERE),
        DraftAccepted(exchange=exchange, index=1),
    )
    (_, command, what, effect), deeds = newest(stage), told(stage)[-1].deeds
    assert command == "pick"
    assert "exc_2_000" in what
    assert all(part in what for part in ("neap?", f"#1 (picked from other@7): {B}"))
    assert effect == (
        "answered by draft 1 of 1 after 0 iterations, 0.0 s; a draft of exc_2_000;"
        " the only draft; closed exc_2_000 after 0.0 s"
    )
    assert deeds[0].facts["source"] == "other@7"
    thought = ThoughtAdded(text="x", iteration=2, mind="local", origin="imported")
    recorded(stage, thought.model_copy(update={"source": ELSEWHERE}))
    assert newest(stage)[1::2] == ("pick", "never shown to the mind")
    recorded(stage, thought)
    assert newest(stage)[1] == "import"


def test_the_first_session_of_a_store_began_by_init(stage: Stage) -> None:
    """And any other by `new`."""
    start_session(stage.log, SessionId("other"), stage.world, thoughts=["x"])
    assert lines(told(stage, session="other")) == [
        (
            "user:ann",
            "new",
            "other; (injected) x",
            "began with local; never shown to the mind",
        )
    ]
    assert told(stage)[0].command == "init"


def test_what_was_redacted(stage: Stage) -> None:
    """Who took it away, why, and that it is gone wherever it stood."""
    stage.does(InjectThought(text="a patient's name", by="user:ann"), SendNothing())
    stage.answers("why two tides?", A)
    asked, thought = stage.log.pick(stage.session, [2, 3])
    archived = recorded(stage, SessionArchived(reason="the patient left"))
    (put_away,) = stage.log.pick(stage.session, [archived])
    redact_events(stage.log, [asked, thought, put_away], "It named a patient.", stage.world)
    rows = told(stage)
    assert rows[0].what == "tides; exc_1_000: [redacted]"
    assert [deed.redacted for deed in rows[0].deeds] == [False, True]
    assert "answered by draft 1" in rows[0].effect
    assert rows[1].what == "(injected) [redacted]"
    assert rows[1].effect == "shown to the mind once, in iteration 1"
    assert lines(rows)[-2] == ("user:ann", "archive", "[redacted]", "hidden from lists")
    assert lines(rows)[-1] == (
        "user:ann",
        "redact",
        f"event 2 (message.sent); event 3 (thought.added); event {archived} (session.archived)",
        "content taken away: It named a patient.",
    )


class SendNothing(Command):
    """A wish that becomes nothing."""

    def decide(self, _: Any) -> Any:
        """Nothing."""
        return ()


# branches


def test_a_branch_inherits_what_was_done(stage: Stage) -> None:
    """With the session where it lives, up to the fork; its own beginning follows."""
    stage.runs(f"draft: {A}")
    stage.does(AcceptDraft())
    before, at = told(stage), stage.state.version
    forks(stage, at, "tides/b")
    stage.does(AddNote(text="the parent goes on"))
    stage.session = SessionId("tides/b")
    stage.does(AddNote(text="on the branch"))
    rows = told(stage)
    assert rows[:-2] == before
    assert [row.session for row in rows] == ["tides"] * len(before) + ["tides/b"] * 2
    assert lines(rows)[-2:] == [
        ("user:ann", "fork", f"from tides@{at}", "branch tides/b"),
        ("user:ann", "note", "on the branch", ""),
    ]


def test_the_parent_lists_its_branches(stage: Stage) -> None:
    """Between what happened before and after, with the branch that holds the event."""
    stage.does(AddNote(text="before"))
    fork_session(
        stage.log, stage.session, 2, SessionId("b"), SteadyWorldAt(stage), reason="colder\nmoon"
    )
    stage.does(AddNote(text="after"))
    rows = told(stage)
    assert [row.what for row in rows][1:] == ["before", "from tides@2: colder moon", "after"]
    assert (rows[2].session, rows[2].version, str(rows[2].actor)) == ("b", 3, "user:bob")
    assert told(stage, by="user:bob") == [rows[2]]
    assert told(stage, kinds=["session.forked"]) == [rows[2]]
    assert told(stage, kinds=["note.added"]) == [rows[1], rows[3]]


def SteadyWorldAt(stage: Stage) -> SteadyWorld:  # noqa: N802 — makes one, like the class
    """Bob's world, at the same time."""
    bob = SteadyWorld("bob")
    bob.time = stage.world.now()
    stage.world.time = bob.time + 1_000_000
    return bob


def test_a_branch_in_which_the_past_is_lived_again(stage: Stage) -> None:
    """It came by a replay, here as there."""
    onto, world = stage.log.head(stage.session, 1), stage.world
    forked = SessionForked(parent="tides", at_version=1, parent_hash=onto.hash)
    begun = ReplayBegun(source="tides", after=1, upto=2)
    draw = Draw([Caused(forked, 1), Caused(begun)], world.now(), world.actor, world.command_id())
    stage.log.begin(SessionId("again"), onto, draw)
    assert newest(stage)[1:] == ("replay", "from tides@1", "branch again")
    (there,) = told(stage, session="again")[1:]
    assert (there.command, there.what) == ("replay", "from tides@1; of tides, events 2 to 2")


def test_a_branch_is_listed_as_of_a_moment(stage: Stage) -> None:
    """A moment lasts until the next event: what was made of it later is not there yet."""
    stage.does(AddNote(text="3"))
    forks(stage, 2, "b")
    stage.does(AddNote(text="4"))
    forks(stage, 4, "c")

    def branches(upto: int | None) -> list[str]:
        return [row.session for row in told(stage, upto, kinds=["session.forked"])]

    assert [branches(upto) for upto in (2, 3, 4, None)] == [[], ["b"], ["b", "c"], ["b", "c"]]


def test_branches_of_the_parent_before_and_after_the_ways_parted(stage: Stage) -> None:
    """Those made before are part of the branch's past; those made later, or ahead, are not."""
    for text in ("3", "4", "5"):
        stage.does(AddNote(text=text))
    forks(stage, 3, "early")
    forks(stage, 5, "ahead")
    forks(stage, 4, "mine")
    forks(stage, 3, "later")
    forks(stage, 3, "off-mine", parent="mine")
    forks(stage, 2, "deeper", parent="off-mine")

    def branches(session: str, upto: int | None = None) -> list[str]:
        rows = told(stage, upto, session, kinds=["session.forked"])
        return [row.session for row in rows]

    assert branches("mine") == ["early", "mine", "off-mine"]
    assert branches("tides") == ["early", "ahead", "mine", "later"]
    assert branches("tides", 4) == []
    assert branches("off-mine") == ["early", "later", "off-mine", "deeper"]
    assert branches("deeper") == ["deeper"]


def test_a_fork_inside_an_iteration(stage: Stage) -> None:
    """The branch sees the part of the wish up to the fork; the run is left behind."""
    stage.runs(f"thoughts: [x]\ndraft: {A}")
    drafted = next(r.version for r in stage.history() if isinstance(r.event, DraftEmitted))
    forks(stage, drafted, "b")
    assert [(row.command, row.what) for row in told(stage)][2:4] == [
        ("run", "#1"),
        ("run", "stopped: draft after 1"),
    ]
    stage.session = SessionId("b")
    stage.does(MarkSeen(), AcceptDraft())
    rows = told(stage)
    assert rows[1].effect == (
        "1 iteration, 1 draft, 1 thought, 10 → 5 tokens; left behind by this branch"
    )
    assert [(row.session, row.command) for row in rows] == [
        ("tides", "init"),
        ("tides", "run"),
        ("b", "fork"),
        ("b", "drafts seen"),
        ("b", "accept"),
    ]
    assert "answered by draft 1 of 1 after 1 iteration" in rows[0].effect
    assert told(stage, drafted)[1].effect.endswith("still going")


def test_a_fork_inside_a_wish_of_the_user(stage: Stage) -> None:
    """Of a beginning with a message, the branch may have the beginning alone."""
    forks(stage, 1, "b")
    assert lines(told(stage, session="b"))[0][2:] == ("tides", "began with script:rehearsed")
    assert told(stage, session="b")[0].last == 1
    assert told(stage)[0].last == 2


def test_a_damaged_session_elsewhere_spoils_nothing(stage: Stage) -> None:
    """A branch whose parent is nowhere is left out; the audit of the others goes on."""
    world = stage.world
    lost = SessionForked(parent="nowhere", at_version=1, parent_hash=bytes(32))
    rows, _ = stage.log._mapper.sealed(
        stage.log.head(stage.session, 1),
        "orphan",
        Draw([Caused(lost, 1)], world.now(), world.actor, world.command_id()),
    )
    stage.log._recorder.insert_events(rows)
    assert "orphan" in stage.log.sessions()
    assert [row.command for row in told(stage)] == ["init"]


def test_the_audit_of_an_imported_session(stage: Stage, tmp_path: Path) -> None:
    """The same as where it was exported, though its name was taken and all came at once."""
    stage.does(AddNote(text="3"))
    forks(stage, 2, "early")
    stage.does(AddNote(text="4"))
    forks(stage, 4, "late")
    bundle = tmp_path / "tides.mind"
    stage.log.export(stage.session, bundle)
    other = Stage(tmp_path / "other").begins("another question")
    names = {str(one.session): str(one.name) for one in other.log.take_over(bundle)}
    assert names["tides"] != "tides"
    for name in ("tides", "early", "late"):
        there, here = told(stage, session=name), told(other, session=names[name])
        assert [row.command for row in here] == ["new", *(row.command for row in there[1:])]
        assert [names[row.session] for row in there] == [row.session for row in here]
        assert [row[2:3] for row in lines(here)] == [row[2:3] for row in lines(there)]
    for upto in range(2, stage.state.version + 1):
        there, here = told(stage, upto), told(other, upto, names["tides"])
        assert [row.at for row in here] == [row.at for row in there]
    assert [row.command for row in told(other)] == ["init"]
    assert told(other)[0].effect.startswith("began with script:rehearsed; still open")


# which of them


def test_by_kind_and_by_actor(stage: Stage) -> None:
    """An actor or the beginning of one; a kind that one of the deeds became."""
    stage.runs(f"draft: {A}")
    bob = SteadyWorld("bob")
    bob.time = stage.world.time
    handle(stage.log, stage.session, AcceptDraft(), bob)
    assert [row.command for row in told(stage, by="user:bob")] == ["accept"]
    assert len(told(stage, by="user")) == len(told(stage)) == 5
    assert told(stage, by="user:b") == told(stage, by="mind") == []
    assert [row.what for row in told(stage, kinds=["draft.seen", "run.stopped"])] == [
        "#1",
        "stopped: draft after 1",
    ]
    assert told(stage, by="user:bob", kinds=["draft.seen"]) == []


def test_from_one_moment_to_another(stage: Stage) -> None:
    """What began behind one and not behind the other; its effects are those up to now."""
    stage.does(SetSignal(presence="engaged", status="here", time=NOW))
    recorded(stage, SessionRenamed(title="Two tides"))
    stage.runs(f"draft: {A}", f"draft: {A}", mode="background", iterations=2)
    stage.does(SetSignal(presence="absent", time=NOW), MarkSeen(indexes=(1,)), AcceptDraft())
    recorded(stage, SessionRenamed(title="Tides"))
    rows = told(stage)
    assert {"was engaged, “here”; seen by no iteration", "was Two tides"} < {
        row.effect for row in rows
    }
    assert any("repeats #1" in row.effect for row in rows)
    for after in range(stage.state.version + 1):
        for until in range(after, stage.state.version + 2):
            expected = [row for row in rows if after < row.version <= until]
            assert told(stage, after=after, until=until) == expected
    assert "answered by" in told(stage, until=1)[0].effect
    assert told(stage, until=0) == []


def test_the_newest(stage: Stage) -> None:
    """The last so many of those that are wanted, in their order."""
    for round_ in range(3):
        stage.answers(f"question {round_}", f"{A} {round_}")
    rows, audit = told(stage), Audit(stage.log, stage.session)
    for count in range(1, len(rows) + 3):
        assert audit.newest(count) == rows[-count:]
    accepted = [row for row in rows if row.command == "accept"]
    assert audit.newest(2, Wanted(kinds=["draft.accepted"])) == accepted[-2:]
    assert audit.newest(9, Wanted(by="user:bob")) == []
    assert audit.newest(1, Wanted(until=1)) == rows[:1]


def test_the_newest_of_a_wish_of_several(stage: Stage) -> None:
    """Whoever had a part in a wish has a row, at the first thing they did with it."""
    note = NoteAdded(text="x", iteration=0)
    recorded(stage, note, Caused(note, None, SYSTEM), note)
    mine, theirs = told(stage)[1:]
    assert [(str(row.actor), row.version, row.last) for row in (mine, theirs)] == [
        ("user:ann", 3, 5),
        ("system:logosphere", 4, 5),
    ]
    assert [deed.version for deed in mine.deeds] == [3, 5]
    assert Audit(stage.log, stage.session).newest(1) == [theirs]
    assert Audit(stage.log, stage.session).newest(1, Wanted(by="user")) == [mine]


def test_the_newest_are_counted_without_vectors_that_came_along(stage: Stage) -> None:
    """Vectors that a thought's arrival brings to others do not take the place of deeds."""
    stage.does(ChangeConfig(key="embedding_model", value="local"), AddNote(text="1"))
    new = Embedding("letters", 2, vector(1.0, 0.0))
    for text in ("one", "two", "three"):
        stage.runs(f"thoughts: [{text}]", mode="background", iterations=1)
        waits = next(t.version for t in stage.state.pool.waiting)
        wish = RecordIteration(
            invocation=invoked(1, based_on=2),
            exchange=ExchangeId("exc_1_000"),
            embedded=Embedded("local", waiting=((waits, new),)),
        )
        handle(stage.log, stage.session, wish, stage.world, by=Actor("mind", "local"))
    rows = told(stage)
    assert len([r for r in stage.history() if r.event.kind == "thought.embedded"]) == 3
    for count in range(1, len(rows) + 1):
        assert Audit(stage.log, stage.session).newest(count) == rows[-count:]


def test_a_branch_of_the_last_moment(stage: Stage) -> None:
    """A moment lasts until the next event, for a window as well; a time is just that time."""
    stage.does(AddNote(text="3"))
    forks(stage, 2, "b")
    stage.does(AddNote(text="4"))
    assert [row.what for row in told(stage, after=2, until=3)] == ["3", "from tides@2"]
    assert [row.what for row in told(stage, after=3)] == ["from tides@2", "4"]
    at = told(stage, session="b", kinds=["session.forked"])[0].at
    for time, before in ((at - 1, []), (at, ["from tides@2"])):
        assert [row.what for row in told(stage, after=2, until=3, until_at=time)][1:] == before
        rest = [] if before else ["from tides@2"]
        assert [row.what for row in told(stage, after=3, since_at=time)] == [*rest, "4"]


class Counting:
    """A log that counts what is read of it."""

    def __init__(self, log: Any) -> None:
        self._log, self.read_events = log, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def read(self, *arguments: Any, **more: Any) -> Iterator[Recorded]:
        """Count."""
        for event in self._log.read(*arguments, **more):
            self.read_events += 1
            yield event


def test_little_is_read_for_the_newest(stage: Stage) -> None:
    """As much as has happened since, however long history is."""
    for round_ in range(40):
        stage.answers(f"question {round_}", f"{A} {round_}")
    counting: Any = Counting(stage.log)
    found = Audit(counting, stage.session).newest(3)
    assert len(found) == 3
    assert counting.read_events < 30 < stage.state.version


def test_what_is_settled_comes_at_once(stage: Stage) -> None:
    """Nothing is held back that nothing can be added to."""
    for round_ in range(10):
        stage.answers(f"question {round_}", f"{A} {round_}")
    counting: Any = Counting(stage.log)
    rows = Audit(counting, stage.session).all()
    assert next(rows).command == "init"
    closed = next(r.version for r in stage.history() if isinstance(r.event, DraftAccepted))
    assert counting.read_events <= closed + 2
    counting.read_events = 0
    assert len(list(Audit(counting, stage.session).all(Wanted(until=2)))) == 1
    assert counting.read_events <= closed + 4


def test_every_kind_of_event_has_its_place() -> None:
    """A new event of a session needs an entry in the book, and a verb if it is a deed."""
    assert set(_ENTRIES) == set(get_args(SessionEvent))
    assert set(VERBS) | {"draft.emitted"} == KINDS | {"mind.invoked"}
    assert set(EVENTS) >= KINDS


# against a naive audit, for anything that users do


class Told:
    """A store to which anything has happened."""

    def __init__(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.stage = Stage(Path(self.directory.name)).begins()
        self.sessions = [self.stage.session]

    def do(self, session: SessionId, wishes: list[Wish]) -> None:
        """What is not refused has happened."""
        for wish in wishes:
            command = wish(self.stage.log.state(session))
            mind = Actor("mind", "local") if isinstance(command, RecordIteration) else None
            try:
                handle(self.stage.log, session, command, self.stage.world, by=mind)
            except Refused:
                continue

    def fork(self, parent: SessionId, share: float) -> None:
        """A branch, anywhere."""
        version = 1 + round(share * (self.stage.log.head(parent).version - 1))
        child = SessionId(f"b{len(self.sessions)}")
        fork_session(self.stage.log, parent, version, child, self.stage.world)
        self.sessions.append(child)

    def redact(self, session: SessionId, place: int) -> None:
        """Something that was said, perhaps before a branch left its parent."""
        said = [r for r in self.stage.log.read(session) if has_content(r)]
        redact_events(self.stage.log, [said[place % len(said)]], "private", self.stage.world)


steps = st.lists(
    st.tuples(st.integers(0, 9), st.one_of(turns, turns, st.floats(0, 1), st.integers(0, 30))),
    min_size=1,
    max_size=7,
)


@often(16, 40, steps, st.floats(0, 1), st.floats(0, 1), st.integers(1, 9))
def test_the_audit_of_anything(
    program: list[tuple[int, Any]], low: float, high: float, count: int
) -> None:
    """Each deed is told once, with the effect that a naive reader finds; parts are parts of it."""
    told_ = Told()
    try:
        for place, step in program:
            session = told_.sessions[place % len(told_.sessions)]
            if isinstance(step, float):
                told_.fork(session, step)
            elif isinstance(step, int):
                told_.redact(session, step)
            else:
                told_.do(session, step)
        for session in told_.sessions:
            history = list(told_.stage.log.read(session))
            _check(told_.stage, session, None, history)
            upto = 1 + round(high * (len(history) - 1))
            _check(told_.stage, session, upto, history[:upto])
            _check_parts(told_.stage, session, round(low * len(history)), upto, count)
    finally:
        told_.stage.log.close()
        told_.directory.cleanup()


def _check_parts(stage: Stage, session: SessionId, after: int, until: int, count: int) -> None:
    rows = told(stage, session=session)
    own = [row for row in rows if row.session in {s.stream for s in stage.log.path(session)}]
    part = [row for row in own if after < row.version <= until]
    found = told(stage, session=session, after=after, until=until)
    assert [row for row in found if row in own] == part
    assert [row for row in rows if row in found] == found
    assert Audit(stage.log, session).newest(count) == rows[-count:]
    for wanted in (Wanted(by="system"), Wanted(kinds=["draft.seen", "thought.embedded"])):
        chosen = [row for row in rows if wanted.takes(row.actor, row.kinds)]
        assert list(Audit(stage.log, session).all(wanted)) == chosen
        assert Audit(stage.log, session).newest(count, wanted) == chosen[-count:]


def _check(stage: Stage, session: SessionId, upto: int | None, history: list[Recorded]) -> None:
    rows = told(stage, upto, session)
    assert [row.at for row in rows] == sorted(row.at for row in rows)
    streams = {recorded.session for recorded in history}
    deeds = {deed.version: deed for row in rows if row.session in streams for deed in row.deeds}
    told_versions = [d.version for row in rows if row.session in streams for d in row.deeds]
    assert sorted(told_versions) == sorted(set(told_versions))
    wishes = {recorded.command: recorded for recorded in history}
    for recorded in history:
        expected = NAIVE.get(type(recorded.event), lambda *_: None)(recorded, history)
        if recorded.event.kind in KINDS - {"draft.emitted", "thought.added", "thought.embedded"}:
            assert recorded.version in deeds
        if expected is not None:
            facts = deeds[recorded.version].facts
            assert {key: facts[key] for key in expected} == expected, recorded
    for row in rows:
        assert row.command
        assert row.wish in wishes or row.session not in streams
        assert row.actor.who != "mind"
        assert not {"mind.invoked", "mind.signalled"} & set(row.kinds)
    for row in rows:
        if row.session in streams:
            wish = [r for r in history if r.command == row.wish and r.session == row.session]
            assert row.last == wish[-1].version


def _naive_message(asked: Recorded, history: list[Recorded]) -> dict[str, Any]:
    exchange = getattr(asked.event, "exchange", None)
    behind = history[asked.version :]
    answers = [r for r in behind if isinstance(r.event, DraftAccepted)]
    mine = [r for r in answers if getattr(r.event, "exchange", None) == exchange]
    open_ = behind[: mine[0].version - asked.version] if mine else behind
    drafts = [
        r
        for r in open_
        if isinstance(r.event, DraftEmitted) and r.event.exchange == exchange and not r.event.late
    ]
    saw = [
        r for r in open_ if isinstance(r.event, MindInvoked) and r.event.based_on >= asked.version
    ]
    return {
        "answered_by": getattr(mine[0].event, "index", None) if mine else None,
        "drafts": len(drafts),
        "iterations": len(saw),
    }


def _naive_thought(added: Recorded, history: list[Recorded]) -> dict[str, Any] | None:
    if isinstance(added.event, ThoughtAdded) and added.event.origin == "mind":
        return None
    shown = [
        r.event.iteration
        for r in history
        if isinstance(r.event, MindInvoked) and added.version in r.event.sampled
    ]
    return {"shown": len(shown), "first": shown[0] if shown else None}


def _naive_signal(signal: Recorded, history: list[Recorded]) -> dict[str, Any]:
    signals = [r for r in history if isinstance(r.event, SignalChanged)]
    seen = [
        r.event.iteration
        for r in history
        if isinstance(r.event, MindInvoked)
        and [s for s in signals if s.version <= getattr(r.event, "based_on", 0)][-1:] == [signal]
    ]
    return {"seen": len(seen), "first": min(seen, default=None), "last": max(seen, default=None)}


def _naive_run(begun: Recorded, history: list[Recorded]) -> dict[str, Any]:
    run, inside, end = getattr(begun.event, "run", ""), [], "still going"
    for recorded in history[begun.version :]:
        event = recorded.event
        if isinstance(event, RunStopped) and event.run == run:
            end = "lost" if event.reason == "lost" else f"stopped: {event.reason}"
            break
        if isinstance(event, SessionForked):
            end = "left behind by this branch"
            break
        inside.append(event)
    asked = [e for e in inside if isinstance(e, MindInvoked)]
    return {
        "end": end,
        "iterations": len(asked),
        "failed": sum(e.outcome in {"failed", "unparseable"} for e in asked),
        "drafts": sum(isinstance(e, DraftEmitted) for e in inside),
        "thoughts": sum(isinstance(e, ThoughtAdded) and e.origin == "mind" for e in inside),
        "tokens_in": sum(e.tokens_in or 0 for e in asked),
    }


def _naive_seen(seen: Recorded, history: list[Recorded]) -> dict[str, Any]:
    event = seen.event
    assert isinstance(event, DraftSeen)
    at = {
        r.event.index: r.at
        for r in history[: seen.version]
        if isinstance(r.event, DraftEmitted) and r.event.exchange == event.exchange
    }
    return {"drafts": [{"index": i, "seconds": (seen.at - at[i]) / 1e6} for i in event.indexes]}


def _naive_acceptance(accepted: Recorded, history: list[Recorded]) -> dict[str, Any]:
    event = accepted.event
    assert isinstance(event, DraftAccepted)
    past = [r for r in history[: accepted.version] if _of(r, event.exchange)]
    (asked,) = (r for r in past if isinstance(r.event, MessageSent))
    drafts = [r.event for r in past if isinstance(r.event, DraftEmitted)]
    return {
        "drafts": len(drafts),
        "repeats": drafts[event.index - 1].repeats,
        "seconds": (accepted.at - asked.at) / 1e6,
    }


def _of(recorded: Recorded, exchange: str) -> bool:
    return getattr(recorded.event, "exchange", None) == exchange


Naive = Callable[[Recorded, list[Recorded]], dict[str, Any] | None]

NAIVE: dict[type[Event], Naive] = {
    MessageSent: _naive_message,
    ThoughtAdded: _naive_thought,
    SignalChanged: _naive_signal,
    RunStarted: _naive_run,
    DraftSeen: _naive_seen,
    DraftAccepted: _naive_acceptance,
    SessionStarted: lambda r, _: {"title": getattr(r.event, "title", None)},
}
