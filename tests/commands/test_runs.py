"""Runs: the table of stop rules, one runner at a time, and users who act while the mind thinks."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.eventlog import EventLog
from commands.handle import Done, handle
from commands.holder import this_process
from commands.iterate import Unwatched
from commands.minds.mind import Listener, Mind, MindFailed, MindUnavailable, Reply, Request
from commands.presence import SetSignal
from commands.runs import MOST, StartRun, StopRun, run_session
from commands.sessions import ChangeConfig, LabelMoment
from commands.thinking import InjectThought
from domain.config import Config
from domain.errors import NothingAwaits, RunIsOver, SomeoneRuns
from domain.events import (
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    MindInvoked,
    MindSignalled,
    RunStarted,
    RunStopped,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import RunId
from tests.domain.happened import (
    asked,
    configured,
    drafted,
    exchanged,
    invoked,
    run_began,
    run_ended,
)
from tests.spec import given
from tests.stories.cast import SATURDAY, Line, Rehearsed, Stage, kinds

DRAFT = "draft: Because the moon pulls on both sides."
OTHER = "draft: Two bulges, one turning earth."
ENDORSE = "draft: '+1'"
THOUGHTS = "thoughts: [what of the sun?]"
SKIP = "skip: true"
SILENCE = "thoughts: []"
NONSENSE = "Certainly! Here is what I think about tides."
AGAIN = MindFailed("The provider is in trouble (HTTP 503): try again later.", retryable=True)
NEVER = MindFailed("The key was not accepted (HTTP 401): check it.", retryable=False)
FLOOD = MindFailed("It did not stop.", retryable=False, partial="draft: the the", attempts=3)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with a question that awaits an answer."""
    stage = Stage(tmp_path).begins()
    yield stage
    stage.log.close()


def outcomes(stage: Stage) -> list[str]:
    """How the iterations ended."""
    return [e.outcome for e in stage.events(MindInvoked)]


# the table of DESIGN.md, section 5

OBSERVED: list[tuple[tuple[Line, ...], str, int]] = [
    ((DRAFT,), "draft", 1),
    ((ENDORSE,), "draft", 1),
    ((THOUGHTS, DRAFT), "draft", 2),
    ((THOUGHTS, SKIP, ENDORSE), "draft", 3),
    ((SILENCE,), "true silence", 1),
    ((THOUGHTS, SILENCE), "true silence", 2),
    ((THOUGHTS, THOUGHTS, SILENCE), "true silence", 3),
    ((THOUGHTS,), "hard signal", 3),
    ((SKIP,), "hard signal", 3),
    ((SKIP, THOUGHTS), "hard signal", 3),
    ((NONSENSE, DRAFT), "draft", 2),
    ((AGAIN, AGAIN, DRAFT), "draft", 3),
    ((AGAIN,), "failed", 3),
    ((NONSENSE,), "failed", 3),
    ((NONSENSE, AGAIN, NONSENSE), "failed", 3),
    ((AGAIN, THOUGHTS, AGAIN, AGAIN, THOUGHTS, DRAFT), "draft", 6),
    ((NEVER,), "failed", 1),
    ((THOUGHTS, NEVER), "failed", 2),
    ((THOUGHTS, AGAIN, THOUGHTS, NONSENSE, THOUGHTS), "hard signal", 5),
]


@pytest.mark.parametrize(("lines", "reason", "iterations"), OBSERVED)
def test_where_an_observed_run_stops(
    stage: Stage, lines: tuple[Line, ...], reason: str, iterations: int
) -> None:
    """Any draft, true silence, three hard signals in a row, three failures in a row."""
    stopped = stage.runs(*lines)
    assert (stopped.reason, stopped.iterations) == (reason, iterations)
    assert len(outcomes(stage)) == iterations
    assert stage.state.work.run is None
    (end,) = stage.events(RunStopped)
    assert (end.reason, end.iterations, end.detail) == stopped[:3]


UNOBSERVED: list[tuple[tuple[Line, ...], str, int]] = [
    ((DRAFT, SILENCE), "true silence", 2),
    ((DRAFT, ENDORSE, SILENCE), "true silence", 3),
    ((DRAFT, THOUGHTS), "hard signal", 4),
    ((THOUGHTS, THOUGHTS, ENDORSE, THOUGHTS), "hard signal", 6),
    ((SKIP, SKIP, DRAFT, SKIP), "hard signal", 6),
    ((DRAFT, OTHER, DRAFT, NEVER), "failed", 4),
]


