"""Answers that fit into what a model reads at once, with a word on how to get the rest."""

import json
from collections.abc import Iterable
from typing import Any

ROOM = 20_000
"""Characters of one answer."""

LONGEST = 6_000
"""Characters of one text in a list."""


def cut(text: str, longest: int = LONGEST) -> str:
    """A text, shortened where it is long; what is left out is counted."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… [{len(text) - longest:,} more characters]"


def size(value: Any) -> int:
    """Characters of some data as JSON."""
    return len(json.dumps(value, ensure_ascii=False, default=str))


def fitting(entries: Iterable[Any], room: int = ROOM) -> tuple[list[Any], bool]:
    """As many entries as fit, and whether that is all of them; the first one always does."""
    kept: list[Any] = []
    for entry in entries:
        room -= size(entry) + 2
        if room < 0 and kept:
            return kept, False
        kept.append(entry)
    return kept, True
