"""What can be exported: every table and view that everybody may ask, and of what kind it is."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from domain.errors import BadSetting
from domain.nearest import nearest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Format = Literal["parquet", "arrow"]
Kind = Literal["facts", "vectors", "state"]

FACTS = frozenset({"drafts", "thoughts", "cluster_assignments", "interventions"})
"""Views whose rows stay as they are once their event is there, as those of tables do.

What is missing here is a state: it is written whole again and again, which is never wrong.
"""

LATER = {"thoughts": frozenset({"embedder", "embedding"})}
"""Columns of such views that change: a thought may get its vector long after it was had."""

_ABOUT = {
    "thoughts": "Thoughts of minds and of others; their vectors are in thoughts_by_1 and its like,"
    " which embedders names."
}
_VECTORS = re.compile(r"thoughts_by_\d+")
_AS_JSON = frozenset({"VARIANT", "JSON"})
_FIXED = re.compile(r"\[\d+\]$")


class Column(NamedTuple):
    """A column: what it is in the database, and what it means."""

    name: str
    type: str
    about: str

    @property
    def select(self) -> str:
        """How it is asked for: what has no type elsewhere is a text of JSON."""
        if self.type in _AS_JSON:
            return f'"{self.name}"::JSON::VARCHAR AS "{self.name}"'
        return f'"{self.name}"'

    def stored(self, format_: Format) -> str:
        """What it is in a file."""
        if self.type in _AS_JSON:
            return "VARCHAR, a text of JSON"
        if format_ == "parquet":  # which knows lists, but none of a fixed size
            return _FIXED.sub("[]", self.type)
        return self.type


class Table(NamedTuple):
    """A table or view that everybody may ask."""

    name: str
    about: str
    columns: tuple[Column, ...]
    kind: Kind
    """Facts: rows come with their events and stay. Vectors: they may come later than the events
    whose rows they complete, and stay. State: rows change."""

    @property
    def select(self) -> str:
        """All of it, as it comes: to sort vectors would cost more than all the rest."""
        columns = ", ".join(column.select for column in self.columns)
        return f'SELECT {columns} FROM "{self.name}"'  # noqa: S608 — names from the catalog

    @property
    def lasting(self) -> "Table":
        """The same without what changes."""
        later = LATER.get(self.name, frozenset())
        columns = tuple(column for column in self.columns if column.name not in later)
        return self._replace(columns=columns, about=_ABOUT.get(self.name, self.about))


def tables_of(connection: "DuckDBPyConnection", wanted: Sequence[str] = ()) -> tuple[Table, ...]:
    """All public tables and views of the database in use, or those that are wanted.

    Raises:
        BadSetting: there is none of a wanted name.
    """
    of_ours = "NOT internal AND database_name = current_database() AND schema_name = 'main'"
    found: dict[str, tuple[str, bool]] = {
        name: (about, is_table)
        for name, about, is_table in connection.execute(
            f"SELECT table_name, comment, true FROM duckdb_tables() WHERE {of_ours}"  # noqa: S608 — a constant
            f" UNION ALL SELECT view_name, comment, false FROM duckdb_views() WHERE {of_ours}"
            " ORDER BY ALL"
        ).fetchall()
    }
    columns: dict[str, list[Column]] = {}
    for table, *column in connection.execute(
        "SELECT table_name, column_name, data_type, comment FROM duckdb_columns()"  # noqa: S608 — as above
        f" WHERE {of_ours} ORDER BY table_name, column_index"
    ).fetchall():
        columns.setdefault(table, []).append(Column(*column))
    for name in wanted:
        if name not in found:
            names = nearest(name, found)
            more = len(found) - len(names)
            raise BadSetting(
                f"There is no table {name!r}; there are {', '.join(names)}"
                + (f" and {more} more." if more else ".")
            )
    return tuple(
        Table(name, about, tuple(columns[name]), _kind(name, is_table=is_table))
        for name, (about, is_table) in found.items()
        if not wanted or name in wanted
    )


def _kind(name: str, *, is_table: bool) -> Kind:
    if _VECTORS.fullmatch(name):
        return "vectors"
    return "facts" if is_table or name in FACTS else "state"
