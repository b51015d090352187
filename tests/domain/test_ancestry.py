"""Where two histories part: forks of forks, ancestors of each other, strangers."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.handle import handle
from commands.sessions import start_session
from domain.ancestry import Point, common_ancestor
from domain.errors import NoSuchSession, Refused
from domain.events import (
    DraftEmitted,
    ThoughtAdded,
)
from domain.ids import SessionId
from domain.recorded import Recorded
from projections.comparison import Comparison, Setting, compare
from projections.since import Since
from tests.projections.sides import CHILD, GRANDCHILD, MAIN, A, B, C, compared, fork, on, told
from tests.stories.cast import Stage, SteadyWorld
from tests.strategies import turns


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An exchange with two drafts that could be its answer; it awaits a choice."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {A}", f"draft: {B}", mode="background", iterations=2)
    yield stage
    stage.log.close()


def test_a_branch_and_its_parent_part_at_the_fork(stage: Stage) -> None:
    """Whichever of them is named first."""
    fork(stage, at=4)
    for one, other in ((MAIN, CHILD), (CHILD, MAIN)):
        assert compared(stage, one, other).ancestor == Point(MAIN, 4)


def test_branches_of_one_parent_part_at_the_older_fork(stage: Stage) -> None:
    """What the younger one shares with the parent beyond that is nothing to the older."""
    fork(stage, CHILD, at=4)
    fork(stage, GRANDCHILD, at=6)
    assert compared(stage, CHILD, GRANDCHILD).ancestor == Point(MAIN, 4)


def test_a_branch_that_began_below_its_parent_s_own_beginning(stage: Stage) -> None:
    """It shares nothing with its parent but what both have from the grandparent."""
    fork(stage, CHILD, at=6)
    fork(on(stage, CHILD), GRANDCHILD, at=3)
    assert compared(stage, CHILD, GRANDCHILD).ancestor == Point(MAIN, 3)
    assert compared(stage, MAIN, GRANDCHILD).ancestor == Point(MAIN, 3)


def test_a_branch_of_a_branch_parts_from_it_in_the_middle(stage: Stage) -> None:
    """The stream that holds the newest common event is named."""
    fork(stage, CHILD, at=4)
    on(stage, CHILD).runs(f"draft: {C}")
    head = stage.state.version
    fork(stage, GRANDCHILD)
    assert compared(stage, CHILD, GRANDCHILD).ancestor == Point(CHILD, head)
    assert compared(stage, CHILD, GRANDCHILD, 3, 3).ancestor == Point(MAIN, 3)
    assert compared(stage, CHILD, GRANDCHILD, 5, head).ancestor == Point(CHILD, 5)


def test_two_versions_of_one_session(stage: Stage) -> None:
    """The older one is the ancestor, and has done nothing since."""
    head = stage.state.version
    for versions in ((3, head), (head, 3)):
        found = compared(stage, MAIN, MAIN, *versions)
        assert found.ancestor == Point(MAIN, 3)
        assert [found.one.events, found.other.events] == [version - 3 for version in versions]


def test_the_very_same_moment(stage: Stage) -> None:
    """There is nothing to tell, by whatever name it is called."""
    fork(stage, at=5)
    for session in (MAIN, CHILD):
        found = compared(stage, MAIN, session, 5, 5)
        assert found.one.events == found.other.events == 0
        assert found[3:] == ((), (), (), ())


def test_sessions_that_have_nothing_in_common(stage: Stage) -> None:
    """They are compared from their beginnings on, settings included, and nothing is an ancestor."""
    stage.does(AcceptDraft())
    settings = {"model": "script:rehearsed", "temperature": 0.5}
    other = SessionId("ebb")
    start_session(stage.log, other, stage.world, message="why two tides?", settings=settings)
    on(stage, other).runs(f"draft: {B}")
    found = compared(stage, MAIN, other)
    assert found.ancestor is None
    assert (found.one.events, found.other.events) == (
        stage.log.head(MAIN).version,
        stage.log.head(other).version,
    )
    assert found.settings == (Setting("temperature", None, None, 0.5),)
    assert told(found.pairs) == [("why two tides?", "why two tides?", "question", "same")]
    assert [e.event.kind for e in found.other.listed["session"]] == ["session.started"]


def test_a_session_that_is_not_there(stage: Stage) -> None:
    """Refused, on either side."""
    nowhere, here = Point(SessionId("nowhere"), 1), Point(MAIN, 1)
    for one, other in ((nowhere, here), (here, nowhere)):
        with pytest.raises(NoSuchSession, match="nowhere"):
            compare(stage.log, one, other)


# against a naive comparison


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_it_is_what_a_naive_comparison_finds(data: st.DataObject) -> None:
    """Whatever happened on forks of forks: both histories in full, laid side by side."""
    directory = Path(tempfile.mkdtemp())
    try:
        with EventLog.create(directory) as log:
            _check(data, log)
    finally:
        shutil.rmtree(directory)


def _check(data: st.DataObject, log: EventLog) -> None:
    world = SteadyWorld()
    sessions = [MAIN]
    start_session(log, MAIN, world, message="why two tides?")
    for number in range(data.draw(st.integers(1, 4))):
        parent = data.draw(st.sampled_from(sessions))
        _live(log, parent, world, data)
        if data.draw(st.integers(0, 9)) == 0:
            child = SessionId(f"alone-{number}")
            start_session(log, child, world, message="why two tides?")
        else:
            child = SessionId(f"fork-{number}")
            at = data.draw(st.integers(1, log.head(parent).version))
            fork_session(log, parent, at, child, world)
        sessions.append(child)
        _live(log, child, world, data)
    ends = []
    for _ in range(2):
        session = data.draw(st.sampled_from(sessions))
        ends.append(Point(session, data.draw(st.integers(1, log.head(session).version))))
    found = compare(log, *ends)
    histories = [list(log.read(end.session, upto=end.version)) for end in ends]
    shared = sum(1 for one, other in zip(*histories, strict=False) if one == other)
    assert found.ancestor == common_ancestor(log, *reversed(ends))
    assert (found.ancestor.version if found.ancestor else 0) == shared
    if found.ancestor is not None:
        assert histories[0][shared - 1].session == found.ancestor.session
    for end, side, history in zip(ends, (found.one, found.other), histories, strict=True):
        _same_since(log, end, side, history[shared:])
    _same_settings(log, ends, shared, found)
    for number, (side, rest) in enumerate(
        [(found.one, found.only_one), (found.other, found.only_other)]
    ):
        paired = [(pair.one, pair.other)[number] for pair in found.pairs]
        having = Counter(course.version for course in (*paired, *rest))
        skipped = {c.version for c in side.courses} - set(having)
        assert max(having.values(), default=1) == 1
        assert all(version <= shared for version in skipped)


def _live(log: EventLog, session: SessionId, world: SteadyWorld, data: st.DataObject) -> None:
    for turn in data.draw(st.lists(turns, max_size=3)):
        for wish in turn:
            command = wish(log.state(session))
            try:
                handle(log, session, command, world)
            except Refused:
                continue


def _same_since(log: EventLog, end: Point, side: Since, events: list[Recorded]) -> None:
    assert side.kinds == Counter(recorded.event.kind for recorded in events)
    thoughts = [r.event for r in events if isinstance(r.event, ThoughtAdded)]
    assert [t.text for t in side.thoughts] == [event.text for event in thoughts]
    drafts = [r.event for r in events if isinstance(r.event, DraftEmitted)]
    assert side.late == sum(d.late for d in drafts)
    assert side.signals == sum(d.signal and not d.late for d in drafts)
    assert side.content + side.signals + side.late == len(drafts)
    after = end.version - len(events)
    now = log.state(end.session, end.version)
    work = log.state(end.session, after).work if after else None
    assert side.work.tokens_in == now.work.tokens_in - (work.tokens_in if work else 0)
    assert side.work.unknown_costs == now.work.unknown_costs - (work.unknown_costs if work else 0)
    assert side.work.cost_usd == pytest.approx(now.work.cost_usd - (work.cost_usd if work else 0))
    answered = {e.id: e for e in now.dialogue.history if e.version > after}
    for course in side.courses:
        draft = course.draft
        if course.accepted is None:
            assert now.dialogue.awaiting is not None
            assert now.dialogue.awaiting.exchange == course.exchange
            latest = now.dialogue.latest_content
            assert (draft and draft.version) == (latest and latest.version)
            continue
        exchange = answered.pop(course.exchange)
        assert draft is not None
        assert (exchange.question, exchange.version) == (course.question, course.accepted)
        assert (exchange.answer, exchange.index) == (draft.text, draft.index)
        assert (exchange.draft_version, exchange.answered) == (draft.version, draft.iteration)
    assert not answered


def _same_settings(log: EventLog, ends: list[Point], shared: int, found: Comparison) -> None:
    one, other = (log.state(*end).config.model_dump() for end in ends)
    before = log.state(ends[0].session, shared).config.model_dump() if shared else None
    assert {s.key: s[1:] for s in found.settings} == {
        key: (before[key] if before else None, one[key], other[key])
        for key in one
        if one[key] != other[key] or (before and one[key] != before[key])
    }
