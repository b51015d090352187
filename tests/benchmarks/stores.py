"""What a log costs in a file and on a server: python -m tests.benchmarks.stores [--quick].

The same work on SQLite and on PostgreSQL servers of its own (their data on a real disk, every
commit synced), in turns, so that a slow moment of the machine hits all of them. Two floors are
taken in the same turns: one transaction of SQLite alone, and one ``INSERT`` of psycopg alone.
Figures are wall time, since a server's CPU time is not this process's; medians of all turns.
"""

import argparse
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.sessions import start_session
from commands.world import RealWorld
from domain.events import Caused, NoteAdded
from domain.ids import SessionId
from domain.recorded import Draw
from domain.session import Session, evolve
from projections.history import History
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import WrongState, percentile, quiet
from tests.benchmarks.stores_child import FIRST, STATE, WORDS, Order, following, serve
from tests.benchmarks.stores_found import (
    Store,
    Taken,
    many_rows,
    psycopg_alone,
    sqlite_alone,
    stores,
    table,
)
from tests.benchmarks.w1 import N_FORK, digest
from tests.benchmarks.workload import FORK, FORK_OF_FORK, MAIN, Recorder, Workload, told
from tests.postgres.servers import NEWEST, binaries

LONG, BRANCH = SessionId("long"), SessionId("long/branch")


class Scale(NamedTuple):
    """How much is done."""

    turns: int
    writers: tuple[int, ...]
    seconds: float
    """That writers write, in each turn."""
    events: int
    """Of the long session."""
    looks: int
    """States, forks and openings in each turn."""
    notices: int
    iterations: int
    """Of W1."""


FULL = Scale(3, (1, 4, 8), 0.6, 2000, 15, 30, 300)
QUICK = Scale(1, (1, 2), 0.1, 200, 3, 5, 20)
STATUS = ["-m", "cli.main", "status", "--session", LONG]
CHUNK = 50
"""Iterations of W1 that one store records before the next one's turn."""


# writing


