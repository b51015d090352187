"""Charts as data: what is checked, what is folded, and which axis they stand on."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.analytics.plots.charts import Chart, Series, checked, laid_out, numbers
from projections.analytics.plots.labels import columns, fitted, padded, plain
from projections.analytics.plots.ticks import number as said
from projections.analytics.plots.ticks import of_numbers, of_times
from tests.projections.analytics.plots.samples import HOSTILE, NAN, START, chart, days


def test_as_many_y_as_x() -> None:
    """A series that lost a value is an error of the report, and says which."""
    with pytest.raises(ValueError, match=r"Series 'a' has 2 x and 1 y"):
        checked(chart("line", Series("a", (1, 2), (1,))))


def test_only_known_kinds_are_drawn() -> None:
    """A kind that nobody draws is refused, not drawn as another."""
    kind: Any = "pie"
    with pytest.raises(ValueError, match="No chart is of kind 'pie'"):
        checked(chart(kind))


@pytest.mark.parametrize(
    ("x", "axis", "first"),
    [
        ((1, 2.5, Decimal(3)), "numbers", 1.0),
        ((date(1970, 1, 2), datetime(1970, 1, 3, tzinfo=UTC)), "times", 86400.0),
        ((datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),), "times", 0.0),
        (("b", "a", "b"), "categories", 0.0),
        ((1, "one"), "categories", 0.0),
        ((None, 5), "numbers", 5.0),
        ((), "numbers", None),
    ],
)
def test_the_axis_is_that_of_the_values(x: tuple[Any, ...], axis: str, first: float | None) -> None:
    """Numbers, times or texts; what is of no sort at all counts as texts."""
    layout = laid_out(chart("line", Series("a", x, tuple(range(len(x))))), 8)
    assert layout.axis == axis
    assert next(iter(layout.xs), None) == first


def test_gaps_part_a_line() -> None:
    """None, NaN and what has no end are holes, not zeros."""
    y = (1, None, 2, 3, NAN, float("inf"), 4)
    layout = laid_out(chart("line", Series("a", tuple(range(7)), y)), 8)
    assert layout.traces[0].stretches() == [[(0, 1)], [(2, 2), (3, 3)], [(6, 4)]]


def test_a_line_runs_forwards() -> None:
    """Rows that come newest first draw the same line."""
    there = laid_out(chart("line", Series("a", (3, 1, 2), (30, 10, 20))), 8)
    assert there.traces[0].x == (1, 2, 3)
    assert there.traces[0].y == (10, 20, 30)


def test_too_many_series_leave_the_largest() -> None:
    """In the order they came, with a sentence that says so."""
    many = [Series(f"s{n}", (1,), (n * (-1) ** n,)) for n in range(40)]
    layout = laid_out(chart("line", *many), 3)
    assert [t.name for t in layout.traces] == ["s37", "s38", "s39"]
    assert layout.note == "The 3 largest of 40 series are drawn."


def test_a_stack_stays_as_high() -> None:
    """The others are added up, so that the whole is the whole."""
    many = [Series(f"s{n}", (1, 2), (n, None if n % 2 else 1)) for n in range(40)]
    whole, folded = laid_out(chart("stacked", *many), 40), laid_out(chart("stacked", *many), 8)
    assert [t.name for t in folded.traces][-1] == "others (33)"
    assert sum(whole.ys) == sum(folded.ys)
    assert (whole.note, folded.note) == (
        "",
        "others (33): the smallest of 40 series, added up.",
    )


def test_bars_at_one_place_are_added_up() -> None:
    """Two values of one series at one x never hide each other."""
    layout = laid_out(chart("bars", Series("a", ("m", "m", "n"), (1, 2, None))), 8)
    assert layout.traces[0].y == (3, None)


def test_the_numbers_of_a_chart_are_a_table() -> None:
    """A row for each x, a column for each series, and no value lost."""
    table = numbers(chart("scatter", Series("a", (1, 1, 2), (5, 6, 7)), Series("b", (2,), (8,))))
    assert table.columns == ("exchange", "a", "b")
    assert table.rows == ((1, 5, None), (1, 6, None), (2, 7, 8))


def test_the_order_of_texts_is_kept() -> None:
    """Categories stand as the report ordered them."""
    two = (Series("a", ("z", "a"), (1, 2)), Series("b", ("m", "z"), (3, 4)))
    layout = laid_out(Chart("", "bars", "", "", two), 8)
    assert layout.categories == ("z", "a", "m")


def test_times_of_a_zone_are_of_utc() -> None:
    """Whoever reads the axis knows whose clock it is."""
    assert laid_out(chart("line", Series("a", days(2), (1, 2))), 8).utc
    assert not laid_out(chart("line", Series("a", (START.replace(tzinfo=None),), (1,))), 8).utc


@given(st.text() | st.sampled_from(HOSTILE), st.integers(0, 60))
def test_a_label_fits(text: str, room: int) -> None:
    """Whatever the text, it takes the columns that it is given, on one line, and obeys nobody."""
    assert columns(fitted(text, room)) <= room
    assert columns(padded(text, room)) == room
    assert len(plain(text, room)) <= max(room, 1)
    for label in (fitted(text, room), plain(text)):
        assert not any(c < " " or "\x7f" <= c <= "\x9f" for c in label)
        assert label.encode("utf-8").decode("utf-8") == label


_SIZES = st.floats(-1e12, 1e12, allow_nan=False)


@given(_SIZES, st.floats(1e-6, 1e12), st.integers(1, 12))
def test_ticks_are_few_and_inside(low: float, span: float, most: int) -> None:
    """Never more than asked for, in order, each with a text of its own."""
    high = low + span
    found = of_numbers(low, high, most)
    assert 1 <= len(found) <= most
    slack = span * 1e-6 + abs(low) * 1e-9
    assert all(low - slack <= t.at <= high + slack for t in found)
    assert [t.at for t in found] == sorted({t.at for t in found})


@given(
    st.floats(-6e10, 2e11),
    st.floats(1e-3, 5e10),
    st.integers(1, 12),
)
def test_ticks_of_times_are_few_and_inside(low: float, span: float, most: int) -> None:
    """From milliseconds to centuries."""
    found = of_times(low, low + span, most)
    assert 1 <= len(found) <= most
    assert all(low - 1e-3 <= t.at <= low + span + 1e-3 for t in found)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (12, "12"),
        (1234567, "1,234,567"),
        (0.12345, "0.1235"),
        (-2.5, "-2.5"),
        (1e-9, "1e-09"),
        (3e20, "3e+20"),
        (99999.5, "100,000"),
        (0.5, "0.5"),
    ],
)
def test_numbers_are_said_short(value: float, text: str) -> None:
    """Four digits that count."""
    assert said(value) == text


def test_round_ticks() -> None:
    """Steps are 1, 2 or 5 of something; times stand on whole hours and days."""
    assert [t.text for t in of_numbers(0, 97, 6)] == ["0", "20", "40", "60", "80"]
    assert [t.text for t in of_numbers(0, 250_000, 6)] == [
        "0",
        "50k",
        "100k",
        "150k",
        "200k",
        "250k",
    ]
    low = START.astimezone(UTC).timestamp()
    assert [t.text for t in of_times(low + 60, low + 7 * 3600, 4)] == ["02:00", "04:00", "06:00"]
