"""The parts of texts that fit a question, with what matched marked, by FTS5 itself."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from projections.search.hit import END, START
from projections.search.place import IN_MEMORY, connect
from projections.search.spelling import TOKENIZER, Asked, quoted, spelled, unspelled

WORDS = 32
"""Words of a snippet, about."""

LONGEST = 320
"""Characters of a snippet at most."""

ELLIPSIS = "…"

_MARKS = str.maketrans({START: " ", END: " "})


class Part(NamedTuple):
    """A text, or that passage of it which is nearest."""

    text: str
    start: int = 0
    """Where the passage begins."""
    whole: bool = True
    """Whether words are looked for in all of the text, else from that passage on."""


def snippets(asked: Asked, parts: Sequence[Part]) -> list[str]:
    """One snippet of each."""
    texts = [part.text.translate(_MARKS) for part in parts]
    searched = [t if p.whole else t[p.start :] for t, p in zip(texts, parts, strict=True)]
    marked = _marked(asked, searched)
    return [
        _short(" ".join((marked.get(n) or _beginning(text, part.start)).split()))
        for n, (text, part) in enumerate(zip(texts, parts, strict=True))
    ]


def _marked(asked: Asked, texts: Sequence[str]) -> dict[int, str]:
    """What FTS5 takes for the best part of each text that has any of the words."""
    words = [quoted(word) for word in (*asked.words, *asked.phrases)]
    # what begins like a word is marked where no word itself is
    matches = (" OR ".join(f"{word}*" for word in words), " OR ".join(words))
    found: dict[int, str] = {}
    connection = connect(IN_MEMORY, writable=True)
    try:
        connection.execute(f"CREATE VIRTUAL TABLE parts USING fts5(text, tokenize='{TOKENIZER}')")
        connection.executemany(
            "INSERT INTO parts(rowid, text) VALUES (?, ?)",
            ((n, spelled(text)) for n, text in enumerate(texts)),
        )
        for match in matches:
            found |= _best(connection, match)
    finally:
        connection.close()
    return found


def _best(connection: sqlite3.Connection, match: str) -> dict[int, str]:
    rows = connection.execute(
        "SELECT rowid, snippet(parts, 0, ?, ?, ?, ?) FROM parts WHERE parts MATCH ?",
        (START, END, ELLIPSIS, WORDS, match),
    )
    return {n: unspelled(snippet) for n, snippet in rows}


def _beginning(text: str, start: int) -> str:
    """The beginning of a passage."""
    end = start + LONGEST
    return f"{ELLIPSIS if start else ''}{text[start:end]}{ELLIPSIS if end < len(text) else ''}"


def _short(snippet: str) -> str:
    """Cut what has very long words, without losing what matched."""
    if len(snippet) <= LONGEST + 2 * len(ELLIPSIS):
        return snippet
    low = max(0, snippet.find(START) - LONGEST // 3)
    cut = snippet[low : low + LONGEST]
    if cut.count(START) > cut.count(END):
        cut += END
    return f"{ELLIPSIS if low else ''}{cut}{ELLIPSIS}"
