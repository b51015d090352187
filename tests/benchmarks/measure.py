"""How figures are taken: CPU time of all threads, in random order, medians and percentiles."""

import gc
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

Job = Callable[[], float]
"""Does something once and tells what it took."""


class Stopwatch:
    """CPU milliseconds (all threads, kernel included) and wall milliseconds of a block."""

    cpu = 0.0
    wall = 0.0

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = (time.process_time() - self._cpu) * 1e3
        self.wall = (time.perf_counter() - self._wall) * 1e3


def timed(work: Callable[[], object]) -> Job:
    """A job that tells the CPU milliseconds of ``work``."""

    def job() -> float:
        with Stopwatch() as watch:
            work()
        return watch.cpu

    return job


def shuffled(jobs: dict[str, Sequence[Job]], dice: random.Random) -> dict[str, list[float]]:
    """Do all jobs in one random order, so that a slow moment of the machine hits all alike."""
    order = [(name, job) for name, group in jobs.items() for job in group]
    dice.shuffle(order)
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    with quiet():
        for name, job in order:
            taken[name].append(job())
    return taken


@contextmanager
def quiet() -> Iterator[None]:
    """What this process has prepared is no burden to the collector of what is measured."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def median(values: Iterable[float]) -> float:
    """The middle."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` (0 to 1) of all do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def weight(*files: Path) -> int:
    """Bytes of files and of what SQLite keeps beside them."""
    beside = (file.with_name(file.name + end) for file in files for end in ("", "-wal", "-shm"))
    return sum(file.stat().st_size for file in beside if file.exists() and file.suffix != ".db-shm")


class WrongState(Exception):
    """What was read is not what the workload wrote: its figures count for nothing."""


class FsyncsUnknown(Exception):
    """This machine has no strace that may trace, so nobody can count."""


def fsyncs(what: str, count: int, directory: Path) -> float:
    """How often a child that records ``count`` iterations makes the disk sync, per iteration.

    Raises:
        FsyncsUnknown: strace is not there, or not allowed.
    """
    many = _synced(what, count, directory)
    return (many - _synced(what, 0, directory)) / count


def _synced(what: str, count: int, directory: Path) -> int:
    tracer = shutil.which("strace")
    if tracer is None:
        raise FsyncsUnknown
    told, store = directory / "strace.out", directory / f"{what}-{count}"
    store.mkdir()
    child = [sys.executable, "-m", "tests.benchmarks.child", what, str(store), str(count)]
    done = subprocess.run(
        [tracer, "-f", "-qq", "-e", "trace=fsync,fdatasync,msync", "-o", told, *child],
        check=False,
        capture_output=True,
    )
    if done.returncode:
        raise FsyncsUnknown(done.stderr.decode(errors="replace"))
    calls = told.read_text(errors="replace").splitlines()
    shutil.rmtree(store)
    return sum("sync(" in line for line in calls)
