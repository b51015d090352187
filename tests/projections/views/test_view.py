"""What events add to a view, before anything is written."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from domain.ids import SessionId
from domain.recorded import Plain
from projections.views.ours import SPENDING
from projections.views.view import Added, Column, View, ViewFailed, reduced

COLUMNS = (
    Column("name", "text", "key", "k"),
    Column("times", "integer", "sum", "s"),
    Column("first", "time", "least", "l"),
    Column("last", "time", "greatest", "g"),
    Column("who", "text", "latest", "w"),
    Column("cost", "usd", "sum", "c"),
)


def plain(position: int, data: Mapping[str, Any], kind: str = "k", at: int = 0) -> Plain:
    """An event of ``s`` with these fields."""
    return Plain(
        SessionId("s"), position, position, kind, at, "user:ann", b"", None, dict(data), False
    )


def said(event: Plain) -> Iterable[Added]:
    """Adds what the event says."""
    yield (event.data["name"],), {k: v for k, v in event.data.items() if k != "name"}


VIEW = View("v", "about", 1, COLUMNS, said)


def test_values_come_together_as_their_columns_say() -> None:
    """Sums, the least, the greatest, the latest; what nobody says is left as it was."""
    told = [
        {"name": "a", "times": 1, "first": 5, "last": 5, "who": "ann", "cost": 0.1},
        {"name": "b", "times": 1},
        {"name": "a", "times": 2, "first": 3, "last": 3, "who": "ben", "cost": 0.2},
        {"name": "a", "who": None, "last": 9},
    ]
    rows = reduced(VIEW, [plain(n, data) for n, data in enumerate(told, 1)])
    assert rows == [("a", 3, 3, 9, "ben", 300_000_000), ("b", 1, None, None, None, 0)]


def test_ten_times_a_tenth_is_one() -> None:
    """Dollars are counted in whole billionths: in any order, and in any batches."""
    (row,) = reduced(VIEW, [plain(n, {"name": "a", "cost": 0.1}) for n in range(10)])
    assert row[-1] == 1_000_000_000


def test_what_no_database_takes_is_mended() -> None:
    """A NUL in a text, a number beyond all measure."""
    (row,) = reduced(VIEW, [plain(1, {"name": "a\0b", "times": 10**30})])
    assert row[:2] == ("a\ufffdb", 2**53)


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), "much"])
def test_what_is_no_number_stops_the_view_there(cost: object) -> None:
    """The event is named, and what comes before it is told along."""
    events = [plain(1, {"name": "a", "times": 1}), plain(2, {"name": "a", "cost": cost})]
    with pytest.raises(ViewFailed, match="event 2 of 's'") as failed:
        reduced(VIEW, events)
    assert failed.value.event == events[1]
    assert failed.value.rows == [("a", 1, None, None, None, 0)]


@pytest.mark.parametrize(
    ("kind", "data", "row"),
    [
        ("mind.invoked", {"model": "m", "tokens_in": 7}, ("m", 1, 1, 7, 0, 0)),
        ("mind.invoked", {"model": "m", "cost_usd": 0.0}, ("m", 1, 0, 0, 0, 0)),
        ("detector.invoked", {"found_by": "rules"}, None),
        ("detector.invoked", {"model": "d", "cost_usd": 1e-9}, ("d", 1, 0, 0, 0, 1)),
        ("turn.failed", {"calls": 0}, None),
        ("turn.failed", {"calls": 2, "unknown_costs": 2}, ("unknown", 2, 2, 0, 0, 0)),
        ("turn.completed", {"model": "big", "calls": 3, "tokens_out": 5}, ("big", 3, 0, 0, 5, 0)),
        ("worker.reported", {"cost_usd": 1.0}, None),
    ],
)
def test_spending_counts_each_call_once(
    kind: str, data: dict[str, Any], row: tuple[Any, ...] | None
) -> None:
    """Of minds, of detectors that asked a model, and of agents; what costs nothing is left out."""
    rows = reduced(SPENDING, [plain(1, data, kind, 86_400_000_000 * 2)])
    assert rows == ([("1970-01-03", *row)] if row else [])


@pytest.mark.parametrize(
    ("at", "day"), [(-1, "1969-12-31"), (-(10**20), "0001-01-01"), (10**20, "9999-12-31")]
)
def test_any_time_is_of_some_day(at: int, day: str) -> None:
    """Also one that no clock would show."""
    (row,) = reduced(SPENDING, [plain(1, {"model": "m"}, "mind.invoked", at)])
    assert row[0] == day
