"""Draws how contexts grow, and how they do not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

COLOURS = ("#7fb2d6", "#3f87b8", "#14507d")


class Curve(NamedTuple):
    """A conversation: tokens that were said, and figures of each turn by name."""

    tokens: int
    turns: Sequence[dict[str, Any]]


def picture(curves: Sequence[Curve], most: int, path: Path) -> None:
    """Draw tokens over turns, and below them the artifacts of the longest conversation.

    Args:
        curves: the conversations, the shortest first.
        most: the most tokens that are promised.
        path: where to, svg or png.
    """
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    tokens, artifacts = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    longest = max(curves, key=lambda one: one.tokens).turns
    turns = [turn["turn"] for turn in longest]
    said = [turn["traditional"] for turn in longest]
    tokens.plot(turns, said, color="#999", label="all that was said")
    for one, colour in zip(curves, COLOURS, strict=False):
        shown, numbers = [t["ours"] for t in one.turns], [t["turn"] for t in one.turns]
        label = f"shown, of {round(one.tokens / 1000)},000 tokens"
        tokens.plot(numbers, shown, color=colour, label=label, linewidth=0.9)
    tokens.axhline(most, color="#b03060", linewidth=0.8, linestyle="--", label=f"{most:,}")
    tokens.set_yscale("log")
    tokens.set_title("tokens of the context", loc="left", fontsize=9)
    tokens.legend(fontsize=8)
    for name, label, colour in (
        ("evicted", "evicted so far", "#bbb"),
        ("shelf", "on the shelf", "#3f87b8"),
        ("shown", "shown", "#14507d"),
        ("open_efforts", "open efforts", "#b03060"),
    ):
        artifacts.plot(turns, [turn[name] for turn in longest], color=colour, label=label)
    artifacts.set_title("artifacts of the longest conversation", loc="left", fontsize=9)
    artifacts.set_xlabel("turn of the user")
    artifacts.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    with mpl.rc_context({"svg.hashsalt": "context"}):  # the same picture has the same bytes
        figure.savefig(path, dpi=110, metadata=metadata)
