"""Large JSON in small pieces: the elements of an array, one after the other.

Only one element is in memory at a time, whatever the size of the file. The structure is checked
as the scan goes; what is inside an element is for :func:`parsed`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from commands.imports.files import LONGEST
from domain.errors import BadBundle

DEEPEST = 200
"""Levels of nesting, of which real exports have some ten."""
CHUNK = 1 << 20

# up to the next bracket, over whole strings; a quote at the end is of a string that goes on
_STEP = re.compile(
    rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+(["\[\]{}])', re.DOTALL
)
_BLANK = re.compile(rb"[ \t\r\n]*")
_GAP = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")
_OPENS = {b"]": b"[", b"}": b"{"}
_BOM = b"\xef\xbb\xbf"


class Bytes(Protocol):
    """A file that gives bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most so many; none at the end."""
        ...


class Element(NamedTuple):
    """One element of the array."""

    text: bytes
    line: int
    """Where it begins, from 1 on."""


class Whole(NamedTuple):
    """The end of one value at the top of the file, and what of it was no element."""

    rest: bytes
    """The value with an empty array in the place of the one whose elements were given."""
    offset: int
    """The byte where it begins."""
    line: int
    end: int
    """The byte behind it."""


def parsed(text: bytes, where: str, line: int) -> Any:
    """Read a piece of JSON.

    Raises:
        BadBundle: it is none, or built to exhaust whoever reads it.
    """
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise BadBundle(where, f"what begins in line {line} is not UTF-8 text") from None
    except RecursionError:
        raise BadBundle(where, f"what begins in line {line} is nested too deeply") from None
    except ValueError as error:
        inner = getattr(error, "lineno", 1) + line - 1
        said = getattr(error, "msg", "a number is too long")
        raise BadBundle(where, f"line {inner} is not valid JSON ({said})") from None


def scan(
    file: Bytes, where: str, key: bytes | None = None, *, chunk: int = CHUNK
) -> Iterator[Element | Whole]:
    """The elements of the arrays at the top of a file, each array or object followed by its end.

    Args:
        file: read to its end.
        where: what errors call it.
        key: of objects at the top, the elements of the array under this key are given as well.
        chunk: bytes to read at a time.

    Raises:
        BadBundle: it is no such JSON; what was given before may be.
    """
    return _Scan(file, where, key, chunk).run()


class _Scan:
    """Positions are bytes of the file; the buffer holds what is behind ``base``."""

    def __init__(self, file: Bytes, where: str, key: bytes | None, chunk: int) -> None:
        self.file, self.where, self.chunk = file, where, chunk
        name = b'(?<!\\\\)"' + re.escape(key or b"") + b'"[ \\t\\r\\n]*:[ \\t\\r\\n]*\\Z'
        self.named = re.compile(name) if key is not None else None
        self.buffer, self.base = b"", 0
        self.place = 0
        """What is before it has been looked at."""
        self.keep = 0
        """What is behind it is still needed."""
        self.line, self.counted = 1, 0

    def run(self) -> Iterator[Element | Whole]:
        while len(self.buffer) < len(_BOM) and self._more():
            pass
        if self.buffer.startswith(_BOM):
            self.place = len(_BOM)
        empty = True
        while self._skip_blanks():
            if self._slice(self.place, self.place + 1) not in {b"[", b"{"}:
                raise self._bad("is not JSON")
            yield from self._value()
            empty = False
        if empty:
            raise BadBundle(self.where, "it is empty")

    def _value(self) -> Iterator[Element | Whole]:
        start = rest_from = self.keep = self.place
        line = self._line_of(start)
        rest, open_ = bytearray(), bytearray()
        live: int | None = None  # the depth at which the elements are
        done = first = False
        gap = element = 0
        while True:
            before = self.place
            token, begin = self._bracket()
            end = begin + 1
            if token in b"[{":
                if len(open_) == live:
                    self._check_gap(gap, begin, first=first)
                    element = self.keep = begin
                open_ += token
                if len(open_) > DEEPEST:
                    raise self._bad("is nested too deeply")
                if token == b"[" and not done and self._wanted(open_, before, begin):
                    live, done, first = len(open_), True, True
                    rest += self._slice(rest_from, end)
                    gap = self.keep = end
                continue
            if not open_ or open_[-1:] != _OPENS[token]:
                raise self._bad("closes what is not open")
            if len(open_) == live:
                self._check_blank(gap, begin)
                live, rest_from = None, begin
            open_.pop()
            if len(open_) == live:
                yield Element(self._slice(element, end), self._line_of(element))
                gap, first = end, False
                self.keep = end
            if not open_:
                rest += self._slice(rest_from, end)
                self.keep = end
                yield Whole(bytes(rest), start, line, end)
                return

    def _wanted(self, open_: bytearray, before: int, begin: int) -> bool:
        """Whether the elements of the array that begins here are to be given."""
        if open_ != b"{[" or self.named is None:
            return len(open_) == 1
        return self.named.search(self._slice(before, begin)) is not None

    def _bracket(self) -> tuple[bytes, int]:
        """The next bracket that is in no string."""
        while True:
            found = _STEP.match(self.buffer, self.place - self.base)
            if found is not None and found[1] != b'"':
                self.place = self.base + found.end()
                return found[1], self.place - 1
            if not self._more():
                raise self._bad("breaks off: the file is not complete")

    def _skip_blanks(self) -> bool:
        """Go to what is no blank; whether there is any."""
        while True:
            blanks = _BLANK.match(self.buffer, self.place - self.base)
            self.place = self.keep = self.base + (blanks.end() if blanks else 0)
            if self.place < self.base + len(self.buffer):
                return True
            if not self._more():
                return False

    def _check_gap(self, start: int, end: int, *, first: bool) -> None:
        gap = self._slice(start, end)
        if _GAP.fullmatch(gap) is None or (b"," in gap) == first:
            raise self._bad("has something else than objects, with a comma between each two")

    def _check_blank(self, start: int, end: int) -> None:
        if _BLANK.fullmatch(self._slice(start, end)) is None:
            raise self._bad("has something else than an object at the end of its list")

    def _more(self) -> bool:
        """Read on; what is no longer needed is let go of."""
        self._line_of(self.keep)
        kept = self.buffer[self.keep - self.base :]
        if len(kept) > LONGEST:
            raise self._bad(f"is part of something larger than {LONGEST >> 20} MiB")
        chunk = self.file.read(max(self.chunk, len(kept)))  # so that a long string is read once
        self.buffer, self.base = kept + chunk, self.keep
        return bool(chunk)

    def _slice(self, start: int, end: int) -> bytes:
        return self.buffer[start - self.base : end - self.base]

    def _line_of(self, place: int) -> int:
        if place > self.counted:
            self.line += self.buffer.count(b"\n", self.counted - self.base, place - self.base)
            self.counted = place
        return self.line

    def _bad(self, why: str) -> BadBundle:
        return BadBundle(self.where, f"line {self._line_of(self.place)} {why}")
