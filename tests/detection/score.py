"""How well a detector finds what people left in exchanges: precision, recall and F1.

The labelled exchanges lie beside this file. In ``shelf`` each artifact is a line, ``ID KIND[ of
PARENT][ WHEN]: TEXT[ => RESOLUTION]``; ``current`` is the effort that the talk is in (the newest
open one where it is left out). Of ``expect`` the parts ``opened``, ``resolved``, ``reopened``,
``learned`` and ``noted`` count always, so that what is not listed there must not be found;
``effort`` and ``mentions`` count where they are given. A text is right when it holds all ``words``.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from domain.artifacts import Artifact, Place, Shelf
from domain.detection.findings import Detect, Findings, Passage
from domain.ids import ExchangeId

HERE = Path(__file__).parent
HALVES = ("development", "held_out")
CATEGORIES = (
    *("opening", "conclusion", "fact", "event", "route", "reopening", "ambient", "false-friend"),
)
TYPES = ("opened", "resolved", "reopened", "learned", "noted", "effort", "mentions")
NOW = "2026-03-10T14:05"
"""A Tuesday."""

LATER = "late-"
"""How the ids of those begin that were written later, to say things the way round."""

EXCHANGE = ExchangeId("exc_9_009")
_LINE = re.compile(
    r"(?P<id>\d+) (?P<kind>\w+)(?: of (?P<parent>\d+))?(?: (?P<when>[\d:T-]+))?: "
    r"(?P<text>.*?)(?: => (?P<resolution>.*))?"
)


class Item(NamedTuple):
    """An exchange, and what a careful reader finds in it."""

    id: str
    category: str
    passage: Passage
    shelf: Shelf
    expect: dict[str, Any]


@dataclass(slots=True)
class Count:
    """How often something was found that is there, found that is not, and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, right: int, wrong: int, missed: int) -> None:
        """Count some more."""
        self.right += right
        self.wrong += wrong
        self.missed += missed

    @property
    def precision(self) -> float:
        """Of what was found, the part that is there; 1 where nothing was found."""
        found = self.right + self.wrong
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """Of what is there, the part that was found; 1 where there is nothing."""
        there = self.right + self.missed
        return self.right / there if there else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(slots=True)
class Score:
    """Counts by type and by category, and in how many exchanges everything was right."""

    by_type: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    by_category: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    exact: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    total: Count = field(default_factory=Count)


def items(half: str) -> list[Item]:
    """The exchanges of a half, ``development`` or ``held_out``."""
    listed = yaml.safe_load((HERE / f"{half}.yaml").read_text(encoding="utf-8"))
    return [_item(one) for one in listed]


def score(detect: Detect, of: Iterable[Item]) -> Score:
    """Let a detector look at exchanges, and count."""
    result = Score()
    for item in of:
        marks = list(compare(item, detect(item.passage, item.shelf)))
        for type_, right, wrong, missed in marks:
            for count in (result.by_type[type_], result.by_category[item.category], result.total):
                count.add(right, wrong, missed)
        result.exact[item.category].append(not any(mark[2] or mark[3] for mark in marks))
    return result


def compare(item: Item, found: Findings) -> Iterator[tuple[str, int, int, int]]:
    """For each type how many findings are right, wrong and missed."""
    expect = item.expect
    opened = [expect["opened"]] if "opened" in expect else []
    yield _matched("opened", opened, [found.opened] if found.opened else [], _same_opened)
    yield _matched("resolved", expect.get("resolved", []), found.resolved, _same_resolved)
    yield _sets("reopened", set(expect.get("reopened", [])), set(found.reopened))
    yield _matched("learned", expect.get("learned", []), found.learned, _same_learned)
    yield _matched("noted", expect.get("noted", []), found.noted, _same_noted)
    if "effort" in expect:
        wanted = {expect["effort"]} - {None}
        yield _sets("effort", wanted, {found.effort} - {None})
    if "mentions" in expect:
        yield _sets("mentions", set(expect["mentions"]), set(found.mentions))


def _sets(type_: str, wanted: set[Any], found: set[Any]) -> tuple[str, int, int, int]:
    return type_, len(wanted & found), len(found - wanted), len(wanted - found)


def _matched(
    type_: str, wanted: list[dict[str, Any]], found: Iterable[Any], same: Any
) -> tuple[str, int, int, int]:
    left, right, wrong = list(wanted), 0, 0
    for one in found:
        fitting = next((want for want in left if same(want, one)), None)
        if fitting is None:
            wrong += 1
        else:
            left.remove(fitting)
            right += 1
    return type_, right, wrong, len(left)


def _holds(text: str, want: dict[str, Any]) -> bool:
    return all(str(word).lower() in text.lower() for word in want.get("words", []))


def _same_opened(want: dict[str, Any], found: Any) -> bool:
    return _holds(found.goal, want) and found.parent == want.get("parent")


def _same_resolved(want: dict[str, Any], found: Any) -> bool:
    same = (found.effort, found.outcome) == (want["effort"], want["outcome"])
    return same and _holds(found.resolution, want)


def _same_learned(want: dict[str, Any], found: Any) -> bool:
    return _holds(found.statement, want) and found.supersedes == want.get("supersedes")


def _same_noted(want: dict[str, Any], found: Any) -> bool:
    when = want.get("when")
    # YAML reads some of them as dates
    wanted = None if when is None else str(when).replace(" ", "T")[:16]
    return _holds(found.what, want) and found.when == wanted


def _item(one: dict[str, Any]) -> Item:
    artifacts = tuple(artifact(line) for line in one.get("shelf", []))
    open_ = [a.id for a in artifacts if a.is_open]
    current = one.get("current", open_[-1] if open_ else None)
    answer = one.get("answer")
    before = tuple((question, answer) for question, answer in one.get("before", []))
    passage = Passage(EXCHANGE, one["question"].strip(), answer, before, one.get("now", NOW))
    lying = shelf(artifacts, current, answered=answer is not None)
    return Item(one["id"], one["category"], passage, lying, one["expect"])


def shelf(artifacts: tuple[Artifact, ...], current: int | None, *, answered: bool) -> Shelf:
    """A shelf with the talk in an effort; once answered, it is known that the exchange is of it."""
    threads = (Place(EXCHANGE, current),) if answered and current is not None else ()
    return Shelf(artifacts, exchange=EXCHANGE, turn=30, effort=current, threads=threads)


def artifact(line: str) -> Artifact:
    """The artifact that a line of a labelled shelf stands for."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise ValueError(line)
    kind = parts["kind"]
    type_: Literal["effort", "fact", "event"] = "effort"
    status: Literal["open", "resolved", "current"] = "current"
    if kind == "fact" or kind == "event":  # noqa: PLR1714 — mypy narrows the one, not the other
        type_ = "fact" if kind == "fact" else "event"
    else:
        status = "open" if kind == "open" else "resolved"
    return Artifact(
        int(parts["id"]),
        type_,
        parts["text"],
        status,
        turn=10,
        referenced=20,
        resolution=parts["resolution"],
        outcome="done" if status == "resolved" else None,
        parent=int(parts["parent"]) if parts["parent"] else None,
        when=parts["when"],
    )
