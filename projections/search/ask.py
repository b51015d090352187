"""Asking: ``search(log, directory, "login timeout")`` gives hits, best first.

What words find and what meaning finds is put together by reciprocal ranks (Cormack, Clarke &
Büttcher, 2009): a text counts 1 / (60 + its rank) in each of the two lists.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from domain.errors import LogosphereError
from domain.ids import SessionId
from domain.log import Log
from projections.search.hit import Everywhere, Hit, Kind, Scope, Vectors
from projections.search.index import Index, Progress, is_torn
from projections.search.matrix import Near
from projections.search.rows import SESSION, joined
from projections.search.scope import View, view
from projections.search.snippets import Part, snippets
from projections.search.spelling import Asked, taken_apart
from projections.search.vectors import (
    count_pending,
    drop,
    keep,
    missing,
    model_of,
    packed,
    passages,
    pending,
    unmade,
)
from projections.search.words import Told, allowed, by_words

LIMIT = 10

DEPTH = 100
"""Texts of each list that are put together."""

SPARE = 10
"""Looked at beyond what is wanted, as some may say the same."""

K = 60
"""How little the first ranks stand out."""

FLOOR = 0.25
"""The least cosine: below it, texts have nothing to do with each other."""

POWER = 2
"""A text that has half of the words counts a quarter: what shares but a common word with the
question is no match (measured: tests/benchmarks/search.py)."""

EACH = 200
"""Texts that get vectors before a search, the newest first."""

BATCH = 50
"""Texts between two commits."""


class Ranked(NamedTuple):
    """A text, and how well it fits."""

    text: int
    score: float
    """1 for what is the first of every list."""


class Searcher:
    """Asks again and again: the index and the vectors stay open between two questions."""

    def __init__(
        self,
        log: Log,
        directory: Path,
        vectors: Vectors | None = None,
        *,
        on_remark: Callable[[str], object] = lambda _: None,
        progress: Progress | None = None,
    ) -> None:
        """Nothing is opened before the first question; for the arguments see :func:`search`."""
        self._index = Index(log, directory)
        self._log, self._vectors = log, vectors
        self._remark, self._progress = on_remark, progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def search(
        self,
        text: str,
        *,
        scope: Scope = Everywhere(),
        kinds: Collection[Kind] = (),
        limit: int = LIMIT,
        each: int = EACH,
    ) -> list[Hit]:
        """Find texts; for the arguments see :func:`search`.

        Args:
            text: what to look for.
            scope: where.
            kinds: only these; none means all.
            limit: at most so many hits.
            each: so many texts get their vectors first, the newest.

        Raises:
            NoSuchSession: there is no such session.
        """
        asked = taken_apart(text)
        if not asked.meaning:
            return []
        seen = view(self._log, scope, kinds)
        self._catch_up()
        try:
            return self._found(asked, seen, limit, each)
        except sqlite3.DatabaseError as error:
            if is_torn(error):
                self._remark("The index of the search was damaged: built anew.")
                self._index.discard()
                self._catch_up()
            else:
                self._remark(
                    f"The index of the search can't be read now ({error}): made in memory."
                )
                self._index.aside()
            return self._found(asked, seen, limit, each)

    def _found(self, asked: Asked, seen: View, limit: int, each: int) -> list[Hit]:
        told = by_words(self._index, asked, seen, DEPTH)
        near = self._near(asked, seen, each)
        without = (
            unmade(self._index.connection, [one.text for one in told]) if near is not None else ()
        )
        ranked = fused(told, near, without)[: limit + SPARE]
        rows = _rows(self._index, [one.text for one in ranked])
        pairs = _without_echoes(zip(ranked, rows, strict=True))[:limit]
        return self._hits(
            asked, pairs, {one.text: one for one in near or ()}, {one.text for one in told}
        )

    def make_vectors(self, most: int | None = None) -> int:
        """Give texts their vectors, newest first.

        Args:
            most: at most so many texts; None means all.

        Returns:
            How many texts have none yet.

        Raises:
            LogosphereError: there are none to be had.
        """
        self._catch_up()
        if self._vectors is None:
            return count_pending(self._index.connection)
        connection, model = self._index.connection, self._vectors.model
        if model_of(connection) not in {None, model}:  # others can't be compared
            with self._index.writing() as mine:
                if mine:
                    drop(connection)
        done, whole = 0, count_pending(self._index.connection)
        whole = whole if most is None else min(most, whole)
        while done < whole:
            texts = pending(self._index.connection, min(BATCH, whole - done))
            if not texts or not self._embed(self._vectors, texts):
                break
            done += len(texts)
            if self._progress is not None:
                self._progress(done, whole)
        return count_pending(self._index.connection)

    def _catch_up(self) -> None:
        remark = self._index.catch_up(self._progress)
        if remark is not None:
            self._remark(remark)

    def _embed(self, vectors: Vectors, texts: list[tuple[int, str]]) -> bool:
        """Make vectors of some texts and keep them; False where others are before us."""
        parts = [(id_, part) for id_, text in texts for part in passages(text)]
        made = vectors.of([part.text for _, part in parts])
        with self._index.writing() as mine:
            if mine:
                connection, ids = self._index.connection, [id_ for id_, _ in texts]
                still = missing(connection, vectors.model, ids)
                chosen = [place for place, (id_, _) in enumerate(parts) if id_ in still]
                block = packed([parts[p] for p in chosen], [made[p] for p in chosen])
                counts = Counter(id_ for id_, _ in parts)
                keep(connection, vectors.model, block, ((id_, counts[id_]) for id_ in still))
        return mine

    def _near(self, asked: Asked, seen: View, each: int) -> list[Near] | None:
        """The texts that are nearest by meaning; None where there are no vectors."""
        if self._vectors is None:
            return None
        index = self._index
        try:
            left = self.make_vectors(each) if each else count_pending(index.connection)
            [vector] = self._vectors.of([asked.meaning])
        except (LogosphereError, OSError, sqlite3.Error) as error:
            why = error.sentence if isinstance(error, LogosphereError) else str(error)
            self._remark(f"Searched by words alone: {why}")
            self._vectors = None
            return None
        if left:
            self._remark(
                f"{left:,} older texts were searched by words alone: mind search --index"
                " makes their vectors."
            )
        if vector is None or not index.matrix.load(index.connection, self._vectors.model):
            return []
        return _nearest(index, asked, seen, vector)

    def _hits(
        self,
        asked: Asked,
        found: "list[tuple[Ranked, _Row]]",
        near: dict[int, Near],
        told: set[int],
    ) -> list[Hit]:
        parts = [
            Part(row.text, near[row.id].start if row.id in near else 0, whole=row.id in told)
            for _, row in found
        ]
        titles = {row.stream: self._title(row.stream) for _, row in found}
        return [
            Hit(
                kind=row.kind,
                session=row.stream,
                version=row.version,
                artifact=row.artifact or None,
                text=row.text,
                snippet=snippet,
                score=round(one.score, 4),
                at=row.at,
                title=titles[row.stream],
                similarity=round(near[row.id].similarity, 4) if row.id in near else None,
            )
            for (one, row), snippet in zip(found, snippets(asked, parts), strict=True)
        ]

    def _title(self, session: SessionId) -> str:
        """The title of a session; a branch without one goes by that of its parent."""
        for part in self._log.path(session):
            row = self._index.connection.execute(
                "SELECT head FROM texts WHERE owner = ? AND artifact = ? AND gone IS NULL",
                (part.stream, SESSION),
            ).fetchone()
            if row and row[0] != part.stream:
                return str(row[0])
        return session


def fused(
    told: Sequence[Told], near: Sequence[Near] | None, without: Collection[int] = ()
) -> list[Ranked]:
    """What words found and what meaning found, each best first, as one list.

    Args:
        told: what words found.
        near: what meaning found; None where nothing was compared.
        without: those texts that have no vector: for them, words speak in both lists.
    """
    scores: dict[int, float] = {}
    for rank, one in enumerate(told, 1):
        lists = 2 if one.text in without else 1
        scores[one.text] = lists * one.share**POWER / (K + rank)
    for rank, other in enumerate(near or (), 1):
        scores[other.text] = scores.get(other.text, 0.0) + 1 / (K + rank)
    whole = (1 if near is None else 2) / (K + 1)
    best = sorted(scores.items(), key=lambda item: -item[1])  # in doubt what words found is first
    return [Ranked(text, score / whole) for text, score in best]


def _nearest(index: Index, asked: Asked, seen: View, vector: bytes) -> list[Near]:
    """The nearest of those texts that are looked at."""
    few, most = seen.few(index), DEPTH
    while True:
        found = index.matrix.nearest(vector, FLOOR, most, few)
        belong = seen.of(index, [one.text for one in found])
        ids = set(allowed(index, asked, sorted(belong)))
        near = [one for one in found if one.text in ids]
        if len(near) >= DEPTH or len(found) < most:
            return near[:DEPTH]
        most *= 8


class _Row(NamedTuple):
    """A text, as the index has it."""

    id: int
    stream: SessionId
    version: int
    at: int
    kind: Kind
    artifact: int | None
    head: str
    tail: str

    @property
    def text(self) -> str:
        """All of its words."""
        return joined(self.kind, self.head, self.tail)


def _without_echoes(found: Iterable[tuple[Ranked, _Row]]) -> list[tuple[Ranked, _Row]]:
    """Without the title of a session where the message that it was made from is there too."""
    pairs = list(found)
    return [
        (one, row)
        for one, row in pairs
        if row.kind != "session"
        or not any(
            other.kind == "message"
            and other.stream == row.stream
            and other.head.casefold().startswith(row.head.rstrip("…").casefold())
            for _, other in pairs
        )
    ]


def _rows(index: Index, ids: Sequence[int]) -> list[_Row]:
    """Texts, in the order asked for."""
    rows = index.connection.execute(
        "SELECT t.id, t.stream, t.version, t.at, t.kind, t.artifact, t.head, t.tail"
        " FROM json_each(?) AS j CROSS JOIN texts AS t ON t.id = j.value",
        (json.dumps(ids),),
    )
    return [_Row(*row) for row in rows]


def search(
    log: Log,
    directory: Path,
    text: str,
    *,
    scope: Scope = Everywhere(),
    kinds: Collection[Kind] = (),
    limit: int = LIMIT,
    vectors: Vectors | None = None,
    on_remark: Callable[[str], object] = lambda _: None,
) -> list[Hit]:
    """Find texts by their words and by their meaning, best first.

    Args:
        log: the truth; the index next to it is caught up first.
        directory: where the store is.
        text: words; ``"an exact phrase"`` must be there, ``-word`` must not.
        scope: all sessions, or one with what it inherited; now or as of a moment.
        kinds: only these; none means all.
        limit: at most so many hits.
        vectors: makes vectors; without them, words alone count.
        on_remark: told in one sentence what was not as usual.

    Raises:
        NoSuchSession: there is no such session.
    """
    with Searcher(log, directory, vectors, on_remark=on_remark) as searcher:
        return searcher.search(text, scope=scope, kinds=kinds, limit=limit)
