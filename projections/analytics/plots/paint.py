"""Marks and colours of a chart in a terminal: each series has one of both."""

from typing import NamedTuple

from projections.analytics.plots.charts import Chart

# letters that every terminal has; no two look alike where they meet
MARKERS = "*o+x#@=%"
# what bars are filled with
FILLS = "█░#=+o:~"
# a line that is alone is drawn with four dots in a cell; this is how it looks
FINE = "▞"
POINT = "*"
MOST_SERIES = len(MARKERS)
# of the sixteen colours that each terminal has its own shades for: as plotext calls them, as SGR
_COLOURS = (
    *(("blue+", 94), ("orange", 33), ("green", 32), ("magenta+", 95)),
    *(("cyan", 36), ("red+", 91), ("gray", 90), ("magenta", 35)),
)


class Paint(NamedTuple):
    """What to draw with."""

    marks: str
    """One for each series."""
    colour: bool

    def series(self, n: int, text: str) -> str:
        """The text in the colour of a series."""
        return self._styled(text, _COLOURS[n][1])

    def strong(self, text: str) -> str:
        """The text, standing out."""
        return self._styled(text, 1)

    def faint(self, text: str) -> str:
        """The text, standing back."""
        return self._styled(text, 2)

    def name(self, n: int) -> str:
        """The colour of a series as plotext calls it."""
        return _COLOURS[n][0] if self.colour else "default"

    def _styled(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def paint_for(chart: Chart, traces: int, *, colour: bool) -> Paint:
    """What a chart of so many series is drawn with."""
    if chart.kind in {"bars", "stacked"}:
        return Paint(FILLS, colour)
    if chart.kind == "line" and traces == 1:
        return Paint(FINE, colour)
    return Paint(MARKERS, colour)
