"""What an analysis found, on its way out: a table to read, JSON, CSV, Parquet."""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from cli import output as out
from cli.answers import (
    Counted,
    Look,
    csv_lines,
    json_array,
    json_lines,
    piped,
    placed,
    table_lines,
    write_lines,
)
from domain.errors import BadSetting
from domain.ids import SessionId

if TYPE_CHECKING:
    from projections.fleet.jobs import Type, Value
    from projections.fleet.load import Code
    from projections.fleet.results import Results

Format = Literal["table", "json", "csv", "jsonl", "parquet"]

SUFFIXES: Mapping[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}

SHOWN = 1000
"""Rows of a table that a terminal gets unless more are asked for."""

_SQL: "Mapping[Type, str]" = {
    "text": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "time": "TIMESTAMP",
}


class Ask(NamedTuple):
    """What is asked, and how the answer is wanted."""

    code: "Code"
    wanted: Callable[[SessionId], bool]
    upto: int | None
    output: Path | None
    limit: int | None
    full: bool
    json: bool


def format_of(output: Path) -> Format:
    """What the name of a file says.

    Raises:
        BadSetting: it says none.
    """
    found = SUFFIXES.get(output.suffix.lower())
    if found is None:
        raise BadSetting(f"{str(output)!r}: name a file .parquet, .csv, .json or .jsonl.")
    return found


def write_answer(results: "Results", ask: Ask) -> int:
    """Write the rows to a file, which is there when all of it is, or to stdout; how many."""
    how: Format = "json" if ask.json else "table"
    if ask.output is not None:
        how = format_of(ask.output)
    most, counted = ask.limit or None, Counted()
    if how == "table" and ask.limit is None and sys.stdout.isatty():
        most = SHOWN
    rows = counted.of(results, most)
    try:
        with placed(ask.output) if ask.output is not None else piped() as sink:
            if how == "parquet":
                _parquet(results, rows, sink)
            else:
                write_lines(_lines(results, rows, how, full=ask.full), sink)
    except BrokenPipeError:
        return counted.rows  # who stops listening, as head does, has had enough
    if counted.more and ask.limit is None:
        out.talk(f"{counted.rows} rows are shown; there are more (--limit 0 shows all).")
    return counted.rows


def _parquet(results: "Results", rows: "Iterable[tuple[Value, ...]]", sink: BinaryIO) -> None:
    from projections.analytics.files.rows import write_rows  # noqa: PLC0415 — brings pyarrow

    told = {f"logosphere.{key}": str(value) for key, value in results.about().items()}
    write_rows([(column.name, column.type) for column in results.columns], rows, sink, told)


def _lines(
    results: "Results", rows: "Iterable[tuple[Value, ...]]", how: Format, *, full: bool
) -> Iterator[str]:
    names = [column.name for column in results.columns]
    objects = (_object(names, row) for row in rows)
    if how == "jsonl":
        yield from json_lines(objects)
    elif how == "json":
        yield json.dumps(results.about())[:-1] + ', "rows": '
        yield from json_array(objects)
        yield "}\n"
    elif how == "csv":
        yield from csv_lines(names, ([*map(_text, row)] for row in rows))
    elif names:
        types = [_SQL[column.type] for column in results.columns]
        look = Look.of_this_terminal(full=full)
        for line in table_lines(names, types, ([*map(_shown, row)] for row in rows), look):
            yield f"{line}\n"


def _object(names: Sequence[str], row: "tuple[Value, ...]") -> str:
    """A row as a JSON object."""
    return json.dumps(dict(zip(names, map(_plain, row), strict=True)), ensure_ascii=False)


def _plain(value: "Value") -> "Value":
    """What JSON has; what is no number, or endless, is null."""
    if isinstance(value, datetime):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: "Value") -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _shown(value: "Value") -> str | None:
    """The same to read: a time is in UTC, which need not be said; no float needs all its digits."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "microseconds")
    if isinstance(value, float):
        return f"{value:.10g}"
    return _text(value)
