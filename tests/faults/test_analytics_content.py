"""What the database holds of odd events, and what it no longer holds when it was redacted."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import msgpack
import pytest

from commands.eventlog import EventLog
from commands.redaction import redact_events
from domain.errors import NewerSchema
from projections.analytics.catchup import catch_up
from projections.analytics.database import connect
from projections.analytics.place import FILE, alone, forget
from tests.commands.eventlog.stores import NOON, draw, grow, thought, unguarded
from tests.faults.analytics_driver import ANN, MAIN
from tests.faults.analytics_stores import asked, counted, store, template
from tests.faults.machinery import House

duckdb = pytest.importorskip("duckdb")
__all__ = ["store", "template"]
CONFIDED = "the patient is called Melchior Vandersteen"


# what is written


def behind_the_back(store: Path, kind: str, schema: int = 1, **data: Any) -> None:
    """Write an event as it is, in the place of the newest one."""
    with unguarded(store) as connection:
        (newest,) = connection.execute("SELECT max(rowid) FROM stored_events").fetchall()
        state = connection.execute(
            "SELECT state FROM stored_events WHERE rowid = ?", newest
        ).fetchall()[0][0]
        envelope = msgpack.unpackb(state[32:]) | {"schema": schema, "data": data}
        envelope |= data.pop("envelope", {})
        connection.execute(
            "UPDATE stored_events SET topic = ?, state = ? WHERE rowid = ?",
            (kind, state[:32] + msgpack.packb(envelope, unicode_errors="surrogatepass"), *newest),
        )


def test_events_of_a_newer_version(store: Path) -> None:
    """A kind that nobody knows here stands among the events, with all that it says."""
    with EventLog(store) as log:
        grow(log, MAIN, 1)
    odd = {"text": "nul\0 and \ud800", "numbers": [1, 2.5, float("nan"), 2**64 - 1], "bytes": b"\1"}
    behind_the_back(store, "tide.turned", 7, **odd, inner={"": None, "ü": {"a": [True]}})
    with EventLog(store) as log:
        catch_up(log, store)
    with closing(connect(store / FILE, read_only=True)) as connection:
        (row,) = connection.execute(
            "SELECT kind, data.text::VARCHAR, data.numbers[4]::HUGEINT, data.bytes::VARCHAR,"
            " data.inner FROM events ORDER BY position DESC LIMIT 1"
        ).fetchall()
    assert row[:1] == ("tide.turned",)
    assert row[1].startswith("nul\0 and \ufffd")
    assert row[2:4] == (2**64 - 1, "01")
    assert row[4] == {"": None, "ü": {"a": [True]}}


def test_a_newer_schema(store: Path) -> None:
    """A known kind in a form from the future stops it in a sentence; what was there stays."""
    with EventLog(store) as log:
        grow(log, MAIN, 1)
    before = counted(store)
    behind_the_back(store, "thought.added", 99, text="?", iteration=1, mind="m")
    with EventLog(store) as log, pytest.raises(NewerSchema):
        catch_up(log, store)
    assert counted(store) == before


@pytest.mark.parametrize("at", [0, -1, -(2**62), 253_402_300_800_000_000, 2**62])
def test_impossible_times(store: Path, at: int) -> None:
    """A clock that was wrong by ages stops nothing."""
    with EventLog(store) as log:
        grow(log, MAIN, 1)
    fields = {"text": "then", "iteration": 1, "mind": "m"}
    behind_the_back(store, "thought.added", 1, **fields, envelope={"at": at})
    asked(store)
    with closing(connect(store / FILE, read_only=True)) as connection:
        rows = connection.execute("SELECT year(time) FROM thoughts WHERE text = 'then'").fetchall()
    assert rows == [(1970 if at < 2**50 else 9999,)]


def test_odd_texts(store: Path) -> None:
    """NUL, halves of surrogate pairs, quotes, and ten million characters."""
    odd = ["nul\0inside", "\0", "'\"; DROP TABLE events; --", "\u202e\x1b[2J", "x" * 10_000_000]
    with EventLog(store) as log:
        after = log.head(MAIN).version
        log.append(MAIN, after, draw(*map(thought, odd), wish=77, at=2 * NOON))
        after += len(odd)
        log.append(MAIN, after, draw(thought("to be broken"), wish=78, at=2 * NOON))
    fields = {"text": "half \ud83d of it", "iteration": 1, "mind": "m"}
    behind_the_back(store, "thought.added", 1, **fields)
    asked(store)
    with closing(connect(store / FILE, read_only=True)) as connection:
        rows = connection.execute(
            "SELECT text FROM thoughts_of('main') ORDER BY version DESC LIMIT 6"
        ).fetchall()
        same = connection.execute(
            "SELECT count(*) FROM events e JOIN thoughts t USING (position)"
            " WHERE e.data.text::VARCHAR = t.text AND t.version > $1",
            [after - len(odd)],
        ).fetchall()
    found = [text for (text,) in rows][::-1]
    assert found[:-1] == odd
    assert found[-1].startswith("half \ufffd")
    assert found[-1].endswith(" of it")
    assert same == [(6,)]


# what is taken away


def holders(store: Path, text: str) -> list[str]:
    """Where a text stands beside the log: files by their bytes, the database by all its columns."""
    found = [f.name for f in store.glob("analytics*") if text.encode() in f.read_bytes()]
    for file in store.glob(f"{FILE}*"):
        with closing(connect(file, read_only=True)) as connection:
            columns = connection.execute(
                "SELECT schema_name, table_name, column_name FROM duckdb_columns()"
                " WHERE NOT internal AND schema_name IN ('base', 'main')"
            ).fetchall()
            for schema, table, column in columns:
                query = f'SELECT count(*) FROM {schema}.{table} WHERE "{column}"::VARCHAR LIKE ?'  # noqa: S608
                if connection.execute(query, [f"%{text}%"]).fetchall() != [(0,)]:
                    found.append(f"{file.name}: {schema}.{table}.{column}")
    return found


def say_in_confidence(store: Path) -> None:
    """Something is said that should not have been, and the database has it."""
    with EventLog(store) as log:
        grow(log, MAIN, 1, tag=CONFIDED)
        catch_up(log, store)
    assert holders(store, CONFIDED)
    shutil.copy(store / FILE, store / f"{FILE}.new")  # somebody was killed


def test_what_is_redacted_is_gone(store: Path) -> None:
    """After the next question no file beside the log holds it, and no table."""
    say_in_confidence(store)
    with EventLog(store) as log:
        (said,) = log.pick(MAIN, [log.head(MAIN).version])
        redact_events(log, [said], "In confidence.", ANN)
    found = asked(store)
    assert found.why == "Something was redacted"
    assert holders(store, CONFIDED) == []
    assert sorted(f.name for f in store.glob("analytics*")) == [FILE, "analytics.lock"]


def test_redact_leaves_no_database(store: Path, home: House) -> None:
    """The command takes the database away at once: nobody may ever ask again."""
    assert home.store == store
    say_in_confidence(store)
    with EventLog(home.store) as log:
        version = log.head(MAIN).version
    args = ("redact", str(version), "--reason", "In confidence.", "--yes", "--session", MAIN)
    told_ = home.mind(*args).fine()
    assert "Old bytes" not in told_.err
    assert list(home.store.glob(f"{FILE}*")) == []
    for file in home.store.iterdir():
        assert CONFIDED.encode() not in file.read_bytes(), file.name
    assert asked(home.store).why == f"There was no {FILE}"


@pytest.mark.slow
def test_redact_says_when_it_could_not(store: Path, home: House) -> None:
    """While another process writes a database, old bytes may be left, and that is said."""
    say_in_confidence(store)
    with EventLog(home.store) as log:
        version = log.head(MAIN).version
    args = ("redact", str(version), "--reason", "In confidence.", "--yes", "--session", MAIN)
    with alone(home.store):
        assert "Old bytes" in home.mind(*args).fine().err
    assert asked(home.store).why == "Something was redacted"
    assert holders(home.store, CONFIDED) == []


def test_forgetting_nothing(tmp_path: Path) -> None:
    """Where there is no database, nothing is made either."""
    assert forget(tmp_path)
    assert list(tmp_path.iterdir()) == []
