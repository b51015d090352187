"""Answers of a query on their way out: tables to read, CSV and JSON, and where they go."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from shutil import get_terminal_size
from typing import BinaryIO, NamedTuple, TypeVar

from cli import output as out
from domain.errors import Refused

T = TypeVar("T")
Row = Sequence[str | None]

LOOKED_AT = 1000
"""Rows whose texts decide how wide the columns are; those behind them come as they are."""

_PADDED = 60
"""Where nobody looks, a column is no wider than this: longer texts stand out."""

_TO_THE_SECOND = 19
_AT_ONCE = 500
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")

# what a terminal would obey; JSON has a way to write it that only programs read
_ESCAPED = {
    c: f"\\u{c:04x}" for c in (*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_QUOTED = re.compile(r'[",\r\n]')


class Look(NamedTuple):
    """How a table is shown."""

    width: int | None
    """Columns of the terminal; None: nobody looks, nothing is cut."""
    full: bool
    """Each row as a paragraph, with its texts whole."""

    @classmethod
    def of_this_terminal(cls, *, full: bool) -> "Look":
        """As wide as the terminal, if stdout is one."""
        return cls(get_terminal_size((88, 24)).columns if sys.stdout.isatty() else None, full)


def table_lines(
    names: Sequence[str], types: Sequence[str], rows: Iterable[Row], look: Look
) -> Iterator[str]:
    """The lines of a table; where it would not fit, of a paragraph for each row."""
    names = [out.one_line(name, 200) for name in names]
    rows = iter(rows)
    first = list(islice(rows, LOOKED_AT))
    if names == ["explain_key", "explain_value"]:
        for _, value in first:
            yield from out.safe(value or "").splitlines()
        return
    times = [look.width is not None and type_ == "TIMESTAMP" for type_ in types]

    def cells_of(row: Row) -> list[str]:
        return [
            _cell(value)[: _TO_THE_SECOND if time else None]
            for value, time in zip(row, times, strict=True)
        ]

    cells = [cells_of(row) for row in first]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    fitted: list[int] | None = widths
    if look.width is not None:
        fitted = out.fitted(widths, look.width, range(len(widths)))
    if look.full or fitted is None:
        for number, row in enumerate(chain(first, rows), 1):
            yield from _paragraph(number, names, row, look)
        return
    right = [type_.partition("(")[0].removeprefix("U") in _NUMBERS for type_ in types]

    def line(texts: Sequence[str]) -> str:
        shown = []
        for text, size, to_the_right in zip(texts, fitted, right, strict=True):
            cut = text if look.width is None else out.shortened(text, size)
            pad = min(size, _PADDED) if look.width is None else size
            shown.append(cut.rjust(pad) if to_the_right else cut.ljust(pad))
        return out.GAP.join(shown).rstrip()

    yield out.shade(line(names), "faint")
    yield from map(line, cells)
    for row in rows:
        yield line(cells_of(row))


def csv_lines(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """The lines of a CSV file as RFC 4180 has it; NULL is nothing, an empty text is ``""``."""
    for row in chain([names], rows):
        yield ",".join(map(_field, row)) + "\r\n"


def json_lines(objects: Iterable[str]) -> Iterator[str]:
    """One JSON object a line, with nothing in it that a terminal would obey."""
    for text in objects:
        yield _unobeyed(text) + "\n"


def json_array(objects: Iterable[str]) -> Iterator[str]:
    """The same as one JSON array, an object a line."""
    before = "[\n"
    for text in objects:
        yield before + _unobeyed(text)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


class Counted:
    """Rows that are counted as they pass."""

    def __init__(self) -> None:
        self.rows = 0
        self.more = False
        """Whether there were more than were wanted."""

    def of(self, rows: Iterable[T], most: int | None = None) -> Iterator[T]:
        """The rows, at most so many."""
        for row in rows:
            if most is not None and self.rows >= most:
                self.more = True
                return
            self.rows += 1
            yield row


def refuse_taken(output: Path, *, force: bool) -> None:
    """Make sure that nothing is overwritten by mistake.

    Raises:
        Refused: there is a file of that name, or no place for one.
    """
    if output.is_dir():
        raise Refused(f"{str(output)!r} is a directory: name a file in it.")
    if output.is_file() and not force:
        raise Refused(
            f"{str(output)!r} is there already: name another file, or replace it (--force)."
        )
    if not output.parent.is_dir():
        raise Refused(f"{str(output.parent)!r} is no directory: make it first.")


@contextmanager
def placed(output: Path) -> Iterator[BinaryIO]:
    """A file to write, that is at its place when all of it is, or not at all.

    Raises:
        Refused: it can't be written there.
    """
    plain = output.is_file() or not output.exists()  # else a device or a pipe, which stays
    new = output.with_name(f".{output.name}.{os.getpid()}") if plain else output
    try:
        try:
            with new.open("wb") as sink:
                yield sink
            if plain:
                new.replace(output)
        except BaseException:
            if plain:
                new.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Refused(f"{str(output)!r} can't be written: {error.strerror or error}.") from None


@contextmanager
def piped() -> Iterator[BinaryIO]:
    """Standard output, for bytes.

    Raises:
        BrokenPipeError: nobody listens any more.
    """
    try:
        yield sys.stdout.buffer
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # or Python would complain at its end
        os.close(nowhere)
        raise


def write_lines(lines: Iterable[str], sink: BinaryIO) -> None:
    """Write text as UTF-8."""
    lines = iter(lines)
    while some := "".join(islice(lines, _AT_ONCE)):
        sink.write(some.encode("utf-8", "replace"))


def _unobeyed(text: str) -> str:
    return text if text.isascii() and "\x7f" not in text else text.translate(_ESCAPED)


def _cell(value: str | None) -> str:
    return "NULL" if value is None else out.in_a_row(value)


def _paragraph(number: int, names: Sequence[str], row: Row, look: Look) -> Iterator[str]:
    if not look.full:
        width = min(look.width or out.width(), out.width())
        yield from out.paragraph(number, names, [_cell(value) for value in row], width)
        return
    room = max(map(len, names))
    indent = " " * room + out.GAP
    yield out.shade(f"— {number} —", "faint")
    for name, value in zip(names, row, strict=True):
        label = out.shade(name.rjust(room), "faint")
        first, *others = out.block(value if value is not None else "NULL", indent=indent).split(
            "\n"
        )
        yield f"{label}{first[room:]}".rstrip()
        yield from others


def _field(text: str | None) -> str:
    if text is None:
        return ""
    if not text or text[0].isspace() or text[-1].isspace() or _QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
