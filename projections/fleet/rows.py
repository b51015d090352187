"""Rows on their way from a worker: checked, as JSON, with the types that they have."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from projections.fleet.jobs import BadJob, Column, Job, Type, Value

Shape = tuple[tuple[str, Type | None], ...]
"""Columns in the order in which they were met; None where every value was none."""

_LARGEST = 2**63


class Encoded(NamedTuple):
    """The rows of one session."""

    lines: bytes
    """A JSON object a line, in ASCII: any text that a log holds comes through."""
    rows: int
    shape: Shape


def encoded(job: Job, rows: Iterable[Mapping[str, Value]]) -> Encoded:
    """Rows as they travel.

    Raises:
        BadJob: a row holds what no column can.
    """
    lines: list[str] = []
    shape: dict[str, Type | None] = {}
    declared = {column.name: column.type for column in job.columns}
    for row in rows:
        if not isinstance(row, Mapping):
            raise BadJob(f"Job {job.name!r} gives {_told(row)}: give dicts of column and value.")
        plain = {}
        for name, value in row.items():
            type_ = _type(job, name, value)
            shape[name] = _common(job, name, shape.get(name), type_)
            plain[name] = value.isoformat() if isinstance(value, datetime) else value
        lines.append(json.dumps(plain, separators=(",", ":")) + "\n")
    for name, type_ in shape.items() if declared else ():
        if name not in declared:
            raise BadJob(f"Job {job.name!r} gives a column {name!r}, which it does not name.")
        if _common(job, name, declared[name], type_) != declared[name]:
            raise BadJob(
                f"Job {job.name!r} gives {type_} in column {name!r}, which it says is"
                f" {declared[name]}."
            )
    return Encoded("".join(lines).encode("ascii"), len(lines), tuple(shape.items()))


def columns_of(job: Job, shapes: Iterable[Shape]) -> tuple[Column, ...]:
    """The columns of all sessions together: those that a job names, or else those that it gave.

    Raises:
        BadJob: sessions gave different things for one column.
    """
    if job.columns:
        return job.columns
    types: dict[str, Type | None] = {}
    for shape in shapes:
        for name, type_ in shape:
            types[name] = _common(job, name, types.get(name), type_)
    return tuple(Column(name, type_ or "text") for name, type_ in types.items())


def decoded(columns: Sequence[Column], lines: bytes) -> Iterator[tuple[Value, ...]]:
    """The values of each row in the order of the columns."""
    for line in lines.splitlines():
        row = json.loads(line)
        yield tuple(_value(column, row.get(column.name)) for column in columns)


def canonical(row: Iterable[Value]) -> bytes:
    """A row as a line that is the same everywhere."""
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in row]
    return json.dumps(plain, separators=(",", ":")).encode("ascii") + b"\n"


def added_up(
    columns: Sequence[Column], by: Sequence[str], rows: Iterable[tuple[Value, ...]]
) -> list[tuple[Value, ...]]:
    """One row for all that agree on some columns, sorted by these; the others are added up.

    What nobody knows adds nothing. Floats are added without any loss, so that the order in which
    sessions come does not matter.

    Raises:
        BadJob: a sum is none that the column can hold.
    """
    keys = [place for place, column in enumerate(columns) if column.name in by]
    groups: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[place] for place in keys), []).append(row)
    ordered = sorted(groups, key=lambda key: [(value is not None, value) for value in key])
    return [
        tuple(
            group[0][place] if place in keys else _sum(column, [row[place] for row in group])
            for place, column in enumerate(columns)
        )
        for group in (groups[key] for key in ordered)
    ]


def _sum(column: Column, values: Iterable[Any]) -> Value:
    known = [value for value in values if value is not None]
    if not known:
        return None
    try:
        total = math.fsum(known) if column.type == "float" else int(sum(known))
    except (OverflowError, ValueError):  # the latter of infinities that cancel out
        total = None
    if total is None or (column.type == "int" and not -_LARGEST <= total < _LARGEST):
        raise BadJob(f"Column {column.name!r} can't be added up: the sum is no {column.type}.")
    return total


def _value(column: Column, value: Any) -> Value:
    if value is None:
        return None
    if column.type == "time":
        return datetime.fromisoformat(value)
    return float(value) if column.type == "float" else value


def _type(job: Job, name: Any, value: Any) -> Type | None:
    if not isinstance(name, str) or not name:
        raise BadJob(f"Job {job.name!r} gives a column {name!r}: name columns by texts.")
    match value:
        case None:
            return None
        case bool():
            return "bool"
        case str():
            return "text"
        case int() if -_LARGEST <= value < _LARGEST:
            return "int"
        case float():
            return "float"
        case datetime() if value.utcoffset() == timedelta(0):
            return "time"
    raise BadJob(
        f"Job {job.name!r} gives {_told(value)} in column {name!r}: a value is a text, a number,"
        " a whole number of 64 bits, a truth value, a datetime in UTC or None."
    )


def _common(job: Job, name: str, one: Type | None, other: Type | None) -> Type | None:
    if one is None or other is None or one == other:
        return one or other
    if {one, other} == {"int", "float"}:
        return "float"
    raise BadJob(f"Job {job.name!r} gives both {one} and {other} in column {name!r}.")


def _told(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}" if value is not None else "None"
