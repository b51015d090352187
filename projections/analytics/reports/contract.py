"""Reports: each is a file of SQL that says at its head what it tells, and is asked as it stands.

A file has a head and sections, each a contract in comments with one statement below it:

    -- report: its title              -- section: name
    -- about: what it tells           -- title: …
    -- parameter: session | …         -- about: … (if there is more to say)
                                      -- shape: list; facts: one row, shown on end;
                                      --   beside: a few rows, shown on end beside each other
                                      -- nothing: why there are no rows, where there are none
                                      -- keep: first or last: which rows a short listing shows
                                      -- column: name | unit | meaning
                                      -- chart: kind | title | x=column | y=columns | series=column

A line that goes on below begins with three blanks. Units are those of :data:`UNITS`. Parameters
are bound, never written into the statement. To add a report is to add a file.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from domain.errors import BadSetting
from projections.analytics.plots.charts import Chart, Kind, Series

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

UNITS = {
    "text": "a text, a name or an id",
    "number": "the number of a draft, a cluster, a place; or how many, as a class",
    "version": "place of an event in its session, from 1",
    "iteration": "number of an iteration in its session, from 1",
    "count": "how many",
    "mean": "how many, on average or otherwise divided",
    "share": "0 to 1",
    "similarity": "1 where two are the same; a cosine, or 1 - edits / length",
    "tokens": "tokens of a model",
    "USD": "US dollars",
    "seconds": "seconds",
    "ms": "milliseconds",
    "time": "a time, UTC",
    "day": "a day, UTC",
    "flag": "true or false",
}
"""What a column may be measured in."""

SHAPES, KEEPS = ("list", "facts", "beside"), ("first", "last")


class Column(NamedTuple):
    """A column of a section."""

    name: str
    unit: str
    about: str


class Drawing(NamedTuple):
    """Which columns make a chart."""

    kind: Kind
    title: str
    x: str
    y: tuple[str, ...]
    """Each a series of its own, unless ``series`` parts the only one."""
    series: str | None = None


class Section(NamedTuple):
    """One statement of a report, and what it gives."""

    name: str
    title: str
    about: str
    shape: str
    nothing: str
    """Why there are no rows, where there are none."""
    keep: str
    columns: tuple[Column, ...]
    drawings: tuple[Drawing, ...]
    sql: str


class Report(NamedTuple):
    """A file of SQL and its contract."""

    name: str
    title: str
    about: str
    parameters: Mapping[str, str]
    sections: tuple[Section, ...]


class Told(NamedTuple):
    """What a section gave."""

    section: Section
    rows: list[tuple[Any, ...]]


def reports() -> list[Report]:
    """All reports there are, by name."""
    found = (file.name for file in files(_PLACE).iterdir())
    return [_read(name) for name in sorted(found) if name.endswith(".sql")]


def report(name: str) -> Report:
    """The report of that name.

    Raises:
        BadSetting: there is none; the sentence names those that there are.
    """
    names = [known.name for known in reports()]
    if name not in names:
        raise BadSetting(f"There is no report {name!r}: there are {', '.join(names)}.")
    return _read(f"{name}.sql")


def tell(
    connection: "DuckDBPyConnection", what: Report, session: str, version: int | None = None
) -> list[Told]:
    """Ask all sections of a report.

    Args:
        connection: to the database, caught up; it need not be writable.
        what: the report.
        session: the session or branch that is asked about.
        version: as of this version of it; None is now.
    """
    given = {"session": session, "at_version": version}
    told = []
    for section in what.sections:
        bound = {name: value for name, value in given.items() if f"${name}" in section.sql}
        rows = connection.execute(section.sql, bound).fetchall()
        told.append(Told(section, rows))
    return told


def charts(told: Told) -> list[Chart]:
    """The charts of a section; none where it has no rows."""
    return [_chart(told, drawing) for drawing in told.section.drawings] if told.rows else []


def parse(name: str, text: str) -> Report:
    """Read a report.

    Raises:
        ValueError: its contract is incomplete or says what nobody understands.
    """
    head, *parts = re.split(r"^(?=-- section:)", text, flags=re.MULTILINE)
    fields = _fields(name, head)
    what = Report(
        name,
        fields.one("report"),
        fields.one("about"),
        dict(fields.cells("parameter", 2)),
        tuple(_section(_fields(name, part)) for part in parts),
    )
    fields.done({"report", "about", "parameter"})
    if not what.sections:
        raise ValueError(f"report {name} has no section")
    for section in what.sections:
        for used in re.findall(r"\$(\w+)", section.sql):
            if used not in what.parameters:
                raise ValueError(f"report {name}, {section.name}: ${used} is no parameter")
    return what


_PLACE = "projections.analytics.reports"
_LINE = re.compile(r"-- (\w+): (.*)")
_MORE = re.compile(r"--   +(.*)")


class _Fields(NamedTuple):
    """The lines of a contract, by keyword, and the statement below it."""

    where: str
    found: dict[str, list[str]]
    sql: str

    def one(self, key: str, default: str | None = None) -> str:
        given = self.found.get(key, [])
        if len(given) > 1 or (not given and default is None):
            raise ValueError(f"{self.where}: {key} has to be said once")
        return given[0] if given else cast("str", default)

    def cells(self, key: str, least: int) -> list[list[str]]:
        rows = [[cell.strip() for cell in line.split("|")] for line in self.found.get(key, [])]
        if any(len(row) < least or not all(row) for row in rows):
            raise ValueError(f"{self.where}: {key} has {least} parts, with | between them")
        return rows

    def done(self, known: set[str]) -> None:
        if strange := set(self.found) - known:
            raise ValueError(f"{self.where}: nobody knows {', '.join(sorted(strange))}")


def _fields(name: str, text: str) -> _Fields:
    found: dict[str, list[str]] = {}
    lines, newest = text.splitlines(), ""
    contract = 0
    for line in lines:
        if match := _LINE.fullmatch(line):
            newest = match[1]
            found.setdefault(newest, []).append(match[2].strip())
        elif newest and (match := _MORE.fullmatch(line)):
            found[newest][-1] += f" {match[1].strip()}"
        elif line.strip():
            break
        contract += 1
    where = f"report {name}, {found['section'][0]}" if "section" in found else f"report {name}"
    return _Fields(where, found, "\n".join(lines[contract:]).strip())


def _section(fields: _Fields) -> Section:
    columns = tuple(Column(*cells[:3]) for cells in fields.cells("column", 3))
    shape, keep = fields.one("shape", "list"), fields.one("keep", "first")
    if not columns or not fields.sql:
        raise ValueError(f"{fields.where}: columns and a statement have to be there")
    if shape not in SHAPES or keep not in KEEPS:
        raise ValueError(f"{fields.where}: shape is list, facts or beside, keep is first or last")
    for column in columns:
        if column.unit not in UNITS:
            raise ValueError(f"{fields.where}: {column.unit!r} is no unit")
    names = {column.name for column in columns}
    drawings = tuple(_drawing(fields, cells, names) for cells in fields.cells("chart", 4))
    fields.done({"section", "title", "about", "shape", "nothing", "keep", "column", "chart"})
    return Section(
        fields.one("section"),
        fields.one("title"),
        fields.one("about", ""),
        shape,
        fields.one("nothing"),
        keep,
        columns,
        drawings,
        fields.sql,
    )


def _drawing(fields: _Fields, cells: Sequence[str], names: set[str]) -> Drawing:
    kind, title, *parts = cells
    by = dict(part.partition("=")[::2] for part in parts)
    y = tuple(column.strip() for column in by.get("y", "").split(","))
    series = by.get("series")
    unknown = {by.get("x", ""), *y, *([series] if series is not None else [])} - names
    if kind not in get_args(Kind) or unknown or set(by) - {"x", "y", "series"}:
        raise ValueError(f"{fields.where}: no chart can be made of {' | '.join(cells)!r}")
    if series is not None and len(y) > 1:
        raise ValueError(f"{fields.where}: a chart has several y or a series, not both")
    return Drawing(cast("Kind", kind), title, by["x"], y, series)


@cache
def _read(file: str) -> Report:
    text = files(_PLACE).joinpath(file).read_text("utf-8")
    return parse(file.removesuffix(".sql"), text)


def _chart(told: Told, drawing: Drawing) -> Chart:
    place = {column.name: n for n, column in enumerate(told.section.columns)}
    units = {column.name: column.unit for column in told.section.columns}
    x = place[drawing.x]
    if drawing.series is None:
        drawn = [_series(_words(y), told.rows, x, place[y]) for y in drawing.y]
    else:
        by, y = place[drawing.series], place[drawing.y[0]]
        names = dict.fromkeys(row[by] for row in told.rows)
        drawn = [
            _series(_named(drawing.series, units[drawing.series], name), rows, x, y)
            for name in names
            for rows in [[row for row in told.rows if row[by] == name]]
        ]
    label = _words(drawing.y[0]) if len(drawing.y) == 1 else units[drawing.y[0]]
    return Chart(drawing.title, drawing.kind, _words(drawing.x), label, tuple(drawn))


def _series(name: str, rows: Sequence[tuple[Any, ...]], x: int, y: int) -> Series:
    return Series(name, tuple(row[x] for row in rows), tuple(row[y] for row in rows))


def _named(column: str, unit: str, value: object) -> str:
    return str(value) if unit == "text" else f"{_words(column)} {value}"


def _words(column: str) -> str:
    return column.replace("_", " ")
