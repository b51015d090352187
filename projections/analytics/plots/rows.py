"""Bars that lie: a row for each category and series, its value behind it."""

from collections.abc import Sequence

from projections.analytics.plots.charts import Chart, Layout
from projections.analytics.plots.labels import columns, fitted, padded
from projections.analytics.plots.paint import Paint
from projections.analytics.plots.ticks import number

_NO_VALUE = "–"
_SHORTEST = 4


def rows(chart: Chart, layout: Layout, width: int, height: int, paint: Paint) -> list[str]:
    """The bars of a chart over categories, in so many columns and lines at most."""
    values = [dict(zip(t.x, t.y, strict=True)) for t in layout.traces]
    stacked = chart.kind == "stacked"
    each = 1 if stacked else len(values)
    names = [n for n in (chart.y_label.strip(), chart.x_label.strip()) if n]
    head = [paint.faint(fitted(" by ".join(names), width))] if names else []
    places = [float(n) for n in range(len(layout.categories))]
    fit = max((height - len(head)) // each, 1)
    tail = []
    if len(places) > fit:
        fit = max((height - len(head) - 1) // each, 1)
        tail = [fitted(f"… and {len(places) - fit:,} more", width)]
        places = places[:fit]
    spaced = each > 1 and len(places) * (each + 1) - 1 + len(head) + len(tail) <= height
    longest = width // 3
    label = min(max(columns(fitted(layout.categories[int(p)], width)) for p in places), longest)
    ends = {p: [v.get(p) for v in values] for p in places}
    texts = {p: _texts(found, longest, stacked=stacked) for p, found in ends.items()}
    value = max(len(t) for ts in texts.values() for t in ts)
    label = min(label, width - value - 2 - _SHORTEST)
    room = width - label - 2 - value
    scale = _Scale([_extent(found, stacked=stacked) for found in ends.values()], room)
    out = []
    for p in places:
        name = layout.categories[int(p)]
        if stacked:
            out.append(f"{padded(name, label)} {scale.stack(ends[p], paint)} {texts[p][0]}")
            continue
        for n, y in enumerate(ends[p]):
            start = padded(name if n == 0 else "", label)
            out.append(f"{start} {scale.bar(n, y, paint)} {texts[p][n]}")
        if spaced:
            out.append("")
    out = out[:-1] if spaced else out
    if len(head) + len(out) + len(tail) > height:  # one category of many series may fill it
        head = []
    return [*head, *out, *tail][:height]


class _Scale:
    """From values to columns, around a zero that all rows share."""

    def __init__(self, extents: list[tuple[float, float]], room: int) -> None:
        low, high = min(a for a, _ in extents), max(b for _, b in extents)
        span = (high - low) or 1.0
        self.below = round(-low / span * room) if low < 0 else 0
        if low < 0:
            self.below = min(max(self.below, 1), room - (high > 0))
        self.unit = span / room
        self.room = room

    def bar(self, n: int, value: float | None, paint: Paint) -> str:
        """One bar, from zero on, at least a column long unless it is nothing."""
        return self.stack([*[None] * n, value], paint)

    def stack(self, values: Sequence[float | None], paint: Paint) -> str:
        """Bars that follow each other, the negative ones to the left; all the room."""
        left = self._side(values, -1, self.below)
        right = self._side(values, 1, self.room - self.below)
        cells = [*reversed(left), *right]
        painted, start = "", 0
        for at in range(1, len(cells) + 1):
            if at == len(cells) or cells[at] != cells[start]:
                n = cells[start]
                run = at - start
                painted += " " * run if n is None else paint.series(n, paint.marks[n] * run)
                start = at
        return painted

    def _side(self, values: Sequence[float | None], sign: int, room: int) -> list[int | None]:
        cells: list[int | None] = []
        total = 0.0
        for n, value in enumerate(values):
            if value is not None and value * sign > 0:
                total += value * sign
                end = min(max(round(total / self.unit), 1), room)
                cells += [n] * (end - len(cells))
        return [*cells, *[None] * (room - len(cells))]


def _extent(values: list[float | None], *, stacked: bool) -> tuple[float, float]:
    there = [v for v in values if v is not None]
    if not stacked:
        return min([0.0, *there]), max([0.0, *there])
    return sum(v for v in there if v < 0), sum(v for v in there if v > 0)


def _texts(values: list[float | None], longest: int, *, stacked: bool) -> list[str]:
    if not stacked:
        return [_NO_VALUE if v is None else _said(v, longest) for v in values]
    there = [v for v in values if v is not None]
    return [_said(sum(there), longest) if there else _NO_VALUE]


def _said(value: float, longest: int) -> str:
    text = number(value)
    return text if len(text) <= longest else f"{value:.1g}"
