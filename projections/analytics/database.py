"""The file: made, opened, and what it says of itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from domain.errors import Refused, StoreIsBusy, StoreIsDamaged
from projections.analytics.place import FILE, PATIENCE, is_locked, patiently
from projections.analytics.schema import EVENTS, TABLES
from projections.analytics.schema.branches import macros
from projections.analytics.schema.compound import COMPOUND, EVERYWHERE
from projections.analytics.schema.describe import quoted
from projections.analytics.schema.table import ENVELOPE, Table
from projections.analytics.vectors import show_thoughts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")

MADE = 3
"""Counted up when rows are made otherwise though tables and views are the same."""

_BASE = """
CREATE SCHEMA base;
CREATE TABLE base.status(layout VARCHAR, position BIGINT, hash BLOB, mark BLOB);
CREATE TABLE base.edits(position BIGINT, previous BIGINT, edits BIGINT, likeness DOUBLE);
CREATE TABLE base.embedders(embedder INTEGER, model VARCHAR, dimension INTEGER, newest BIGINT);
CREATE VIEW embedders AS
  SELECT embedder, model, dimension, 'thoughts_by_' || embedder AS view FROM base.embedders;
COMMENT ON VIEW embedders IS 'What made vectors of thoughts, each with a view of its own.';
COMMENT ON COLUMN embedders.embedder IS 'its number here';
COMMENT ON COLUMN embedders.model IS 'its name';
COMMENT ON COLUMN embedders.dimension IS 'how many numbers a vector of it has';
COMMENT ON COLUMN embedders.view IS 'the view with its vectors';
"""


class Status(NamedTuple):
    """How far a database has come, and of which log."""

    layout: str
    position: int
    """The newest position of the log that is in it; 0 for none."""
    hash: bytes
    """The chain hash there, which no other log has."""
    mark: bytes
    """What no other history of redactions has; empty while there was none."""


def connect(file: Path, *, read_only: bool) -> "DuckDBPyConnection":
    """Open a database.

    Raises:
        Refused: DuckDB is not installed.
        duckdb.Error: it can't be opened so; somebody else may have it open.
    """
    try:
        import duckdb  # noqa: PLC0415 — the dialogue never waits for it
    except ImportError:
        raise Refused('Analysis needs DuckDB: pip install "logosphere[analysis]".') from None
    # small blocks: 200 events take 0.5 MB instead of 3.9; 300,000 a third more (121 MB instead of
    # 91), and an eighth more time to build
    config: dict[str, Any] = {"threads": 2, "default_block_size": "16384"}
    return duckdb.connect(str(file), read_only=read_only, config=config)


def opened(file: Path) -> "DuckDBPyConnection":
    """A connection that only reads; raises as :func:`opening`."""
    return opening(lambda: connect(file, read_only=True))


def opening(open_: Callable[[], T]) -> T:
    """Open a database to read, however many others catch up just now.

    Args:
        open_: tries to.

    Raises:
        StoreIsBusy: somebody has it open to write, all the time.
        StoreIsDamaged: it can't be read.
    """
    try:
        return patiently(open_, is_locked)
    except Exception as error:
        if is_locked(error):
            raise StoreIsBusy(FILE, PATIENCE) from error
        if is_of_duckdb(error):
            why = str(error).partition("\n")[0].rstrip(".")
            raise StoreIsDamaged(
                f"{FILE} can't be read ({why}): make it anew (mind rebuild)."
            ) from error
        raise


def is_of_duckdb(error: Exception) -> bool:
    """Whether DuckDB raised it, which need not be loaded to tell."""
    return type(error).__module__ == "_duckdb"


@contextmanager
def transaction(connection: "DuckDBPyConnection") -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        with suppress(Exception):  # what went wrong is to be seen, not what that led to
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@cache
def layout() -> str:
    """Names this arrangement of tables and views: another one is built anew."""
    return sha256("\n".join((str(MADE), *_statements(), *macros())).encode()).hexdigest()[:16]


def make(connection: "DuckDBPyConnection") -> None:
    """Make all tables and views in an empty database."""
    for statement in _statements():
        connection.execute(statement)
    show_thoughts(connection)  # and describe what is left
    for statement in macros():
        connection.execute(statement)
    connection.execute("INSERT INTO base.status VALUES (?, 0, ?, ?)", (layout(), b"", b""))


def status(connection: "DuckDBPyConnection") -> Status | None:
    """How far it has come; None if it is none of ours."""
    try:
        rows = connection.execute("SELECT * FROM base.status").fetchall()
    except Exception:  # noqa: BLE001 — whatever it is, it is not ours
        return None
    return Status(*rows[0]) if len(rows) == 1 else None


def _statements() -> list[str]:
    views = files("projections.analytics.schema").joinpath("views.sql").read_text("utf-8")
    compound = [f"CREATE VIEW {name} AS {query(EVERYWHERE)}" for name, query in COMPOUND.items()]
    return [_BASE, *map(_create, (EVENTS, *TABLES)), *compound, views]


def _create(table: Table) -> str:
    columns = (*ENVELOPE, *table.columns)
    definitions = ", ".join(f"{column.name} {column.type}" for column in columns)
    comments = [
        f"COMMENT ON COLUMN {table.name}.{column.name} IS {quoted(column.about)}"
        for column in columns
    ]
    return ";\n".join(
        (
            f"CREATE TABLE {table.name}({definitions})",
            f"COMMENT ON TABLE {table.name} IS {quoted(table.about)}",
            *comments,
        )
    )
