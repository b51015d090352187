"""Tables as Parquet: what a range of positions added to facts, and a state as a whole."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from projections.analytics.files.manifest import DataFile
from projections.analytics.files.tables import Table
from projections.analytics.schema.describe import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS = 16_384
"""Rows of one row group of Parquet, which is held in memory; a vector may be of kilobytes."""

DIGITS = 12
"""Of a position in a name, so that names sort as positions do; more where it has more."""

NO_DAY = "1970-01-01"
"""The day of the empty file of a table without rows."""

_OPTIONS = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS}, RETURN_STATS"

# by where a session begins, so that a family of branches is together; 15 digits fit into a BIGINT
_BUCKETS = """CREATE OR REPLACE TEMP TABLE buckets AS
WITH RECURSIVE up(session, root, parent) AS (
  SELECT session, session, parent FROM base.beginnings
  UNION ALL
  SELECT up.session, b.session, b.parent FROM up JOIN base.beginnings b ON b.session = up.parent
)
SELECT e.session, ('0x' || sha256(coalesce(r.root, e.session))[:15])::BIGINT % {} AS bucket
FROM (SELECT DISTINCT session FROM events) e
LEFT JOIN (SELECT session, root FROM up WHERE parent IS NULL) r USING (session)"""


class Span(NamedTuple):
    """What is written of facts."""

    after: int
    upto: int
    buckets: int
    seal: str
    """Eight hex digits: with the range of positions they say what is in a file."""


class Staged(NamedTuple):
    """A file that is whole and not at its place yet."""

    file: Path
    data: DataFile


def seal(*parts: object) -> str:
    """Digits that change whenever one of the parts does."""
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:8]


def put_into_buckets(connection: "DuckDBPyConnection", buckets: int) -> None:
    """Make up the bucket of each stream, for :func:`write_facts`."""
    connection.execute(_BUCKETS.format(buckets))


def write_facts(
    connection: "DuckDBPyConnection", table: Table, span: Span, staging: Path
) -> list[Staged]:
    """Write the rows of events after one position and up to another, by day and bucket."""
    return _partitioned(connection, table, _within(span), span, staging)


def write_vectors(
    connection: "DuckDBPyConnection",
    table: Table,
    span: Span,
    staging: Path,
    known: Sequence[DataFile],
    place: Path,
) -> list[Staged]:
    """As :func:`write_facts`, and also what came late: vectors of thoughts that were there.

    What came so is what the files that are ``known``, of the lake at ``place``, do not have.
    """
    where = _within(span)
    if known:
        ((early,),) = connection.execute(
            f"SELECT count(*) FROM {table.name} WHERE position <= $1",  # noqa: S608 — our name
            (span.after,),
        ).fetchall()
        if early != sum(file.rows for file in known):
            files = ", ".join(quoted(str(place / file.path)) for file in known)
            there = f"read_parquet([{files}], hive_partitioning = false)"
            where = f"position <= {span.upto} AND position NOT IN (SELECT position FROM {there})"  # noqa: S608 — our names
    return _partitioned(connection, table, where, span, staging)


def write_state(
    connection: "DuckDBPyConnection", table: Table, upto: int, sealed: str, staging: Path
) -> tuple[Staged, str]:
    """Write all of a table, and tell the digest of its rows, in whatever order they are."""
    file = staging / f"{table.name}.parquet"
    ((_, rows, size, *_),) = _copied(connection, table.select, file, _OPTIONS)
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    ((digest,),) = connection.execute(
        f"SELECT sum(hash({columns})::HUGEINT) FROM read_parquet([{quoted(str(file))}])"  # noqa: S608 — our names
    ).fetchall()
    path = f"{table.name}/generation={upto}/{sealed}.parquet"
    return Staged(file, DataFile(table.name, path, rows, size, 1, upto)), f"{rows}:{digest or 0}"


def _within(span: Span) -> str:
    return f"position > {span.after} AND position <= {span.upto}"


def _partitioned(
    connection: "DuckDBPyConnection", table: Table, where: str, span: Span, staging: Path
) -> list[Staged]:
    rows = f"SELECT t.*, t.time::DATE AS day FROM ({table.select} WHERE {where}) t"  # noqa: S608 — our names
    by = "day"
    if span.buckets > 1:
        rows = f"SELECT t.*, bucket FROM ({rows}) t LEFT JOIN buckets USING (session)"  # noqa: S608 — as above
        by = "day, bucket"
    directory = staging / table.name
    found = _copied(connection, rows, directory, f"{_OPTIONS}, PARTITION_BY ({by})")
    made: list[Staged] = []
    for name, count, size, *_ in sorted(found):
        file = Path(name)
        partition = file.parent.relative_to(directory).as_posix()
        again = sum(one.file.parent == file.parent for one in made)
        path = f"{table.name}/{partition}/{_name(span)}{f'-{again}' if again else ''}.parquet"
        made.append(
            Staged(file, DataFile(table.name, path, count, size, span.after + 1, span.upto))
        )
    return made


def write_nothing(
    connection: "DuckDBPyConnection", table: Table, span: Span, staging: Path
) -> Staged:
    """Write an empty file, so that a program finds the columns of a table without rows."""
    file = staging / f"{table.name}-empty.parquet"
    ((_, _, size, *_),) = _copied(connection, f"{table.select} WHERE false", file, _OPTIONS)
    bucket = "/bucket=0" if span.buckets > 1 else ""
    path = f"{table.name}/day={NO_DAY}{bucket}/{_name(span)}.parquet"
    return Staged(file, DataFile(table.name, path, 0, size, 1, span.upto))


def _name(span: Span) -> str:
    return f"{span.after + 1:0{DIGITS}}-{span.upto:0{DIGITS}}-{span.seal}"


def _copied(
    connection: "DuckDBPyConnection", query: str, where: Path, options: str
) -> list[tuple[str, int, int]]:
    """Write a query; each file with its rows and bytes."""
    copy = f"COPY ({query}) TO {quoted(str(where))} ({options})"
    return [(name, rows, size) for name, rows, size, *_ in connection.execute(copy).fetchall()]
