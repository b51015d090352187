"""From a ref to a version: every kind of ref, on sessions, forks and forks of forks."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.moments import find_exchange, resolve
from commands.presence import SetSignal
from commands.redaction import redact_events
from commands.sessions import LabelMoment
from domain.errors import AmbiguousRef, BadRef, NoSuchMoment, NoSuchSession
from domain.events import Caused, DraftAccepted, DraftEmitted, Event, MindInvoked
from domain.ids import SessionId
from domain.recorded import Draw, Head, Recorded
from domain.refs import AtTime, parse_ref
from tests.domain.happened import accepted, asked, drafted, exchanged, noted
from tests.stories.cast import SATURDAY, STEP, Stage

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
    for wrong in (newest + 1, 10**12):
        assert f"the nearest is iter:{newest}." in refused(at, f"iter:{wrong}")
    assert f"the nearest are iter:1, iter:{newest}." in refused(at, "iter:0")


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
        assert at(exchange) == at(exchange.removesuffix("_000")) == version
    awaiting = stage.state.dialogue.awaiting
    if awaiting:
        assert at(awaiting.exchange) == stage.state.version
    newest = stage.state.dialogue.newest
    for wrong in ("exc_2_000", "exc_1_001", "exc_99_000", "exc_0_000", "exc_2", "exc_99:1"):
        sentence = refused(at, wrong)
        assert f"no moment '{wrong}'; the nearest " in sentence
        assert str(newest) in sentence


def test_the_nearest_exchanges_are_named(stage: Stage) -> None:
    """The ones on both sides of the wish, and the newest."""

    def tides(text: str) -> int:
        return resolve(stage.log, SessionId("tides"), parse_ref(text))

    for wrong in ("exc_2_000", "exc_1_007", "exc_2", "exc_2:1"):
        assert "the nearest are exc_1_000, exc_3_000, exc_5_000." in refused(tides, wrong)
    assert "the nearest are exc_1_000, exc_5_000." in refused(tides, "exc_0")
    assert "the nearest is exc_5_000." in refused(tides, "exc_9")


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
        nearest = "are draft:1, " if count > 1 else "is draft:1."
        assert (f"the nearest {nearest}" in sentence) == bool(count)


def test_drafts_of_an_older_exchange_are_named_as_such(at: At) -> None:
    """``draft:2`` would be another draft: that of the newest exchange."""
    assert "the nearest are exc_1_000:1, exc_1_000:2." in refused(at, "exc_1_000:9")


def test_labels(stage: Stage, at: At) -> None:
    """The newest use of a label counts, each branch for itself; others are named."""
    assert at("@lunch") == (12 if stage.session == "tides/b" else 5)
    sentence = refused(at, "@nothing")
    tea = "@tea, " if stage.session == "tides/b" else ""
    nearest = f"are {tea}@lunch" if tea else "is @lunch"
    assert f"no moment '@nothing'; the nearest {nearest}." in sentence
    assert f"the nearest {'are' if tea else 'is'} @lunch" in refused(at, "@launch")
    if stage.session == "tides/b":
        assert at("@tea") == 1
        assert "the nearest are @tea, @lunch." in refused(at, "@teatime")


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
    assert "the nearest is 1." in refused(at, "1999-12-31T23:59:59Z")
    assert "the nearest is 1." in refused(at, SATURDAY.isoformat())


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


def test_a_redacted_label_names_nothing(tmp_path: Path) -> None:
    """What stands in its place is no label, and not proposed; an older use of it counts again."""
    stage = Stage(tmp_path).begins()
    for label, version in (("here", 1), ("here", 2), ("secret", 2)):
        stage.does(LabelMoment(label=label, version=version))
    here, secret = stage.history()[-2:]
    redact_events(stage.log, [here, secret], "It names a patient.", stage.world)
    at = partial(_resolved, stage)
    assert at("@here") == 1
    for text in ("@secret", "@[redacted]"):
        assert f"no moment '{text}'; the nearest is @here." in refused(at, text)


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


# refs that could be several moments


def picked(stage: Stage, *ids: str, answers: int = 1) -> dict[str, int]:
    """Exchanges begin and end here without the mind, as when they come from another branch."""
    ended = {}
    for id_ in ids:
        iteration = int(id_.split("_")[1])
        drafts = [
            drafted(n, f"the answer number {n} of {id_}", iteration, exchange=id_)
            for n in range(1, answers + 1)
        ]
        happens(stage, asked(id_, id_, iteration), *drafts, accepted(1, id_))
        ended[id_] = stage.state.version
    return ended


def happens(stage: Stage, *events: Event) -> None:
    """Record events just so."""
    draw = Draw(
        tuple(Caused(e) for e in events),
        stage.world.now(),
        stage.world.actor,
        stage.world.command_id(),
    )
    stage.log.append(stage.session, stage.state.version, draw)


def test_an_exchange_by_its_iteration_alone(tmp_path: Path) -> None:
    """Enough where one exchange began there; else refused, with all that it could be."""
    stage = Stage(tmp_path).begins(None)
    ended = picked(stage, "exc_1_000", "exc_3_000", "exc_3_001", "exc_4_000")
    at = partial(_resolved, stage)
    assert [at(exchange) for exchange in ended] == list(ended.values())
    assert at("exc_1") == ended["exc_1_000"]
    assert at("exc_4") == ended["exc_4_000"]
    assert at("exc_4:1") == ended["exc_4_000"] - 1
    for text, sentence in {
        "exc_3": "'exc_3' could be exc_3_000 or exc_3_001: write one of them.",
        "exc_3:1": "'exc_3:1' could be exc_3_000:1 or exc_3_001:1: write one of them.",
    }.items():
        with pytest.raises(AmbiguousRef) as refusal:
            at(text)
        assert refusal.value.sentence == sentence
    before = ended["exc_3_001"] - 3
    assert at("exc_3", upto=before) == ended["exc_3_000"]
    assert find_exchange(stage.log, stage.session, "exc_4").version == ended["exc_4_000"] - 2
    with pytest.raises(NoSuchMoment, match=r"nearest is exc_4_000:1\."):
        at("exc_4:9")


def test_of_very_many_only_some_are_named(tmp_path: Path) -> None:
    """A sentence stays one."""
    stage = Stage(tmp_path).begins(None)
    ids = [f"exc_1_{n:03d}" for n in range(60)]
    ended = picked(stage, *ids)
    at = partial(_resolved, stage)
    with pytest.raises(AmbiguousRef, match="exc_1_003 or exc_1_004: write"):
        at("exc_1")
    for id_ in ids:
        assert at(id_) == ended[id_]
    with pytest.raises(NoSuchMoment, match=r"nearest is exc_1_059\."):
        at("exc_1_060")


def _resolved(stage: Stage, text: str, upto: int | None = None) -> int:
    return resolve(stage.log, stage.session, parse_ref(text), upto=upto)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The user's clock is one that was put back on 25 October 2026, from 3:00 to 2:00."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _autumn(stage: Stage, *minutes: int) -> None:
    """A signal so many minutes after the last summer's two o'clock (midnight UTC)."""
    midnight = int(datetime(2026, 10, 25, tzinfo=UTC).timestamp()) * 1_000_000
    for minute in minutes:
        stage.world.time = midnight + minute * 60_000_000 - STEP
        moment = datetime(2026, 10, 25, tzinfo=UTC)
        stage.does(SetSignal(presence="engaged", status=str(minute), time=moment))


def test_a_local_time_that_happens_twice(tmp_path: Path, berlin: None) -> None:
    """Refused where it makes a difference; both readings are named as one can write them."""
    stage = Stage(tmp_path).begins(None)
    _autumn(stage, 10, 40, 75, 130)  # 2:10 and 2:40 in summer, 2:15 and 3:10 in winter
    at = partial(_resolved, stage)
    for text, sentence in {
        "2026-10-25T02:20": "'2026-10-25T02:20:00' could be 2026-10-25T02:20:00+02:00"
        " or 2026-10-25T02:20:00+01:00: write one of them.",
        "2026-10-25 02:50": "'2026-10-25T02:50:00' could be 2026-10-25T02:50:00+02:00"
        " or 2026-10-25T02:50:00+01:00: write one of them.",
    }.items():
        with pytest.raises(AmbiguousRef) as refusal:
            at(text)
        assert refusal.value.sentence == sentence
    assert at("2026-10-25T02:20:00+02:00") == 2
    assert at("2026-10-25T02:20:00+01:00") == 4
    assert at("2026-10-25T00:20Z") == 2
    assert at("2026-10-25T01:59") == 1
    assert at("2026-10-25T03:00") == 4
    assert at("2026-10-25T03:10") == 5


def test_a_time_that_happens_twice_without_a_difference(tmp_path: Path, berlin: None) -> None:
    """Where both readings are the same moment, or only one is a moment, nobody has to choose."""
    stage = Stage(tmp_path)
    stage.world.time = int(datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp()) * 1_000_000
    stage.begins(None)
    at = partial(_resolved, stage)
    assert at("2026-10-25T02:45") == 1
    assert at("2026-10-25T02:10") == 1  # in winter time: in summer time there was nothing yet
    with pytest.raises(NoSuchMoment):
        at("2026-10-25T02:10+02:00")


def test_a_local_time_that_never_happens(tmp_path: Path, berlin: None) -> None:
    """Where the clock goes forward, the hour that it leaves out is read as if it had not yet."""
    stage = Stage(tmp_path)
    stage.world.time = int(datetime(2026, 3, 29, 0, 59, tzinfo=UTC).timestamp()) * 1_000_000
    stage.begins(None)
    stage.world.time += 60_000_000 * 31  # 3:30 in summer time
    stage.does(SetSignal(presence="engaged", status="", time=datetime(2026, 3, 29, tzinfo=UTC)))
    at = partial(_resolved, stage)
    assert at("2026-03-29T02:00") == 1
    assert at("2026-03-29T02:31") == at("2026-03-29T03:31") == 2


def test_times_are_exact_to_the_microsecond(tmp_path: Path) -> None:
    """A microsecond earlier is another moment."""
    stage = Stage(tmp_path)
    begun = int(SATURDAY.timestamp()) * 1_000_000
    stage.world.time = begun - STEP
    stage.begins(None)
    at = partial(_resolved, stage)
    for microsecond in range(250_001, 250_400, 7):
        moment = SATURDAY.replace(microsecond=microsecond)
        stage.world.time = begun + microsecond - STEP
        stage.does(SetSignal(presence="engaged", status=str(microsecond), time=moment))
        assert at(moment.isoformat()) == stage.state.version
        assert at((moment - timedelta(microseconds=1)).isoformat()) == stage.state.version - 1


def test_as_of_a_past_moment(tmp_path: Path) -> None:
    """Whatever is taken for the head, a ref names there what it names on a branch from there."""
    stage = Stage(tmp_path).begins()
    stage.runs(A)
    stage.does(LabelMoment(label="lunch", version=2), AcceptDraft(), SendMessage(text="and neap?"))
    stage.runs(f"thoughts: [one]\n{B}")
    stage.does(LabelMoment(label="lunch", version=3), AcceptDraft())
    texts = [
        *("head", "~", "1", "7", "12", "iter:1", "iter:2", "exc_1", "exc_2_000", "exc_1:1"),
        *("draft:1", "@lunch", "2026-05-02T10:30:01Z", "2999-01-01"),
    ]
    head = stage.state.version
    for upto in range(1, head + 1):
        child = SessionId(f"then-{upto}")
        fork_session(stage.log, stage.session, upto, child, stage.world)
        for text in texts:
            ref, found = parse_ref(text), set()
            for log, session in ((stage.log, stage.session), (stage.log, child)):
                try:
                    found.add(resolve(log, session, ref, upto=upto))
                except NoSuchMoment as refusal:
                    found.add(refusal.sentence.replace(session, ""))
            assert len(found) == 1, (text, upto)
    assert _resolved(stage, "head") == head


# the cost


class Counting:
    """A log that counts how often it is asked, and how many events it gives."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.asked = self.given = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def head(self, session: SessionId, version: int | None = None) -> Head:
        """One look."""
        self.asked += 1
        return self._log.head(session, version)

    def newest(
        self, session: SessionId, kinds: Iterable[str] | None, *, upto: int | None = None
    ) -> Recorded | None:
        """One look."""
        self.asked += 1
        self.given += 1
        return self._log.newest(session, kinds, upto=upto)

    def read(self, session: SessionId, **which: Any) -> Iterator[Recorded]:
        """One look, as far as the page of it goes."""
        self.asked += 1
        for recorded in self._log.read(session, **which):
            self.given += 1
            yield recorded


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A thousand exchanges with much between them, and a chain of forks behind the last one."""
    stage = Stage(tmp_path_factory.mktemp("long")).begins(None)
    for n in range(1, 1001):
        happens(stage, *exchanged(n), *(noted(f"remark {k}", iteration=n) for k in range(12)))
    for n in range(40):
        child = SessionId(f"tides/{n}")
        fork_session(stage.log, stage.session, stage.state.version, child, stage.world)
        stage.session = child
        happens(stage, *exchanged(1001 + n))
    stage.session = SessionId("tides")
    yield stage
    stage.log.close()


@pytest.mark.parametrize("session", ["tides", "tides/0", "tides/39"])
def test_finding_a_moment_is_some_looks_at_an_index(long: Stage, session: str) -> None:
    """As often as its history can be halved and a few times more, and few events are read."""
    long.session = SessionId(session)
    head = long.state.version
    assert head > 16_000
    looks = head.bit_length() + 4
    middle = long.log.pick(long.session, [head // 2])[0].when.isoformat()
    for text in (
        *("iter:1", "iter:500", "iter:1000", "exc_1", "exc_500", "exc_500_000", "exc_1000:1"),
        *(
            "iter:99999",
            "exc_0",
            "exc_500_001",
            "exc_99999",
            middle,
            "2026-05-02T10:31",
            "2999-01-01",
        ),
        *(str(head), f"~{head - 1}", "head", "draft:1"),
    ):
        counting = Counting(long.log)
        with suppress(NoSuchMoment):
            resolve(counting, long.session, parse_ref(text))
        assert counting.asked <= looks, text
        assert counting.given <= looks + 32, text
    assert _resolved(long, "exc_777") == _resolved(long, "exc_777_000")
