"""The database itself refuses what would change history, whoever asks."""

import sqlite3
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from tests.commands.eventlog.stores import MAIN, begin, branch, grow, raw

INSERT = (
    "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
    " VALUES (?, ?, ?, x'00')"
)


@pytest.fixture
def store(log: EventLog, tmp_path: Path) -> Path:
    """``main`` of 6 events, and ``fork`` of 2 that branches off behind the 4th."""
    begin(log, events=6)
    branch(log, MAIN, 4, "fork")
    grow(log, "fork", 1)
    return tmp_path


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE stored_events SET state=x'00' WHERE originator_version=3", "never change"),
        ("UPDATE stored_events SET topic='x'", "never change"),
        ("UPDATE stored_events SET originator_version=originator_version+9", "never change"),
        ("UPDATE stored_events SET rowid=rowid+100", "never change"),
        ("DELETE FROM stored_events WHERE originator_version=6", "never deleted"),
        ("DELETE FROM stored_events", "never deleted"),
    ],
)
def test_what_happened_stays(store: Path, statement: str, why: str) -> None:
    """No row can be changed or deleted, not even the newest."""
    with raw(store) as connection, pytest.raises(sqlite3.IntegrityError, match=why):
        connection.execute(statement)


@pytest.mark.parametrize(
    ("session", "version", "kind"),
    [
        ("main", 8, "thought.added"),  # a gap
        ("main", 6, "thought.added"),  # taken
        ("main", 0, "thought.added"),  # below the beginning
        ("main", -3, "thought.added"),
        ("main", 1, "session.started"),  # a second beginning
        ("main", 7, "session.forked"),  # a beginning in the middle
        ("main", 9, "session.forked"),
        ("fork", 4, "thought.added"),  # below the fork point
        ("fork", 3, "session.forked"),  # a second beginning, lower
        ("fork", 1, "session.started"),
        ("fork", 8, "thought.added"),  # a gap
        ("new", 2, "thought.added"),  # no beginning at all
    ],
)
def test_streams_grow_by_one(store: Path, session: str, version: int, kind: str) -> None:
    """Gaps, doubles, second beginnings and writes below a fork point are refused."""
    with raw(store) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(INSERT, (session, version, kind))


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE"])
def test_replacing_is_refused_too(store: Path, verb: str) -> None:
    """``REPLACE`` deletes without asking the delete trigger: it must not get that far."""
    statement = INSERT.replace("INSERT", verb, 1)
    with raw(store) as connection:
        before = connection.execute("SELECT * FROM stored_events").fetchall()
        for version in (1, 3, 6):
            kind = "session.started" if version == 1 else "thought.added"
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement, ("main", version, kind))
        assert connection.execute("SELECT * FROM stored_events").fetchall() == before


def test_a_position_is_never_taken_over(store: Path) -> None:
    """A new event can't replace another one by claiming its rowid."""
    statement = (
        "INSERT OR REPLACE INTO stored_events"
        " (rowid, originator_id, originator_version, topic, state)"
        " VALUES (3, 'main', 7, 'thought.added', x'00')"
    )
    with raw(store) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)


def test_what_fits_is_taken(store: Path) -> None:
    """The guards let through exactly the next event, and beginnings of new streams."""
    with raw(store) as connection:
        for row in (
            ("main", 7, "thought.added"),
            ("fork", 7, "thought.added"),
            ("a", 1, "session.started"),
            ("b", 5, "session.forked"),
        ):
            connection.execute(INSERT, row)
