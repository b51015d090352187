"""The detector that needs no model: rules about how people say things.

It looks at a message when it was sent, for what the user opens, concludes, denies, declares and
plans; and at an answer when it was accepted, for what that states and completes. The same passage
always gives the same findings, in time proportional to the text. What it is not sure of it leaves:
an effort that stays open costs less than one that was closed while it goes on.
"""

from domain.artifacts import Artifact, Shelf
from domain.detection.appointments import upcoming
from domain.detection.conclusions import Ending, completed, ending, is_done, is_trouble
from domain.detection.cues import beginnings, declarations, doubts
from domain.detection.facts import answered, declared
from domain.detection.findings import HERE, Findings, Passage, Resolved
from domain.detection.matching import mentioned
from domain.detection.openings import Start, attempt, opening
from domain.detection.prose import has_machine_text, says, sentences
from domain.detection.reading import Reading
from domain.detection.routes import Route, reopened, route
from domain.detection.wording import clipped, goal, statement

_PRODUCT = 60
"""Characters that what was asked for has at least."""


def detect(passage: Passage, shelf: Shelf) -> Findings:
    """What a message leaves, or with an answer what that adds; empty for ambient talk."""
    reading = Reading(passage, shelf)
    return _of_message(reading) if passage.answer is None else _of_answer(reading)


def _of_message(reading: Reading) -> Findings:
    end = ending(reading)
    end = end if end.resolved else completed(reading)
    again = reopened(reading) if not end.resolved else None
    coming = upcoming(reading)
    taken = frozenset({end.at, *(one.at for one in coming if one.alone)} - {-1})
    start = None if again is not None or end.opened is not None else _start(reading, end, taken)
    taken |= {start.at} if start is not None else set()
    decided = _decided(reading, end)
    learned = declared(reading, taken - decided) if again is None else ()
    where = _where(
        reading, end, start, again.id if again else None, alone=_only(reading, taken, start, end)
    )
    return Findings(
        effort=where.effort,
        mentions=mentioned(reading.prose, reading.shelf.artifacts),
        opened=start.opened if start is not None else end.opened,
        resolved=end.resolved,
        reopened=(again.id,) if again is not None else (),
        learned=learned,
        noted=tuple(one.noted for one in coming),
        words=where.words,
    )


def _decided(reading: Reading, end: Ending) -> frozenset[int]:
    """The concluding sentence, where it states a decision as well."""
    if end.at < 0 or end.resolved[0].outcome != "done":
        return frozenset()
    return frozenset({end.at}) if says(declarations.RULE, reading.said[end.at].low) else frozenset()


def _start(reading: Reading, end: Ending, taken: frozenset[int]) -> Start | None:
    """An attempt at the effort that the talk is in, or something new."""
    ended = {one.effort for one in end.resolved}
    current, root = reading.current, _root(reading)
    if current is None and root is not None and not is_trouble(root.text):
        root = None
    if root is None or root.id in ended:
        return opening(reading, taken, None)
    return attempt(reading, root) or opening(reading, taken, current)


def _root(reading: Reading) -> Artifact | None:
    """The open effort that attempts belong to: that of the talk, or what it is a part of."""
    root = reading.lately
    while root is not None and root.parent is not None:
        parent = reading.shelf.get(root.parent)
        if parent is None or not parent.is_open:
            break
        root = parent
    return root


def _only(reading: Reading, taken: frozenset[int], start: Start | None, end: Ending) -> bool:
    """Whether a message only tells of events."""
    return start is None and not end.resolved and bool(taken) and len(taken) == len(reading.said)


def _where(
    reading: Reading, end: Ending, start: Start | None, again: int | None, *, alone: bool
) -> Route:
    if start is not None or end.opened is not None:
        return Route(HERE)
    if again is not None:
        return Route(again)
    if end.resolved:
        return Route(end.resolved[0].effort, reading.said[end.at].text[:200])
    return Route(None) if alone and reading.shelf.focus is None else route(reading)


def _of_answer(reading: Reading) -> Findings:
    passage, shelf = reading.passage, reading.shelf
    current = reading.current
    resolved = _delivered(reading) or _settled(reading)
    return Findings(
        effort=shelf.effort_of(passage.exchange),
        mentions=mentioned(passage.question, shelf.artifacts),
        resolved=(resolved,) if resolved is not None and current is not None else (),
        learned=answered(reading),
    )


def _delivered(reading: Reading) -> Resolved | None:
    """The request of this very message, where the answer holds what was asked for."""
    current, answer = reading.current, reading.passage.answer or ""
    if current is None or not reading.said or len(answer) < _PRODUCT:
        return None
    asked = [s for s in sentences(reading.passage.question) if says(beginnings.DELIVERED, s.low)]
    if not asked or not any(goal(s.text)[:60].lower() == current.text[:60].lower() for s in asked):
        return None
    text = "\n".join(s.low for s in reading.said)
    if reading.said[-1].asks and not says(
        r"\b(?:shall|should\ i|would\ you\ like|anything)\b", reading.said[-1].low
    ):
        return None
    if says(doubts.ASKS_BACK, text):
        return None
    made = len(answer) >= 3 * _PRODUCT or has_machine_text(answer) or "\n" in answer.strip()
    if not made and all(s.asks for s in reading.said):
        return None
    return Resolved(
        effort=current.id, resolution=clipped(f"Done: {statement(reading.said[0].text)}", 200)
    )


def _settled(reading: Reading) -> Resolved | None:
    """The effort of this exchange, where the answer says without doubt that it is solved."""
    current, said = reading.current, reading.said
    if current is None or not said or said[-1].asks:
        return None
    if any(says(doubts.ADVICE, s.low) for s in said):
        return None
    for number, sentence in enumerate(said):
        if not sentence.asks and not says(doubts.REPORTED, sentence.low) and is_done(sentence):
            told = said[number - 1] if number and len(sentence.text) < _PRODUCT else sentence
            return Resolved(effort=current.id, resolution=statement(told.text))
    return None
