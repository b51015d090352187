"""The whole history as files: where they may be written, what breaks off, and Arrow."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands.eventlog import EventLog
from domain.errors import BadSetting, Broken, Refused
from domain.ids import SessionId
from domain.recorded import BEGINNING
from projections.analytics.catchup import catch_up
from projections.analytics.files import arrow
from projections.analytics.files.arrow import Exported, export_arrow
from projections.analytics.files.lake import Added, export_parquet
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
from tests.projections.analytics.lakes import AS_JSON, check, files_of, manifest_of, values

DAY = 86_400_000_000
NASTY = "a\0b\x1b[31m \"q\" 'p' \\ |\r\n\t\u202e😀\ufeff, é{i}%2F=;--"
OTHER = {"embedding": vector(0.6, 0.0, 0.8), "embedding_model": "o'ther|model", "dimension": 3}
EXPORTS: list[Callable[..., Exported | Added]] = [export_parquet, export_arrow]
NAMES = ["parquet", "arrow"]


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


def _arrow(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as source:
        return pa.ipc.open_file(source).read_all()


# what is in it


def test_arrow_holds_what_the_database_holds(store: Store, tmp_path: Path) -> None:
    """Every row of every table and view, and what each column means."""
    done = export_arrow(store.log, store.home, tmp_path / "tables")
    with duckdb.connect() as connection:
        file = quoted(str(store.home / "analytics.duckdb"))
        connection.execute(f"ATTACH {file} AS store (READ_ONLY)")
        for table, rows in done.rows.items():
            read = _arrow(done.place / f"{table}.arrow")
            connection.register("read", read)
            texts = ", ".join(f"{name}::JSON::VARCHAR AS {name}" for name in AS_JSON.get(table, ()))
            query = f"SELECT *{f' REPLACE ({texts})' if texts else ''} FROM store.{table}"  # noqa: S608 — ours
            kept = values(connection, query)
            assert values(connection, "SELECT * FROM read") == kept, table
            assert kept.total() == rows
            assert all(field.metadata[b"about"] for field in read.schema)
            assert read.schema.metadata[b"position"] == str(done.position).encode()
    told = json.loads((done.place / "_schema.json").read_text("utf-8"))
    position = store.log.position()
    assert told["store"]["position"] == position
    assert told["store"]["hash"] == (store.log.hash_at(position) or b"").hex()
    text = (done.place / "README.md").read_text("utf-8")
    assert all(f"## {table['name']}\n" in text for table in told["tables"])
    kinds = [
        _arrow(done.place / f"thoughts_by_{n}.arrow").schema.field("embedding") for n in (1, 2)
    ]
    assert [kind.type.list_size for kind in kinds] == [2, 3]


def test_a_lake_of_many_branches(store: Store, tmp_path: Path) -> None:
    """The lineage goes along: joined with it, tables give what a fork of a fork sees."""
    done = export_parquet(store.log, store.home, tmp_path / "lake")
    check(store.home, done.place)
    drafts, lineage = (
        f"read_parquet([{', '.join(map(quoted, files_of(done.place, table)))}])"
        for table in ("drafts", "lineage")
    )
    seen = (
        f"SELECT t.* EXCLUDE (day) FROM {drafts} t JOIN {lineage} l ON l.stream = t.session"  # noqa: S608 — ours
        " AND t.version > l.after AND t.version <= l.upto WHERE l.session = 'b/c'"
    )
    with duckdb.connect() as connection:
        found = values(connection, seen)
        file = quoted(str(store.home / "analytics.duckdb"))
        connection.execute(f"ATTACH {file} AS store (READ_ONLY)")
        connection.execute("USE store")
        assert found == values(connection, "SELECT * FROM drafts_of('b/c')")
    assert found.total() == 2


def test_texts_arrive_as_they_were(store: Store, tmp_path: Path) -> None:
    """NUL, escapes, quotes, ends of lines and signs of any script, in columns and in JSON."""
    lake = tmp_path / "lake"
    export_parquet(store.log, store.home, lake, tables=["events", "messages"])
    (messages,) = files_of(lake, "messages")
    assert pq.read_table(messages, partitioning=None)["text"].to_pylist() == [NASTY]
    rows = [
        row
        for file in files_of(lake, "events")
        for row in pq.read_table(file, partitioning=None).to_pylist()
    ]
    data = [json.loads(row["data"]) for row in rows]
    assert next(one["text"] for one in data if one.get("exchange") and "text" in one) == NASTY
    (redacted,) = [row for row in rows if row["redacted"]]
    assert "without a vector" not in redacted["data"]


# where it goes


def test_one_table_in_one_file(store: Store, tmp_path: Path) -> None:
    """It replaces a file that was written so, if it is told to, and no other one ever."""
    file = tmp_path / "m.arrow"
    done = export_arrow(store.log, store.home, file, tables=["messages"])
    assert (done.files, done.rows) == (1, {"messages": 1})
    assert _arrow(file)["text"].to_pylist() == [NASTY]
    with pytest.raises(Refused, match=r"replace it \(--force\)"):
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


def test_arrow_files_are_replaced_only_when_told_to(tmp_path: Path) -> None:
    """As a whole: what the first export held and the second does not is gone."""
    home, place = tmp_path / "store", tmp_path / "tables"
    home.mkdir()
    with EventLog.create(home) as log:
        log.begin(MAIN, BEGINNING, draw(started(), asked()))
        export_arrow(log, home, place, tables=["thoughts", "messages"])
        before = (place / "_schema.json").read_bytes()
        grow(log, MAIN, 3)
        with pytest.raises(Refused, match="--force"):
            export_arrow(log, home, place)
        assert (place / "_schema.json").read_bytes() == before
        done = export_arrow(log, home, place, tables=["thoughts"], force=True)
    assert done.rows == {"thoughts": 3}
    assert not (place / "messages.arrow").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"store", "tables"}


@pytest.mark.parametrize("mine", ["notes.txt", "a/mine.arrow", "_schema.json", "link"])
def test_no_directory_of_somebody_else_is_replaced(store: Store, tmp_path: Path, mine: str) -> None:
    """A single file of somebody else's among Arrow files keeps all of them."""
    place = tmp_path / "tables"
    if mine != "_schema.json":
        export_arrow(store.log, store.home, place, tables=["drafts"])
    (place / mine).parent.mkdir(parents=True, exist_ok=True)
    if mine == "link":
        (place / mine).symlink_to(tmp_path)
    else:
        (place / mine).write_text("[]")
    before = sorted(place.rglob("*"))
    with pytest.raises(Refused, match="no export"):
        export_arrow(store.log, store.home, place, force=True)
    assert sorted(place.rglob("*")) == before


