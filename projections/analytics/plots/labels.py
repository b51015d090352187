"""Texts of users and minds as labels: on one line, with nothing that a terminal or a page obeys."""

import re
import unicodedata

# what a terminal would obey rather than show becomes its picture; white space becomes a blank
_PICTURES = {c: 0x2400 + c for c in range(0x20)} | {0x7F: 0x2421}
_PICTURES |= dict.fromkeys([0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029], 0x20)
# C1 controls, what turns the reading direction, surrogates, private use, and what XML forbids
_UNFIT = re.compile(
    "[\x80-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ue000-\uf8ff\ufffe\uffff"
    "\U000e0000-\U0010ffff]"
)


def plain(text: object, room: int | None = None) -> str:
    """The text on one line, cut to so many characters; ``—`` for nothing."""
    if text is None:
        return "—"
    # a text may be long; what is cut away needs no cleaning
    head = str(text)[: None if room is None else 4 * room + 64]
    line = " ".join(_UNFIT.sub("\ufffd", head.translate(_PICTURES)).split())
    if room is None or len(line) <= room:
        return line
    return line[: max(room - 1, 0)].rstrip() + "…"


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else sum(_columns(c) for c in text)


def fitted(text: object, room: int) -> str:
    """The text on one line of a terminal, cut to so many columns."""
    line = "".join(c for c in plain(text, 4 * room) if unicodedata.category(c) != "Cf")
    # with the selector of a colourful picture, terminals don't agree on the width
    line = line.replace("\ufe0f", "")
    if columns(line) <= room:
        return line
    kept, used = [], 0
    for letter in line:
        used += _columns(letter)
        if used > room - 1:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…" if room > 0 else ""


def padded(text: object, room: int, *, right: bool = False) -> str:
    """The text in exactly so many columns."""
    line = fitted(text, room)
    blank = " " * (room - columns(line))
    return blank + line if right else line + blank


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
