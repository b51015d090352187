"""A server refuses what would change history, whoever asks it, by whatever program.

As the owner of the tables, without us. What a file refuses is in
tests/commands/eventlog/test_guards.py.
"""

import psycopg
import pytest

from commands.eventlog import EventLog
from tests.commands.eventlog.stores import MAIN, begin, branch, grow
from tests.stores.places import Connection, Site, stored, whole

REFUSED = {"LG001", "LG002", "23505", "23514"}
"""SQLSTATEs of our guards, of what is there twice, and of a number that is none."""

INSERT = "INSERT INTO stored_events (position, originator_id, originator_version, topic, state)"
THIRD = "(SELECT min(position) + 2 FROM stored_events)"
NEXT = "(SELECT max(position) + 1 FROM stored_events)"

CHANGES = (
    "UPDATE stored_events SET state = '\\x00'",
    "UPDATE stored_events SET state = state || '\\x00' WHERE originator_version = 3",
    "UPDATE stored_events SET topic = 'x' WHERE originator_version = 3",
    "UPDATE stored_events SET originator_version = originator_version + 9",
    "UPDATE stored_events SET originator_id = 'x'",
    "UPDATE stored_events SET position = position + 100",
    "UPDATE stored_events SET state = state",
    "DELETE FROM stored_events WHERE originator_id = 'main' AND originator_version = 6",
    "DELETE FROM stored_events",
    "WITH gone AS (DELETE FROM stored_events RETURNING *) SELECT count(*) FROM gone",
    "TRUNCATE stored_events",
    "TRUNCATE stored_events, aliases CASCADE",
    "MERGE INTO stored_events AS e USING store ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO stored_events AS e USING store ON true WHEN MATCHED THEN UPDATE SET topic = 'x'",
    (
        f"{INSERT} VALUES ({THIRD}, 'main', 3, 'x', '')"
        " ON CONFLICT (position) DO UPDATE SET topic = 'x'"
    ),
    (
        f"{INSERT} VALUES ({NEXT}, 'main', 3, 'x', '')"
        " ON CONFLICT (originator_id, originator_version) DO UPDATE SET state = ''"
    ),
)

INSERTS = (
    (NEXT, "main", 8, "thought.added"),  # a gap
    (NEXT, "main", 6, "thought.added"),  # taken
    (NEXT, "main", 0, "thought.added"),  # below the beginning
    (NEXT, "main", -3, "thought.added"),
    (NEXT, "main", 1, "session.started"),  # begins once more
    (NEXT, "main", 7, "session.forked"),  # begins in the middle
    (NEXT, "main", 9, "session.forked"),
    (NEXT, "fork", 4, "thought.added"),  # below its beginning
    (NEXT, "fork", 3, "session.forked"),  # a second beginning, lower
    (NEXT, "fork", 1, "session.started"),
    (NEXT, "fork", 8, "thought.added"),  # a gap
    (NEXT, "new", 2, "thought.added"),  # no beginning at all
    (NEXT, "new", 1, "session.forked"),
    ("0", "new", 1, "session.started"),  # a position before the first
    ("-7", "new", 1, "session.started"),
    ("3", "main", 7, "thought.added"),  # one that is taken
)


def _refuses(owner: Connection, statement: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        owner.execute(statement.encode())
    assert refused.value.sqlstate in REFUSED, (statement, refused.value)


def _family(log: EventLog) -> None:
    begin(log, events=6)
    branch(log, MAIN, 4, "fork")
    grow(log, "fork", 1)


def test_what_happened_stays(served: Site) -> None:
    """No row can be changed or deleted, and nothing comes between those that are there."""
    log = served.create()
    _family(log)
    before = stored(log)
    owner = served.sql()
    for statement in CHANGES:
        _refuses(owner, statement)
    for values in INSERTS:
        position, stream, version, kind = values
        _refuses(owner, f"{INSERT} VALUES ({position}, '{stream}', {version}, '{kind}', '\\x00')")
    assert stored(log) == before
    whole(log)


def test_several_rows_at_once_are_looked_at_one_by_one(served: Site) -> None:
    """What is wrong with any of them is wrong with all; so it is when they are copied in."""
    log = served.create()
    _family(log)
    before, owner = stored(log), served.sql()
    for rows in (
        [("main", 7, "a"), ("main", 9, "a")],
        [("main", 8, "a"), ("main", 7, "a")],  # in another order than that of positions
        [("new", 1, "session.started"), ("new", 5, "session.forked")],
        [("new", 5, "session.forked"), ("new", 1, "session.started")],
        [("new", 5, "session.forked"), ("new", 4, "a")],
    ):
        values = ", ".join(
            f"({NEXT} + {place}, '{stream}', {version}, '{kind}', '\\x00')"
            for place, (stream, version, kind) in enumerate(rows)
        )
        _refuses(owner, f"{INSERT} VALUES {values}")
        into = INSERT.removeprefix("INSERT INTO ")
        last = before[-1][2]
        with pytest.raises(psycopg.Error):
            _copied(owner, into, [(last + n, *row, b"\0") for n, row in enumerate(rows, 1)])
    assert stored(log) == before


def _copied(owner: Connection, into: str, rows: list[tuple[object, ...]]) -> None:
    with owner.cursor().copy(f"COPY {into} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def test_nothing_is_below_the_first_position(served: Site) -> None:
    """A follower of an empty store has seen all that there is not."""
    log, owner = served.create(), served.sql()
    for position in (0, -1):
        _refuses(owner, f"{INSERT} VALUES ({position}, 'a', 1, 'session.started', '\\x00')")
    assert log.position() == 0


def test_who_may_only_insert_can_not_talk_the_guards_over(newest: Site) -> None:
    """Functions and operators of one's own in the guards' way are not asked."""
    log = newest.create()
    _family(log)
    schema, owner = newest.place.address.schema, newest.sql()
    # a position above the next one is allowed, so that there is one between
    owner.execute(f"{INSERT} VALUES (50, 'b', 1, 'session.started', '\\x00')".encode())
    before = stored(log)
    for statement in (
        "CREATE SCHEMA evil",
        "CREATE FUNCTION evil.yes(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE FUNCTION evil.no(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
        "CREATE OPERATOR evil.<> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.no)",
        "CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.yes)",
        f"SET search_path = evil, pg_catalog, {schema}",
    ):
        owner.execute(statement.encode())
    insert = INSERT.replace("stored_events", f"{schema}.stored_events", 1)
    for values in ("(20, 'c', 1, 'session.started', '\\x00')", "(60, 'main', 9, 'a', '\\x00')"):
        _refuses(owner, f"{insert} VALUES {values}")
    assert stored(log) == before