@pytest.mark.parametrize(("lines", "reason", "iterations"), UNOBSERVED)
def test_where_a_background_run_stops(
    stage: Stage, lines: tuple[Line, ...], reason: str, iterations: int
) -> None:
    """Drafts do not end it; each of them, ``+1`` included, starts the count of signals anew."""
    stopped = stage.runs(*lines, mode="background")
    assert (stopped.reason, stopped.iterations) == (reason, iterations)


def test_a_run_without_a_number_ends_at_a_hundred(stage: Stage) -> None:
    """Even a mind that always has another draft."""
    endless = Rehearsed(lambda request, _: f"draft: this is draft number {request.iteration}")
    stopped = stage.runs(mind=endless, mode="background")
    assert (stopped.reason, stopped.iterations) == ("limit", MOST)
    assert len(stage.state.dialogue.drafts) == MOST == 100


@pytest.mark.parametrize("mode", ["observe", "background"])
@pytest.mark.parametrize("line", [DRAFT, ENDORSE, THOUGHTS, SKIP, SILENCE])
def test_a_number_overrules_the_rules(stage: Stage, mode: Any, line: str) -> None:
    """Exactly so many iterations, whatever the mind says or leaves out."""
    stopped = stage.runs(line, mode=mode, iterations=5)
    assert (stopped.reason, stopped.iterations) == ("limit", 5)
    assert stage.events(RunStarted)[0].exact


def test_failures_end_a_counted_run_too(stage: Stage) -> None:
    """A number is no order to knock at a closed door."""
    assert stage.runs(AGAIN, iterations=9)[:2] == ("failed", 3)
    assert stage.runs(DRAFT, NEVER, iterations=9)[:2] == ("failed", 2)


def test_thresholds_are_settings(stage: Stage) -> None:
    """Of the session, as they are when the iteration ends."""
    stage.does(
        ChangeConfig(key="hard_signal_threshold", value="1"),
        ChangeConfig(key="failure_budget", value="2"),
    )
    assert stage.runs(THOUGHTS)[:2] == ("hard signal", 1)
    assert stage.runs(AGAIN)[:2] == ("failed", 2)


def test_a_run_counts_its_own_signals(stage: Stage) -> None:
    """Those of the run before are not held against it; the exchange counts them all."""
    stage.runs(THOUGHTS, iterations=2)
    assert stage.runs(THOUGHTS)[:2] == ("hard signal", 3)
    assert [e.consecutive for e in stage.events(MindSignalled)] == [1, 2, 3, 4, 5]


def test_watching_marks_drafts_as_seen(stage: Stage) -> None:
    """By the user who watches; a background run leaves them unseen."""
    stage.runs(DRAFT)
    stage.runs(OTHER, SILENCE, mode="background")
    stage.runs(ENDORSE)
    assert [d.seen for d in stage.state.dialogue.drafts] == [True, False, True]
    marks = [r for r in stage.history() if isinstance(r.event, DraftSeen)]
    assert [r.actor for r in marks] == [stage.world.actor] * 2
    assert [stage.history()[(r.cause or 0) - 1].event.kind for r in marks] == ["draft.emitted"] * 2


def test_an_iteration_is_one_append(stage: Stage) -> None:
    """All its events have one time, one wish and one author, the mind; the run is the user's."""
    stage.runs("thoughts: [a, b]\ndraft: Because the moon pulls on both sides.")
    history = stage.history()
    assert kinds(history)[2:] == [
        "run.started",
        "mind.invoked",
        "thought.added",
        "thought.added",
        "draft.emitted",
        "draft.seen",
        "run.stopped",
    ]
    work = history[3:8]
    assert len({(r.command, r.at) for r in work}) == 1
    assert [str(r.actor) for r in work] == ["mind:rehearsed"] * 4 + ["user:ann"]
    assert [r.cause for r in history] == [None, None, None, 3, 4, 4, 4, 7, 3]
    assert {str(r.actor) for r in (history[2], history[8])} == {"user:ann"}


