"""What somebody may have meant by a name that is not there."""

from collections.abc import Iterable
from itertools import islice

ALIKE = 0.6
"""From this similarity on (2 · letters in common / letters of both) a name may have been meant."""

_INSIDE = 0.9
"""How alike a name is that holds the other one as a whole."""

_COMPARED = 10_000
"""So many names are looked at: a refusal does not take seconds."""

_LONGEST = 200


def nearest(wanted: str, having: Iterable[str], most: int = 8) -> list[str]:
    """At most so many of the names: those like the wanted one first, then the others in order."""
    names = list(dict.fromkeys(having))
    return list(dict.fromkeys([*similar(wanted, names, most), *names[:most]]))[:most]


def similar(wanted: str, having: Iterable[str], most: int = 3) -> list[str]:
    """The names that may have been meant, the most alike first; letter case does not count.

    Similarity is that of Ratcliff and Obershelp, as in the standard library's ``difflib``.
    """
    from difflib import SequenceMatcher  # noqa: PLC0415 — only a refusal needs it

    asked = wanted[:_LONGEST].casefold()
    matcher = SequenceMatcher(b=asked, autojunk=False)
    rated: list[tuple[float, str]] = []
    for name in islice(having, _COMPARED):
        key = name[:_LONGEST].casefold()
        matcher.set_seq1(key)
        # each of the first two is cheap, and never less than the one behind it
        alike = min(matcher.real_quick_ratio(), matcher.quick_ratio())
        if alike >= ALIKE:
            alike = matcher.ratio()
        if alike < ALIKE and _holds(asked, key):
            alike = _INSIDE
        if alike >= ALIKE:
            rated.append((alike, name))
    rated.sort(key=lambda pair: -pair[0])  # stable: of two that are as much alike, the first
    return [name for _, name in rated[:most]]


def _holds(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= 3 and (one in other or other in one)
