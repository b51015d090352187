"""How answers look: plain where they are piped, coloured where a person looks, JSON where asked."""

import json
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from shutil import get_terminal_size
from typing import Any, Literal

import typer

Shade = Literal["strong", "faint", "good", "bad", "mind", "user"]

_STYLES: dict[Shade, dict[str, Any]] = {
    "strong": {"bold": True},
    "faint": {"dim": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "strikethrough": True},
    "mind": {"fg": "cyan"},
    "user": {"fg": "yellow"},
}

# what a terminal would obey rather than show: escape sequences in a text stay text
_VISIBLE = {c: 0x2400 + c for c in range(0x20) if c not in {0x09, 0x0A}}
_VISIBLE |= {0x7F: 0x2421} | dict.fromkeys(range(128, 160), 65533)
# and what would turn the reading direction around
_VISIBLE |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_ESCAPED = {c: f"\\u{c:04x}" for c in _VISIBLE if c >= 0x7F}


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


def table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    """Columns, wide enough for what stands in them; the last one takes what is left."""
    if not rows:
        return
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    for number, row in enumerate([header, *rows]):
        cells = [safe(str(cell)).ljust(size) for cell, size in zip(row[:-1], widths, strict=False)]
        room = max(width() - sum(widths[:-1]) - 2 * len(cells), 20)
        last = one_line(str(row[-1]), room) if sys.stdout.isatty() else safe(str(row[-1]))
        line = "  ".join([*cells, last]).rstrip()
        answer(shade(line, "faint") if number == 0 else line)


def when(at: int) -> str:
    """Microseconds since 1970 as local time to the second."""
    return f"{datetime.fromtimestamp(at / 1e6).astimezone():%Y-%m-%d %H:%M:%S}"


def iso(at: int) -> str:
    """Microseconds since 1970 as ISO 8601 in UTC, for programs."""
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="microseconds")


def count(number: int, noun: str) -> str:
    """``3 drafts``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