def test_an_invocation_says_what_it_took(stage: Stage) -> None:
    """Tokens, cost, time, attempts and who really answered."""
    reply = Reply(DRAFT, "moon-1", 120, 40, 0.25, 1500, "stop", 2)
    stage.runs(reply)
    (invocation,) = stage.events(MindInvoked)
    assert invocation.output == DRAFT
    assert (invocation.answered_by, invocation.model) == ("moon-1", "rehearsed")
    assert (invocation.tokens_in, invocation.tokens_out, invocation.cost_usd) == (120, 40, 0.25)
    assert (invocation.latency_ms, invocation.attempts, invocation.finish) == (1500, 2, "stop")
    assert stage.state.work[2:] == (120, 40, 0.25, 0)


@pytest.mark.parametrize("text", [NONSENSE, "draft: [", "\ud800", "\0", "x" * 2_000_000, "7", "{"])
def test_a_reply_that_can_not_be_read_is_kept(stage: Stage, text: str) -> None:
    """To the letter, after the store was opened anew as well: it was paid for."""
    stage.runs(text, iterations=1)
    stage.runs(DRAFT)
    with EventLog(stage.log.place.home) as again:
        first = next(again.read(stage.session, kinds=["mind.invoked"])).event
        assert isinstance(first, MindInvoked)
        assert first.output == text
        assert first.outcome in {"ok", "unparseable"}
        assert again.state(stage.session) == stage.state


def test_unreadable_is_no_signal(stage: Stage) -> None:
    """The log says why, and nothing else came of it."""
    stage.runs(NONSENSE, iterations=1)
    assert kinds(stage.history())[2:] == ["run.started", "mind.invoked", "run.stopped"]
    (invocation,) = stage.events(MindInvoked)
    assert invocation.outcome == "unparseable"
    assert "none of the keys of a reply" in invocation.error


@pytest.mark.parametrize(
    "text",
    [
        '{"draft": "half a pair \\ud83d of a smiley"}',
        '{"thoughts": ["half a pair \\udc00"], "draft": "Because the moon pulls."}',
        "draft: half a pair \ud83d raw",
        "draft: a\0b and some more text",
    ],
)
def test_a_reply_with_broken_characters_harms_nothing(stage: Stage, text: str) -> None:
    """It is recorded, and the session reads on, in this process and in the next."""
    stage.runs(text, iterations=1)
    stage.runs(DRAFT, iterations=1)
    stage.does(AcceptDraft())
    with EventLog(stage.log.place.home) as again:
        assert again.state(stage.session) == stage.state
        assert len(list(again.read(stage.session))) == stage.state.version


def test_a_failure_keeps_what_had_arrived(stage: Stage) -> None:
    """Its sentence, its attempts, and the partial text, which may have cost something."""
    stopped = stage.runs(FLOOD)
    assert stopped[:3] == ("failed", 1, "It did not stop.")
    (invocation,) = stage.events(MindInvoked)
    assert (invocation.outcome, invocation.error) == ("failed", "It did not stop.")
    assert (invocation.output, invocation.attempts) == ("draft: the the", 3)
    assert invocation.cost_usd is None


def test_the_failure_that_ends_a_run_is_said(stage: Stage) -> None:
    """In the result and in the log."""
    assert stage.runs(AGAIN).detail == AGAIN.sentence
    assert stage.events(RunStopped)[0].detail == AGAIN.sentence


# breaking off


def half_a_reply(_: Request, hear: Listener) -> Line:
    """The user presses Ctrl-C while the reply streams in."""
    hear("thoughts: [")
    hear("half a")
    return KeyboardInterrupt()


def test_breaking_off_keeps_the_partial_text(stage: Stage) -> None:
    """The run ends as interrupted; what had arrived is in the log, and no signal."""
    stopped = stage.runs(THOUGHTS, half_a_reply)
    assert stopped[:3] == ("interrupted", 2, None)
    assert outcomes(stage) == ["ok", "failed"]
    last = stage.events(MindInvoked)[-1]
    assert (last.output, last.error) == ("thoughts: [half a", "The user broke off.")
    assert stage.state.work.run is None
    assert stage.runs(DRAFT)[:2] == ("draft", 1)


def test_breaking_off_before_the_first_word(stage: Stage) -> None:
    """There is no text then, and nobody pretends that there was."""
    assert stage.runs(KeyboardInterrupt()).reason == "interrupted"
    assert stage.events(MindInvoked)[-1].raw is None


