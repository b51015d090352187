"""From a ref to a version: every kind of ref, on sessions, forks and forks of forks."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.moments import resolve
from commands.presence import SetSignal
from commands.sessions import LabelMoment
from domain.errors import BadRef, NoSuchMoment, NoSuchSession
from domain.events import DraftAccepted, DraftEmitted, MindInvoked
from domain.ids import SessionId
from domain.refs import AtTime, parse_ref
from tests.stories.cast import SATURDAY, Stage

A, B, C = "draft: the first answer of all", "draft: the second answer of all", "draft: '+1'"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A session, a fork in the middle of its second exchange, and a fork of that fork.

    ``tides`` has two exchanges and a third that is open; ``tides/b`` leaves it after the first
    draft of the second; ``tides/b/c`` leaves that one inside of an iteration.
    """
    stage = Stage(tmp_path_factory.mktemp("store")).begins()
    stage.runs(A)
    stage.runs(f"thoughts: [one, two]\n{B}")
    stage.does(AcceptDraft(index=1), LabelMoment(label="lunch", version=5))
    stage.does(SendMessage(text="and spring tides?"))
    stage.runs(f"thoughts: [three]\n{A}")
    middle = stage.state.version
    stage.runs(C)
    stage.does(AcceptDraft(), SendMessage(text="and neap tides?"))
    parent = stage.session
    fork_session(stage.log, parent, middle, SessionId("tides/b"), stage.world)
    stage.session = SessionId("tides/b")
    stage.runs(f"thoughts: [four]\n{B}")
    stage.does(LabelMoment(label="lunch", version=12), LabelMoment(label="tea", version=1))
    stage.does(AcceptDraft())
    inside = next(
        r.version for r in stage.history() if r.version > middle and r.event.kind == "thought.added"
    )
    fork_session(stage.log, stage.session, inside, SessionId("tides/b/c"), stage.world)
    stage.session = SessionId("tides/b/c")
    stage.runs(f"thoughts: [five]\n{B}")
    stage.session = parent
    yield stage
    stage.log.close()


SESSIONS = ("tides", "tides/b", "tides/b/c")


@pytest.fixture(params=SESSIONS)
def at(request: pytest.FixtureRequest, stage: Stage) -> Callable[[str], int]:
    """Resolve refs in each of the three."""
    session = SessionId(request.param)
    stage.session = session
    return lambda text: resolve(stage.log, session, parse_ref(text))


At = Callable[[str], int]


def refused(at: At, text: str) -> str:
    """The sentence with which a ref is refused."""
    with pytest.raises(NoSuchMoment) as refusal:
        at(text)
    return refusal.value.sentence


def test_versions_and_the_head(stage: Stage, at: At) -> None:
    """A version is itself; ``~n`` counts back from now, across forks."""
    head = stage.state.version
    assert at("head") == at("~0") == at(str(head)) == head
    assert at("~") == at("~1") == head - 1
    assert at(f"~{head - 1}") == at("1") == 1
    for wrong in ("0", str(head + 1), f"~{head}", "999999999999999"):
        assert f"no moment '{wrong}'; the nearest are 1, {head}" in refused(at, wrong)


def test_every_iteration(stage: Stage, at: At) -> None:
    """Right after all that it brought, its seen marks included; a fork's own as well."""
    history = stage.history()
    newest = 0
    for recorded in history:
        if isinstance(recorded.event, MindInvoked):
            newest = recorded.event.iteration
            brought = [r.version for r in history if r.command == recorded.command]
            assert at(f"iter:{newest}") == brought[-1]
    assert newest == stage.state.iteration
    for wrong in (0, newest + 1, 10**12):
        assert f"the nearest are iter:{newest}." in refused(at, f"iter:{wrong}")


def test_a_fork_inside_an_iteration_ends_it_there(stage: Stage) -> None:
    """What the parent's iteration brought afterwards is not the child's."""
    child = SessionId("tides/b/c")
    fork = stage.log.path(child)[0].after
    assert resolve(stage.log, child, parse_ref("iter:4")) == fork
    assert resolve(stage.log, SessionId("tides/b"), parse_ref("iter:4")) > fork


def test_every_exchange(stage: Stage, at: At) -> None:
    """Its acceptance; an open one is now."""
    closed = {
        r.event.exchange: r.version for r in stage.history() if isinstance(r.event, DraftAccepted)
    }
    assert closed
    for exchange, version in closed.items():
        assert at(exchange) == version
    awaiting = stage.state.dialogue.awaiting
    if awaiting:
        assert at(awaiting.exchange) == stage.state.version
    newest = stage.state.dialogue.newest
    for wrong in ("exc_2_000", "exc_1_001", "exc_99_000", "exc_0_000"):
        sentence = refused(at, wrong)
        assert f"no moment '{wrong}'; the nearest are" in sentence
        assert str(newest) in sentence


def test_the_nearest_exchanges_are_named(stage: Stage) -> None:
    """The next one behind the wish, and the newest."""
    assert "the nearest are exc_3_000, exc_5_000." in refused(
        lambda text: resolve(stage.log, SessionId("tides"), parse_ref(text)), "exc_2_000"
    )
    assert "the nearest are exc_1_000, exc_3_000, exc_5_000." in refused(
        lambda text: resolve(stage.log, SessionId("tides"), parse_ref(text)), "exc_1_007"
    )


