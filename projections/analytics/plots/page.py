"""A report as one HTML page: needs no network, runs no script, prints well, reads well aloud."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from html import escape
from typing import Any
from xml.etree import ElementTree as ET

from projections.analytics.plots.charts import NOTHING, Chart, Table, laid_out, numbers
from projections.analytics.plots.labels import plain
from projections.analytics.plots.pictures import COLOURS, FAINT, INK, MOST_SERIES, PAPER, png, svg
from projections.analytics.plots.ticks import number

__all__ = ["page", "png"]

MOST_ROWS = 2000

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# the colours of the same names on a dark page
_DARK = (
    *("#5cb3f0", "#ff9650", "#3fcf9e", "#f08cc6"),
    *("#e2bd4a", "#aaa0ff", "#b4bec8", "#5ed3ea"),
)
_NAMES = {INK: "ink", FAINT: "line", PAPER: "paper"}
_NAMES |= {colour: f"c{n}" for n, colour in enumerate(COLOURS)}
_LIGHT_VARIABLES = "".join(f"--{name}:{colour};" for colour, name in _NAMES.items())
_DARK_VARIABLES = "--ink:#e7e7ea;--line:#3f3f46;--paper:#17171a;" + "".join(
    f"--c{n}:{colour};" for n, colour in enumerate(_DARK)
)
_STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT_VARIABLES}--soft:#5b5b66;--band:#f6f6f8}}
@media screen and (prefers-color-scheme:dark){{
:root{{{_DARK_VARIABLES}--soft:#a5a5b0;--band:#1f1f24}}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;padding:2.5rem 1.25rem 4rem;max-width:58rem;background:var(--paper);
color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}}
h1{{font-size:1.7rem;line-height:1.2;margin:0 0 .4rem;text-wrap:balance}}
h2{{font-size:1.1rem;margin:0 0 .5rem}}
.about{{margin:0;max-width:44rem}}
footer,.note{{color:var(--soft);font-size:.9rem}}
section,figure{{margin:2.2rem 0 0}}
footer{{margin-top:2.5rem;padding-top:.75rem;border-top:1px solid var(--line)}}
figure svg{{display:block;width:100%;height:auto;font-family:system-ui,sans-serif}}
figure svg *{{stroke-linejoin:round;stroke-linecap:butt}}
.scroll{{overflow-x:auto}}
.scroll:focus-visible{{outline:2px solid var(--c0)}}
table{{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;min-width:40%}}
caption{{text-align:left;font-weight:600;font-size:1.1rem;padding-bottom:.4rem}}
th,td{{text-align:left;vertical-align:top;padding:.28rem .9rem .28rem .4rem;
border-bottom:1px solid var(--line);font-weight:400;max-width:36rem;min-width:3.5rem}}
thead th{{font-weight:600;border-bottom:1.5px solid var(--ink)}}
tbody tr:nth-child(even){{background:var(--band)}}
.n{{text-align:right;white-space:nowrap}}
@media print{{body{{padding:0;max-width:none;font-size:10pt}}
figure,tr{{break-inside:avoid}}thead{{display:table-header-group}}h2{{break-after:avoid}}
.scroll{{overflow:visible}}}}
""".strip()


def page(
    title: str, about: str, charts: Sequence[Chart], tables: Sequence[Table], made: str
) -> str:
    """One HTML page with the charts, and below them the numbers.

    Without tables, the numbers are those of the charts. Nothing of the texts is obeyed as HTML,
    and the same texts and numbers give the same page. ``made`` says when and from what.

    Raises:
        ValueError: a series has not as many y as x, or a row not as many cells as its table.
    """
    shown = tables or [numbers(c) for c in charts if c.series]
    body = [
        f"<h1>{_text(title)}</h1>",
        *(f'<p class="about">{_text(line)}</p>' for line in about.splitlines() if line.strip()),
        *(_figure(n, chart) for n, chart in enumerate(charts)),
        *(_table(table) for table in shown),
        f"<footer>{_text(made)}</footer>",
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(title, 200)}</title>",
            f"<style>{_STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            *body,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _text(text: object, room: int | None = None) -> str:
    return escape(plain(text, room))


def _figure(n: int, chart: Chart) -> str:
    heading = f"<h2>{_text(chart.title)}</h2>\n" if chart.title.strip() else ""
    if laid_out(chart, MOST_SERIES).empty:
        return f'<section>\n{heading}<p class="note">{NOTHING}</p>\n</section>'
    return f"<figure>\n{heading}{_inline(n, chart)}\n</figure>"


def _inline(n: int, chart: Chart) -> str:
    """The chart as an element of the page, in the page's colours and fonts."""
    root = ET.fromstring(svg(chart))  # noqa: S314 — it was written a line ago, by our own hand
    mine = f"f{n}-"
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"}:
                parent.remove(child)
    for element in root.iter():
        _adopt(element, mine)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {
        "xmlns": _SVG,
        "role": "img",
        "aria-labelledby": f"{mine}title {mine}desc",
    }
    for tag, text in (("desc", _described(chart)), ("title", plain(chart.title, 200) or "Chart")):
        element = ET.Element(tag, {"id": mine + tag})
        element.text = text
        root.insert(0, element)
    return ET.tostring(root, encoding="unicode")


