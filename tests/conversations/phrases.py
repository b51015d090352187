"""What the people and the mind of a made-up conversation say, as sentences with gaps.

A gap such as ``{part}`` is filled from the words of the file, or with what the effort of the
moment is about (``{goal}``, ``{trouble}``, ``{deadend}``, ``{insight}``, ``{end}``, ``{place}``).
"""

from collections import defaultdict
from csv import QUOTE_NONE, DictReader
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


class Effort(dict[str, str]):
    """What one effort is about: kind, place, goal, trouble, deadend, insight, end."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # each is itself alone
    __eq__ = object.__eq__  # type: ignore[assignment]


@cache
def efforts() -> tuple[Effort, ...]:
    """All efforts that a conversation can be about."""
    return tuple(Effort(row) for row in _rows("efforts.tsv"))


@cache
def pool(name: str) -> tuple[str, ...]:
    """The sentences of one purpose."""
    return tuple(sentence for sentence, _ in _pools()[name])


@cache
def pairs(name: str) -> tuple[tuple[str, str], ...]:
    """Sentences with what belongs to each: an answer, or the values of a fact."""
    return tuple(_pools()[name])


@cache
def words() -> dict[str, tuple[str, ...]]:
    """What fits into a gap, by the name of the gap; of a kind of efforts, its parts."""
    return {
        name.removeprefix("words "): tuple(rows[0][0].split(" | "))
        for name, rows in _pools().items()
        if name.startswith("words ")
    }


@cache
def _pools() -> dict[str, list[tuple[str, str]]]:
    pools: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in _rows("phrases.tsv"):
        pools[row["pool"]].append((row["sentence"], row["answer"]))
    return pools


def _rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(DictReader(file, delimiter="\t", quoting=QUOTE_NONE))
