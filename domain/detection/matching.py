"""Which artifact a text speaks of: by its distinctive words, rare ones counting more."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from math import log
from typing import NamedTuple

from domain.artifacts import Artifact

WORDS = 2_000
"""Words of a text that are looked at."""

_WORD = re.compile(r"[^\W_]+(?:[._/+'-][^\W_]+){0,12}|\d+")
_PART = re.compile(r"[^\W_]+")
_ENDINGS = (
    *("ations", "ation", "ments", "ment", "ingly", "ings", "ing", "ities", "ity", "ies", "ied"),
    *("iness", "ness", "ically", "ical", "edly", "ally", "ic", "al", "ed", "es", "ly", "er", "en"),
    *("em", "s", "e", "y", "n"),
)
_STEM = 4
"""Letters that are left at least when an ending is cut off."""

COMMON = frozenset(
    """a about above after again against ago all along already also always am an and another any
    anyone anything are aren't around as ask at away back be because been before call calls
    being best better between big bit both but by came can can't cannot come comes could
    couldn't day days did didn't different do does doesn't doing don't done down during each
    else end enough even ever every everything far few find first for found from get gets
    getting give go goes going gone good got great had half has hasn't have haven't having he
    hello help her here hers hey hi him his hour hours how however i i'd i'll i'm i've idea if
    in instead into is isn't it it's its just keep kind know last late later least left less let
    let's like little long look looks lot made make makes making many may maybe me mean might
    mine minute minutes month months more most much must my myself need needs never new next no
    none not nothing now of off often oh ok okay old on once one ones only open or other others
    our ours out over own part people perhaps place please pls problem put quite rather really
    right said same saw say says see seem seems she should shouldn't side since so some someone
    something soon sorry start started still stop such sure take takes tell than thank thanks
    that that's the their them then there there's these they they're thing things think this
    those though through time times to today together tomorrow tonight too took tried try trying
    turn two under until up upon us use used uses using very want wanted wants was wasn't way we
    we'd we'll we're we've week weeks well went were weren't what what's when where whether
    which while who whole whose why will with within without won't work worked working works
    would wouldn't year years yes yesterday yet you you'd you'll you're you've your yours aber
    alle als also am an auch auf aus bei bin bis bitte da damit dann das dass dein dem den der
    des dich die dir doch du durch ein eine einem einen einer er es etwas euch für geht gibt gut
    habe haben hat hier ich ihr im immer in ist ja jetzt kann kein keine können man mein meine
    mich mir mit morgen muss nach nicht noch nun nur ob oder ohne schon sehr sein seine sich sie
    sind so soll über um und uns unser von vor war was weil wenn wer wie wieder wir wird wo zu
    zum zur al ahora antes como con cuando de del desde donde el ella en era es esa ese eso esta
    este esto está hay hoy la las le lo los mañana más me mi muy nada ni nos nuestra nuestro o
    para pero por porque que qué se si sin sobre su sus también te tengo tiene todo tu un una
    uno y ya yo
    """.split()  # noqa: SIM905 — a list of strings would be ten times as long
)
"""Words that tell nothing about what a text is about."""

VAGUE = frozenset(
    """bug issue error errors fail fails failed fix fixed broken api app code file files page test
    tests system project plan version question answer topic choose explain
    """.split()  # noqa: SIM905 — a list of strings would be ten times as long
)
"""Words that tell a little: on their own they don't say which artifact is meant."""


class Match(NamedTuple):
    """How much a text speaks of an artifact."""

    artifact: Artifact
    weight: float
    """Of the words that both have."""
    part: float
    """Of the artifact's own words, by weight: 0 to 1."""
    distinctive: int
    """How many words that both have are neither common nor vague."""


@lru_cache(maxsize=512)
def stems(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about, without their endings."""
    found: set[str] = set()
    for number, word in enumerate(_WORD.finditer(text.lower())):
        if number >= WORDS:
            break
        whole = word.group().removesuffix("'s")
        for one in (whole, *_PART.findall(whole)):
            if one not in COMMON and (len(one) > 1 or one.isdigit()):
                found.add(stem(one))
    return frozenset(found)


def stem(word: str) -> str:
    """A word without its ending: ``allergic``, ``allergy`` and ``allergies`` are one."""
    if not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _STEM and word[-1] == word[-2] else word


_VAGUE = frozenset(stem(word) for word in VAGUE)


def wording(artifact: Artifact) -> str:
    """All words of an artifact."""
    return f"{artifact.text} {artifact.resolution or ''}"


def matches(text: str, artifacts: Iterable[Artifact]) -> list[Match]:
    """The artifacts that a text has words of, the best first; of equal ones the newest."""
    said = stems(text)
    shelf = [(artifact, stems(wording(artifact))) for artifact in artifacts]
    having = Counter(word for _, words in shelf for word in words)

    def weight(words: Iterable[str]) -> float:
        return sum(
            log(1 + (len(shelf) + 1) / having[word]) * _worth(word) for word in sorted(words)
        )

    found = []
    for artifact, words in shelf:
        both = said & words
        if both:
            whole = weight(words)
            distinct = sum(1 for word in both if word not in _VAGUE and len(word) > 1)
            found.append(Match(artifact, weight(both), weight(both) / whole, distinct))
    return sorted(found, key=lambda m: (-m.weight, -m.part, -m.artifact.id))


def _worth(word: str) -> float:
    if word in _VAGUE:
        return 0.3
    return 0.5 if word.isdigit() else 1.0


def mentioned(text: str, artifacts: Iterable[Artifact]) -> tuple[int, ...]:
    """The ids of those that a text clearly speaks of, oldest first."""
    return tuple(
        sorted(m.artifact.id for m in matches(text, artifacts) if m.distinctive and m.part >= LEAST)
    )


LEAST = 0.15
"""The part of an artifact's words that a text has at least when it speaks of it."""
