"""Writing: all or none, in one order, with nobody losing anything and nobody starving."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from commands.command import Command, Decision
from commands.eventlog import EventLog
from commands.handle import RACES, handle
from commands.thinking import InjectThought
from domain.errors import AnswerFirst, LostRace, NoSuchMoment, NoSuchSession, SessionExists
from domain.events import ThoughtAdded
from domain.ids import CommandId, SessionId
from domain.recorded import BEGINNING, Draw, Head
from domain.session import Session
from tests.commands.eventlog.stores import (
    ANN,
    MAIN,
    NOON,
    StillWorld,
    begin,
    branch,
    draw,
    grow,
    pool,
    started,
    thought,
)

ROOT = Path(__file__).parents[3]


def texts(log: EventLog, session: str = MAIN) -> list[str]:
    """All thoughts of a session, in order."""
    events = [r.event for r in log.read(SessionId(session))]
    return [e.text for e in events if isinstance(e, ThoughtAdded)]


# one writer


def test_the_slower_one_is_told(log: EventLog, tmp_path: Path) -> None:
    """Of two appends behind the same version the second is refused, and leaves nothing."""
    begin(log, events=2)
    with EventLog(tmp_path) as other:
        log.append(MAIN, 2, draw(thought("mine"), wish=1))
        with pytest.raises(LostRace):
            other.append(MAIN, 2, draw(thought("yours"), thought("and more"), wish=2))
        with pytest.raises(LostRace):
            log.append(MAIN, 1, draw(thought("older"), wish=3))
        assert texts(other) == texts(log) == ["t2", "mine"]
        assert pool(log, MAIN) == ["t2", "mine"]


def test_nobody_appends_to_the_future(log: EventLog) -> None:
    """A version that the session does not have yet can't be appended to."""
    begin(log, events=2)
    with pytest.raises(NoSuchMoment):
        log.append(MAIN, 5, draw(thought("x"), wish=1))
    with pytest.raises(NoSuchSession):
        log.append(SessionId("nobody"), 1, draw(thought("x"), wish=1))
    assert log.position() == 2


def test_a_fork_can_not_be_written_below_its_beginning(log: EventLog) -> None:
    """Not even at a version that the fork inherits."""
    begin(log, events=5)
    branch(log, MAIN, 4, "fork")
    for version in (1, 3, 4):
        with pytest.raises(LostRace):
            log.append(SessionId("fork"), version, draw(thought("x"), wish=version))
    assert len(list(log.read(SessionId("fork")))) == 5


def test_all_or_none(log: EventLog) -> None:
    """When the last event of an append is refused, the first ones were never there."""
    begin(log, events=3)
    with pytest.raises(SessionExists):
        log.begin(MAIN, BEGINNING, draw(started(), thought("x")))
    onto = Head(1, log.head(MAIN, 1).hash)
    three = draw(thought("a"), thought("b"), thought("c"), wish=3)
    rows, _ = log._mapper.sealed(onto, MAIN, three)
    with pytest.raises(LostRace):
        log._recorder.insert_events(rows)
    assert log.position() == 3
    assert texts(log) == ["t2", "t3"]


def test_a_wish_is_fulfilled_once(log: EventLog, tmp_path: Path) -> None:
    """Repeating a wish under its id changes nothing, in another process neither."""
    begin(log)
    world, wish = StillWorld(), CommandId(b"w" * 16)
    first = handle(log, MAIN, InjectThought(text="once", by="ann"), world, command_id=wish)
    again = handle(log, MAIN, InjectThought(text="once", by="ann"), world, command_id=wish)
    assert (len(first.events), again.events) == (1, ())
    with EventLog(tmp_path) as other:
        assert not handle(
            other, MAIN, InjectThought(text="once", by="ann"), world, command_id=wish
        ).events
    assert texts(log) == ["once"]


