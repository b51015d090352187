"""A job over many sessions, by processes and by Dask: python -m tests.benchmarks.fleet [--quick].

The job counts what happened in each session, branches included. The floor is one process that folds
the same events with the same function, one session after the other: no partitions, no rows that
travel, nothing sealed. Then a worker is killed in the middle. Seconds are of the wall unless they
are of CPU, as medians; processes are started anew each time, a Dask cluster is there already. A
digest that is not that of one process alone ends the run.
"""

import argparse
import random
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from operator import truediv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from commands.eventlog import EventLog
from projections.fleet.built_in import BUILT_IN
from projections.fleet.load import Code, code_of
from projections.fleet.partitions import branch_of, cut
from projections.fleet.run import Source, analyse
from projections.fleet.workers import Team, dask, here, processes
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import WrongState
from tests.projections.fleet.many import grown

WORKERS = 2
PARTITIONS = 32
SECTION = "a job over all sessions"

DEADLY = """
import os, signal
from pathlib import Path
from projections.fleet.built_in import sessions

def rows(branch, events):
    mark = Path({mark!r})
    if branch.session == {session!r} and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return sessions(branch, events)
"""
"""The same job, which once kills the process that it runs in."""

Teams = Callable[[], AbstractContextManager[Team]]


class Took(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float
    """Of this process and those that it has started and that have ended since."""


class Watch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), _cpu()

    def took(self) -> Took:
        """Until now."""
        wall, cpu = self._began
        return Took(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def floor(store: Path) -> Took:
    """What one process needs to fold the events of all sessions."""
    watch = Watch()
    with EventLog(store) as log:
        for session in log.sessions():
            branch = branch_of(log, session)
            list(BUILT_IN["sessions"].rows(branch, log.read(session, after=branch.after)))
    return watch.took()


def asked(store: Path, code: Code, teams: Teams) -> tuple[Took, str, int]:
    """What a job takes, start and end of the workers included; its digest, how many events."""
    watch = Watch()
    with EventLog(store) as log, teams() as team:
        opener = partial(nullcontext, log) if team.alone else partial(EventLog, store)
        sources = [Source(log, opener, cut(log))]
        with analyse(code, sources, team, count=PARTITIONS) as results:
            digest, events = results.digest, results.events
    return watch.took(), digest, events


@contextmanager
def cluster() -> Iterator[Teams]:
    """A Dask cluster of processes on this machine.

    Raises:
        ImportError: Dask is not installed.
    """
    from distributed import LocalCluster  # noqa: PLC0415 — an extra

    with LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address=None,
    ) as made:
        address = made.scheduler_address.removeprefix("tcp://")
        with dask(address) as team:
            asked_for = [team.executor.submit(code_of, "costs") for _ in range(8 * WORKERS)]
            for future in asked_for:  # each worker has imported what it needs
                future.result()
        yield partial(dask, address)


def measure(store: Path, directory: Path, runs: int, report: Report) -> None:
    """Let all of them do it in turns."""
    dice = random.Random(8)  # noqa: S311 — an order, no secret
    with ExitStack() as stack:
        teams: dict[str, Teams] = {
            "one process, sealed": here,
            "1 process": partial(processes, 1),
            f"{WORKERS} processes": partial(processes, WORKERS),
        }
        try:
            teams[f"Dask, {WORKERS} workers"] = stack.enter_context(cluster())
        except ImportError:
            report.remarks.append("Dask is not installed: left out.")
        dying = [name for name in teams if f"{WORKERS} " in name]
        taken: dict[str, list[Took]] = {}
        least: list[Took] = []
        for run in range(runs):
            jobs = [(name, code_of("sessions"), teams[name]) for name in teams]
            jobs += [
                (f"{name}, one killed", deadly(directory / f"{run}-{place}"), teams[name])
                for place, name in enumerate(dying)
            ]
            dice.shuffle(jobs)
            least.append(floor(store))
            digests: dict[bool, set[str]] = {}
            for name, code, team in jobs:
                took, digest, events = asked(store, code, team)
                taken.setdefault(name, []).append(took)
                digests.setdefault(code.file is None, set()).add(digest)
            if any(len(found) != 1 for found in digests.values()):
                raise WrongState(str(digests))
    rate = events / statistics.median(took.wall for took in least)
    report.remarks.append(f"{events:,} events; the floor takes {rate:,.0f} a second.")
    for name in [*teams, *(f"{name}, one killed" for name in dying)]:
        report.figures.append(_figure(name, taken[name], least, "wall"))
        if "Dask" not in name:  # whose workers live on
            report.figures.append(_figure(f"{name}: CPU", taken[name], least, "cpu"))


def _figure(
    name: str, taken: list[Took], least: list[Took], which: Literal["wall", "cpu"]
) -> Figure:
    values, floors = ([getattr(took, which) for took in all_] for all_ in (taken, least))
    return Figure(
        SECTION,
        name,
        statistics.median(values),
        "s",
        floor=statistics.median(floors),
        runs=len(values),
        ratio=statistics.median(map(truediv, values, floors)),
    )


def deadly(mark: Path) -> Code:
    """The job that kills a process once, which the file remembers."""
    source = DEADLY.format(mark=str(mark), session="s0002")
    return Code("rows", str(mark.with_suffix(".py")), source.encode())


def main() -> None:
    """Let it happen, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a thirtieth of the events, once")
    quick = parser.parse_args().quick
    sessions, exchanges, runs = (40, 20, 1) if quick else (600, 40, 3)
    report = Report()
    with TemporaryDirectory() as directory:
        store = grown(Path(directory) / "store", sessions, exchanges)
        report.remarks.append(f"{sessions} sessions, half of them branches.")
        measure(store, Path(directory), runs, report)
    print(report.table())


if __name__ == "__main__":
    main()
