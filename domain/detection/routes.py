"""Which effort a message belongs to, and which resolved one goes on after all."""

import re
from typing import NamedTuple

from domain.artifacts import Artifact
from domain.detection.conclusions import is_trouble
from domain.detection.cues import beginnings, doubts, endings
from domain.detection.matching import Match, matches, stems
from domain.detection.prose import Sentence, has_machine_text, says
from domain.detection.reading import Reading, is_polite

_NAME = re.compile(r"(?<=\w\s)[A-Z]\w+|[\"“]")
"""What a question of general knowledge is about: a name, a title."""


class Route(NamedTuple):
    """Where a message belongs, and the words that told."""

    effort: int | None
    words: str | None = None


def route(reading: Reading) -> Route:
    """The open effort that a message belongs to; None where it starts something of its own."""
    lately = reading.lately
    if lately is None:
        return Route(None)
    named = _named(reading)
    if named is not None:
        return named
    current = reading.current
    if reading.shelf.focus is not None and current is not None:
        return Route(current.id)
    pasted = has_machine_text(reading.passage.question)
    if not reading.said:
        return Route(lately.id if pasted else None)
    if current is None:
        return Route(lately.id if pasted or says(endings.FAILED, reading.prose) else None)
    return Route(None if _aside(reading, current) else current.id)


def _named(reading: Reading) -> Route | None:
    """The effort that the message names, where it names one clearly."""
    back = next((s for s in reading.said if says(beginnings.BACK, s.low)), None)
    current = reading.current
    best = next((m for m in reading.about_open if m.distinctive), None)
    mine = next((m for m in reading.about_open if current and m.artifact.id == current.id), None)
    if back is not None:
        named = _back(reading, back, current)
        if named is not None:
            return Route(named.id, back.text[:200])
    if best is None or (current is not None and best.artifact.id == current.id):
        return None
    if current is not None and current.parent == best.artifact.id:
        return None
    if mine is not None and mine.weight >= best.weight:
        return None
    return Route(best.artifact.id, _telling(reading, best))


def _back(reading: Reading, back: Sentence, current: Artifact | None) -> Artifact | None:
    found = [m.artifact for m in matches(back.low, reading.open)]
    if found:
        return found[0]
    if says(beginnings.GENERIC, back.low):
        others = [a for a in reading.open if a != current and is_trouble(a.text)]
        return max(others, key=lambda a: (a.referenced, a.id), default=None)
    return None


def _telling(reading: Reading, match: Match) -> str | None:
    words = stems(match.artifact.text)
    telling = (s.text for s in reading.said if words & stems(s.low))
    return next((text[:200] for text in telling), None)


def _aside(reading: Reading, current: Artifact) -> bool:
    """Whether a message has nothing to do with the effort that the talk was in."""
    first = reading.said[0].low
    prose = reading.prose
    if all(is_polite(s.low) for s in reading.said):
        return False
    if stems(prose) & stems(current.text):
        return False
    if says(beginnings.SWITCH, prose):
        return True
    if says(beginnings.LINKED, first) or has_machine_text(reading.passage.question):
        return False
    if not all(s.asks for s in reading.said):
        return False
    linked = says(beginnings.POINTING, prose) or stems(prose) & reading.context
    if linked or says(r"\b(?:my|our|i|we|me|the\ same)\b", prose):
        return False
    return _NAME.search(reading.said[0].text) is not None or bool(
        says(r"^(?:who|when\ (?:did|was))\b", first)
    )


def reopened(reading: Reading) -> Artifact | None:
    """The resolved effort that a message says is not done, or goes on."""
    resolved = [a for a in reading.shelf.artifacts if a.type == "effort" and a.status == "resolved"]
    if not resolved:
        return None
    for sentence in reading.said:
        low = sentence.low
        if sentence.asks or is_polite(low) or says(doubts.HYPOTHETICAL, low):
            continue
        if says(r"^(?:please\ )?(?:tell|show|remind|explain|give|describe)\b", low):
            continue
        if says(r"\b(?:thanks|thank\ you|explain|danke|gracias)\b", low) or says(
            doubts.REPORTED, low
        ):
            continue
        strong = says(beginnings.NOT_AFTER_ALL, low) or says(beginnings.GO_ON, low)
        again = says(beginnings.AGAIN, low) and says(beginnings.TROUBLE, low)
        back = says(
            r"\b(?:is|are|'s|come|came|comes)\ back\b|\breturned\b|wieder\ da|ha\ vuelto", low
        )
        still = says(r"\b(?:still|immer\ noch|sigue)\b", low) and (
            says(beginnings.TROUBLE, low) or says(beginnings.PROBLEM, low)
        )
        if says(beginnings.PROBLEM, low) and (same := _same(reading, sentence, resolved)):
            return same
        if not (strong or again or back or still):
            continue
        one = _which(reading, resolved, needs_name=not (strong or (again and len(stems(low)) < 3)))
        if one is not None:
            return one
    return None


def _same(reading: Reading, sentence: Sentence, resolved: list[Artifact]) -> Artifact | None:
    """The resolved effort whose problem a sentence tells of once more."""
    if reading.about_open:
        return None
    for artifact in sorted(resolved, key=lambda a: -a.id):
        both = stems(sentence.low) & stems(artifact.text)
        if (
            is_trouble(artifact.text)
            and len(both) >= 2
            and len(both) >= len(stems(artifact.text)) / 2
        ):
            return artifact
    return None


def _which(reading: Reading, resolved: list[Artifact], *, needs_name: bool) -> Artifact | None:
    best = next(
        (m for m in matches(reading.prose, resolved) if m.distinctive or m.weight > 1), None
    )
    rival = next(iter(reading.about_open), None)
    if best is not None and (rival is None or best.weight > rival.weight):
        return best.artifact
    if needs_name or reading.current is not None or rival is not None:
        return None
    return max(resolved, key=lambda a: (is_trouble(a.text), a.referenced, a.id))
