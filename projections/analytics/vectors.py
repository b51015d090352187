"""Vectors of thoughts, each embedder's in a table of its own: two kinds are never compared.

A vector belongs to a thought, whichever event brought it: the thought's own, one that came later,
perhaps in a branch, or one that names another thought with the very same text.
"""

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.recorded import Plain
from projections.analytics.schema.describe import describe, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MANY = 500
"""Vectors from which on Arrow carries them; below, importing it costs more than it saves."""

WIDEST = 100_000
"""Numbers that DuckDB takes in one vector."""

_SIZES = {2: "e", 4: "f"}


class _Came(NamedTuple):
    """A vector on its way in."""

    session: str
    thought: int
    embedder: int
    embedding: bytes | None
    of: int | None


class Vectors:
    """The vectors of one slice of the log."""

    def __init__(self, connection: "DuckDBPyConnection") -> None:
        self._connection = connection
        rows = connection.execute(
            "SELECT model, dimension, embedder FROM base.embedders ORDER BY newest DESC, embedder"
        ).fetchall()
        self._shown = [*(number for *_, number in rows[:1]), len(rows)]
        self._embedders: dict[tuple[str, int], int] = {(m, d): number for m, d, number in rows}
        self._newest: dict[int, int] = {}
        self._own: dict[int, list[tuple[int, bytes]]] = {}
        self._others: list[_Came] = []

    def take(self, event: Plain) -> None:
        """Take in what an event brings, if it does."""
        get = event.data.get
        model, dimension, embedding = get("embedding_model"), get("dimension"), get("embedding")
        of = get("embedding_of")
        if model is None or not dimension or event.redacted or (embedding is None and of is None):
            return
        if not 0 < dimension <= WIDEST:
            return
        size, rest = divmod(len(embedding), dimension) if embedding is not None else (4, 0)
        if rest or size not in _SIZES:
            return  # nothing that could be asked
        embedder = self._embedder(model, dimension)
        self._newest[embedder] = event.position
        if embedding is not None and event.kind == "thought.added":
            self._own.setdefault(embedder, []).append((event.position, embedding))
        else:
            thought = get("thought", event.version)
            self._others.append(_Came(event.session, thought, embedder, embedding, of))

    def write(self) -> None:
        """Write them, and the view of thoughts as it is with them."""
        for embedder, vectors in self._own.items():
            self._append(f"base.vectors_{embedder}", embedder, vectors)
        for embedder in {came.embedder for came in self._others}:
            self._resolve(embedder, [came for came in self._others if came.embedder == embedder])
        if self._newest:
            self._connection.executemany(
                "UPDATE base.embedders SET newest = ? WHERE embedder = ?",
                [(position, embedder) for embedder, position in self._newest.items()],
            )
            last = max(self._newest, key=self._newest.__getitem__)
            if [last, len(self._embedders)] != self._shown:
                show_thoughts(self._connection)

    def _embedder(self, model: str, dimension: int) -> int:
        number = self._embedders.get((model, dimension))
        if number is None:
            number = self._embedders[model, dimension] = len(self._embedders) + 1
            self._connection.execute(
                "INSERT INTO base.embedders VALUES (?, ?, ?, 0)", (number, model, dimension)
            )
            self._connection.execute(
                f"CREATE TABLE base.vectors_{number}"
                f"(position BIGINT, embedding FLOAT[{int(dimension)}])"
            )
        return number

    def _dimension(self, embedder: int) -> int:
        return next(d for (_, d), number in self._embedders.items() if number == embedder)

    def _append(self, table: str, embedder: int, vectors: list[tuple[int, bytes]]) -> None:
        """Vectors under a number: a position, or a place in a table that goes again."""
        dimension = self._dimension(embedder)
        if len(vectors) < MANY:
            rows = [(number, _floats(embedding, dimension)) for number, embedding in vectors]
            with self._connection.appender(table) as appender:
                appender.append_rows(rows)
            return
        import numpy as np  # noqa: PLC0415 — neither of them starts fast
        import pyarrow as pa  # noqa: PLC0415

        for size in _SIZES:
            some = [
                (n, embedding) for n, embedding in vectors if len(embedding) == size * dimension
            ]
            data = b"".join(embedding for _, embedding in some)
            numbers = np.frombuffer(data, f"<f{size}").astype("<f4")
            columns = {
                "position": pa.array([number for number, _ in some], pa.int64()),
                "embedding": pa.FixedSizeListArray.from_arrays(pa.array(numbers), dimension),
            }
            self._connection.register("incoming", pa.table(columns))
            self._connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608 — our name
            self._connection.unregister("incoming")

    def _resolve(self, embedder: int, others: list[_Came]) -> None:
        """Find the thoughts that late vectors belong to, and the vectors that others share.

        A thought keeps the vector that it got first, however the log is cut into slices.
        """
        connection, table = self._connection, f"base.vectors_{embedder}"
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE came"
            "(place BIGINT, session VARCHAR, thought BIGINT, of BIGINT)"
        )
        with connection.appender("came") as appender:
            appender.append_rows(
                [(place, came.session, came.thought, came.of) for place, came in enumerate(others)]
            )
        places = connection.execute(_PLACES.format(table=table)).fetchall()
        connection.execute("DROP TABLE came")
        own: dict[int, bytes] = {}
        shared: dict[int, int] = {}
        there = {thought for _, thought, has, _, _ in places if has}
        there |= {of for *_, of, of_has in places if of_has}
        for place, thought, _, of, _ in places:
            embedding = others[place].embedding
            if thought in there or (embedding is None and of not in there):
                continue
            there.add(thought)
            if embedding is not None:
                own[thought] = embedding
            else:
                shared[thought] = shared.get(of, of)
        self._append(table, embedder, list(own.items()))
        if shared:
            connection.execute("CREATE OR REPLACE TEMP TABLE same(position BIGINT, of BIGINT)")
            with connection.appender("same") as appender:
                appender.append_rows(list(shared.items()))
            connection.execute(
                f"INSERT INTO {table} SELECT same.position, v.embedding"  # noqa: S608 — our name
                f" FROM same JOIN {table} v ON v.position = same.of"
            )
            connection.execute("DROP TABLE same")


