"""What a report draws: charts as data, before anything is said about paper or terminals."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple

Kind = Literal["line", "bars", "stacked", "scatter"]
Axis = Literal["numbers", "times", "categories"]

NOTHING = "Nothing to draw: there is no value yet."

# beyond it, differences drown in what floating point can't tell apart, and ranges overflow
_HUGE = 1e200


class Series(NamedTuple):
    """One line, one colour of bars, one cloud of points."""

    name: str
    x: tuple[Any, ...]
    """Numbers, dates and times, or texts: the same sort in all series of a chart."""
    y: tuple[float | None, ...]
    """As many as ``x``; None and NaN are gaps."""


class Chart(NamedTuple):
    """One picture."""

    title: str
    kind: Kind
    x_label: str
    y_label: str
    series: tuple[Series, ...]


class Table(NamedTuple):
    """Numbers to be read, each row as long as ``columns``."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Trace(NamedTuple):
    """A series as it is drawn: ``x`` are numbers, without NaN, in order unless scattered."""

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]

    def stretches(self) -> list[list[tuple[float, float]]]:
        """The points between the gaps."""
        found: list[list[tuple[float, float]]] = [[]]
        for x, y in zip(self.x, self.y, strict=True):
            if y is not None:
                found[-1].append((x, y))
            elif found[-1]:
                found.append([])
        return [points for points in found if points]


class Layout(NamedTuple):
    """A chart with its texts, times and numbers put on one axis."""

    axis: Axis
    categories: tuple[Any, ...]
    """What stands at x = 0, 1, 2 and so on; empty on an axis of numbers or times."""
    utc: bool
    """Whether the times are of UTC; else they are local, as they came."""
    traces: tuple[Trace, ...]
    note: str
    """What of the chart is not drawn, or is added up; empty when all is there."""

    @property
    def empty(self) -> bool:
        """Whether there is no point at all."""
        return all(y is None for t in self.traces for y in t.y)

    @property
    def xs(self) -> list[float]:
        """All x in order, each once."""
        return sorted({x for t in self.traces for x in t.x})

    @property
    def ys(self) -> list[float]:
        """All y that are there."""
        return [y for t in self.traces for y in t.y if y is not None]


def checked(chart: Chart) -> Chart:
    """The chart, if every series has as many y as x.

    Raises:
        ValueError: it has not, or the kind of chart is unknown.
    """
    if chart.kind not in {"line", "bars", "stacked", "scatter"}:
        raise ValueError(f"No chart is of kind {chart.kind!r}: use line, bars, stacked or scatter.")
    for series in chart.series:
        if len(series.x) != len(series.y):
            raise ValueError(
                f"Series {series.name!r} has {len(series.x)} x and {len(series.y)} y:"
                " give as many of both."
            )
    return chart


def laid_out(chart: Chart, room: int) -> Layout:
    """The chart on its axis, with at most so many series.

    Of more, the largest stay; a stack adds up the others, other charts leave them out.

    Raises:
        ValueError: a series has not as many y as x.
    """
    checked(chart)
    given = [x for s in chart.series for x in s.x if x is not None]
    axis = _axis(given)
    place, categories = _places(axis, chart)
    ordered = chart.kind != "scatter"
    traces = [_trace(s, place, ordered=ordered) for s in chart.series]
    if chart.kind in {"bars", "stacked"}:
        traces = [_summed(t.name, [t]) for t in traces]
    traces, note = _folded(traces, room, added=chart.kind == "stacked")
    utc = any(isinstance(x, datetime) and x.tzinfo is not None for x in given)
    return Layout(axis, categories, utc, tuple(traces), note)


def numbers(chart: Chart) -> Table:
    """The points of a chart as a table: a row for each x, a column for each series."""
    xs = list(dict.fromkeys(x for s in checked(chart).series for x in s.x))
    cells: dict[Any, list[list[Any]]] = {x: [[] for _ in chart.series] for x in xs}
    for column, series in enumerate(chart.series):
        for x, y in zip(series.x, series.y, strict=True):
            cells[x][column].append(_number(y))
    rows: list[tuple[Any, ...]] = []
    for x, found in cells.items():
        # points of a scatter share an x: one row each
        rows.extend(
            (x, *(ys[n] if n < len(ys) else None for ys in found))
            for n in range(max(map(len, found)))
        )
    return Table(chart.title, (chart.x_label, *(s.name for s in chart.series)), tuple(rows))


def _axis(given: Sequence[Any]) -> Axis:
    if given and all(isinstance(x, date) for x in given):
        return "times"
    if all(_number(x) is not None or isinstance(x, float) for x in given):
        return "numbers"
    return "categories"


def _places(axis: Axis, chart: Chart) -> tuple[Callable[[Any], float | None], tuple[Any, ...]]:
    """How to find the place of an x, and the categories that stand at 0, 1, 2 and so on."""
    if axis == "times":
        return _seconds, ()
    if axis == "numbers":
        return _number, ()
    order: dict[Any, int] = {}
    for series in chart.series:
        for x in series.x:
            order.setdefault(x, len(order))
    return order.__getitem__, tuple(order)


def _seconds(at: date | None) -> float | None:
    """Seconds since 1970; times without a zone count as if they were of UTC."""
    if at is None:
        return None
    if not isinstance(at, datetime):
        at = datetime(at.year, at.month, at.day, tzinfo=UTC)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _number(value: Any) -> float | None:
    """What can be drawn, from whatever number a database gives."""
    if value is None or isinstance(value, str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and abs(number) < _HUGE else None


def _trace(series: Series, place: Callable[[Any], float | None], *, ordered: bool) -> Trace:
    points = [
        (at, _number(y))
        for x, y in zip(series.x, series.y, strict=True)
        if (at := place(x)) is not None
    ]
    if ordered:
        points.sort(key=lambda point: point[0])
    return Trace(series.name, tuple(x for x, _ in points), tuple(y for _, y in points))


def _folded(traces: list[Trace], room: int, *, added: bool) -> tuple[list[Trace], str]:
    if len(traces) <= room:
        return traces, ""
    kept = room - 1 if added else room
    size = {n: _size(t) for n, t in enumerate(traces)}
    large = sorted(sorted(size, key=lambda n: (-size[n], n))[:kept])
    stay = [traces[n] for n in large]
    rest = [t for n, t in enumerate(traces) if n not in large]
    if not added:
        return stay, f"The {kept} largest of {len(traces)} series are drawn."
    name = f"others ({len(rest)})"
    return [*stay, _summed(name, rest)], f"{name}: the smallest of {len(traces)} series, added up."


def _size(trace: Trace) -> float:
    return sum(abs(y) for y in trace.y if y is not None)


def _summed(name: str, traces: Sequence[Trace]) -> Trace:
    """One y for each x: bars at the same place stand on each other."""
    total: dict[float, float | None] = {}
    for trace in traces:
        for x, y in zip(trace.x, trace.y, strict=True):
            before = total.get(x)
            total[x] = before if y is None else y + (before or 0.0)
    order = sorted(total)
    return Trace(name, tuple(order), tuple(total[x] for x in order))
