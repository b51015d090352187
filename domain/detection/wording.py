"""How findings are worded: short, in the words of those who said it, without the talk around."""

import re

from domain.detection.cues.phrases import LEAD
from domain.detection.matching import stems
from domain.detection.prose import says

SHORT = 120
"""Characters of a goal, an event or a resolution."""

_GREETING = rf"^{LEAD}".replace(" ", r"\ ")
_ASKING = (
    r"^(?:(?:can|could|would|will) (?:you|we|someone|anyone) (?:please |maybe |also )?"
    r"(?:help (?:me|us) (?:to |with )?)?"
    r"|(?:please |pls )?help (?:me|us) (?:to |with )?|please |pls "
    r"|(?:i|we) ?(?:really |also |still |just )?(?:want|need|have|'d (?:like|love)|would"
    r" (?:like|love)|plan|intend|(?:am|'m|are|'re) (?:trying|going)"
    r"|have been asked|'ve been asked|'m supposed|am supposed|hope|aim) to "
    r"|(?:i'm|i am|we're|we are) (?:currently )?(?:working on|trying to) "
    r"|let's |my goal is to |the (?:goal|plan|task) is to |any (?:ideas?|advice) (?:on )?"
    r"|hilf (?:mir|uns) (?:bitte )?(?:,? )?(?:bei )?|kannst du (?:mir )?(?:bitte )?"
    r"|necesito |quiero |tengo que )"
).replace(" ", r"\ ")
_SWITCH = (
    r"^(?:something else(?: entirely)?|(?:an)?other (?:problem|thing|question|issue|topic)"
    r"|(?:a )?different (?:problem|question|topic)|unrelated(?: question)?"
    r"|next thing|new (?:problem|topic|task)|on another note|separately|just curious|quick question"
    r"|by the way|btw|turns out"
    r"|it turns out)\s*[,.:;-]\s*"
).replace(" ", r"\ ")
_TAIL = (
    r"[\s,.;:-]*(?:(?:can|could|would) (?:you|anyone|someone) (?:please )?help(?: me| us)?(?: out"
    r"| with (?:this|that|it|them)| here)?"
    r"|any (?:ideas?|suggestions?|advice|tips|clue|help)[^.!?]{0,30}|please help|pls help"
    r"|help(?: me)?|please|pls|plz|thanks(?: a lot| in advance)?|thank you(?: so much)?|thx|ty"
    r"|what should i do|what now|what can i do|where do (?:i|we) start|no idea [^.!?]{0,40}"
    r"|(?<=, )right|danke|bitte|gracias|[:;]-?[()])[\s.!?]*$"
).replace(" ", r"\ ")


def goal(text: str) -> str:
    """What somebody wants, without greeting, without how it was asked, at most 120 characters."""
    text = bare(text)
    for _ in range(3):
        for cue in (_SWITCH, _ASKING, _GREETING):
            match = says(cue, text)
            rest = text[match.end() :].lstrip(" ,;:-") if match is not None else ""
            if len(rest.split()) > 1 or stems(rest):
                text = rest
    return clipped(capital(text.rstrip(" .!?,;:")))


def statement(text: str) -> str:
    """What somebody says, without what they said before saying it."""
    text = bare(text)
    return clipped(capital(text.rstrip(" .!,;:")), 240)


def bare(text: str) -> str:
    """A sentence without its greeting and without the polite words at its end."""
    text = text.strip(" \"'-–*_")
    match = says(_GREETING, text)
    if match is not None and stems(text[match.end() :]):
        text = text[match.end() :]
    for _ in range(2):
        match = says(_TAIL, text)
        if match is not None and stems(text[: match.start()]):
            text = text[: match.start()]
    return text.strip(" ,;-")


def clipped(text: str, most: int = SHORT) -> str:
    """The text, ended at a word where it is too long."""
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rsplit(' ', 1)[0].rstrip(' ,.;:-')}…"


def capital(text: str) -> str:
    """The text with a capital first, unless its first word is a name that has none."""
    first = re.split(r"\s", text, maxsplit=1)[0]
    if not first.rstrip(".,:;!?'").replace("'", "").isalpha() or any(
        c.isupper() for c in first[1:]
    ):
        return text
    return text[:1].upper() + text[1:]
