"""The whole history as Arrow files, one for each table.

An export is of one moment: what the database held when it was opened. It is at its place when all
of it is, or not at all, and never takes the place of anything but an earlier export.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import BadSetting, Refused
from domain.log import Log
from projections.analytics.catchup import CaughtUp, Progress
from projections.analytics.database import Status
from projections.analytics.files import readme
from projections.analytics.files.place import database, in_our_words, outside, status_of
from projections.analytics.files.staging import Staging, placed
from projections.analytics.files.tables import Table, tables_of
from projections.analytics.schema.describe import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA = "_schema.json"
MARK = "logosphere export 1"

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
        log: the truth, which the database is caught up with first.
        store: the directory that it is in.
        target: a directory; or a file, if it is named ``….arrow`` and one table is wanted.
        tables: which; all of them by default.
        force: replace an earlier export.
        progress: told about a long catching up.

    Raises:
        Refused: the place can't be used, no such table, or a file is to hold several tables.
        Broken: the disk is full or fails, or the database is busy.
    """
    single = target.suffix == FILE
    if single and len(tables) != 1:
        raise BadSetting(
            "A file holds one table: name it (--table messages), or name a directory for all."
        )
    place = _usable(target, store, force=force, file=single)
    with database(log, store, place, progress) as (connection, caught_up):
        found, wanted = status_of(connection), tables_of(connection, tables)
        rows: dict[str, int] = {}
        with _placed(connection, place, force=force, file=single) as staging:
            for table in wanted:
                file = staging.new if single else staging.new / f"{table.name}{FILE}"
                rows[table.name] = _stream(connection, table, found.position, file)
            if not single:
                _describe(found, wanted, rows, staging.new)
        files = list(place.iterdir()) if place.is_dir() else [place]
        size = sum(file.stat().st_size for file in files)
        return Exported(place, found.position, rows, len(files), size, caught_up)


def _usable(target: Path, store: Path, *, force: bool, file: bool) -> Path:
    """Where to write, once it is clear that nobody's data is there.

    Raises:
        Refused: it can't be used.
    """
    name, place = str(target), outside(target, store)
    with in_our_words(target):
        if not os.path.lexists(place):
            return place
        if not (place.is_file() if file else place.is_dir()):
            raise Refused(f"{name!r} is there already: choose another name.")
        if not file and Path.cwd().is_relative_to(place):
            raise Refused(f"{name!r} is where you are: choose a directory that is not there yet.")
        if not file and not any(place.iterdir()):
            return place
        if not (_is_arrow(place) if file else _is_export(place)):
            raise Refused(f"{name!r} holds what is no export of this kind: choose another name.")
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


def _is_export(directory: Path) -> bool:
    """Whether a directory holds an earlier export, and nothing else."""
    try:
        data = json.loads((directory / SCHEMA).read_text("utf-8"))
        names = {f"{table['name']}{FILE}" for table in data["tables"]}
        ours = data["made"] == MARK
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return False
    known = names | {SCHEMA, readme.FILE}
    return ours and all(
        path.name in known and path.is_file() and not path.is_symlink()
        for path in directory.iterdir()
    )


@contextmanager
def _placed(
    connection: "DuckDBPyConnection", place: Path, *, force: bool, file: bool
) -> Iterator[Staging]:
    with placed(place, replace=force) as staging:
        if not file:
            staging.new.mkdir()
        connection.execute(f"SET temp_directory = {quoted(str(staging.spill))}")
        yield staging


def _stream(connection: "DuckDBPyConnection", table: Table, position: int, file: Path) -> int:
    """Write a table as an Arrow file, batch by batch, and count its rows."""
    import pyarrow as pa  # noqa: PLC0415 — as above

    reader = connection.sql(table.select).to_arrow_reader(BATCH)
    abouts = [{"about": column.about} for column in table.columns]
    fields = [f.with_metadata(about) for f, about in zip(reader.schema, abouts, strict=True)]
    facts = {_ARROW_FILE: table.name, "about": table.about, "position": str(position)}
    schema = pa.schema(fields, metadata=facts)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    rows = 0
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, schema, options=options) as out:
        for batch in reader:
            out.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            rows += batch.num_rows
    return rows


def _describe(
    found: Status, tables: Sequence[Table], rows: dict[str, int], directory: Path
) -> None:
    """Write down what is in a directory, in it: for programs and for people."""
    data = {
        "made": MARK,
        "store": {"position": found.position, "hash": found.hash.hex()},
        "tables": [
            {**readme.as_data(table, "arrow"), "rows": rows[table.name]} for table in tables
        ],
    }
    text = json.dumps(data, ensure_ascii=False, indent=1)
    (directory / SCHEMA).write_text(text + "\n", encoding="utf-8")
    (directory / readme.FILE).write_text(readme.arrow(tables), encoding="utf-8")
