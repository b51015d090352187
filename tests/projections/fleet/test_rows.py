"""Rows come from a worker as they were, with one type a column."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import SessionId
from projections.fleet.jobs import BadJob, Branch, Column, Job
from projections.fleet.rows import added_up, columns_of, decoded, encoded

NAMES = ("a", "b", "c", "d", "e")
whole = st.integers(min_value=-(2**63), max_value=2**63 - 1)
values = st.tuples(
    st.none() | st.text(st.characters()),
    st.none() | whole,
    st.none() | st.floats(allow_nan=False),
    st.none() | st.booleans(),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)


def job(*columns: Column, by: tuple[str, ...] = ()) -> Job:
    """A job whose rows do not matter."""
    return Job("mine", lambda _, __: (), "Nothing.", columns, by=by)


@given(st.lists(values, max_size=5))
def test_values_come_through(rows: list[tuple[Any, ...]]) -> None:
    """Any text, also half a surrogate pair, any number, any time."""
    columns = tuple(map(Column, NAMES, ("text", "int", "float", "bool", "time")))
    sent = encoded(job(*columns), [dict(zip(NAMES, row, strict=True)) for row in rows])
    assert list(decoded(columns, sent.lines)) == rows
    assert sent.rows == len(rows)


def test_types_are_found_over_all_sessions() -> None:
    """None is of any type, a whole number is a number where there are others; the order is kept."""
    given_ = [{"x": 1, "y": None}, {"z": None, "y": "a"}], [{"x": 0.5, "w": True}]
    shapes = [encoded(job(), rows).shape for rows in given_]
    assert [column[:2] for column in columns_of(job(), shapes)] == [
        ("x", "float"),
        ("y", "text"),
        ("z", "text"),
        ("w", "bool"),
    ]


def test_a_time_of_elsewhere_or_nowhere_is_refused() -> None:
    """Rows of all machines have their times in UTC."""
    for zone in (None, timezone(timedelta(hours=2))):
        with pytest.raises(BadJob, match="a datetime in UTC"):
            encoded(job(), [{"at": datetime(2026, 5, 2, tzinfo=zone)}])
    assert encoded(job(), [{"at": datetime(2026, 5, 2, tzinfo=UTC)}]).shape == (("at", "time"),)


@given(st.permutations([0.1, 0.2, 0.3, 1e16, -1e16, None]))
def test_sums_do_not_depend_on_the_order(costs: list[float | None]) -> None:
    """Floats are added without loss, and what nobody knows adds nothing."""
    columns = (Column("day", "text"), Column("usd", "float"), Column("n", "int"))
    rows = [("sat", cost, 2) for cost in costs] + [(None, None, None), ("fri", 1.0, 1)]
    assert added_up(columns, ("day",), rows) == [
        (None, None, None),
        ("fri", 1.0, 1),
        ("sat", 0.6, 12),
    ]


def test_a_branch_is_plain_data() -> None:
    """What a job is told of a session can be unpacked."""
    session, parent, root, after = Branch(SessionId("b"), SessionId("a"), SessionId("a"), 4)
    assert (session, parent, root, after) == ("b", "a", "a", 4)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Column("x", "float"), (1e308, 1e308)),
        (Column("x", "float"), (float("inf"), float("-inf"))),
        (Column("x", "int"), (2**63 - 1, 1)),
    ],
)
def test_a_sum_that_its_column_cannot_hold_is_refused(column: Column, values: list[Any]) -> None:
    """Else it ends in a traceback, or in a number that no file of numbers takes."""
    columns = (Column("g", "text"), column)
    with pytest.raises(BadJob, match="'x' can't be added up"):
        added_up(columns, ("g",), [("a", value) for value in values])
