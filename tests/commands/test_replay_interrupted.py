"""A replay that ends in the middle, in whatever way, goes on where it was, or says why not."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.handle import handle
from commands.minds.mind import MindFailed, MindUnavailable, Request
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.redaction import redact_events
from commands.relived import Act, Gone
from commands.reliving import NoReplay, Replay, Strayed
from commands.replay import NothingToLive, begin_replay
from commands.runs import StartRun, StopRun, run_session
from commands.sessions import ChangeConfig, start_session
from commands.thinking import InjectThought
from domain.errors import (
    BadSetting,
    NoSuchMoment,
    NoSuchSession,
    RunIsOver,
    SessionExists,
    SomeoneRuns,
)
from domain.events import (
    Caused,
    ConfigChanged,
    DraftAccepted,
    MessageSent,
    MindInvoked,
    ReplayBegun,
    RunStopped,
)
from domain.ids import RunId, SessionId
from domain.recorded import Draw
from tests.stories.again import BRANCH, Steady, begun, events, goes_on, lived, own, story, told
from tests.stories.cast import Rehearsed, Stage, kinds
from tests.stories.thinker import reply

AGAIN = MindFailed("The provider is in trouble (HTTP 503): try again later.", retryable=True)
NEVER = MindFailed("The key was not accepted (HTTP 401): check it.", retryable=False)
THOUGHT = reply("a thought and no draft")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with three exchanges, and all that a user can do in one."""
    stage = story(Stage(tmp_path))
    yield stage
    stage.log.close()


class Killed(BaseException):
    """The process was killed: nobody got to clean up."""


class Mortal:
    """A log whose process is killed at its n-th append, before or behind it."""

    def __init__(self, log: Any, appends: int, *, behind: bool) -> None:
        self._log, self._left, self._behind = log, appends, behind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def append(self, *args: Any, **upon: Any) -> Any:
        """Append, and live or die."""
        self._left -= 1
        if self._left == 0 and not self._behind:
            raise Killed
        done = self._log.append(*args, **upon)
        if self._left == 0:
            raise Killed
        return done


def _is_over(looks: Iterator[int]) -> bool:
    return next(looks, None) is None


def time_passes(stage: Stage) -> None:
    """Until the claim of whoever was killed is void."""
    stage.world.time += 10**10


# every point at which it can end


def test_stopping_between_any_two_steps(stage: Stage) -> None:
    """Nothing is done twice and nothing is left out, wherever it was stopped."""
    whole = lived(stage, "whole")
    for point in range(whole.steps + 1):
        branch, looks = f"b{point}", iter(range(point))
        begun(stage, branch)
        stop = partial(_is_over, looks)
        ended = goes_on(stage, branch=branch, stop_asked=stop)
        assert ended.reason == ("interrupted" if ended.lived < whole.steps else "done")
        assert stage.log.state(SessionId(branch)).work.run is None
        assert goes_on(stage, branch=branch)[:7] == whole[:7]
        assert told(stage, branch) == told(stage, "whole"), point


def test_stopping_behind_each_step(stage: Stage) -> None:
    """A dozen continuations in a row come to the same as none."""
    whole = lived(stage, "whole")
    begun(stage)
    for _ in range(3 * whole.steps):
        before = len(own(stage))
        ended = goes_on(stage, stop_asked=lambda n=before: len(own(stage)) > n + 1)
        if ended.reason == "done":
            break
    assert ended[:7] == whole[:7]
    assert told(stage, BRANCH) == told(stage, "whole")


@pytest.mark.parametrize("failure", [KeyboardInterrupt, NEVER, AGAIN], ids=lambda f: repr(f)[:9])
def test_breaking_off_any_iteration(stage: Stage, failure: Any) -> None:
    """What nobody answered stands in the log, and is asked for again."""
    whole = lived(stage, "whole")
    for number in range(1, whole.iterations + 1):
        branch = f"b{number}"
        begun(stage, branch)
        mind = Steady(stage, SessionId(branch))
        mind.fails = {number: [failure() if isinstance(failure, type) else failure]}
        ended = goes_on(stage, mind, branch)
        if failure is AGAIN:  # an error that may pass: it was asked again at once
            assert ended.reason == "done"
        else:
            wanted = "failed" if failure is NEVER else "interrupted"
            assert (ended.reason, ended.iterations) == (wanted, number)
            assert stage.log.state(SessionId(branch)).work.run is None
            assert stage.log.newest(SessionId(branch), ["run.stopped"]) is not None
            assert goes_on(stage, mind, branch).reason == "done"
        assert told(stage, branch) == told(stage, "whole"), number
        asked = [e.outcome for e in events(stage, branch, MindInvoked)]
        assert asked.index("failed") == number - 1
        assert len(asked) == whole.iterations + 1


