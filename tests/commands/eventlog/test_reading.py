"""Reading: pages across segments, kinds, single moments, the feed of the whole store."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.eventlog import EventLog
from domain.errors import NoSuchMoment, NoSuchSession
from domain.events import Caused, DraftSeen
from domain.ids import CommandId, ExchangeId, SessionId
from domain.recorded import Recorded
from tests.commands.eventlog.stores import (
    ANN,
    MAIN,
    NOON,
    begin,
    branch,
    draw,
    grow,
    pool,
    raw,
    thought,
)

LEAF = SessionId("leaf")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventLog]:
    """``leaf`` inherits from ``main`` up to 7, ``mid`` up to 13, and goes up to 19 itself."""
    with EventLog.create(tmp_path_factory.mktemp("tree")) as log:
        begin(log, events=9)
        branch(log, MAIN, 7, "mid")
        grow(log, "mid", 7)
        branch(log, "mid", 13, "leaf")
        grow(log, "leaf", 5)
        grow(log, MAIN, 3, tag="unseen")
        yield log


def everything(log: EventLog) -> list[Recorded]:
    """The events of ``leaf`` in the simplest way: the feed, with what it does not see left out."""
    seen = {MAIN: 7, SessionId("mid"): 13, LEAF: 99}
    events = [r for r in log.feed() if r.version <= seen[r.session]]
    return sorted(events, key=lambda r: r.version)


@settings(max_examples=300, deadline=None)
@given(
    after=st.integers(-2, 22),
    upto=st.none() | st.integers(-2, 22),
    page=st.integers(1, 25),
    newest_first=st.booleans(),
    kinds=st.none()
    | st.sets(
        st.sampled_from(["session.started", "session.forked", "thought.added", "draft.seen"])
    ),
)
def test_pages_are_a_slice(
    tree: EventLog,
    after: int,
    upto: int | None,
    page: int,
    newest_first: bool,
    kinds: set[str] | None,
) -> None:
    """Whatever the bounds, direction, kinds and page size: it is a slice of the whole history."""
    top = 99 if upto is None else upto
    naive = [
        r
        for r in everything(tree)
        if after < r.version <= top and (kinds is None or r.event.kind in kinds)
    ]
    if newest_first:
        naive.reverse()
    found = tree.read(
        LEAF, after=after, upto=upto, kinds=kinds, newest_first=newest_first, page=page
    )
    assert list(found) == naive


@settings(deadline=None)
@given(st.lists(st.integers(-1, 23), max_size=12))
def test_picking(tree: EventLog, versions: list[int]) -> None:
    """Just these versions, in the order asked for, twice where asked twice; others left out."""
    all_ = {r.version: r for r in everything(tree)}
    assert tree.pick(LEAF, versions) == [all_[v] for v in versions if v in all_]


@settings(deadline=None)
@given(st.none() | st.integers(1, 22))
def test_the_newest_of_a_kind(tree: EventLog, upto: int | None) -> None:
    """The newest event of some kinds up to a moment, inherited ones included."""
    for kinds in (None, ["session.forked"], ["session.started", "thought.added"], ["draft.seen"]):
        fitting = [
            r
            for r in everything(tree)
            if (upto is None or r.version <= upto) and (kinds is None or r.event.kind in kinds)
        ]
        assert tree.newest(LEAF, kinds, upto=upto) == (fitting[-1] if fitting else None)


def test_no_kinds_at_all(tree: EventLog) -> None:
    """An empty choice of kinds chooses nothing, unlike no choice."""
    assert list(tree.read(LEAF, kinds=[])) == []
    assert tree.newest(LEAF, []) is None


@pytest.mark.parametrize("version", [0, -1, 20, 2**40])
def test_a_moment_that_is_not_there(tree: EventLog, version: int) -> None:
    """Heads and states of versions outside the history are refused, warm and cold."""
    with pytest.raises(NoSuchMoment):
        tree.head(LEAF, version)
    with pytest.raises(NoSuchMoment):
        tree.state(LEAF, version)
    with EventLog(tree.place.home) as cold, pytest.raises(NoSuchMoment):
        cold.state(LEAF, version)


def test_a_session_that_is_not_there(tree: EventLog) -> None:
    """Every question about an unknown session is refused in the same way."""
    nobody = SessionId("nobody")
    assert not tree.exists(nobody)
    for ask in (
        lambda: tree.head(nobody),
        lambda: tree.state(nobody),
        lambda: tree.path(nobody),
        lambda: list(tree.read(nobody)),
        lambda: tree.pick(nobody, [1]),
        lambda: tree.newest(nobody, None),
    ):
        with pytest.raises(NoSuchSession):
            ask()


def test_heads(tree: EventLog) -> None:
    """The head at every version is the hash that the row holds; without one it is the newest."""
    with raw(tree.place.home) as connection:
        hashes = {
            (id_, version): state[:32]
            for id_, version, state in connection.execute(
                "SELECT originator_id, originator_version, state FROM stored_events"
            )
        }
    for recorded in everything(tree):
        assert tree.head(LEAF, recorded.version) == (
            recorded.version,
            hashes[(recorded.session, recorded.version)],
        )
    assert tree.head(LEAF).version == 19


def test_states_of_any_moment(tree: EventLog) -> None:
    """The state of a version is the same warm, cold, and asked of the ancestor that holds it."""
    for version in range(1, 20):
        warm = tree.state(LEAF, version)
        with EventLog(tree.place.home) as cold:
            assert cold.state(LEAF, version) == warm
        if version <= 7:
            assert tree.state(MAIN, version) == warm
        texts = [r.event.text for r in everything(tree)[:version] if hasattr(r.event, "text")]
        assert [t.text for t in warm.pool.active] == texts


def test_sessions_stand_in_the_order_of_their_beginnings(log: EventLog) -> None:
    """Not by name, and not by their newest event."""
    for name in ("zoo", "main", "a/b", "a", "m"):
        begin(log, name)
    branch(log, "zoo", 1, "aa")
    grow(log, "zoo", 3)
    assert log.sessions() == ["zoo", "main", "a/b", "a", "m", "aa"]


def test_an_empty_store(log: EventLog) -> None:
    """There is nothing, and that is no error."""
    assert log.sessions() == []
    assert log.position() == 0
    assert list(log.feed()) == []
    assert list(log.verify()) == []


def test_the_feed(tree: EventLog) -> None:
    """Positions count the whole store's events in the order of their recording."""
    feed = list(tree.feed())
    assert [r.position for r in feed] == list(range(1, tree.position() + 1))
    assert feed[0].session == MAIN
    assert [r.session for r in feed[-3:]] == [MAIN] * 3
    for after in (0, 4, 11, len(feed), len(feed) + 5):
        assert list(tree.feed(after)) == feed[after:]