class Impatient(Unwatched):
    """A user who presses Ctrl-C at the worst moment: the reply is there and not yet recorded."""

    def answered(self, _: Reply | MindFailed) -> None:
        """Press it."""
        raise KeyboardInterrupt


def test_breaking_off_loses_no_reply_that_has_come(stage: Stage) -> None:
    """It was paid for, so it is recorded before the run ends."""
    assert stage.runs(DRAFT, watcher=Impatient()).reason == "interrupted"
    assert [e.output for e in stage.events(MindInvoked)] == [DRAFT]


class ClosedPipe(Unwatched):
    """A watcher that prints into a pipe whose reader has gone, as in ``mind run | head``."""

    def heard(self, _: str) -> None:
        """Print."""
        raise BrokenPipeError


def test_a_watcher_that_fails_does_not_hold_the_session(stage: Stage) -> None:
    """However the process goes on, the next run may begin."""
    with pytest.raises(BrokenPipeError):
        stage.runs(DRAFT, watcher=ClosedPipe())
    assert stage.state.work.run is None


def test_an_unexpected_error_does_not_hold_the_session(stage: Stage) -> None:
    """A mistake in a mind ends its run; in a server the session would else be held for minutes."""
    with pytest.raises(ZeroDivisionError):
        stage.runs(ZeroDivisionError("in the mind"))
    assert stage.state.work.run is None


def test_a_run_stops_between_iterations_when_asked(stage: Stage) -> None:
    """What has been shown is recorded; the iteration that went on is finished."""
    mind = Rehearsed(THOUGHTS)
    stopped = stage.runs(mind=mind, iterations=9, stop_asked=lambda: len(mind.requests) == 2)
    assert stopped[:3] == ("interrupted", 2, None)
    assert outcomes(stage) == ["ok", "ok"]


# money


def test_a_budget_ends_a_run(stage: Stage) -> None:
    """Before the iteration that would come after it is spent, in any mode."""
    stage.does(ChangeConfig(key="budget_usd", value="0.5"))
    paid = Reply(DRAFT, "m", cost_usd=0.2)
    assert stage.runs(paid, mode="background")[:2] == ("budget", 3)
    assert stage.runs(paid)[:2] == ("budget", 0)
    assert stage.runs(paid, iterations=5)[:2] == ("budget", 0)
    assert len(outcomes(stage)) == 3
    stage.does(ChangeConfig(key="budget_usd", value="1"))
    assert stage.runs(paid)[:2] == ("draft", 1)


def test_unknown_costs_are_not_taken_for_a_budget(stage: Stage) -> None:
    """Nor for nothing: they are counted."""
    stage.does(ChangeConfig(key="budget_usd", value="0.01"))
    assert stage.runs(DRAFT, iterations=3).reason == "limit"
    assert (stage.state.work.cost_usd, stage.state.work.unknown_costs) == (0.0, 3)


# users act while the mind thinks


def while_thinking(act: Callable[[], object], then: Line = DRAFT) -> Line:
    """The user acts in the middle of a reply, once; the reply is this one."""
    todo = [act]

    def line(_: Request, __: Listener) -> Line:
        while todo:
            todo.pop()()
        return then

    return line


def test_accepting_during_a_reply(stage: Stage) -> None:
    """The acceptance stands, the thoughts are kept, the draft is recorded as late."""
    stage.runs(DRAFT)
    late = f"{THOUGHTS}\n{OTHER}"
    stopped = stage.runs(while_thinking(lambda: stage.does(AcceptDraft()), late))
    assert stopped[:3] == ("accepted", 1, None)
    drafts = stage.events(DraftEmitted)
    assert [(d.index, d.late) for d in drafts] == [(1, False), (2, True)]
    assert drafts[1].text == OTHER.removeprefix("draft: ")
    assert [t.text for t in stage.events(ThoughtAdded)] == ["what of the sun?"]
    (past,) = stage.state.dialogue.history
    assert (past.answer, past.index, past.drafts) == (DRAFT.removeprefix("draft: "), 1, 2)
    assert stage.events(DraftSeen)[-1].indexes == (1,)


