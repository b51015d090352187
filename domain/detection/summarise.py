"""A summary of exchanges made of their own best sentences, for when nothing was concluded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from domain.detection.matching import stems
from domain.detection.prose import sentences
from domain.detection.reading import is_polite
from domain.tokens import characters, estimate

USER, MIND = "User", "Mind"

SAME = 0.7
"""Of the words of a sentence, the part that a chosen one may have at most."""

_LEAST = 40
"""Characters that are left at least where a sentence is cut to fit."""


class _Candidate(NamedTuple):
    number: int
    speaker: str
    text: str
    words: frozenset[str]
    place: float
    """What its place is worth: people ask first, and minds begin with what matters."""


def extractive(exchanges: Sequence[tuple[str, str]], tokens: int) -> str:
    """The sentences that say most of what the others say, in order, each with its speaker.

    Sentences count by how much their words are those of the whole (the centroid, Radev et al.
    2004) and by their place; those that say once more what is chosen already are left out.

    Args:
        exchanges: question and answer, oldest first.
        tokens: at most so many, by :func:`domain.tokens.estimate`; at least 1.

    Returns:
        Lines of ``User: …`` and ``Mind: …``; never empty.
    """
    candidates = list(_candidates(exchanges))
    chosen: list[_Candidate] = []
    for _, one in sorted(_scored(candidates), key=lambda pair: (-pair[0], pair[1].number)):
        if any(_alike(one.words, other.words) for other in chosen):
            continue
        if estimate(_written([*chosen, one])) <= tokens:
            chosen.append(one)
    if chosen:
        return _written(chosen)
    best = max(_scored(candidates), key=lambda pair: pair[0], default=None)
    text = f"{best[1].speaker}: {best[1].text}" if best else _first_words(exchanges)
    return _cut(text, tokens)


def _candidates(exchanges: Sequence[tuple[str, str]]) -> Iterator[_Candidate]:
    number = 0
    for question, answer in exchanges:
        for speaker, text in ((USER, question), (MIND, answer)):
            said = [s for s in sentences(text) if not is_polite(s.low)]
            for at, sentence in enumerate(said):
                place = 1.0 if at == 0 else 0.4 if at == len(said) - 1 else 0.0
                words = stems(sentence.text)
                if words:
                    yield _Candidate(number, speaker, sentence.text, words, place)
                number += 1


def _scored(candidates: list[_Candidate]) -> list[tuple[float, _Candidate]]:
    having = Counter(word for one in candidates for word in one.words)
    most = max(having.values(), default=1)
    # words of one sentence alone tell little of the whole, words of all of them nothing
    worth = {w: log(1 + n) * log(1 + len(candidates) / n) for w, n in having.items()}
    highest = max(worth.values(), default=1.0) or 1.0
    scored = []
    for one in candidates:
        centre = sum(worth[w] for w in sorted(one.words)) / (highest * (len(one.words) + 3))
        asked = 0.2 if one.speaker == USER else 0.0
        scored.append((centre + (0.3 * one.place + asked) * (0.5 if most > 1 else 1.0), one))
    return scored


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) > SAME * len(words)


def _written(chosen: list[_Candidate]) -> str:
    lines: list[str] = []
    speaker, last = "", -2
    for one in sorted(chosen, key=lambda c: c.number):
        if one.speaker == speaker and one.number == last + 1:
            lines[-1] = f"{lines[-1]} {one.text}"
        else:
            lines.append(f"{one.speaker}: {one.text}")
        speaker, last = one.speaker, one.number
    return "\n".join(lines)


def _first_words(exchanges: Sequence[tuple[str, str]]) -> str:
    """What there is where nobody wrote a sentence: a log, code, a greeting."""
    for pair in exchanges:
        for speaker, text in zip((USER, MIND), pair, strict=True):
            words = " ".join(text[:2_000].split())
            if words:
                return f"{speaker}: {words}"
    return f"{USER}: …"


def _cut(text: str, tokens: int) -> str:
    if estimate(text) <= tokens:
        return text
    size = max(characters(tokens), 1)
    while size > 1 and estimate(f"{text[: size - 1]}…") > tokens:
        size = size * 3 // 4
    cut = text[: size - 1]
    if size > _LEAST:
        cut = cut.rsplit(" ", 1)[0]
    return f"{cut}…" if cut else text[:1]
