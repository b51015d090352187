"""A comparison as people read it: what there is of everything, then the details of each side."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cli import output as out
from domain.recorded import Recorded
from projections.comparison import Comparison, Pair
from projections.since import Course, Happened, Since, Thought, Work
from projections.timeline import summary

if TYPE_CHECKING:
    from projections.worddiff import Piece

SHOWN = 6
"""Lines of a list that are shown of either side: the newest."""

CONTEXT = 12
"""Words that are shown around a change."""

_FIRST = ("presence", "clusters", "notes", "pruned", "session")
"""Families of events that come first; see :data:`projections.since.FAMILIES`."""

_SAID_BY_THEIR_FAMILY = ("signal.changed", "note.added", "exchanges.pruned", "event.redacted")

_BY = {"exchange": "", "question": "same question", "id": "same id", "ordinal": "by ordinal"}


def show(found: Comparison, parted: list[Recorded], *, text: bool) -> None:
    """Print it.

    Args:
        found: the comparison.
        parted: the event behind which the two part, where they have one in common.
        text: whether answers are shown word by word.
    """
    out.answer(_parting(found, parted))
    _overview(found)
    _exchanges(found, text=text)
    _settings(found)
    _lists(found)


def name_of(side: Since) -> str:
    """How a side is called: ``main@412``."""
    return f"{side.session}@{side.version}"


def _parting(found: Comparison, parted: list[Recorded]) -> str:
    one, other = name_of(found.one), name_of(found.other)
    if found.ancestor is None:
        return f"{one} and {other} have no common ancestor: all of both is compared."
    for side, rest in ((found.one, other), (found.other, one)):
        if not side.events:
            return f"{rest} goes on from {name_of(side)}."
    where = f"{one} and {other} part behind event {found.ancestor.version}"
    where += f" of {found.ancestor.session}"
    told = [f" ({r.event.kind}, {out.when(r.at)})" for r in parted]
    return where + "".join(told) + "."


def _overview(found: Comparison) -> None:
    one, other = _counts(found.one), _counts(found.other)
    rows = [
        (key, one.get(key, "0"), other.get(key, "0"))
        for key in dict.fromkeys([*one, *other])
        if {one.get(key, "0"), other.get(key, "0")} != {"0"}
    ]
    models, others = found.one.work.models, found.other.work.models
    if models and others and set(models) != set(others):
        rows.append(("models", _each(models, " × "), _each(others, " × ")))
    out.answer()
    sides = f"< {name_of(found.one)}", f"> {name_of(found.other)}"
    out.table(rows, ("", *sides), cut=sides)


def _counts(side: Since) -> dict[str, str]:
    """What there is of everything, in the words of a table."""
    work = side.work
    origins = Counter(thought.origin for thought in side.thoughts if thought.origin != "mind")
    broken = {how: n for how, n in work.outcomes.items() if how != "ok"}
    turns = {kind: side.kinds.get(f"cluster.{kind}", 0) for kind in ("formed", "merged", "split")}
    signals = "signal" if side.signals == 1 else "signals"
    drafts = {signals: side.signals, "late": side.late}
    tokens = {"in": work.tokens_in, "out": work.tokens_out}
    families = {
        family: str(len(side.listed[family])) for family in _families(side) if family != "clusters"
    }
    return {
        "events": str(side.events),
        "messages": str(side.asked),
        "drafts": _with(side.content + side.signals + side.late, drafts),
        "accepted": str(side.answered),
        "thoughts": _with(len(side.thoughts), origins),
        "clusters": _each(turns) or "0",
        "iterations": _with(work.iterations, broken),
        "tokens": _each(tokens) or "0",
        "cost": _cost(work),
        "settings": str(side.kinds.get("config.changed", 0)),
        "picked": str(len(side.picked)),
        **families,
    }


def _cost(work: Work) -> str:
    if not work.cost_usd:
        return "0"
    return f"${work.cost_usd:.4f}" + (f", {work.unknown_costs} unknown" * bool(work.unknown_costs))


def _each(counts: Mapping[str, int], times: str = " ") -> str:
    """``2 formed, 1 merged``: those that are not zero."""
    return ", ".join(f"{count}{times}{what}" for what, count in counts.items() if count)


def _with(count: int, of_them: Mapping[str, int]) -> str:
    return f"{count} ({_each(of_them)})" if any(of_them.values()) else str(count)


def _families(*sides: Since) -> list[str]:
    having = {family for side in sides for family in side.listed}
    return [f for f in _FIRST if f in having] + sorted(having.difference(_FIRST))


def _exchanges(found: Comparison, *, text: bool) -> None:
    if not (found.pairs or found.only_one or found.only_other):
        return
    _heading("exchanges")
    for pair in found.pairs:
        _pair(pair, text=text)
    for mark, courses in (("<", found.only_one), (">", found.only_other)):
        for course in courses:
            out.answer(f"  {mark} {out.safe(course.exchange)}  {_line(course.question, 20)}")
            told = f": {course.draft.text}" if course.draft is not None else ""
            out.answer(out.shade(f"      {_line(_standing(course) + told, 6)}", "faint"))


def _pair(pair: Pair, *, text: bool) -> None:
    one, other = pair.one, pair.other
    ids = " | ".join(dict.fromkeys(out.safe(course.exchange) for course in (one, other)))
    how = _BY[pair.by] if pair.by != "question" or one.exchange != other.exchange else ""
    how = out.shade(f"  ({how})", "faint") if how else ""
    asked = f"  {_line(one.question, len(ids) + 24)}"
    asked = asked if one.question == other.question else ""
    out.answer(f"    {ids}{asked}{how}")
    if one.question != other.question:
        if text and pair.questions():
            _changes(pair.questions())
        else:
            out.answer(f"      < {_line(one.question, 8)}")
            out.answer(f"      > {_line(other.question, 8)}")
    standing = " | ".join((_standing(one), _standing(other)))
    pieces = pair.answers() if pair.verdict == "different" else []
    out.answer(out.shade(f"      {standing}{_difference(pair, pieces)}", "faint"))
    if text and pieces:
        _changes(pieces)


def _standing(course: Course) -> str:
    draft = f"#{course.draft.index}" if course.draft is not None else ""
    if course.accepted is None:
        return f"open, draft {draft}" if draft else "open, no draft"
    return f"answer {draft}".rstrip() + (", auto-accepted" * (course.by == "auto-accept"))


def _difference(pair: Pair, pieces: "Sequence[Piece]") -> str:
    if not pieces:
        return {"same": ": the same text", "redacted": ": redacted"}.get(pair.verdict, "")
    from projections.worddiff import words_changed  # noqa: PLC0415 — difflib, for differences alone

    words = words_changed(pieces)
    return f": -{words.removed} +{words.added} words, {words.same} the same"


def _changes(pieces: "Sequence[Piece]") -> None:
    """A word diff, with little of what stayed."""
    last = len(pieces) - 1
    told = "".join(
        out.marked(piece.change, _cut(piece, first=n == 0, last=n == last))
        for n, piece in enumerate(pieces)
    )
    out.answer(out.wrapped(told, indent=" " * 8))


def _cut(piece: "Piece", *, first: bool, last: bool) -> str:
    words = re.findall(r"\s*\S+(?:\s+$)?", piece.text)
    if piece.change != "same" or len(words) <= 3 * CONTEXT:
        return piece.text
    head, tail = (0 if first else CONTEXT), (0 if last else CONTEXT)
    left = len(words) - head - tail
    return "".join([*words[:head], f" […{left} words…]", *words[len(words) - tail :]])


def _settings(found: Comparison) -> None:
    if not found.settings:
        return
    _heading("settings")
    names = [f"< {name_of(found.one)}", f"> {name_of(found.other)}"]
    rows = [(s.key, *map(_value, (s.ancestor, s.one, s.other))) for s in found.settings]
    if found.ancestor is None:
        out.table([(key, *values) for key, _, *values in rows], ("", *names), cut=names)
    else:
        out.table(rows, ("", "before", *names), cut=("before", *names))


def _value(value: object) -> str:
    return "off" if value is None else str(value)


def _lists(found: Comparison) -> None:
    sides = (found.one, found.other)
    _list("thoughts", *(map(_thought, side.thoughts) for side in sides))
    for family in _families(*sides):
        _list(family, *(map(_happened, side.listed.get(family, ())) for side in sides))
    _list("picked", *(_picked(side) for side in sides))


def _thought(thought: Thought) -> tuple[int, str]:
    origin = f"({thought.origin}) " if thought.origin != "mind" else ""
    return thought.version, origin + thought.text


def _happened(happened: Happened) -> tuple[int, str]:
    event = happened.event
    told = summary(event)
    if event.kind in _SAID_BY_THEIR_FAMILY:
        return happened.version, told
    return happened.version, event.kind.partition(".")[2] + (f": {told}" if told else "")


def _picked(side: Since) -> Iterable[tuple[int, str]]:
    return (
        (p.version, f"{p.kind} from {p.source.session}@{p.source.version}") for p in side.picked
    )


def _list(heading: str, one: Iterable[tuple[int, str]], other: Iterable[tuple[int, str]]) -> None:
    sides = [("<", list(one)), (">", list(other))]
    if any(lines for _, lines in sides):
        _heading(heading)
    for mark, lines in sides:
        if len(lines) > SHOWN:
            out.answer(out.shade(f"  {mark} … {len(lines) - SHOWN} before these (--json)", "faint"))
        for version, told in lines[-SHOWN:]:
            out.answer(f"  {mark} {version:>6}  {_line(told, 12)}")


def _heading(name: str) -> None:
    out.answer()
    out.answer(out.shade(name, "strong"))


def _line(text: str, taken: int) -> str:
    return out.one_line(text, max(out.width() - taken, 20))