class Workers:
    """Processes that write when they are told to."""

    def __init__(self, stack: ExitStack, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._ends: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            stack.callback(process.join)
            self._ends.append(ours)
        for end in self._ends:
            stack.callback(end.close)

    def __call__(self, orders: Sequence[Order]) -> list[list[tuple[float, float]]]:
        """When each append of each of them began and ended."""
        ends = self._ends[: len(orders)]
        for end, order in zip(ends, orders, strict=True):
            end.send(order)
        for end in ends:
            end.recv()
        for end in ends:
            end.send("go")
        return [end.recv() for end in ends]


def append(
    workers: Workers, who: str, store: str, count: int, turn: int, scale: Scale, taken: Taken
) -> None:
    """Latency and throughput of ``count`` writers, each with a session of its own."""
    orders = [Order(store, f"w{turn}-{count}-{n}", scale.seconds) for n in range(count)]
    spans = [span for one in workers(orders) for span in one]
    took = [(end - began) * 1e3 for began, end in spans]
    writers = f"append, {count} writer{'s' if count > 1 else ''}"
    lasted = max(end for _, end in spans) - min(began for began, _ in spans)
    taken(f"{writers}: p50", who, took)
    taken(f"{writers}: p99", who, [percentile(took, 0.99)])
    taken.highest(f"{writers}: longest of all", who, max(took))
    taken(f"{writers}: a second", who, [len(spans) / lasted], "events")


def notice(
    workers: Workers, store: Store, turn: int, scale: Scale, dice: random.Random, taken: Taken
) -> None:
    """How long after its acknowledgement a follower in another process has an event."""
    session = f"news{turn}"
    gaps = tuple(dice.uniform(0, 0.06) for _ in range(scale.notices))
    with following(store.place.name, session) as seen:
        (spans,) = workers([Order(store.place.name, session, 0, gaps)])
        until = time.monotonic() + 10
        while FIRST + len(spans) - 1 not in seen and time.monotonic() < until:
            time.sleep(0.01)
    late = [max(0.0, (seen[n] - end) * 1e3) for n, (_, end) in enumerate(spans, FIRST)]
    taken("acknowledged → followed: p50", store.name, late)
    taken("acknowledged → followed: p99", store.name, [percentile(late, 0.99)])


# reading


def fill(store: Store, events: int) -> None:
    """A long session, and a branch of its middle that went on for a tenth as long."""
    world = RealWorld.of_this_user()
    with EventLog(store.place) as log:
        start_session(log, LONG, world)
        _grow(log, LONG, events - 1)
        fork_session(log, LONG, events // 2, BRANCH, world)
        _grow(log, BRANCH, events // 10)


def _grow(log: EventLog, session: SessionId, count: int) -> None:
    """Notes, many in an append; one wish each elsewhere."""
    world, state = RealWorld.of_this_user(), log.state(session)
    for first in range(0, count, 200):
        notes = [Caused(NoteAdded(text=WORDS, iteration=0))] * min(200, count - first)
        draw = Draw(notes, max(world.now(), state.at), world.actor, world.command_id())
        state = log.append(session, state.version, draw)


def look(store: Store, turn: int, scale: Scale, dice: random.Random, taken: Taken) -> None:
    """Replay, states, forks, and opening the store."""
    world, who = RealWorld.of_this_user(), store.name
    with EventLog(store.place) as log, quiet():
        with _clock() as took:
            state: Session | None = None
            for recorded in log.read(LONG):
                state = evolve(state, recorded)
        if state is None or state != log.state(LONG) or state.version != scale.events:
            raise WrongState(f"{LONG} in {who}")
        taken(f"replay of {scale.events:,} events", who, took)
        for name, session, length in (
            ("state at a version", LONG, scale.events),
            ("state at a version of a fork", BRANCH, scale.events // 2 + scale.events // 10),
        ):
            values = []
            for _ in range(scale.looks):
                version = dice.randint(1, length)
                with _clock() as took:
                    found = log.state(session, version)
                values += took
                if found.version != version:
                    raise WrongState(f"{session} at {version} in {who}")
            taken(name, who, values)
        values = []
        for number in range(scale.looks):
            child, version = SessionId(f"fork{turn}-{number}"), dice.randint(1, scale.events)
            with _clock() as took:
                fork_session(log, LONG, version, child, world)
            values += took
        taken("fork anywhere", who, values)
    values = []
    for _ in range(scale.looks):
        with _clock() as took, EventLog(store.place) as log:
            log.state(LONG)
        values += took
    taken("open the store, read the head", who, values)


def look_alone(name: str, floor: str, scale: Scale, taken: Taken) -> None:
    """What the floors need for as many rows."""
    raw = floor.removeprefix("raw:")
    mark, connect = ("%s", psycopg_alone) if "://" in raw else ("?", sqlite_alone)
    some = f"SELECT version, kind, state FROM events WHERE stream={mark} AND version>{mark}"  # noqa: S608
    some += f" ORDER BY version LIMIT {mark}"
    with connect(raw) as execute:
        if not execute(some, ("long", 0, 1)):
            execute(
                f"INSERT INTO events (stream, version, kind, state) {many_rows(mark)}", (STATE,)
            )
        for what, after, count in (
            (f"replay of {scale.events:,} events", 0, scale.events),
            ("state at a version", scale.events // 2, 60),
            ("state at a version of a fork", scale.events // 2, 60),
        ):
            values = []
            for _ in range(5):
                with _clock() as took:
                    execute(some, ("long", after, count))
                values += took
            taken(what, name, values)
    values = []
    for _ in range(scale.looks):
        with _clock() as took, connect(raw) as execute:
            execute(some, ("long", scale.events - 1, 1))
        values += took
    taken("open the store, read the head", name, values)


def project(store: Store, directory: Path, taken: Taken) -> None:
    """Build the database of the history from the first event on."""
    from projections.analytics.catchup import build  # noqa: PLC0415 — needs an extra

    with EventLog(store.place) as log:
        count = sum(1 for _ in log.plain())
        with _clock() as took:
            build(log, directory / "projected.duckdb")
    taken("events into DuckDB a second", store.name, [count / took[0] * 1e3], "events")


def start(name: str, command: Sequence[str], taken: Taken) -> None:
    """A program, cold, as a process: CPU on this machine, a server's left out."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MIND_")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with _clock() as took:
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    taken("mind status, cold: CPU", name, [cpu * 1e3])
    taken("mind status, cold: wall", name, took)


@contextmanager
def _clock() -> Iterator[list[float]]:
    """A list that will hold the milliseconds of the block."""
    took: list[float] = []
    began = time.perf_counter()
    yield took
    took.append((time.perf_counter() - began) * 1e3)


# W1


def w1(found: Sequence[Store], iterations: int, dice: random.Random, taken: Taken) -> str:
    """Record W1 in each; the states have the digests of the reference, the chains are the same."""
    work = Workload(iterations, half=True)
    with ExitStack() as stack:
        sides = {s.name: Recorder(stack.enter_context(EventLog(s.place)), work) for s in found}
        with quiet():
            for first in range(0, iterations, CHUNK):
                last = min(first + CHUNK, iterations)
                for who, side in dice.sample(list(sides.items()), len(sides)):
                    with _clock() as took:
                        side.record(first, last)
                    taken("W1: one iteration", who, [took[0] / (last - first)])
        heads = {_w1_read(who, side, dice, taken) for who, side in sides.items()}
    if len(heads) != 1:
        raise WrongState("the heads of W1 are not the same")
    return "W1: states have the reference's digests, and heads are the same, on all stores."


def _w1_read(
    who: str, side: Recorder, dice: random.Random, taken: Taken
) -> tuple[tuple[int, bytes], ...]:
    """The heads of the session, of its fork, and of that one's fork."""
    side.branch()
    log, work, reference = side.log, side.work, side.work.w1
    for session, version, state in (
        (MAIN, None, reference.ref_state(reference.n)),
        (MAIN, side.ends[MAIN][reference.K], reference.ref_state(reference.K)),
        (FORK, None, reference.ref_fork_state(reference.K, N_FORK)),
        (FORK_OF_FORK, None, reference.ref_fork_state(reference.K, N_FORK)),
    ):
        if digest(told(log, log.state(session, version), work)) != digest(state):
            raise WrongState(f"{session} in {who}")
    for what, session in (("session", MAIN), ("fork of a fork", FORK_OF_FORK)):
        values = []
        for _ in range(3 * QUICK.looks):
            version = side.ends[session][dice.randrange(1, len(side.ends[session]) - 1)]
            with _clock() as took:
                log.state(session, version)
            values += took
        taken(f"W1: state at any version, {what}", who, values)
    with _clock() as took:
        turns = History(log, MAIN, None).newest(20)
    taken("W1: newest 20 exchanges", who, took)
    assert turns
    return tuple(log.head(name) for name in (MAIN, FORK, FORK_OF_FORK))


# all of it


def measure(scale: Scale, directory: Path, versions: Sequence[int], dice: random.Random) -> Taken:
    """All figures of all stores."""
    taken = Taken()
    with ExitStack() as stack:
        workers = Workers(stack, max(scale.writers))
        found, floors = stack.enter_context(stores(directory, versions))
        taken.remarks.append(w1(found, scale.iterations, dice, taken))
        for store in found:
            fill(store, scale.events)
        everyone = {store.name: store.place.name for store in found} | floors
        for turn in range(scale.turns):
            _say(f"turn {turn + 1} of {scale.turns} …")
            for count in scale.writers:
                for who, where in dice.sample(list(everyone.items()), len(everyone)):
                    append(workers, who, where, count, turn, scale, taken)
            for store in dice.sample(found, len(found)):
                notice(workers, store, turn, scale, dice, taken)
                look(store, turn, scale, dice, taken)
                project(store, directory, taken)
                start(store.name, [*STATUS, "--store", store.place.name], taken)
            for who, where in floors.items():
                look_alone(who, where, scale, taken)
                start(who, ["-c", "pass"], taken)
        taken.who = [*(store.name for store in found), *floors]
        taken.floors = {store.name: store.floor for store in found}
    return taken


def report(taken: Taken) -> Report:
    """The same as figures, each beside its own floor."""
    figures = [
        Figure(
            who,
            what,
            value,
            unit,
            taken.of(what, taken.floors.get(who, "")),
            ratio=taken.ratio(what, who),
        )
        for who in taken.who
        for what, unit in taken.units.items()
        if (value := taken.of(what, who)) is not None
    ]
    return Report(figures, taken.remarks)


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.stores", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a little of each, one server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--dir", type=Path, help="where the file's store is made; a real disk")
    parser.add_argument("--seed", type=int, default=1, help="of the order of all measurements")
    wanted = parser.parse_args(arguments)
    began = time.monotonic()
    older = [v for v in (15,) if binaries(v) is not None and not wanted.quick]
    with tempfile.TemporaryDirectory(prefix="bench-", dir=wanted.dir) as name:
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "caches")  # of this process and its own
        taken = measure(
            QUICK if wanted.quick else FULL,
            Path(name),
            [NEWEST, *older],
            random.Random(wanted.seed),  # noqa: S311 — an order, no secret
        )
    taken.remarks.append(f"Took {time.monotonic() - began:.0f} s.")
    print(table(taken))
    print("\n" + "\n".join(f"· {remark}" for remark in taken.remarks))
    if wanted.json:
        report(taken).save(wanted.json)


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
