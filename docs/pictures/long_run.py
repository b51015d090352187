"""Draws how thinking went: from `mind cluster timeline -n 0 --json` to a picture.

mind cluster timeline -n 0 --json > stages.json
python docs/pictures/long_run.py stages.json docs/pictures/long-run.png
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

SHOWN = 9
"""Clusters with a colour of their own."""


def main() -> None:
    """Read stages, write a picture."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stages = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    figure, (clusters, measures, drafts) = plt.subplots(
        3, 1, figsize=(9, 8), sharex=True, height_ratios=(3, 2, 0.8), layout="constrained"
    )
    iterations = [stage["iteration"] for stage in stages]
    _clusters(clusters, iterations, stages)
    _measures(measures, iterations, stages)
    drafts.eventplot([s["iteration"] for s in stages if s["drafts"]], colors="#333", linewidths=0.8)
    drafts.set_yticks([])
    drafts.set_title("iterations with a draft", loc="left", fontsize=9)
    drafts.set_xlabel("iteration")
    figure.savefig(sys.argv[2], dpi=110)


def _clusters(axes: Any, iterations: list[int], stages: list[dict[str, Any]]) -> None:
    """Thoughts of the pool by cluster, stacked; the busiest clusters in colour."""
    weights: dict[str, int] = {}
    for stage in stages:
        for cluster, size in stage["active"].items():
            weights[cluster] = weights.get(cluster, 0) + size
    largest = sorted(weights, key=lambda c: -weights[c])[:SHOWN]
    largest.sort(key=int)
    rows = [[stage["active"].get(cluster, 0) for stage in stages] for cluster in largest]
    shown = [sum(row[i] for row in rows) for i in range(len(stages))]
    others = [sum(s["active"].values()) - n for s, n in zip(stages, shown, strict=True)]
    alone = [stage["alone"] for stage in stages]
    colours = [*plt.get_cmap("tab10").colors[: len(rows)], "#bbbbbb", "#eeeeee"]
    labels = [*(f"cluster {cluster}" for cluster in largest), "other clusters", "alone"]
    axes.stackplot(iterations, *rows, others, alone, colors=colours, labels=labels)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_title("thoughts of the pool", loc="left", fontsize=9)


def _measures(axes: Any, iterations: list[int], stages: list[dict[str, Any]]) -> None:
    """Mean similarity and effective directions of the newest thoughts."""
    found = [stage["diversity"] or {} for stage in stages]
    axes.plot(iterations, [d.get("similarity") for d in found], color="#b03060")
    axes.set_ylim(0, 1)
    axes.set_ylabel("mean similarity", color="#b03060")
    beside = axes.twinx()
    beside.plot(iterations, [d.get("directions") for d in found], color="#1f6f8b")
    beside.set_ylim(bottom=0)
    beside.set_ylabel("directions", color="#1f6f8b")
    axes.set_title("the newest 100 thoughts", loc="left", fontsize=9)


if __name__ == "__main__":
    main()
