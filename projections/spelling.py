"""Conditions in the spellings of SQL, told in those of Python. Texts in quotes are not touched."""

from collections.abc import Sequence
from io import StringIO
from tokenize import (
    DEDENT,
    ENDMARKER,
    INDENT,
    NAME,
    NEWLINE,
    NL,
    NUMBER,
    OP,
    STRING,
    TokenError,
    generate_tokens,
)

from domain.errors import BadExpression

_IGNORED = (NEWLINE, NL, INDENT, DEDENT, ENDMARKER)

_SIGNS = {"=": "==", "<>": "!="}
_WORDS = {
    **{word: word.lower() for word in ("AND", "OR", "NOT", "IN", "IS", "FOR", "IF")},
    "NULL": "None",
    "NONE": "None",
    "TRUE": "True",
    "FALSE": "False",
}
_LIKE = ("LIKE", "ILIKE")
_FUNCTIONS = {
    "LENGTH": "len",
    **{name.upper(): name for name in ("len", "min", "max", "sum", "any", "all", "lower")},
}
_ELSEWHERE = {
    "BETWEEN": "write 2 <= draft_count <= 4",
    "GLOB": "write LIKE '%moon%'",
    "COUNT": "write draft_count or len(drafts)",
}

_UNREADABLE = "The condition can't be read: is each bracket and each quote of it closed?"

Token = tuple[int, str]
"""A kind of token and its text."""


def as_python(text: str) -> str:
    """The condition with ``=``, ``<>``, ``AND``, ``IS NULL``, ``LIKE '%x%'`` as Python has them.

    Raises:
        BadExpression: it holds what no condition has.
    """
    tokens = _joined(_tokens(text))
    words: list[str] = []
    place = 0
    while place < len(tokens):
        kind, word = tokens[place]
        behind = tokens[place + 1 : place + 4]
        if kind == STRING and behind[:1] and behind[0][0] == STRING:
            raise BadExpression(
                f"{word} and {behind[0][1]} stand side by side: put a text that holds ' between"
                ' two ", and the other way round.'
            )
        if kind == NAME and word.upper() in _LIKE:
            words += _like(word.upper(), behind)
            place += 1
        elif word == "IN" and _is_list_of_one(behind):
            words += "in", "(", behind[1][1], ",", ")"
            place += 3
        else:
            words.append(_word(word, behind) if kind == NAME else _SIGNS.get(word, word))
        place += 1
    return " ".join(words)


def _tokens(text: str) -> list[Token]:
    try:
        # in brackets a line break is a blank
        found = list(generate_tokens(StringIO(f"({text}\n)").readline))
    except (TokenError, SyntaxError, ValueError):
        raise BadExpression(_UNREADABLE) from None
    tokens = [t for t in found if t.type not in _IGNORED and not t.string.isspace()]
    for token in tokens:
        if token.string in {"'", '"'}:
            raise BadExpression(_UNREADABLE)
        if token.type not in {NAME, NUMBER, STRING, OP}:
            raise BadExpression(f"{token.string!r} can't be part of a condition.")
    return [(token.type, token.string) for token in tokens]


def _joined(tokens: list[Token]) -> list[Token]:
    """``<>`` is one sign, also where Python reads two."""
    found: list[Token] = []
    for token in tokens:
        if token == (OP, ">") and found[-1:] == [(OP, "<")]:
            found[-1] = (OP, "<>")
        else:
            found.append(token)
    return found


def _word(word: str, behind: Sequence[Token]) -> str:
    known = word.upper()
    if known in _ELSEWHERE:
        raise BadExpression(f"{word} is not known here: {_ELSEWHERE[known]}.")
    if behind[:1] == [(OP, "(")] and known in _FUNCTIONS:
        return _FUNCTIONS[known]
    return _WORDS.get(known, word)


def _like(word: str, behind: Sequence[Token]) -> list[str]:
    if not behind or behind[0][0] != STRING or behind[0][1][0] not in "'\"":
        raise BadExpression(f"{word} takes a text in quotes: draft {word} '%moon%'.")
    return ["in", f"{word.lower()}(", behind[0][1], ")"]


def _is_list_of_one(tokens: Sequence[Token]) -> bool:
    """Whether a list of SQL stands here that Python would read as its only element."""
    return [word for _, word in tokens][::2] == ["(", ")"] and tokens[1][0] in {STRING, NUMBER}
