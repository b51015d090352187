"""Charts in a terminal: readable without colour, within the columns and lines there are."""

import textwrap

from projections.analytics.plots.charts import NOTHING, Chart, Layout, laid_out
from projections.analytics.plots.labels import columns, fitted
from projections.analytics.plots.paint import MOST_SERIES, Paint, paint_for
from projections.analytics.plots.plane import plane
from projections.analytics.plots.rows import rows

NARROWEST, WIDEST = 20, 300
LOWEST, HIGHEST = 12, 200


def drawn(chart: Chart, width: int, height: int, *, colour: bool) -> str:
    """The chart in so many columns and lines at most, from 20 by 12 on.

    Each series has a marker of its own, which the legend shows, with colour and without.

    Raises:
        ValueError: a series has not as many y as x.
    """
    width = min(max(width, NARROWEST), WIDEST)
    height = min(max(height, LOWEST), HIGHEST)
    layout = laid_out(chart, MOST_SERIES)
    paint = paint_for(chart, len(layout.traces), colour=colour)
    title = [paint.strong(fitted(chart.title, width))] if chart.title.strip() else []
    if layout.empty:
        return "\n".join([*title, *textwrap.wrap(NOTHING, width)])
    notes = textwrap.wrap(layout.note, width) if height > LOWEST else []
    legend = []
    if len(layout.traces) > 1 or layout.traces[0].name not in {"", chart.y_label, chart.title}:
        legend = _legend(layout, width, (height - len(notes)) // 3, paint)
    room = height - len(title) - len(legend) - len(notes)
    lying = chart.kind in {"bars", "stacked"} and layout.axis == "categories"
    body = (rows if lying else plane)(chart, layout, width, room, paint)
    return "\n".join(line.rstrip() for line in [*title, *legend, *body, *notes])


def _legend(layout: Layout, width: int, height: int, paint: Paint) -> list[str]:
    """A marker and a name for each series, as many on a line as fit."""
    longest = max(columns(fitted(t.name, width)) for t in layout.traces)
    while True:
        lines: list[str] = [""]
        used = 0
        for n, trace in enumerate(layout.traces):
            name = fitted(trace.name, min(longest, width - 2)) or "—"
            size = columns(name) + 2
            if used and used + 3 + size > width:
                lines.append("")
                used = 0
            lines[-1] += ("   " if used else "") + f"{paint.series(n, paint.marks[n])} {name}"
            used += size + (3 if used else 0)
        if len(lines) <= height or longest <= 2:
            return lines[: max(height, 1)]
        longest = longest * 3 // 4
