"""Points, lines and columns between two axes, drawn by plotext in a terminal's cells."""

import textwrap
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from projections.analytics.plots import ticks
from projections.analytics.plots.charts import Chart, Layout
from projections.analytics.plots.labels import columns, fitted
from projections.analytics.plots.paint import FINE, POINT, Paint
from projections.analytics.plots.ticks import Tick

# stands behind a letter that takes two columns: one cell of plotext is one column
_SECOND_HALF = "\ue000"
_RESET = "\x1b[0m"


class _View(NamedTuple):
    """What of the plane is seen, and the texts at its edges."""

    left: float
    right: float
    low: float
    high: float
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def plane(chart: Chart, layout: Layout, width: int, height: int, paint: Paint) -> list[str]:
    """The chart in so many columns and lines, with the names of its axes; the layout has values."""
    head = [paint.faint(fitted(chart.y_label, width))] if chart.y_label.strip() else []
    foot = [paint.faint(_centred(n, width)) for n in _x_names(chart, layout, width)]
    rows = height - len(head) - len(foot)
    low, high = _y_range(chart, layout)
    y_ticks = _y_ticks(layout, low, high, rows)
    inner = width - 1 - max(len(t.text) for t in y_ticks)
    if chart.kind in {"bars", "stacked"}:
        slots = _Slots(chart, layout, inner)
        if slots.note:
            notes = textwrap.wrap(slots.note, width)
            foot += notes
            rows -= len(notes)
        view = _View(0, inner - 1, low, high, slots.ticks(layout), y_ticks)
        shapes = [
            ([(x, a), (x, b)], n) for n, x, a, b in slots.bars(stacked=chart.kind == "stacked")
        ]
    else:
        left, right = _padded(layout.xs[0], layout.xs[-1])
        view = _View(left, right, low, high, _x_ticks(layout, left, right, inner), y_ticks)
        shapes = [
            (_thinned(s, left, right, inner) if chart.kind == "line" else s, n)
            for n, t in enumerate(layout.traces)
            for s in t.stretches()
        ]
    return [*head, *_canvas(view, shapes, width, rows, paint, lines=chart.kind != "scatter"), *foot]


def _canvas(
    view: _View,
    shapes: list[tuple[list[tuple[float, float]], int]],
    width: int,
    height: int,
    paint: Paint,
    *,
    lines: bool,
) -> list[str]:
    """Lines or points in a frame of ticks."""
    import plotext  # noqa: PLC0415 — only who looks at a chart waits for it

    # a figure of our own: that of the module belongs to whoever else draws in this process
    monitor: Any = type(plotext.active())().monitor
    monitor.set_theme("clear")
    monitor.set_xaxes(lower=True, upper=False)
    monitor.set_yaxes(left=True, right=False)
    monitor.set_size([width, height])
    monitor.set_xlim(view.left, view.right)
    monitor.set_ylim(view.low, view.high)
    for points, n in shapes:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        # four dots in a cell draw a finer line, but a point that nobody sees
        mark = paint.marks[n] if paint.marks != FINE else "hd" if len(points) > 1 else POINT
        monitor.draw(xs, ys, lines=lines, marker=mark, color=paint.name(n))
    # set_xticks would put them in an order of its own, and drop others each time
    monitor.xticks[0] = [t.at for t in view.x_ticks]
    monitor.xlabels[0] = [_cells(t.text) for t in view.x_ticks]
    monitor.yticks[0] = [t.at for t in view.y_ticks]
    monitor.ylabels[0] = [t.text for t in view.y_ticks]
    monitor.build_plot()
    monitor.matrix.set_canvas()
    text: str = monitor.matrix.get_canvas()
    text = text.replace(_SECOND_HALF, "")
    # plotext ends each line with a reset, of colours that there may not be
    end = _RESET if paint.colour else ""
    return [line.removesuffix(_RESET).rstrip() + end for line in text.splitlines()]


