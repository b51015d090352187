"""Reports as pages: self-contained, the same each time, and texts in them stay texts."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from projections.analytics.plots.charts import NOTHING, Chart, Series, Table
from projections.analytics.plots.page import page, png
from projections.analytics.plots.pictures import MOST_POINTS
from tests.projections.analytics.plots.samples import (
    KINDS,
    START,
    chart,
    days,
    edges,
    hostile,
    hostile_table,
    usual,
)

_VOID = {"meta"}
_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "footer"),
    *("figure", "section", "div", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "g", "defs", "path", "use", "text", "tspan", "desc", "pattern", "rect"),
    *("clippath", "image"),
}


class _Read(HTMLParser):
    """A page as a browser takes it: each tag closed, in order, and none that isn't ours."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, tag
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.append((self.open[-1], data))

    def said(self, *tags: str) -> list[str]:
        """The texts in elements of these names."""
        return [text for tag, text in self.texts if tag in tags]


def read(text: str) -> _Read:
    """The page, after everything that any page must keep."""
    found = _Read(text)
    ids = [value for _, name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for tag, name, value in found.attributes:
        assert not name.startswith("on")
        assert name != "src"
        if name == "href":
            assert value.startswith("#")
            assert value[1:] in ids
        if name == "aria-labelledby":
            assert set(value.split()) <= set(ids)
        for target in re.findall(r"url\((.*?)\)", value):
            assert target.removeprefix("#") in ids, (tag, name)
    assert set(re.findall(r'(\S*)="https?:', text)) <= {"xmlns"}
    return found


def pictures(text: str) -> Iterator[ET.Element]:
    """The charts of a page, each an XML document of its own."""
    for source in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        yield ET.fromstring(source)  # noqa: S314 — a page that we wrote


def report(*charts: Chart, tables: tuple[Table, ...] = ()) -> str:
    """A page of them."""
    return page("Drafts", "What happened.", charts, tables, "Made of version 412.")


def test_a_report_is_one_page() -> None:
    """Its title, its charts, the numbers, and of when it is."""
    text = report(*usual(), tables=(Table("By model", ("model", "USD"), (("haiku", 1.5),)),))
    found = read(text)
    assert found.said("h1", "footer") == ["Drafts", "Made of version 412."]
    assert found.said("caption") == ["By model"]
    assert len(list(pictures(text))) == len(usual())


def test_the_page_asks_nobody_and_runs_nothing() -> None:
    """A policy forbids what the page does not do anyway."""
    policies = [v for tag, name, v in read(report(*usual())).attributes if name == "content"]
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in policies


def _each_once() -> Iterator[Any]:
    """Every edge as a line or stacked, in turns; the other way by ``make test-slow``."""
    ways = [[c for c in edges() if c.kind == kind] for kind in ("line", "stacked")]
    for number, pair in enumerate(zip(*ways, strict=True)):
        yield pair[number % 2]
        yield pytest.param(pair[1 - number % 2], marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "sample", [*_each_once()], ids=lambda c: f"{c.kind}-{[s.name for s in c.series][:1]}"
)
def test_every_edge_is_a_page(sample: Chart) -> None:
    """One point, none, the same again, gaps, centuries, thousands: a chart or a sentence."""
    text = report(sample)
    found = read(text)
    assert NOTHING in found.said("p") or [p.get("role") for p in pictures(text)] == ["img"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_texts_stay_texts(kind: Any) -> None:
    """Nothing that a user or a mind wrote becomes an element, a formula or a control."""
    for sample in (c for c in hostile() if c.kind == kind):
        text = page(sample.title, sample.title, [sample], [hostile_table()], sample.title)
        read(text)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff\u202e]", text)
        assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize(
    "label", ["$x^2$ and $\\frac{", "漢字のモデル", "<script>alert(1)</script>", "_hidden"]
)
def test_texts_in_a_chart_can_be_searched(label: str) -> None:
    """They are letters, not outlines, in any script, and no mathematics."""
    sample = Chart("", "line", label, "y", (Series(label, (1,), (2,)), Series("b", (1,), (3,))))
    (picture,) = pictures(report(sample))
    texts = ["".join(t.itertext()) for t in picture.iter() if t.tag.endswith("text")]
    assert texts.count(label) == 2


def test_a_chart_is_described() -> None:
    """Who hears the page is told what is drawn, and where the numbers are."""
    (picture,) = pictures(
        report(chart("line", Series("a", (1, 2), (3, 4)), Series("b", (1,), (9,))))
    )
    title, desc = picture[0], picture[1]
    assert (title.tag.rpartition("}")[2], title.text) == ("title", "Drafts")
    assert desc.text == (
        "Line chart of drafts by exchange: 2 series (a, b), 3 values, from 3 to 9."
        " The numbers stand in a table below."
    )


def test_without_tables_the_numbers_are_those_of_the_charts() -> None:
    """What is drawn can always be read."""
    found = read(report(chart("bars", Series("in", ("haiku",), (120_345,)))))
    assert found.said("th", "td") == ["exchange", "in", "haiku", "120,345"]


def test_a_table_says_values_as_people_do() -> None:
    """Numbers stand to the right, what is missing is a dash, times are exact."""
    row = (START, date(2026, 1, 2), 0.1234567, 12_345, Decimal("1.50"), True, None, float("nan"))
    found = read(report(tables=(Table("t", tuple("abcdefgh"), (row,)),)))
    assert found.said("th", "td")[8:] == [
        *("2026-10-20 00:00:00Z", "2026-01-02", "0.123457", "12,345"),
        *("1.50", "yes", "—", "—"),
    ]


def test_a_row_that_lost_a_cell_is_an_error() -> None:
    """Better no page than values under the wrong heading."""
    with pytest.raises(ValueError, match="Table 't' has 2 columns and a row of 1 cells"):
        report(tables=(Table("t", ("a", "b"), ((1,),)),))


def test_a_long_table_says_what_it_leaves_out() -> None:
    """A browser survives, and the reader knows."""
    rows = tuple((n,) for n in range(5000))
    found = read(report(tables=(Table("t", ("n",), rows),)))
    assert "The first 2,000 of 5,000 rows; --json gives all of them." in found.said("p")


def test_a_cloud_of_points_says_what_it_leaves_out() -> None:
    """A page of megabytes helps nobody."""
    many = tuple(range(3 * MOST_POINTS))
    (picture,) = pictures(report(chart("scatter", Series("a", many, many))))
    assert "One of 3 points is drawn." in "".join(picture.itertext())


@pytest.mark.parametrize("kind", ["bars", "stacked"])
def test_series_differ_without_colour(kind: Any) -> None:
    """Each but the first has a hatch of its own."""
    (picture,) = pictures(
        report(chart(kind, *(Series(f"s{n}", days(3), (1, 2, 3)) for n in range(8))))
    )
    patterns = [p for p in picture.iter() if p.tag.endswith("pattern")]
    assert len({"".join(e.get("d", "") for e in p.iter()) for p in patterns}) == 7


def test_lines_differ_without_colour() -> None:
    """No two series have both the same dashes and the same marker."""
    (picture,) = pictures(
        report(chart("line", *(Series(f"s{n}", (1, 2), (n, 1)) for n in range(8))))
    )
    looks = set()
    for group in picture.iter():
        dashes = [
            p.get("style", "") for p in group if p.tag.endswith("path") and p.get("clip-path")
        ]
        marks = [m.get("d") for m in group.iter() if m.tag.endswith("path") and m.get("id")]
        if len(dashes) == 1 and "line2d" in group.get("id", "") and marks:
            found = re.search("stroke-dasharray: ([^;]*)", dashes[0])
            looks.add((found[1] if found else "", *marks))
    assert len(looks) == 8


def test_charts_follow_the_page_into_the_dark() -> None:
    """Each colour is a name that the page gives a value, for light and for dark."""
    text = report(*usual())
    used = {
        name
        for picture in pictures(text)
        for e in picture.iter()
        for name in re.findall(r"var\(--(\w+)", e.get("style", ""))
    }
    light, dark = re.findall(r":root\{(.*?)\}", text)
    assert {"ink", "line", "c0", "c2"} <= used
    for given in (light, dark):
        assert used <= set(re.findall(r"--(\w+):#", given))


@pytest.mark.slow
def test_the_same_numbers_make_the_same_page() -> None:
    """Byte for byte, here and in another process with other settings."""
    charts = [*usual(), *edges()[::9]]
    here = report(*charts).encode()
    assert report(*charts).encode() == here
    code = (
        "import sys\n"
        "from tests.projections.analytics.plots.samples import usual, edges\n"
        "from tests.projections.analytics.plots.test_page import report\n"
        "sys.stdout.buffer.write(report(*usual(), *edges()[::9]).encode())"
    )
    other = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "MPLBACKEND": "svg"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env={**os.environ, **other, "PYTHONPATH": str(Path.cwd())},
    )
    assert done.stdout == here


