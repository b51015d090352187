"""Whether somebody goes in circles: the same call with the same arguments, again and again."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

WINDOW = 10
"""Newest calls that are looked at."""

WARN, END = 3, 5
"""How often the same call may stand among them before a warning, and before the end."""


class Circle(NamedTuple):
    """A call that keeps coming."""

    call: str
    times: int
    what: Literal["warn", "end"]


def circle(calls: Sequence[str]) -> Circle | None:
    """What to make of the newest call, given those before it.

    Args:
        calls: tool and arguments of each, oldest first.

    Returns:
        A warning exactly when the newest call comes for the third time, the end from its fifth
        on; None otherwise.
    """
    if not calls:
        return None
    newest = calls[-1]
    times = sum(call == newest for call in calls[-WINDOW:])
    if times >= END:
        return Circle(newest, times, "end")
    return Circle(newest, times, "warn") if times == WARN else None