@pytest.mark.parametrize("behind", [False, True])
def test_a_kill_at_any_append(stage: Stage, *, behind: bool) -> None:
    """Before it, the step is still to be taken; behind it, it is taken; never twice."""
    lived(stage, "whole")
    appends, survived = 0, False
    while not survived:
        appends += 1
        branch = f"b{appends}"
        begun(stage, branch)
        try:
            goes_on(stage, branch=branch, log=Mortal(stage.log, appends, behind=behind))
            survived = True
        except Killed:
            time_passes(stage)
            assert goes_on(stage, branch=branch).reason == "done"
        assert told(stage, branch) == told(stage, "whole"), appends
    assert appends > 20
    assert not [f for verdict in stage.log.verify() for f in verdict.findings]


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_any_series_of_mishaps(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Kills, failures, breaks and stops in any order: it comes to the same in the end."""
    stage = story(Stage(tmp_path_factory.mktemp("mishaps")))
    whole = lived(stage, "whole")
    begun(stage)
    mind = Steady(stage)
    for _ in range(data.draw(st.integers(1, 8))):
        mishap = data.draw(st.sampled_from(("kill", "fail", "break", "stop")))
        number = data.draw(st.integers(1, 8))
        try:
            if mishap == "kill":
                behind = data.draw(st.booleans())
                goes_on(stage, mind, log=Mortal(stage.log, number, behind=behind))
            elif mishap == "stop":
                looks = iter(range(number))
                goes_on(stage, mind, stop_asked=partial(_is_over, looks))
            else:
                mind.fails = {number: [NEVER if mishap == "fail" else KeyboardInterrupt()]}
                goes_on(stage, mind)
        except Killed:
            time_passes(stage)
        mind.fails = {}
    assert goes_on(stage, mind).lived == whole.lived
    assert told(stage, BRANCH) == told(stage, "whole")
    stage.log.close()


def test_what_is_done_stays_done(stage: Stage) -> None:
    """Going on behind the end changes nothing."""
    whole = lived(stage)
    head = stage.log.head(BRANCH)
    assert goes_on(stage) == whole
    assert stage.log.head(BRANCH) == head


def test_what_the_source_does_later_is_no_part_of_it(stage: Stage) -> None:
    """What is to be lived was settled when it began."""
    begun(stage)
    stage.does(AcceptDraft(), SendMessage(text="later"))
    ended = goes_on(stage)
    assert ended.upto < stage.log.head(stage.session).version
    assert "later" not in [e.text for e in events(stage, BRANCH, MessageSent)]


# what ends it


def test_failures_in_a_row_end_it_as_they_end_a_run(stage: Stage) -> None:
    """The budget for failures is the session's; it can go on later."""
    begun(stage)
    mind = Steady(stage)
    mind.fails = {2: [AGAIN] * 4}
    ended = goes_on(stage, mind)
    assert (ended.reason, ended.iterations) == ("failed", 4)
    assert "503" in (ended.detail or "")
    assert goes_on(stage, mind).reason == "done"
    assert [e.outcome for e in events(stage, BRANCH, MindInvoked)].count("failed") == 4


def test_unreadable_answers_count_as_answers(stage: Stage) -> None:
    """The mind was asked, and that is what it said; too many in a row end the replay."""
    begun(stage)
    mind = Rehearsed("draft: the first answer of all", "nonsense: [", name="steady")
    ended = goes_on(stage, mind)
    assert ended.reason == "failed"
    assert [e.outcome for e in events(stage, BRANCH, MindInvoked)] == ["ok", *["unparseable"] * 5]
    again = goes_on(stage)
    assert (again.reason, again.iterations) == ("no draft", 6)


def test_the_budget_ends_it_as_it_ends_a_run(stage: Stage) -> None:
    """No mind is asked once the money is spent; a larger budget lets it go on."""
    begun(stage, settings={"budget_usd": "1"})
    ended = goes_on(stage)
    assert (ended.reason, ended.iterations) == ("budget", 2)
    handle(stage.log, BRANCH, ChangeConfig(key="budget_usd", value="50"), stage.world)
    assert goes_on(stage).reason == "done"


def test_a_mind_that_has_to_be_set_up_first(stage: Stage) -> None:
    """Nothing is begun without a key; one that goes missing later leaves a branch to go on with."""

    def keyless(_: Any) -> Any:
        raise MindUnavailable("Set THE_KEY first.")

    with pytest.raises(MindUnavailable):
        begun(stage, mind_for=keyless)
    assert not stage.log.exists(BRANCH)
    begun(stage)
    mind = Steady(stage)
    mind.fails = {3: [MindUnavailable("Set THE_KEY first.")]}
    with pytest.raises(MindUnavailable):
        goes_on(stage, mind)
    assert stage.log.state(BRANCH).work.run is None
    assert goes_on(stage, mind).reason == "done"


def test_the_failures_of_the_source_are_not_lived_again(tmp_path: Path) -> None:
    """An iteration that no mind answered gave the source nothing, so the branch has none for it."""
    stage = Stage(tmp_path).begins()
    stage.runs(AGAIN, THOUGHT, AGAIN, "draft: an answer at long last")
    stage.does(AcceptDraft())
    ended = lived(stage)
    assert (ended.reason, ended.iterations) == ("done", 2)


# no draft to accept


def drafting(stage: Stage) -> Rehearsed:
    """A mind whose first three iterations bring no draft."""
    mind = Rehearsed(THOUGHT, name="steady")
    ended = goes_on(stage, mind)
    assert (ended.reason, ended.iterations) == ("no draft", 3)
    assert "mind replay --continue what-if" in (ended.detail or "")
    return mind


def test_no_draft_to_accept(stage: Stage) -> None:
    """It stops where the source accepted; what is missing is made by hand, then it goes on."""
    begun(stage)
    mind = drafting(stage)
    assert goes_on(stage, mind).reason == "no draft", "asking again changes nothing"
    handle(stage.log, BRANCH, InjectThought(text="come on", by="user:ann"), stage.world)
    run_session(stage.log, BRANCH, lambda _: Steady(stage), stage.world)
    ended = goes_on(stage)
    assert (ended.reason, ended.iterations) == ("done", 9)
    accepted = events(stage, BRANCH, DraftAccepted)
    assert len(accepted) == len(events(stage, stage.session, DraftAccepted))


def test_accepting_by_hand(stage: Stage) -> None:
    """What was done by hand where it was waited for is not done again."""
    begun(stage)
    drafting(stage)
    run_session(stage.log, BRANCH, lambda _: Steady(stage), stage.world, iterations=2)
    handle(stage.log, BRANCH, AcceptDraft(index=1), stage.world)
    assert goes_on(stage).reason == "done"
    assert [e.index for e in events(stage, BRANCH, DraftAccepted)] == [1, 3]


@pytest.mark.parametrize("patience", ["1", "2"])
def test_automatic_acceptance(stage: Stage, patience: str) -> None:
    """Where the branch closes an exchange by itself, the rest of it comes to nothing there."""
    begun(stage, settings={"auto_accept_after": patience})
    mind = Rehearsed("draft: an answer without a flaw", THOUGHT, name="steady")
    ended = goes_on(stage, mind)
    if patience == "1":
        assert (ended.reason, ended.iterations) == ("no draft", 5)
        assert [e.by for e in events(stage, BRANCH, DraftAccepted)] == ["auto-accept"]
    else:
        assert ended.reason == "no draft"
    assert len(events(stage, BRANCH, MessageSent)) == 2


def test_what_was_accepted_automatically(tmp_path: Path) -> None:
    """Where the source closed an exchange by itself, the branch accepts its own draft."""
    stage = Stage(tmp_path).begins(auto_accept_after=1)
    stage.runs("draft: an answer without a flaw", THOUGHT, iterations=5)
    stage.does(SendMessage(text="and then?"))
    ended = lived(stage)
    assert (ended.reason, ended.iterations) == ("done", 2)
    assert [e.by for e in events(stage, BRANCH, DraftAccepted)] == ["user"]


# other hands, other runners


@pytest.mark.parametrize(
    "wish",
    [
        SetSignal(presence="absent", time="2026-05-02T10:30:00+00:00"),
        InjectThought(text="mine", by="user:ann"),
        MarkSeen(),
        AcceptDraft(),
    ],
    ids=lambda wish: type(wish).__name__,
)
def test_other_things_done_in_the_branch(stage: Stage, wish: Any) -> None:
    """What a mind would be shown beside the past that is lived again ends the replay for good."""
    begun(stage)
    mind = Steady(stage)
    mind.fails = {2: [KeyboardInterrupt()]}
    goes_on(stage, mind)
    handle(stage.log, BRANCH, wish, stage.world)
    head = stage.log.head(BRANCH)
    with pytest.raises(Strayed, match=f"Event {head.version} of session 'what-if'"):
        goes_on(stage, mind)
    assert stage.log.head(BRANCH) == head, "nothing was written"


def test_an_iteration_by_hand_in_the_middle(stage: Stage) -> None:
    """As many iterations as the source had: one more is another past."""
    begun(stage)
    mind = Steady(stage)
    mind.fails = {2: [KeyboardInterrupt()]}
    goes_on(stage, mind)
    run_session(stage.log, BRANCH, lambda _: Steady(stage), stage.world, iterations=1)
    with pytest.raises(Strayed, match=r"mind\.invoked"):
        goes_on(stage, mind)


def test_more_after_the_end(stage: Stage) -> None:
    """A branch that has been lived to its end goes its own way, and there is nothing to go on."""
    lived(stage)
    for wish in (AcceptDraft(), PruneExchanges(keep=0), SendMessage(text="my own")):
        handle(stage.log, BRANCH, wish, stage.world)
    with pytest.raises(Strayed):
        goes_on(stage)


def test_what_no_mind_is_shown_is_nobodys_business(stage: Stage) -> None:
    """Notes and settings by hand do no harm; a setting that was chosen by hand stays."""
    begun(stage)
    mind = Steady(stage)
    mind.fails = {2: [KeyboardInterrupt()]}
    goes_on(stage, mind)
    handle(stage.log, BRANCH, AddNote(text="aha"), stage.world)
    handle(stage.log, BRANCH, ChangeConfig(key="temperature", value="1.5"), stage.world)
    assert goes_on(stage, mind).reason == "done"
    changes = [(e.key, e.new) for e in events(stage, BRANCH, ConfigChanged)]
    assert changes == [("temperature", 1.5), ("model", "script:another")]


def test_two_runners(stage: Stage) -> None:
    """While one asks the mind, another one is refused, and what it would do is not done twice."""
    begun(stage)
    refused: list[BaseException] = []

    class Watched(Steady):
        def reply(self, request: Request, listener: Any = None) -> Any:
            if len(self.requests) == 1:
                with pytest.raises(SomeoneRuns) as told_:
                    goes_on(self.stage)
                refused.append(told_.value)
            return super().reply(request, listener)

    lived(stage, "whole")
    assert goes_on(stage, Watched(stage)).reason == "done"
    assert refused
    assert told(stage, BRANCH) == told(stage, "whole")


def test_a_runner_that_was_given_up(stage: Stage) -> None:
    """One that was taken for dead finds its claim gone, and does no more."""
    begun(stage)

    class Slow(Steady):
        def reply(self, request: Request, listener: Any = None) -> Any:
            if len(self.requests) == 1:
                time_passes(self.stage)
                other = goes_on(
                    self.stage, stop_asked=lambda: kinds(own(stage)).count("mind.invoked") > 1
                )
                assert other.reason == "interrupted"
            return super().reply(request, listener)

    with pytest.raises(RunIsOver):
        goes_on(stage, Slow(stage))
    assert goes_on(stage).reason == "done"
    assert [e.reason for e in events(stage, BRANCH, RunStopped)].count("lost") == 1


def test_a_branch_that_somebody_else_runs(stage: Stage) -> None:
    """A run that is going on is left alone."""
    begun(stage)
    goes_on(stage, stop_asked=lambda: len(own(stage)) > 2)
    start = StartRun(
        run=RunId("r"), mode="observe", limit=1, exact=True, holder="h:1:1", now=stage.world.now()
    )
    handle(stage.log, BRANCH, start, stage.world)
    with pytest.raises(SomeoneRuns):
        goes_on(stage)
    stop = StopRun(run=RunId("r"), reason="limit")
    handle(stage.log, BRANCH, stop, stage.world)
    assert goes_on(stage).reason == "done"


# refusals


def test_nothing_to_live(tmp_path: Path) -> None:
    """A session without a message, or a part without an act, is refused, and nothing is written."""
    stage = Stage(tmp_path).begins(message=None)
    with pytest.raises(NothingToLive, match="no message"):
        begun(stage)
    with pytest.raises(NothingToLive, match="did nothing"):
        begun(stage, after=1)
    stage.does(SendMessage(text="why?"))
    stage.runs(THOUGHT, iterations=1)
    head = stage.log.head(stage.session).version
    for after, upto in ((head, None), (2, head), (head, 1)):
        with pytest.raises(NothingToLive):
            begun(stage, after=after, upto=upto)
    assert stage.log.sessions() == [stage.session]


def test_what_can_not_be_begun(stage: Stage) -> None:
    """Bad settings, taken names and moments that are not there leave everything as it was."""
    before = stage.log.position()
    cases: list[tuple[type[Exception], dict[str, Any]]] = [
        (BadSetting, {"settings": {"temperature": "9"}}),
        (BadSetting, {"settings": {"nonsense": "1"}}),
        (BadSetting, {"settings": {"model": "nonsense"}}),
        (NoSuchMoment, {"after": 0}),
        (NoSuchMoment, {"after": 999}),
        (NoSuchMoment, {"upto": 999}),
        (SessionExists, {"branch": stage.session}),
    ]
    for error, more in cases:
        with pytest.raises(error):
            begun(stage, **more)
    with pytest.raises(NoSuchSession):
        begin_replay(stage.log, SessionId("nowhere"), BRANCH, stage.world)
    assert stage.log.position() == before


def test_sessions_without_a_replay(stage: Stage) -> None:
    """Only where a replay was begun can one go on."""
    with pytest.raises(NoReplay, match="mind replay NAME"):
        goes_on(stage, branch=stage.session)
    with pytest.raises(NoSuchSession):
        goes_on(stage, branch="nowhere")


@pytest.mark.parametrize("source", ["nowhere", "another", "tides"])
def test_a_past_that_is_not_here(stage: Stage, source: str) -> None:
    """A source of that name must share the moment, or it is somebody else's past."""
    start_session(stage.log, SessionId("another"), stage.world, message="why?")
    begun(stage)
    state, world = stage.log.state(BRANCH), stage.world
    again = Caused(ReplayBegun(source=source, after=2 if source == "another" else 999, upto=999))
    draw = Draw([again], world.now(), world.actor, world.command_id())
    stage.log.append(BRANCH, state.version, draw)
    with pytest.raises(NoReplay, match=f"it was called '{source}'"):
        goes_on(stage)


@pytest.mark.parametrize("kind", ["message.sent", "thought.added", "signal.changed"])
def test_what_was_redacted_is_not_lived_again(stage: Stage, kind: str) -> None:
    """What nobody may read any more can't be sent: refused before anything is written."""
    begun(stage)
    spoken = next(iter(stage.log.read(stage.session, kinds=[kind])))
    redact_events(stage.log, [spoken], "personal", stage.world)
    for branch in ("other", BRANCH):
        with pytest.raises(Gone, match=f"Event {spoken.version} .*{kind}.* was redacted"):
            lived(stage, branch) if branch == "other" else goes_on(stage)
    assert not stage.log.exists(SessionId("other"))
    later = next(iter(stage.log.read(stage.session, after=20, kinds=["draft.accepted"]))).version
    assert lived(stage, "other", after=later).reason == "done"


def test_what_was_lived_before_it_was_redacted(stage: Stage) -> None:
    """Steps that are behind it need not be read again."""
    begun(stage)
    goes_on(stage, stop_asked=lambda: len(own(stage)) > 8)
    spoken = next(iter(stage.log.read(stage.session, kinds=["message.sent"])))
    redact_events(stage.log, [spoken], "personal", stage.world)
    assert goes_on(stage).reason == "done"
    assert events(stage, BRANCH, MessageSent)[0].text == "why two tides?"


def test_steps_are_told(stage: Stage) -> None:
    """Whoever looks on hears of each act of the user, and of nothing that came to nothing."""
    begun(stage)
    heard: list[Act] = []
    goes_on(stage, on_act=lambda act, done: heard.append(act) if done.events else None)
    asks = sum(not isinstance(step.what, Act) for step in Replay(stage.log, BRANCH).steps)
    assert len(heard) == goes_on(stage).steps - asks
