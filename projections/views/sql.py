"""The SQL of views, as SQLite and PostgreSQL both understand it."""

from typing import NamedTuple

from projections.views.view import NANO, Column, View

TRACKING = "view_tracking"

TRACKED = "view, shard, shards, version, epoch, position, hash, mark, owner, since, trouble"


class Dialect(NamedTuple):
    """What is said otherwise in each of them."""

    prefix: str
    """In front of each table: the schema and a dot, or nothing."""
    mark: str
    """Stands for a parameter."""
    integer: str
    real: str
    bytes: str
    least: str
    """The smaller of two values."""
    greatest: str
    order: str
    """Behind a column by whose bytes rows are put in order."""


def tracking_table(d: Dialect) -> str:
    """The table of positions."""
    return (
        f"CREATE TABLE IF NOT EXISTS {d.prefix}{TRACKING}(view TEXT NOT NULL,"
        f" shard {d.integer} NOT NULL, shards {d.integer} NOT NULL, version {d.integer} NOT NULL,"
        f" epoch {d.integer} NOT NULL, position {d.integer} NOT NULL, hash {d.bytes} NOT NULL,"
        f" mark {d.bytes} NOT NULL, owner TEXT, since {d.integer}, trouble TEXT,"
        " PRIMARY KEY (view, shard))"
    )


def table_of(view: str) -> str:
    """Where the rows of a view are, by shard."""
    return f"view_{view}_rows"


def tables(view: View, d: Dialect) -> list[str]:
    """The table of a view's rows by shard, and the SQL view that puts the shards together."""
    table = f"{d.prefix}{table_of(view.name)}"
    types = {"text": "TEXT", "integer": d.integer, "time": d.integer, "usd": d.integer}
    columns = ", ".join(
        f"{_kept(c)} {types[c.type]}{'' if c.merge in _MAY_BE_NULL else ' NOT NULL'}"
        for c in view.columns
    )
    keys = ", ".join(c.name for c in view.keys)
    shown = ", ".join(_shown(view, c, d) for c in view.columns)
    together = "" if view.by_stream else f" GROUP BY {keys}"
    return [
        f"CREATE TABLE {table}(shard {d.integer} NOT NULL, {columns}, PRIMARY KEY ({keys}, shard))",
        f"CREATE VIEW {d.prefix}view_{view.name} AS SELECT {shown} FROM {table}{together}",  # noqa: S608 — our own names
    ]


def dropped(view: str, d: Dialect) -> list[str]:
    """What takes a view away again."""
    return [
        f"DROP VIEW IF EXISTS {d.prefix}view_{view}",
        f"DROP TABLE IF EXISTS {d.prefix}{table_of(view)}",
    ]


def upsert(view: View, d: Dialect) -> str:
    """Adds to a row, or makes it: parameters are the shard and the columns."""
    table = f"{d.prefix}{table_of(view.name)}"
    names = ["shard", *(_kept(c) for c in view.columns)]
    changes = ", ".join(f"{_kept(c)} = {_merge(c, d)}" for c in view.columns if c.merge != "key")
    return (
        f"INSERT INTO {table} AS t ({', '.join(names)})"  # noqa: S608 — our own names
        f" VALUES ({', '.join([d.mark] * len(names))})"
        f" ON CONFLICT ({', '.join(c.name for c in view.keys)}, shard) DO UPDATE SET {changes}"
    )


def select_rows(view: View, d: Dialect) -> str:
    """The rows of all shards together."""
    names = ", ".join(c.name for c in view.columns)
    keys = ", ".join(f"{c.name}{d.order}" for c in view.keys)
    return f"SELECT {names} FROM {d.prefix}view_{view.name} ORDER BY {keys}"  # noqa: S608 — our own names


_MAY_BE_NULL = frozenset({"least", "greatest", "latest"})


def _kept(column: Column) -> str:
    return f"{column.name}_nano" if column.type == "usd" else column.name


def _merge(column: Column, d: Dialect) -> str:
    name = _kept(column)
    if column.merge == "sum":
        return f"t.{name} + excluded.{name}"
    if column.merge == "latest":
        return f"coalesce(excluded.{name}, t.{name})"
    better = d.least if column.merge == "least" else d.greatest
    return f"coalesce({better}(t.{name}, excluded.{name}), t.{name}, excluded.{name})"


def _shown(view: View, column: Column, d: Dialect) -> str:
    name = _kept(column)
    if column.merge == "key":
        return name
    if not view.by_stream:
        together = {"sum": "sum", "least": "min", "greatest": "max"}[column.merge]
        name = f"CAST({together}({name}) AS {d.integer})"
    if column.type == "usd":
        name = f"CAST({name} AS {d.real}) / {NANO}"
    return name if name == column.name else f"{name} AS {column.name}"
