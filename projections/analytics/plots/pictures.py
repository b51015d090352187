"""Charts as matplotlib figures: the same in colour and without, light on paper or dark on a screen.

Only the object interface is used, so that nothing is left behind in matplotlib's global state.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from projections.analytics.plots import ticks
from projections.analytics.plots.charts import NOTHING, Chart, Layout, Trace, laid_out
from projections.analytics.plots.labels import plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SERIES = 8
MOST_BARS = 400
MOST_POINTS = 4000

INK, FAINT, PAPER = "#1b1b1f", "#d4d4d8", "#ffffff"
# told apart by most eyes, three to one against white at least
COLOURS = (
    *("#0072b2", "#c44e00", "#00805e", "#b5448b"),
    *("#8a6500", "#5b4fbf", "#4f5b66", "#0e8aa8"),
)
# and without any colour by these
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.6)), (0, (7, 2, 1.2, 2)))
_POINTS = "osD^vPX*"
_HATCHES = ("", "///", "---", "\\\\\\", "xxx", "|||", "+++", "////")

_LONGEST = 40
_SETTINGS: dict[Any, Any] = {
    # texts stay texts: searched, read aloud, and in any script that the reader has letters for
    "svg.fonttype": "none",
    # the same data give the same bytes
    "svg.hashsalt": "logosphere",
    "text.parse_math": False,
    "axes.formatter.use_mathtext": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "hatch.linewidth": 0.9,
    "path.simplify": True,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def svg(chart: Chart) -> str:
    """The chart as an SVG document, as matplotlib writes it, without its title."""
    with _drawing():
        out = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        _figure(chart, titled=False).savefig(out, format="svg", metadata=nothing, transparent=True)
        return out.getvalue()


def png(chart: Chart) -> bytes:
    """The chart as a picture, dark on white, with its title.

    Raises:
        ValueError: a series has not as many y as x.
    """
    with _drawing():
        out = io.BytesIO()
        _figure(chart, titled=True).savefig(
            out, format="png", dpi=160, facecolor=PAPER, metadata={"Software": None}
        )
        return out.getvalue()


@contextmanager
def _drawing() -> Iterator[None]:
    """Plain matplotlib, whatever the user's own settings say, and only for now."""
    import matplotlib as mpl  # noqa: PLC0415 — only who looks at a chart waits for it

    with mpl.rc_context(), warnings.catch_warnings():
        # the letters of the reader's system draw what those of matplotlib lack
        warnings.filterwarnings("ignore", message=r"Glyph \d+", category=UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def _figure(chart: Chart, *, titled: bool) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415 — see above
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415 — see above

    layout, note = _bounded(chart, laid_out(chart, MOST_SERIES))
    lying = chart.kind in {"bars", "stacked"} and _lies(layout)
    each = len(layout.traces) if chart.kind == "bars" else 1
    height = 3.9
    if lying:
        height = min(max(1.4 + (0.14 + 0.2 * each) * len(layout.categories), 2.2), 60)
    names = [_name(t.name) for t in layout.traces]
    height += 0.19 * (-(-len(names) // _columns(names)) - 1) if names else 0
    figure = Figure(figsize=(8, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.09))
    axes = figure.add_subplot()
    _bare(axes, lying=lying)
    if titled:
        axes.set_title(plain(chart.title, 90), loc="left", fontweight="bold", fontsize=11.5)
    if layout.empty:
        axes.set_axis_off()
        axes.text(0.5, 0.5, NOTHING, ha="center", va="center", transform=axes.transAxes)
        return figure
    if chart.kind in {"bars", "stacked"}:
        handles = _bars(axes, layout, stacked=chart.kind == "stacked", lying=lying)
    else:
        handles = _points(axes, layout, lines=chart.kind == "line")
    _name_axes(axes, chart, layout, lying=lying)
    _legend(figure, handles, chart, layout)
    if note:
        axes.set_xlabel(f"{axes.get_xlabel()}\n{note}".strip())
    return figure


def _bare(axes: Axes, *, lying: bool) -> None:
    """Two axes, and faint lines to read values by."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.set_facecolor("none")
    axes.grid(visible=True, axis="x" if lying else "y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def _bounded(chart: Chart, layout: Layout) -> tuple[Layout, str]:
    """No more bars or points than a reader can tell apart or a browser can draw."""
    notes = [layout.note] if layout.note else []
    xs = layout.xs
    if chart.kind in {"bars", "stacked"} and len(xs) * len(layout.traces) > MOST_BARS:
        most = MOST_BARS // len(layout.traces)
        first = layout.axis == "categories"
        kept = set(xs[:most] if first else xs[-most:])
        notes.append(f"The {'first' if first else 'last'} {most:,} of {len(xs):,} are drawn.")
        traces = [
            Trace(t.name, *_unzipped([p for p in zip(t.x, t.y, strict=True) if p[0] in kept]))
            for t in layout.traces
        ]
        categories = layout.categories[:most]
        layout = layout._replace(traces=tuple(traces), categories=categories)
    points = sum(len(t.x) for t in layout.traces)
    if chart.kind == "scatter" and points > MOST_POINTS:
        every = -(-points // MOST_POINTS)
        notes.append(f"One of {every:,} points is drawn.")
        traces = [Trace(t.name, t.x[::every], t.y[::every]) for t in layout.traces]
        layout = layout._replace(traces=tuple(traces))
    return layout, " ".join(notes)


def _unzipped(
    points: list[tuple[float, float | None]],
) -> tuple[tuple[float, ...], tuple[float | None, ...]]:
    return tuple(x for x, _ in points), tuple(y for _, y in points)


def _lies(layout: Layout) -> bool:
    """Whether the names are too many or too long to stand next to each other."""
    names = [plain(c, _LONGEST) for c in layout.categories]
    return bool(names) and max(map(len, names)) * len(names) > 72


def _points(axes: Axes, layout: Layout, *, lines: bool) -> list[Artist]:
    """Lines or points, and what of them the legend shows."""
    handles: list[Artist] = []
    for n, trace in enumerate(layout.traces):
        ys = [float("nan") if y is None else y for y in trace.y]
        handles += axes.plot(
            trace.x,
            ys,
            color=COLOURS[n],
            linestyle=_DASHES[n % len(_DASHES)] if lines else "none",
            linewidth=1.8,
            marker=_POINTS[n],
            markersize=4.6 if lines else 5.2,
            markeredgecolor=PAPER if lines else COLOURS[n],
            markerfacecolor=COLOURS[n] if lines or n % 2 == 0 else PAPER,
            markeredgewidth=0.6 if lines else 1.2,
            markevery=_marked(trace) if lines else None,
        )
    low, high = min(layout.ys), max(layout.ys)
    if low == high:
        around = max(abs(low) * 0.2, 1.0 if low == int(low) else 0.0)
        axes.set_ylim(low - around, high + around)
    if layout.axis == "numbers" and len(layout.xs) == 1:
        only = layout.xs[0]
        axes.set_xlim(only - max(abs(only), 1.0), only + max(abs(only), 1.0))
    return handles


def _marked(trace: Trace) -> list[int]:
    """Where a line bears its marker: about ten times, and wherever a point has no neighbour."""
    there = [n for n, y in enumerate(trace.y) if y is not None]
    every = max(len(there) // 10, 1)
    alone = [
        n
        for n in there
        if (n == 0 or trace.y[n - 1] is None) and (n + 1 == len(trace.y) or trace.y[n + 1] is None)
    ]
    return sorted({*there[::every], *alone})


def _bars(axes: Axes, layout: Layout, *, stacked: bool, lying: bool) -> list[Artist]:
    """Bars, and what of them the legend shows."""
    from matplotlib.patches import Patch  # noqa: PLC0415 — see above

    handles: list[Artist] = []
    xs = layout.xs
    step = min((b - a for a, b in pairwise(xs)), default=1.0)
    each = 1 if stacked else len(layout.traces)
    size = step * 0.8 / each
    ends: dict[tuple[float, bool], float] = {}
    for n, trace in enumerate(layout.traces):
        there = [(x, y) for x, y in zip(trace.x, trace.y, strict=True) if y is not None]
        starts = [ends.get((x, y > 0), 0.0) if stacked else 0.0 for x, y in there]
        for (x, y), start in zip(there, starts, strict=True):
            ends[x, y > 0] = start + y
        shift = 0.0 if stacked else (n - (each - 1) / 2) * size
        places, ys = [x + shift for x, _ in there], [y for _, y in there]
        look: dict[str, Any] = {
            "facecolor": COLOURS[n],
            "hatch": _HATCHES[n],
            "edgecolor": PAPER,
            "linewidth": 0.7,
        }
        handles.append(Patch(**look))
        if lying:
            axes.barh(places, ys, size, left=starts, **look)
        else:
            axes.bar(places, ys, size, bottom=starts, **look)
    if min(layout.ys) < 0:
        (axes.axvline if lying else axes.axhline)(0, color=INK, linewidth=0.8)
    if lying:
        axes.margins(y=0.4 / max(len(xs), 1))
        axes.invert_yaxis()
    return handles


def _name_axes(axes: Axes, chart: Chart, layout: Layout, *, lying: bool) -> None:
    x_name, y_name = plain(chart.x_label, 80), plain(chart.y_label, 80)
    along, across = (axes.yaxis, axes.xaxis) if lying else (axes.xaxis, axes.yaxis)
    if layout.axis == "times":
        places = ticks.of_times(layout.xs[0], layout.xs[-1], 7)
        along.set_ticks([t.at for t in places], [t.text for t in places])
        span = ticks.span_of_times(layout.xs[0], layout.xs[-1]) + (" UTC" if layout.utc else "")
        x_name = f"{x_name}, {span}" if x_name else span
    elif layout.axis == "categories":
        every = max(len(layout.categories) // 60, 1) if not lying else 1
        shown = range(0, len(layout.categories), every)
        along.set_ticks(shown, [_name(layout.categories[n]) for n in shown])
        along.set_tick_params(length=0)
    elif all(x == int(x) for x in layout.xs):
        _whole(along)
    if all(y == int(y) for y in layout.ys):
        _whole(across)
    along.set_label_text(x_name)
    across.set_label_text(y_name)
    if max(map(abs, layout.ys)) >= 1e4:
        from matplotlib.ticker import EngFormatter  # noqa: PLC0415 — see above

        across.set_major_formatter(EngFormatter(sep=""))


def _whole(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 — see above

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))


def _legend(figure: Figure, handles: list[Artist], chart: Chart, layout: Layout) -> None:
    """The names of the series, below the chart, in as many columns as their length leaves."""
    names = [_name(t.name) for t in layout.traces]
    if len(names) == 1 and layout.traces[0].name in {"", chart.y_label, chart.title}:
        return
    legend = figure.legend(
        handles,
        # some versions leave out names that begin with _, so they are set afterwards
        [str(n) for n in range(len(names))],
        loc="outside lower left",
        ncols=_columns(names),
        frameon=False,
        handlelength=3.2,
        handleheight=1.1,
        labelcolor=INK,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)


def _columns(names: list[str]) -> int:
    """How many names stand next to each other."""
    return max(min(100 // (max(map(len, names)) + 8), len(names)), 1)


def _name(text: object) -> str:
    """A text as a label."""
    return plain(text, _LONGEST) or "—"
