"""Texts that users and minds wrote, and numbers, as the screen shows them."""

from datetime import datetime
from typing import Any, Literal

from textual.content import Content

from cli.output import safe
from domain.sentences import count

Part = str | Content | tuple[str, str]
"""A piece of a line: plain, or with a style (theme variables, never fixed colours)."""

FAINT = "$foreground-muted"
"""The style of what matters less."""


def shown(text: str) -> str:
    """A text without anything that a terminal would obey; tabs are spaces."""
    return safe(text).expandtabs(4)


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(safe(text).split())


def shorter(text: str, room: int, *, keep: Literal["begin", "end"] = "begin") -> str:
    """A text on one line, cut to fit; of paths, the end says more."""
    line = one_line(text)
    if len(line) <= room:
        return line
    return f"{line[: room - 1]}…" if keep == "begin" else f"…{line[1 - room :]}"


def content(*parts: Part) -> Content:
    """A line of pieces: nothing in them is read as markup."""
    return Content.assemble(*parts)


def iterations_ago(age: int) -> str:
    """``3 iterations ago``."""
    return "this iteration" if age <= 0 else f"{count(age, 'iteration')} ago"


def tokens(number: int) -> str:
    """``950``, ``12.3k``, ``1.2M``."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def money(usd: float, unknown: int = 0) -> str:
    """``$0.0123``, and how many calls of unknown cost come on top."""
    known = f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"
    return f"{known} + {unknown} unknown" if unknown else known


def duration(milliseconds: float) -> str:
    """``340 ms``, ``12.3 s``, ``4 min``."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def clock(at: Any) -> str:
    """A time as it is on the wire (ISO 8601, or microseconds since 1970), as local time."""
    try:
        moment = (
            datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at / 1e6)  # noqa: DTZ006 — made local below
        )
        return f"{moment.astimezone():%H:%M:%S}"
    except (ValueError, TypeError, OverflowError, OSError):
        return ""