def test_the_feed_of_many_pages(log: EventLog) -> None:
    """Pages of the feed join without a gap or a double."""
    begin(log, events=1500)
    assert [r.version for r in log.feed(3)] == list(range(4, 1501))


def test_positions_survive_a_dump(log: EventLog, tmp_path: Path) -> None:
    """A store that went through `.dump` has every event at its old position, and still guards."""
    begin(log, "gone")
    begin(log, events=20)
    branch(log, MAIN, 11, "fork")
    with raw(tmp_path) as connection:
        # a hole in the positions, which an implicit rowid would close up
        connection.execute(
            "INSERT INTO stored_events (rowid, originator_id, originator_version, topic, state)"
            " SELECT 1000, 'late', 1, topic, state FROM stored_events WHERE rowid=1"
        )
        pragmas = [connection.execute(f"PRAGMA {p}").fetchone()[0] for p in PRAGMAS]
        script = "\n".join(connection.iterdump())
    copy = tmp_path / "copy"
    copy.mkdir()
    with raw(copy) as connection:
        connection.executescript(script)
        for pragma, value in zip(PRAGMAS, pragmas, strict=True):
            connection.execute(f"PRAGMA {pragma}={value}")
    before = list(log.feed())
    assert before[-1].position == 1000
    with EventLog(copy) as restored:
        assert list(restored.feed()) == before
        assert restored.state(SessionId("fork")) == log.state(SessionId("fork"))
        grow(restored, MAIN, 1)
        assert restored.position() == 1001