def test_accepting_and_asking_on_during_a_reply(stage: Stage) -> None:
    """The late draft is the old exchange's; the run goes on with the new question."""
    stage.runs(DRAFT)

    def act() -> None:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))

    stopped = stage.runs(while_thinking(act, OTHER), "draft: When sun and moon pull together.")
    assert stopped[:3] == ("draft", 2, None)
    drafts = stage.events(DraftEmitted)
    assert [(d.exchange, d.index, d.late) for d in drafts] == [
        ("exc_1_000", 1, False),
        ("exc_1_000", 2, True),
        ("exc_2_000", 1, False),
    ]
    assert stage.state.dialogue.awaiting is not None
    stage.does(AcceptDraft())
    assert [e.drafts for e in stage.state.dialogue.history] == [2, 1]


def test_silence_after_an_acceptance_says_nothing(stage: Stage) -> None:
    """The exchange it was silent about is closed."""
    stage.runs(DRAFT)
    stopped = stage.runs(while_thinking(lambda: stage.does(AcceptDraft()), SILENCE))
    assert stopped[:2] == ("accepted", 1)
    assert stage.events(MindSignalled) == []


def test_other_acts_during_a_reply_do_not_matter_to_it(stage: Stage) -> None:
    """A signal, a seen mark, a label, a thought: all is recorded, the draft is not late."""
    stage.runs(DRAFT)

    def act() -> None:
        stage.does(
            SetSignal(presence="engaged", status="here", time=SATURDAY + timedelta(hours=1)),
            MarkSeen(),
            LabelMoment(label="lunch", version=2),
            InjectThought(text="mind the sun", by="user:ann"),
        )

    assert stage.runs(while_thinking(act, OTHER))[:3] == ("draft", 1, None)
    last = stage.events(DraftEmitted)[-1]
    assert (last.index, last.late) == (2, False)
    assert len(stage.events(SignalChanged)) == 1
    assert [t.text for t in stage.state.pool.active] == ["mind the sun"]
    invocation = stage.events(MindInvoked)[-1]
    assert invocation.based_on < stage.history()[-5].version
    assert stage.state.attention.presence == "engaged"


def test_the_prompt_shows_the_state_before_the_act(stage: Stage) -> None:
    """``based_on`` names the version that the mind was shown."""
    mind = Rehearsed(
        while_thinking(lambda: stage.does(InjectThought(text="unseen", by="user:ann")), THOUGHTS),
        DRAFT,
    )
    stage.runs(mind=mind)
    first, second = stage.events(MindInvoked)
    assert "unseen" not in mind.requests[0].prompt
    assert "unseen" in mind.requests[1].prompt
    assert stage.log.state(stage.session, first.based_on).pool.active == ()
    assert [t.text for t in stage.log.state(stage.session, second.based_on).pool.active] == [
        "unseen",
        "what of the sun?",
    ]


def test_another_model_takes_over_at_the_next_iteration(stage: Stage) -> None:
    """The one that is at work is left to finish; so it is with every setting."""
    change = ChangeConfig(key="model", value="script:second")
    minds = {
        "script:rehearsed": Rehearsed(
            while_thinking(lambda: stage.does(change), THOUGHTS), name="first"
        ),
        "script:second": Rehearsed(DRAFT, name="second"),
    }

    def mind_for(config: Config) -> Mind:
        return minds[config.model]

    stopped = run_session(stage.log, stage.session, mind_for, stage.world)
    assert stopped[:3] == ("draft", 2, None)
    assert [e.model for e in stage.events(MindInvoked)] == ["first", "second"]
    assert len(stage.events(ConfigChanged)) == 1


def test_a_model_that_is_not_there_ends_the_run(stage: Stage) -> None:
    """Before the claim nothing is recorded; in the middle the run is closed as failed."""

    def mind_for(config: Config) -> Mind:
        if config.model == "script:missing":
            raise MindUnavailable("script:missing is not there: name another.")
        change = ChangeConfig(key="model", value="script:missing")
        return Rehearsed(while_thinking(lambda: stage.does(change), THOUGHTS))

    with pytest.raises(MindUnavailable):
        run_session(stage.log, stage.session, mind_for, stage.world)
    assert stage.state.work.run is None
    (end,) = stage.events(RunStopped)
    assert (end.reason, end.detail) == ("failed", "script:missing is not there: name another.")
    version = stage.state.version
    with pytest.raises(MindUnavailable):
        run_session(stage.log, stage.session, mind_for, stage.world)
    assert stage.state.version == version