def test_one_kind_of_files_never_takes_the_place_of_another(store: Store, tmp_path: Path) -> None:
    """A lake stays a lake, and Arrow files stay Arrow files."""
    one, other = tmp_path / "lake", tmp_path / "tables"
    export_parquet(store.log, store.home, one, tables=["drafts"])
    export_arrow(store.log, store.home, other, tables=["drafts"])
    with pytest.raises(Refused, match="no export of this kind"):
        export_arrow(store.log, store.home, one, force=True)
    with pytest.raises(Refused, match="no export of this kind"):
        export_parquet(store.log, store.home, other, force=True)
    check(store.home, one)


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
    ],
)
@pytest.mark.parametrize("export", EXPORTS, ids=NAMES)
def test_where_nothing_can_be_written(
    store: Store, tmp_path: Path, export: Callable[..., Any], where: str, why: str
) -> None:
    """It is refused in one sentence, and all stays as it was."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before = sorted(tmp_path.iterdir())
    for force in (False, True):
        with pytest.raises(Refused, match=why):
            export(store.log, store.home, tmp_path / where, force=force)
    assert sorted(tmp_path.iterdir()) == before
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["x"]


def test_where_you_are(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lake can grow there; a directory that would be replaced has to be somewhere else."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match="where you are"):
        export_arrow(store.log, store.home, Path())
    export_parquet(store.log, store.home, Path(), tables=["drafts"])
    check(store.home, tmp_path)


@pytest.mark.parametrize("export", EXPORTS, ids=NAMES)
def test_the_store_is_no_place_for_an_export(
    store: Store, tmp_path: Path, export: Callable[..., Any]
) -> None:
    """Neither itself, nor anything in it, nor by another name, nor around it."""
    (tmp_path / "other").symlink_to(store.home)
    before = sorted(store.home.iterdir())
    for where in (store.home, store.home / "lake", tmp_path / "other", tmp_path / "other" / "x"):
        with pytest.raises(Refused, match="in the store"):
            export(store.log, store.home, where, force=True)
    with pytest.raises(Refused, match="in the store"):
        export_arrow(store.log, store.home, store.home / "m.arrow", tables=["events"], force=True)
    with pytest.raises(Refused, match="no export"):
        export(store.log, store.home, store.home.parent, force=True)
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
    assert manifest_of(tmp_path / "elsewhere")["chosen"] == ["drafts"]


# what breaks off


def test_who_has_the_database_open_is_not_in_the_way(store: Store, tmp_path: Path) -> None:
    """Neither a reader of this process with other settings, nor one that stays for long."""
    file = str(store.home / "analytics.duckdb")
    settings: dict[str, Any] = {"enable_external_access": False, "threads": 1}
    with duckdb.connect(file, read_only=True, config=settings) as reader:
        done = export_parquet(store.log, store.home, tmp_path / "lake", tables=["events"])
        (count,) = reader.execute("SELECT count(*) FROM events").fetchall()[0]
        assert done.rows["events"] == count


def test_a_damaged_database_leaves_nothing(tmp_path: Path) -> None:
    """What DuckDB can't read is said, and nothing is at the place; an older lake is as it was."""
    home, lake = tmp_path / "store", tmp_path / "lake"
    home.mkdir()
    with EventLog.create(home) as log:
        log.begin(MAIN, BEGINNING, draw(started()))
        export_parquet(log, home, lake, tables=["events", "thoughts", "interventions"])
        before = sorted(lake.rglob("*"))
        texts = [thought(os.urandom(20_000).hex()) for _ in range(60)]
        log.append(MAIN, 1, draw(*texts, wish=1))
        file = catch_up(log, home).file
        content = bytearray(file.read_bytes())
        quarter = len(content) // 4
        content[quarter : quarter + 200_000] = bytes(200_000)
        file.write_bytes(content)
        for place in (lake, tmp_path / "new"):
            with pytest.raises(Broken, match="could not be written"):
                export_parquet(log, home, place)
        with pytest.raises(Broken, match="could not be written"):
            export_arrow(log, home, tmp_path / "tables")
    assert sorted(lake.rglob("*")) == before
    assert {path.name for path in tmp_path.iterdir()} == {"store", "lake"}


def test_what_does_not_fit_into_memory_goes_to_the_disk(tmp_path: Path) -> None:
    """To the disk of the export, and nothing of that is left behind."""
    settings: dict[str, Any] = {"memory_limit": "40MB", "threads": 2, "temp_directory": ""}
    texts = "SELECT md5(i::VARCHAR) || sha256(i::VARCHAR) FROM range(600_000) t(i)"
    much = f"CREATE TEMP TABLE much AS {texts}"
    with duckdb.connect(config=settings) as connection:
        with pytest.raises(duckdb.OutOfMemoryException):
            connection.execute(much)
        with arrow._placed(connection, tmp_path / "lake", force=False, file=False) as staging:
            connection.execute(much)
            assert any(staging.spill.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]
    assert not any((tmp_path / "lake").iterdir())
