"""Agents, projects and tasks in tables: what the roster and the transcript say, in SQL."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands.agents.wishes import EndWork, Kill, LoseTurn, Note, Undraft, WithdrawPrompt
from commands.redaction import redact_events
from domain.agents import Report
from domain.events import ProjectClosed, TaskClosed, TaskReopened, WorkerKilled, WorkerReported
from domain.recorded import Draw
from domain.streams import agent_stream, project_stream, task_stream
from projections.agents import roster, transcript
from projections.analytics.catchup import build
from projections.analytics.database import connect
from tests.commands.eventlog.stores import draw
from tests.stories.agents import HERE, Office, harbour

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

pytest.importorskip("duckdb")

Row = dict[str, Any]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Agents of two projects that did everything that agents do."""
    office = harbour(tmp_path_factory.mktemp("agents") / "store")
    office.opens("dunes", "grass")
    log = office.log
    office.drafts("analyst-2", project="dunes", task="grass", model="claude:sonnet")
    office.says("lost", "analyst-2")
    office.starts("analyst-2")
    office.does_to("analyst-2", LoseTurn(dead=HERE))
    office.says("answered", "analyst-2", sender="analyst-1")
    back = office.says("taken back", "analyst-2")
    office.says("unanswered", "analyst-2")
    office.hears("yes", "analyst-2", cost_usd=None, unknown_costs=2, cache_read=900)
    office.does_to("analyst-2", WithdrawPrompt(prompt=back), Undraft(now=office.world.time))
    for name in ("reader-1", "reader-2"):
        office.drafts(name, way="work", parent="analyst-1")
        office.says("Read.", name)
        office.starts(name)
    now = office.world.time
    office.does_to("reader-1", LoseTurn(dead=HERE))
    done = Report("partial", "Two.", ("a.csv",), ("The third is off.",), ("Since when?",))
    office.does_to("reader-1", EndWork(report=done, now=now))
    office.does_to("reader-2", Kill(reason="budget", detail="It is used up.", now=now))
    words = (
        WorkerReported(worker="reader-1", **done._asdict()),
        WorkerKilled(worker="reader-2", reason="budget", detail="It is used up."),
    )
    office.does_to("analyst-1", *(Note(event=word) for word in words))
    office.says("goes on")
    office.says("waits")
    office.starts()

    def later(events: Draw) -> Draw:
        return events._replace(at=office.world.now())

    closed = draw(TaskClosed(reason="done"), TaskReopened(reason="not done"), wish=1 << 40)
    log.append(task_stream("harbour", "gauges").id, 1, later(closed))
    dry = draw(ProjectClosed(reason="dry"), wish=1 << 41)
    log.append(project_stream("dunes").id, 1, later(dry))
    yield office
    log.close()


