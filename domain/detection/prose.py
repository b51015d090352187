"""What a person says in a text: its sentences, without code, traces, quotations and log lines.

All of it takes time in proportion to the text, and only its beginning and end are looked at.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

LOOKED_AT = 12_000
"""Characters of a text that are looked at: this many are enough for what people write by hand."""

WRAPPED = 60
"""Characters of a line from which on one that begins small goes on with it: mail is wrapped so."""

SENTENCE = 600
"""Characters of one sentence; what is longer is a table or a dump."""

_FENCE = re.compile(r"^[ \t]{0,12}(?:```|~~~)")
_MACHINE = re.compile(
    r"""^\s{0,40}(?:
        >                                                   # a quoted line
      | at\s\S{1,200}[(:]\S                                 # a frame of a trace
      | File\s"                                             # the same, of Python
      | Traceback\s\(
      | [\w.]{1,80}(?:Error|Exception|Warning)\b:           # what a trace ends with
      | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d                     # a line of a log
      | (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b
      | [+-]{3}\s|@@\s|diff\s--git                          # a patch
      | \$\s|>>>\s|C:\\                                     # a command line
      | \|.*\|\s{0,9}$                                      # a row of a table
    )""",
    re.VERBOSE,
)
_CODE = re.compile(r"`[^`\n]{1,300}`")
_QUOTED = re.compile(
    r"“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»"
    r'|(?<!\w)"[^"\n]{1,400}"'
)
_END = re.compile(r"(?<=[.!?…])[\"')\]]{0,3}(?:\s+|$)|\n+|(?<=[!?])(?=[A-ZÄÖÜ])")
_NOT_END = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|no|nr|vs|etc|e\.g|i\.e|approx|ca|z\.b|bzw|usw|sr|sra|p\.m|a\.m"
    r"|fig|vol|art|sec|inc|ltd)|\b\w)\.$",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|[a-zäöü]")
"""What follows a number and its full stop when it counts: ``12. Mai``."""

_BULLET = re.compile(r"^\s{0,40}(?:[-*•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)")
_BLANKS = re.compile(r"\s+")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u00a0": " ", "–": "-"})


class Sentence(NamedTuple):
    """A sentence of what somebody wrote."""

    text: str
    """As it was written, in one line."""
    low: str
    """In lower case, with what it quotes left out."""
    asks: bool
    """Whether it is a question, marked as one or not."""


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of the prose in a text, in order."""
    found = []
    for line in _unwrapped(prose(text)):
        for part in _split(line):
            clean = _BLANKS.sub(" ", part.translate(_PLAIN)).strip(" \t*_")[:SENTENCE]
            if any(c.isalnum() for c in clean):
                low = _QUOTED.sub(" … ", _CODE.sub(" … ", clean)).lower()
                found.append(Sentence(clean, low, _asks(low)))
    return tuple(found)


def prose(text: str) -> Iterator[str]:
    """The lines that a person wrote, of the beginning and the end of a long text."""
    fenced, machine, at = False, False, 0
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not (LOOKED_AT // 2 < at < len(text) - LOOKED_AT // 2):
            part = _ends(line)
            # what is indented under a line of a trace or a log belongs to it
            machine = _MACHINE.match(part) is not None or (
                machine and part.startswith(("  ", "\t"))
            )
            if not machine:
                yield _BULLET.sub("", part)
        at += len(line) + 1


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Lines that were wrapped, as one; a text in a file is often so."""
    begun = ""
    for line in lines:
        if WRAPPED <= len(begun) < SENTENCE and line[:1].islower() and begun[-1] not in ".!?:;":
            begun = f"{begun} {line}"
            continue
        yield begun
        begun = line
    yield begun


def has_machine_text(text: str) -> bool:
    """Whether a program wrote part of it: a trace, a log, a block of code."""
    return any(_FENCE.match(line) or _MACHINE.match(line) for line in _ends(text).splitlines())


def says(cue: str, text: str) -> re.Match[str] | None:
    """Where a text holds a cue, which is written in lower case."""
    return _compiled(cue, plain=text == text.lower()).search(text)


def without(cue: str, text: str) -> str:
    """The text without every place that holds a cue."""
    return _BLANKS.sub(" ", _compiled(cue, plain=False).sub(" ", text)).strip()


@cache
def _compiled(cue: str, *, plain: bool) -> re.Pattern[str]:
    # at first use: hundreds of words take their time, and most starts of the program need none;
    # in a text without capitals there are no cases to ignore, which makes it faster
    return re.compile(cue, re.VERBOSE if plain else re.VERBOSE | re.IGNORECASE)


def _ends(text: str) -> str:
    if len(text) <= LOOKED_AT:
        return text
    return f"{text[: LOOKED_AT // 2]} … {text[-LOOKED_AT // 2 :]}"


def _split(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        piece = line[start : match.start()]
        goes_on = _NOT_END.search(piece[-12:]) or (
            piece[-1:] == "." and piece[-2:-1].isdigit() and _COUNTED.match(line, match.end())
        )
        if not goes_on or match.end() == len(line):
            yield piece
            start = match.end()
    yield line[start:]


_ASKS = r"""^(?:(?:and|but|so|ok|okay|hmm+|hm|um|also|btw|by\ the\ way|und|y|well|perfect|great|
    just\ curious|quick\ question|unrelated\ question|waht|hey|hi|hello|in\ general)[,.:]?\s+){0,3}
  (?: (?:what|waht|why|how|who|whom|whose|which)\b(?!\s+(?:an?|i|we|fixed|worked|helped|solved
        |did\ it|finally|really|actually|happened\ is)\b)
    | (?:when|where)\s+(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|has|have
        |to)\b
    | (?:do|does|did|is|are|was|were|can|could|would|will|should|shall|has|have|may|am|isn't|don't
        |doesn't|didn't|aren't|won't|can't)\s+(?:i|you|we|they|he|she|it|this|that|these|those|there
        |the|a|an|my|our|your|anyone|somebody|someone|one)\b
    | (?:was|warum|wieso|wie|wann|wo|wer|welche[rsmn]?|wozu|kann|können|kannst|soll|sollte|ist|sind
        |hat|gibt|muss|darf|funktioniert)\s+(?:ich|du|sie|wir|man|es|das|der|die|den|ein|eine)\b
    | (?:qué|cómo|cuándo|dónde|quién|cuál|por\ qué)\b
  )"""
_TAG = r"""(?:,\s*(?:right|correct|no|yes|okay|ok|oder|verdad|is\ it|isn't\ it|does\ it
    |doesn't\ it))\W*$"""


def _asks(low: str) -> bool:
    if low.rstrip(" \"')]").endswith("?") or says(_TAG, low):
        return True
    return says(_ASKS, low) is not None and not low.rstrip().endswith("!")
