"""Any text as one YAML scalar that reads back exactly and can't be taken for structure.

A block scalar where one can hold the text, since it is shown to the mind as it was written;
else a double-quoted one, on one line, with everything doubtful escaped. Both stand on lines of
their own, indented deeper than whatever heads them, so that no text reaches a column where
structure is read.
"""

import re
from typing import NamedTuple

_BEYOND_BLOCKS = re.compile(
    # Outside the set that YAML calls printable: a reader refuses these raw.
    "[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    # Printable, but YAML 1.1 breaks lines there; and a BOM, which readers drop or refuse.
    "|[\u2028\u2029\ufeff]"
)
_ESCAPED = re.compile('["\\\\\t\n]|' + _BEYOND_BLOCKS.pattern)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Scalar(NamedTuple):
    """A text in YAML: what ends the line that heads it, and the indented lines below."""

    head: str
    """`` |-`` and its like, or empty when the body is quoted."""
    body: str
    """Whole lines, each with its line feed."""


def quoted(text: str) -> str:
    """``text`` as a double-quoted scalar on one line; reads back exactly in any place."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def scalar(text: str, pad: str) -> Scalar:
    """``text`` as lines indented by ``pad``, two spaces deeper than the node that holds it."""
    lines = text.split("\n")
    # isprintable is several times faster than the pattern and says no a little too often.
    if not all(map(str.isprintable, lines)) and _BEYOND_BLOCKS.search(text):
        return Scalar("", f"{pad}{quoted(text)}\n")
    if len(lines) == 1:
        if not text:
            return Scalar("", f'{pad}""\n')
        return Scalar(" |2-" if text[0] in " \t" else " |-", f"{pad}{text}\n")
    if lines[-1]:
        chomp = "-"  # no line feed at the end
    elif lines[-2]:
        chomp = ""  # exactly one
        lines.pop()
    elif not text.strip("\n"):
        return Scalar("", f"{pad}{quoted(text)}\n")
    else:
        chomp = "+"  # several, all of them kept
        lines.pop()
    # Readers find the indentation by the first line, which therefore has to be an ordinary one.
    indent = "2" if text[0] in " \t\n" else ""
    return Scalar(f" |{indent}{chomp}", "".join([f"{pad}{x}\n" if x else "\n" for x in lines]))


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if short := _SHORT.get(char):
        return short
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
