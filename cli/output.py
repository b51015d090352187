"""How answers look: plain where they are piped, coloured where a person looks, JSON where asked."""

import json
import os
import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from shutil import get_terminal_size
from typing import Any, Literal

import typer

from domain import sentences

Shade = Literal["strong", "faint", "good", "bad", "mind", "user"]

_STYLES: dict[Shade, dict[str, Any]] = {
    "strong": {"bold": True},
    "faint": {"dim": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "strikethrough": True},
    "mind": {"fg": "cyan"},
    "user": {"fg": "yellow"},
}

GAP = "  "
"""What stands between columns."""

NARROWEST = 10
"""Texts in columns are not cut below this."""

count = sentences.count

_PADDED = 60
"""Where nobody looks, a column is no wider than this: longer texts stand out."""

# what a terminal would obey rather than show: escape sequences in a text stay text
_VISIBLE = {c: 0x2400 + c for c in range(0x20) if c not in {0x09, 0x0A}}
_VISIBLE |= {0x7F: 0x2421} | dict.fromkeys(range(128, 160), 65533)
# and what would turn the reading direction around
_VISIBLE |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_ESCAPED = {c: f"\\u{c:04x}" for c in _VISIBLE if c >= 0x7F}


_SHADE = re.compile("\x1b\\[[0-9;]*m")


def safe(text: str) -> str:
    """The text without anything that a terminal would obey."""
    return text.translate(_VISIBLE).encode("utf-8", "replace").decode("utf-8")


def shade(text: str, how: Shade) -> str:
    """The text in a style, where somebody looks at it in colour."""
    return typer.style(text, **_STYLES[how]) if coloured() else text


def coloured() -> bool:
    """Whether stdout is a terminal that takes colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def answer(line: str = "") -> None:
    """A line of data, on stdout."""
    print(line)


def talk(line: str) -> None:
    """A line about what is going on, on stderr."""
    print(line, file=sys.stderr, flush=True)


def as_json(value: Any) -> None:
    """Data as JSON, on stdout; bytes become hex."""
    print(_json(value, indent=2))


def json_lines(values: Iterable[Any]) -> None:
    """Data as one JSON object a line, as it comes."""
    for value in values:
        print(_json(value), flush=True)


def _json(value: Any, indent: int | None = None) -> str:
    """Readable in any script, and still nothing that a terminal would obey."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    return text.translate(_ESCAPED).encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def width() -> int:
    """Columns to write in."""
    return min(get_terminal_size((88, 24)).columns, 100)


def block(text: str, *, indent: str = "  ", lines: int | None = None) -> str:
    """A text as a paragraph, wrapped and indented, cut after so many lines."""
    out: list[str] = []
    for line in safe(text).splitlines() or [""]:
        out += textwrap.wrap(line, width() - len(indent), replace_whitespace=False) or [""]
    if lines is not None and len(out) > lines:
        more = len(out) - lines
        out = [*out[:lines], f"… ({more} more line{'s' if more > 1 else ''}: --full)"]
    return "\n".join(f"{indent}{line}".rstrip() for line in out)


def one_line(text: str, room: int) -> str:
    """A text on one line, cut to fit."""
    line = " ".join(safe(text).split())
    return line if len(line) <= room else line[: max(room - 1, 0)] + "…"


def marked(change: Literal["same", "removed", "added"], text: str) -> str:
    """A stretch of a word diff: [-gone-] and {+new+}, or in colour."""
    text = safe(text)
    if change == "same":
        return text
    if change == "removed":
        return shade(text, "bad") if coloured() else f"[-{text}-]"
    return shade(text, "good") if coloured() else f"{{+{text}+}}"


def wrapped(text: str, *, indent: str = "") -> str:
    """A text with shades in it, indented, and broken between words where a terminal ends."""
    room = width() - len(indent) if sys.stdout.isatty() else sys.maxsize
    lines = (part for line in text.split("\n") for part in _broken(line, room))
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def _broken(line: str, room: int) -> list[str]:
    lines, taken = [""], 0
    for word in re.findall(" *[^ ]+| +$", line):
        wide = len(_SHADE.sub("", word))
        if lines[-1] and taken + wide > room:
            lines.append(word.lstrip(" "))
            taken = len(_SHADE.sub("", lines[-1]))
        else:
            lines[-1] += word
            taken += wide
    return lines


def table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str],
    *,
    cut: Sequence[str] | None = None,
    spare: Sequence[str] = (),
    wrapped: bool = False,
) -> None:
    """Print columns; where a terminal is too narrow for them, each row as a paragraph.

    Args:
        rows: the cells.
        header: what stands above the columns.
        cut: names of columns with texts that may be cut, the widest first; by default the last.
            Numbers and names are never cut.
        spare: names of columns that are left out, in this order, where that does not do.
        wrapped: whether a text in the last column goes on below itself, rather than being cut.
    """
    if not rows:
        return
    texts = cut if cut is not None else header[-1:]
    lines = columns(
        [header, *rows],
        [number for number, name in enumerate(header) if name in texts],
        [header.index(name) for name in spare if name in header],
        wrapped=wrapped,
    )
    if lines is not None:
        answer(shade(lines[0], "faint"))
    for line in lines[1:] if lines is not None else _paragraphs(rows, header):
        answer(line)


