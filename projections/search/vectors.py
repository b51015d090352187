"""Vectors of passages: made a few at a time, newest texts first, and kept in the index.

A number takes one byte: each vector is scaled so that its largest is 127. That moves a cosine by
0.002 or so.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from projections.search.place import connect, transaction
from projections.search.rows import joined

PASSAGE = 800
"""Characters that get one vector, about: some 200 tokens, which is what small models read."""

MOST = 6
"""Passages of one text that get vectors; the rest is found by its words."""


class Passage(NamedTuple):
    """A part of a text."""

    start: int
    text: str


class Block(NamedTuple):
    """Vectors that were made together; arrays as bytes, little-endian."""

    texts: bytes
    """int64: which text each belongs to."""
    starts: bytes
    """int32: where its passage begins."""
    scales: bytes
    """float32: what a number has to be multiplied with."""
    numbers: bytes
    """int8."""


def passages(text: str) -> list[Passage]:
    """A text in parts that end where a paragraph, a sentence or a word does."""
    found: list[Passage] = []
    start = 0
    while start < len(text) and len(found) < MOST:
        end = min(start + PASSAGE, len(text))
        if end < len(text):
            end = _break(text, start + PASSAGE // 2, end)
        if text[start:end].strip():
            found.append(Passage(start, text[start:end]))
        start = end
    return found


def _break(text: str, low: int, high: int) -> int:
    for mark in ("\n\n", "\n", ". ", " "):
        place = text.rfind(mark, low, high)
        if place >= 0:
            return place + len(mark)
    return high


def pending(connection: sqlite3.Connection, most: int) -> list[tuple[int, str]]:
    """The newest texts without vectors."""
    rows = connection.execute(
        "SELECT id, kind, head, tail FROM texts WHERE passages IS NULL ORDER BY id DESC LIMIT ?",
        (most,),
    )
    return [(id_, joined(kind, head, tail)) for id_, kind, head, tail in rows.fetchall()]


def unmade(connection: sqlite3.Connection, ids: Sequence[int]) -> set[int]:
    """Which of these texts have no vectors, yet or at all."""
    rows = connection.execute(
        f"SELECT id FROM texts WHERE coalesce(passages, 0) = 0 AND id IN {_set(ids)}"  # noqa: S608 — numbers
    )
    return {id_ for (id_,) in rows}


def count_pending(connection: sqlite3.Connection) -> int:
    """How many texts have no vectors yet."""
    row = connection.execute("SELECT count(*) FROM texts WHERE passages IS NULL").fetchone()
    return int(row[0])


def model_of(connection: sqlite3.Connection) -> str | None:
    """What made the vectors: one model all of them; None where there are none."""
    row = connection.execute("SELECT model FROM vectors LIMIT 1").fetchone()
    return str(row[0]) if row else None


def drop(connection: sqlite3.Connection) -> None:
    """Throw all vectors away; within a transaction."""
    connection.execute("DELETE FROM vectors")
    connection.execute("UPDATE texts SET passages = NULL")


def missing(connection: sqlite3.Connection, model: str, ids: Iterable[int]) -> set[int]:
    """Which of these texts have no vectors of a model still; within a transaction."""
    if model_of(connection) not in {None, model}:
        return set()
    rows = connection.execute(
        f"SELECT id FROM texts WHERE passages IS NULL AND id IN {_set(list(ids))}"  # noqa: S608 — numbers
    )
    return {id_ for (id_,) in rows}


def packed(texts: Sequence[tuple[int, Passage]], vectors: Sequence[bytes | None]) -> Block:
    """Vectors as they are kept; those that are None are left out."""
    import numpy as np  # noqa: PLC0415 — only where there are vectors

    having = [(id_, part.start, v) for (id_, part), v in zip(texts, vectors, strict=True) if v]
    if not having:
        return Block(b"", b"", b"", b"")
    rows = np.array([np.frombuffer(v, "<f2") for *_, v in having], np.float32)
    scales = np.abs(rows).max(axis=1) / 127
    return Block(
        np.array([id_ for id_, *_ in having], "<i8").tobytes(),
        np.array([start for _, start, _ in having], "<i4").tobytes(),
        scales.astype("<f4").tobytes(),
        np.rint(rows / scales[:, None]).astype(np.int8).tobytes(),
    )


def keep(
    connection: sqlite3.Connection, model: str, block: Block, counts: Iterable[tuple[int, int]]
) -> None:
    """Write vectors, and how many each text has; within a transaction."""
    if block.texts:
        connection.execute(
            "INSERT INTO vectors(model, texts, starts, scales, numbers) VALUES (?, ?, ?, ?, ?)",
            (model, *block),
        )
    connection.executemany(
        "UPDATE texts SET passages = ? WHERE id = ?", [(number, id_) for id_, number in counts]
    )


def carry_over(connection: sqlite3.Connection, old: Path) -> None:
    """Take vectors from an index that is to be replaced, of texts that are still what they were."""
    source = connect(old, writable=False)
    try:
        rows = source.execute("SELECT model, texts, starts, scales, numbers FROM vectors")
        with transaction(connection):
            for model, *parts in rows:
                block, counts = _still_true(connection, source, Block(*parts))
                keep(connection, model, block, counts.items())
    finally:
        source.close()


def _still_true(
    connection: sqlite3.Connection, source: sqlite3.Connection, block: Block
) -> tuple[Block, dict[int, int]]:
    import numpy as np  # noqa: PLC0415 — as above

    texts = np.frombuffer(block.texts, "<i8")
    ids = sorted(set(texts.tolist()))
    now, before = dict(_words(connection, ids)), dict(_words(source, ids))
    same = [id_ for id_ in ids if id_ in before and now.get(id_) == before[id_]]
    chosen = np.isin(texts, same)
    numbers = np.frombuffer(block.numbers, np.int8).reshape(len(texts), -1)
    kept = Block(
        texts[chosen].tobytes(),
        np.frombuffer(block.starts, "<i4")[chosen].tobytes(),
        np.frombuffer(block.scales, "<f4")[chosen].tobytes(),
        numbers[chosen].tobytes(),
    )
    counts = dict(source.execute(f"SELECT id, passages FROM texts WHERE id IN {_set(same)}"))  # noqa: S608 — numbers
    return kept, counts


def _words(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> Iterator[tuple[int, tuple[str, str]]]:
    for id_, head, tail in connection.execute(
        f"SELECT id, head, tail FROM texts WHERE id IN {_set(ids)}"  # noqa: S608 — numbers
    ):
        yield id_, (head, tail)


def _set(ids: Sequence[int]) -> str:
    return f"({','.join(map(str, ids))})"
