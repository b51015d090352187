"""The half-way house of parsing: what stands under each key, whether it came as JSON or YAML."""

import re
from typing import Literal, NamedTuple

MOST_THOUGHTS = 64
LONGEST_THOUGHT = 20_000
LONGEST_DRAFT = 200_000
"""Characters. A longer text is refused whole: half of it would not be what the mind said."""

_NAMES = {
    "thoughts": "thoughts",
    "thought": "thoughts",
    "draft": "draft",
    "drafts": "drafts",
    "skip": "skip",
    "confidence": "confidence",
    "working": "working",
}
KEY = re.compile(
    r"""(["']?)(thoughts?|drafts?|skip|confidence|working)\1[ \t]*:(?=\s|$)""", re.IGNORECASE
)
"""A known key at the beginning of a line, with the colon that ends it."""


class Value(NamedTuple):
    """What stands under a key."""

    shape: Literal["nothing", "text", "list", "structure"]
    """``structure`` is anything that can't be taken for text or for a list of texts."""
    texts: tuple[str, ...] = ()
    """One text, or the texts of the list; what was written, whatever it looks like."""
    source: str | None = None
    """The list as it stands, where it stands as plain lines that read well as one text."""


class Field(NamedTuple):
    """A key and what stands under it."""

    key: str
    value: Value


class Reading(NamedTuple):
    """Everything that was found in a reply."""

    fields: tuple[Field, ...]
    repairs: tuple[str, ...] = ()
    lost: str = ""
    """Why something under a known key could not be kept; empty when nothing was lost."""


class Refusal(NamedTuple):
    """Found something that no honest reply holds; nothing of the reply is used."""

    reason: str


NOTHING = Value("nothing")

STRUCTURE_IN_LIST = "Took structure in the list under {key} as the text that was written."
"""A repair that both readers make."""


def known(key: str) -> str | None:
    """The canonical name of a key, None for a foreign one."""
    return _NAMES.get(key.strip().lower())


def shown(text: str, longest: int = 40) -> str:
    """A text of the mind inside a sentence of ours: short, on one line, in quotes."""
    return repr(text if len(text) <= longest else f"{text[: longest - 1]}…")
