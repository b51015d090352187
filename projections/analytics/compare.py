"""Whether two databases of one log say the same, table by table."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from projections.analytics.schema.describe import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST = 60
"""Characters of a value that a sample shows."""


class Difference(NamedTuple):
    """A table that is not the same in both."""

    table: str
    """Its name; of vectors, whose they are."""
    missing: int
    """Rows that only the rebuilt one has."""
    surplus: int
    """Rows that only the maintained one has."""
    sample: str
    """One of them, column by column."""


class _Table(NamedTuple):
    name: str
    columns: tuple[tuple[str, str], ...]
    """Names and types."""


def compared(maintained: Path, rebuilt: Path) -> list[Difference]:
    """Compare all that is written down in two databases: each table, as a bag of rows.

    Where one has come further in the log, what lies behind the end of the other is left out;
    thoughts may have got vectors since, so those are only missing if both are as far. Embedders
    may have other numbers.

    Args:
        maintained: the database that was caught up again and again.
        rebuilt: one that was built at once, of the same log; nothing was redacted between them.

    Returns:
        The tables that differ; none if all is well.

    Raises:
        duckdb.Error: one of them can't be opened, or is damaged.
    """
    import duckdb  # noqa: PLC0415 — only who compares pays for it

    with duckdb.connect(":memory:", config={"threads": 2}) as connection:
        for name, file in zip(_BOTH, (maintained, rebuilt), strict=True):
            connection.execute(f"ATTACH {quoted(str(file.absolute()))} AS {name} (READ_ONLY)")
        return [*_tables(connection), *_vectors(connection)]


_BOTH = ("maintained", "rebuilt")
_VECTORS = "base.vectors_"
_OTHERWISE = frozenset({"base.status", "base.embedders"})
_NOTHING = _Table("", ())


def _tables(connection: "DuckDBPyConnection") -> Iterator[Difference]:
    ours, theirs = (_tables_of(connection, name) for name in _BOTH)
    (layout, at, hash_), (layout_2, at_2, hash_2) = _asked(connection, _STATUS)
    if layout != layout_2:
        yield Difference("base.status", 1, 1, f"layout: {layout}, not {layout_2}")
    if at == at_2 and hash_ != hash_2:
        yield Difference("base.status", 1, 1, f"hash: {hash_.hex()}, not {hash_2.hex()}")
    where = f" WHERE position <= {min(at, at_2)}"
    for name in sorted({*ours, *theirs} - _OTHERWISE):
        if name.startswith(_VECTORS):
            continue
        here, there = ours.get(name, _NOTHING), theirs.get(name, _NOTHING)
        found = _difference(connection, name, here, there, where)
        if found is not None:
            yield found


def _vectors(connection: "DuckDBPyConnection") -> Iterator[Difference]:
    """Vectors by embedder: a number is given in the order in which they came."""
    one, other = (position for _, position, _ in _asked(connection, _STATUS))
    ours, theirs = (
        {
            (model, dimension): f"{_VECTORS}{number}"
            for model, dimension, number in _asked(
                connection,
                f"SELECT model, dimension, embedder FROM {name}.base.embedders",  # noqa: S608 — our name
            )
        }
        for name in _BOTH
    )
    known = [_tables_of(connection, name) for name in _BOTH]
    where = f" WHERE position <= {min(one, other)}"
    for model, dimension in sorted({*ours, *theirs}):
        embedder = (model, dimension)
        here, there = (
            tables.get(mine.get(embedder, ""), _NOTHING)
            for tables, mine in zip(known, (ours, theirs), strict=True)
        )
        found = _difference(connection, f"vectors by {model}", here, there, where)
        if found is not None and (one == other or found.surplus):
            yield found


_COLUMNS = """SELECT schema_name, table_name, column_name, data_type
FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
WHERE database_name = {database} AND schema_name IN ('base', 'main') ORDER BY column_index"""
_STATUS = " UNION ALL ".join(
    f"SELECT layout, position, hash FROM {name}.base.status"  # noqa: S608 — our names
    for name in _BOTH
)


def _tables_of(connection: "DuckDBPyConnection", database: str) -> dict[str, _Table]:
    columns: dict[str, list[tuple[str, str]]] = {}
    found = _asked(connection, _COLUMNS.format(database=quoted(database)))
    for schema, table, column, type_ in found:
        name = f"{schema}.{table}" if schema != "main" else table
        columns.setdefault(name, []).append((column, type_))
    return {name: _Table(name, tuple(some)) for name, some in columns.items()}


def _difference(
    connection: "DuckDBPyConnection", name: str, ours: _Table, theirs: _Table, where: str
) -> Difference | None:
    if ours.columns != theirs.columns:
        counts = [
            _asked(connection, f"SELECT count(*) FROM {database}.{table.name}{where}")[0][0]  # noqa: S608 — our names
            if table.columns
            else 0
            for database, table in zip(_BOTH, (ours, theirs), strict=True)
        ]
        if ours.columns and theirs.columns:
            return Difference(name, counts[1], counts[0], _unlike(ours, theirs))
        which = "maintained" if theirs.columns else "rebuilt"
        return Difference(name, counts[1], counts[0], f"no such table in the {which} database")
    # a VARIANT may be the same and yet be kept otherwise
    columns = ", ".join(
        f'"{column}"::JSON::VARCHAR AS "{column}"' if type_ == "VARIANT" else f'"{column}"'
        for column, type_ in ours.columns
    )
    rows = [
        f"SELECT {columns} FROM {database}.{table.name}{where}"  # noqa: S608 — our names
        for database, table in zip(_BOTH, (ours, theirs), strict=True)
    ]
    names = ", ".join(f'"{column}"' for column, _ in ours.columns)
    sums = [
        _asked(connection, f"SELECT count(*), sum(hash({names})::HUGEINT) FROM ({query})")  # noqa: S608 — our names
        for query in rows
    ]
    if sums[0] == sums[1]:
        return None
    only = [
        _asked(
            connection,
            f"SELECT count(*), min_by(r, hash(r)) FROM ({one} EXCEPT ALL {other}) r",  # noqa: S608 — our names
        )[0]
        for one, other in (rows, rows[::-1])
    ]
    (surplus, extra), (missing, lacking) = only
    if not surplus and not missing:
        return None
    return Difference(name, missing, surplus, _shown(extra or lacking))


def _unlike(ours: _Table, theirs: _Table) -> str:
    odd = sorted({*ours.columns} ^ {*theirs.columns}) or [*ours.columns]
    return "other columns: " + ", ".join(f"{column} {type_}" for column, type_ in odd)


def _shown(row: dict[str, Any]) -> str:
    shown = []
    for column, value in row.items():
        text = str(value)
        if value is not None:
            shown.append(f"{column}: {text if len(text) <= LONGEST else text[:LONGEST] + '…'}")
    return ", ".join(shown)


def _asked(connection: "DuckDBPyConnection", query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()
