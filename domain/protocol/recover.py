"""The text of one key or list item that is no YAML, told from its lines alone."""

import re
import textwrap
from typing import NamedTuple

from domain.protocol.form import indent
from domain.protocol.nodes import Document, Trouble, compose
from domain.protocol.read_json import with_backslashes

_BLOCK = re.compile(r"[|>][0-9+-]*[ \t]*(?:#.*)?")
_BLOCK_AND_TEXT = re.compile(r"\A[|>][+-]?[ \t]+(?=\S)")


class Entry(NamedTuple):
    """A key or a dash, what stands behind it, and the lines that belong to it."""

    head: str
    """``draft:`` or ``-``, with the spaces before it."""
    rest: str
    """The rest of that line."""
    below: list[str]
    """The lines that follow, as far as they are indented deeper."""
    stray: list[str]
    """The lines after those: not indented, so perhaps not part of it."""

    @property
    def source(self) -> str:
        """The entry as it stands, without the stray lines."""
        return "\n".join([f"{self.head} {self.rest}".rstrip(), *self.below])

    @property
    def is_block(self) -> bool:
        """Whether its text begins on the next line."""
        return not self.rest or _BLOCK.fullmatch(self.rest) is not None


def entry(head: str, rest: str, lines: list[str]) -> Entry:
    """Part the lines that follow a key or dash into its own and stray ones."""
    depth = indent(head)
    for n, line in enumerate(lines):
        if line.strip() and indent(line) <= depth:
            return Entry(head, rest.strip(), lines[:n], lines[n:])
    return Entry(head, rest.strip(), lines, [])


def recovered(entry: Entry) -> str | None:
    """The text that was meant; None where nobody can tell where it ends."""
    rest, stray = entry.rest, entry.stray
    below = textwrap.dedent("\n".join(entry.below)).strip("\n")
    if entry.is_block:
        if below.strip():
            return None if stray else below
        if not rest and entry.below:
            return None  # a key with nothing, a blank line, and talk
        return textwrap.dedent("\n".join(stray)) if stray else None
    if stray:
        return None
    written = f"{rest}\n{below}".rstrip()
    if rest[0] in "\"'[{":
        return _bracketed(written)
    return _BLOCK_AND_TEXT.sub("", written, count=1)


def _bracketed(written: str) -> str | None:
    alone = compose(written)
    if isinstance(alone, Trouble) and alone.at_end:
        return None  # the bracket or quote never closes
    if written[0] == '"':
        mended = compose(with_backslashes(written))
        if isinstance(mended, Document) and mended.root and mended.root.kind == "scalar":
            return mended.root.text
    return written
