"""A lake: files that never change, to which each export adds what is new, exactly once."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow.parquet as pq
import pytest

from commands.eventlog import EventLog
from domain.errors import BadSetting, Refused
from domain.ids import SessionId
from domain.recorded import BEGINNING
from projections.analytics.catchup import catch_up
from projections.analytics.files.directory import alone
from projections.analytics.files.lake import Added, export_parquet
from tests.commands.eventlog.stores import MAIN, NOON, begin, branch, draw, grow, unguarded
from tests.domain.happened import (
    accepted,
    asked,
    configured,
    drafted,
    embedded,
    invoked,
    started,
    thought,
    vector,
    with_vector,
)
from tests.projections.analytics.lakes import (
    check,
    files_of,
    hashes,
    manifest_of,
    query_of,
    texts_of,
    values,
)

DAY = 86_400_000_000
FEW = ("events", "sessions", "thoughts", "thoughts_by_1")
HIDDEN = "the name that was told in confidence"
OTHER = {"embedding": vector(0.6, 0.0, 0.8), "embedding_model": "o'ther|model", "dimension": 3}


class Store(NamedTuple):
    """A store that grows, and its lake."""

    home: Path
    log: EventLog
    lake: Path

    def export(self, *tables: str, **how: bool | int) -> Added:
        """Bring a lake up to date; it has some tables of each kind, or these."""
        return self.export_all(*(tables or FEW), **how)

    def export_all(self, *tables: str, **how: bool | int) -> Added:
        """The same with all tables, or just these."""
        done = export_parquet(self.log, self.home, self.lake, tables=tables, **how)  # type: ignore[arg-type]
        assert done.position == self.log.position()
        return done

    def checked(self, *tables: str, **how: bool | int) -> Added:
        """As :meth:`export`, and see whether the lake is the store."""
        done = self.export(*tables, **how)
        check(self.home, self.lake)
        return done


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dialogue that has just begun, with its database."""
    home = tmp_path_factory.mktemp("template") / "it's a store"
    home.mkdir()
    with EventLog.create(home) as log:
        past = [
            started(),
            asked(),
            invoked(1),
            thought("with a vector", **with_vector(1.0, 0.0)),
            thought(HIDDEN),
            drafted(1, f"{HIDDEN} is in the first draft"),
        ]
        log.begin(MAIN, BEGINNING, draw(*past))
        catch_up(log, home)
    return home


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of it, and no lake yet."""
    home = shutil.copytree(template, tmp_path / template.name)
    with EventLog(home) as log:
        yield Store(home, log, tmp_path / "lake [a] {i} 100%*")


def go_on(log: EventLog) -> None:
    """A branch, a better draft a day later, and a vector that a thought waited for."""
    branch(log, MAIN, 5, "b")
    log.append(MAIN, 6, draw(drafted(2, "a better one, of tides"), at=NOON + DAY, wish=2))
    late = embedded(5, 0.0, 1.0)
    log.append(MAIN, 7, draw(late, accepted(2), at=NOON + 2 * DAY, wish=3))


def end(log: EventLog) -> None:
    """A branch of the branch, vectors of another kind, a session of its own."""
    log.append(SessionId("b"), 6, draw(drafted(1, "another one, of tides"), at=NOON, wish=4))
    branch(log, "b", 7, "b/c")
    last = (thought("of the other kind", **OTHER), configured("temperature", 1.0, None))
    log.append(SessionId("b/c"), 8, draw(*last, at=NOON + 2 * DAY, wish=5))
    log.begin(SessionId("007"), BEGINNING, draw(started("a number?"), wish=6))


def test_three_exports(store: Store) -> None:
    """Every row is there once after each; what is there is never touched again."""
    spans: list[tuple[int, int]] = []
    before: dict[str, str] = {}
    for happens in (lambda _: None, go_on, end):
        happens(store.log)
        done = store.export_all()
        check(store.home, store.lake)
        spans.append((done.after, done.position))
        now = hashes(store.lake)
        assert before.items() <= now.items()
        assert done.files == len(now) - len(before)
        assert not done.removed.files
        before = now
    assert spans == [(0, 6), (6, 10), (10, 15)]
    days = {Path(file).parent.name for file in files_of(store.lake, "events")}
    assert days == {"day=2025-06-15", "day=2025-06-16", "day=2025-06-17"}
    late = [Path(file) for file in files_of(store.lake, "thoughts_by_1")]
    assert [file.name[:25] for file in late] == [
        "000000000001-000000000006",
        "000000000007-000000000010",  # the thought was the fifth event, its vector the ninth
    ]
    assert {file.parent.name for file in late} == {"day=2025-06-15"}


def test_nothing_new(store: Store) -> None:
    """Nothing is written then, not even what tells of it."""
    store.export()
    before = {path: path.stat().st_mtime_ns for path in store.lake.rglob("*")}
    done = store.export()
    assert (done.after, done.position, done.files, done.rows) == (6, 6, 0, {})
    after = {path: path.stat().st_mtime_ns for path in store.lake.rglob("*")}
    assert {p: t for p, t in after.items() if p.is_file()} == {
        p: t for p, t in before.items() if p.is_file()
    }


def test_only_states_that_changed_are_written_again(store: Store) -> None:
    """Their earlier generations stay until they are pruned; facts are never written twice."""
    tables = ("drafts", "exchanges", "lineage", "runs", "sessions")
    store.export(*tables)
    go_on(store.log)
    done = store.checked(*tables)
    states = {"exchanges", "lineage", "sessions"}
    assert done.superseded.files == len(states)
    old = {file["table"] for file in manifest_of(store.lake)["superseded"]}
    assert old == states
    assert done.rows.keys() == {"drafts", *states}
    left = store.checked(*tables, prune=True)
    assert (left.files, left.removed, left.superseded.files) == (0, done.superseded, 0)
    assert [path.name for path in (store.lake / "sessions").iterdir()] == ["generation=10"]
    end(store.log)
    assert store.checked(*tables, prune=True).removed.files == len({"lineage", "sessions"})


def test_what_was_redacted_is_gone(store: Store) -> None:
    """All is written anew, under other names, and nothing of the text is left anywhere."""
    tables = ("drafts", "events", "exchanges", "sessions", "thoughts", "thoughts_by_1")
    store.export(*tables)
    go_on(store.log)
    store.export(*tables)
    assert HIDDEN in texts_of(store.lake)
    before = hashes(store.lake)
    store.log.redact({MAIN: [5, 6]}, "it named a person", draw(wish=9))
    done = store.checked(*tables)
    assert (done.redacted, done.after) == (True, 0)
    assert HIDDEN not in texts_of(store.lake)
    assert done.removed.files == len(before)
    assert before.keys().isdisjoint(hashes(store.lake))
    assert done.superseded.files == 0
    grow(store.log, MAIN, 1)
    done = store.export(*tables)
    assert (done.redacted, done.after, done.position) == (False, 12, 13)


class Talkative:
    """A log in which something is redacted when it is asked for the n-th time what was."""

    def __init__(self, log: EventLog, n: int) -> None:
        self._log, self.left = log, n

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def mark(self) -> bytes:
        """What was, by now."""
        self.left -= 1
        if self.left == 0:
            self._log.redact({MAIN: [5]}, "it named a person", draw(wish=9))
        return self._log.mark()


def test_a_redaction_in_the_middle_of_an_export(store: Store) -> None:
    """What was written of it meanwhile never comes to its place."""
    times = Talkative(store.log, 0)
    export_parquet(times, store.home, store.lake, tables=FEW)  # type: ignore[arg-type]
    shutil.rmtree(store.lake)
    (store.home / "analytics.duckdb").unlink()
    log = Talkative(store.log, -times.left)  # the last time: all is written, and not at its place
    done = export_parquet(log, store.home, store.lake, tables=FEW)  # type: ignore[arg-type]
    assert done.position == store.log.position() == 7
    check(store.home, store.lake)
    assert "5" not in {
        row["text"] for row in pq.read_table(*files_of(store.lake, "thoughts")).to_pylist()
    }
    assert manifest_of(store.lake)["store"]["mark"] == store.log.mark().hex()


def test_another_history_is_refused(store: Store, tmp_path: Path) -> None:
    """Of another store, or of this one after an older state of it was restored and went on."""
    shutil.copytree(store.home, tmp_path / "backup")
    go_on(store.log)
    store.export()
    before = hashes(store.lake)
    (tmp_path / "other").mkdir()
    with (
        EventLog(tmp_path / "backup") as restored,
        EventLog.create(tmp_path / "other") as other,
    ):
        begin(other, events=20)
        for went_on in (False, True):
            if went_on:
                grow(restored, MAIN, 9)
            for log, home in ((restored, "backup"), (other, "other")):
                with pytest.raises(Refused, match="another history"):
                    export_parquet(log, tmp_path / home, store.lake)
        assert hashes(store.lake) == before
        done = export_parquet(other, tmp_path / "other", store.lake, force=True)
        assert (done.after, done.position, done.redacted) == (0, 20, False)
        check(tmp_path / "other", store.lake)
    assert before.keys().isdisjoint(hashes(store.lake))


def test_another_version_is_refused(store: Store) -> None:
    """Its tables may have had other columns: all is written anew, if it is told to."""
    store.export()
    file, before = store.lake / "_manifest.json", hashes(store.lake)
    text = file.read_text("utf-8")
    others = (('"layout": "', '"layout": "0'), ("logosphere lake 1", "logosphere lake 2"))
    for old, new in others:
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")
        with pytest.raises(Refused, match=r"another version.*--force"):
            export_parquet(store.log, store.home, store.lake)
        assert hashes(store.lake) == before
    assert store.checked(force=True).after == 0


def test_what_is_no_manifest(store: Store) -> None:
    """Nothing is touched then: who knows what that is."""
    store.export()
    before = hashes(store.lake)
    for text in ("", "[]", "{}", '{"made": "logosphere lake 1"}', '{"made": "logosphere lake"}'):
        (store.lake / "_manifest.json").write_text(text)
        for force in (False, True):
            with pytest.raises(Refused, match=r"choose another|to another directory"):
                export_parquet(store.log, store.home, store.lake, force=force)
        assert hashes(store.lake) == before


def test_positions_with_gaps(store: Store) -> None:
    """They grow, and that is all that matters."""
    go_on(store.log)
    store.log.close()
    with unguarded(store.home) as connection:
        connection.execute("UPDATE stored_events SET rowid = (rowid << 20) + 7 * rowid")
    with EventLog(store.home) as log:
        gappy = store._replace(log=log)
        first = gappy.checked()
        assert first.position == (10 << 20) + 70
        end(log)
        assert gappy.checked().after == first.position
        (big,) = {row[0] for row in _asked(gappy, "max(position)")}
        assert big == log.position() > 10_000_000


def _asked(store: Store, what: str) -> list[tuple[int]]:
    with duckdb.connect() as connection:
        query = f"SELECT {what} FROM ({query_of(files_of(store.lake, 'events'))})"  # noqa: S608 — ours
        return connection.execute(query).fetchall()


def test_buckets_keep_families_together(store: Store) -> None:
    """By the name of the root session, as a program in any language works it out."""
    go_on(store.log)
    store.export(buckets=5)
    end(store.log)
    store.checked()
    wanted = {
        name: int(sha256(root.encode()).hexdigest()[:15], 16) % 5
        for name, root in (("main", "main"), ("b", "main"), ("b/c", "main"), ("007", "007"))
    }
    with duckdb.connect() as connection:
        files = ", ".join(f"'{file}'" for file in files_of(store.lake, "events"))
        found = connection.execute(
            f"SELECT DISTINCT session, bucket FROM read_parquet([{files}])"  # noqa: S608 — ours
        ).fetchall()
    assert dict(found) == wanted
    assert len(set(wanted.values())) == 2
    with pytest.raises(Refused, match="made with --buckets 5"):
        store.export(buckets=4)
    store.export(buckets=4, force=True)
    for wrong in (0, -1, 1025):
        with pytest.raises(BadSetting):
            store.export(buckets=wrong)


def test_only_some_tables(store: Store) -> None:
    """The first export decides; later ones go on with these, and are told of others."""
    store.export_all("drafts", "messages", "drafts", "sessions")
    assert {path.name for path in store.lake.iterdir() if path.is_dir()} == {
        "drafts",
        "messages",
        "sessions",
    }
    go_on(store.log)
    assert store.export_all().rows == {"drafts": 1, "sessions": 2}
    assert store.export_all("messages", "sessions", "drafts").files == 0
    with pytest.raises(Refused, match="holds drafts, messages, sessions"):
        store.export_all("drafts")
    with pytest.raises(BadSetting, match="no table 'draft'"):
        store.export_all("draft", force=True)
    store.export_all(force=True)
    assert {"events", "lineage"} <= {path.name for path in store.lake.iterdir()}


def test_a_store_that_was_empty(tmp_path: Path) -> None:
    """Every table has its columns from the first export on, and its rows when they come."""
    home = tmp_path / "store"
    home.mkdir()
    with EventLog.create(home) as log:
        some = ("events", "runs", "thoughts", "configs")
        store = Store(home, log, tmp_path / "lake")
        done = store.checked(*some)
        assert (done.position, sum(done.rows.values())) == (0, 0)
        before = hashes(store.lake)
        assert store.export(*some).files == 0
        begin(log, events=3)
        store.export_all(*some)
        assert before.items() <= hashes(store.lake).items()
        grow(log, MAIN, 2)
        store.checked(*some)
    empty = store.lake / "thoughts" / "day=1970-01-01"
    assert [pq.read_table(file, partitioning=None).num_rows for file in empty.iterdir()] == [0]


def test_two_at_once(store: Store) -> None:
    """One of them is refused, and the lake is as the other one makes it."""
    store.export()
    before = hashes(store.lake)
    grow(store.log, MAIN, 1)
    with alone(store.lake), pytest.raises(Refused, match="Another export writes"):
        export_parquet(store.log, store.home, store.lake)
    assert hashes(store.lake) == before
    store.checked()
    new = store.lake.with_name("new")
    with alone(new), pytest.raises(Refused, match="Another export writes"):
        export_parquet(store.log, store.home, new)
    assert not new.exists()


def test_what_nothing_names_is_cleared_away(store: Store) -> None:
    """If a kill left it behind; what somebody else put there stays, whatever it is."""
    store.export()
    named = files_of(store.lake, "events")[0]
    left = [
        store.lake / "events/day=2025-06-15/000000000001-000000000099-0123abcd.parquet",
        store.lake / "events/day=2031-01-01/000000000007-000000000099-0123abcd.parquet",
        store.lake / "sessions/generation=99/0123abcd.parquet",
        store.lake / "thoughts/generation=99/0123abcd-1.parquet",
        store.lake / ".mind-export/events/data_0.parquet",
    ]
    mine = [
        store.lake / "notes.txt",
        store.lake / "mine/part.parquet",
        store.lake / "mine/day=2025-06-15/notes.parquet",
    ]
    for file in (*left, *mine):
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(named, file)
    export_parquet(store.log, store.home, store.lake)
    assert not any(file.exists() for file in left)
    assert not (store.lake / "events/day=2031-01-01").exists()
    for file in mine:
        file.unlink()
    store.checked()


def test_a_file_that_was_lost(store: Store) -> None:
    """It is told, not left unsaid; and written anew with all others."""
    store.export()
    grow(store.log, MAIN, 1)
    Path(files_of(store.lake, "events")[0]).unlink()
    with pytest.raises(Refused, match=r"lacks 1 of its files, events/day="):
        export_parquet(store.log, store.home, store.lake)
    store.checked(force=True)


def test_to_write_all_anew_twice(store: Store) -> None:
    """Names are a function of what is in the files: the second time they are the same."""
    store.export()
    before = hashes(store.lake)
    done = store.checked(force=True)
    assert (done.after, done.files, done.removed.files) == (0, len(before), 0)
    assert hashes(store.lake).keys() == before.keys()


def test_thoughts_without_what_may_come_later(store: Store) -> None:
    """Their vectors are in a table of each embedder, in which no thought is twice."""
    go_on(store.log)
    end(store.log)
    store.export("thoughts", "thoughts_by_1", "thoughts_by_2")
    with duckdb.connect() as connection:
        by = [query_of(files_of(store.lake, f"thoughts_by_{n}")) for n in (1, 2)]
        assert [values(connection, query).total() for query in by] == [2, 1]
        asked_ = f"SELECT embedding::FLOAT[3] FROM ({by[1]})"  # noqa: S608 — ours
        ((vector_,),) = connection.execute(asked_).fetchall()
    assert list(vector_) == pytest.approx([0.6, 0.0, 0.8], abs=1e-3)
    (thoughts,) = [t for t in manifest_of(store.lake)["tables"] if t["name"] == "thoughts"]
    assert "thoughts_by_1" in thoughts["about"]


def test_what_it_holds_is_written_beside_it(store: Store) -> None:
    """For programs and for people: each column with type and meaning, and up to which event."""
    end_ = store.export_all(buckets=3)
    told = manifest_of(store.lake)
    position = store.log.position()
    assert end_.position == told["store"]["position"] == position
    assert told["store"]["hash"] == (store.log.hash_at(position) or b"").hex()
    assert (told["duckdb"], told["buckets"]) == (duckdb.__version__, 3)
    text = (store.lake / "README.md").read_text("utf-8")
    for table in told["tables"]:
        assert f"## {table['name']}\n" in text
        names = {column["name"] for column in table["columns"]}
        assert names.isdisjoint({"day", "bucket", "generation"})
        assert all(column["about"] for column in table["columns"])
    (events,) = [table for table in told["tables"] if table["name"] == "events"]
    (data,) = [column for column in events["columns"] if column["name"] == "data"]
    assert (data["type"], data["stored"]) == ("VARIANT", "VARCHAR, a text of JSON")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {4}
    lines = (store.lake / "_manifest.json").read_text("utf-8").splitlines()
    assert all(json.loads(line.rstrip(",")) for line in lines if '{"table"' in line)


def test_files_are_compressed_with_zstandard(store: Store) -> None:
    """All columns of all files are."""
    store.export()
    for file in store.lake.rglob("*.parquet"):
        for group in range(pq.read_metadata(file).num_row_groups):
            row_group = pq.read_metadata(file).row_group(group)
            columns = range(row_group.num_columns)
            assert {row_group.column(n).compression for n in columns} == {"ZSTD"}
