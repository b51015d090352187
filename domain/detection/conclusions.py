"""What ended: solved, failed or given up, as the user says it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from domain.artifacts import Artifact
from domain.detection.cues import beginnings, declarations, doubts, endings
from domain.detection.findings import HERE, Opened, Resolved
from domain.detection.matching import Match, stems
from domain.detection.prose import Sentence, says, sentences
from domain.detection.reading import Reading, is_polite
from domain.detection.wording import clipped, goal, statement
from domain.events.artifacts import Outcome

_EMPTY = stems(
    "that fixed it solved works working worked helped problem issue done success bingo luck"
)
_HOW = r"\b(?:how|what|which|where|is\ there|can\ i|do\ you\ know)\b|\bwie\b|\bcómo\b"
"""What is asked beside an effort, and concluded on its own."""

_WONDERS = r"^(?:why|where|when|which|who|what|is|are|was|were|does|did)\b"
"""How a question begins that says nothing without its first word; others ask for something."""

_BUT = r"^(?:but|except|however|only)\b"
"""How a sentence begins that takes back part of the one before it."""

_NEVER_MIND = r"never\ ?mind|nvm"
_BARE = 2
"""Words that a sentence has at least beside those of a conclusion, when it says what helped."""


class Ending(NamedTuple):
    """What a message concludes."""

    resolved: tuple[Resolved, ...] = ()
    opened: Opened | None = None
    """What was asked and is concluded at once, where no effort was open."""
    at: int = -1
    """The sentence that says so."""


def ending(reading: Reading) -> Ending:
    """What a message concludes; nothing where it asks, hopes, denies, or tells what others said."""
    for number, (sentence, outcome) in enumerate(_outcomes(reading)):
        if outcome is None:
            continue
        found = _concluded(reading, number, sentence, outcome)
        if found is not None:
            return found
    return _implied(reading)


def _implied(reading: Reading) -> Ending:
    """What a message tells of in such a way that it must be over: what was done, and relief."""
    target = _target(reading, "done")
    if target is None:
        return Ending()
    total, result, telling = 0.0, False, list[int]()
    for number, sentence in enumerate(reading.said):
        low = sentence.low
        if sentence.asks or says(doubts.REPORTED, low) or says(endings.ABANDONED, low):
            return Ending()
        weights, kept = _weighed(low)
        if says(doubts.DOUBT, kept) or says(doubts.BROKEN, kept) or says(beginnings.PROBLEM, kept):
            return Ending()
        if weights:
            total += sum(weights)
            result = result or max(weights) >= endings.RESULT
            telling.append(number)
    if total < endings.ENOUGH or not result:
        return Ending()
    whole = " ".join(reading.said[n].text for n in telling)
    text = clipped(statement(whole), 240)
    return Ending(tuple(_with_relatives(reading, target, text, "done")), None, telling[-1])


def _weighed(low: str) -> tuple[list[float], str]:
    """What in a sentence speaks for an end, by weight, and what it says besides."""
    weights = []
    for weight, cue in (*endings.EVIDENCE, *endings.EVIDENCE):
        match = says(cue, low)
        if match is not None:
            weights.append(weight)
            low = f"{low[: match.start()]} {low[match.end() :]}"
    return weights, low


def _outcomes(reading: Reading) -> Iterator[tuple[Sentence, Outcome | None]]:
    said = reading.said
    for number, sentence in enumerate(said):
        following = said[number + 1] if number + 1 < len(said) else None
        yield sentence, _outcome(sentence, following)


def _outcome(sentence: Sentence, following: Sentence | None) -> Outcome | None:
    low = sentence.low
    if sentence.asks or says(doubts.REPORTED, low):
        return None
    if says(endings.ABANDONED, low) and not says(r"\bif\b|\bwould\b|\bdon't\ forget\b", low):
        later = following.low if following else ""
        found = says(endings.FOUND, low) or says(endings.FOUND, later)
        return "done" if found and says(_NEVER_MIND, low) else "abandoned"
    if is_done(sentence, following):
        return "done"
    return "failed" if says(endings.FAILED, low) or says(endings.LOST, low) else None


def is_done(sentence: Sentence, following: Sentence | None = None) -> bool:
    """Whether a sentence says, without doubt, that something is solved."""
    said = [endings.SOLVED, endings.DONE_FIRST, endings.CAUSE_ALONE]
    if following is None or not following.asks:
        said.append(endings.STEP_FIRST)
    elsewhere = following is not None and says(_BUT, following.low) is not None
    found = (says(cue, sentence.low) for cue in said)
    return not elsewhere and any(m is not None and not _doubted(sentence.low, m) for m in found)


def _doubted(low: str, match: re.Match[str]) -> bool:
    """Whether what stands around a cue takes its meaning away."""
    ahead, after = low[: match.start()], low[match.end() :]
    begun = max(ahead.rfind(mark) for mark in (",", ";", ":", " and ", " but ", " - ")) + 1
    clause, rest = ahead[begun:], re.split(r"[,;:.!]| - | and ", after, maxsplit=1)[0]
    return any(
        says(cue, part) is not None
        for cue, part in (
            (doubts.HYPOTHETICAL, f"{ahead} {after}"),
            (doubts.NEGATED, clause),
            (doubts.UNSURE, clause),
            (doubts.NEGATED, rest),
            (doubts.PARTIAL, after),
            (doubts.BROKEN, after),
        )
    )


def _concluded(
    reading: Reading, number: int, sentence: Sentence, outcome: Outcome
) -> Ending | None:
    target = _target(reading, outcome)
    if outcome == "failed":
        attempt = target is not None and target.parent is not None
        if not attempt and not (target and says(endings.LOST, sentence.low)):
            return None
    if outcome == "abandoned" and target is None:
        return None
    text = _resolution(reading, number, outcome)
    if target is not None:
        return Ending(tuple(_with_relatives(reading, target, text, outcome)), None, number)
    asked = _asked(reading)
    if asked is None or _just_concluded(reading):
        return None
    one = Resolved(effort=HERE, resolution=text, outcome=outcome)
    return Ending((one,), Opened(goal=asked), number)


def completed(reading: Reading) -> Ending:
    """An effort that was brought to its end by what the user says they did."""
    for number, sentence in enumerate(reading.said):
        low = sentence.low
        match = says(endings.COMPLETED, low) or says(endings.ACHIEVED, low)
        if sentence.asks or match is None or says(doubts.HYPOTHETICAL, low):
            continue
        if says(doubts.NEGATED, low[: match.start()]) or says(
            r"\b(?:after|when|before)\b", low[: match.start()]
        ):
            continue
        best = next(iter(reading.about_open), None)
        if best is None or not _reached(reading, number, best):
            continue
        text = _resolution(reading, number, "done")
        return Ending(tuple(_with_relatives(reading, best.artifact, text, "done")), None, number)
    return Ending()


def _reached(reading: Reading, number: int, best: Match) -> bool:
    """Whether what the user did is what an effort was for."""
    if best.distinctive >= _BARE and best.part >= 0.34:
        return True
    low = reading.said[number].low
    going_on = any(s.asks or _aims(s) for s in reading.said) or says(doubts.DOUBT, low)
    if going_on or is_trouble(best.artifact.text) or not best.distinctive or best.part < 0.2:
        return False
    return says(endings.ACHIEVED, low) is not None


def _target(reading: Reading, outcome: Outcome) -> Artifact | None:
    """The open effort that a conclusion is about: the one it names, or the one talked about."""
    current = reading.current
    for match in reading.about_open:
        if match.distinctive and (current is None or match.artifact.id != current.id):
            related = current is not None and current.parent == match.artifact.id
            mine = next((m for m in reading.about_open if m.artifact == current), None)
            if not related and (mine is None or mine.weight < match.weight):
                return match.artifact
        break
    before = reading.passage.before
    if current is not None or (before and says(_HOW, before[-1][0][:1000].lower())):
        return current
    wanted = [a for a in reading.open if outcome != "failed" or a.parent is not None]
    return max(wanted, key=lambda a: (a.referenced, a.id), default=None)


def _with_relatives(
    reading: Reading, target: Artifact, text: str, outcome: Outcome
) -> Iterator[Resolved]:
    """The effort, the problem that it was an attempt at, and attempts that end with it."""
    yield Resolved(effort=target.id, resolution=text, outcome=outcome)
    top = target
    parent = reading.shelf.get(target.parent) if target.parent is not None else None
    if parent is not None and parent.is_open and outcome == "done" and is_trouble(parent.text):
        yield Resolved(effort=parent.id, resolution=text, outcome="done")
        top = parent
    if outcome == "failed" or top.parent is not None:
        return
    for other in reading.open:
        if other.parent == top.id and other.id != target.id:
            yield Resolved(effort=other.id, resolution=text, outcome="abandoned")


def is_trouble(text: str) -> bool:
    """Whether a goal is to get rid of a problem, and not to make something."""
    low = text.lower()
    cue = r"^(?:fix|debug|solve|repair|find\ out|get\ rid|figure\ out|why|stop)\b"
    return bool(says(cue, low) or says(beginnings.PROBLEM, low) or says(beginnings.TROUBLE, low))


def _resolution(reading: Reading, number: int, outcome: Outcome) -> str:
    """What ended it, in the words of the message, else of the answer before."""
    said = reading.said
    around = [number, number + 1, number - 1]
    near = [said[n] for n in around if 0 <= n < len(said) and (n == number or not _aims(said[n]))]
    telling = [s for s in near if not s.asks and _content(s) >= _BARE]
    cause = next(
        (s for s in near if not s.asks and says(endings.CAUSE, s.low) and _content(s)), None
    )
    if cause is not None:
        return statement(cause.text)
    if telling:
        ahead = said[number - 1].text if number and said[number - 1] in telling[1:] else ""
        whole = f"{ahead} {telling[0].text}" if telling[0] is said[number] else telling[0].text
        return clipped(statement(whole), 240)
    if outcome == "done" and reading.passage.before:
        advice = first_telling(reading.passage.before[-1][1])
        if advice is not None:
            return clipped(f"As advised: {advice}", 200)
    return statement(said[number].text) or "Done"


def _aims(sentence: Sentence) -> bool:
    """Whether it tells what comes next instead of what was."""
    return any(
        says(cue, sentence.low)
        for cue in (
            beginnings.WANT,
            beginnings.REQUEST,
            beginnings.HELP,
            beginnings.LETS,
            declarations.REMIND,
        )
    )


def _content(sentence: Sentence) -> int:
    return len(stems(sentence.low) - _EMPTY)


def first_telling(text: str) -> str | None:
    """The first sentence of an answer that tells something."""
    told = (s for s in sentences(text) if not s.asks and not is_polite(s.low))
    return next((statement(s.text) for s in told if _content(s) >= _BARE), None)


def _asked(reading: Reading) -> str | None:
    """What was asked in the exchange that is concluded, in short."""
    for question, _ in reversed(reading.passage.before[-3:]):
        said = [one for one in sentences(question) if not is_polite(one.low)]
        # what is asked says more than what leads up to it
        asking = [one for one in said if one.asks and stems(one.low) and len(one.low.split()) > 3]
        telling = [one for one in said if len(stems(one.low)) >= _BARE]
        if asking and says(_WONDERS, asking[-1].low):
            return clipped(statement(asking[-1].text).rstrip(" ?"))
        if asking or telling:
            return goal((asking[-1] if asking else telling[0]).text)
    return None


def _just_concluded(reading: Reading) -> bool:
    """Whether the exchange before belongs to an effort that ended a moment ago."""
    shelf = reading.shelf
    before = [p for p in shelf.threads if p.exchange != reading.passage.exchange]
    effort = shelf.get(before[-1].effort) if before and before[-1].effort is not None else None
    return (
        effort is not None and effort.status == "resolved" and effort.referenced >= shelf.turn - 1
    )
