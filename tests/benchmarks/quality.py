"""How good the clusters are: python -m tests.benchmarks.quality [--quick] [--markdown FILE].

Thoughts of known themes come five an iteration, in several orders. ARI and AMI (0 by chance, 1 at
best) say how well clusters and themes agree; noise counts as clusters of one, and so do texts of
no theme. Rand indices as in Hubert & Arabie (1985), mutual information as in Vinh et al. (2010).
"""

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: many threads only wait here

import numpy as np

from domain.clustering.decide import decide
from domain.clustering.partition import Partition
from domain.clustering.rules import Rules
from domain.clustering.vectors import Arrival, Shelf, Stored, matrix
from tests.benchmarks.figures import Report
from tests.benchmarks.quality_data import SETS, Labelled, labelled, pools
from tests.benchmarks.two_phase import clusters, two_phase

EACH = 5
"""Thoughts of one iteration."""

POOL = 50
"""The newest thoughts, which a mind is shown."""

ORDERS, POOLS = 5, 24
"""Shuffles of each set, and pools drawn from it."""


class Outcome(NamedTuple):
    """What an algorithm made of a stream of thoughts."""

    labels: list[int | None]
    """The cluster of each thought at the end; None where it stands alone."""
    changes: int = 0
    """How often a thought that had a cluster lost it, or found itself in another."""


Algorithm = Callable[[Sequence[Stored]], Outcome]


def labels_over_time(vectors: Sequence[Stored], rules: Rules) -> Outcome:
    """Let our clustering decide about thoughts as they come."""
    partition = Partition(Shelf(lambda _: ()))
    labels: dict[int, int | None] = {}
    changes = 0
    for start in range(0, len(vectors), EACH):
        batch = vectors[start : start + EACH]
        arrivals = [Arrival(version, one) for version, one in enumerate(batch, start + 1)]
        last = start + len(batch)
        active = frozenset(range(max(0, last - POOL) + 1, last + 1))
        decided = decide(partition, arrivals, rules, active)
        for version, stored in arrivals:
            partition.add(version, stored)
        for event in decided:
            partition.apply(event)
        now = {version: partition.label(version) for version in range(1, last + 1)}
        changes += sum(was is not None and now[version] != was for version, was in labels.items())
        labels = now
    return Outcome(list(labels.values()), changes)


def ours(rules: Rules) -> Algorithm:
    """Our clustering under some settings."""
    return lambda vectors: labels_over_time(vectors, rules)


def batch(samples: int) -> Algorithm:
    """HDBSCAN on all thoughts at once, which no online algorithm gets to see."""

    def algorithm(vectors: Sequence[Stored]) -> Outcome:
        labels: list[int | None] = [None] * len(vectors)
        rows = matrix(vectors)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)  # float16 rounds their length
        for name, group in enumerate(clusters(rows, 3, samples)):
            for place in group:
                labels[place] = name
        return Outcome(labels)

    return algorithm


ALGORITHMS: dict[str, Algorithm] = {
    "online": ours(Rules()),
    "online, granularity=1.5": ours(Rules(granularity=1.5)),
    "online, stability=strict": ours(Rules(strict=True)),
    "online, founder=hdbscan": ours(Rules(founder="hdbscan")),
    "compatible": ours(Rules(mode="compatible")),
    "batch HDBSCAN, 3 samples": batch(3),
    "batch HDBSCAN, 1 sample": batch(1),
}


@dataclass(frozen=True)
class Score:
    """How an algorithm did: means over orders or pools."""

    algorithm: str
    where: str
    ari: float
    ami: float
    noise: float
    """Share of thoughts that stand alone at the end."""
    clusters: float
    order: float
    """Mean ARI between the labels of two orders: 1 where the order does not matter."""
    changes: float
    """Changes of cluster per thought."""


MEASURES = ("ari", "ami", "noise", "clusters", "order", "changes")


@dataclass
class Quality:
    """All scores of a run."""

    sets: list[Labelled] = field(default_factory=list)
    streams: list[Score] = field(default_factory=list)
    pools: list[Score] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """The scores as Markdown tables."""
        lines = ["### Sets", "", "| set | texts | themes | of no theme | visible |"]
        lines.append("|---|---:|---:|---:|---:|")
        lines += [
            f"| {s.name} | {len(s.truth)} | {s.themes} | {s.outliers} | {s.visible:.2f} |"
            for s in self.sets
        ]
        lines += ["", "Visible: texts whose nearest neighbour has the same theme.", ""]
        lines += ["### Streams", "", *_table(self.streams, MEASURES), ""]
        lines += ["### Pools of 50", "", *_table(self.pools, MEASURES[:4]), ""]
        lines += [f"* {remark}" for remark in self.remarks]
        return "\n".join(lines) + "\n"

    def save(self, path: Path) -> None:
        """Write everything as JSON."""
        told = {
            "streams": [asdict(score) for score in self.streams],
            "pools": [asdict(score) for score in self.pools],
            "remarks": self.remarks,
        }
        path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def quality(
    report: Quality,
    names: Sequence[str] = SETS,
    *,
    orders: int = ORDERS,
    drawn: int = POOLS,
    algorithms: dict[str, Algorithm] = ALGORITHMS,
) -> None:
    """Score algorithms on sets, and on pools drawn from them.

    Raises:
        EmbedderMissing: the local embedder is not there.
    """
    report.sets = [labelled(name) for name in names]
    for name, algorithm in algorithms.items():
        scores = [streamed(name, algorithm, one, orders) for one in report.sets]
        report.streams += [*scores, _mean(scores, name, "mean")]
        if drawn:
            found = [pooled(name, algorithm, one, drawn) for one in report.sets]
            report.pools += [*found, _mean(found, name, "mean")]
    same, runs = agreement(report.sets, orders)
    report.remarks.append(f"compatible equals the two phases written apart in {same} of {runs}.")


