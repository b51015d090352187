"""What happens at some time: appointments, deadlines, things to be reminded of."""

import re
from typing import NamedTuple

from domain.detection import dates
from domain.detection.cues import beginnings, declarations, doubts
from domain.detection.findings import Noted
from domain.detection.matching import matches, stems
from domain.detection.prose import Sentence, says, without
from domain.detection.reading import Reading
from domain.detection.wording import clipped, goal

MOST = 4
"""Events that one message leaves at most."""

_AROUND = r"""^(?:\W|(?:(?:i|we)(?:'ve\ got|\ have\ got|\ have|\ got)|ich\ habe
    |tengo)\ (?:to\ )?(?:an?\ |einen?\ |una?\ )?
    |(?:i'm|we're|i\ am|we\ are)\ (?=\w+ing)|also\b|and\b|bitte\b|please\b|pls\b|for\b|to\b|that\b
    |about\b|of\b|an\ (?:den|die|das)\b|there(?:'s|\ is)\ (?:a\ |an\ )?|it's\b|the\b|don't\b)+"""
_MOVED = r"""\b(?:was|were|has\ been|got)\ (?:moved|postponed|rescheduled|scheduled|booked|shifted
    |confirmed|brought\ forward)"""
_TRAILING = r"""(?:\W|\b(?:is|are|on|at|by|in|for|the|am|um|before|until|from|ist|es|el
    |was|were|been|scheduled|moved\ to|to|around|code))+$"""


class Dated(NamedTuple):
    """An event, and the sentence that tells of it."""

    noted: Noted
    at: int
    alone: bool
    """Whether the sentence tells of nothing else."""


def upcoming(reading: Reading) -> list[Dated]:
    """What is to come, in the order it is told."""
    found: list[Dated] = []
    for number, sentence in enumerate(reading.said):
        low = sentence.low
        remind = says(declarations.REMIND, low)
        if says(doubts.REPORTED, low) or (sentence.asks and not (remind and says(r"\byou\b", low))):
            continue
        if remind is None and (
            not says(declarations.HAPPENING, low) or says(declarations.TOLD, without(_MOVED, low))
        ):
            continue
        if says(r"\b(?:if|suppose|reminds)\b", low):
            continue
        text = sentence.text if remind else _telling(sentence)
        if text is None:
            continue
        text = without(r"\bfrom\ (?=[a-z]+day\ to\b)[a-z]+day", text)
        when = dates.find(text, reading.passage.now)
        if (when is not None and when.over) or (remind is None and not (when and when.day)):
            continue
        what = _what(without(declarations.REMIND, when.rest if when else text))
        if not stems(what) or _known(reading, what, when):
            continue
        found.append(Dated(_noted(what, when), number, remind is not None or not _aims(low)))
    return found[:MOST]


def _telling(sentence: Sentence) -> str | None:
    """The sentence, or of one that sets out to do something the clause that tells what comes."""
    aims = _aims(sentence.low)
    if not aims:
        return None if says(beginnings.PROBLEM, sentence.low) else sentence.text
    for clause in re.split(r"[,;:]| - ", sentence.text):
        if says(declarations.HAPPENING, clause.lower()) and not _aims(clause.lower()):
            return clause
    return None


def _aims(low: str) -> bool:
    """Whether a text sets out to do something."""
    return any(
        says(cue, low)
        for cue in (beginnings.WANT, beginnings.REQUEST, beginnings.HELP, beginnings.LETS)
    )


def _noted(what: str, when: dates.When | None) -> Noted:
    if when is None:
        return Noted(what=what)
    return Noted(what=what, when=when.when, expires=when.expires)


def _what(text: str) -> str:
    """What happens, without the words that told when."""
    text = without(r"\b(?:later|bitte|please|pls|don't|it)\b(?=\W*$)", text)
    text = without(_AROUND, text)
    text = without(_TRAILING, text.strip(" .,;:!"))
    text = without(r"\s+,(?=\s*,|\s*$)", text)
    return clipped(goal(text)) if stems(text) else ""


def _known(reading: Reading, what: str, when: dates.When | None) -> bool:
    """Whether the shelf holds it already, at that time."""
    events = [a for a in reading.shelf.artifacts if a.type == "event"]
    return any(
        m.part >= 0.6 and (when is None or m.artifact.when == when.when)
        for m in matches(what, events)
    )
