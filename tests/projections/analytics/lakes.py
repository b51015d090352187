"""Lakes beside their stores: what they hold, and whether that is what the database holds."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from projections.analytics.schema.describe import quoted

AS_JSON = {"events": ("data",), "configs": ("value", "old")}


def values(connection: duckdb.DuckDBPyConnection, query: str) -> Counter[str]:
    """Rows of a query whatever their order, and whatever the order of their columns."""
    found = connection.execute(query)
    names = [name for name, *_ in found.description or ()]
    return Counter(
        repr(sorted(zip(names, map(_plain, row), strict=True))) for row in found.fetchall()
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def held(connection: duckdb.DuckDBPyConnection, table: str) -> Counter[str]:
    """What the database ``store`` holds in a table, as far as a lake has it; its JSON as text."""
    casts = ", ".join(f"{name}::JSON::VARCHAR AS {name}" for name in AS_JSON.get(table, ()))
    replaced = f" REPLACE ({casts})" if casts else ""
    excluded = " EXCLUDE (embedder, embedding)" if table == "thoughts" else ""
    return values(connection, f"SELECT *{excluded}{replaced} FROM store.{table}")  # noqa: S608 — our names


def manifest_of(lake: Path) -> dict[str, Any]:
    """What a lake says of itself."""
    data: dict[str, Any] = json.loads((lake / "_manifest.json").read_text("utf-8"))
    return data


def files_of(lake: Path, table: str) -> list[str]:
    """The files of a table that count."""
    named = [file["path"] for file in manifest_of(lake)["files"] if file["table"] == table]
    return [str(lake / path) for path in named]


def query_of(files: list[str]) -> str:
    """All rows of files, without what is only in the names of their directories."""
    listed = ", ".join(map(quoted, files))
    return f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false)"  # noqa: S608 — ours


def hashes(lake: Path) -> dict[str, str]:
    """All files of Parquet with what is in them."""
    return {
        str(file.relative_to(lake)): sha256(file.read_bytes()).hexdigest()
        for file in lake.rglob("*.parquet")
    }


def texts_of(lake: Path) -> str:
    """All that can be read in a directory."""
    read = [
        repr(pq.read_table(file, partitioning=None).to_pylist()) for file in lake.rglob("*.parquet")
    ]
    return "\n".join([*read, *(file.read_text("utf-8") for file in lake.glob("[!.]*.*"))])


def check(home: Path, lake: Path) -> dict[str, Any]:
    """Every row of every table is in the lake once, and nothing else, however it is read."""
    told = whole(home, lake)
    on_disk = {str(file.relative_to(lake)) for file in lake.rglob("*.parquet")}
    assert on_disk == {file["path"] for file in (*told["files"], *told["superseded"])}
    assert not (lake / ".mind-export").exists()
    for table in told["tables"]:
        # what somebody finds who does not ask the manifest
        there = [path for path in on_disk if path.startswith(f"{table['name']}/")]
        if table["kind"] == "state":
            newest = max(_generation(path) for path in there)
            there = [path for path in there if _generation(path) == newest]
        assert set(there) == {f["path"] for f in told["files"] if f["table"] == table["name"]}
    return told


def whole(home: Path, lake: Path) -> dict[str, Any]:
    """Every row of every table is once in what the manifest names, and nothing else."""
    told = manifest_of(lake)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {quoted(str(home / 'analytics.duckdb'))} AS store (READ_ONLY)")
        for table in told["tables"]:
            name = table["name"]
            files = [file for file in told["files"] if file["table"] == name]
            kept = held(connection, name)
            assert values(connection, query_of(files_of(lake, name))) == kept, name
            columns = pq.read_schema(lake / files[0]["path"]).names
            assert columns == [column["name"] for column in table["columns"]]
            assert table["rows"] == sum(file["rows"] for file in files) == kept.total()
    for file in told["files"]:
        assert (lake / file["path"]).stat().st_size == file["bytes"]
        assert 1 <= file["first"] <= file["last"] + 1 <= told["store"]["position"] + 1
    return told


def _generation(path: str) -> int:
    return int(path.split("/")[1].removeprefix("generation="))
