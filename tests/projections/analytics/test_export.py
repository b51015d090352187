"""The whole history as Parquet and Arrow: other engines find in it what the database holds."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from commands.eventlog import EventLog
from domain.errors import BadSetting, Broken, Refused
from domain.ids import SessionId
from domain.recorded import BEGINNING
from projections.analytics.catchup import catch_up
from projections.analytics.files import tables as export
from projections.analytics.files.tables import Exported, export_arrow, export_parquet
from projections.analytics.schema.describe import quoted
from tests.commands.eventlog.stores import MAIN, NOON, branch, draw, grow
from tests.domain.happened import (
    accepted,
    asked,
    configured,
    drafted,
    invoked,
    noted,
    started,
    thought,
    vector,
    with_vector,
)

DAY = 86_400_000_000
NASTY = "a\0b\x1b[31m \"q\" 'p' \\ |\r\n\t\u202e😀\ufeff, é{i}%2F=;--"
OTHER = {"embedding": vector(0.6, 0.0, 0.8), "embedding_model": "o'ther|model", "dimension": 3}


class Store(NamedTuple):
    """A store with its log, open."""

    home: Path
    log: EventLog


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Forks of forks over three days, vectors of two kinds, texts that are hard to carry."""
    home = tmp_path_factory.mktemp("export") / "it's a store"
    home.mkdir()
    with EventLog.create(home) as log:
        past = [
            started(),
            asked(NASTY),
            invoked(1),
            thought(NASTY, **with_vector(1.0, 0.0)),
            thought("without a vector"),
            drafted(1, NASTY),
            drafted(2, "a better one"),
        ]
        log.begin(MAIN, BEGINNING, draw(*past))
        branch(log, MAIN, 6, "b")
        log.append(MAIN, 7, draw(accepted(2), noted("x" * 5000, 2, 6), at=NOON + DAY, wish=2))
        log.append(SessionId("b"), 7, draw(drafted(2, "another"), accepted(1), at=NOON, wish=3))
        branch(log, "b", 8, "b/c")
        last = (thought("of the other kind", **OTHER), configured("temperature", 1.0, None))
        log.append(SessionId("b/c"), 9, draw(*last, at=NOON + 2 * DAY, wish=4))
        log.begin(SessionId("007"), BEGINNING, draw(started("a number?"), wish=5))
        log.redact({MAIN: [5]}, "it named a person", draw(wish=6))
        catch_up(log, home)
        yield Store(home, log)


def values(connection: duckdb.DuckDBPyConnection, query: str) -> Counter[str]:
    """Rows of a query whatever their order, and whatever the order of their columns."""
    found = connection.execute(query)
    names = [name for name, *_ in found.description or ()]
    rows = found.fetchall()
    return Counter(repr(sorted(zip(names, map(_plain, row), strict=True))) for row in rows)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def held(store: Store, table: str) -> Counter[str]:
    """What the database holds in a table, its JSON as text."""
    with duckdb.connect(str(store.home / "analytics.duckdb"), read_only=True) as connection:
        json_ = {"events": "data", "configs": "value, old"}.get(table, "").split(", ")
        casts = ", ".join(f"{name}::JSON::VARCHAR AS {name}" for name in json_ if name)
        replaced = f" REPLACE ({casts})" if casts else ""
        return values(connection, f"SELECT *{replaced} FROM {table}")  # noqa: S608 — our names


def schema_of(done: Exported) -> dict[str, Any]:
    """What an export says of itself."""
    data: dict[str, Any] = json.loads((done.place / "_schema.json").read_text("utf-8"))
    return data


def parquet_of(done: Exported, table: str) -> str:
    """All of a table, as DuckDB reads it from an export."""
    (by,) = [t["partitioned_by"] for t in schema_of(done)["tables"] if t["name"] == table]
    types = {"session": "{'session': VARCHAR}", "day": "{'day': DATE}"}.get(by)
    hive = f", hive_partitioning = true, hive_types = {types}" if types else ""
    files = [str(file) for file in (done.place / table).rglob("*.parquet")]
    listed = ", ".join(quoted(file) for file in files)
    return f"SELECT * {'EXCLUDE day ' if by == 'day' else ''}FROM read_parquet([{listed}]{hive})"


