"""What tables, views and columns mean, kept in the database for whoever opens it."""

from typing import TYPE_CHECKING

from projections.analytics.schema import EVENTS, TABLES
from projections.analytics.schema.table import ENVELOPE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def describe(connection: "DuckDBPyConnection") -> None:
    """Say of columns that views took over from tables what they mean there."""
    tables = (EVENTS, *TABLES)
    known = {column.name: column.about for table in tables for column in table.columns}
    known |= {column.name: column.about for column in ENVELOPE}
    exactly = {
        (table.name.removeprefix("base."), column.name): column.about
        for table in tables
        for column in table.columns
    }
    bare = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns()"
        " WHERE NOT internal AND schema_name = 'main' AND comment IS NULL"
    ).fetchall()
    for view, column in bare:
        about = exactly.get((view, column), known[column])
        connection.execute(f"COMMENT ON COLUMN {view}.{column} IS {quoted(about)}")


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"