@pytest.fixture(scope="module")
def database(office: Office, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its database."""
    file = tmp_path_factory.mktemp("built") / "a.duckdb"
    build(office.log, file)
    return file


@pytest.fixture
def connection(database: Path) -> "Iterator[DuckDBPyConnection]":
    """To that database."""
    with closing(connect(database, read_only=True)) as connection:
        yield connection


def asked(connection: "DuckDBPyConnection", sql: str) -> list[Row]:
    """Rows by the names of their columns."""
    answer = connection.execute(sql)
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def test_streams_of_agents_are_no_sessions(connection: "DuckDBPyConnection") -> None:
    """Nor part of any lineage; their events are all there."""
    assert asked(connection, "SELECT session, events FROM sessions") == [
        {"session": "tides", "events": 2}
    ]
    assert asked(connection, "SELECT DISTINCT session FROM lineage") == [{"session": "tides"}]
    counted = asked(connection, "SELECT count(*) AS n FROM events WHERE session LIKE 'agent:%'")
    assert counted[0]["n"] > 30


def test_agents_are_as_the_roster_has_them(
    office: Office, connection: "DuckDBPyConnection"
) -> None:
    """Who they are, what they took, and how they ended."""
    rows = asked(connection, "SELECT * FROM agents ORDER BY position DESC")
    known = roster(office.log, all_=True)
    same = (
        *("agent", "role", "project", "task", "way", "model", "client", "parent"),
        *("turns", "failed", "lost", "unknown_costs", "tokens_in", "tokens_out"),
    )
    assert [[row[name] for name in same] for row in rows] == [
        [getattr(one, name) for name in same] for one in known
    ]
    assert [row["cost_usd"] or 0.0 for row in rows] == [one.cost_usd for one in known]
    ends = [(row["active"], row["how"], row["reason"], row["detail"]) for row in rows]
    assert ends == [
        (one.ended is None, *((one.ended.how, one.ended.reason) if one.ended else (None, None)), d)
        for one, d in zip(known, ["It is used up.", "Two.", None, None], strict=True)
    ]
    assert [bool(row["ended"]) for row in rows] == [True, True, True, False]
    assert {row["version"] for row in rows} == {1}


def test_turns_are_as_the_transcript_has_them(
    office: Office, connection: "DuckDBPyConnection"
) -> None:
    """One row for each prompt, whatever became of it."""
    every, seen = asked(connection, "SELECT * FROM turns ORDER BY prompt"), set()
    for agent in ("analyst-1", "analyst-2", "reader-1", "reader-2"):
        rows = [row for row in every if row["agent"] == agent]
        known = transcript(office.log, agent)
        same = ("prompt", "turn", "sender", "outcome", "model", "tokens_out", "cost_usd")
        assert [[row[name] for name in same] for row in rows] == [
            [getattr(one, name) for name in same] for one in known
        ]
        assert [row["text"] for row in rows] == [one.prompt_text for one in known]
        assert [row["answer"] or "" for row in rows] == [one.answer for one in known]
        told = [one.reason if one.outcome == "failed" else None for one in known]
        assert [row["reason"] for row in rows] == told
        ended = [one.ended_at is not None and one.outcome != "unanswered" for one in known]
        assert [row["ended"] is not None for row in rows] == ended
        seen |= {row["outcome"] for row in rows}
    assert seen == {
        *("completed", "failed", "lost", "running", "waiting", "withdrawn", "unanswered"),
    }


def test_a_turn_tells_what_it_took(connection: "DuckDBPyConnection") -> None:
    """Cached tokens apart, and the context at its last call."""
    (row,) = asked(connection, "SELECT * FROM turns WHERE agent = 'analyst-2' AND turn = 2")
    assert (row["tokens_in"], row["cache_read"], row["cache_creation"]) == (100, 900, 0)
    assert (row["cost_usd"], row["unknown_costs"], row["calls"]) == (None, 2, 1)
    assert (row["context_tokens"], row["context_window"], row["latency_ms"]) == (100, 1000, 500)


def test_tools_and_reports(connection: "DuckDBPyConnection") -> None:
    """A report once, though two streams tell of it."""
    tools = asked(
        connection, "SELECT agent, turn, name, result, failed, latency_ms FROM agent_tools"
    )
    assert [tuple(row.values()) for row in tools] == [
        ("analyst-1", 1, "read_file", "none lags", False, 40)
    ]
    (report,) = asked(connection, "SELECT * FROM reports")
    assert (report["agent"], report["status"], report["summary"]) == ("reader-1", "partial", "Two.")
    assert (report["changes"], report["issues"], report["questions"]) == (
        *(["a.csv"], ["The third is off."]),
        ["Since when?"],
    )


def test_projects_and_tasks_are_as_they_are_now(connection: "DuckDBPyConnection") -> None:
    """Open or closed, and what was done in them."""
    rows = asked(
        connection,
        "SELECT project, open, tasks, open_tasks, agents, round(cost_usd, 4) AS usd"
        " FROM projects ORDER BY project",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("dunes", False, 1, 1, 1, None),
        ("harbour", True, 1, 1, 3, 0.01),
    ]
    rows = asked(connection, "SELECT task, open, reason, agents FROM tasks ORDER BY task")
    assert [tuple(row.values()) for row in rows] == [
        ("gauges", True, "not done", 3),
        ("grass", True, None, 1),
    ]


def test_costs_add_up_by_project_and_role(connection: "DuckDBPyConnection") -> None:
    """All agents are in it once."""
    rows = asked(
        connection,
        "SELECT project, role, agents, active, turns, failed, unknown_costs"
        " FROM agent_costs ORDER BY project, role",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("dunes", "analyst", 1, 0, 1, 1, 2),
        ("harbour", "analyst", 1, 1, 1, 1, 0),
        ("harbour", "reader", 2, 0, 0, 2, 0),
    ]


def test_what_was_taken_away_is_said_to_be(tmp_path: Path) -> None:
    """In a database built behind it."""
    office = harbour(tmp_path / "store")
    stream = agent_stream("analyst-1").id
    redact_events(office.log, office.log.pick(stream, [5]), "A name.", office.world)
    build(office.log, tmp_path / "a.duckdb")
    office.log.close()
    with closing(connect(tmp_path / "a.duckdb", read_only=True)) as connection:
        rows = asked(connection, "SELECT text, answer, redacted FROM turns ORDER BY prompt")
    assert [tuple(row.values()) for row in rows] == [
        ("Which gauge lags?", "[redacted]", True),
        ("Why does it?", "Because", False),
    ]