@pytest.mark.parametrize("by", [None, "session", "day"])
def test_parquet_holds_what_the_database_holds(store: Store, tmp_path: Path, by: Any) -> None:
    """Every row of every table and view, with forks, in any arrangement."""
    done = export_parquet(store.log, store.home, tmp_path / "it's [a] “lake” {i} 100%*", by=by)
    assert done.position == store.log.position()
    assert {"events", "sessions", "lineage", "messages", "drafts", "thoughts"} <= done.rows.keys()
    with duckdb.connect() as connection:
        for table, rows in done.rows.items():
            if by is None or rows:
                kept = held(store, table)
                assert values(connection, parquet_of(done, table)) == kept, table
                assert kept.total() == rows
    assert [path.name for path in tmp_path.iterdir()] == [done.place.name]


@pytest.mark.parametrize("by", ["session", "day"])
def test_parts_are_hive_partitions(store: Store, tmp_path: Path, by: Any) -> None:
    """Each part is one file in a directory whose name any engine understands."""
    done = export_parquet(store.log, store.home, tmp_path / "lake", by=by)
    found = {path.name for path in (done.place / "events").iterdir()}
    if by == "session":
        assert found == {"session=007", "session=b", "session=b%2Fc", "session=main"}
    else:
        assert found == {"day=2025-06-15", "day=2025-06-16", "day=2025-06-17"}
    part = f"part-1-{done.position}-0.parquet"
    for partition in (done.place / "events").iterdir():
        assert [file.name for file in partition.iterdir()] == [part]
    for table in ("sessions", "lineage", "embedders"):
        assert [file.name for file in (done.place / table).iterdir()] == [part]
    hive = ds.partitioning(pa.schema([(by, pa.string())]), flavor="hive")
    read = ds.dataset(done.place / "events", format="parquet", partitioning=hive)
    whole = read.to_table()
    assert whole.num_rows == done.rows["events"]
    if by == "session":
        branch_ = read.to_table(filter=ds.field("session") == "b/c")
        assert Counter(branch_["kind"].to_pylist())["thought.added"] == 1


def test_a_session_that_looks_like_a_number_stays_a_text(store: Store, tmp_path: Path) -> None:
    """Told the type, as README.md says, an engine finds 007 and not 7."""
    done = export_parquet(store.log, store.home, tmp_path / "lake", by="session")
    with duckdb.connect() as connection:
        query = f"SELECT DISTINCT session FROM ({parquet_of(done, 'events')}) ORDER BY ALL"  # noqa: S608 — our names
        assert connection.execute(query).fetchall() == [("007",), ("b",), ("b/c",), ("main",)]
    assert "hive_types = {'session': VARCHAR}" in (done.place / "README.md").read_text("utf-8")


def test_a_branch_can_be_asked_of_the_files(store: Store, tmp_path: Path) -> None:
    """The lineage goes along: joined with it, tables give what a fork of a fork sees."""
    done = export_parquet(store.log, store.home, tmp_path / "lake", by="session")
    seen = (
        f"SELECT t.* FROM ({parquet_of(done, 'drafts')}) t"  # noqa: S608 — our names
        f" JOIN ({parquet_of(done, 'lineage')}) l ON l.stream = t.session"
        " AND t.version > l.after AND t.version <= l.upto WHERE l.session = 'b/c'"
    )
    with duckdb.connect() as connection:
        found = values(connection, seen)
    assert found == held(store, "drafts_of('b/c')")
    assert found.total() == 2


@pytest.mark.parametrize("format_", ["parquet", "arrow"])
def test_vectors_of_two_kinds(store: Store, tmp_path: Path, format_: str) -> None:
    """Each kind is in a table of its own, at its dimension."""
    if format_ == "parquet":
        done = export_parquet(store.log, store.home, tmp_path / "lake")
        names = [f"{done.place}/thoughts_by_{n}/part-1-{done.position}-0.parquet" for n in (1, 2)]
        tables = [pq.read_table(name) for name in names]
    else:
        done = export_arrow(store.log, store.home, tmp_path / "lake")
        tables = [_arrow(done.place / f"thoughts_by_{n}.arrow") for n in (1, 2)]
        kinds = [table.schema.field("embedding").type for table in tables]
        assert [kind.list_size for kind in kinds] == [2, 3]
    assert [len(table["embedding"][0]) for table in tables] == [2, 3]
    assert tables[1]["embedding"].to_pylist() == [pytest.approx([0.6, 0.0, 0.8], abs=1e-3)]
    assert tables[1]["embedder"].to_pylist() == ["o'ther|model"]


