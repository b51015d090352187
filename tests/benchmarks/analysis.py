"""What asking the history costs: build the database, catch up, look through branches."""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.handle import handle
from commands.thinking import InjectThought
from domain.ids import SessionId
from projections.analytics.catchup import catch_up
from projections.analytics.database import connect
from projections.analytics.place import FILE
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import Job, Stopwatch, WrongState, median, shuffled
from tests.benchmarks.wishes import Wishes, build, grow
from tests.benchmarks.workload import MAIN, Recorder, SteppingWorld, Workload

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEW = 100
"""Events that a catch-up finds, and as many more as end an exchange."""

EMBEDDED = 0.265
"""The share of thoughts that have a vector, so that a tenth of all events do."""

SHORTER = 10
"""How many times shorter the session is that the long one is compared with."""

FORKS, DEPTH = 1000, 20


def measure(
    events: int, n: int, report: Report, place: Path | None, *, runs: int, dice: random.Random
) -> None:
    """All figures of the analysis.

    Args:
        events: of the long session.
        n: iterations of W1.
        report: takes them.
        place: where stores are made.
        runs: behind each median.
        dice: choose where to look.
    """
    for name, take in (("w1", _w1), ("long", _long), ("forks", _forks)):
        with tempfile.TemporaryDirectory(prefix=f"bench-{name}-", dir=place) as directory:
            take(Path(directory), events, n, report, runs, dice)


def _w1(store: Path, _: int, n: int, report: Report, runs: int, dice: random.Random) -> None:
    section = f"Analysis, W1, {n:,} iterations"
    side = Recorder(store, Workload(n, half=True))
    side.record(0, n)
    side.log.close()
    _rebuilt(section, store, report, runs)
    query = "SELECT exchange, count(*) FROM drafts GROUP BY exchange"
    connection = connect(store / FILE, read_only=True)
    found = _asked(connection, query)
    if sum(count for _, count in found) != n:
        raise WrongState(f"{len(found)} exchanges")
    of = "SELECT exchange, count(*) FROM drafts_of($session) GROUP BY exchange"
    jobs = {
        "drafts per exchange": (query, None, 10),
        "drafts per exchange, of a branch": (of, MAIN, None),
    }
    _queries(section, connection, jobs, report, runs, dice)


