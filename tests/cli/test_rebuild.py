"""`mind rebuild`: the database is what the log says, and stays whole on the way."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from tests.cli.conftest import MIND, Mind
from tests.commands.eventlog.stores import MAIN, begin, branch, grow

duckdb = pytest.importorskip("duckdb")

COUNT = ("query", "SELECT session, count(*) AS n FROM thoughts GROUP BY 1 ORDER BY 1", "--json")


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process: these tests ask many commands."""
    return within


@pytest.fixture
def store(tmp_path: Path, mind: Mind, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a branch, asked once and grown since."""
    store = tmp_path / "a store"
    store.mkdir()
    with EventLog.create(store) as log:
        begin(log, events=12)
        branch(log, MAIN, 6, "fork")
    monkeypatch.setenv("MIND_STORE", str(store))
    assert mind(*COUNT, MIND_STORE=str(store)).code == 0
    with EventLog(store) as log:
        grow(log, "fork", 3)
    return store


def database(store: Path) -> Path:
    """Where it is."""
    return store / "analytics.duckdb"


def test_it_is_built_anew_and_says_the_same(mind: Mind, store: Path) -> None:
    """Another file with the same answers; how many events it is made of is said."""
    before, answer = database(store).stat().st_ino, mind(*COUNT).data
    done = mind("rebuild")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("Built analytics.duckdb of 16 events in ")
    assert database(store).stat().st_ino != before
    assert (
        mind(*COUNT).data == answer == [{"session": "fork", "n": 3}, {"session": "main", "n": 11}]
    )


def test_verify_finds_what_was_maintained_as_the_log_says(mind: Mind, store: Path) -> None:
    """Caught up again and again, in branches and after a redaction."""
    for _ in range(3):
        with EventLog(store) as log:
            grow(log, MAIN, 2)
        assert mind(*COUNT).code == 0
    told = mind("redact", "4", "--session", "main", "--reason", "private", "--yes")
    assert told.code == 0, told.err
    mind(*COUNT)
    with EventLog(store) as log:
        grow(log, "fork", 1)
    done = mind("rebuild", "--verify")
    assert (done.code, done.out) == (0, ""), done.err
    assert done.err.endswith("What was there said the same, table by table.\n")
    assert mind("rebuild", "--verify", "--json").data["differences"] == []
    assert not list(store.glob("analytics-*"))


def test_verify_finds_what_is_not_as_the_log_says(mind: Mind, store: Path) -> None:
    """Which table, how many rows and one of them; then all is as it should be."""
    answer = mind(*COUNT).data
    with duckdb.connect(str(database(store))) as connection:
        connection.execute("UPDATE base.thoughts SET text = 'for\x1bged' WHERE position = 5")
        connection.execute("DELETE FROM base.thoughts WHERE position = 7")
    done = mind("rebuild", "--verify")
    assert done.code == 1
    assert done.out.startswith("base.thoughts: 2 rows were missing and 1 row should not have been")
    assert "\x1b" not in done.out
    assert "1 table differed" in done.err
    assert mind(*COUNT).data == answer
    assert mind("rebuild", "--verify").code == 0


def test_verify_says_it_where_there_is_nothing_to_compare(mind: Mind, store: Path) -> None:
    """A database that is not there, or can't be read, says neither yes nor no."""
    for damage in (Path.unlink, lambda file: file.write_bytes(b"x" * 9000)):
        damage(database(store))
        done = mind("rebuild", "--verify")
        assert done.code == 0
        assert "nothing to compare" in done.err
        assert "said the same" not in done.err
        damage(database(store))
        assert mind("rebuild", "--verify", "--json").data["differences"] is None


def test_who_reads_the_old_one_goes_on_reading_it(mind: Mind, store: Path) -> None:
    """A notebook never has to let go of it, nor is it in the way."""
    mind(*COUNT)
    with duckdb.connect(str(database(store)), read_only=True) as notebook:
        for words in ((), ("--verify",)):
            assert mind("rebuild", *words).code == 0
            assert notebook.execute("SELECT count(*) FROM events").fetchall() == [(16,)]


def test_it_is_told_to_programs(mind: Mind, store: Path) -> None:
    """Which file, how many events, how long; nothing was compared."""
    told = mind("rebuild", "--json").data
    assert told.pop("seconds") > 0
    assert told == {"file": str(database(store)), "events": 16, "differences": None}


def test_ctrl_c_leaves_a_database_that_is_whole(mind: Mind, store: Path, tmp_path: Path) -> None:
    """The old one or the new one, never a half; nothing lies about."""
    with EventLog(store) as log:
        for _ in range(8):
            grow(log, MAIN, 2000)
    before, answer = database(store).stat().st_ino, mind(*COUNT).data
    child = subprocess.Popen(
        [MIND, "rebuild"],
        env={"MIND_STORE": str(store), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stderr=subprocess.PIPE,
    )
    new = store / "analytics.duckdb.new"
    while not new.exists() and child.poll() is None:
        pass
    child.send_signal(signal.SIGINT)
    _, told = child.communicate()
    if child.returncode:
        assert child.returncode == 130
        assert told == b"Broken off: the database is as it was.\n"
        assert database(store).stat().st_ino == before
    assert not new.exists()
    assert mind(*COUNT).data == answer


def test_without_a_store_it_says_what_to_do(mind: Mind) -> None:
    """One sentence."""
    done = mind("rebuild")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "mind init" in done.err


def test_on_a_store_without_events(mind: Mind, tmp_path: Path) -> None:
    """Nothing is built of nothing, and all the same it is there."""
    store = tmp_path / "empty"
    store.mkdir()
    EventLog.create(store).close()
    done = mind("rebuild", "--verify", "--store", str(store))
    assert done.code == 0
    assert "0 events" in done.err
    asked = mind("query", "SELECT count(*) AS n FROM events", "--json", "--store", str(store))
    assert asked.data == [{"n": 0}]