def test_time_never_runs_backwards(log: EventLog) -> None:
    """A clock that is set back stands still in the log until it has caught up."""
    begin(log)
    world = StillWorld()
    for minutes in (0, 10, 3, -60, 9, 11):
        world.at = NOON + minutes * 60_000_000
        handle(log, MAIN, InjectThought(text=f"{minutes}", by="ann"), world)
    at = [(r.at - NOON) // 60_000_000 for r in log.read(MAIN)]
    assert at == [0, 0, 10, 10, 10, 10, 11]


def test_a_refused_wish_leaves_nothing(log: EventLog) -> None:
    """What a decision raises is passed on, and nothing is appended."""

    class Never(Command):
        """Yields something, and then thinks better of it."""

        def decide(self, session: Session) -> Decision:
            """One event, then a refusal."""
            yield thought("half")
            raise AnswerFirst(session.id, 0)

    begin(log)
    with pytest.raises(AnswerFirst):
        handle(log, MAIN, Never(), StillWorld())
    assert texts(log) == []


class Racing(EventLog):
    """A log in which somebody else is faster, as often as was said."""

    faster = 0

    def append(self, session: SessionId, after: int, draw: Draw, **upon: Any) -> Session:
        """Let the other one go first."""
        if self.faster:
            self.faster -= 1
            with EventLog(self.place.home) as other:
                grow(other, session, 1, tag="other")
        return super().append(session, after, draw, **upon)


def test_a_lost_race_is_decided_again(tmp_path: Path) -> None:
    """The wish is decided anew on the state that the faster one left."""
    with EventLog.create(tmp_path) as log:
        begin(log)
    with Racing(tmp_path) as log:
        log.faster = 3
        done = handle(log, MAIN, InjectThought(text="mine", by="ann"), StillWorld())
        assert texts(log) == ["other2", "other3", "other4", "mine"]
        assert done.state == log.state(MAIN)


def test_bad_luck_ends(tmp_path: Path) -> None:
    """Whoever loses again and again decides while nobody else can write."""
    with EventLog.create(tmp_path) as log:
        begin(log)
    with Racing(tmp_path) as log:
        log.faster = RACES + 10
        done = handle(log, MAIN, InjectThought(text="mine", by="ann"), StillWorld())
        others = [f"other{version}" for version in range(2, RACES + 2)]
        assert texts(log) == [*others, "mine"]
        assert done.state == log.state(MAIN)


# many writers


THREADS = """
import sys, threading
from pathlib import Path
from commands.eventlog import EventLog
from commands.handle import handle
from commands.thinking import InjectThought
from domain.ids import SessionId
from tests.commands.eventlog.stores import StillWorld, begin
store, names, shared, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
failed = []
with EventLog(store) as log:
    if shared:
        begin(log, shared)
    line = threading.Barrier(len(names))
    def write(name):
        try:
            line.wait(20)
            if not shared:
                begin(log, name)
            session, world = SessionId(shared or name), StillWorld(drawn=int(name, 36) << 32)
            for n in range(count):
                handle(log, session, InjectThought(text=f"{name}{n}", by=name), world)
        except BaseException as error:
            failed.append(error)
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
if failed:
    raise failed[0]
"""


def in_threads(store: Path, names: str, shared: str, count: int) -> None:
    """Write with as many threads of one process, which may break without breaking the tests."""
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-c",
            THREADS,
            str(store),
            names,
            shared,
            f"{count}",
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=90,
        cwd=ROOT,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_two_threads_on_one_session(log: EventLog, tmp_path: Path) -> None:
    """400 wishes from two threads that share a log: all there, each thread's in its order."""
    in_threads(tmp_path, "ab", MAIN, 200)
    _all_there(log, "ab", 200)


def test_threads_on_sessions_of_their_own(log: EventLog, tmp_path: Path) -> None:
    """Six threads that begin and write their own sessions do not disturb each other."""
    in_threads(tmp_path, "abcdef", "", 60)
    for name in "abcdef":
        assert texts(log, name) == [f"{name}{n}" for n in range(60)]
    assert not [f for verdict in log.verify() for f in verdict.findings]


WRITER = """
import sys
from pathlib import Path
from commands.eventlog import EventLog
from commands.handle import handle
from commands.thinking import InjectThought
from domain.ids import SessionId
from tests.commands.eventlog.stores import StillWorld
store, session, name, count = Path(sys.argv[1]), SessionId(sys.argv[2]), sys.argv[3], sys.argv[4]
with EventLog(store) as log:
    print("ready", flush=True)
    sys.stdin.readline()
    world, n = StillWorld(drawn=int(name, 36) << 32), 0
    while n < int(count):
        handle(log, session, InjectThought(text=f"{name}{n}", by=name), world)
        n += 1
        print(n, flush=True)
"""


def writers(store: Path, sessions: dict[str, str], count: int) -> list["subprocess.Popen[str]"]:
    """Processes that stand ready to write, named by the keys, each to its session."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store), session, name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name, session in sessions.items()
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    return started


def test_two_processes_on_one_session(log: EventLog, tmp_path: Path) -> None:
    """400 wishes from two processes: all there, each in its order, without a gap."""
    begin(log)
    pair = writers(tmp_path, {"a": MAIN, "b": MAIN}, 200)
    for process in pair:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in pair:
        process.communicate(timeout=90)
        assert process.returncode == 0
    _all_there(log, "ab", 200)


@pytest.mark.parametrize("shared", [True, False], ids=["one session", "a session each"])
def test_nobody_starves(  # noqa: C901 — a crowd, its watchers, and their end
    log: EventLog, tmp_path: Path, shared: bool
) -> None:
    """While four processes write as fast as they can, the unluckiest still gets its share.

    They run until one of them has 500 commits; a fair lottery gives the others about as many.
    """
    names = "abcd"
    sessions = {name: MAIN if shared else f"s{name}" for name in names}
    for session in dict.fromkeys(sessions.values()):
        begin(log, session)
    crowd = writers(tmp_path, sessions, 1_000_000)
    counts = dict.fromkeys(names, 0)
    full = threading.Event()

    def watch(name: str, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.endswith("\n"):
                counts[name] = int(line)
            if counts[name] >= 500:
                full.set()

    watchers = [
        threading.Thread(target=watch, args=pair) for pair in zip(names, crowd, strict=True)
    ]
    for watcher in watchers:
        watcher.start()
    try:
        for process in crowd:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert full.wait(90)
        at_the_bell = dict(counts)
    finally:
        for process in crowd:
            process.kill()
        for watcher in watchers:
            watcher.join(20)
        for process in crowd:
            process.communicate()
    print(at_the_bell)
    assert min(at_the_bell.values()) >= 10
    for name, session in sessions.items():
        own = [text for text in texts(log, session) if text.startswith(name)]
        assert own == [f"{name}{n}" for n in range(len(own))]
        assert len(own) >= counts[name], "what was acknowledged is there"
    assert not [f for verdict in log.verify() for f in verdict.findings]


def _all_there(log: EventLog, names: str, count: int) -> None:
    found = list(log.read(MAIN))
    assert [r.version for r in found] == list(range(1, 1 + 1 + len(names) * count))
    written = texts(log)
    for name in names:
        assert [t for t in written if t.startswith(name)] == [f"{name}{n}" for n in range(count)]
    assert len({r.command for r in found}) == 1 + len(names) * count
    assert not [f for verdict in log.verify() for f in verdict.findings]


def test_nobody_is_told_too_early(log: EventLog) -> None:
    """The events are in the log, for every other connection, when append returns."""
    begin(log)
    with EventLog(log.place.home, writable=False) as reader:
        for n in range(2, 6):
            state = log.append(MAIN, n - 1, draw(thought(f"{n}"), wish=n))
            assert reader.head(MAIN).version == state.version == n
    assert log.state(MAIN).work.run is None
    assert {r.actor for r in log.read(MAIN)} == {ANN}
