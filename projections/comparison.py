"""Two moments side by side: where they part, and what each side did since."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from domain.ancestry import Point, common_ancestor
from domain.log import Log
from projections.since import Course, Since, opened, since

if TYPE_CHECKING:
    from projections.worddiff import Piece

By = Literal["exchange", "question", "id", "ordinal"]
Verdict = Literal["same", "different", "one-sided", "none", "redacted"]


class Setting(NamedTuple):
    """A setting that is not the same everywhere."""

    key: str
    ancestor: Any
    """Its value where the two part; None as well where they have no common ancestor."""
    one: Any
    other: Any


class Pair(NamedTuple):
    """Two exchanges that correspond."""

    one: Course
    other: Course
    by: By
    """What says so: they are one and the same that was open where the sides part; they have the
    same question; the same id, by chance; or just the same place behind the last such pair."""

    @property
    def verdict(self) -> Verdict:
        """What the answers are to each other; for open exchanges, the newest drafts."""
        drafts = [course.draft for course in (self.one, self.other)]
        texts = [draft.text for draft in drafts if draft is not None]
        if not texts:
            return "none"
        if len(texts) == 1:
            return "one-sided"
        if any(draft is not None and draft.redacted for draft in drafts):
            return "redacted"
        return "same" if texts[0] == texts[1] else "different"

    def questions(self) -> "list[Piece]":
        """The way from one question to the other, word by word; empty if one was redacted."""
        if self.one.redacted or self.other.redacted:
            return []
        return _way(self.one.question, self.other.question)

    def answers(self) -> "list[Piece]":
        """The way from one answer or newest draft to the other; empty unless both can be read."""
        if self.one.draft is None or self.other.draft is None or self.verdict == "redacted":
            return []
        return _way(self.one.draft.text, self.other.draft.text)


class Comparison(NamedTuple):
    """What two moments have in common, and what they have not."""

    ancestor: Point | None
    """The newest moment that both have behind them; None if there is none."""
    one: Since
    other: Since
    settings: tuple[Setting, ...]
    pairs: tuple[Pair, ...]
    only_one: tuple[Course, ...]
    """Exchanges of one side that nothing on the other corresponds to."""
    only_other: tuple[Course, ...]


def compare(log: Log, one: Point, other: Point) -> Comparison:
    """Compare two moments by what happened behind their common ancestor.

    Costs as much as happened there, and a few look-ups by index before: however long the history
    is that they share. Without a common ancestor, everything is compared.

    Raises:
        NoSuchSession: one of the sessions is not there.
    """
    ancestor = common_ancestor(log, one, other)
    after = ancestor.version if ancestor is not None else 0
    course = opened(log, ancestor) if ancestor is not None else None
    first, second = since(log, one, after, course), since(log, other, after, course)
    idle = course is not None and first.courses[0] == second.courses[0] == course
    mine, theirs = first.courses[idle:], second.courses[idle:]
    pairs = _pairs(mine, theirs, None if course is None else course.version)
    return Comparison(
        ancestor,
        first,
        second,
        _settings(first, second, shared=ancestor is not None),
        tuple(Pair(mine[i], theirs[j], by) for i, j, by in pairs),
        _others(mine, {i for i, _, _ in pairs}),
        _others(theirs, {j for _, j, _ in pairs}),
    )


def _settings(one: Since, other: Since, *, shared: bool) -> tuple[Setting, ...]:
    """Settings whose values differ at the two ends, or from what both began with."""
    found = []
    for key in dict.fromkeys([*one.settings, *other.settings]):
        before = (one.settings.get(key) or other.settings[key])[0]
        values = [side.settings.get(key, (before, before))[1] for side in (one, other)]
        if values[0] != values[1] or (shared and values[0] != before):
            found.append(Setting(key, before, *values))
    return tuple(found)


_Key = Hashable | None
"""What corresponds has the same one; None corresponds to nothing."""


def _pairs(
    one: Sequence[Course], other: Sequence[Course], shared: int | None
) -> list[tuple[int, int, By]]:
    """The places of exchanges that correspond, and why, in the order of the first side.

    Args:
        one: the exchanges of one side.
        other: those of the other.
        shared: the version of the question that was open where the sides part.
    """
    found: dict[int, tuple[int, By]] = {}

    def match(by: By, mine: Iterable[_Key], theirs: Iterable[_Key]) -> None:
        taken = {place for place, _ in found.values()}
        free = {key: place for place, key in enumerate(theirs) if place not in taken}
        for place, key in enumerate(mine):
            if place not in found and key is not None and key in free:
                found[place] = free.pop(key), by

    match("exchange", *([c.version == shared or None for c in side] for side in (one, other)))
    match("question", _questions(one), _questions(other))
    match("id", *([c.exchange for c in side] for side in (one, other)))
    anchors = {theirs: mine for mine, (theirs, _) in found.items()}
    match("ordinal", _ordinals(one, {i: i for i in found}), _ordinals(other, anchors))
    return [(i, *found[i]) for i in sorted(found)]


def _questions(courses: Sequence[Course]) -> Iterator[_Key]:
    """Texts, told apart where one was asked again."""
    asked = Counter[str]()
    for course in courses:
        asked[course.question] += 1
        yield None if course.redacted else (course.question, asked[course.question])


def _ordinals(courses: Sequence[Course], anchors: dict[int, int]) -> Iterator[_Key]:
    """How many exchanges behind the last one that corresponds to something; those have none."""
    anchor, count = -1, 0
    for place in range(len(courses)):
        if place in anchors:
            anchor, count = anchors[place], 0
            yield None
        else:
            count += 1
            yield anchor, count


def _others(courses: Sequence[Course], paired: set[int]) -> tuple[Course, ...]:
    return tuple(course for place, course in enumerate(courses) if place not in paired)


def _way(old: str, new: str) -> "list[Piece]":
    from projections.worddiff import word_diff  # noqa: PLC0415 — difflib, for what differs alone

    return word_diff(old, new)
