"""What changed between two texts, word by word."""

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of text that stayed, went or came."""

    change: Literal["same", "removed", "added"]
    text: str


def word_diff(old: str, new: str) -> list[Piece]:
    """The way from one text to another: what stayed, what went and what came."""
    before, after = _PIECES.findall(old), _PIECES.findall(new)
    pieces: list[Piece] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(before[i1:i2])))
            continue
        if i1 < i2:
            pieces.append(Piece("removed", "".join(before[i1:i2])))
        if j1 < j2:
            pieces.append(Piece("added", "".join(after[j1:j2])))
    return pieces