def test_a_run_says_what_presence_held(stage: Stage) -> None:
    """In the order in which it changed, each once as long as it lasts."""
    comes = SetSignal(presence="reviewing", time=SATURDAY)
    stopped = stage.runs(
        THOUGHTS, while_thinking(lambda: stage.does(comes), THOUGHTS), THOUGHTS, DRAFT, iterations=4
    )
    assert stopped.presences == ("absent", "reviewing")


def test_auto_accept_ends_a_run(stage: Stage) -> None:
    """The system accepts; the user reads it in the history."""
    stage.does(ChangeConfig(key="auto_accept_after", value="2"))
    stopped = stage.runs(DRAFT, THOUGHTS, THOUGHTS, DRAFT, iterations=9)
    assert stopped[:3] == ("accepted", 3, None)
    (acceptance,) = stage.events(DraftAccepted)
    assert (acceptance.by, acceptance.index) == ("auto-accept", 1)
    assert stage.state.dialogue.awaiting is None


def test_an_idle_session_does_not_run(stage: Stage) -> None:
    """No claim is recorded."""
    stage.runs(DRAFT)
    stage.does(AcceptDraft())
    version = stage.state.version
    with pytest.raises(NothingAwaits):
        stage.runs(DRAFT)
    assert stage.state.version == version


def test_a_watcher_hears_everything_in_order(stage: Stage) -> None:
    """The question, the pieces, the reply, and then what was recorded."""
    heard: list[str] = []

    class Curious:
        """Writes down what happens."""

        def asked(self, request: Request) -> None:
            """The question."""
            heard.append(f"asked {request.iteration}")

        def heard(self, piece: str) -> None:
            """A piece."""
            heard.append(piece)

        def answered(self, reply: Reply | MindFailed) -> None:
            """The reply."""
            heard.append(type(reply).__name__)

        def recorded(self, done: Done) -> None:
            """The record."""
            heard.append(done.events[-1].kind)

    stage.runs(THOUGHTS, AGAIN, DRAFT, watcher=Curious())
    assert heard == [
        *("asked 1", THOUGHTS, "Reply", "mind.signalled"),
        *("asked 2", "MindFailed", "mind.invoked"),
        *("asked 3", DRAFT, "Reply", "draft.seen"),
    ]


# one runner at a time


def test_a_second_runner_is_refused(stage: Stage) -> None:
    """While the first one is at work, by name and with the end of its claim; then it may."""
    refused: list[str] = []

    def second() -> None:
        with EventLog(stage.log.place.home) as other, pytest.raises(SomeoneRuns) as refusal:
            run_session(other, stage.session, lambda _: Rehearsed(DRAFT), stage.world)
        refused.append(refusal.value.sentence)

    assert stage.runs(while_thinking(second, THOUGHTS), DRAFT)[:3] == ("draft", 2, None)
    assert len(refused) == 1
    assert socket.gethostname() in refused[0]
    assert "wait until it stops" in refused[0]
    assert len(stage.events(RunStarted)) == 1
    assert stage.runs(DRAFT)[:2] == ("draft", 1)