def _arrow(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as source:
        return pa.ipc.open_file(source).read_all()


def test_arrow_holds_what_the_database_holds(store: Store, tmp_path: Path) -> None:
    """Every row of every table and view, and what each column means."""
    done = export_arrow(store.log, store.home, tmp_path / "tables")
    with duckdb.connect() as connection:
        for table, rows in done.rows.items():
            read = _arrow(done.place / f"{table}.arrow")
            connection.register("read", read)
            kept = held(store, table)
            assert values(connection, "SELECT * FROM read") == kept, table
            assert kept.total() == rows
            assert all(field.metadata[b"about"] for field in read.schema)
            assert read.schema.metadata[b"position"] == str(done.position).encode()


def test_texts_arrive_as_they_were(store: Store, tmp_path: Path) -> None:
    """NUL, escapes, quotes, ends of lines and signs of any script, in columns and in JSON."""
    done = export_parquet(store.log, store.home, tmp_path / "lake")
    part = f"part-1-{done.position}-0.parquet"
    assert pq.read_table(done.place / "messages" / part)["text"].to_pylist() == [NASTY]
    events = pq.read_table(done.place / "events" / part)
    data = [json.loads(text) for text in events["data"].to_pylist()]
    assert next(one["text"] for one in data if one.get("exchange") and "text" in one) == NASTY
    redacted = [row for row in events.to_pylist() if row["redacted"]]
    assert len(redacted) == 1
    assert "without a vector" not in redacted[0]["data"]


@pytest.mark.parametrize("by", [None, "session", "day"])
def test_what_it_holds_is_written_beside_it(store: Store, tmp_path: Path, by: Any) -> None:
    """For programs and for people: each column with type and meaning, and up to which event."""
    done = export_parquet(store.log, store.home, tmp_path / "lake", by=by)
    told = schema_of(done)
    assert told["store"]["position"] == store.log.position()
    assert told["store"]["hash"] == (store.log.hash_at(store.log.position()) or b"").hex()
    assert told["duckdb"] == duckdb.__version__
    assert told["partition_by"] == by
    text = (done.place / "README.md").read_text("utf-8")
    for table in told["tables"]:
        assert f"## {table['name']}\n" in text
        (file, *_) = sorted((done.place / table["name"]).rglob("*.parquet"))
        stored = set(pq.read_schema(file).names)
        left_out = {table["partitioned_by"]} - {None}
        assert stored == {column["name"] for column in table["columns"]} - left_out
        assert all(column["about"] for column in table["columns"])
    (events,) = [table for table in told["tables"] if table["name"] == "events"]
    (data,) = [column for column in events["columns"] if column["name"] == "data"]
    assert (data["type"], data["stored"]) == ("VARIANT", "VARCHAR, a text of JSON")
    # every line of a table has its three cells, whatever models are called
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {4}


def test_files_are_compressed_with_zstandard(store: Store, tmp_path: Path) -> None:
    """All columns of Parquet are."""
    done = export_parquet(store.log, store.home, tmp_path / "lake")
    (file,) = (done.place / "events").iterdir()
    group = pq.read_metadata(file).row_group(0)
    assert {group.column(n).compression for n in range(group.num_columns)} == {"ZSTD"}


@pytest.mark.parametrize("by", [None, "session", "day"])
def test_an_empty_store(tmp_path: Path, by: Any) -> None:
    """Every table is there with its columns, so that a program for a full one runs."""
    home = tmp_path / "store"
    home.mkdir()
    with EventLog.create(home) as log:
        done = export_parquet(log, home, tmp_path / "lake", by=by)
        arrow = export_arrow(log, home, tmp_path / "tables")
    assert (done.position, sum(done.rows.values())) == (0, 0)
    for table in done.rows:
        read = pq.read_table(done.place / table / "part-1-0-0.parquet")
        assert read.num_rows == 0
        names = _arrow(arrow.place / f"{table}.arrow").schema.names
        assert read.schema.names == names


def test_only_some_tables(store: Store, tmp_path: Path) -> None:
    """Those that are named, once; an unknown name is told with those that there are."""
    wanted = ["drafts", "messages", "drafts"]
    done = export_parquet(store.log, store.home, tmp_path / "lake", tables=wanted)
    assert done.rows.keys() == {"drafts", "messages"}
    assert {path.name for path in done.place.iterdir()} == {*done.rows, "README.md", "_schema.json"}
    for name in ("draft", "base.drafts", "drafts; DROP TABLE x", '"', "duckdb_settings"):
        with pytest.raises(BadSetting, match="acceptances"):
            export_parquet(store.log, store.home, tmp_path / "no", tables=[name])
    assert not (tmp_path / "no").exists()


def test_one_table_in_one_file(store: Store, tmp_path: Path) -> None:
    """It replaces a file that was written so, if it is told to, and no other one ever."""
    file = tmp_path / "m.arrow"
    done = export_arrow(store.log, store.home, file, tables=["messages"])
    assert (done.files, done.rows) == (1, {"messages": 1})
    assert _arrow(file)["text"].to_pylist() == [NASTY]
    with pytest.raises(Refused, match="there already"):
        export_arrow(store.log, store.home, file, tables=["drafts"])
    export_arrow(store.log, store.home, file, tables=["drafts"], force=True)
    assert _arrow(file).num_rows == 4 - 1
    for mine in (b"my only copy", b""):
        file.write_bytes(mine)
        with pytest.raises(Refused, match="no export"):
            export_arrow(store.log, store.home, file, tables=["drafts"], force=True)
        assert file.read_bytes() == mine
    for tables in ([], ["drafts", "messages"]):
        with pytest.raises(BadSetting, match="one table"):
            export_arrow(store.log, store.home, tmp_path / "x.arrow", tables=tables)
    assert [path.name for path in tmp_path.iterdir()] == ["m.arrow"]


def test_an_earlier_export_is_replaced_only_when_told_to(tmp_path: Path) -> None:
    """As a whole: what the first held and the second does not is gone."""
    home, lake = tmp_path / "store", tmp_path / "lake"
    home.mkdir()
    with EventLog.create(home) as log:
        log.begin(MAIN, BEGINNING, draw(started(), asked()))
        export_parquet(log, home, lake, by="day")
        before = (lake / "_schema.json").read_bytes()
        grow(log, MAIN, 3)
        with pytest.raises(Refused, match="--force"):
            export_parquet(log, home, lake)
        assert (lake / "_schema.json").read_bytes() == before
        done = export_parquet(log, home, lake, by="session", force=True)
        assert done.rows["thoughts"] == 3
        assert {path.name for path in (lake / "messages").iterdir()} == {"session=main"}
        export_arrow(log, home, lake, force=True)
        assert not (lake / "messages").exists()
        export_parquet(log, home, lake, force=True)
        assert not (lake / "messages.arrow").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"store", "lake"}