def _long(store: Path, events: int, _: int, report: Report, runs: int, dice: random.Random) -> None:
    """A long session and a tenth of it: built at once, and followed in turns."""
    followed: dict[str, tuple[Path, EventLog, Wishes]] = {}
    for size, times in ((events // SHORTER, 1), (events, max(1, runs // 2))):
        directory = store / str(size)
        directory.mkdir()
        log, wishes, _known = build(directory, size, embedded=EMBEDDED)
        section = f"Analysis, {wishes.version:,} events"
        _rebuilt(section, directory, report, times)
        report.figures.append(Figure(section, "events with a vector", _embedded(directory), "%"))
        followed[section] = directory, log, wishes
    taken: dict[str, list[dict[str, float]]] = {section: [] for section in followed}
    idle: dict[str, list[dict[str, float]]] = {section: [] for section in followed}
    for _turn in range(3 * runs):
        for section in dice.sample(list(followed), len(followed)):
            directory, log, wishes = followed[section]
            grow(log, wishes, wishes.version + NEW, events)
            for found in (taken, idle):
                told = _child("follow", directory)
                if told["events"] != log.position():
                    raise WrongState("caught up")
                found[section].append(told)
    _followed(report, taken, idle)
    for _, log, _wishes in followed.values():
        log.close()


def _followed(
    report: Report,
    taken: dict[str, list[dict[str, float]]],
    idle: dict[str, list[dict[str, float]]],
) -> None:
    """What catching up costs, and how that depends on what lies before."""
    middles: dict[str, list[float]] = {"CPU": [], "memory": []}
    for section, some in taken.items():
        cpu, peak = (median(told[key] for told in some) for key in ("cpu", "peak"))
        nothing, least = (median(told[key] for told in idle[section]) for key in ("cpu", "peak"))
        middles["CPU"].append(cpu)
        middles["memory"].append(peak)
        name, runs = f"catch up {NEW} events, import of DuckDB included", len(some)
        report.figures += [
            Figure(section, name, cpu, target=150, runs=runs),
            Figure(section, "memory of that", peak, "MiB", runs=runs),
            Figure(section, "find nothing new, import of DuckDB included", nothing, runs=runs),
            Figure(section, "memory of that", least, "MiB", runs=runs),
        ]
    for name, (short, long) in middles.items():
        report.figures.append(
            Figure(
                "Analysis, flat in N",
                f"catch up {NEW} events, {name}: {' by '.join(reversed(_sizes(taken)))}",
                long / short,
                "ratio",
                target=1.1 if name == "memory" else None,
            )
        )


def _sizes(sections: Iterable[str]) -> list[str]:
    return [section.split()[1] for section in sections]


def _embedded(store: Path) -> float:
    """How many of a hundred events have a vector."""
    query = "SELECT count(embedding) FROM thoughts"
    with closing(connect(store / FILE, read_only=True)) as connection:
        whole = _asked(connection, "SELECT count(*) FROM events")[0][0]
        return 100 * _asked(connection, query)[0][0] / whole


def _forks(
    store: Path, events: int, _: int, report: Report, runs: int, dice: random.Random
) -> None:
    """A thousand branches in chains of twenty, each asked as a whole and for its end."""
    log, wishes, _known = build(store, min(events, 100_000))
    section, world = f"Analysis, {FORKS:,} forks of {wishes.version:,} events", SteppingWorld()
    deepest: list[SessionId] = []
    for number in range(FORKS):
        first = number % DEPTH == 0
        parent = MAIN if first else SessionId(f"f{number - 1}")
        version = dice.choice(wishes.ends) if first else log.head(parent).version
        child = SessionId(f"f{number}")
        fork_session(log, parent, version or 1, child, world)
        handle(log, child, InjectThought(text=f"in {number}", by="user:ann"), world)
        if (number + 1) % DEPTH == 0:
            deepest.append(child)
    caught = catch_up(log, store)
    connection = connect(caught.file, read_only=True)
    last = "SELECT version, text FROM messages_of($session) ORDER BY version DESC LIMIT 50"
    whole = "SELECT kind, count(*) FROM events_of($session) GROUP BY kind"
    for session in dice.sample(deepest, 3):
        newest = [r.version for _, r in zip(range(50), _messages(log, session), strict=False)]
        if [version for version, _ in _asked(connection, last, session)] != newest:
            raise WrongState(f"messages of {session}")
        if (
            sum(count for _, count in _asked(connection, whole, session))
            != log.head(session).version
        ):
            raise WrongState(f"events of {session}")
    session = dice.choice(deepest)
    jobs = {
        f"newest 50 messages of a branch {DEPTH} deep": (last, session, 100),
        "count by kind over all it sees": (whole, session, 300),
        "lineage of all branches": ("SELECT count(*) FROM lineage", None, None),
        "all sessions": ("FROM sessions", None, None),
    }
    _queries(section, connection, jobs, report, runs, dice)
    log.close()


def _messages(log: EventLog, session: SessionId):  # noqa: ANN202 — an iterator of the log's
    return log.read(session, kinds=["message.sent"], newest_first=True, page=50)


def _rebuilt(section: str, store: Path, report: Report, runs: int) -> None:
    ours = [_child("rebuild", store) for _ in range(runs)]
    _child("dump", store)
    floors = [_child("load", store) for _ in range(runs)]
    events = ours[0]["events"]
    if any(told["events"] != events for told in floors):
        raise WrongState("the floor")
    cpu, floor = (median([told["cpu"] for told in some]) for some in (ours, floors))
    peak, least = (max(told["peak"] for told in some) for some in (ours, floors))
    size = (store / FILE).stat().st_size / events
    report.figures += [
        Figure(section, "rebuild", cpu, floor=floor, runs=runs),
        Figure(
            section,
            "rebuild, events",
            events / cpu * 1e3,
            "events/s",
            events / floor * 1e3,
            ratio=cpu / floor,
        ),
        Figure(section, "memory of that", peak, "MiB", floor=least),
        Figure(section, "bytes of an event", size, "bytes"),
    ]


def _queries(
    section: str,
    connection: "DuckDBPyConnection",
    jobs: dict[str, tuple[str, SessionId | None, float | None]],
    report: Report,
    runs: int,
    dice: random.Random,
) -> None:
    def job(query: str, session: SessionId | None) -> Job:
        def ask() -> float:
            with Stopwatch() as watch:
                _asked(connection, query, session)
            return watch.cpu

        return ask

    for query, session, _ in jobs.values():
        _asked(connection, query, session)  # what the first one reads from disk is no figure
    many = {name: [job(query, session)] * 4 * runs for name, (query, session, _) in jobs.items()}
    for name, values in shuffled(many, dice).items():
        target = jobs[name][2]
        report.figures.append(
            Figure(section, name, median(values), target=target, runs=len(values))
        )


def _asked(
    connection: "DuckDBPyConnection", query: str, session: SessionId | None = None
) -> list[tuple]:
    return connection.execute(query, {"session": session} if session else {}).fetchall()


def _child(verb: str, store: Path) -> dict[str, float]:
    told = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.analysis_child", verb, str(store)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(told.stdout)
    return found