@pytest.fixture(scope="module")
def dead_holder() -> str:
    """A process that once was."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return f"{socket.gethostname()}:{process.pid}:1"


def claim(stage: Stage, holder: str, run: str = "theirs", **more: Any) -> None:
    """Another process takes the session."""
    fields: dict[str, Any] = {"mode": "observe", "limit": 100, "exact": False, **more}
    stage.does(StartRun(run=RunId(run), holder=holder, now=stage.world.now(), **fields))


def test_the_run_of_a_dead_process_is_closed_as_lost(stage: Stage, dead_holder: str) -> None:
    """The next runner need not wait for the end of its claim."""
    claim(stage, dead_holder)
    assert stage.runs(DRAFT)[:3] == ("draft", 1, None)
    first, second = stage.events(RunStopped)
    assert (first.run, first.reason, first.iterations) == ("theirs", "lost", 0)
    assert second.reason == "draft"
    assert stage.events(RunStarted)[1].holder == this_process()


def test_the_run_of_a_later_process_of_the_same_number_is_lost(stage: Stage) -> None:
    """Process numbers are used again; the time of their start tells them apart."""
    host, pid, start = this_process().rsplit(":", 2)
    if start == "0":
        pytest.skip("this system does not say when a process started")
    claim(stage, f"{host}:{pid}:{int(start) - 1}")
    assert stage.runs(DRAFT)[:3] == ("draft", 1, None)


@pytest.mark.parametrize("holder", ["elsewhere:1:1", "nonsense", "", ":::", "elsewhere:x:y"])
def test_nobody_here_can_tell_whether_they_live(stage: Stage, holder: str) -> None:
    """A runner on another machine is given the time that it claimed, and no more."""
    claim(stage, holder)
    with pytest.raises(SomeoneRuns):
        stage.runs(DRAFT)
    patience = int(stage.state.config.timeout * stage.state.config.attempts) + 60
    stage.world.time += patience * 1_000_000
    assert stage.runs(DRAFT)[:3] == ("draft", 1, None)
    assert [e.reason for e in stage.events(RunStopped)] == ["lost", "draft"]


def test_a_runner_that_was_taken_over_stops(stage: Stage) -> None:
    """It records what it had paid for, and leaves the session to its successor."""

    def take_over() -> None:
        stage.world.time += 10**12
        claim(stage, this_process())

    with pytest.raises(RunIsOver, match="another runner took it"):
        stage.runs(while_thinking(take_over, THOUGHTS))
    assert outcomes(stage) == ["ok"]
    assert [e.reason for e in stage.events(RunStopped)] == ["lost"]
    run = stage.state.work.run
    assert run is not None
    assert run.id == "theirs"


def test_a_claim_is_renewed_by_every_event(stage: Stage) -> None:
    """Patience counts from the newest event of the session."""
    claim(stage, "elsewhere:1:1")
    stage.world.time += 700 * 1_000_000
    handle(stage.log, stage.session, MarkSeenLater(), stage.world)
    stage.world.time += 700 * 1_000_000
    with pytest.raises(SomeoneRuns):
        stage.runs(DRAFT)


class MarkSeenLater(InjectThought):
    """Anything that leaves an event."""

    text: str = "still here"
    by: str = "mind:elsewhere"


# the commands themselves


def start(now: int = 0, **more: Any) -> StartRun:
    """A wish to run."""
    fields: dict[str, Any] = {
        "run": RunId("run-2"),
        "mode": "observe",
        "limit": 100,
        "exact": False,
        "holder": "host:2:2",
        "now": now,
        **more,
    }
    return StartRun(**fields)


def test_a_claim_lasts_as_long_as_an_iteration_may_take() -> None:
    """All attempts at their longest, and a minute more."""
    given(configured("timeout", 180.0, 10.0), configured("attempts", 4, 2), asked()).when(
        start()
    ).then(run_began("run-2", holder="host:2:2", patience=80))


def test_an_expired_claim_is_closed_as_lost() -> None:
    """At the very microsecond, and not before; with the iterations that it had done."""
    held = given(asked(), run_began(patience=60), invoked(1))
    until = held.session.at + 60_000_000
    held.when(start(until - 1)).refused(SomeoneRuns, "host")
    held.when(start(until)).then(
        run_ended("lost", 1), run_began("run-2", holder="host:2:2", patience=780)
    )


def test_a_dead_claim_is_closed_at_once() -> None:
    """But only that of the holder who was found dead: another may have come since."""
    held = given(asked(), run_began(holder="host:1:1"))
    held.when(start(dead="host:1:1")).then(
        run_ended("lost", 0), run_began("run-2", holder="host:2:2", patience=780)
    )
    held.when(start(dead="host:9:9")).refused(SomeoneRuns)


def test_nothing_to_run_for() -> None:
    """Idle comes before busy."""
    given(*exchanged(1)).when(start()).refused(NothingAwaits)


def test_only_its_own_run_is_stopped() -> None:
    """A wish to stop a run that is over, or another's, becomes nothing."""
    given(asked(), run_began(), invoked(1), drafted(1, "x" * 20)).when(
        StopRun(run=RunId("run-1"), reason="draft")
    ).then(run_ended("draft", 1))
    given(asked(), run_began()).when(StopRun(run=RunId("run-9"), reason="draft")).then()
    given(asked()).when(StopRun(run=RunId("run-1"), reason="draft")).then()