@pytest.mark.parametrize(
    "mine", ["notes.txt", "messages/mine.parquet", "_schema.json", "messages/day=x/y/part.parquet"]
)
def test_nothing_but_an_export_is_ever_replaced(store: Store, tmp_path: Path, mine: str) -> None:
    """A single file of somebody else's in a directory keeps all of it."""
    lake = tmp_path / "lake"
    if mine != "_schema.json":
        export_parquet(store.log, store.home, lake)
    (lake / mine).parent.mkdir(parents=True, exist_ok=True)
    (lake / mine).write_text("[]")
    before = sorted(lake.rglob("*"))
    with pytest.raises(Refused, match="no export"):
        export_parquet(store.log, store.home, lake, force=True)
    assert sorted(lake.rglob("*")) == before


def test_a_link_in_an_export_is_not_followed(store: Store, tmp_path: Path) -> None:
    """It is not ours, so nothing is replaced; what it leads to stays."""
    lake, mine = tmp_path / "lake", tmp_path / "mine"
    mine.mkdir()
    (mine / "part-1-1-0.parquet").write_text("my only copy")
    export_parquet(store.log, store.home, lake, tables=["drafts"])
    (lake / "drafts" / "day=1").symlink_to(mine)
    with pytest.raises(Refused, match="no export"):
        export_parquet(store.log, store.home, lake, force=True)
    assert (mine / "part-1-1-0.parquet").read_text() == "my only copy"


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("file", "there already"),
        ("full", "no export"),
        ("nowhere/lake", "make it first"),
        ("file/lake", "make it first"),
        ("x" * 300, "can't be written"),
        ("\udcff", "choose another name"),
        ("loop/lake", "choose another"),
        (".", "where you are"),
    ],
)
def test_where_nothing_can_be_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, why: str
) -> None:
    """It is refused in one sentence, and all stays as it was."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    here = tmp_path / "here"
    here.mkdir()
    if where == ".":
        monkeypatch.chdir(here)
    before = sorted(tmp_path.iterdir())
    for force in (False, True):
        with pytest.raises(Refused, match=why):
            export_parquet(
                store.log, store.home, here if where == "." else tmp_path / where, force=force
            )
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "full" / "x").read_text() == "mine"


def test_the_store_is_no_place_for_an_export(store: Store, tmp_path: Path) -> None:
    """Neither itself, nor anything in it, nor by another name, nor around it."""
    (tmp_path / "other").symlink_to(store.home)
    before = sorted(store.home.iterdir())
    for where in (store.home, store.home / "lake", tmp_path / "other", tmp_path / "other" / "x"):
        with pytest.raises(Refused, match="in the store"):
            export_parquet(store.log, store.home, where, force=True)
        with pytest.raises(Refused, match="in the store"):
            export_arrow(store.log, store.home, where / "m.arrow", tables=["events"], force=True)
    with pytest.raises(Refused, match="no export"):
        export_parquet(store.log, store.home, store.home.parent, force=True)
    assert sorted(store.home.iterdir()) == before


def test_an_empty_directory_and_a_link_to_one(store: Store, tmp_path: Path) -> None:
    """Both can be written to; the link stays one."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("empty", "link"):
        export_parquet(store.log, store.home, tmp_path / name, tables=["drafts"])
        assert (tmp_path / name / "drafts").is_dir()
    assert (tmp_path / "link").is_symlink()


