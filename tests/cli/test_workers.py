"""Keeping views by command: work, work show, work status, work rebuild."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cli.kept_views import part
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.new_cell import add_cell
from projections.views.ours import SPENDING
from projections.views.view import together
from tests.cli.conftest import MIND, Mind
from tests.projections.views.team import Team, recounted


@pytest.fixture
def mind(within: Mind) -> Mind:
    """All of this without a process."""
    return within


def test_a_view_is_made_once_and_shown(asked: Mind) -> None:
    """Caught up, it says what has happened; later it says by how much it is behind."""
    assert asked("run").code == 0
    ran = asked("work", "--once")
    events = asked("status", "--json").data["version"]
    told = f"Taken in: activity {events} events, spending {events} events.\n"
    assert (ran.code, ran.out, ran.err) == (0, "", told)
    (row,) = asked("work", "show", "activity", "--json").data
    assert (row["session"], row["events"], row["messages"], row["drafts"]) == ("main", events, 1, 1)
    assert (row["iterations"], row["last_actor"]) == (1, "user:ann")
    (spent,) = asked("work", "show", "spending", "--json").data
    assert (spent["calls"], spent["unknown_costs"], spent["cost_usd"]) == (1, 1, 0.0)
    assert asked("accept").code == 0
    shown = asked("work", "show", "activity")
    assert "main" in shown.out
    assert "This is 1 event behind: workers go on, or mind work --once." in shown.err
    assert asked("work", "--once").err == "Taken in: activity 1 event, spending 1 event.\n"
    again = asked("work", "--once").err
    assert again == "Nothing new: activity and spending had taken in all events.\n"
    assert asked("work", "show", "activity").err == ""


def test_status_says_how_far_each_part_is(asked: Mind) -> None:
    """And how many events it has still to see."""
    asked("work", "--once", "--shards", "2")
    asked("note", "still to be seen")
    parts = asked("work", "status", "--json").data
    assert [(p["view"], p["shard"], p["shards"]) for p in parts] == [
        ("activity", 0, 2),
        ("activity", 1, 2),
        ("spending", 0, 2),
        ("spending", 1, 2),
    ]
    newest = asked("status", "--json").data["version"]
    assert {p["position"] + p["lag"] for p in parts} == {newest}
    assert {p["lag"] for p in parts} == {1}
    lines = asked("work", "status").out.splitlines()
    assert lines[0].split() == ["view", "shard", "position", "lag", "wrote", "last", "since", "now"]
    assert lines[2].split()[:2] == ["activity", "1/2"]
    assert lines[2].endswith("not leased")


def test_a_shard_of_several_is_worked_on_alone(asked: Mind) -> None:
    """The others stay where they are until somebody does theirs."""
    assert asked("work", "--shards", "3", "--shard", "1", "--once").code == 0
    positions = {p["shard"]: p["position"] for p in asked("work", "status", "--json").data}
    assert positions[1] > 0 == positions[0] == positions[2]
    for shard in ("0", "2"):
        assert asked("work", "--shards", "3", "--shard", shard, "--once").code == 0
    assert [row["session"] for row in asked("work", "show", "activity", "--json").data] == ["main"]


def test_another_number_of_shards_needs_a_rebuild(asked: Mind) -> None:
    """Said in a sentence that can be followed."""
    asked("work", "--once")
    refused = asked("work", "--once", "--shards", "4")
    assert refused.code == 2
    assert "View 'activity' is kept in 1 shard" in refused.err
    rebuilt = asked("work", "rebuild", "--all", "--shards", "4")
    assert rebuilt.err.startswith("Begun anew: activity and spending.")
    assert asked("work", "show", "activity", "--json").data == []
    assert asked("work", "--once", "--shards", "4").code == 0
    assert len(asked("work", "show", "activity", "--json").data) == 1


def test_what_makes_no_sense_is_refused(asked: Mind, tmp_path: Path) -> None:
    """With what to do; and nothing is made by looking."""
    for words, sentence in (
        ("--shard 1", "Say of how many"),
        ("--shards 2 --shard 2", "Say of how many"),
        ("--shards 2 --shard 0 --lease", "Choose one of --shard and --lease"),
        ("--once status", "Write options behind the verb: mind work status"),
        ("rebuild", "Name the views to build anew, or say --all"),
        ("rebuild activity --all", "Name the views to build anew, or say --all"),
        ("rebuild acts", "There is no view 'acts': there are activity and spending"),
        ("show acts", "There is no view 'acts'"),
        ("show activity", "mind work --once"),
        ("status", "mind work --once"),
    ):
        refused = asked("work", *words.split())
        assert refused.code == 2, words
        assert sentence in refused.err
    assert not (tmp_path / "thinking" / "views.db").exists()


def test_a_store_of_several_cells_has_views_in_each(pg_url: str, mind: Mind) -> None:
    """Shown as one; a worker that has all works on all, and one can be named."""
    place = place_of(f"{pg_url}?schema=first")
    with EventLog.create(place):
        pass
    add_cell(place.address, "b", f"{pg_url}?schema=b")
    with EventLog(place) as log:
        team = Team(log)
        team.works(25)
        cells = log.places()
        expected = together(SPENDING, [_spent(cell) for cell in cells])
        sessions = sorted(log.streams())
    assert len(cells) == 2
    assert all(_spent(cell) for cell in cells)
    store = {"MIND_STORE": f"{pg_url}?schema=first"}
    refused = mind("work", "--once", **store)
    assert (refused.code, "say mind store migrate" in refused.err) == (2, True)
    assert mind("store", "migrate", **store).err.count("Made the tables of views in ") == 2
    assert mind("work", "--once", **store).code == 0
    shown = mind("work", "show", "activity", "--json", **store).data
    assert [row["session"] for row in shown] == sessions
    spent = [
        tuple(row.values()) for row in mind("work", "show", "spending", "--json", **store).data
    ]
    assert spent == expected
    parts = mind("work", "status", "--json", **store).data
    assert [(p["cell"], p["view"], p["lag"]) for p in parts] == [
        (cell, view, 0) for cell in ("home", "b") for view in ("activity", "spending")
    ]
    named = mind("work", "show", "activity", "--json", MIND_STORE=f"{pg_url}?schema=first&cell=b")
    assert 0 < len(named.data) < len(sessions)


def _spent(cell: Place) -> list[tuple[Any, ...]]:
    with EventLog(cell) as log:
        return recounted(log)["spending"]


def test_the_past_has_no_workers(asked: Mind) -> None:
    """Views follow what is."""
    refused = asked("at", "1", "work", "--once")
    assert refused.code == 2
    assert "Views are of now" in refused.err


def test_the_installed_command_works_until_it_is_stopped(asked: Mind, tmp_path: Path) -> None:
    """What happens meanwhile is taken in; SIGTERM ends it as it should."""
    env = {**os.environ, "MIND_STORE": str(tmp_path / "thinking"), "HOME": str(tmp_path)}
    with subprocess.Popen([MIND, "work"], env=env, stderr=subprocess.PIPE) as worker:
        assert worker.stderr is not None
        assert (
            worker.stderr.readline() == b"Working on activity (shard 0) and spending (shard 0).\n"
        )
        assert asked("note", "hello").code == 0
        newest = asked("status", "--json").data["version"]
        with EventLog(tmp_path / "thinking") as log, part(log.place) as kept:
            deadline = time.monotonic() + 30
            while min(one.position for one in kept.views.tracked().values()) < newest:
                assert time.monotonic() < deadline
                threading.Event().wait(0.02)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
        assert worker.stderr.read() == b""
    (row,) = asked("work", "show", "activity", "--json").data
    assert row["events"] == newest