def test_every_draft(stage: Stage, at: At) -> None:
    """By its exchange and index; those of the newest exchange by index alone."""
    newest = stage.state.dialogue.newest
    count = 0
    for recorded in stage.history():
        if isinstance(recorded.event, DraftEmitted):
            draft = recorded.event
            assert at(f"{draft.exchange}:{draft.index}") == recorded.version
            if draft.exchange == newest:
                count += 1
                assert at(f"draft:{draft.index}") == recorded.version
    for wrong in (0, count + 1):
        sentence = refused(at, f"draft:{wrong}")
        assert (f"the nearest are draft:1{', ' if count > 1 else '.'}" in sentence) == bool(count)


def test_drafts_of_an_older_exchange_are_named_as_such(at: At) -> None:
    """``draft:2`` would be another draft: that of the newest exchange."""
    assert "the nearest are exc_1_000:1, exc_1_000:2." in refused(at, "exc_1_000:9")


def test_labels(stage: Stage, at: At) -> None:
    """The newest use of a label counts, each branch for itself; three others are named."""
    assert at("@lunch") == (12 if stage.session == "tides/b" else 5)
    sentence = refused(at, "@nothing")
    tea = "@tea, " if stage.session == "tides/b" else ""
    assert f"no moment '@nothing'; the nearest are {tea}@lunch." in sentence
    if stage.session == "tides/b":
        assert at("@tea") == 1


def test_times(stage: Stage, at: At) -> None:
    """The last event up to a time, to the microsecond; forks have their parent's times."""
    history = stage.history()
    for recorded in history:
        last = max(r.version for r in history if r.at <= recorded.at)
        assert at(recorded.when.isoformat()) == last
        before = recorded.when - timedelta(microseconds=1)
        earlier = [r.version for r in history if r.at < recorded.at]
        if earlier:
            assert at(before.isoformat()) == max(earlier)
    assert at("2999-01-01") == len(history)
    assert at("9999-12-30") == len(history)
    assert "the nearest are 1." in refused(at, "1999-12-31T23:59:59Z")
    assert "the nearest are 1." in refused(at, SATURDAY.isoformat())


def test_a_time_without_an_offset_is_the_user_s_own(stage: Stage) -> None:
    """As clocks on the wall show it."""
    first = stage.history()[0].when.astimezone().replace(tzinfo=None)
    assert resolve(stage.log, SessionId("tides"), AtTime(first)) == 2
    assert resolve(stage.log, SessionId("tides"), parse_ref(first.isoformat())) == 2


@pytest.mark.parametrize(
    "time",
    ["0001-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:59:59", "9999-12-31T23:59-12:00"],
)
def test_a_time_at_the_end_of_time_is_an_ordinary_wish(stage: Stage, time: str) -> None:
    """Answered or refused in a sentence, never an error of the calendar's."""
    try:
        assert (
            resolve(stage.log, SessionId("tides"), parse_ref(time))
            == stage.log.head(SessionId("tides")).version
        )
    except (NoSuchMoment, BadRef):
        assert time.startswith("0001")


def test_no_such_session(stage: Stage) -> None:
    """Whatever the ref."""
    for text in ("head", "1", "iter:1", "exc_1_000", "draft:1", "@lunch", "2026-05-02"):
        with pytest.raises(NoSuchSession):
            resolve(stage.log, SessionId("nowhere"), parse_ref(text))


def test_a_session_without_drafts(tmp_path: Path) -> None:
    """There is no nearest then, and the sentence ends early."""
    stage = Stage(tmp_path).begins(None)
    for text in ("draft:1", "iter:1", "exc_1_000", "@lunch"):
        with pytest.raises(NoSuchMoment, match=rf"has no moment '{text}'\.$"):
            resolve(stage.log, stage.session, parse_ref(text))
    assert resolve(stage.log, stage.session, parse_ref("head")) == 1


def test_a_late_draft_hides_no_other(tmp_path: Path) -> None:
    """It stands between the next question and its drafts, and belongs to neither."""
    stage = Stage(tmp_path).begins()
    stage.runs(A)

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
        return B

    stage.runs(act, "draft: When sun and moon pull together.")
    drafts = {
        (r.event.exchange, r.event.index): r.version
        for r in stage.history()
        if isinstance(r.event, DraftEmitted)
    }
    assert len(drafts) == 3
    for (exchange, index), version in drafts.items():
        assert resolve(stage.log, stage.session, parse_ref(f"{exchange}:{index}")) == version
    assert (
        resolve(stage.log, stage.session, parse_ref("draft:1"))
        == drafts[stage.state.dialogue.newest, 1]
    )


def test_a_label_may_name_what_another_label_did(tmp_path: Path) -> None:
    """A label moves when it is given again; the old moment keeps its version."""
    stage = Stage(tmp_path).begins()
    for version in (1, 2, 1):
        stage.does(LabelMoment(label="here", version=version))
        assert resolve(stage.log, stage.session, parse_ref("@here")) == version


def test_many_signals_do_not_hide_an_iteration(tmp_path: Path) -> None:
    """Refs are looked up by index: what stands in between does not matter."""
    stage = Stage(tmp_path).begins()
    time = datetime(2026, 5, 2, tzinfo=SATURDAY.tzinfo)
    wanted = []
    for _ in range(4):
        stage.runs("thoughts: [one]", iterations=1)
        wanted.append(stage.state.version - 1)
        stage.does(*(SetSignal(presence="engaged", status=str(n), time=time) for n in range(40)))
    found = [resolve(stage.log, stage.session, parse_ref(f"iter:{n}")) for n in range(1, 5)]
    assert found == wanted
