"""What clustering costs: CPU of one iteration of 5 thoughts, from a full pool to 5,000 clusters.

Run by itself in a process that has one BLAS thread from the start, as many threads would only
wait for each other on products this small:  python -m tests.benchmarks.quality_speed
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"  # before numpy is imported

import numpy as np
from numpy.typing import NDArray

from domain.clustering.decide import decide
from domain.clustering.partition import Partition
from domain.clustering.rules import Rules
from domain.clustering.vectors import Arrival, Shelf, Stored, packed
from domain.events import ClusterFormed, ClusteringCalibrated
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import Stopwatch, median, percentile, quiet

DIMENSION = 384
EACH, POOL = 5, 50
MEASURED = 60
"""Iterations that are timed; each leaves a slightly larger state to the next."""

TOPIC, COMMON = 0.3, 0.05
"""Cosine of two thoughts on one topic, and of any two: as the local embedder has them."""

CLUSTERS, MEMBERS, ALONE = 5_000, 4, 10_000
"""The large state."""


class Thoughts:
    """Synthetic thoughts with the geometry of sentence vectors; the same from each seed."""

    def __init__(self, topics: int, seed: int = 1) -> None:
        self._dice = np.random.default_rng(seed)
        self._common = self._directions(1)
        self._topics = self._directions(topics)

    def about(self, topics: NDArray[np.int64]) -> list[Stored]:
        """One thought on each of some topics; -1 is a topic of its own."""
        own = self._directions(len(topics))
        shared = np.where((topics >= 0)[:, None], self._topics[topics], self._directions(len(own)))
        rows = np.sqrt(COMMON) * self._common + np.sqrt(TOPIC - COMMON) * shared
        rows = rows + np.sqrt(1 - TOPIC) * own
        return [Stored(data, DIMENSION) for data in packed(rows) if data is not None]

    def any(self, number: int) -> list[Stored]:
        """Thoughts as they come: three in four on one of the topics."""
        topics = self._dice.integers(0, len(self._topics), number)
        return self.about(np.where(self._dice.random(number) < 0.75, topics, -1))

    def _directions(self, number: int) -> NDArray[np.float64]:
        rows = self._dice.standard_normal((number, DIMENSION))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


class Stream:
    """A partition, and the thoughts that come to it."""

    def __init__(self, thoughts: Thoughts, rules: Rules) -> None:
        self.thoughts, self.rules = thoughts, rules
        self.partition = Partition(Shelf(lambda _: ()))
        self._version = 0

    def arrivals(self, stored: list[Stored]) -> list[Arrival]:
        """Number new thoughts."""
        start = self._version + 1
        self._version += len(stored)
        return [Arrival(version, one) for version, one in enumerate(stored, start)]

    def iterate(self) -> None:
        """Decide about five thoughts and fold what was decided."""
        self.take(self.arrivals(self.thoughts.any(EACH)))

    def timed(self) -> float:
        """CPU milliseconds of deciding about five thoughts and folding what was decided."""
        arrivals = self.arrivals(self.thoughts.any(EACH))
        with Stopwatch() as watch:
            self.take(arrivals)
        return watch.cpu

    def take(self, arrivals: list[Arrival]) -> None:
        """What an iteration does with new thoughts."""
        active = frozenset(range(max(0, self._version - POOL) + 1, self._version + 1))
        decided = decide(self.partition, arrivals, self.rules, active)
        for version, stored in arrivals:
            self.partition.add(version, stored)
        for event in decided:
            self.partition.apply(event)


def grown(count: int, rules: Rules) -> Stream:
    """So many thoughts, five at a time, on as many topics as such a session has."""
    stream = Stream(Thoughts(max(5, round(2 * count**0.5))), rules)
    for _ in range(count // EACH):
        stream.iterate()
    return stream


def large(rules: Rules) -> Stream:
    """5,000 clusters and 10,000 thoughts that stand alone, without the years that it took."""
    stream = Stream(Thoughts(CLUSTERS), rules)
    partition, thoughts = stream.partition, stream.thoughts
    for topic in range(CLUSTERS):
        added = stream.arrivals(thoughts.about(np.full(MEMBERS, topic)))
        for version, stored in added:
            partition.add(version, stored)
        members = tuple(version for version, _ in added)
        name = partition.next_id
        partition.apply(ClusterFormed(cluster=name, members=members, how="linkage", similarity=0.3))
    for version, stored in stream.arrivals(thoughts.about(np.full(ALONE, -1))):
        partition.add(version, stored)
    # the deviation of real thoughts, whose space has fewer directions than this one: by what is
    # measured here, chance alone would bring each thought to one of so many clusters
    partition.apply(ClusteringCalibrated(count=partition.count, scale=1 - COMMON, deviation=0.12))
    return stream


def states(rules: Rules) -> Iterator[tuple[str, Stream]]:
    """The states in which an iteration is timed."""
    for count in (POOL, 1_000, 5_000):
        yield f"{count:,} thoughts", grown(count, rules)
    yield f"{CLUSTERS:,} clusters, {ALONE:,} alone", large(rules)


def taken() -> dict[str, list[float]]:
    """CPU milliseconds of each iteration, by state. To be called where BLAS has one thread."""
    found: dict[str, list[float]] = {}
    for name, stream in states(Rules()):
        found[name] = []
        with quiet():
            for round_ in range(MEASURED):
                if name.startswith(f"{POOL} ") and round_ % 10 == 0:
                    stream = grown(POOL, Rules())  # noqa: PLW2901 — it must not outgrow its name
                found[name].append(stream.timed())
        shape = stream.partition
        alone = 0 if shape.alone is None else len(shape.alone)
        print(f"{name}: ends with {len(shape.clusters)} clusters, {alone} alone", file=sys.stderr)
    return found


def measure(report: Report) -> None:
    """Have a process of its own take the times, and report them."""
    child = [sys.executable, "-m", "tests.benchmarks.quality_speed"]
    root = Path(__file__).parents[2]
    done = subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True, cwd=root)
    for name, times in json.loads(done.stdout).items():
        for label, value in (
            ("median", median(times)),
            ("p90", percentile(times, 0.9)),
            ("most", max(times)),
        ):
            report.figures.append(
                Figure("An iteration of 5 thoughts", f"{name}: {label}", value, runs=len(times))
            )


if __name__ == "__main__":
    print(json.dumps(taken()))
