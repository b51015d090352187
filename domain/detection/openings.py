"""What is to be achieved: goals, requests, problems, and attempts at what is open already."""

from typing import NamedTuple

from domain.artifacts import Artifact
from domain.detection.cues import beginnings, doubts
from domain.detection.findings import Opened
from domain.detection.matching import matches, stems
from domain.detection.prose import Sentence, says
from domain.detection.reading import Reading, is_polite
from domain.detection.wording import clipped, goal

_EARLY = 40
"""Characters before the words of an attempt: what stands later is told of, not set out to do."""

_POINTING_LEAST = 2
"""Words that a goal has at least; one with less, or that points back, takes what is before it."""


class Start(NamedTuple):
    """What a message sets out to do."""

    opened: Opened
    at: int
    """The sentence that says so."""


def attempt(reading: Reading, root: Artifact | None) -> Start | None:
    """One try at what is open, or one part of it."""
    if root is None:
        return None
    for number, sentence in enumerate(reading.said):
        low = sentence.low
        tried = says(beginnings.ATTEMPT, low)
        part = says(beginnings.PART, low)
        match = tried or (part if says(beginnings.PART_WORDS, low) else None)
        if match is None or (sentence.asks and tried is None) or says(r"\bif\b|\bi\ tried\b", low):
            continue
        if tried and match.start() > _EARLY:
            continue
        rest = sentence.text[match.end() :].strip(" ,.:;-")
        rest = rest.removesuffix(" first").removeprefix("to ").removeprefix("then ")
        if not stems(rest) or says(
            r"^(?:it|that|this|them|these|those|whether|if|again|you)\b", rest.lower()
        ):
            continue
        return Start(Opened(goal=goal(rest), parent=root.id), number)
    return None


def opening(reading: Reading, taken: frozenset[int], current: Artifact | None) -> Start | None:
    """A goal or a problem beside the effort that the talk is in.

    Sentences in ``taken`` said something else already.
    """
    wanted: tuple[int, str] | None = None
    for number, sentence in enumerate(reading.said):
        if number in taken or is_polite(sentence.low):
            continue
        kind = _kind(sentence)
        if kind == "wanted":
            wanted = (number, kind)
            break
        if kind == "trouble" and wanted is None:
            wanted = (number, kind)
    if wanted is None:
        return None
    number, kind = wanted
    text = _whole(reading, number, taken)
    least = 1 if kind == "trouble" and len(text.split()) > 2 else 2
    if len(stems(text)) < least or not _new(reading, current, text, kind, number):
        return None
    return Start(Opened(goal=goal(text)), number)


def _kind(sentence: Sentence) -> str | None:
    low = sentence.low
    if says(doubts.REPORTED, low) or says(
        r"\b(?:i\ wish|suppose|imagine|hypothetically|in\ general)\b", low
    ):
        return None
    if (
        says(beginnings.REQUEST, low)
        or says(beginnings.HELP, low)
        or says(beginnings.HELP_LAST, low)
    ):
        return "wanted"
    if sentence.asks:
        return "trouble" if says(beginnings.WHY_MY, low) else None
    if says(beginnings.WANT, low) or says(beginnings.WANT_FIRST, low) or says(beginnings.LETS, low):
        return "wanted"
    if says(beginnings.PROBLEM, low) and not says(beginnings.SOMEBODY, low):
        return "trouble"
    return None


def _whole(reading: Reading, number: int, taken: frozenset[int]) -> str:
    """The sentence, with the one before it where it points back or says too little."""
    text = reading.said[number].text
    short = goal(text)
    points = says(r"\b(?:it|this|that|them|everything|any\ ideas?|help)\b", short.lower())
    if (points or len(stems(short)) < _POINTING_LEAST) and number > 0:
        ahead = [n for n in range(number) if n not in taken and not is_polite(reading.said[n].low)]
        if ahead:
            first = goal(reading.said[ahead[0]].text)
            if len(stems(first)) >= _POINTING_LEAST or not stems(short):
                return clipped(f"{first}: {short[:1].lower()}{short[1:]}", 240)
    return text


def _new(reading: Reading, current: Artifact | None, text: str, kind: str, number: int) -> bool:
    """Whether it is something else than what goes on already."""
    switched = any(says(beginnings.SWITCH, s.low) for s in reading.said[: number + 1])
    same = [m for m in matches(text, reading.open) if m.distinctive and m.part >= 0.2]
    if any(m.distinctive > 1 or m.part >= 0.4 for m in same):
        return False
    if current is None or switched:
        return True
    if same or says(beginnings.LINKED, reading.said[0].low):
        return False
    if kind == "wanted":
        edits = says(beginnings.EDIT, reading.said[number].low) is not None
        return not edits and not stems(text) & stems(current.text)
    own = says(r"\b(?:my|our)\b", text.lower()) is not None
    return own and bool(reading.passage.before) and not stems(text) & reading.context
