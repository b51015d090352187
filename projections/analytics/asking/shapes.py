"""Answers in the shape that a reader wants: as texts, as JSON, as columns that every tool reads.

DuckDB itself casts the values, within the query and in one pass, so that what is shown is what its
own tools would show, and rows by the million take no room in Python.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json import dumps, loads
from math import isfinite
from typing import Any, NamedTuple

from domain.errors import BadQuery
from projections.analytics.asking.sandbox import Answer, Batches, Column, Sandbox

Parameters = Mapping[str, Any]

_NEEDS_TEXT = re.compile(r"INTERVAL|BIT|UNION\(.*|TIME WITH TIME ZONE")
"""Types that Parquet has not, or that next to nobody reads."""
_HOLDS_SUCH = re.compile(r"VARIANT|\b(INTERVAL|BIT|UNION|TIME WITH TIME ZONE)\b")


class Asked(NamedTuple):
    """What a text asks, as far as that can be seen before it is run."""

    parameters: frozenset[str]
    """The names behind ``$``."""
    wraps: bool
    """Whether it may stand in brackets, as the table of another query."""


def look_at(sql: str) -> Asked | None:
    """Look at a query; None where it is none, or more than one: running it will say so."""
    try:
        import duckdb  # noqa: PLC0415 — only who asks pays for it
    except ImportError:
        return None  # running it will say this, too
    try:
        sql.encode()
        (statement,) = duckdb.extract_statements(sql)
        kind = statement.type.name
    except (duckdb.Error, ValueError):
        return None
    return Asked(frozenset(statement.named_parameters), wraps=kind in {"SELECT", "MULTI"})


def texts(sandbox: Sandbox, sql: str, parameters: Parameters) -> Answer:
    """An answer with every value as a text, or None; the columns keep the types that they have.

    Raises:
        BadQuery, QueryStopped, Broken: as :meth:`Sandbox.ask`; so do the rows.
    """
    wrapped = _wrapped(sandbox, sql, parameters, _as_texts)
    if wrapped is not None:
        columns, answer = wrapped
        return Answer(columns, answer.rows)
    answer = sandbox.ask(sql, parameters)
    return Answer(answer.columns, (tuple(map(_text, row)) for row in answer.rows))


def json_objects(sandbox: Sandbox, sql: str, parameters: Parameters) -> Iterator[str]:
    """Each row as a JSON object, keys in the order of the columns; what is no number is null.

    Raises:
        BadQuery, QueryStopped, Broken: as :meth:`Sandbox.ask`; so do the rows.
    """
    wrapped = _wrapped(sandbox, sql, parameters, _as_object)
    if wrapped is not None:
        return (_finite(row[0]) for row in wrapped[1].rows)
    answer = sandbox.ask(sql, parameters)
    names = unique(column.name for column in answer.columns)
    return (
        dumps(_sane(dict(zip(names, row, strict=True))), ensure_ascii=False, default=_text)
        for row in answer.rows
    )


def columnar(sandbox: Sandbox, sql: str, parameters: Parameters) -> Batches:
    """An answer as Arrow, with types that Parquet has: VARIANT is JSON, an interval a text.

    Raises:
        BadQuery, QueryStopped, Broken: as :meth:`Sandbox.batches`; so do the batches.
    """
    columns = _columns(sandbox, sql, parameters)
    if columns is None:
        return sandbox.batches(sql, parameters)
    names = unique(column.name for column in columns)
    casts = [_portable(number, column) for number, column in enumerate(columns, 1)]
    expressions = ", ".join(
        f"{cast} AS {_quoted(name)}" for cast, name in zip(casts, names, strict=True)
    )
    try:
        return sandbox.batches(_around(sql, expressions), parameters)
    except BadQuery:
        return sandbox.batches(sql, parameters)


def unique(names: Iterable[str]) -> list[str]:
    """Names of which no two are the same but for their case: the second ``a`` is ``a_1``."""
    found: dict[str, str] = {}
    for name in names:
        new, number = name, 0
        while new.casefold() in found:
            number += 1
            new = f"{name}_{number}"
        found[new.casefold()] = new
    return [*found.values()]


def _wrapped(
    sandbox: Sandbox,
    sql: str,
    parameters: Parameters,
    shape: Callable[[Sequence[Column]], str],
) -> tuple[tuple[Column, ...], Answer] | None:
    """The answer with its columns in another shape; None where only the query itself can be run."""
    columns = _columns(sandbox, sql, parameters)
    if columns is None:
        return None
    try:
        answer = sandbox.ask(_around(sql, shape(columns)), parameters)
    except BadQuery:
        return None  # asked as it is, it will complain of what the user wrote
    return columns, Answer(answer.columns, _with_lines_of(answer.rows))


def _columns(sandbox: Sandbox, sql: str, parameters: Parameters) -> tuple[Column, ...] | None:
    """What columns a query gives, without running it; None where that can't be said."""
    asked = look_at(sql)
    if asked is None or not asked.wraps:
        return None
    try:
        rows = sandbox.ask(f"DESCRIBE\n{sql}", parameters).rows
        return tuple(Column(name, type_) for name, type_, *_ in rows)
    except BadQuery:
        return None


