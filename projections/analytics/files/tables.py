"""The whole history as files that any engine reads: Parquet in parts, or Arrow.

An export is of one moment: what the database held when it was opened. It is at its place when all
of it is, or not at all, and never takes the place of anything but an earlier export.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import (
    BadName,
    BadSetting,
    Broken,
    LogosphereError,
    Refused,
    StoreIsFull,
)
from domain.ids import session_id
from domain.log import Log
from projections.analytics.catchup import CaughtUp, Progress, catch_up
from projections.analytics.database import opening, status
from projections.analytics.files.manifest import (
    Format,
    Manifest,
    Partition,
    Table,
    describe_export,
    is_export,
    tables_of,
)
from projections.analytics.files.staging import Staging, placed
from projections.analytics.place import has_no_room
from projections.analytics.schema.describe import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_PARTS = 5_000
"""Partitions of a table: with more of them, every engine only opens files."""

MEMORY = 1 << 30
"""Bytes that DuckDB may use; what does not fit goes to the disk of the export."""

ROWS = 16_384
"""Rows of one row group of Parquet, which is held in memory; a vector may be of kilobytes."""

BATCH = 2048
"""Rows of one Arrow batch: some hold whole replies."""

FILE = ".arrow"
"""What the name of a single file ends with."""

_ARROW_FILE = b"logosphere"


class Exported(NamedTuple):
    """What was written."""

    place: Path
    position: int
    """The newest position of the store that is in it."""
    rows: dict[str, int]
    """By table."""
    files: int
    size: int
    """Bytes of all files."""
    caught_up: CaughtUp


def export_parquet(
    log: Log,
    store: Path,
    directory: Path,
    *,
    by: Partition | None = None,
    tables: Sequence[str] = (),
    most_parts: int = MOST_PARTS,
    force: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write tables as Parquet: ``DIR/messages/day=2026-11-22/part-1-4213-0.parquet``.

    Args:
        log: the truth, which the database is caught up with first.
        store: the directory that it is in.
        directory: where to write; not there yet, or empty.
        by: what tables of events are partitioned by, if at all.
        tables: which; all of them by default.
        most_parts: partitions of a table that are not too many.
        force: replace an earlier export.
        progress: told about a long catching up.

    Raises:
        Refused: the directory can't be used, no such table, or too many partitions.
        Broken: the disk is full or fails, or the database is busy.
    """
    place = _usable(directory, store, force=force)
    with _opened(log, store, place, progress) as (connection, caught_up):
        manifest = _manifest(connection, "parquet", by, tables)
        if by is not None:
            _check_parts(connection, by, most_parts)
        with _placed(connection, place, force=force) as staging:
            for table in manifest.tables:
                manifest.rows[table.name] = _copy(connection, manifest, table, staging.new)
            describe_export(manifest, staging.new)
        return _exported(place, manifest, caught_up)