def _adopt(element: ET.Element, mine: str) -> None:
    """An element of an SVG document becomes one of the page."""
    element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
    href = element.attrib.pop(_HREF, None)
    if href is not None:
        element.set("href", f"#{mine}{href.removeprefix('#')}")
    if "id" in element.attrib:
        element.set("id", mine + element.attrib["id"])
    for name in ("style", "clip-path", "fill", "stroke"):
        if name in element.attrib:
            element.set(name, _of_the_page(element.attrib[name], mine))
    # what stands between elements is indentation
    element.tail = "\n" if element.tag == "g" else None
    if element.tag not in {"text", "tspan"}:
        element.text = None


def _of_the_page(style: str, mine: str) -> str:
    """Colours become the page's, which are others in the dark; names become this chart's own."""
    style = re.sub(
        r"#[0-9a-f]{6}",
        lambda m: f"var(--{_NAMES[m[0]]},{m[0]})" if m[0] in _NAMES else m[0],
        style,
    )
    style = re.sub(r"font-family:[^;]*;?\s*", "", style)
    # the short form sets the font's family too
    style = re.sub(r"font:[^;]*?([\d.]+px)[^;]*;?\s*", r"font-size: \1; ", style)
    return re.sub(r"url\(#", f"url(#{mine}", style)


def _described(chart: Chart) -> str:
    """What a reader hears who does not see the chart."""
    kinds = {"line": "Line", "bars": "Bar", "stacked": "Stacked bar", "scatter": "Scatter"}
    y_name, x_name = plain(chart.y_label, 80) or "values", plain(chart.x_label, 80) or "x"
    start = f"{kinds[chart.kind]} chart of {y_name} by {x_name}"
    layout = laid_out(chart, MOST_SERIES)
    names = [plain(t.name, 40) or "—" for t in layout.traces]
    series = f"{len(names)} series ({', '.join(names)})" if len(names) > 1 else names[0]
    low, high = number(min(layout.ys)), number(max(layout.ys))
    values = f"all {low}" if low == high else f"from {low} to {high}"
    count = len(layout.ys)
    points = "1 value" if count == 1 else f"{count:,} values"
    end = f" {layout.note}" if layout.note else ""
    return f"{start}: {series}, {points}, {values}.{end} The numbers stand in a table below."


def _table(table: Table) -> str:
    for row in table.rows:
        if len(row) != len(table.columns):
            raise ValueError(
                f"Table {table.title!r} has {len(table.columns)} columns"
                f" and a row of {len(row)} cells: give as many of both."
            )
    numeric = [
        all(isinstance(row[n], int | float | Decimal | None) for row in table.rows)
        and not all(isinstance(row[n], bool | None) for row in table.rows)
        for n in range(len(table.columns))
    ]
    shown = table.rows[:MOST_ROWS]
    head = "".join(
        f'<th scope="col"{_right(right)}>{_text(name)}</th>'
        for name, right in zip(table.columns, numeric, strict=True)
    )
    lines = [
        "<section>",
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.title, 200)}">',
        "<table>",
        f"<caption>{_text(table.title)}</caption>",
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
        *(_row(row, numeric) for row in shown),
        "</tbody>",
        "</table>",
        "</div>",
    ]
    if len(table.rows) > len(shown):
        count = f"The first {len(shown):,} of {len(table.rows):,} rows"
        lines.append(f'<p class="note">{count}; --json gives all of them.</p>')
    elif not table.rows:
        lines.append('<p class="note">No rows yet.</p>')
    return "\n".join([*lines, "</section>"])


def _row(row: Iterable[Any], numeric: Sequence[bool]) -> str:
    cells = [
        f'<th scope="row"{_right(right)}>{_cell(value)}</th>'
        if n == 0
        else f"<td{_right(right)}>{_cell(value)}</td>"
        for n, (value, right) in enumerate(zip(row, numeric, strict=True))
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _right(right: bool) -> str:
    return ' class="n"' if right else ""


def _cell(value: object) -> str:
    """A value for a reader; what is not there is a dash."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Decimal):
        return f"{value:,f}" if value.is_finite() else "—"
    if isinstance(value, datetime):
        zone = "Z" if value.tzinfo and not value.utcoffset() else f"{value:%z}"
        return f"{value:%Y-%m-%d %H:%M:%S}{zone}"
    if isinstance(value, date):
        return value.isoformat()
    return _text(value)


def _float(value: float) -> str:
    if value != value or abs(value) == float("inf"):  # noqa: PLR0124 — so it is that NaN is told
        return "—"
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.6g}"
