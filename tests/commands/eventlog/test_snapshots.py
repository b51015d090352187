"""Snapshots: a cache that makes nothing wrong, whatever happens to it."""

import contextlib
import random
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.eventlog.recorder import Mark
from commands.eventlog.snapshots import EVERY, Snapshot, Snapshots
from domain.ids import SessionId
from domain.session import Session
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, pool, raw, thought

FILE = "snapshots.db"


def truth(directory: Path, session: str = MAIN, version: int | None = None) -> Session:
    """The state folded from a copy of the log without any snapshot."""
    bare = directory.parent / f"{directory.name}-bare"
    shutil.rmtree(bare, ignore_errors=True)
    bare.mkdir()
    with raw(directory) as source, raw(bare) as copy:
        source.backup(copy)
    with EventLog(bare, writable=False) as log:
        return log.state(SessionId(session), version)


def kept(directory: Path) -> list[tuple[str, int]]:
    """Session and version of each snapshot in the file."""
    if not (directory / FILE).exists():
        return []
    with raw(directory, FILE) as connection:
        return connection.execute("SELECT session, version FROM states").fetchall()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed store whose session has a snapshot, and events behind it."""
    directory = tmp_path / "store"
    directory.mkdir()
    with EventLog.create(directory) as log:
        begin(log, events=EVERY + 40)
        log.state(MAIN)
        grow(log, MAIN, 30)
    assert kept(directory)
    return directory


def lie(directory: Path, change: Callable[[Session], Session]) -> None:
    """Make each snapshot say something else, with all its sums in order."""
    from commands.eventlog.snapshots import _decoded, _encoded  # noqa: PLC0415

    with raw(directory, FILE) as connection:
        for rowid, state in connection.execute("SELECT rowid, state FROM states").fetchall():
            packed = _encoded(change(_decoded(state)))
            connection.execute(
                "UPDATE states SET state=?, crc=? WHERE rowid=?",
                (packed, zlib.crc32(packed), rowid),
            )


def test_a_snapshot_is_used(store: Path) -> None:
    """A cold state begins at the newest snapshot: what the snapshot says shows through."""
    lie(store, lambda state: state._replace(title="from the snapshot"))
    with EventLog(store) as log:
        assert log.state(MAIN).title == "from the snapshot"
        assert log.state(MAIN).version == EVERY + 70
        assert log.state(MAIN, 3).title == "main", "older moments do not need it"


def test_states_are_the_same_with_and_without(store: Path) -> None:
    """With snapshots or without, cold or warm, each moment has one state."""
    with EventLog(store) as log:
        for version in (1, 2, EVERY - 1, EVERY, EVERY + 1, EVERY + 70, None):
            assert log.state(MAIN, version) == truth(store, MAIN, version)


def test_it_may_be_deleted_at_any_time(store: Path) -> None:
    """Before opening, while open, again and again: nobody notices."""
    expected = truth(store)
    (store / FILE).unlink()
    with EventLog(store) as log:
        assert log.state(MAIN) == expected
        for file in store.glob(f"{FILE}*"):
            file.unlink()
        grow(log, MAIN, EVERY + 1)
        assert log.state(MAIN).version == 2 * EVERY + 71
        assert log.state(MAIN, EVERY + 70) == expected
    assert truth(store).version == 2 * EVERY + 71


def test_states_in_memory_leave_snapshots_too(store: Path) -> None:
    """A long-lived process that only appends and looks keeps its snapshots coming."""
    with EventLog(store) as log:
        for _ in range(5):
            grow(log, MAIN, EVERY // 2)
            log.state(MAIN)
    versions = [version for _, version in kept(store)]
    assert len(versions) >= 3
    assert max(versions) > 2 * EVERY


def test_the_history_of_another_store_is_not_believed(store: Path, tmp_path: Path) -> None:
    """The snapshots of a store with the same names and versions are passed over."""
    other = tmp_path / "other"
    other.mkdir()
    with EventLog.create(other) as log:
        begin(log, events=EVERY + 40, tag="foreign")
        log.state(MAIN)
    assert kept(other) == kept(store)
    shutil.copy(other / FILE, store / FILE)
    with EventLog(store) as log:
        assert log.state(MAIN) == truth(store)
        assert not [text for text in pool(log, MAIN) if "foreign" in text]


def test_a_foreign_snapshot_is_replaced(store: Path, tmp_path: Path) -> None:
    """A snapshot that is not believed makes room for a true one, or every start stays slow."""
    other = tmp_path / "other"
    other.mkdir()
    with EventLog.create(other) as log:
        begin(log, events=EVERY + 40, tag="foreign")
        log.state(MAIN)
    shutil.copy(other / FILE, store / FILE)
    with EventLog(store) as log:
        log.state(MAIN)
    lie(store, lambda state: state._replace(title="from the snapshot"))
    with EventLog(store) as log:
        assert log.state(MAIN).title == "from the snapshot"


CORRUPTIONS: dict[str, str] = {
    "no blob": "UPDATE states SET state=x''",
    "a cut blob": "UPDATE states SET state=substr(state, 1, 40)",
    "a wrong sum": "UPDATE states SET crc=crc+1",
    "a wrong hash": "UPDATE states SET hash=zeroblob(32)",
    "a short hash": "UPDATE states SET hash=x'00'",
    "a wrong version": "UPDATE states SET version=version-7",
    "text for a blob": "UPDATE states SET state='state', hash='hash'",
    "numbers for all": "UPDATE states SET state=1, hash=2, crc='three'",
    "another shape": "UPDATE states SET shape=shape+1, state=x'00'",
    "another table": "ALTER TABLE states RENAME COLUMN hash TO digest",
    "no table": "DROP TABLE states",
    "a view": "DROP TABLE states; CREATE VIEW states AS SELECT 1 AS session",
}


@pytest.mark.parametrize("how", CORRUPTIONS)
def test_corrupt_rows_are_passed_over(store: Path, how: str) -> None:
    """Whatever stands in a row, the state is the true one."""
    with raw(store, FILE) as connection:
        connection.executescript(CORRUPTIONS[how])
    with EventLog(store) as log:
        assert log.state(MAIN) == truth(store)
        grow(log, MAIN, EVERY)
        assert log.state(MAIN).version == 2 * EVERY + 70


def test_a_sum_over_nonsense(store: Path) -> None:
    """A blob that is whole, but holds no state, is passed over."""
    for nonsense in (b"", b"\x00" * 9, zlib.compress(b"\xc1"), zlib.compress(b"\x93\x01\x02\x03")):
        with raw(store, FILE) as connection:
            connection.execute("UPDATE states SET state=?, crc=?", (nonsense, zlib.crc32(nonsense)))
        with EventLog(store) as log:
            assert log.state(MAIN) == truth(store)


@pytest.mark.parametrize("what", ["empty", "text", "zeros", "a directory", "half", "locked"])
def test_a_file_that_is_no_database(store: Path, what: str) -> None:
    """Whatever lies in its place, nothing is wrong and nothing is said."""
    expected, file = truth(store), store / FILE
    whole = file.read_bytes()
    for leftover in store.glob(f"{FILE}*"):
        leftover.unlink()
    match what:
        case "empty":
            file.touch()
        case "text":
            file.write_text("This is not a database, and it never was one. " * 100)
        case "zeros":
            file.write_bytes(bytes(8192))
        case "a directory":
            file.mkdir()
        case "half":
            file.write_bytes(whole[: len(whole) // 2])
        case _:
            file.write_bytes(whole)
    if what == "locked":
        with raw(store, FILE) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            with EventLog(store) as log:
                assert log.state(MAIN) == expected
            holder.rollback()
        return
    with EventLog(store) as log:
        assert log.state(MAIN) == expected
        grow(log, MAIN, EVERY)
        assert log.state(MAIN).version == 2 * EVERY + 70


@pytest.mark.parametrize("seed", range(20))
def test_a_torn_file_never_lies(store: Path, seed: int) -> None:
    """Random bytes at random places of the cache: the state is the true one, without an error."""
    chance = random.Random(seed)  # noqa: S311 — repeatable
    content = bytearray((store / FILE).read_bytes())
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(100, len(content))
        length = chance.choice((1, 4, 64, 4096))
        content[at : at + length] = chance.randbytes(len(content[at : at + length]))
    (store / FILE).write_bytes(content)
    with EventLog(store) as log:
        assert log.state(MAIN) == truth(store)


def test_a_parents_snapshot_serves_its_forks(store: Path) -> None:
    """A fork starts from the snapshot of its parent, and remains itself."""
    with EventLog(store) as log:
        branch(log, MAIN, EVERY + 50, "a")
        grow(log, "a", 3)
        branch(log, "a", EVERY + 52, "b")
        branch(log, MAIN, 5, "early")
        expected = {name: truth(store, name) for name in ("a", "b", "early")}
    lie(store, lambda state: state._replace(title="from the snapshot"))
    with EventLog(store) as log:
        for name, right in expected.items():
            state = log.state(SessionId(name))
            old = name == "early"
            assert state.title == ("main" if old else "from the snapshot")
            assert state == (right if old else right._replace(title="from the snapshot"))
            assert state.id == name


def test_a_fork_never_gets_what_its_parent_did_later(store: Path) -> None:
    """Snapshots of the parent above the fork point are out of bounds."""
    with EventLog(store) as log:
        branch(log, MAIN, EVERY - 3, "a")
        grow(log, "a", 10, tag="own")
        expected = truth(store, "a")
    with EventLog(store) as log:
        assert log.state(SessionId("a")) == expected
        assert pool(log, "a")[-1] == f"own{EVERY + 8}"


def test_who_may_not_write_writes_none(store: Path) -> None:
    """A store opened for reading gets no snapshot, no journal, no file at all."""
    (store / FILE).unlink()
    before = {file.name: file.read_bytes() for file in store.iterdir()}
    with EventLog(store, writable=False) as log:
        assert log.state(MAIN).version == EVERY + 70
        assert not [f for verdict in log.verify() for f in verdict.findings]
    assert {file.name: file.read_bytes() for file in store.iterdir()} == before


def test_a_busy_cache_does_not_hold_up_a_wish(store: Path) -> None:
    """While another process sits on the cache, an append takes seconds at most, not a timeout."""
    with raw(store, FILE) as holder, EventLog(store) as log:
        log.state(MAIN)
        holder.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        for n in range(4):
            head = log.head(MAIN).version
            log.append(MAIN, head, draw(*[thought(f"{n}")] * EVERY, wish=head))
            log.state(MAIN)
        assert time.monotonic() - began < 10
        holder.rollback()


def test_nothing_is_kept_of_short_sessions(tmp_path: Path) -> None:
    """What folds in no time is not worth a snapshot."""
    with EventLog.create(tmp_path) as log:
        begin(log, events=EVERY - 1)
        log.state(MAIN)
    with contextlib.suppress(sqlite3.OperationalError):  # not even a table
        assert kept(tmp_path) == []


def test_a_redaction_in_one_part_leaves_what_is_kept_of_others(store: Path, tmp_path: Path) -> None:
    """Each part has a mark of its own; under any other one, nothing of it is believed or stays."""
    snapshot = Snapshot(truth(store), b"h" * 32)
    one, other, later = Mark("a", b"1"), Mark("b", b"1"), Mark("a", b"2")
    kept = Snapshots(tmp_path / "kept.db", writable=True)
    with contextlib.closing(kept):
        kept.save(MAIN, [snapshot], one)
        kept.save(SessionId("far"), [snapshot], other)
        version = snapshot.state.version
        assert kept.newest([(MAIN, 0, version)], later) is None
        assert list(kept.kept(MAIN, one)) == []
        assert [found for found, _ in kept.kept(SessionId("far"), other)] == [version]
