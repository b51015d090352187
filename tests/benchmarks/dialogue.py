"""W1 on the log and on the floor: every figure of one length, each checked by its digest."""

import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.moments import resolve
from domain.ancestry import Point
from domain.ids import SessionId
from domain.recorded import Recorded
from domain.refs import AtIteration, AtTime
from domain.session import Session, fold
from projections.history import History
from tests.benchmarks import floor as bare
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.floor import Floor
from tests.benchmarks.measure import (
    FsyncsUnknown,
    Job,
    Stopwatch,
    WrongState,
    fsyncs,
    median,
    percentile,
    quiet,
    shuffled,
    timed,
    weight,
)
from tests.benchmarks.travel import TARGET, Travels
from tests.benchmarks.w1 import N_FORK, apply, digest, empty
from tests.benchmarks.workload import (
    FORK,
    FORK_OF_FORK,
    MAIN,
    Recorder,
    SteppingWorld,
    Workload,
    told,
    vectors,
    worded,
)

CHUNK = 50
"""Iterations that one side records before the dice say who is next."""

PUBLISHED = {
    (1000, False): ("405d719559422fca", "e9f0862b51e2219d", "d1cb951a070d8c45"),
    (1000, True): ("02ab68f2b296f35f", "c48c8e53916876e1", "3f75c1086c4b3b73"),
    (5000, False): ("bcff87f6883e737f", "680e5f4c910fce39", "3b321d4efac56533"),
    (5000, True): ("cdecb07b96fa5d7e", "85ecfe712e81e58c", "83768cad95edbd93"),
}
"""The digests that come with W1: main at its end, main at K, the fork."""

_BARE = {MAIN: bare.MAIN, FORK: bare.FORK, FORK_OF_FORK: bare.FORK_OF_FORK}


