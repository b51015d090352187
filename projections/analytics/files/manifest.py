"""What an export holds, written down beside its files: for programs and for people."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from domain.errors import BadSetting
from domain.nearest import nearest
from projections.analytics.database import Status

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA = "_schema.json"
README = "README.md"
MARK = "logosphere export 1"

Format = Literal["parquet", "arrow"]
Partition = Literal["session", "day"]

_AS_JSON = frozenset({"VARIANT", "JSON"})
_VECTOR = re.compile(r"\[\d+\]$")


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
            return _VECTOR.sub("[]", self.type)
        return self.type


class Table(NamedTuple):
    """A table or view that everybody may ask."""

    name: str
    about: str
    columns: tuple[Column, ...]

    @property
    def select(self) -> str:
        """All of it, as it comes: to sort vectors would cost more than all the rest."""
        columns = ", ".join(column.select for column in self.columns)
        return f'SELECT {columns} FROM "{self.name}"'  # noqa: S608 — names from the catalog

    @property
    def tells_events(self) -> bool:
        """Whether its rows are of a session and a moment."""
        return {"session", "time"} <= {column.name for column in self.columns}


class Manifest(NamedTuple):
    """What an export is made of."""

    format: Format
    by: Partition | None
    status: Status
    duckdb: str
    tables: tuple[Table, ...]
    rows: dict[str, int]

    def by_of(self, table: Table) -> Partition | None:
        """What a table is partitioned by; one without rows is a single file."""
        return self.by if table.tells_events and self.rows[table.name] else None


def tables_of(connection: "DuckDBPyConnection", wanted: Sequence[str] = ()) -> tuple[Table, ...]:
    """All public tables and views of the database in use, or those that are wanted.

    Raises:
        BadSetting: there is none of a wanted name.
    """
    of_ours = "NOT internal AND database_name = current_database() AND schema_name = 'main'"
    abouts: dict[str, str] = dict(
        connection.execute(
            f"SELECT table_name, comment FROM duckdb_tables() WHERE {of_ours}"  # noqa: S608 — a constant
            f" UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE {of_ours}"
            " ORDER BY ALL"
        ).fetchall()
    )
    columns: dict[str, list[Column]] = {}
    for table, *column in connection.execute(
        "SELECT table_name, column_name, data_type, comment FROM duckdb_columns()"  # noqa: S608 — as above
        f" WHERE {of_ours} ORDER BY table_name, column_index"
    ).fetchall():
        columns.setdefault(table, []).append(Column(*column))
    for name in wanted:
        if name not in abouts:
            names = nearest(name, abouts)
            more = len(abouts) - len(names)
            raise BadSetting(
                f"There is no table {name!r}; there are {', '.join(names)}"
                + (f" and {more} more." if more else ".")
            )
    return tuple(
        Table(name, about, tuple(columns[name]))
        for name, about in abouts.items()
        if not wanted or name in wanted
    )


def describe_export(manifest: Manifest, directory: Path) -> None:
    """Write down what is in a directory, in it."""
    text = json.dumps(_as_data(manifest), ensure_ascii=False, indent=1)
    (directory / SCHEMA).write_text(text + "\n", encoding="utf-8")
    (directory / README).write_text(_as_text(manifest), encoding="utf-8")


def is_export(directory: Path) -> bool:
    """Whether a directory holds an earlier export, and nothing else.

    Raises:
        OSError: it can't be read.
    """
    try:
        data = json.loads((directory / SCHEMA).read_text("utf-8"))
        names = {table["name"] for table in data["tables"]} if data["made"] == MARK else None
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return False
    if names is None:
        return False
    found = [path for path in directory.rglob("*") if path.is_symlink() or not path.is_dir()]
    return all(_is_ours(path.relative_to(directory).parts, names) for path in found)


def _is_ours(parts: tuple[str, ...], tables: set[str]) -> bool:
    if len(parts) == 1:
        name, _, end = parts[0].rpartition(".")
        return parts[0] in {SCHEMA, README} or (end == "arrow" and name in tables)
    partitions = all(part.startswith(("session=", "day=")) for part in parts[1:-1])
    return (
        parts[0] in tables
        and len(parts) <= 3
        and partitions
        and re.fullmatch(r"part-1-\d+-\d+\.parquet", parts[-1]) is not None
    )


def _as_data(manifest: Manifest) -> dict[str, Any]:
    return {
        "made": MARK,
        "format": manifest.format,
        "partition_by": manifest.by,
        "store": {
            "position": manifest.status.position,
            "hash": manifest.status.hash.hex(),
            "redactions": manifest.status.redactions,
            "layout": manifest.status.layout,
        },
        "duckdb": manifest.duckdb,
        "tables": [
            {
                "name": table.name,
                "about": table.about,
                "rows": manifest.rows[table.name],
                "partitioned_by": manifest.by_of(table),
                "columns": [
                    {
                        "name": column.name,
                        "type": column.type,
                        "stored": column.stored(manifest.format),
                        "about": column.about,
                    }
                    for column in table.columns
                ],
            }
            for table in manifest.tables
        ],
    }


def _as_text(manifest: Manifest) -> str:
    head = f"Everything up to event {manifest.status.position} of the store, as tables."
    notes = [_READ[manifest.format]] + ([_BY[manifest.by]] if manifest.by is not None else [])
    lines = ["# The history of a Logosphere store", "", f"{head} {_BOTH}"]
    for note in notes:
        lines += ["", note]
    for table in manifest.tables:
        by, rows = manifest.by_of(table), manifest.rows[table.name]
        facts = f"{rows:,} row{'' if rows == 1 else 's'}" + (f", in parts by {by}" if by else "")
        lines += ["", f"## {table.name}", "", f"{_cell(table.about)} ({facts})", ""]
        lines += ["| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            stored = column.stored(manifest.format)
            lines.append(f"| `{column.name}` | {stored} | {_cell(column.about)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A text on one line of Markdown, with nothing that a terminal would obey."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


_BOTH = "Times are UTC. `_schema.json` says the same for programs."
_READ: dict[Format, str] = {
    "parquet": (
        "A directory for each table, with Parquet in it, compressed with Zstandard. The first two"
        " numbers in `part-1-…` say which events of the store were looked at. Parquet has no lists"
        " of a fixed size: in DuckDB, `embedding::FLOAT[384]` makes a vector of a list again."
    ),
    "arrow": (
        "An Arrow IPC file for each table, its buffers compressed with Zstandard:"
        " `pyarrow.ipc.open_file`, `polars.read_ipc`. Each column carries its meaning."
    ),
}
_BY: dict[Partition, str] = {
    "session": (
        "Tables of events are in parts by session: `messages/session=main/…`. The session is in"
        " the name of the directory only, with `/` as `%2F`. It is a text; an engine that guesses"
        " makes a number of one that looks so, unless it is told, in DuckDB by"
        " `hive_types = {'session': VARCHAR}`."
    ),
    "day": (
        "Tables of events are in parts by day, UTC: `messages/day=2026-11-22/…`. The day is in the"
        " name of the directory only."
    ),
}