def streamed(name: str, algorithm: Algorithm, whole: Labelled, orders: int) -> Score:
    """Score an algorithm on a set that comes in several orders."""
    scores: list[Score] = []
    sorted_back: list[list[int]] = []
    for seed in range(orders):
        stream, order = whole.shuffled(seed)
        outcome = algorithm(stream.stored)
        scores.append(scored(name, whole.name, stream, outcome))
        found = dict(zip(order, alone(outcome.labels), strict=True))
        sorted_back.append([found[place] for place in range(len(order))])
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415 — takes a second to import

    pairs = [adjusted_rand_score(a, b) for a, b in itertools.combinations(sorted_back, 2)]
    stable = float(np.mean(pairs)) if pairs else 1.0
    return _mean(scores, name, whole.name, order=stable)


def pooled(name: str, algorithm: Algorithm, whole: Labelled, count: int) -> Score:
    """Score an algorithm on pools of 50."""
    scores = [scored(name, whole.name, p, algorithm(p.stored)) for p in pools(whole, count)]
    return _mean(scores, name, whole.name)


def scored(name: str, where: str, stream: Labelled, outcome: Outcome) -> Score:
    """Score one outcome."""
    labels, count = alone(outcome.labels), len(outcome.labels)
    from sklearn.metrics import (  # noqa: PLC0415 — as above
        adjusted_mutual_info_score,
        adjusted_rand_score,
    )

    return Score(
        algorithm=name,
        where=where,
        ari=float(adjusted_rand_score(stream.truth, labels)),
        ami=float(adjusted_mutual_info_score(stream.truth, labels)),
        noise=outcome.labels.count(None) / count,
        clusters=len(set(outcome.labels) - {None}),
        order=1.0,
        changes=outcome.changes / count,
    )


def alone(labels: Sequence[int | None]) -> list[int]:
    """Labels in which each thought that stands alone is a cluster of its own."""
    return [-1 - place if label is None else label for place, label in enumerate(labels)]


def agreement(sets: Iterable[Labelled], orders: int) -> tuple[int, int]:
    """In how many runs the compatible mode gives what the two phases written apart give."""
    streams = [one.shuffled(seed)[0] for one in sets for seed in range(orders)]
    return sum(
        labels_over_time(one.stored, Rules(mode="compatible")).labels == two_phase(one.rows)
        for one in streams
    ), len(streams)


def main(arguments: list[str] | None = None) -> int:
    """Score, and print tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.quality", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="two orders, six pools, no speed")
    parser.add_argument("--only", choices=SETS, action="append", help="a set; may be repeated")
    parser.add_argument("--no-speed", action="store_true", help="leave out how long it takes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the scores there too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    wanted = parser.parse_args(arguments)
    began, found, speed = time.monotonic(), Quality(), Report()
    orders, drawn = (2, 6) if wanted.quick else (ORDERS, POOLS)
    quality(found, wanted.only or SETS, orders=orders, drawn=drawn)
    if not wanted.quick and not wanted.no_speed:
        from tests.benchmarks import quality_speed  # noqa: PLC0415 — rarely needed

        quality_speed.measure(speed)
    found.remarks.append(f"Took {time.monotonic() - began:.0f} s.")
    told = found.markdown() + ("\n" + speed.markdown() if speed.figures else "")
    print(told)
    if wanted.json:
        found.save(wanted.json)
    if wanted.markdown:
        wanted.markdown.write_text(told, encoding="utf-8")
    return 0


def _mean(
    scores: Sequence[Score], algorithm: str, where: str, *, order: float | None = None
) -> Score:
    means = {m: float(np.mean([getattr(score, m) for score in scores])) for m in MEASURES}
    if order is not None:
        means["order"] = order
    return Score(algorithm, where, **means)


def _table(scores: Sequence[Score], measures: Sequence[str]) -> list[str]:
    header = [name.upper() if len(name) == 3 else name for name in measures]
    lines = [f"| algorithm | set | {' | '.join(header)} |", "|---|---|" + "---:|" * len(header)]
    for score in scores:
        cells = [score.algorithm, score.where, *(_cell(score, name) for name in measures)]
        if score.where == "mean":
            cells = [f"**{cell}**" for cell in cells]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(score: Score, measure: str) -> str:
    value = getattr(score, measure)
    if measure == "clusters":
        return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
    return f"{value:.3f}" if measure in {"ari", "ami"} else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
