"""What an export says of itself to people: each table and column with what it means."""

from collections.abc import Sequence
from typing import Any

from projections.analytics.files.tables import Format, Table

FILE = "README.md"


def as_data(table: Table, format_: Format) -> dict[str, Any]:
    """A table for programs."""
    columns = [
        {
            "name": column.name,
            "type": column.type,
            "stored": column.stored(format_),
            "about": column.about,
        }
        for column in table.columns
    ]
    return {"name": table.name, "about": table.about, "columns": columns}


def arrow(tables: Sequence[Table]) -> str:
    """What is told of an export as Arrow files."""
    return _page(_ARROW, tables, "arrow")


def lake(tables: Sequence[Table], buckets: int) -> str:
    """What is told of a lake."""
    notes = _LAKE + (_BUCKETS.format(buckets) if buckets > 1 else "") + _TYPES
    return _page(notes, tables, "parquet")


def _page(notes: str, tables: Sequence[Table], format_: Format) -> str:
    lines = ["# The history of a Logosphere store", "", notes]
    for table in tables:
        state = " A state, written whole." if format_ == "parquet" and table.kind == "state" else ""
        lines += ["", f"## {table.name}", "", f"{_cell(table.about)}{state}", ""]
        lines += ["| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            lines.append(f"| `{column.name}` | {column.stored(format_)} | {_cell(column.about)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A text on one line of Markdown, with nothing that a terminal would obey."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


_ARROW = (
    "An Arrow IPC file for each table, its buffers compressed with Zstandard:"
    " `pyarrow.ipc.open_file`, `polars.read_ipc`. Each column carries its meaning. Times are UTC."
    " `_schema.json` says the same for programs, and up to which event of the store this is."
)
_LAKE = """\
Parquet files, compressed with Zstandard, that never change once they are there. `_manifest.json`
names those that count, up to which event of the store they go, and what each column is.

Tables of facts grow: `events/day=2026-11-22/000000000401-000000000812-1f3a9c2e.parquet` has what
the events 401 to 812 of the store added to that day (UTC; the day is in the name of the directory
only). All files of such a table together are the table: `events/**/*.parquet`.

Tables that are a state, such as `sessions`, are written whole when they have changed:
`sessions/generation=812/1f3a9c2e.parquet` is how it was at event 812 of the store. The newest
generation counts.

A table without rows has an empty file at `day=1970-01-01`, so that its columns can be found.
"""
_BUCKETS = """
Facts are in {0} buckets by where their session begins, so that a session and all its branches are
together: `bucket` is the first 15 hex digits of sha256(name of the root session), modulo {0}.
"""
_TYPES = """
Parquet has no lists of a fixed size: in DuckDB, `embedding::FLOAT[384]` makes a vector of a list
again. Times are UTC."""