class References:
    """The digest that each state has to have, by number of iterations, folded in one pass."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self._main: dict[int, str] = {}
        self._fork: dict[int, str] = {}

    def __call__(self, session: SessionId, iterations: int) -> str:
        """The digest of ``session`` behind so many iterations."""
        own = iterations - self._work.w1.K
        if session == MAIN or own <= 0:
            return self._main[iterations]
        return self._fork[own]

    def prepare(self, wanted: set[int]) -> None:
        """Digest the main line at these numbers of iterations, and all of the fork."""
        w1 = self._work.w1
        state = empty()
        for i, iteration in enumerate(w1.main, start=1):
            apply(state, iteration)
            if i in wanted or i in {w1.K, w1.n}:
                self._main[i] = digest(state)
        state = w1.ref_state(w1.K)
        for j, iteration in enumerate(w1.fork, start=1):
            apply(state, iteration)
            self._fork[j] = digest(state)


class Side(NamedTuple):
    """One who records the workload, and how long each chunk took."""

    record: Callable[[int, int], None]
    cpu: list[float]
    wall: list[float]


def measure(n: int, report: Report, place: Path | None, *, runs: int, dice: random.Random) -> None:
    """All figures of W1 with ``n`` iterations."""
    half = Workload(n, half=True)
    works = {"float16": half, "float32": Workload(n, half=False), CLUSTERED: half}
    section = f"W1, {n:,} iterations"
    with tempfile.TemporaryDirectory(prefix="bench-", dir=place) as name:
        directory = Path(name)
        pairs = _appends(section, n, works, directory, report, runs=runs, dice=dice)
        for kind, (ours, floor) in pairs.items():
            ours.branch()
            floor.branch()
            references = References(works[kind])
            references.prepare(set())
            _check_ends(n, ours, floor, references, report)
        ours, floor = pairs["float16"]
        _reads(section, n, ours, floor, report, runs=runs, dice=dice)
        _travels(section, ours, report, runs=runs, dice=dice)
        _branches(section, ours, floor, report, runs=runs, dice=dice)
        for ours, floor in pairs.values():
            ours.log.close()
            floor.close()
        _fsyncs(section, min(n, 500), directory, report)


class Promise(NamedTuple):
    """What the design says an iteration may cost."""

    ms: float
    bytes: int


CLUSTERED = "float16, clustered"
PROMISED = {
    "float16": Promise(0.6, 5500),
    "float32": Promise(0.6, 7000),
    CLUSTERED: Promise(2.5, 6000),
}


def flatness(report: Report) -> None:
    """Whether a longer session takes more room for each iteration.

    CPU is not compared here: the lengths are measured one after the other, and the machine may
    have become slower meanwhile. The first and the last appends of one session are.
    """
    for kind in PROMISED:
        name = f"bytes of an iteration, {kind}, both files"
        found = [f for f in report.figures if f.name == name and f.section.startswith("W1")]
        if len(found) > 1:
            short, long = found[0], found[-1]
            beside = _by(long.floor, short.floor)
            what = f"{name}: 5,000 by 1,000 iterations"
            report.figures.append(
                Figure("Flat in N", what, long.value / short.value, "ratio", beside, 1.1)
            )


def _by(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


# writing


def _appends(
    section: str,
    n: int,
    works: dict[str, Workload],
    directory: Path,
    report: Report,
    *,
    runs: int,
    dice: random.Random,
) -> dict[str, tuple[Recorder, Floor]]:
    """Record the workload anew in each run; gives the stores of the last one."""
    took: dict[str, list[Side]] = {}
    pairs: dict[str, tuple[Recorder, Floor]] = {}
    for run in range(runs):
        sides: dict[str, Side] = {}
        for kind, work in works.items():
            if kind in pairs:
                _drop(*pairs[kind])
            store = directory / f"{kind}-{run}"
            store.mkdir()
            ours = Recorder(store, work, clustered=kind == CLUSTERED)
            floor = Floor(store / "floor.db", work)
            pairs[kind] = ours, floor
            sides[kind] = Side(ours.record, [], [])
            sides[f"{kind} floor"] = Side(floor.record, [], [])
        with quiet():
            _race(list(sides.values()), n, dice)
        for name, side in sides.items():
            took.setdefault(name, []).append(side)
    for kind in works:
        mine, bottom = took[kind], took[f"{kind} floor"]
        _append_figures(section, n, kind, mine, bottom, report)
        _size_figures(section, n, kind, *pairs[kind], report)
    return pairs


def _drop(ours: Recorder, floor: Floor) -> None:
    ours.log.close()
    floor.close()
    shutil.rmtree(ours.directory)


def _race(sides: list[Side], n: int, dice: random.Random) -> None:
    """Let all record the same, chunk by chunk, in a random order."""
    waiting = [(side, 0) for side in sides]
    while waiting:
        side, first = waiting.pop(dice.randrange(len(waiting)))
        last = min(first + CHUNK, n)
        with Stopwatch() as watch:
            side.record(first, last)
        side.cpu.append(watch.cpu / (last - first))
        side.wall.append(watch.wall / (last - first))
        if last < n:
            waiting.append((side, last))


def _append_figures(
    section: str, n: int, kind: str, mine: list[Side], bottom: list[Side], report: Report
) -> None:
    def each(sides: list[Side], part: slice) -> list[float]:
        return [sum(side.cpu[part]) / len(side.cpu[part]) for side in sides]

    everything = slice(None)
    whole, floors = each(mine, everything), each(bottom, everything)
    ratio = median(a / b for a, b in zip(whole, floors, strict=True))
    name = f"append one iteration, {kind}"
    report.figures.append(
        Figure(
            section, name, median(whole), "ms", median(floors), PROMISED[kind].ms, len(mine), ratio
        )
    )
    wall, floor_wall = (median(median(s.wall) for s in sides) for sides in (mine, bottom))
    report.figures.append(Figure(section, f"{name}, wall", wall, "ms", floor_wall, runs=len(mine)))
    part = min(500, n // 2) // CHUNK
    if kind != "float32" and part:
        ends = slice(-part, None), slice(None, part)
        last, first = (median(each(mine, end)) for end in ends)
        floor_last, floor_first = (median(each(bottom, end)) for end in ends)
        report.figures.append(
            Figure(
                section,
                f"append: last {part * CHUNK} by first {part * CHUNK}, {kind}",
                last / first,
                "ratio",
                floor_last / floor_first,
                1.25,
                len(mine),
                ratio=last / first / (floor_last / floor_first),
            )
        )


def _size_figures(
    section: str, n: int, kind: str, ours: Recorder, floor: Floor, report: Report
) -> None:
    log, snapshots = emptied(ours.directory)
    floor.checkpoint()
    bottom = weight(floor.file) / n
    target = PROMISED[kind].bytes
    name = f"bytes of an iteration, {kind}"
    for part, size, promised, beside in (
        ("log.db", log / n, None, None),
        ("snapshots.db", snapshots / n, None, None),
        ("both files", (log + snapshots) / n, target, bottom),
    ):
        report.figures.append(Figure(section, f"{name}, {part}", size, "bytes", beside, promised))


def emptied(directory: Path) -> tuple[int, int]:
    """Bytes of the log and of the snapshots, their write-ahead logs emptied into them."""
    files = directory / "log.db", directory / "snapshots.db"
    for file in files:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return weight(files[0]), weight(files[1])


def _fsyncs(section: str, n: int, directory: Path, report: Report) -> None:
    try:
        ours, floor = (fsyncs(what, n, directory) for what in ("log", "floor"))
    except FsyncsUnknown:
        report.remarks.append(
            f"{section}: nobody may trace here, so syncs are not counted; W1 makes 1.2 commits an"
            " iteration on the log and 1 on the floor."
        )
        return
    report.figures.append(Figure(section, "syncs of an iteration (strace)", ours, "calls", floor))


# digests


def _check_ends(
    n: int, ours: Recorder, floor: Floor, references: References, report: Report
) -> None:
    """The states that W1 publishes digests of, on both sides."""
    work, k = ours.work, ours.work.w1.K
    read: list[str] = []
    for session, iterations in (
        (MAIN, n),
        (MAIN, k),
        (FORK, k + N_FORK),
        (FORK_OF_FORK, k + N_FORK),
    ):
        version = ours.ends[session][iterations]
        found = digest(told(ours.log, ours.log.state(session, version), work))
        stream = _BARE[session]
        beside = floor.state_at(stream, floor.ends[stream][iterations])
        wanted = references(session, iterations)
        if found != wanted or digest(floor.told(beside, stream)) != wanted:
            raise WrongState(f"{session} behind {iterations} of {n} iterations")
        read.append(found)
    published = PUBLISHED.get((n, work.half))
    if published is not None:
        same = tuple(read[:3]) == published
        kind = "float16" if work.half else "float32"
        report.remarks.append(
            f"W1, {n:,} iterations, {kind}: digests {', '.join(read[:3])} as the reference fold has"
            + (" and as published." if same else "; the published ones are of another rounding.")
        )


def _checked(got: str, wanted: str, what: object) -> None:
    if got != wanted:
        raise WrongState(str(what))


# reading


class Reading:
    """Reads of the log and of the floor, timed, their answers kept to be checked afterwards."""

    def __init__(self, ours: Recorder, floor: Floor, *, dice: random.Random) -> None:
        self.ours, self.floor, self.work = ours, floor, ours.work
        self.n, self.k = self.work.w1.n, self.work.w1.K
        self.dice = dice
        self.log = EventLog(ours.directory)
        self.bare = Floor(floor.file, self.work)
        self.states: list[tuple[SessionId, int, Session, list[tuple[str, str, int]] | None]] = []
        self.floors: list[tuple[str, int, bare.State]] = []
        self.wrong: list[str] = []

    def state(self, session: SessionId) -> Job:
        """The state of a random moment."""
        iterations = self.dice.randint(1, len(self.ours.ends[session]) - 1)
        version = self.ours.ends[session][iterations]

        def job() -> float:
            with Stopwatch() as watch:
                state = self.log.state(session, version)
            self.states.append((session, iterations, state, None))
            return watch.cpu

        return job

    def state_and_vectors(self) -> Job:
        """The state of a random moment, and the vectors of its pool as well."""
        iterations = self.dice.randint(1, self.n)
        version = self.ours.ends[MAIN][iterations]

        def job() -> float:
            with Stopwatch() as watch:
                state = self.log.state(MAIN, version)
                known = vectors(self.log, state)
            if len(known) != len(state.pool.active):
                self.wrong.append("vectors")
            self.states.append((MAIN, iterations, state, None))
            return watch.cpu

        return job

    def floor_state(self, session: SessionId) -> Job:
        """The same on the floor."""
        stream = _BARE[session]
        iterations = self.dice.randint(1, len(self.floor.ends[stream]) - 1)
        version = self.floor.ends[stream][iterations]

        def job() -> float:
            with Stopwatch() as watch:
                state = self.bare.state_at(stream, version)
            self.floors.append((stream, iterations, state))
            return watch.cpu

        return job

    def opened(self, *, whole: bool) -> Job:
        """A new log and the newest state; the whole history too, where asked."""

        def job() -> float:
            with Stopwatch() as watch:
                log = EventLog(self.ours.directory)
                state = log.state(MAIN)
                all_ = list(History(log, MAIN).all()) if whole else None
            log.close()
            turns = [(t.question, t.answer, t.index) for t in all_] if all_ is not None else None
            self.states.append((MAIN, self.n, state, turns))
            return watch.cpu

        return job

    def floor_opened(self, *, whole: bool) -> Job:
        """The same on the floor."""

        def job() -> float:
            with Stopwatch() as watch:
                opened = Floor(self.floor.file, self.work)
                state = opened.state_at(bare.MAIN)
                if whole:
                    opened.history(bare.MAIN, state["version"])
            opened.close()
            self.floors.append((bare.MAIN, self.n, state))
            return watch.cpu

        return job

    def newest(self) -> Job:
        """The newest 20 exchanges."""
        wanted = self.bare.history(bare.MAIN, self.floor.ends[bare.MAIN][-1])[-20:]

        def job() -> float:
            with Stopwatch() as watch:
                turns = History(self.log, MAIN).newest(20)
            if [(t.question, t.answer, t.index) for t in turns] != wanted:
                self.wrong.append("newest 20")
            return watch.cpu

        return job

    def found(self, *, by_time: bool) -> Job:
        """A random iteration looked up by its number or by its time."""
        iteration = self.dice.randint(1, self.n)
        version = self.ours.ends[MAIN][iteration]
        if by_time:
            at = self.log.state(MAIN, version).at
            ref: AtIteration | AtTime = AtTime(datetime.fromtimestamp(at / 1e6, UTC))
            wanted = {version}
        else:
            ref = AtIteration(iteration)
            # an acceptance is a wish of its own, behind the iteration
            wanted = {version, version - 1}

        def job() -> float:
            with Stopwatch() as watch:
                got = resolve(self.log, MAIN, ref)
            if got not in wanted:
                self.wrong.append(f"{ref} is {got}, not {wanted}")
            return watch.cpu

        return job

    def check(self) -> None:
        """Complete every state that was read, and compare its digest."""
        references = References(self.work)
        references.prepare({i for _, i, *_ in (*self.states, *self.floors)})
        for session, iterations, state, turns in self.states:
            known = told(self.log, state, self.work) if turns is None else None
            read = known or worded(self.log, state, turns or [], self.work)
            # a fork inherits moments, and they are still its parent's
            _checked(digest(read), references(session, iterations), (session, iterations))
        sessions = {stream: session for session, stream in _BARE.items()}
        for stream, iterations, plain in self.floors:
            wanted = references(sessions[stream], iterations)
            _checked(digest(self.bare.told(plain, stream)), wanted, (stream, iterations))
        if self.wrong:
            raise WrongState("; ".join(self.wrong[:3]))

    def close(self) -> None:
        """Let go of all files."""
        self.log.close()
        self.bare.close()


def _reads(
    section: str,
    n: int,
    ours: Recorder,
    floor: Floor,
    report: Report,
    *,
    runs: int,
    dice: random.Random,
) -> None:
    reading = Reading(ours, floor, dice=dice)
    log, events = reading.log, sum(v.events for v in reading.log.verify())
    many, few = range(8 * runs), range(max(runs, 3))

    def folded() -> None:
        state = fold(log.read(MAIN))
        reading.states.append((MAIN, n, state, None)) if state else reading.wrong.append("replay")

    def fed() -> None:
        if _count(log.feed()) != events:
            reading.wrong.append("feed")

    def verified() -> None:
        if any(verdict.findings for verdict in log.verify()):
            reading.wrong.append("verify")

    reading.state(FORK_OF_FORK)()  # what the first one of a process pays for is no figure
    jobs: dict[str, list[Job]] = {
        "head": [reading.opened(whole=False) for _ in many],
        "head floor": [reading.floor_opened(whole=False) for _ in many],
        "whole": [reading.opened(whole=True) for _ in few],
        "whole floor": [reading.floor_opened(whole=True) for _ in few],
        "vectors": [reading.state_and_vectors() for _ in many],
        "newest": [reading.newest() for _ in many],
        "newest floor": [timed(lambda: reading.bare.newest(20)) for _ in many],
        "iteration": [reading.found(by_time=False) for _ in many],
        "time": [reading.found(by_time=True) for _ in many],
        "verify": [timed(verified) for _ in few],
        "feed": [timed(fed) for _ in few],
        "feed floor": [timed(reading.bare.feed) for _ in few],
        "replay": [timed(folded) for _ in few],
        "replay floor": [timed(reading.bare.replay) for _ in few],
    }
    for session in (MAIN, FORK, FORK_OF_FORK):
        jobs[f"state {session}"] = [reading.state(session) for _ in many]
        jobs[f"state {session} floor"] = [reading.floor_state(session) for _ in many]
    taken = shuffled(jobs, dice)
    reading.check()
    version = ours.ends[MAIN][-1]
    _read_figures(section, taken, report, events=events, own=version)
    reading.close()


def _read_figures(
    section: str, taken: dict[str, list[float]], report: Report, *, events: int, own: int
) -> None:
    def tell(
        name: str, key: str, target: float | None = None, *, unit: str = "ms", by: float = 1
    ) -> None:
        beside = taken.get(f"{key} floor")
        value, floor = median(taken[key]) / by, median(beside) / by if beside else None
        figure = Figure(section, name, value, unit, floor, target, len(taken[key]))
        report.figures.append(figure)

    def worst(name: str, key: str, target: float) -> None:
        value, floor = (percentile(taken[k], 0.95) for k in (key, f"{key} floor"))
        figure = Figure(section, f"{name}, p95", value, "ms", floor, target, len(taken[key]))
        report.figures.append(figure)

    tell("open the store and read the head", "head")
    tell("open, head and whole history", "whole")
    for session, name in ((MAIN, "session"), (FORK, "fork"), (FORK_OF_FORK, "fork of a fork")):
        tell(f"state at any version, {name}", f"state {session}", 3)
        worst(f"state at any version, {name}", f"state {session}", 3)
    tell("state at any version and its pool's vectors", "vectors", 3)
    tell("newest 20 exchanges", "newest", 1)
    tell("find an iteration", "iteration")
    tell("find a time", "time")
    tell("verify the whole store", "verify", 200)
    tell("feed: read every event", "feed", unit="µs/event", by=events / 1e3)
    tell("replay without snapshots", "replay", unit="µs/event", by=own / 1e3)


def _count(events: Any) -> int:
    return sum(1 for recorded in events if isinstance(recorded, Recorded))


def _travels(
    section: str, ours: Recorder, report: Report, *, runs: int, dice: random.Random
) -> None:
    """Looking back at main, and at where its fork parted."""
    k, ends = ours.work.w1.K, ours.ends[MAIN]
    with EventLog(ours.directory) as log:
        travels = Travels(log, MAIN, ends, dice)
        fork = Point(FORK, log.head(FORK).version)
        near, far = (Point(MAIN, version) for version in (ends[k + N_FORK], ends[-1]))
        diffs: dict[str, tuple[Job, float | None]] = {
            f"diff of branches, {N_FORK} iterations each": (
                travels.diff(fork, near, ends[k]),
                TARGET,
            ),
            f"diff, {ends[-1] - ends[k]:,} events on one side": (
                travels.diff(fork, far, ends[k]),
                None,
            ),
        }
        travels.measure(section, diffs, report, runs)


def _branches(
    section: str,
    ours: Recorder,
    floor: Floor,
    report: Report,
    *,
    runs: int,
    dice: random.Random,
) -> None:
    """Forks at random moments; each is read, checked, and leaves its bytes behind."""
    number, made = count(), 8 * runs
    log, world = EventLog(ours.directory), SteppingWorld()
    n, wrong = ours.work.w1.n, []
    before = sum(emptied(ours.directory))
    floor.checkpoint()
    floor_before = weight(floor.file)

    def forked() -> float:
        iterations = dice.randint(1, n)
        child, version = SessionId(f"what-if-{next(number)}"), ours.ends[MAIN][iterations]
        with Stopwatch() as watch:
            head = fork_session(log, MAIN, version, child, world)
        state = log.state(child)
        if state.iteration != iterations or not head.version == state.version == version + 1:
            wrong.append(child)
        return watch.cpu

    def bare_forked() -> float:
        version = floor.ends[bare.MAIN][dice.randint(1, n)]
        with Stopwatch() as watch:
            floor.fork(bare.MAIN, version, f"what-if-{next(number)}")
        return watch.cpu

    jobs: dict[str, list[Job]] = {
        "ours": [forked] * made,
        "floor": [bare_forked] * made,
    }
    taken = shuffled(jobs, dice)
    if wrong:
        raise WrongState(f"forks {wrong}")
    size = (sum(emptied(ours.directory)) - before) / made
    floor.checkpoint()
    beside = (weight(floor.file) - floor_before) / made
    value, bottom = median(taken["ours"]), median(taken["floor"])
    report.figures += [
        Figure(section, "fork anywhere", value, "ms", bottom, 1, made),
        Figure(section, "bytes of a fork", size, "bytes", beside, 1024, made),
    ]
    log.close()
