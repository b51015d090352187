"""What the history tells: report."""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import output as out
from cli.cells import at_its_cell
from cli.options import AtOption, JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk_at

if TYPE_CHECKING:
    from projections.analytics.reports.contract import Column, Report, Told

HEIGHT = 16
"""Lines of a chart."""

BESIDE = 5
"""Most rows that are shown beside each other."""

LONGEST = 200
"""Characters of a text; --json gives all of it."""

_NUMBERS = frozenset(
    {"number", "version", "iteration", "count", "mean", "share", "similarity"}
    | {"tokens", "USD", "seconds", "ms"}
)
_FORMATS = {
    "mean": "{:.2f}",
    "similarity": "{:z.2f}",
    "share": "{:.0%}",
    "USD": "{:.4f}",
    "seconds": "{:.1f}",
    "ms": "{:.0f}",
}
_MARKS = {"USD": "USD", "seconds": "s", "ms": "ms"}


def report(
    name: Annotated[str | None, typer.Argument(help="Which report.", metavar="NAME")] = None,
    list_: Annotated[bool, typer.Option("--list", "-l", help="Show which there are.")] = False,
    plot: Annotated[bool, typer.Option("--plot", "-p", help="Draw the charts, too.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page with tables and charts.", metavar="FILE"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace that page.")] = False,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="Rows of a long table; 0 for all.")
    ] = 20,
    at: AtOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Tell what a session came to: its drafts, answers, thoughts, costs, branches.

    Example: mind report drafts --plot
    """
    from projections.analytics.reports import contract as reporting  # noqa: PLC0415 — as needed

    if list_ or name is None:
        _list(reporting.reports(), json=json)
        return
    if json and (plot or html is not None):
        raise typer.BadParameter("--json gives the numbers alone: leave out --plot and --html")
    what = reporting.report(name)
    if html is not None:
        from cli.answers import refuse_taken  # noqa: PLC0415 — only where a file is written

        refuse_taken(html, force=force)
    with desk_at(store, session, at) as whole, at_its_cell(whole) as here:
        version = here.version or here.log.head(here.session).version
        told = _asked(here, what)
        made = out.when(here.world.now())
    if json:
        out.as_json(_as_data(what, here.session, version, told))
        return
    if html is not None:
        _write(html, what, told, f"Made {made} of {here.session} at version {version}.")
        return
    if not any(one.rows for one in told):
        out.talk(f"Nothing to report yet: {told[0].section.nothing}.")
        return
    _print(told, count, plot=plot)


def _list(known: "Sequence[Report]", *, json: bool) -> None:
    if json:
        out.as_json([_contract(one) for one in known])
        return
    out.table([(one.name, one.about) for one in known], ("report", "what it tells"))


def _contract(what: "Report") -> dict[str, Any]:
    """What a report promises, for programs."""
    sections = {
        section.name: {
            "title": section.title,
            "about": section.about,
            "columns": [column._asdict() for column in section.columns],
        }
        for section in what.sections
    }
    return {
        "report": what.name,
        "title": what.title,
        "about": what.about,
        "parameters": what.parameters,
        "sections": sections,
    }


def _asked(here: Desk, what: "Report") -> "list[Told]":
    """Ask the database, caught up."""
    from cli.rebuild import caught_up  # noqa: PLC0415 — only where something is asked
    from projections.analytics.database import opened  # noqa: PLC0415 — brings DuckDB
    from projections.analytics.reports.contract import tell  # noqa: PLC0415 — as above

    with caught_up(here.log, here.directory) as file, closing(opened(file)) as connection:
        return tell(connection, what, here.session, here.version)


def _as_data(what: "Report", session: str, version: int, told: "Sequence[Told]") -> dict[str, Any]:
    sections = {
        one.section.name: [
            {
                column.name: _plain(value)
                for column, value in zip(one.section.columns, row, strict=True)
            }
            for row in one.rows
        ]
        for one in told
    }
    return {"report": what.name, "session": session, "version": version, "sections": sections}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat(timespec="microseconds")
    return value.isoformat() if isinstance(value, date) else value


def _print(told: "Sequence[Told]", count: int, *, plot: bool) -> None:
    for number, one in enumerate(told):
        if not one.rows:
            out.talk(f"{one.section.title}: nothing to report yet, {one.section.nothing}.")
            continue
        if number:
            out.answer()
        out.answer(out.shade(one.section.title, "strong"))
        if one.section.about:
            out.answer(out.shade(one.section.about, "faint"))
        if one.section.shape == "facts":
            _facts(one)
        else:
            _rows(one, count)
        if plot:
            _draw(one)


def _facts(one: "Told") -> None:
    """One row, each column on a line of its own with what it means."""
    cells = [
        (_label(column), _cell(value, column.unit), column.about)
        for column, value in zip(one.section.columns, one.rows[0], strict=True)
    ]
    for line in out.columns(cells, (1, 2)) or map(out.GAP.join, cells):
        out.answer(line)


def _rows(one: "Told", count: int) -> None:
    from cli.answers import Look, table_lines  # noqa: PLC0415 — only where there is a table

    section, rows = one.section, one.rows
    left = max(len(rows) - count, 0) if count else 0
    if left:
        rows = rows[left:] if section.keep == "last" else rows[:count]
    where = "before these" if section.keep == "last" else "more"
    cells = [
        [_cell(value, column.unit) for column, value in zip(section.columns, row, strict=True)]
        for row in rows
    ]
    names = [_label(column) for column in section.columns]
    types = ["BIGINT" if column.unit in _NUMBERS else "VARCHAR" for column in section.columns]
    if section.shape == "beside" and len(cells) <= BESIDE:
        (_, *names), *cells = map(list, zip(names, *cells, strict=True))
        names, types = ["", *names], ["VARCHAR", *["BIGINT"] * len(names)]
    for line in table_lines(names, types, cells, Look.of_this_terminal(full=False)):
        out.answer(line)
    if left:
        out.talk(f"… and {out.count(left, 'row')} {where}: -n 0")


def _draw(one: "Told") -> None:
    from projections.analytics.plots.terminal import drawn  # noqa: PLC0415
    from projections.analytics.reports.contract import charts  # noqa: PLC0415 — only to draw

    for chart in charts(one._replace(rows=_with_times(one, _local))):
        out.answer()
        out.answer(drawn(chart, out.width(), HEIGHT, colour=out.coloured()))


def _write(html: Path, what: "Report", told: "Sequence[Told]", made: str) -> None:
    from cli.answers import placed  # noqa: PLC0415 — only where a file is written
    from projections.analytics.plots.charts import Table  # noqa: PLC0415
    from projections.analytics.plots.page import page  # noqa: PLC0415
    from projections.analytics.reports.contract import charts  # noqa: PLC0415

    told = [one._replace(rows=_with_times(one, _utc)) for one in told]
    drawings = [chart for one in told for chart in charts(one)]
    tables = [_table(one) for one in told if one.rows]
    silent = [f"{o.section.title}: nothing yet, {o.section.nothing}." for o in told if not o.rows]
    meanings = [
        (one.section.title, _label(column), column.unit, column.about)
        for one in told
        if one.rows and one.section.shape != "facts"
        for column in one.section.columns
    ]
    if meanings:
        columns = ("table", "column", "unit", "meaning")
        tables.append(Table("What the columns mean", columns, tuple(meanings)))
    text = page(what.title, "\n".join([what.about, *silent]), drawings, tables, made)
    with placed(html) as file:
        file.write(text.encode("utf-8"))
    out.talk(f"Wrote {html}.")


def _table(one: "Told") -> Any:
    from projections.analytics.plots.charts import Table  # noqa: PLC0415 — only to draw

    section = one.section
    if section.shape == "facts":
        facts = tuple(
            (_label(column), value, column.about)
            for column, value in zip(section.columns, one.rows[0], strict=True)
        )
        return Table(section.title, ("what", "value", "meaning"), facts)
    return Table(section.title, tuple(_label(c) for c in section.columns), tuple(one.rows))


def _with_times(one: "Told", zone: Any) -> list[tuple[Any, ...]]:
    """The rows with their times as those of a zone, and their texts not too long to be read."""

    def shown(value: Any) -> Any:
        if isinstance(value, datetime):
            return zone(value)
        return out.one_line(value, 2 * LONGEST) if isinstance(value, str) else value

    return [tuple(map(shown, row)) for row in one.rows]


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC)


def _local(time: datetime) -> datetime:
    return _utc(time).astimezone().replace(tzinfo=None)


def _label(column: "Column") -> str:
    name = column.name.replace("_", " ")
    mark = _MARKS.get(column.unit)
    return name if mark is None or column.unit == column.name else f"{name} ({mark})"


def _cell(value: Any, unit: str) -> str:
    """A value as a reader wants it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, datetime):
        return f"{_local(value):%Y-%m-%d %H:%M:%S}"
    text = _FORMATS.get(unit, "{}").format(value)
    return out.one_line(text, LONGEST) if unit == "text" else text


def register(app: typer.Typer) -> None:
    """Add the verb of this file."""
    app.command()(report)