def _around(sql: str, expressions: str) -> str:
    # a line of its own, since the query may end in a comment
    return f"SELECT {expressions} FROM (\n{_END.sub('', sql)}\n)"  # noqa: S608 — the user's own SQL, in the sandbox


# where it cuts a text in two, what is left can't be run, and the query is asked as it is
_END = re.compile(r";\s*(?:--[^\n]*\s*)*\Z")


def _with_lines_of(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The rows; a late complaint names the line of the user's text, which stands a line lower."""
    try:
        yield from rows
    except BadQuery as error:
        raise BadQuery(_LINE.sub(_one_up, str(error))) from None


_LINE = re.compile(r"^LINE (\d+):", re.MULTILINE)


def _one_up(found: re.Match[str]) -> str:
    return f"LINE {max(int(found[1]) - 1, 1)}:".ljust(len(found[0]))


def _as_texts(columns: Sequence[Column]) -> str:
    return ", ".join(_as_text(number, column.type) for number, column in enumerate(columns, 1))


def _as_text(number: int, type_: str) -> str:
    if type_ != "VARIANT":
        return f"#{number}::VARCHAR"
    return (  # as JSON where it holds others; a text alone would be in quotes
        f"CASE WHEN variant_typeof(#{number}) LIKE 'OBJECT%' OR variant_typeof(#{number}) LIKE"
        f" 'ARRAY%' THEN #{number}::JSON::VARCHAR ELSE #{number}::VARCHAR END"
    )


def _as_object(columns: Sequence[Column]) -> str:
    names = unique(column.name for column in columns)
    fields = ", ".join(f"{_quoted(name)} := #{number}" for number, name in enumerate(names, 1))
    return f"to_json(struct_pack({fields}))::VARCHAR"


def _portable(number: int, column: Column) -> str:
    if column.type == "VARIANT":
        return f"#{number}::JSON::VARCHAR"
    if _NEEDS_TEXT.fullmatch(column.type):
        return f"#{number}::VARCHAR"
    if _HOLDS_SUCH.search(column.type):
        return f"to_json(#{number})::VARCHAR"
    return f"#{number}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return dumps(_sane(value), ensure_ascii=False, default=_text)
    return str(value)


def _finite(line: str) -> str:
    """JSON knows no NaN and no infinity; what looks like one may stand in a text, too."""
    if "NaN" not in line and "Infinity" not in line:
        return line
    return dumps(_sane(loads(line)), ensure_ascii=False, separators=(",", ":"))


def _sane(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _sane(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_sane(inner) for inner in value]
    return value
