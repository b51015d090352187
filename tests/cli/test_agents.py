"""Agents on the command line."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mind
from tests.stories.crew import calls, crew, report, scripted

LINE = {"tokens_in": 340, "tokens_out": 12, "cost_usd": 0.25, "context_window": 1000}


@pytest.fixture
def mind(within: Mind) -> Mind:
    """A store with a project and a task, and commands within this process."""
    within("init", "thinking", "why two tides?", "-m", "local", "--set", "embedding_model=off")
    within("project", "create", "tides")
    within("task", "create", "tides", "Explain the bulges")
    return within


@pytest.fixture
def model(tmp_path: Path) -> Any:
    """Makes models that answer with the given lines."""
    return lambda *lines: scripted(tmp_path, *lines)


def test_a_conversation_from_draft_to_undraft(mind: Mind, model: Any) -> None:
    """Project and task are the only ones there are; the draft outlives each command."""
    answers = model({"text": "Two bulges.", **LINE}, {"text": "The far one.", **LINE})
    drafted = mind("agent", "draft", "reviewer", "-m", answers)
    assert "reviewer-1 is drafted for tides/explain-bulges" in drafted.err
    assert mind("agent", "ask", "Why two?").out == "Two bulges.\n"
    assert mind("agent", "ask", "Which surprises?", "--json").data["answer"] == "The far one."
    status = mind("agent", "status").out
    assert "34% of 1,000 tokens" in status
    assert "$0.5000" in status
    [row] = mind("agent", "list", "--json").data
    assert (row["agent"], row["state"], row["turns"]) == ("reviewer-1", "idle", 2)
    ended = mind("agent", "undraft")
    assert "reviewer-1 is undrafted: 2 turns, $0.5000" in ended.err
    shown = mind("agent", "show", "reviewer-1").out
    assert shown.index("Why two?") < shown.index("Two bulges.") < shown.index("The far one.")
    assert "undrafted" in shown
    assert "Nobody is there" in mind("agent", "list").err
    assert mind("verify").code == 0


def test_what_nobody_knows_the_cost_of_is_not_free(mind: Mind, model: Any) -> None:
    """While it is there, when it ends, and in the line of its end."""
    mind("agent", "draft", "reviewer", "-m", model({"text": "One."}))
    mind("agent", "ask", "Why?")
    assert "$0.0000 and 1 call of unknown cost\n" in mind("agent", "status").out
    ended = mind("agent", "undraft").err
    assert "is undrafted: 1 turn, $0.0000 and 1 call of unknown cost, " in ended
    assert ended.endswith(" s.\n")
    (line,) = (
        line for line in mind("log", "-s", "agent:reviewer-1").out.splitlines() if "undraft" in line
    )
    assert ("1 turn, " in line, "$" in line) == (True, False)


def test_what_can_not_be_is_refused_in_a_sentence(mind: Mind, model: Any) -> None:
    """Exit code 2, and what to do."""
    nobody = mind("agent", "ask", "Hello?")
    assert (nobody.code, "draft an agent first" in nobody.err) == (2, True)
    unknown = mind("agent", "draft", "revewer")
    assert (unknown.code, "reviewer" in unknown.err) == (2, True)
    mind("agent", "draft", "reviewer", "-m", model())
    twice = mind("agent", "draft", "researcher", "-m", model())
    assert (twice.code, "'reviewer-1' is drafted already by 'cli'" in twice.err) == (2, True)
    mind("task", "create", "tides", "Another one")
    several = mind("agent", "work", "researcher", "x")
    assert (several.code, "2 open tasks of 'tides': name one of explain-bulges" in several.err) == (
        2,
        True,
    )
    past = mind("at", "1", "agent", "list")
    assert (past.code, "as they are now" in past.err) == (2, True)
    gone = mind("agent", "show", "nobody-7")
    assert (gone.code, "There is no agent 'nobody-7'" in gone.err) == (2, True)


def test_a_turn_that_fails_says_so(mind: Mind, model: Any) -> None:
    """With what had arrived on stdout, the reason on stderr, and exit code 1."""
    mind("agent", "draft", "reviewer", "-m", model({"fail": "half", "text": "It is the"}))
    failed = mind("agent", "ask", "Why?")
    assert failed.code == 1
    assert failed.err.strip()
    shown = mind("agent", "show", "reviewer-1", "--json").data
    assert [turn["outcome"] for turn in shown["turns"]] == ["failed"]


def test_a_worker_is_watched_and_reports(mind: Mind, model: Any) -> None:
    """Its tools are named as it uses them; a report of success is exit code 0."""
    lines = model(calls("list_sessions"), report("partial", "One session.", issues=["no more"]))
    done = mind("agent", "work", "researcher", "What is there?", "-m", lines)
    assert done.code == 0
    assert "list_sessions" in done.err
    assert done.out.startswith("researcher-1: partial")
    assert "issue: no more" in done.out
    failed = mind("agent", "work", "researcher", "x", "-m", model(report("failed", "No.")))
    assert failed.code == 1
    assert {row["agent"] for row in mind("agent", "list", "--all", "--json").data} == {
        "researcher-1",
        "researcher-2",
    }


def test_nothing_that_an_agent_says_reaches_the_terminal_raw(mind: Mind, model: Any) -> None:
    """Control characters are shown, not obeyed."""
    evil = "\x1b[31mred\x07"
    mind("agent", "draft", "reviewer", "-m", model({"text": evil}))
    said = mind("agent", "ask", evil)
    shown = mind("agent", "show", "reviewer-1")
    assert "red" in said.out
    for text in (said.out, said.err, shown.out):
        assert "\x1b" not in text
        assert "\x07" not in text


def test_kill_and_reset(mind: Mind, model: Any) -> None:
    """A conversation that begins anew, and one that is ended by name."""
    mind("agent", "draft", "reviewer", "-m", model({"text": "One.", **LINE}, {"text": "Two."}))
    mind("agent", "ask", "1?")
    assert "begins anew" in mind("agent", "reset").err
    assert mind("agent", "ask", "2?").out == "Two.\n"
    assert "reviewer-1 is ended (undrafted)" in mind("agent", "kill", "reviewer-1").err
    again = mind("agent", "kill", "reviewer-1")
    assert (again.code, "has ended" in again.err, "another" in again.err) == (2, True, False)


def test_a_turn_that_another_process_runs_is_stopped(
    mind: Mind, model: Any, tmp_path: Path
) -> None:
    """What had arrived is kept, with what it cost; where nobody answers, a sentence says so."""
    lines = ({**calls("nothing"), "text": "Let me look.", **LINE}, {"text": "…", "delay": 600})
    mind("agent", "draft", "reviewer", "-m", model(*lines))
    nothing = mind("agent", "stop")
    assert (nothing.code, nothing.out) == (2, "")
    assert "'reviewer-1' is not answering now: there is nothing to stop." in nothing.err
    began = threading.Event()

    async def other() -> None:
        async with crew(tmp_path / "thinking") as one:
            prompt = await one.harness.submit("reviewer-1", "Well?")
            await one.until(lambda: any(notice.kind == "tool_result" for notice in one.told))
            began.set()
            await one.harness.answered("reviewer-1", prompt)

    thread = threading.Thread(target=lambda: asyncio.run(other()))
    thread.start()
    assert began.wait(20)
    stopped = mind("agent", "stop", "reviewer-1")
    thread.join(20)
    assert (stopped.code, stopped.err) == (0, "Turn 1 of reviewer-1 is stopped.\n")
    [turn] = mind("agent", "show", "reviewer-1", "--json").data["turns"]
    assert (turn["outcome"], turn["detail"]) == ("failed", "It was stopped.")
    assert (turn["answer"], turn["cost_usd"]) == ("Let me look.", 0.25)
    assert mind("agent", "stop", "reviewer-1").code == 2
    kinds = mind("log", "-s", "agent:reviewer-1", "--json").out
    assert kinds.count("stop.asked") == 1
    assert "turn 1" in mind("log", "-s", "agent:reviewer-1", "-k", "stop.asked").out