def columns(
    rows: Sequence[Sequence[str]],
    cut: Collection[int],
    spare: Iterable[int] = (),
    *,
    wrapped: bool = False,
) -> list[str] | None:
    """Lines with the cells below each other; whole where nobody looks, else fit for the terminal.

    Args:
        rows: the cells, at least one row.
        cut: numbers of columns that may be cut, the widest first.
        spare: numbers of columns that are left out, in this order, where that does not do.
        wrapped: whether a text in the last column goes on below itself, rather than being cut.

    Returns:
        None if the terminal is too narrow all the same.
    """
    cells = [[in_a_row(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    shown = list(range(len(widths)))
    if not sys.stdout.isatty():
        return [_side_by_side(row, [min(width, _PADDED) for width in widths]) for row in cells]
    room = get_terminal_size((88, 24)).columns
    for gone in (None, *spare):
        shown = [column for column in shown if column != gone]
        texts = [place for place, column in enumerate(shown) if column in cut]
        sizes = fitted([widths[column] for column in shown], room, texts)
        if sizes is not None:
            picked = [[row[column] for column in shown] for row in cells]
            below = [_goes_on(row, sizes[-1]) if wrapped else [row] for row in picked]
            lines = (line for several in below for line in several)
            return [_side_by_side(map(shortened, line, sizes), sizes) for line in lines]
    return None


def _goes_on(row: Sequence[str], room: int) -> list[Sequence[str]]:
    """A row, and below it what has no room in its last column."""
    if len(row[-1]) <= room:
        return [row]
    first, *more = textwrap.wrap(row[-1], room, break_on_hyphens=False)
    nothing = [""] * (len(row) - 1)
    return [[*row[:-1], first], *([*nothing, text] for text in more)]


def fitted(widths: Sequence[int], room: int, cut: Collection[int]) -> list[int] | None:
    """Widths of columns that fit side by side, the widest of those in ``cut`` made narrower.

    Returns:
        None where texts would be cut to nothing.
    """
    room -= len(GAP) * (len(widths) - 1)
    room -= sum(width for number, width in enumerate(widths) if number not in cut)
    texts = [widths[number] for number in cut]
    if sum(min(width, NARROWEST) for width in texts) > room:
        return None
    low, high = NARROWEST, max(texts, default=NARROWEST)
    while low < high:  # the widest limit with which all of them fit
        middle = (low + high + 1) // 2
        if sum(min(width, middle) for width in texts) <= room:
            low = middle
        else:
            high = middle - 1
    return [min(width, low) if n in cut else width for n, width in enumerate(widths)]


def _side_by_side(cells: Iterable[str], sizes: Sequence[int]) -> str:
    return GAP.join(cell.ljust(size) for cell, size in zip(cells, sizes, strict=True)).rstrip()


def _paragraphs(rows: Sequence[Sequence[str]], header: Sequence[str]) -> Iterator[str]:
    for number, row in enumerate(rows, 1):
        yield from paragraph(number, header, row, width())


def paragraph(number: int, names: Sequence[str], row: Sequence[str], room: int) -> Iterator[str]:
    """The lines of a row of a table that would be too wide: a cell on each."""
    widest = max(map(len, names))
    yield shade(f"— {number} —", "faint")
    for name, cell in zip(names, row, strict=True):
        told = one_line(cell, max(room - widest - len(GAP), 20))
        yield f"{shade(name.rjust(widest), 'faint')}{GAP}{told}".rstrip()


def in_a_row(text: str) -> str:
    """A text on one line, with the spaces that it has."""
    return text if text.isprintable() else " ".join(safe(text).split())


def shortened(text: str, room: int) -> str:
    """A line, cut to fit."""
    return text if len(text) <= room else text[: room - 1] + "…"


def when(at: int) -> str:
    """Microseconds since 1970 as local time to the second."""
    return f"{datetime.fromtimestamp(at / 1e6).astimezone():%Y-%m-%d %H:%M:%S}"


def iso(at: int) -> str:
    """Microseconds since 1970 as ISO 8601 in UTC, for programs."""
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="microseconds")


def drafted(drafts: int, *, open_: bool) -> str:
    """How far a session's exchange is: ``idle``, ``no draft``, ``2 drafts``."""
    if not open_:
        return "idle"
    return count(drafts, "draft") if drafts else "no draft"


def each(names: Iterable[str]) -> str:
    """``activity, drafts and spending``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
