"""A table of all sessions and the view of one branch agree wherever nothing is inherited."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import redact_events
from commands.sessions import LabelMoment, start_session
from domain.actors import Actor
from domain.events import Caused, DetectorInvoked, Event, ToolUsed
from domain.ids import SessionId
from domain.recorded import Draw
from projections.analytics.catchup import build
from projections.analytics.database import connect
from tests.domain.happened import (
    accepted,
    asked,
    clustered,
    concluded,
    configured,
    drafted,
    edited,
    excluded,
    formed,
    invoked,
    learned,
    merged,
    noted,
    opened,
    present,
    reopened,
    resolved,
    routed,
    run_began,
    run_ended,
    seen,
    signalled,
    split,
    summed_up,
    superseded,
    thought,
    with_vector,
)
from tests.domain.happened import happens as noted_event
from tests.stories.cast import Stage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ONE, OTHER, BRANCH = SessionId("tides"), SessionId("winds"), SessionId("tides/sun")
SECOND = "exc_3_000"
FORK = 12
"""Where the branch begins: behind the first draft, before the run has ended."""

MOVES = "cluster_assignments"
"""Has all moves of a thought, but for a branch only where it is: two questions."""

TOLD = {
    *("acceptances", "clusters", "configs", "draft_views", "drafts", "events", "exchanges"),
    *("interventions", "invocations", "labels", "messages", "notes", "presence", "redactions"),
    *("runs", "samples", "signals", "thoughts"),
    *("artifacts", "artifact_changes", "routes", "compactions", "looks", "tool_uses"),
}
"""What the story here has rows of; the random ones have more."""

ALONE = ("path", "cluster_spans", "vectors", "answers")
"""Are there for branches only."""


def pairs(connection: "DuckDBPyConnection") -> dict[str, str]:
    """All tables and views with a branch view of the same name, and the columns of both."""
    found = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() JOIN ("
        "  SELECT function_name[:-4] AS table_name FROM duckdb_functions()"
        "  WHERE schema_name = 'main' AND function_type = 'table_macro'"
        ") USING (table_name) WHERE schema_name = 'main' ORDER BY table_name, column_index"
    ).fetchall()
    tables: dict[str, list[str]] = {}
    for table, column in found:
        tables.setdefault(table, []).append(column)
    return {table: ", ".join(columns) for table, columns in tables.items() if table != MOVES}


def check_plain(connection: "DuckDBPyConnection", session: str) -> dict[str, int]:
    """Check that each table says of a session that inherits nothing what its branch view says.

    Returns:
        How many rows each has of it.
    """
    counts: dict[str, int] = {}
    for table, columns in pairs(connection).items():
        plain = f"SELECT {columns} FROM {table} WHERE session = $session"  # noqa: S608 — names of ours
        branch = f"SELECT {columns} FROM {table}_of($session)"  # noqa: S608 — as above
        one, other = (
            sorted(map(repr, connection.execute(query, {"session": session}).fetchall()))
            for query in (plain, branch)
        )
        assert one == other, table
        counts[table] = len(one)
    return counts


def happens(stage: Stage, session: SessionId, *events: Event, by: Actor | None = None) -> None:
    """Record events just so."""
    world = stage.world
    draw = Draw([Caused(e) for e in events], world.now(), by or world.actor, world.command_id())
    stage.log.append(session, stage.log.head(session).version, draw)


def tell(stage: Stage, session: SessionId) -> None:
    """Every kind of row: what has ended, and what goes on."""
    begun = stage.log.head(session).version
    happens(stage, session, asked("why two tides?"), present("engaged", "here"), run_began())
    happens(
        stage,
        session,
        invoked(1, based_on=begun + 3),
        *(thought(f"the moon {n}", **with_vector(1.0, n / 8)) for n in range(6)),  # from 5 on
        drafted(1, "the moon pulls the water"),
        signalled("hard", 1),
        by=Actor("mind", "rehearsed"),
    )
    first = begun + 5
    happens(
        stage,
        session,
        invoked(2, based_on=begun + 12, sampled=(first, first + 1)),
        formed(1, first, first + 1),
        formed(2, first + 2, first + 3, first + 4, first + 5),
        split(2, 3, first + 4, first + 5),
        merged(1, 2),
        clustered(first, None),
        drafted(2, "the moon and the sun pull it"),
        run_ended(),
        by=Actor("mind", "rehearsed"),
    )
    happens(stage, session, seen(1, 2), accepted(2), noted("mind the sun", first))
    happens(stage, session, configured("temperature", None, 0.5))
    happens(stage, session, asked("and at night?", SECOND, 3), run_began("run-2"))
    leave(stage, session)


def leave(stage: Stage, session: SessionId) -> None:
    """What the dialogue leaves: artifacts that change, and others that never do."""
    first, one = asked().exchange, stage.log.head(session).version + 1
    happens(
        stage,
        session,
        opened("explain the tides", first),
        learned("the moon pulls", effort=one),
        learned("the moon pushes"),
        noted_event("spring tide", "2026-03-01"),
        edited(one + 1, text="the moon pulls the water"),
        superseded(one + 2, one + 1),
        resolved(one),
        reopened(one),
        resolved(one, "both pull"),
        excluded(one + 3),
        routed(first, one),
        concluded(one, first, before=100, after=5),
        summed_up("tides, mostly", first),
        DetectorInvoked(looked_at=one, exchange=first, turn=1, found_by="rules"),
        ToolUsed(exchange=first, name="search", arguments="tides"),
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions with the same ids in them, and a branch of one that goes on otherwise."""
    directory = tmp_path_factory.mktemp("plain")
    stage = Stage(directory / "store", ONE).begins(None)
    start_session(stage.log, OTHER, stage.world)
    for session in (ONE, OTHER):
        tell(stage, session)
        handle(stage.log, session, LabelMoment(label="here", version=2), stage.world)
        secret = stage.log.newest(session, ["note.added"])
        redact_events(stage.log, [secret] if secret else [], "private", stage.world)
    fork_session(stage.log, ONE, FORK, BRANCH, stage.world)
    happens(stage, BRANCH, accepted(1), run_ended("limit"))
    build(stage.log, directory / "a.duckdb")
    return directory / "a.duckdb"


@pytest.mark.parametrize("session", [ONE, OTHER])
def test_who_inherits_nothing_is_told_the_same_twice(file: Path, session: str) -> None:
    """What a table has of a session that stands alone is what its branch view has, all of it."""
    with closing(connect(file, read_only=True)) as connection:
        counts = check_plain(connection, session)
    assert {table for table, rows in counts.items() if rows} >= TOLD


def test_every_branch_view_is_looked_at_or_has_no_table(file: Path) -> None:
    """Those that are left out have no table of their name, or answer another question."""
    with closing(connect(file, read_only=True)) as connection:
        views = connection.execute(
            "SELECT function_name FROM duckdb_functions()"
            " WHERE NOT internal AND schema_name = 'main' AND function_type = 'table_macro'"
        ).fetchall()
        left = {name for (name,) in views} - {f"{table}_of" for table in pairs(connection)}
    assert left == {f"{name}_of" for name in (*ALONE, MOVES)}


def test_who_inherits_is_told_more(file: Path) -> None:
    """A branch sees what it inherits, so the same check fails there."""
    with (
        closing(connect(file, read_only=True)) as connection,
        pytest.raises(AssertionError, match="configs"),
    ):
        check_plain(connection, BRANCH)
