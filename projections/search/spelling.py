"""How texts and questions are spelled for the full-text index."""

import re
from typing import NamedTuple

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""Words in lower case, without accents, English ones without their endings."""

JOINT = "\u200b"
"""Stands between signs that are words of their own: Chinese and Japanese has no spaces."""

_ALONE = re.compile(
    r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f])"
)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_ENDS_LONG = re.compile(r"\w{3}\W*$")
_PARTS = re.compile(r'(?<!\S)(-?)"([^"]*)(?:"|$)|(\S+)')

COMMON = frozenset(
    re.findall(
        r"\w+",
        """
    a about after all also am an and any are as at be been but by can could did do does for from
    get had has have he her him his how i if in into is it its just me my no not of on or our she
    should so some than that the their them then there these they this to too up us was we were
    what when where which who why will with would you your
""",
    )
)
"""English words that say nothing about what a text is about."""


class Asked(NamedTuple):
    """A question taken apart; what of it is syntax is ours alone."""

    words: tuple[str, ...]
    """The more of them, the better."""
    phrases: tuple[str, ...] = ()
    """These have to be there, as they are."""
    without: tuple[str, ...] = ()
    """These must not be there."""
    meaning: str = ""
    """All that is looked for as one text: what a vector is made of."""


def spelled(text: str) -> str:
    """The text as it is indexed."""
    return _ALONE.sub(rf"{JOINT}\1{JOINT}", text)


def unspelled(text: str) -> str:
    """The text as it was."""
    return text.replace(JOINT, "")


def taken_apart(text: str) -> Asked:
    """Read a question: words, ``"phrases"``, and ``-word`` or ``-"phrase"`` for what must not be.

    A ``-`` alone, or before what is no word, is read as a sign.
    """
    words: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    said: list[str] = []
    text = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    for minus, phrase, word in _PARTS.findall(text):
        if word.startswith("-") and _is_said(word) and not word.startswith("--"):
            without.append(word[1:])
        elif minus and _is_said(phrase):
            without.append(phrase)
        elif _is_said(word or phrase):
            (words if word else phrases).append(_POSSESSIVE.sub("", word) or phrase)
            said.append(word or phrase)
    telling = [word for word in words if word.strip(".,;:!?()").casefold() not in COMMON]
    if not telling and not phrases:
        telling = words
    words, phrases, without = (list(dict.fromkeys(some)) for some in (telling, phrases, without))
    return Asked(tuple(words), tuple(phrases), tuple(without), " ".join(said))


def stream_sign(stream: str) -> str:
    """One word for a stream, whatever its name."""
    return f"s{stream.encode().hex()}"


def kind_sign(kind: str) -> str:
    """One word for a kind."""
    return f"k{kind}"


def quoted(phrase: str) -> str:
    """A text as FTS5 takes it: these words next to each other, whatever signs are in it."""
    return '"' + spelled(phrase).replace('"', '""') + '"'


def begins(word: str) -> str | None:
    """As FTS5 takes what begins like a word; None for one too short to tell anything."""
    return f"{quoted(word)}*" if _ENDS_LONG.search(word) else None


def _is_said(text: str) -> bool:
    """Whether there is anything in it that is indexed."""
    return any(sign.isalnum() for sign in text)
