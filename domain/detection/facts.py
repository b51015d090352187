"""What turned out to be so or was decided, and which fact no longer holds for it."""

import re
from collections.abc import Iterable, Iterator

from domain.artifacts import Artifact
from domain.detection.cues import beginnings, declarations, doubts
from domain.detection.findings import Learned
from domain.detection.matching import matches, stems
from domain.detection.prose import Sentence, says
from domain.detection.reading import Reading
from domain.detection.wording import statement

MOST = 4
"""Facts that one message or answer leaves at most."""

_VALUE = re.compile(r"\d|[/\\@]\w|\w_\w|\w\.\w|\b\w+[A-Z]\w*|(?<=\S\s)[A-Z]\w+")
"""What makes a statement a particular one: a number, a path, a name."""

_AND = re.compile(r",\s+and\s+(?=(?:the|my|our|we|i)\s)", re.IGNORECASE)


def declared(reading: Reading, taken: frozenset[int]) -> tuple[Learned, ...]:
    """What the user says that holds; sentences in ``taken`` said something else already."""
    found: list[Learned] = []
    changed = bool(says(declarations.CHANGED, reading.prose))
    for number, sentence in enumerate(reading.said):
        if number in taken or sentence.asks:
            continue
        for part in _parts(sentence):
            text = _declared(part, reading.shelf.artifacts)
            if text is not None:
                _add(found, reading, text, changed=changed)
    return tuple(found[:MOST])


def answered(reading: Reading) -> tuple[Learned, ...]:
    """What an accepted answer states as found or decided, in so many words."""
    found: list[Learned] = []
    for sentence in reading.said:
        low = sentence.low
        if sentence.asks or says(doubts.HYPOTHETICAL, low) or says(doubts.REPORTED, low):
            continue
        match = says(declarations.ANSWERED, low)
        if match is not None and stems(low[match.end() :]):
            text = sentence.text[match.end() :].strip(" :,")
            _add(found, reading, statement(text), changed=bool(says(declarations.CHANGED, low)))
        elif says(declarations.ANSWERED_CAUSE, low) and len(stems(low)) > 2:
            _add(found, reading, statement(sentence.text), changed=False)
    return tuple(found[:MOST])


def repeated(text: str, shelf: Iterable[Artifact]) -> bool:
    """Whether a fact on the shelf says as much already."""
    words = stems(text)
    facts = (a for a in shelf if a.type == "fact")
    return any(words <= stems(fact.text) for fact in facts)


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    """A sentence, or the two that ``and`` joins."""
    pieces = _AND.split(sentence.text)
    if len(pieces) == 1 or '"' in sentence.text or "`" in sentence.text:
        yield sentence
        return
    for piece in pieces:
        yield Sentence(piece, piece.lower(), asks=False)


def _declared(sentence: Sentence, shelf: Iterable[Artifact]) -> str | None:
    low = sentence.low
    if says(doubts.REPORTED, low) or says(
        r"\b(?:if|suppose|imagine|wish|hypothetically|assuming|falls|wenn)\b", low
    ):
        return None
    marked = says(declarations.MARKED, low)
    if marked is not None and len(stems(low[marked.end() :])) > 1:
        return statement(sentence.text[marked.end() :].strip(" :,"))
    if says(declarations.DECIDED, low) or says(declarations.RULE, low):
        return statement(sentence.text) if len(stems(low)) > 1 else None
    if says(doubts.HYPOTHETICAL, low) and not says(r"\bmay\b", low):
        return None
    if _plain(sentence, low) or _renewed(sentence, shelf):
        return statement(sentence.text)
    return None


def _plain(sentence: Sentence, low: str) -> bool:
    """Whether it states a particular thing about the user, their people or their things."""
    if says(declarations.I_AM, low):
        return True
    if (
        len(stems(low)) < 2
        or says(r"\bof\ (?:it|them|these|those)\b", low)
        or says(declarations.FEELING, low)
    ):
        return False
    if says(beginnings.PROBLEM, low) and not says(beginnings.SOMEBODY, low):
        return False
    if says(declarations.WE_USE, low):
        return not says(r"\b(?:yesterday|last\ night|this\ morning)\b", low)
    if says(declarations.NOTED, low) or says(declarations.THIRD, low):
        return True
    match = says(declarations.MINE_IS, low)
    if match is None:
        return False
    particular = _VALUE.search(sentence.text, match.end()) is not None
    return particular or says(r"\b(?:called|named)\b", low) is not None


def _renewed(sentence: Sentence, shelf: Iterable[Artifact]) -> bool:
    """Whether it says something new about what a fact on the shelf is about."""
    if not says(declarations.CHANGED, sentence.low) or not _VALUE.search(sentence.text):
        return False
    facts = [a for a in shelf if a.type == "fact"]
    return any(m.distinctive and m.part >= 0.3 for m in matches(sentence.low, facts))


def _add(found: list[Learned], reading: Reading, text: str, *, changed: bool) -> None:
    facts = [a for a in reading.shelf.artifacts if a.type == "fact"]
    if not stems(text) or repeated(text, facts):
        return
    old = superseded(text, facts, changed=changed)
    taken = {one.supersedes for one in found}
    found.append(Learned(statement=text, supersedes=old if old not in taken else None))


def superseded(text: str, facts: Iterable[Artifact], *, changed: bool) -> int | None:
    """The fact whose place a statement takes: about the same thing, and with another value."""
    for match in matches(text, facts):
        if not match.distinctive:
            continue
        subject = _subject(text) & _subject(match.artifact.text)
        both = stems(text) & stems(match.artifact.text)
        if changed and (match.part >= 0.3 or (subject and match.part >= 0.15)):
            return match.artifact.id
        if subject and _subject(text) == _subject(match.artifact.text) and len(both) >= 1:
            return match.artifact.id
    return None


_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|takes?|uses?|lives?|runs?|starts?|costs?|ist|sind|hat|es|son"
    r"|tiene)\b"
)


def _subject(text: str) -> frozenset[str]:
    """What a statement is about: the words before its verb."""
    match = _VERB.search(text.lower())
    return stems(text[: match.start()]) if match is not None and match.start() > 0 else frozenset()
