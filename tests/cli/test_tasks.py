"""Tasks on the command line."""

from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.world import RealWorld
from domain.events import AgentDrafted, AgentUndrafted, Caused, PromptSubmitted
from domain.recorded import BEGINNING, Draw
from domain.streams import agent_stream
from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """A store with a project, and commands within this process."""
    within("init", "thinking", "why two tides?", "-m", "local", "--set", "embedding_model=off")
    within("project", "create", "payments")
    return within


def test_a_task_from_its_beginning_to_its_end(mind: Mind) -> None:
    """Set, listed, shown, closed, opened again."""
    assert 'mind task create payments "…"' in mind("task", "list", "payments").err
    made = mind("task", "create", "payments", "Refunds differ from voids", "-d", "Since when?")
    assert "This is task refunds-differ-voids of payments" in made.err
    [row] = mind("task", "list", "--json").data
    assert row["begun"] == row["at"]
    assert {key: row[key] for key in ("project", "slug", "title", "description", "open")} == {
        "project": "payments",
        "slug": "refunds-differ-voids",
        "title": "Refunds differ from voids",
        "description": "Since when?",
        "open": True,
    }
    where = ("payments", "refunds-differ-voids")
    assert "Since when?" in mind("task", "show", *where).out
    closed = mind("task", "close", *where, "--reason", "shipped")
    assert "Task refunds-differ-voids of payments is closed." in closed.err
    assert mind("task", "list", "--json").data == []
    assert "mind task list payments --all" in mind("task", "list", "payments").err
    assert "closed" in mind("task", "list", "--all").out
    assert "(closed)" in mind("task", "show", *where).out
    assert "closed (shipped)" in mind("task", "show", *where).out
    assert "open again" in mind("task", "reopen", *where).err
    assert mind("task", "show", *where, "--json").data["open"] is True


def test_a_description_comes_from_a_file_or_a_pipe(mind: Mind, tmp_path: Path) -> None:
    """As messages do; a slug may be given."""
    (tmp_path / "what.md").write_text("# All of it\n\nIn lines.\n", encoding="utf-8")
    words = ("task", "create", "payments", "t", "--json")
    from_file = mind(*words, "-f", "what.md", "--slug", "one").data
    assert (from_file["slug"], from_file["description"]) == ("one", "# All of it\n\nIn lines.")
    from_pipe = mind(*words, "-d", "-", stdin="piped\n").data
    assert (from_pipe["slug"], from_pipe["description"]) == ("t", "piped")
    assert mind(*words).data["slug"] == "t-2"


def test_what_makes_no_task_is_refused(mind: Mind) -> None:
    """In a sentence that says what to do, and nothing is written."""
    mind("task", "create", "payments", "one")
    for words, sentence in (
        (["create", "paymets", "x"], "no project 'paymets': there is payments"),
        (["create", "payments", ""], "The title is empty"),
        (["create", "payments", "x" * 201], "put the rest into the description"),
        (["create", "payments", "x", "--slug", "../x"], "can't name a task"),
        (["create", "payments", "x", "--slug", "one"], "has a task 'one' already"),
        (["create", "payments", "x", "-d", "a", "-f", "b"], "not both"),
        (["create", "payments", "x", "-f", "nowhere"], "can't be read"),
        (["show", "payments", "on"], "no task 'on': there is one"),
        (["close", "payments", "on"], "no task 'on': there is one"),
        (["reopen", "payments", "one"], "open already"),
        (["list", "paymets"], "no project 'paymets'"),
    ):
        ran = mind("task", *words)
        assert ran.code == 2, words
        assert sentence in ran.err
    assert [row["slug"] for row in mind("task", "list", "--all", "--json").data] == ["one"]
    for words in (["create", "payments", "x"], ["close", "payments", "one"]):
        assert "The past can only be read" in mind("at", "1", "task", *words).err
    assert mind("at", "1", "task", "list", "--json").data == []
    assert [row["slug"] for row in mind("at", "head", "task", "list", "--json").data] == ["one"]


def test_a_task_says_who_was_drafted_into_it(mind: Mind, tmp_path: Path) -> None:
    """With what they do now, and who is still there when it is closed."""
    mind("task", "create", "payments", "one")
    with EventLog(tmp_path / "thinking") as log:
        world = RealWorld.of_this_user()
        drafted = AgentDrafted(
            role="reviewer",
            instructions="You review.",
            model="local",
            client="cli",
            project="payments",
            task="one",
        )
        ended = AgentUndrafted(turns=0, cost_usd=0, duration_ms=5)
        for name, more in (("reviewer-1", ended), ("reviewer-2", PromptSubmitted(text="hello"))):
            events = [Caused(drafted), Caused(more)]
            draw = Draw(events, world.now(), world.actor, world.command_id())
            log.begin(agent_stream(name).id, BEGINNING, draw)
    first, second = mind("task", "show", "payments", "one", "--json").data["agents"]
    assert (first["agent"], first["state"], first["ended"]) == ("reviewer-1", "ended", "undrafted")
    assert (second["agent"], second["state"], second["turns"]) == ("reviewer-2", "waiting", 0)
    shown = mind("task", "show", "payments", "one").out
    assert "undrafted (asked)" in shown
    assert "waiting" in shown
    closed = mind("task", "close", "payments", "one").err
    assert "! reviewer-2 is still there: mind agent undraft -a reviewer-2" in closed
    assert "reviewer-1" not in closed


def test_the_installed_command_knows_tasks(installed: Mind, mind: Mind) -> None:
    """Through the real entry point, in any script."""
    assert (
        mind("task", "create", "payments", "Wärme und Tee", "--json").data["slug"]
        == "warme-und-tee"
    )
    assert installed("task", "list").out.splitlines()[1].endswith("Wärme und Tee")
