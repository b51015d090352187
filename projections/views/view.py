"""What a view is: columns that say how numbers come together, and what each event adds to them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from domain.recorded import Plain

Merge = Literal["key", "sum", "least", "greatest", "latest"]
"""How two values of one row become one; ``latest`` is that of the later event."""

Type = Literal["text", "integer", "time", "usd"]
"""``time`` is µs since 1970, ``usd`` dollars, summed without rounding errors."""

Row = tuple[Any, ...]
"""A value for each column of a view, None where nothing is known."""

Added = tuple[tuple[Any, ...], Mapping[str, Any]]
"""What an event adds: the keys of a row, and values of some of its other columns."""

NANO = 1_000_000_000
"""Dollars are kept in billionths: sums of whole numbers are the same in any order."""

_MOST = 2**53


class Column(NamedTuple):
    """A column and what it holds."""

    name: str
    type: Type
    merge: Merge
    about: str


class View(NamedTuple):
    """Rows that follow the log.

    What an event adds may depend on nothing but the event: so any worker can go on where another
    one stopped, and any number of them may share the work.
    """

    name: str
    about: str
    version: int
    """Counted up when columns or what events add change: the rows are then made anew."""
    columns: tuple[Column, ...]
    """Those of the key first."""
    adds: Callable[[Plain], Iterable[Added]]
    by_stream: bool = False
    """Whether the first column names the stream of the event, so that a row is of one shard."""
    holds_content: bool = False
    """Whether it holds what people or minds said: then a redaction has it made anew."""

    @property
    def keys(self) -> tuple[Column, ...]:
        """The columns that tell rows apart."""
        return tuple(column for column in self.columns if column.merge == "key")


class ViewFailed(Exception):
    """A view can't make anything of an event."""

    def __init__(self, view: View, event: Plain, rows: list[Row], problem: Exception) -> None:
        super().__init__(
            f"View {view.name!r} stops at event {event.version} of {event.session!r}"
            f" ({event.kind}, position {event.position}), which it can't take in:"
            f" {type(problem).__name__}: {problem}"
        )
        self.event, self.rows = event, rows
        """The event, and the rows of those before it."""


def reduced(view: View, events: Iterable[Plain]) -> list[Row]:
    """What events add to a view, together: one row for each key, in order of their keys' first use.

    Raises:
        ViewFailed: one of the events is none that the view can take in; nothing of it is added.
    """
    mergers = {c.name: (n, _MERGERS[c.merge], _CLEAN[c.type]) for n, c in enumerate(view.columns)}
    keys, empty = len(view.keys), [0 if c.merge == "sum" else None for c in view.columns]
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for event in events:
        try:
            added = [
                (
                    tuple(map(_text, key)),
                    [
                        (place, merge, clean(value))
                        for name, value in values.items()
                        if value is not None
                        for place, merge, clean in (mergers[name],)
                    ],
                )
                for key, values in view.adds(event)
            ]
        except Exception as problem:
            raise ViewFailed(view, event, _whole(rows), problem) from problem
        for key, values in added:
            row = rows.get(key)
            if row is None:
                row = rows[key] = [*key, *empty[keys:]]
            for place, merge, value in values:
                row[place] = merge(row[place], value)
    return _whole(rows)


def together(view: View, parts: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of several stores that share a view, such as the cells of one; in order of the keys.

    Args:
        view: whose rows they are, with dollars as dollars.
        parts: the rows of each store.
    """
    if len(parts) == 1:
        return list(parts[0])
    keys, found = len(view.keys), dict[tuple[Any, ...], Row]()
    for row in (row for rows in parts for row in rows):
        known = found.get(row[:keys])
        found[row[:keys]] = row if known is None else _joined(view, known, row)
    return [found[key] for key in sorted(found)]


def _joined(view: View, one: Row, other: Row) -> Row:
    values = []
    for column, mine, theirs in zip(view.columns, one, other, strict=True):
        if column.type == "usd":
            values.append((round(mine * NANO) + round(theirs * NANO)) / NANO)
        else:
            values.append(_MERGERS[column.merge](mine, theirs))
    return tuple(values)


def _whole(rows: Mapping[Any, list[Any]]) -> list[Row]:
    return [tuple(row) for row in rows.values()]


def _text(value: Any) -> str:
    # PostgreSQL takes no NUL in a text
    return str(value).replace("\0", "\ufffd")


def _integer(value: Any) -> int:
    number = int(value)
    return number if -_MOST <= number <= _MOST else max(-_MOST, min(number, _MOST))


def _nanos(value: Any) -> int:
    return _integer(round(float(value) * NANO))


def _sum(one: int, other: int) -> int:
    return one + other


def _least(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else min(one, other)


def _greatest(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else max(one, other)


def _latest(one: Any, other: Any) -> Any:
    return one if other is None else other


_MERGERS: dict[Merge, Callable[[Any, Any], Any]] = {
    "key": _latest,
    "sum": _sum,
    "least": _least,
    "greatest": _greatest,
    "latest": _latest,
}
_CLEAN: dict[Type, Callable[[Any], Any]] = {
    "text": _text,
    "integer": _integer,
    "time": _integer,
    "usd": _nanos,
}
