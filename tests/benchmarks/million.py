"""One session of a million small events: what must not depend on how long a session is."""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.handle import handle
from commands.moments import resolve
from commands.thinking import InjectThought
from domain.ancestry import Point
from domain.ids import SessionId
from domain.refs import AtIteration
from projections.history import History
from tests.benchmarks.dialogue import emptied
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import (
    Job,
    Stopwatch,
    WrongState,
    median,
    percentile,
    shuffled,
    timed,
)
from tests.benchmarks.travel import TARGET, Travels
from tests.benchmarks.wishes import Expected, Wishes, build, check
from tests.benchmarks.workload import MAIN, SteppingWorld

DEPTH = 200
FORKS = 1000


def measure(
    size: int, report: Report, place: Path | None, *, runs: int, dice: random.Random
) -> None:
    """All figures of one long session."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=place) as name:
        directory = Path(name) / "store"
        directory.mkdir()
        with Stopwatch() as watch:
            log, wishes, known = build(directory, size)
        section = f"One session of {wishes.version:,} events"
        report.remarks.append(f"{section}: built in {watch.wall / 1e3:.0f} s.")
        sizes = emptied(directory)
        report.figures += [
            Figure(section, f"bytes of an event, {file}", size / wishes.version, "bytes")
            for file, size in zip(("log.db", "snapshots.db"), sizes, strict=True)
        ]
        log.close()
        _reads(section, directory, wishes, known, report, runs=runs, dice=dice)
        _many_forks(section, directory, wishes, report, dice=dice)
        _chain(section, directory, wishes, report, runs=runs)
        _replays(section, directory, wishes, report, runs=max(3, runs - 2))
        _travel(section, directory, wishes, report, runs=runs, dice=dice)  # adds events


def _reads(
    section: str,
    directory: Path,
    wishes: Wishes,
    known: list[Expected],
    report: Report,
    *,
    runs: int,
    dice: random.Random,
) -> None:
    log, last = EventLog(directory), wishes.expected()
    many = range(8 * runs)

    def state(wanted: Expected) -> Job:
        def job() -> float:
            with Stopwatch() as watch:
                read = log.state(MAIN, wanted.version)
            check(read, wanted)
            return watch.cpu

        return job

    def head() -> float:
        with Stopwatch() as watch:
            opened = EventLog(directory)
            read = opened.state(MAIN)
        opened.close()
        check(read, last)
        return watch.cpu

    def find() -> float:
        iteration = dice.randint(1, wishes.iteration)
        with Stopwatch() as watch:
            found = resolve(log, MAIN, AtIteration(iteration))
        if found != wishes.ends[iteration]:
            raise WrongState(f"iteration {iteration} at {found}")
        return watch.cpu

    def newest() -> float:
        with Stopwatch() as watch:
            turns = History(log, MAIN).newest(20)
        if len(turns) != 20 or turns[-1].answer != last.newest:
            raise WrongState("newest 20")
        return watch.cpu

    state(known[0])()  # what the first one of a process pays for is no figure
    taken = shuffled(
        {
            "state": [state(wanted) for wanted in known],
            "head": [head for _ in many],
            "find": [find for _ in many],
            "newest": [newest for _ in many],
            "sessions": [timed(log.sessions) for _ in many],
        },
        dice,
    )
    log.close()
    for name, key, target in (
        ("state at any version", "state", 5),
        ("open the store and read the head", "head", None),
        ("find an iteration", "find", None),
        ("newest 20 exchanges", "newest", 1),
        ("list the sessions (1)", "sessions", None),
    ):
        values = taken[key]
        report.figures.append(
            Figure(section, name, median(values), target=target, runs=len(values))
        )
        if key == "state":
            worst = percentile(values, 0.95)
            report.figures.append(
                Figure(section, f"{name}, p95", worst, target=target, runs=len(values))
            )


def _travel(
    section: str,
    directory: Path,
    wishes: Wishes,
    report: Report,
    *,
    runs: int,
    dice: random.Random,
) -> None:
    """Look back at the long session, and at two short branches off its end."""
    world, forks = SteppingWorld(), (SessionId("left"), SessionId("right"))
    with EventLog(directory) as log:
        for fork in forks:
            fork_session(log, MAIN, wishes.version, fork, world)
            for number in range(10):
                handle(log, fork, InjectThought(text=f"{fork} {number}", by="user:ann"), world)
        left, right = (Point(fork, log.head(fork).version) for fork in forks)
        travels = Travels(log, MAIN, wishes.ends, dice)
        short = travels.diff(left, right, wishes.version)
        diffs = {"diff of branches, 11 events each": (short, TARGET)}
        travels.measure(section, diffs, report, runs)


def _many_forks(
    section: str, directory: Path, wishes: Wishes, report: Report, *, dice: random.Random
) -> None:
    """A thousand branches of one session, each read once."""
    world = SteppingWorld()
    taken: list[float] = []
    made: list[tuple[SessionId, int, int]] = []
    with EventLog(directory) as log:
        before = sum(emptied(directory))
        for number in range(FORKS):
            iteration = dice.randint(1, wishes.iteration)
            version = wishes.ends[iteration]
            with Stopwatch() as watch:
                fork_session(log, MAIN, version, SessionId(f"f{number}"), world)
            made.append((SessionId(f"f{number}"), version, iteration))
            taken.append(watch.cpu)
        size = (sum(emptied(directory)) - before) / FORKS
        for child, version, iteration in made:
            state = log.state(child)
            if (state.version, state.iteration) != (version + 1, iteration):
                raise WrongState(child)
        with Stopwatch() as watch:
            sessions = log.sessions()
        if len(sessions) != FORKS + 1:
            raise WrongState("sessions")
    worst = percentile(taken, 0.95)
    report.figures += [
        Figure(section, "fork (1,000 of them)", median(taken), target=2, runs=FORKS),
        Figure(section, "fork, p95", worst, target=2, runs=FORKS),
        Figure(section, "bytes of a fork", size, "bytes", target=1024, runs=FORKS),
        Figure(section, "list the sessions (1,001)", watch.cpu),
    ]


def _chain(section: str, directory: Path, wishes: Wishes, report: Report, *, runs: int) -> None:
    """Forks of forks, each with an event of its own; the deepest is read by a new log."""
    world, parent = SteppingWorld(), MAIN
    version = wishes.ends[wishes.iteration // 2]
    with EventLog(directory) as log, Stopwatch() as watch:
        for depth in range(1, DEPTH + 1):
            child = SessionId(f"deep-{depth}")
            fork_session(log, parent, version, child, world)
            thought = InjectThought(text=f"at depth {depth}", by="user:ann")
            version = handle(log, child, thought, world).state.version
            parent = child
    made, taken, again = watch.cpu / DEPTH, [], []
    for _ in range(2 * runs):
        with EventLog(directory) as log:
            with Stopwatch() as watch:
                state = log.state(parent)
            if state.version != version or state.pool.active[-1].text != f"at depth {DEPTH}":
                raise WrongState("the deepest fork")
            taken.append(watch.cpu)
            with Stopwatch() as watch:
                log.state(parent, version - 1)
            again.append(watch.cpu)
    report.figures += [
        Figure(section, f"{DEPTH} forks of forks: fork and one event", made, runs=DEPTH),
        Figure(section, f"state of the {DEPTH}th, new log", median(taken), runs=len(taken)),
        Figure(
            section,
            f"state of the {DEPTH}th, ancestry known",
            median(again),
            target=5,
            runs=len(again),
        ),
    ]


def _replays(section: str, directory: Path, wishes: Wishes, report: Report, *, runs: int) -> None:
    """From the first event on: as rows, as events into a state, and where no snapshot is left."""
    rows: list[float] = []
    folds: list[dict[str, float]] = []
    for _ in range(runs):
        with EventLog(directory) as log, Stopwatch() as watch:
            seen = sum(1 for _ in log.rows(MAIN))
        if seen != wishes.version:
            raise WrongState("rows")
        rows.append(seen / watch.cpu * 1e3)
        folds.append(_child("replay", directory))
        if folds[-1]["events"] != wishes.version:
            raise WrongState("replay")
    speeds = [told["events"] / told["cpu"] * 1e3 for told in folds]
    grown = median(told["grown"] for told in folds)
    for file in directory.glob("snapshots.db*"):
        file.unlink()
    told = _child("rebuild", directory)
    report.figures += [
        Figure(section, "replay as rows", median(rows), "events/s", runs=runs),
        Figure(section, "replay into a state", median(speeds), "events/s", runs=runs),
        Figure(section, "memory that a replay adds, from event 50,000", grown, "MiB", target=5),
        Figure(section, "head with all snapshots deleted", told["cpu"]),
        Figure(section, "memory that this adds", told["grown"], "MiB", target=50),
    ]


def _child(verb: str, directory: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.child", verb, str(directory), MAIN],
        check=True,
        capture_output=True,
    )
    told: dict[str, float] = json.loads(done.stdout)
    return told