PRAGMAS = ("application_id", "user_version")


APPENDER = """
import sys
from pathlib import Path
from commands.eventlog import EventLog
from tests.commands.eventlog.stores import grow
with EventLog(Path(sys.argv[1])) as log:
    for line in sys.stdin:
        grow(log, line.strip(), 2)
        print("done", flush=True)
"""


def test_following_another_process(log: EventLog, tmp_path: Path) -> None:
    """What another process appends arrives, in order, without anybody asking again."""
    begin(log, events=3)
    begin(log, "other")
    stop = threading.Event()
    arrived: list[Recorded] = []
    enough = [threading.Event() for _ in range(4)]

    def watch() -> None:
        for recorded in log.follow(2, stop):
            arrived.append(recorded)
            if len(arrived) % 2 == 0:
                enough[len(arrived) // 2 - 1].set()

    watcher = threading.Thread(target=watch)
    with subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as appender:
        watcher.start()
        try:
            assert enough[0].wait(20), "what was there before is shown first"
            assert appender.stdin is not None
            assert appender.stdout is not None
            for n, name in enumerate(("main", "other", "main"), 1):
                appender.stdin.write(name + "\n")
                appender.stdin.flush()
                assert appender.stdout.readline() == "done\n"
                assert enough[n].wait(20), "and then the news"
            appender.stdin.close()
        finally:
            stop.set()
            watcher.join(20)
    assert not watcher.is_alive()
    assert arrived == list(log.feed(2))
    assert [r.position for r in arrived] == list(range(3, 11))


def test_what_was_read_is_what_was_written(log: EventLog) -> None:
    """Envelope and event come back as they were: time, actor, wish, cause, fields."""
    begin(log)
    seen = DraftSeen(exchange=ExchangeId("exc_1_000"), indexes=(1, 2))
    wish = CommandId(bytes(range(16)))
    events = [Caused(thought("x")), Caused(seen, cause=1)]
    log.append(MAIN, 1, draw()._replace(events=events, at=NOON + 5, command=wish))
    _, first, second = log.read(MAIN)
    assert first == Recorded(MAIN, 2, 2, NOON + 5, ANN, wish, None, thought("x"))
    assert second == Recorded(MAIN, 3, 3, NOON + 5, ANN, wish, 1, seen)


def test_states_learn_of_other_processes(log: EventLog, tmp_path: Path) -> None:
    """A state that is kept in memory is brought up to date before it is shown."""
    begin(log, events=2)
    assert pool(log, MAIN) == ["t2"]
    with EventLog(tmp_path) as other:
        grow(other, MAIN, 2)
    assert pool(log, MAIN) == ["t2", "t3", "t4"]
    assert pool(log, MAIN, 3) == ["t2", "t3"]


REPLAY = """
import json, resource, sys
from pathlib import Path
from commands.eventlog import EventLog
from domain.ids import SessionId
def grown(read):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = sum(1 for _ in read)
    return count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
main = SessionId("main")
with EventLog(Path(sys.argv[1]), writable=False) as log:
    list(log.read(main, upto=2000))
    print(json.dumps({
        "rows": grown(log.rows(main)),
        "backwards": grown(log.rows(main, newest_first=True)),
        "read": grown(log.read(main)),
        "feed": grown(log.feed()),
    }))
"""


def test_memory_stays_flat(log: EventLog, tmp_path: Path) -> None:
    """Reading 200,000 events holds a page of them, never the stream (some 80 MB)."""
    begin(log, events=2)
    with raw(tmp_path) as connection:  # one thought 199,999 times: only an append would chain it
        connection.execute(
            "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
            " WITH RECURSIVE v(n) AS (SELECT 3 UNION ALL SELECT n + 1 FROM v WHERE n < 200000)"
            " SELECT originator_id, n, topic, state FROM v, stored_events WHERE rowid = 2"
        )
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[3],
    )
    for way, (count, megabytes) in json.loads(done.stdout).items():
        assert count == 200_000
        assert megabytes < 16, way
