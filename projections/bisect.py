"""Where something begins to hold: a binary search over the moments of a session.

What need not hold for ever after may begin to hold several times: then one of these moments is
found. Moments of which nobody can tell are passed over, as ``git bisect skip`` does.
"""

from collections.abc import Callable
from typing import NamedTuple

from domain.errors import Refused

Look = Callable[[int], bool | None]
"""Whether it holds right after the event of a version; None where that can't be told."""


class Turn(NamedTuple):
    """Where it begins to hold, as far as that can be told."""

    before: int
    """The last version of which is known that it does not hold."""
    first: int
    """The first version behind it of which is known that it holds."""
    looks: int
    """States that were looked at, those of both ends included."""
    skipped: tuple[int, ...] = ()
    """Versions between the two of which nobody could tell."""


def bisect(start: int, end: int, holds: Look) -> Turn:
    """Find a moment at which something begins to hold, in log2(end - start) + 2 looks.

    Args:
        start: a version at which it does not hold.
        end: a later one at which it does.
        holds: looks at a state.

    Raises:
        Refused: the ends are not such; both have been looked at.
    """
    if start >= end:
        raise Refused(f"The start has to be before the end: event {start} is not before {end}.")
    _check_ends(start, end, holds(start), holds(end))
    low, high, looks = start, end, 2
    skipped: set[int] = set()
    while (version := _next(low, high, skipped)) is not None:
        looks += 1
        found = holds(version)
        if found is None:
            skipped.add(version)
        elif found:
            high = version
        else:
            low = version
    between = sorted(version for version in skipped if low < version < high)
    return Turn(low, high, looks, tuple(between))


def _check_ends(start: int, end: int, at_start: bool | None, at_end: bool | None) -> None:
    for version, found in ((start, at_start), (end, at_end)):
        if found is None:
            raise Refused(f"It can't be told at event {version}: choose another end.")
    if at_start and at_end:
        raise Refused(
            f"It holds already at event {start}, and at event {end} (2 states looked at):"
            " choose an earlier start."
        )
    if at_start:
        raise Refused(
            f"It holds already at event {start}, and no longer at event {end} (2 states looked"
            " at): turn the condition around to find where it ends."
        )
    if not at_end:
        raise Refused(
            f"It does not hold at event {end}, nor at event {start} (2 states looked at):"
            " choose a later end, or another condition."
        )


def _next(low: int, high: int, skipped: set[int]) -> int | None:
    """The version to look at: the one in the middle, else its neighbours, farther and farther."""
    middle = (low + high) // 2
    if not low < middle < high:
        return None
    if middle not in skipped:
        return middle
    step = 1
    while step < high - low:
        for version in (middle + step, middle - step):
            if low < version < high and version not in skipped:
                return version
        step *= 2
    return next((version for version in range(low + 1, high) if version not in skipped), None)
