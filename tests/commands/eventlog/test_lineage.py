"""Who inherits from whom: forks of forks, however deep, wherever they branch off."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands.eventlog import EventLog
from commands.eventlog.lineage import clipped
from domain.errors import NoSuchSession, SessionExists
from domain.ids import SessionId
from domain.recorded import Segment
from tests.commands.eventlog.stores import MAIN, begin, branch, grow, pool

DEEP = 200


def test_a_session_of_its_own(log: EventLog) -> None:
    """Without a fork there is one segment from the beginning on."""
    begin(log, events=3)
    assert log.path(MAIN) == (Segment(MAIN, 0, None),)


def test_a_fork_of_a_fork(log: EventLog) -> None:
    """Segments are youngest first, and each ends where the next younger one begins."""
    begin(log, events=6)
    branch(log, MAIN, 4, "a")
    grow(log, "a", 3)
    branch(log, "a", 7, "b")
    grow(log, MAIN, 5)
    a, b = SessionId("a"), SessionId("b")
    assert log.path(b) == (Segment(b, 7, None), Segment(a, 4, 7), Segment(MAIN, 0, 4))


@pytest.mark.parametrize("at", [1, 3, 4])
def test_what_gives_nothing_is_skipped(log: EventLog, at: int) -> None:
    """A fork of ``a`` below ``a``'s own fork point inherits from ``main`` alone."""
    begin(log, events=6)
    branch(log, MAIN, 4, "a")
    grow(log, "a", 3)
    branch(log, "a", at, "b")
    b = SessionId("b")
    assert log.path(b) == (Segment(b, at, None), Segment(MAIN, 0, at))
    assert [r.session for r in log.read(b)] == [*[MAIN] * at, b]


def test_200_generations(tmp_path: Path) -> None:
    """A chain of 200 forks is walked in a loop, and its state is that of the whole history."""
    names = [MAIN, *(SessionId(f"g{n}") for n in range(1, DEEP + 1))]
    expected = ["t2", "t3"]
    with EventLog.create(tmp_path) as log:
        begin(log, events=3)
        for parent, child in pairwise(names):
            head = branch(log, parent, log.head(parent).version, child)
            grow(log, child, 2)
            expected += [f"t{head.version + 1}", f"t{head.version + 2}"]
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(150)  # fewer frames than generations
        with EventLog(tmp_path) as cold:
            path = cold.path(names[-1])
    finally:
        sys.setrecursionlimit(limit)
    assert [segment.stream for segment in path] == names[::-1]
    with EventLog(tmp_path) as cold:
        state = cold.state(names[-1])
        assert (state.id, state.version) == (names[-1], 3 + 3 * DEEP)
        assert [t.text for t in state.pool.active] == expected[-50:]
        assert state.pool.total == len(expected)
        assert len(list(cold.read(names[-1]))) == 3 + 3 * DEEP
        # and a moment that an ancestor in the middle holds
        assert pool(cold, names[-1], 3 + 3 * 100) == expected[:202][-50:]
    with EventLog(tmp_path) as cold:
        assert not [f for verdict in cold.verify([names[-1]]) for f in verdict.findings]


def test_200_generations_that_give_nothing(log: EventLog) -> None:
    """Forks of forks at one and the same moment leave two segments: the youngest and the root."""
    begin(log, events=5)
    parent = MAIN
    for n in range(DEEP):
        child = SessionId(f"g{n}")
        branch(log, parent, 3, child)
        parent = child
    assert log.path(parent) == (Segment(parent, 3, None), Segment(MAIN, 0, 3))
    assert pool(log, parent) == ["t2", "t3"]


def test_children_never_feel_their_parents_grow(log: EventLog) -> None:
    """A fork goes on from its moment, whatever happens to its parent afterwards."""
    begin(log, events=4)
    branch(log, MAIN, 3, "a")
    before = list(log.read(SessionId("a")))
    grow(log, MAIN, 5, tag="later")
    assert list(log.read(SessionId("a"))) == before
    assert pool(log, "a") == ["t2", "t3"]


def test_a_name_is_given_once(log: EventLog) -> None:
    """Neither a new session nor a fork can take the name of another, from any moment."""
    begin(log, events=4)
    branch(log, MAIN, 3, "a")
    for version in (1, 2, 3, 4):
        for name in ("main", "a"):
            with pytest.raises(SessionExists):
                branch(log, MAIN, version, name)
    with pytest.raises(SessionExists):
        begin(log, "a")
    assert len(list(log.read(SessionId("a")))) == 4


def test_nobody_inherits_from_nobody(log: EventLog) -> None:
    """A session that is not there has no path, and asking does not make it one."""
    with pytest.raises(NoSuchSession):
        log.path(SessionId("later"))
    begin(log, "later")
    assert len(log.path(SessionId("later"))) == 1


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 40), st.integers(0, 4)), max_size=14))
def test_any_tree_reads_as_if_it_were_copied(
    tmp_path_factory: pytest.TempPathFactory, forks: list[tuple[int, int, int]]
) -> None:
    """Forks anywhere, of anything: each session holds what copying would have given it."""
    with EventLog.create(tmp_path_factory.mktemp("tree")) as log:
        begin(log, events=6)
        copies: list[list[str]] = [["main@1", *(f"t{n}" for n in range(2, 7))]]
        names = [MAIN]
        for of, at, more in forks:
            parent = of % len(names)
            version = at % len(copies[parent]) + 1
            child = SessionId(f"s{len(names)}")
            branch(log, names[parent], version, child)
            copies.append([*copies[parent][:version], f"{child}@{version + 1}"])
            names.append(child)
            if more:
                grow(log, child, more, tag=child)
                start = len(copies[-1])
                copies[-1] += [f"{child}{start + n}" for n in range(1, more + 1)]
        for name, copy in zip(names, copies, strict=True):
            seen = [
                getattr(r.event, "text", f"{r.session}@{r.version}") for r in log.read(name, page=3)
            ]
            assert seen == copy
            assert [r.version for r in log.read(name)] == list(range(1, len(copy) + 1))
            for version in range(1, len(copy) + 1):
                texts = [text for text in copy[:version] if "@" not in text]
                assert pool(log, name, version) == texts


def test_clipping() -> None:
    """A path within two versions: oldest first, nothing empty."""
    a, b = SessionId("a"), SessionId("b")
    path = (Segment(b, 4, None), Segment(a, 0, 4))
    assert clipped(path, 0, None) == [("a", 0, 4), ("b", 4, 2**62)]
    assert clipped(path, 2, 6) == [("a", 2, 4), ("b", 4, 6)]
    assert clipped(path, 4, 4) == []
    assert clipped(path, 9, 5) == []
