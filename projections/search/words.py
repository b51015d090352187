"""Texts by their words: full text with the ranking of Robertson & Zaragoza (BM25, 2009)."""

from math import log
from typing import NamedTuple

from projections.search.index import Index
from projections.search.scope import View
from projections.search.spelling import Asked, begins, quoted

RANKED = 2_000
"""At most so many matches are ranked, the newest: to rank one takes some microseconds."""

TELLING = 16
"""So many words of a question are looked for: the rarest."""

LOOKED_AT = 64
"""So many different words of a long question are counted to find those."""


class Told(NamedTuple):
    """A text that has words of a question."""

    text: int
    share: float
    """How much of what was asked for it has, from 0 to 1; rare words weigh more, as in BM25."""


class _Word(NamedTuple):
    """A word of a question."""

    texts: int
    """How many texts have it, counted up to one more than are ranked."""
    quoted: str


def by_words(index: Index, asked: Asked, view: View, most: int) -> list[Told]:
    """The texts that fit the words best, best first: those that have all of them, then others.

    A word that many texts have tells little by itself, and to rank them all takes long: such words
    count where they stand beside others.
    """
    if not asked.words:
        match = " AND ".join(map(quoted, asked.phrases))
        return _ranked(index, _bounded(match, asked), view, most, 0.0) if match else []
    found: list[Told] = []
    words = sorted(_counted(index, word) for word in asked.words[:LOOKED_AT])
    known = [word for word in words if word.texts][:TELLING]
    if len(known) == len(asked.words):  # else no text has all of them
        every = " AND ".join(word.quoted for word in known)
        found = _ranked(index, _bounded(every, asked), view, most, 0.0)
    if known and len(words) > 1 and len(found) < most:
        rare = [word for word in known if word.texts <= RANKED]
        any_ = " OR ".join(word.quoted for word in rare or known)
        whole = sum(_weight(index.size, word.texts) for word in words[:TELLING])
        having = {one.text for one in found}
        more = _ranked(index, _bounded(any_, asked), view, most, whole)
        least = 1 / len(words)  # it has one of them, whatever its weight
        found += [
            one._replace(share=max(one.share, least)) for one in more if one.text not in having
        ]
    if found:
        return found[:most]
    begun = " OR ".join(filter(None, map(begins, asked.words[:TELLING])))
    return _ranked(index, _bounded(begun, asked), view, most, 0.0) if begun else []


def allowed(index: Index, asked: Asked, ids: list[int]) -> list[int]:
    """Those of some texts that have all phrases, and nothing that must not be there."""
    for match, wanted in (
        (" AND ".join(map(quoted, asked.phrases)), True),
        (" OR ".join(map(quoted, asked.without)), False),
    ):
        if match and ids:
            rows = index.connection.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?",
                (f"text : ({match})", min(ids), max(ids)),
            )
            having = {id_ for (id_,) in rows}
            ids = [id_ for id_ in ids if (id_ in having) is wanted]
    return ids


def _counted(index: Index, word: str) -> _Word:
    row = index.connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
        (f"text : ({quoted(word)})", RANKED + 1),
    ).fetchone()
    return _Word(int(row[0]), quoted(word))


def _weight(texts: int, having: int) -> float:
    """How much a word tells that so many of the texts have, as FTS5 counts."""
    return max(log((texts - having + 0.5) / (having + 0.5)), 1e-6) if texts > having else 1e-6


def _bounded(some: str, asked: Asked) -> str:
    """The same, with what has to be there and what must not."""
    match = " AND ".join([f"({some})", *map(quoted, asked.phrases)])
    if asked.without:
        match = f"({match}) NOT ({' OR '.join(map(quoted, asked.without))})"
    return match


def _ranked(index: Index, match: str, view: View, most: int, whole: float) -> list[Told]:
    """What matches, best first.

    Args:
        index: where.
        match: an expression for FTS5.
        view: what is looked at.
        most: at most so many texts.
        whole: the score of a text that has all; 0 where all of them have.
    """
    rows = _matching(index, match, view)
    rows.sort(key=lambda row: (row[0], -row[1]))
    found: list[Told] = []
    for start in range(0, len(rows), 2 * most):
        some = rows[start : start + 2 * most]
        seen = view.of(index, [id_ for _, id_ in some]) if not view.by_rows else None
        found += [
            Told(id_, min(1.0, -score / whole) if whole else 1.0)
            for score, id_ in some
            if seen is None or id_ in seen
        ]
        if len(found) >= most:
            break
    return found[:most]


def _matching(index: Index, match: str, view: View) -> list[tuple[float, int]]:
    """Scores and texts, of the newest that match; of those in view alone where it is narrow."""
    match = f"text : ({match})" + (f" AND place : ({view.place})" if view.place else "")
    if view.by_rows:
        tables = f"words CROSS JOIN texts AS t ON t.id = words.rowid WHERE {view.condition} AND"
    else:
        tables = "words WHERE"
    wanted = "words MATCH ? ORDER BY words.rowid DESC LIMIT ?"
    return index.connection.execute(
        f"SELECT bm25(words, 1, 0), words.rowid FROM {tables} {wanted}",  # noqa: S608 — made here
        (*(view.parameters if view.by_rows else ()), match, RANKED),
    ).fetchall()