def _floats(embedding: bytes, dimension: int) -> tuple[Any, ...]:
    return struct.unpack(f"<{dimension}{_SIZES[len(embedding) // dimension]}", embedding)


_THOUGHT = """JOIN lineage l{n} ON l{n}.session = c.session
    AND c.{which} > l{n}.after AND c.{which} <= l{n}.upto
  JOIN base.thoughts t{n} ON t{n}.session = l{n}.stream AND t{n}.version = c.{which}
  LEFT JOIN {{table}} v{n} ON v{n}.position = t{n}.position"""
_PLACES = f"""WITH others AS (
  SELECT c.place, t2.position, v2.position IS NOT NULL AS has
  FROM came c {_THOUGHT.format(which="of", n=2)}
)
SELECT c.place, t1.position, v1.position IS NOT NULL, o.position, coalesce(o.has, false)
FROM came c {_THOUGHT.format(which="thought", n=1)}
LEFT JOIN others o ON o.place = c.place
ORDER BY c.place"""  # noqa: S608 — our names


def show_thoughts(connection: "DuckDBPyConnection") -> None:
    """Make the view of thoughts: with the vectors of the embedder that was used last."""
    embedders = connection.execute(
        "SELECT embedder, model, dimension FROM base.embedders ORDER BY newest DESC, embedder"
    ).fetchall()
    for number, model, _ in reversed(embedders):
        about = f"Thoughts with a vector by {model}."
        vectors = (f"JOIN base.vectors_{number}", "v.embedding")
        _show(connection, f"thoughts_by_{number}", about, vectors, model)
    every = [
        f"SELECT {number} AS embedder, position, embedding::FLOAT[] AS embedding"  # noqa: S608 — our names
        f" FROM base.vectors_{number}"
        for number, *_ in embedders
    ] or ["SELECT 0 AS embedder, 0::BIGINT AS position, []::FLOAT[] AS embedding WHERE false"]
    # for whoever asks a branch with the embedder of its own, which may not be the newest
    connection.execute(f"CREATE OR REPLACE VIEW base.vectors AS {' UNION ALL '.join(every)}")
    about = "Thoughts, with vectors of the embedder that was used last: no two kinds ever meet."
    if embedders:
        number, model, dimension = embedders[0]
        # an outer join of DuckDB 2.0.0 fails on an array that is not there, and not on a list
        lists = f"(SELECT position, embedding::FLOAT[] AS embedding FROM base.vectors_{number})"  # noqa: S608 — our names
        vectors = (f"LEFT JOIN {lists}", f"v.embedding::FLOAT[{int(dimension)}] AS embedding")
        _show(connection, "thoughts", about, vectors, model)
    else:
        nothing = "LEFT JOIN (SELECT NULL::BIGINT AS position, NULL::FLOAT[] AS embedding)"
        _show(connection, "thoughts", about, (nothing, "v.embedding"), "")
    describe(connection)


def _show(
    connection: "DuckDBPyConnection", view: str, about: str, vectors: tuple[str, str], model: str
) -> None:
    joined, embedding = vectors
    connection.execute(
        f"CREATE OR REPLACE VIEW {view} AS SELECT t.position, t.session, t.version, t.time,"  # noqa: S608 — our names, and a quoted one
        " t.text, t.iteration, t.mind, t.origin, t.redacted, t.source_session, t.source_version,"
        f" CASE WHEN v.embedding IS NOT NULL THEN {quoted(model)} END AS embedder, {embedding}"
        f" FROM base.thoughts t {joined} v USING (position)"
    )
    connection.execute(f"COMMENT ON VIEW {view} IS {quoted(about)}")
    for column, text in _ABOUT.items():
        connection.execute(f"COMMENT ON COLUMN {view}.{column} IS {quoted(text)}")


_ABOUT = {
    "embedder": "what made its vector; NULL while it has none of this embedder",
    "embedding": "its unit vector by this embedder; those of others: see embedders",
}