def export_arrow(
    log: Log,
    store: Path,
    target: Path,
    *,
    tables: Sequence[str] = (),
    force: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write tables as Arrow IPC files, ``DIR/messages.arrow``; or a single one, ``FILE.arrow``.

    Args:
        log: as for :func:`export_parquet`, as are the others.
        store: the directory that it is in.
        target: a directory; or a file, if it is named ``….arrow`` and one table is wanted.
        tables: which; all of them by default.
        force: replace an earlier export.
        progress: told about a long catching up.

    Raises:
        Refused, Broken: as :func:`export_parquet`; or a file is to hold several tables.
    """
    single = target.suffix == FILE
    if single and len(tables) != 1:
        raise BadSetting(
            "A file holds one table: name it (--table messages), or name a directory for all."
        )
    place = _usable(target, store, force=force, file=single)
    with _opened(log, store, place, progress) as (connection, caught_up):
        manifest = _manifest(connection, "arrow", None, tables)
        with _placed(connection, place, force=force, file=single) as staging:
            for table in manifest.tables:
                file = staging.new if single else staging.new / f"{table.name}{FILE}"
                manifest.rows[table.name] = _stream(connection, manifest, table, file)
            if not single:
                describe_export(manifest, staging.new)
        return _exported(place, manifest, caught_up)


# the place


def _usable(target: Path, store: Path, *, force: bool, file: bool = False) -> Path:
    """Where to write, once it is clear that nobody's data is there.

    Raises:
        Refused: it can't be used.
    """
    name = str(target)
    with _in_our_words(target):
        try:
            place, home = target.resolve(), store.resolve()
            str(place).encode()
        except (UnicodeError, RuntimeError):
            raise Refused(f"{name!r} can't be used: choose another name.") from None
        if place == home or home in place.parents:
            raise Refused(f"{name!r} is in the store: choose a place outside of it.")
        if not place.parent.is_dir():
            raise Refused(f"{name!r}: there is no such directory to write it into; make it first.")
        if not os.path.lexists(place):
            return place
        if not (place.is_file() if file else place.is_dir()) or (file and not force):
            raise Refused(f"{name!r} is there already: choose another name.")
        if not file and Path.cwd().is_relative_to(place):
            raise Refused(f"{name!r} is where you are: choose a directory that is not there yet.")
        if not file and not any(place.iterdir()):
            return place
        if not (_is_arrow(place) if file else is_export(place)):
            raise Refused(f"{name!r} holds what is no export: choose another name.")
        if not force:
            raise Refused(f"{name!r} holds an export: replace it (--force), or choose another.")
    return place


def _is_arrow(file: Path) -> bool:
    """Whether a file is one that was written here."""
    import pyarrow as pa  # noqa: PLC0415 — the dialogue never waits for it

    try:
        with pa.OSFile(str(file)) as source, pa.ipc.open_file(source) as reader:
            return _ARROW_FILE in (reader.schema.metadata or {})
    except pa.ArrowInvalid:
        return False


@contextmanager
def _placed(
    connection: "DuckDBPyConnection", place: Path, *, force: bool, file: bool = False
) -> Iterator[Staging]:
    with placed(place, replace=force) as staging:
        if not file:
            staging.new.mkdir()
        connection.execute(f"SET temp_directory = {quoted(str(staging.spill))}")
        yield staging


@contextmanager
def _in_our_words(target: Path) -> Iterator[None]:
    """What disk and DuckDB say when they fail, as what is and what to do.

    Raises:
        Refused, Broken: instead.
    """
    try:
        yield
    except LogosphereError:
        raise
    except FileExistsError as error:
        raise Refused(f"{str(target)!r} is there by now: choose another name.") from error
    except OSError as error:
        if has_no_room(error):
            raise StoreIsFull(str(target)) from error
        why = error.strerror or str(error)
        raise Refused(f"{str(target)!r} can't be written ({why}): choose another place.") from error


# the database


@contextmanager
def _opened(
    log: Log, store: Path, place: Path, progress: Progress | None
) -> Iterator[tuple["DuckDBPyConnection", CaughtUp]]:
    """The database, caught up, for reading, in an instance of its own."""
    caught_up = catch_up(log, store, progress=progress)
    import duckdb  # noqa: PLC0415 — the dialogue never waits for it

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": f"{MEMORY}B",
        "temp_directory": "",
    }
    # what else this process has open may have other settings, so it is attached to a new instance
    with _in_our_words(place), duckdb.connect(config=settings) as connection:
        try:
            opening(lambda: _attached(connection, caught_up.file))
            yield connection, caught_up
        except duckdb.Error as error:
            if has_no_room(error):
                raise StoreIsFull(str(place)) from error
            why = str(error).partition("\n")[0]
            raise Broken(f"{str(place)!r} could not be written: {why}") from error


def _attached(connection: "DuckDBPyConnection", file: Path) -> "DuckDBPyConnection":
    connection.execute(f"ATTACH {quoted(str(file.absolute()))} AS store (READ_ONLY)")
    return connection.execute("USE store")


def _manifest(
    connection: "DuckDBPyConnection",
    format_: Format,
    by: Partition | None,
    tables: Sequence[str],
) -> Manifest:
    import duckdb  # noqa: PLC0415 — as above

    found = status(connection)
    if found is None:
        raise Broken("The database was replaced by something else meanwhile: try again.")
    return Manifest(format_, by, found, duckdb.__version__, tables_of(connection, tables), {})


# what is written


def _check_parts(connection: "DuckDBPyConnection", by: Partition, most: int) -> None:
    """Make sure that partitions can be directories, and are not too many.

    Raises:
        Refused: they can't, or are.
    """
    what = "session" if by == "session" else "time::DATE"
    names = connection.execute(f"SELECT DISTINCT {what} FROM events").fetchall()  # noqa: S608 — one of two constants
    if len(names) > most:
        raise Refused(
            f"There are {len(names):,} {by}s, and as many directories for each table would make"
            " every engine slow: partition "
            + ("by day, or " if by == "session" else "")
            + "not at all."
        )
    if by == "session":
        for (name,) in names:
            try:
                session_id(name)
            except BadName:
                raise Refused(
                    f"The name of session {name!r} can't name a directory: partition by day, or"
                    " not at all."
                ) from None


def _copy(
    connection: "DuckDBPyConnection", manifest: Manifest, table: Table, directory: Path
) -> int:
    """Write a table as Parquet, and count its rows."""
    where, by = directory / table.name, manifest.by if table.tells_events else None
    where.mkdir()
    part = f"part-1-{manifest.status.position}-"
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS}"
    if by is not None:
        day = ', "time"::DATE AS day' if by == "day" else ""
        parts = f"{options}, PARTITION_BY ({by}), FILENAME_PATTERN {quoted(part + '{i}')}"
        query = f"SELECT *{day} FROM ({table.select})"  # noqa: S608 — names from the catalog
        rows = _run(connection, query, where, parts)
        if rows:
            return rows
    return _run(connection, table.select, where / f"{part}0.parquet", options)


def _run(connection: "DuckDBPyConnection", query: str, where: Path, options: str) -> int:
    copy = f"COPY ({query}) TO {quoted(str(where))} ({options})"
    ((rows,),) = connection.execute(copy).fetchall()
    return int(rows)


def _stream(connection: "DuckDBPyConnection", manifest: Manifest, table: Table, file: Path) -> int:
    """Write a table as an Arrow file, batch by batch, and count its rows."""
    import pyarrow as pa  # noqa: PLC0415 — as above

    reader = connection.sql(table.select).to_arrow_reader(BATCH)
    abouts = [{"about": column.about} for column in table.columns]
    fields = [f.with_metadata(about) for f, about in zip(reader.schema, abouts, strict=True)]
    facts = {
        _ARROW_FILE: table.name,
        "about": table.about,
        "position": str(manifest.status.position),
    }
    schema = pa.schema(fields, metadata=facts)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    rows = 0
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, schema, options=options) as out:
        for batch in reader:
            out.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            rows += batch.num_rows
    return rows


def _exported(place: Path, manifest: Manifest, caught_up: CaughtUp) -> Exported:
    files = [path for path in place.rglob("*") if path.is_file()] if place.is_dir() else [place]
    size = sum(file.stat().st_size for file in files)
    return Exported(place, manifest.status.position, manifest.rows, len(files), size, caught_up)