class _Slots:
    """Columns that stand side by side: where, how broad, and which are left out."""

    def __init__(self, chart: Chart, layout: Layout, inner: int) -> None:
        xs = layout.xs
        self.traces = layout.traces
        self.each = 1 if chart.kind == "stacked" else len(layout.traces)
        most = inner // self.each
        self.note = ""
        if len(xs) > most:
            self.note = f"The last {most:,} of {len(xs):,} are drawn."
            xs = xs[-most:]
        self.step = min((b - a for a, b in pairwise(xs)), default=1.0)
        span = (xs[-1] - xs[0]) / self.step
        # true to scale where gaps have room, side by side where they have not
        scaled = span + 1 <= most
        self.place = {x: round((x - xs[0]) / self.step) if scaled else n for n, x in enumerate(xs)}
        self.count = max(self.place.values()) + 1
        self.size = min(inner // self.count, 12)
        self.bar = max((self.size - (self.size > self.each)) // self.each, 1)
        self.inner = inner

    def bars(self, *, stacked: bool) -> list[tuple[int, float, float, float]]:
        """Series, column, and from where to where, those that lie in front last."""
        found: list[tuple[int, float, float, float]] = []
        ends: dict[tuple[float, bool], float] = {}
        for n, trace in enumerate(self.traces):
            for x, y in zip(trace.x, trace.y, strict=True):
                if y is None or y == 0 or x not in self.place:
                    continue
                start = ends.get((x, y > 0), 0.0) if stacked else 0.0
                ends[x, y > 0] = start + y
                first = self.place[x] * self.size + (0 if stacked else n * self.bar)
                found += [(n, float(first + i), 0.0, start + y) for i in range(self.bar)]
        return list(reversed(found)) if stacked else found

    def ticks(self, layout: Layout) -> list[Tick]:
        """A text under every column, or under each second, third and so on."""
        middle = {x: p * self.size + self.bar * self.each // 2 for x, p in self.place.items()}
        if layout.axis == "times":
            texts = {x: ticks.time_of(x, self.step) for x in middle}
        else:
            texts = {x: ticks.number(x) for x in middle}
        return _spaced([Tick(at, texts[x]) for x, at in middle.items()], self.inner)


def _y_range(chart: Chart, layout: Layout) -> tuple[float, float]:
    """From the lowest to the highest value, with zero where lengths are compared."""
    if chart.kind == "stacked":
        ends: dict[tuple[float, bool], float] = {}
        for trace in layout.traces:
            for x, y in zip(trace.x, trace.y, strict=True):
                if y is not None:
                    ends[x, y > 0] = ends.get((x, y > 0), 0.0) + y
        return _padded(min(0.0, *ends.values()), max(0.0, *ends.values()))
    ys = layout.ys
    if chart.kind == "bars":
        return _padded(min(0.0, *ys), max(0.0, *ys))
    return _padded(min(ys), max(ys))


def _y_ticks(layout: Layout, low: float, high: float, rows: int) -> list[Tick]:
    ys = layout.ys
    if low < min(ys) == max(ys) < high:
        return [Tick(ys[0], ticks.number(ys[0]))]
    return ticks.of_numbers(low, high, max(min((rows - 2) // 2, 7), 2))


def _padded(low: float, high: float) -> tuple[float, float]:
    """The two, or something around them where they are one."""
    if high > low:
        return low, high
    around = abs(low) * 0.1 or 1.0
    return low - around, high + around


def _x_ticks(layout: Layout, left: float, right: float, inner: int) -> list[Tick]:
    if layout.axis == "categories":
        count = len(layout.categories)
        room = max(inner // max(min(count, inner // 12), 1) - 1, 3)
        found = [Tick(n, fitted(c, room)) for n, c in enumerate(layout.categories)]
        return _spaced(found, inner, (left, right))
    if layout.xs[0] == layout.xs[-1]:
        only = layout.xs[0]
        times = layout.axis == "times"
        return [Tick(only, ticks.time_of(only, 1) if times else ticks.number(only))]
    make: Callable[[float, float, int], list[Tick]]
    make = ticks.of_times if layout.axis == "times" else ticks.of_numbers
    for most in range(min(inner // 4, 12), 1, -1):
        found = make(left, right, most)
        if found == _spaced(found, inner, (left, right)):
            return found
    return make(left, right, 1)


def _spaced(found: list[Tick], inner: int, view: tuple[float, float] | None = None) -> list[Tick]:
    """Each of the ticks, or each second, third … so that no two texts touch."""
    left, right = view or (0, inner - 1)
    scale = (inner - 1) / (right - left)
    for every in range(1, len(found) + 1):
        some = found[::every]
        free = -1.0
        for tick in some:
            half = columns(tick.text) / 2
            at = min(max((tick.at - left) * scale, half), inner - half)
            if at - half < free:
                break
            free = at + half + 1
        else:
            return some
    return found[:1]


def _thinned(
    points: list[tuple[float, float]], left: float, right: float, inner: int
) -> list[tuple[float, float]]:
    """A line that looks the same: of what falls into one half column, the ends and the extremes."""
    if len(points) <= 8 * inner:
        return points
    kept: list[tuple[float, float]] = []
    cell: list[tuple[float, float]] = []
    scale = 2 * inner / (right - left)
    for point in [*points, None]:
        if point is None or (
            cell and int((point[0] - left) * scale) != int((cell[0][0] - left) * scale)
        ):
            low, high = (f(cell, key=lambda p: p[1]) for f in (min, max))
            kept += sorted({cell[0], low, high, cell[-1]}, key=cell.index)
            cell = []
        if point is not None:
            cell.append(point)
    return kept


def _x_names(chart: Chart, layout: Layout, width: int) -> list[str]:
    """What the axis says of itself: its name, and for times, which."""
    name = fitted(chart.x_label, width)
    if layout.axis != "times":
        return [name] if name else []
    xs = layout.xs
    span = ticks.span_of_times(xs[0], xs[-1])
    full = f"{span} UTC" if layout.utc else span
    for text in (f"{name}, {full}" if name else full, full):
        if columns(text) <= width:
            return [text]
    return [fitted(span, width)]


def _centred(text: str, width: int) -> str:
    return " " * max((width - columns(text)) // 2, 0) + text


def _cells(text: str) -> str:
    """The text with as many letters as it takes columns."""
    return "".join(c + (_SECOND_HALF if size == 2 else "") for c in text if (size := columns(c)))
