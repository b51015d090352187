"""Fields from a JSON object that may break off: everything up to there that is whole.

Walks the object and its lists by hand and leaves single values to the standard library, so that
numbers stay the texts they are and a key given twice is seen twice.
"""

import json
import re
from contextlib import suppress
from typing import NamedTuple

from domain.protocol.fields import NOTHING, STRUCTURE_IN_LIST, Field, Reading, Value, known, shown

OBJECT = re.compile(r'\{\s*"(?:thoughts?|drafts?|skip|confidence|working)"\s*:', re.IGNORECASE)
"""The beginning of an object that may be a reply."""

_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


class Found(NamedTuple):
    """What was read of an object, and whether it was well-formed as far as it went."""

    reading: Reading
    well_formed: bool
    """False where something else than JSON follows; a text that just ends is well-formed."""


def read_json(text: str) -> Found | None:
    """Read the object with which ``text`` begins; None when not even its first key is JSON."""
    found = _read(text)
    if found and not found.well_formed:
        mended = with_backslashes(text)
        again = _read(mended) if mended != text else None
        if again and again.well_formed:
            repair = "Read backslashes that begin no escape as backslashes."
            reading = again.reading
            return Found(reading._replace(repairs=(*reading.repairs, repair)), well_formed=True)
    return found


def with_backslashes(text: str) -> str:
    """``text`` with each backslash doubled that begins no escape: mathematics, patterns."""
    return _ESCAPE.sub(lambda escape: escape[0] if escape[1] else "\\\\", text)


def whole_texts(text: str) -> tuple[str, ...]:
    """The whole items of a JSON list that breaks off somewhere in ``text``."""
    walk = _Walk(text)
    with suppress(_StopError):
        walk.items("thoughts")
    return walk.fields[0].value.texts


def _read(text: str) -> Found | None:
    walk = _Walk(text)
    try:
        walk.pairs()
    except _StopError as stop:
        if not walk.fields and not walk.key:
            return None
        how = "breaks off" if stop.at_end else "is broken"
        where = f"under {walk.key!r}" if walk.key else "after its last whole text"
        lost = f"The JSON of the reply {how} {where}."
        repair = f"Kept what was whole of JSON that {how} {where}."
        return Found(Reading(tuple(walk.fields), (*walk.repairs, repair), lost), stop.at_end)
    if walk.peek():
        walk.repairs.append("Left out what follows the JSON object.")
    return Found(Reading(tuple(walk.fields), tuple(walk.repairs)), well_formed=True)


class _StopError(Exception):
    """Here it is not JSON any more."""

    def __init__(self, *, at_end: bool) -> None:
        super().__init__()
        self.at_end = at_end


class _Walk:
    """A place in a text that moves forward from behind the first bracket, and what it met."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1
        self.key = ""
        """The key whose value is being read."""
        self.fields: list[Field] = []
        self.repairs: list[str] = []

    def pairs(self) -> None:
        while not self.take("}"):
            if self.peek() != '"':
                raise self.stop()
            key, _ = self.value()
            if not self.take(":"):
                raise self.stop()
            self.key = str(key)
            if self.take("["):
                self.items(self.key)
            else:
                value, source = self.value()
                self.separated("}")
                self.fields.append(Field(self.key, _single(value, source)))
            self.key = ""

    def items(self, key: str) -> None:
        texts: list[str] = []
        try:
            while not self.take("]"):
                value, source = self.value()
                self.separated("]")
                if isinstance(value, dict | list):
                    self.repairs.append(STRUCTURE_IN_LIST.format(key=shown(key)))
                if value is not None:
                    texts.append(value if isinstance(value, str) and source[0] == '"' else source)
            self.separated("}")
        except _StopError:
            # Whole thoughts are good without the rest of their list; the last draft is not there.
            if known(key) == "thoughts":
                self.fields.append(Field(key, Value("list", tuple(texts))))
            raise
        self.fields.append(Field(key, Value("list", tuple(texts))))

    def value(self) -> tuple[object, str]:
        """The value that begins here, and its source."""
        self.peek()
        start = self.at
        try:
            value, self.at = _DECODER.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            # A string without an end is reported where it begins.
            at_end = error.msg.startswith("Unterminated") or error.pos + 6 >= len(self.text)
            raise _StopError(at_end=at_end) from None
        except (ValueError, RecursionError):
            raise _StopError(at_end=False) from None
        return value, self.text[start : self.at]

    def separated(self, closing: str) -> None:
        """Go on behind a value: it was whole only if a comma, a bracket or nothing follows."""
        if not self.take(",") and self.peek() not in {closing, ""}:
            raise self.stop()

    def take(self, char: str) -> bool:
        """Step over ``char`` if it comes next."""
        here = self.peek() == char
        self.at += here
        return here

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.text[self.at : self.at + 1]

    def stop(self) -> _StopError:
        return _StopError(at_end=not self.peek())


def _single(value: object, source: str) -> Value:
    if value is None:
        return NOTHING
    if isinstance(value, dict | list):
        return Value("structure")
    return Value("text", (value if isinstance(value, str) and source[0] == '"' else source,))