@pytest.mark.slow
def test_a_picture_is_a_picture() -> None:
    """PNG, the same each time, for texts in any script."""
    for sample in (*usual(), *edges()[::13], hostile()[1], hostile()[8]):
        made = png(sample)
        assert made.startswith(b"\x89PNG\r\n\x1a\n")
        assert png(sample) == made


def test_the_settings_of_a_notebook_stay() -> None:
    """Who uses matplotlib in the same process finds it as it was, and doesn't change our charts."""
    import matplotlib as mpl  # noqa: PLC0415 — the module whose state is looked at

    before = report(usual()[0])
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.facecolor": "red"}):
        settings = repr(mpl.rcParams)
        assert report(usual()[0]) == before
        assert png(usual()[0])
        assert repr(mpl.rcParams) == settings


def test_pages_of_the_same_title_do_not_share_names() -> None:
    """Two charts of one page never take each other's markers or hatches."""
    text = report(usual()[4], usual()[4], usual()[1], usual()[1])
    read(text)
    first, second, *_ = re.findall(r'id="(f\d+-)', text)
    assert first == second == "f0-"


def test_no_window_is_prepared() -> None:
    """The part of matplotlib that looks for a screen is never loaded."""
    code = (
        "import sys\n"
        "from tests.projections.analytics.plots.samples import usual\n"
        "from tests.projections.analytics.plots.test_page import png, report\n"
        "report(*usual())\n"
        "png(usual()[0])\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
