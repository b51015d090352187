"""What is measured of the analysis in a process of its own: CPU behind the start, and memory."""

import json
import sys
import time
from pathlib import Path

from commands.eventlog import EventLog
from projections.analytics.catchup import build, catch_up
from projections.analytics.database import connect
from projections.analytics.place import FILE
from projections.analytics.schema import EVENTS, TABLES
from tests.benchmarks.memory import peak


def rebuild(store: Path) -> int:
    """Build the database of a store; how many events."""
    with EventLog(store) as log:
        build(log, store / FILE)
        return log.position()


def follow(store: Path) -> int:
    """Catch up; at which position it is then."""
    with EventLog(store) as log:
        found = catch_up(log, store)
        if found.behind or found.why:
            raise SystemExit(f"{found}")
        return log.position()


def dump(store: Path) -> int:
    """Write the tables of a database as Parquet files beside it; how many events."""
    connection = connect(store / FILE, read_only=True)
    for table in _tables(store):
        out = store / f"{table}.parquet"
        columns = "* REPLACE (data::JSON AS data)" if table == EVENTS.name else "*"
        connection.execute(
            f"COPY (SELECT {columns} FROM {table}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)"  # noqa: S608 — names of ours
        )
    return _count(connection)


def load(store: Path) -> int:
    """The floor: DuckDB alone reads the same rows from Parquet into the same types."""
    file = store / "floor.duckdb"
    file.unlink(missing_ok=True)
    connection = connect(file, read_only=False)
    connection.execute("CREATE SCHEMA base")
    for table in _tables(store):
        columns = "* REPLACE (data::JSON::VARIANT AS data)" if table == EVENTS.name else "*"
        connection.execute(
            f"CREATE TABLE {table} AS SELECT {columns} FROM '{store / table}.parquet'"  # noqa: S608 — names of ours
        )
    events = _count(connection)
    connection.close()
    return events


def _tables(store: Path) -> list[str]:
    written = sorted(path.stem for path in store.glob("*.parquet"))
    vectors = ["base.edits", "base.vectors_1"]
    return written or [EVENTS.name, *(table.name for table in TABLES), *vectors]


def _count(connection: object) -> int:
    return int(connection.execute("SELECT count(*) FROM events").fetchall()[0][0])  # type: ignore[attr-defined]


if __name__ == "__main__":
    does = {"rebuild": rebuild, "follow": follow, "dump": dump, "load": load}[sys.argv[1]]
    began = time.process_time()
    events = does(Path(sys.argv[2]))  # imports DuckDB, too
    cpu = (time.process_time() - began) * 1e3
    print(json.dumps({"events": events, "cpu": cpu, "peak": peak()}))