def test_a_name_that_is_no_path(tmp_path: Path) -> None:
    """Names are checked before they become directories, whoever let them into the log."""
    home = tmp_path / "store"
    home.mkdir()
    with EventLog.create(home) as log:
        log.begin(SessionId("../../etc"), BEGINNING, draw(started()))
        with pytest.raises(Refused, match="partition by day"):
            export_parquet(log, home, tmp_path / "lake", by="session")
        done = export_parquet(log, home, tmp_path / "lake", by="day")
    assert done.rows["sessions"] == 1
    assert {path.name for path in tmp_path.iterdir()} == {"store", "lake"}


def test_too_many_parts(store: Store, tmp_path: Path) -> None:
    """More directories than an engine likes to open are refused, with what to do instead."""
    with pytest.raises(Refused, match=r"4 sessions.*by day"):
        export_parquet(store.log, store.home, tmp_path / "lake", by="session", most_parts=3)
    export_parquet(store.log, store.home, tmp_path / "lake", by="day", most_parts=3)
    with pytest.raises(Refused, match=r"3 days.*not at all"):
        export_parquet(store.log, store.home, tmp_path / "lake", by="day", most_parts=2, force=True)


def test_who_has_the_database_open_is_not_in_the_way(store: Store, tmp_path: Path) -> None:
    """Neither a reader of this process with other settings, nor one that stays for long."""
    file = str(store.home / "analytics.duckdb")
    settings: dict[str, Any] = {"enable_external_access": False, "threads": 1}
    with duckdb.connect(file, read_only=True, config=settings) as reader:
        done = export_parquet(store.log, store.home, tmp_path / "lake")
        (count,) = reader.execute("SELECT count(*) FROM events").fetchall()[0]
        assert done.rows["events"] == count


def test_a_damaged_database_leaves_nothing(tmp_path: Path) -> None:
    """What DuckDB can't read is said, and nothing is at the place."""
    home = tmp_path / "store"
    home.mkdir()
    with EventLog.create(home) as log:
        texts = [thought(os.urandom(20_000).hex()) for _ in range(60)]
        log.begin(MAIN, BEGINNING, draw(started(), *texts))
        file = catch_up(log, home).file
        content = bytearray(file.read_bytes())
        quarter = len(content) // 4
        content[quarter : quarter + 200_000] = bytes(200_000)
        file.write_bytes(content)
        with pytest.raises(Broken, match="could not be written"):
            export_parquet(log, home, tmp_path / "lake")
    assert {path.name for path in tmp_path.iterdir()} == {"store"}


def test_what_does_not_fit_into_memory_goes_to_the_disk(tmp_path: Path) -> None:
    """To the disk of the export, and nothing of that is left behind."""
    settings: dict[str, Any] = {"memory_limit": "40MB", "threads": 2, "temp_directory": ""}
    texts = "SELECT md5(i::VARCHAR) || sha256(i::VARCHAR) FROM range(600_000) t(i)"
    much = f"CREATE TEMP TABLE much AS {texts}"
    with duckdb.connect(config=settings) as connection:
        with pytest.raises(duckdb.OutOfMemoryException):
            connection.execute(much)
        with export._placed(connection, tmp_path / "lake", force=False) as staging:
            connection.execute(much)
            assert any(staging.spill.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]
    assert not any((tmp_path / "lake").iterdir())
