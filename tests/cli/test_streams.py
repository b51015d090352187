"""Verbs about the whole store where agents, projects and tasks are in it as well."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Mind
from tests.commands.eventlog.stores import unguarded
from tests.stories.agents import QUESTION, Office, harbour

AGENT = "agent:analyst-1"


@pytest.fixture
def mind(within: Mind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """Runs `mind` on a store with a session, a project, a task, and an agent after two turns."""
    office = harbour(tmp_path / "store")
    office.drafts("reader-1")
    office.says(f"Somebody asked: {QUESTION}", "reader-1")
    office.log.close()
    monkeypatch.setenv("MIND_STORE", str(tmp_path / "store"))
    return within


def test_all_of_it_is_proved(mind: Mind) -> None:
    """Sessions are counted as sessions, all else as streams; one of them by its name."""
    done = mind("verify")
    assert (done.code, done.out) == (
        0,
        "14 events of 1 session and 4 other streams: all as written.\n",
    )
    data = mind("verify", "--json").data
    assert (data["sessions"], data["streams"], data["events"]) == (1, 5, 14)
    assert mind("verify", AGENT).out == "8 events of 1 stream: all as written.\n"
    assert mind("verify", "agent:nobody-1").code == 2
    assert mind("verify", "fleet:a").code == 2


def test_a_tampered_answer_is_named(mind: Mind, tmp_path: Path) -> None:
    """By the stream that it is in."""
    with unguarded(tmp_path / "store") as connection:
        connection.execute(
            "UPDATE stored_events SET state = substr(state, 1, length(state) - 1) || x'00'"
            " WHERE originator_id = ? AND originator_version = 5",
            (AGENT,),
        )
    done = mind("verify")
    assert done.code == 1
    assert done.out.startswith(f"{AGENT}: ")
    assert mind("doctor", "--json").code == 1
    assert mind("history").code == 0


def test_heads_of_all_streams(mind: Mind, tmp_path: Path) -> None:
    """A store that lost the end of an agent does not pass as whole."""
    made = mind("head", "-o", "heads.json")
    assert made.code == 0
    assert "heads of 1 session and 4 other streams to heads.json" in made.err
    heads = json.loads((tmp_path / "heads.json").read_text("utf-8"))["heads"]
    assert {head["session"]: head["version"] for head in heads}[AGENT] == 8
    whole = mind("verify", "--against", "heads.json")
    assert whole.code == 0
    assert "1 session and 4 other streams as whole as on" in whole.out
    with unguarded(tmp_path / "store") as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id = ? AND originator_version > 6", (AGENT,)
        )
    cut = mind("verify", "--against", "heads.json")
    assert cut.code == 1
    assert f"{AGENT} ends at 6: events 7 to 8 are gone." in cut.out


def test_heads_say_what_they_do_not_name(mind: Mind) -> None:
    """Streams as well."""
    assert mind("head", "tides", "-o", "heads.json").code == 0
    done = mind("verify", "--against", "heads.json")
    assert "nor about 4 streams that they do not name" in done.err


def test_the_events_of_an_agent_are_shown(mind: Mind) -> None:
    """One a line, as those of a session; but it is no session to work on."""
    lines = mind("log", "-s", AGENT).out.splitlines()
    assert len(lines) == 8
    assert QUESTION in lines[1]
    (event,) = mind("log", "-s", AGENT, "-k", "turn.failed", "--json").out.splitlines()
    assert json.loads(event)["session"] == AGENT
    assert "HTTP 500 of the provider." in event
    assert len(mind("log").out.splitlines()) == 2
    assert mind("log", "-s", "agent:nobody-1").code == 2
    assert mind("history", "-s", AGENT).code == 2


def test_what_was_said_to_an_agent_is_found_and_taken_away(mind: Mind) -> None:
    """With the copy that another one was told; then it is found no more."""
    hits = mind("search", "gauge weir", "--words", "--json").data
    assert {hit["ref"] for hit in hits} == {f"{AGENT}@2", f"{AGENT}@5", "agent:reader-1@2"}
    words = ("redact", "2", "-s", AGENT, "--reason", "A name.", "--yes")
    refused = mind(*words)
    assert refused.code == 2
    assert "agent:reader-1@2" in refused.err
    done = mind(*words, "--everywhere", "--json")
    assert done.data["redacted"] == [f"{AGENT}@2", "agent:reader-1@2"]
    hits = mind("search", "gauge weir", "--words", "--json").data
    assert [hit["ref"] for hit in hits] == [f"{AGENT}@5"]
    assert "[redacted]" in mind("log", "-s", AGENT).out
    assert mind("verify").code == 0


def test_sessions_are_told_without_them(mind: Mind) -> None:
    """In lists, in questions and where a session is chosen."""
    assert [one["session"] for one in mind("sessions", "--json").data] == ["tides"]
    told = mind("sessions", "--all")
    assert told.code == 0
    assert AGENT not in told.out
    assert mind("artifact", "list", "--all").code == 0
    assert mind("query", "SELECT session FROM sessions", "--json").data == [{"session": "tides"}]
    assert mind("switch", AGENT).code == 2
    assert mind("message", "hello", "-s", AGENT).code == 2


def test_a_store_that_begins_with_a_project(within: Mind, tmp_path: Path) -> None:
    """Has no session to work on until it gets one, which is its first."""
    office = Office(tmp_path / "store")
    office.opens()
    office.log.close()
    assert within("status", "--store", "store").code == 2
    made = within("init", "store", "why two tides?", "-m", "script:none.txt")
    assert made.code == 0, made.err
    assert [one["session"] for one in within("sessions", "--store", "store", "--json").data] == [
        "main"
    ]
    assert within("init", "store", "why two tides?").code == 2
    assert within("verify", "--store", "store").out.endswith(
        "of 1 session and 2 other streams: all as written.\n"
    )
