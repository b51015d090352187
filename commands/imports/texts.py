"""Texts of elsewhere as the log takes them: nothing is lost, what can't stand is replaced."""

import re

from commands.imports.report import Report
from domain.texts import LONGEST

NUL, ODD = "\N{SYMBOL FOR NULL}", "\N{REPLACEMENT CHARACTER}"
_HALVES = re.compile("[\ud800-\udfff]")
_TURN = LONGEST // 10
"""How far back from the limit a text may be parted at the end of a line."""


def fitting(text: str, report: Report) -> list[str]:
    """The text in pieces that :func:`domain.texts.checked_text` takes; none, if it is blank."""
    if "\0" in text:
        report.change("NUL characters, shown as ␀", text.count("\0"))
        text = text.replace("\0", NUL)
    if _HALVES.search(text):
        text, count = _HALVES.subn(ODD, text)
        report.change(f"characters that are none in Unicode, shown as {ODD}", count)
    text = text.strip()
    if len(text) <= LONGEST:
        return [text] if text else []
    report.change("texts that are too long for one event, parted")
    pieces = []
    while text:
        cut = len(text)
        if cut > LONGEST:
            line = text.rfind("\n", LONGEST - _TURN, LONGEST)
            cut = LONGEST if line < 0 else line
        piece = text[:cut].strip()
        text = text[cut:]
        if piece:
            pieces.append(piece)
    return pieces


def one_line(text: str, room: int) -> str:
    """The text on one line, cut to fit; what a terminal would obey is left out."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= room else line[: room - 1].rstrip() + "…"
