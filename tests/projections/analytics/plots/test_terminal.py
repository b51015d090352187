"""Charts in a terminal fit, obey nobody, and need no colour."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projections.analytics.plots.charts import NOTHING, Chart, Series
from projections.analytics.plots.labels import columns
from projections.analytics.plots.paint import FILLS, MARKERS
from projections.analytics.plots.terminal import drawn
from tests.projections.analytics.plots.samples import KINDS, chart, days, edges, hostile, usual

_COLOUR = re.compile(r"\x1b\[(\d+(;\d+)*)?m")


def lines(picture: str, width: int, height: int) -> list[str]:
    """The lines of a chart without its colours, which fit."""
    found = _COLOUR.sub("", picture).split("\n")
    assert len(found) <= max(height, 12)
    for line in found:
        assert columns(line) <= max(width, 20), line
        assert not any(c < " " or "\x7f" <= c <= "\x9f" for c in line), repr(line)
        assert "\ue000" not in line
    return found


@pytest.mark.parametrize("width", [1, 20, 21, 40, 79, 80, 120, 300])
@pytest.mark.parametrize("height", [5, 12, 24, 60])
def test_what_reports_draw_fits_any_terminal(width: int, height: int) -> None:
    """From a narrow pane to a wall."""
    for sample in usual():
        lines(drawn(sample, width, height, colour=False), width, height)


@pytest.mark.parametrize(
    "sample", edges(), ids=lambda c: f"{c.kind}-{[s.name for s in c.series][:1]}"
)
def test_every_edge_is_drawn(sample: Chart) -> None:
    """One point, none, the same again, gaps, centuries, thousands: a chart or a sentence."""
    for width, height in ((20, 12), (80, 24)):
        assert lines(drawn(sample, width, height, colour=True), width, height)


def test_no_label_is_obeyed() -> None:
    """Nothing that a user or a mind wrote moves the cursor, and wide letters break no frame."""
    for sample in hostile():
        for width in (20, 60):
            lines(drawn(sample, width, 20, colour=False), width, 20)
            lines(drawn(sample, width, 20, colour=True), width, 20)


_X = st.integers(-9, 9) | st.floats() | st.datetimes() | st.text(max_size=5) | st.none()
_Y = st.none() | st.floats() | st.integers(-(10**6), 10**6)


@st.composite
def series(draw: st.DrawFn) -> Series:
    """Any at all."""
    points = draw(st.lists(st.tuples(_X, _Y), max_size=12))
    return Series(
        draw(st.text(max_size=9)), tuple(x for x, _ in points), tuple(y for _, y in points)
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.builds(
        Chart,
        st.text(),
        st.sampled_from(KINDS),
        st.text(),
        st.text(),
        st.lists(series(), max_size=12).map(tuple),
    ),
    st.integers(0, 320),
    st.integers(0, 60),
    st.booleans(),
)
def test_anything_fits(sample: Chart, width: int, height: int, colour: bool) -> None:
    """Whatever is in the chart, and however small the terminal."""
    lines(drawn(sample, width, height, colour=colour), width, height)


def test_many_series_in_few_lines() -> None:
    """What names the axes goes first, then what is left out."""
    seven = tuple(Series(f"s{n}", ("a", "b"), (n + 1.0, 1.0)) for n in range(7))
    shown = drawn(Chart("Drafts", "bars", "", "count", seven), 20, 12, colour=False).splitlines()
    lines("\n".join(shown), 20, 12)
    assert any(line.startswith("a ") for line in shown)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_a_sentence(kind: Any) -> None:
    """An empty frame would look like a failure."""
    assert drawn(chart(kind), 80, 24, colour=False) == f"Drafts\n{NOTHING}"


def test_without_colour_there_is_no_escape() -> None:
    """What is piped into a file is text."""
    for sample in usual():
        assert "\x1b" not in drawn(sample, 80, 24, colour=False)
        assert "\x1b[" in drawn(sample, 80, 24, colour=True)


def test_colour_changes_colours_alone() -> None:
    """Who sees none misses nothing."""
    for sample in usual():
        bare = drawn(sample, 80, 24, colour=False)
        seen = _COLOUR.sub("", drawn(sample, 80, 24, colour=True))
        assert [line.rstrip() for line in seen.split("\n")] == bare.split("\n")


@pytest.mark.parametrize("kind", KINDS)
def test_each_series_has_its_marker(kind: Any) -> None:
    """The legend shows the letter that the chart is drawn with, another for each series."""
    names = [f"branch-{n}" for n in range(8)]
    high = [Series(name, days(3), (10 + n, None, 20 - n)) for n, name in enumerate(names)]
    picture = drawn(chart(kind, *high), 120, 40, colour=False)
    marks = FILLS if kind in {"bars", "stacked"} else MARKERS
    legend = "".join(line for line in picture.split("\n")[:3])
    body = picture.split("\n", 3)[3]
    for name, mark in zip(names, marks, strict=True):
        assert f"{mark} {name}" in legend
        assert mark in body


def test_forty_series_say_how_many_are_drawn() -> None:
    """Nobody takes eight for all."""
    forty = [Series(f"s{n}", (1, 2), (n, n + 1)) for n in range(40)]
    assert "The 8 largest of 40 series are drawn." in drawn(
        chart("line", *forty), 80, 24, colour=False
    )
    assert "others (33)" in drawn(chart("stacked", *forty), 80, 24, colour=False)


def test_categories_that_find_no_room_are_counted() -> None:
    """The first rows are drawn; the others are announced."""
    many = Series("n", tuple(f"m{n}" for n in range(100)), tuple(range(100)))
    picture = drawn(chart("bars", many), 60, 20, colour=False)
    assert "… and 84 more" in picture


def test_columns_that_find_no_room_are_counted() -> None:
    """The last days are drawn, as who asks looks at today."""
    many = Series("n", tuple(range(100)), (1,) * 100)
    assert "are drawn." in drawn(chart("bars", many), 60, 20, colour=False)


def test_bars_bear_their_values() -> None:
    """A bar is as long as its value, and says it; none is not zero."""
    bars = Series("n", ("a", "b", "c", "d"), (10, 5, 0, None))
    found = drawn(Chart("", "bars", "", "", (bars,)), 40, 12, colour=False).split("\n")
    assert [line.split()[-1] for line in found[1:]] == ["10", "5", "0", "–"]
    long, half, nothing, none = (line.count("█") for line in found[1:])
    assert half in {long // 2, long // 2 + 1}
    assert (nothing, none) == (0, 0)


def test_negative_bars_go_the_other_way() -> None:
    """All bars start at one zero."""
    bars = Series("", ("a", "b"), (10, -10))
    up, down = drawn(Chart("", "bars", "", "", (bars,)), 40, 12, colour=False).split("\n")
    assert up.index("█") == down.rindex("█") + 1


def test_a_gap_stays_empty() -> None:
    """A line does not cross what nobody measured."""
    gap = Series("", tuple(range(11)), (5, 5, 5, None, None, None, None, None, 5, 5, 5))
    picture = drawn(Chart("", "line", "", "", (gap,)), 60, 12, colour=False)
    line = next(row for row in picture.split("\n") if row.count("▄") + row.count("▀") > 10)
    assert re.search(r"[▀▄▖▗▘▝] {15,}[▀▄▖▗▘▝]", line)


def test_days_stand_at_their_distance() -> None:
    """A week without work is a week wide."""
    two = Series(
        "",
        (
            datetime(2026, 11, 1, tzinfo=UTC),
            datetime(2026, 11, 2, tzinfo=UTC),
            datetime(2026, 11, 9, tzinfo=UTC),
        ),
        (1, 1, 1),
    )
    row = drawn(Chart("", "bars", "", "", (two,)), 60, 14, colour=False).split("\n")[1]
    first, second, third = (m.start() for m in re.finditer("█+", row))
    assert third - second == 7 * (second - first)


def test_the_reader_knows_which_days() -> None:
    """The axis names the year, and whose clock it is."""
    picture = drawn(chart("line", Series("a", days(20), tuple(range(20)))), 80, 20, colour=False)
    assert "exchange, 2026-10-20 to 11-08 UTC" in picture


def test_nobody_elses_plot_is_touched() -> None:
    """Who draws with plotext in the same process, as a notebook does, keeps his figure."""
    import plotext  # noqa: PLC0415 — the module whose state is looked at

    plotext.clear_figure()
    plotext.plot_size(40, 10)
    plotext.title("mine")
    plotext.scatter([1, 2], [3, 4])
    before = plotext.build()
    for sample in usual():
        drawn(sample, 80, 24, colour=True)
    assert plotext.build() == before
    plotext.clear_figure()


def test_the_terminal_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is that of the caller, even where the environment says another."""
    wide = drawn(usual()[0], 200, 50, colour=False)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("LINES", "9")
    assert drawn(usual()[0], 200, 50, colour=False) == wide


@pytest.mark.slow
def test_another_process_draws_the_same() -> None:
    """Whatever its hashes, its time zone and its locale."""
    code = (
        "from projections.analytics.plots.terminal import drawn\n"
        "from tests.projections.analytics.plots.samples import usual, edges\n"
        "import sys\n"
        "for c in [*usual(), *edges()]:\n"
        "    sys.stdout.buffer.write(drawn(c, 70, 20, colour=True).encode())"
    )
    here = "".join(drawn(c, 70, 20, colour=True) for c in [*usual(), *edges()])
    for seed, zone in (("1", "Asia/Tokyo"), ("2", "UTC")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(Path.cwd())},
        )
        assert done.stdout.decode() == here


def test_who_draws_nothing_loads_nothing() -> None:
    """Libraries that draw are imported by the first chart, not by the module."""
    code = (
        "import sys, projections.analytics.plots.terminal, projections.analytics.plots.page\n"
        "print([m for m in ('plotext', 'matplotlib', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
