"""Streams of thoughts as whole numbers make them, lived through step by step, and checked naively.

Nothing in here needs more than the domain does: other Pythons run it, and compare.
"""

import struct
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from math import isqrt
from typing import Any

import numpy as np

from domain.actors import SYSTEM
from domain.clustering.calibration import PRIOR
from domain.clustering.decide import decide
from domain.clustering.fold import fold_into
from domain.clustering.partition import ClusterEvent, Partition
from domain.clustering.rules import Rules
from domain.clustering.vectors import Arrival, Shelf, Stored
from domain.events import (
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    Event,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
)
from domain.ids import CommandId, SessionId
from domain.recorded import Recorded

SESSION = SessionId("tides")
EVERYTHING = 2**24
"""All numbers of a vector are whole multiples of one over this."""


def dice(seed: int) -> Iterator[int]:
    """Whole numbers below 2³², the same on every machine (a generator by Knuth and Lewis)."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 32


def vector(numbers: Sequence[int], precision: str = "e") -> Stored:
    """Numbers as a vector of length 1, by whole-number roots: no machine rounds its own way."""
    length = isqrt(sum(n * n for n in numbers) << 40) / 2**20
    data = struct.pack(f"<{len(numbers)}{precision}", *(_gridded(n / length) for n in numbers))
    return Stored(data, len(numbers))


def _gridded(number: float) -> float:
    return round(number * EVERYTHING) / EVERYTHING


def topics(
    many: int, *, kinds: int = 8, width: int = 16, noise: int = 60, seed: int = 1
) -> list[Stored]:
    """Thoughts around some topics, a few of them drifting, and every ninth about nothing at all."""
    chance = dice(seed)
    middles = [[next(chance) % 201 - 100 for _ in range(width)] for _ in range(kinds)]
    made: list[Stored] = []
    for number in range(many):
        kind, other = next(chance) % kinds, next(chance) % kinds
        blur = [next(chance) % (2 * noise + 1) - noise for _ in range(width)]
        drift = number * (kind % 3) // 2
        if next(chance) % 9 == 0:
            made.append(vector([next(chance) % 201 - 100 for _ in range(width)]))
        else:
            here, there = middles[kind], middles[other]
            made.append(
                vector(
                    [
                        4 * a + drift * b // many + c
                        for a, b, c in zip(here, there, blur, strict=True)
                    ]
                )
            )
    return made


class Stream:
    """A session that thinks: what it decided is recorded, and folded into its partition."""

    def __init__(self, rules: Rules | None = None, pool: int = 50, room: int = 48) -> None:
        self.rules, self.pool, self.room = rules or Rules(), pool, room
        self.history: list[Recorded] = []
        self.partition = Partition(shelf_of(self.history, room))

    def lives(self, thoughts: Sequence[Stored], each: int = 5) -> "Stream":
        """Thoughts come, so many at a time."""
        for start in range(0, len(thoughts), each):
            self.arrives(*thoughts[start : start + each])
        return self

    def arrives(self, *thoughts: Stored) -> list[ClusterEvent]:
        """Thoughts come together; what is decided about them has happened then."""
        decided = self.decides(*thoughts)
        self.happens(*(thought(stored) for stored in thoughts), *decided)
        return decided

    def decides(self, *thoughts: Stored, partition: Partition | None = None) -> list[ClusterEvent]:
        """What would be decided about thoughts, by this partition or another one."""
        arrivals = [Arrival(v, stored) for v, stored in enumerate(thoughts, self.upcoming)]
        active = [*self.thoughts, *(a.version for a in arrivals)][-self.pool :]
        return decide(partition or self.partition, arrivals, self.rules, frozenset(active))

    def happens(self, *events: Event) -> None:
        """It is recorded and folded."""
        new = recorded(events, len(self.history))
        self.history += new
        fold_into(self.partition, new)

    def again(self) -> Partition:
        """The partition folded anew from all that has happened."""
        partition = Partition(shelf_of(self.history, self.room))
        fold_into(partition, self.history)
        return partition

    @property
    def upcoming(self) -> int:
        """The version of what happens next."""
        return len(self.history) + 1

    @property
    def thoughts(self) -> list[int]:
        """The versions of all thoughts."""
        return [r.version for r in self.history if isinstance(r.event, ThoughtAdded)]

    @property
    def labels(self) -> list[int | None]:
        """The cluster of each thought, in their order."""
        return [self.partition.label(version) for version in self.thoughts]

    @property
    def decided(self) -> list[ClusterEvent]:
        """All that was decided."""
        return [r.event for r in self.history if isinstance(r.event, ClusterEvent)]


def thought(stored: Stored, text: str = "x") -> ThoughtAdded:
    """A thought that comes with its vector."""
    return ThoughtAdded(
        text=text,
        iteration=1,
        mind="m",
        embedding=stored.data,
        embedding_model="m",
        dimension=stored.dimension,
    )


def late(version: int, stored: Stored) -> ThoughtEmbedded:
    """A thought that waited gets its vector."""
    return ThoughtEmbedded(
        thought=version, embedding=stored.data, embedding_model="m", dimension=stored.dimension
    )


WORDLESS = ThoughtAdded(text="x", iteration=1, mind="m")
"""A thought that waits for its vector."""


def another_model(name: str = "other") -> ConfigChanged:
    """Vectors are made with another model from now on."""
    return ConfigChanged(key="embedding_model", old="local", new=name)


def recorded(events: Sequence[Event], after: int = 0) -> list[Recorded]:
    """Events as a log holds them."""
    return [
        Recorded(SESSION, v, v, v, SYSTEM, CommandId(v.to_bytes(16, "big")), None, event)
        for v, event in zip(count(after + 1), events, strict=False)
    ]


def shelf_of(history: list[Recorded], room: int = 48) -> Shelf:
    """A shelf with little room, that looks up in a history."""

    def fetch(thoughts: Sequence[int]) -> Iterator[Stored | int]:
        for version in thoughts:
            event = history[version - 1].event if version <= len(history) else None
            if isinstance(event, ThoughtAdded) and event.dimension is not None:
                same = event.embedding_of
                yield Stored(event.embedding, event.dimension) if event.embedding else same or 0

    return Shelf(fetch, room)


def digest(*events: Event) -> str:
    """What was decided, to the last digit."""
    lines = (f"{event.kind} {sorted(event.wire().items())!r}" for event in events)
    return sha256("\n".join(lines).encode()).hexdigest()


def dump(partition: Partition) -> dict[str, Any]:
    """All that a partition is, to the last bit; but for the order of rows and of members.

    Neither the order nor what screening remembers of the calibration (``_offset``) may matter.
    """
    return {
        "versions": list(partition.versions),
        "has": sorted(v for v in range(2000) if partition.has(v)),
        "next": partition.next_id,
        "clusters": {
            c.id: (key, c.row, sorted(c.members), partition.sum_of(key).tobytes())
            for key, c in partition.clusters.items()
        },
        "rows": [None if c is None else c.id for c in partition._rows],
        "home": dict(partition._home),
        "into": {old: partition.living(old) for old in sorted(partition._into)},
        "calibration": bits(partition),
        **({} if partition.total is None or not partition.count else _vectors(partition)),
    }


def _vectors(partition: Partition) -> dict[str, Any]:
    return {
        "total": partition.total is not None and partition.total.tobytes(),
        "alone": table(partition.alone),
        "centroids": table(partition.centroids),
    }


def bits(partition: Partition) -> Any:
    """The calibration, to the last bit."""
    space = partition.calibration
    return space and (space.count, space.mean.tobytes(), space.scale, space.deviation)


def table(of: Any) -> Any:
    """The rows of a table by key."""
    return {int(key): of._matrix[of._place[key]].tobytes() for key in sorted(of._place)}


class Naive:
    """The same fold with dictionaries and whole numbers, and nothing remembered cleverly."""

    def __init__(self, history: Sequence[Recorded], window: int = 10**9) -> None:
        self.window = window
        self.highest = 0
        self.texts: dict[int, ThoughtAdded | ThoughtEmbedded] = {}
        self._begin()
        for r in history:
            self.fold(r.version, r.event)

    def _begin(self) -> None:
        self.vectors: dict[int, list[int]] = {}
        self.labels: dict[int, int | None] = {}
        self.forgotten: set[int] = set()
        self.rows: list[int] = []
        self.calibration: tuple[int, list[float], float, float] | None = None

    def fold(self, version: int, event: Event) -> None:
        """One more event."""
        match event:
            case ThoughtAdded() if event.dimension is not None:
                self._arrives(version, event)
            case ThoughtEmbedded():
                self._arrives(event.thought, event)
            case ConfigChanged(key="embedding_model"):
                self._begin()
            case ThoughtClustered():
                self.labels[event.thought] = event.cluster
            case ClusterFormed() | ClusterSplit():
                new = event.cluster if isinstance(event, ClusterFormed) else event.into
                self._founded(new)
                self.labels.update(dict.fromkeys(event.members, new))
            case ClusterMerged():
                absorbed = [t for t, c in self.labels.items() if c == event.absorbed]
                self.labels.update(dict.fromkeys(absorbed, event.cluster))
            case ClusteringCalibrated() if self.vectors:
                mean = [n / EVERYTHING / (len(self.vectors) + PRIOR) for n in self.total]
                self.calibration = (event.count, mean, event.scale, event.deviation)

    def _arrives(self, version: int, event: ThoughtAdded | ThoughtEmbedded) -> None:
        if version in self.vectors:
            return
        self.texts[version] = event
        while event.embedding is None:
            event = self.texts[event.embedding_of or 0]
        kind = "e" if len(event.embedding) == 2 * (event.dimension or 0) else "f"
        numbers = struct.unpack(f"<{event.dimension}{kind}", event.embedding)
        whole = [int(n * EVERYTHING) for n in numbers]
        assert [n / EVERYTHING for n in whole] == list(numbers)
        self.vectors[version], self.labels[version] = whole, None
        alone = sorted(self.alone)
        if len(alone) > self.window:
            self.forgotten.add(alone[0])

    def _founded(self, cluster: int) -> None:
        assert cluster > self.highest, "an id was given twice"
        self.highest = cluster
        self.rows.append(cluster)

    @property
    def alone(self) -> set[int]:
        """Those that stand alone, and are not forgotten."""
        return {t for t, c in self.labels.items() if c is None} - self.forgotten

    @property
    def total(self) -> list[int]:
        """The sum of all vectors."""
        return self.sum_of(list(self.vectors))

    @property
    def clusters(self) -> dict[int, list[int]]:
        """The members of each living cluster, oldest first."""
        found: dict[int, list[int]] = {}
        for version, cluster in self.labels.items():
            if cluster is not None:
                found.setdefault(cluster, []).append(version)
        return {cluster: sorted(members) for cluster, members in sorted(found.items())}

    def sum_of(self, members: Sequence[int]) -> list[int]:
        """The exact sum of some vectors."""
        return [sum(column) for column in zip(*(self.vectors[m] for m in members), strict=True)]


def check(stream: Stream, window: int = 10**9) -> Naive:
    """The partition of a stream is what its history says, to the last bit."""
    partition, naive = stream.partition, Naive(stream.history, window)
    assert partition.versions == list(naive.vectors)
    assert partition.count == len(naive.vectors)
    assert {v: partition.label(v) for v in naive.labels} == naive.labels
    assert partition.label(10**9) is None
    assert partition.next_id == naive.highest + 1
    clusters = naive.clusters
    assert {c: sorted(found.members) for c, found in partition.clusters.items()} == clusters
    for cluster, members in clusters.items():
        found, exact = partition.clusters[cluster], naive.sum_of(members)
        assert (found.id, found.size) == (cluster, len(members))
        assert partition.sum_of(cluster).tolist() == [n / EVERYTHING for n in exact]
        assert partition.centroid(cluster).tolist() == [
            n / EVERYTHING / len(members) for n in exact
        ]
        assert partition.at_row(found.row) is found
    if partition.total is not None and naive.vectors:
        assert partition.total.tolist() == [n / EVERYTHING for n in naive.total]
    space = partition.calibration
    assert (space and (space.count, space.mean.tolist(), *space[2:])) == naive.calibration
    _check_tables(partition, naive)
    return naive


def _check_tables(partition: Partition, naive: Naive) -> None:
    alone, centroids, space = partition.alone, partition.centroids, partition.calibration
    assert set(map(int, alone.keys if alone else ())) == naive.alone
    # thoughts that cancel each other out have a middle, but no direction
    rows = {
        partition.clusters[c].row: c
        for c, members in naive.clusters.items()
        if any(naive.sum_of(members))
    }
    assert set(map(int, centroids.keys if centroids else ())) == set(rows)
    for of, whose in ((alone, {v: v for v in naive.alone}), (centroids, rows)):
        assert of is None or sorted(of._place.values()) == list(range(len(of)))
        for key in whose:
            assert of is not None
            exact = (
                np.array(naive.vectors[key]) / EVERYTHING
                if of is alone
                else partition.centroid(whose[key])
            )
            assert of.keys[of._place[key]] == key
            assert of.vector(key).tolist() == exact.astype(np.float32).tolist()
            if space is not None:
                assert abs(float(of._offset[of._place[key]]) - float(exact @ space.mean)) < 1e-6
