"""kill -9 while the database is caught up or built: nothing twice, nothing missing, for ever."""

import random
import time
from contextlib import closing
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.sessions import start_session
from projections.analytics.catchup import build, catch_up
from projections.analytics.compare import compared
from projections.analytics.database import connect, status
from projections.analytics.place import FILE
from tests.faults.analytics_driver import ANN, MAIN, happen
from tests.faults.rounds import wait_for_writing, working

duckdb = pytest.importorskip("duckdb")


def killed(kind: str, store: Path, chance: random.Random) -> int:
    """Kill a process in the middle of one of its rounds; how far the database had come by then.

    That is at any moment of it, or soon after it has begun to write.
    """
    with working("tests.faults.analytics_driver", kind, store, chance) as worker:
        worker.rounds(chance.randint(0, 2))
        until = time.perf_counter() + chance.random() * 1.1 * worker.lasted
        if chance.random() < 0.5:
            wait_for_writing(store, f"{FILE}.*", 2 * worker.lasted)
            until = time.perf_counter() + chance.random() ** 3 * 0.3 * worker.lasted
        while time.perf_counter() < until:
            pass
    said = worker.said
    assert said
    return max(said[1::2], default=0)


def looked_at(store: Path, acknowledged: int) -> int:
    """Check what lies there after a kill, without mending it; how far it has come."""
    if not (store / FILE).exists():
        assert acknowledged == 0
        return 0
    with closing(connect(store / FILE, read_only=True)) as connection:
        found = status(connection)
        assert found is not None
        (row,) = connection.execute(
            "SELECT count(*), count(DISTINCT position), coalesce(max(position), 0),"
            " count(*) FILTER (kind = 'thought.added'), count(*) FILTER (kind = 'draft.emitted'),"
            " count(*) FILTER (kind = 'mind.invoked'),"
            # a slice may end between an invocation and its thoughts; each first one has a vector
            " count(*) FILTER (kind = 'thought.added' AND data.text::VARCHAR LIKE 'one %')"
            " FROM events"
        ).fetchall()
        assert row[:3] == (found.position,) * 3
        for table, count in zip(
            ("base.thoughts", "base.drafts", "invocations"), row[3:6], strict=True
        ):
            counts = f"SELECT count(*), count(DISTINCT position) FROM {table}"  # noqa: S608 — ours
            assert connection.execute(counts).fetchall() == [(count, count)]
        vectors = connection.execute("SELECT count(*) FROM base.vectors").fetchall()
        assert vectors == [(row[6],)]
        edits = connection.execute("SELECT count(*) FROM base.edits").fetchall()
        assert edits == [(max(0, row[4] - 1),)]
    assert found.position >= acknowledged
    return found.position


def is_torn(file: Path) -> bool:
    """Whether DuckDB finds its own file damaged."""
    if not file.exists():
        return False
    try:
        connect(file, read_only=True).close()
    except duckdb.Error as error:
        if not str(error).startswith("Corrupt database file"):
            raise
        return True
    return False


def mended(store: Path, chance: random.Random, *, sound: bool) -> None:
    """Check that the next question finds all there is, as it would be built at once."""
    with EventLog(store) as log:
        happen(log, chance, 1)
        found = catch_up(log, store)
        assert found.behind == 0
        assert (found.why is None) == sound
        assert looked_at(store, 0) == log.position()
        build(log, store / "whole")
    assert compared(store / FILE, store / "whole") == []
    (store / "whole").unlink()
    assert sorted(f.name for f in store.glob("analytics*")) == [FILE, "analytics.lock"]


def many_kills(kind: str, store: Path, kills: int, seed: int) -> None:
    """So many kills of processes that work on one and the same store.

    DuckDB 2.0 itself tore its file so at one kill in over a thousand; then it is built anew.
    """
    print(f"seed {seed}")
    chance, newest, in_the_middle, torn = random.Random(seed), 0, 0, 0  # noqa: S311 — repeatable
    with EventLog.create(store) as log:
        start_session(log, MAIN, ANN, message="why two tides?")
        happen(log, chance, 40 if kind == "rebuild" else 3)
    for number in range(kills):
        newest = max(newest, killed(kind, store, chance))
        left = {f.name for f in store.glob(f"{FILE}.*")}
        in_the_middle += bool(left)
        if is_torn(store / FILE):
            torn += 1
            mended(store, chance, sound=False)
        newest = looked_at(store, newest)
        if number % 9 == 8:
            mended(store, chance, sound=(store / FILE).exists())
    mended(store, chance, sound=(store / FILE).exists())
    assert in_the_middle, "no kill came in the middle of anything"
    assert torn <= 1, "that is no accident"


@pytest.mark.parametrize("kind", ["catch up", pytest.param("rebuild", marks=pytest.mark.slow)])
def test_some_kills(tmp_path: Path, kind: str) -> None:
    """Rows and position are there together or not at all; the next question finds everything."""
    many_kills(kind, tmp_path, 5, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [10, 11])
@pytest.mark.parametrize("kind", ["catch up", "rebuild"])
def test_60_kills(tmp_path: Path, kind: str, seed: int) -> None:
    """However often."""
    many_kills(kind, tmp_path, 60, seed)
