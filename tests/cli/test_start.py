"""Beginning a talk where it belongs, on the command line."""

from pathlib import Path

import pytest

from commands.artifacts.efforts import OpenEffort
from commands.artifacts.facts import LearnFact
from tests.cli.conftest import Mind
from tests.stories.cast import Stage

INTENT = "I want to work on the payments integration"
WANTED = "Work on the payments integration"
"""The goal that the rules find in it."""

LINES = "draft: So be it, and let us begin.\n"


@pytest.fixture
def mind(within: Mind, tmp_path: Path) -> Mind:
    """A store with a chat about payments that is idle, and one about tides that awaits."""
    (tmp_path / "lines.txt").write_text(LINES, encoding="utf-8")
    settings = {"model": f"script:{tmp_path}/lines.txt", "embedding_model": "off"}
    stage = Stage(tmp_path / "store", "payments").begins("how do we take payments?", **settings)
    stage.answers("how do we take payments?", "With Stripe, and webhooks for what comes late.")
    stage.does(LearnFact(statement="Payments go through Stripe"))
    stage.does(OpenEffort(goal="implement refunds of payments"))
    stage.log.close()
    assert within("open", "store").code == 0
    assert within("new", "tides", "why two tides a day?", "--set", "embedding_model=off").code == 0
    return within


def test_what_has_to_do_with_it_is_shown_with_the_options(mind: Mind) -> None:
    """And chosen from a script; without a choice and a terminal, it says how."""
    ran = mind("start", INTENT)
    assert ran.code == 2
    assert "--choose" in ran.err
    lines = [line.strip() for line in ran.out.splitlines()]
    assert lines[0] == "Related chats"
    assert lines[1].startswith("1. payments (payments, ")
    assert "1 fact, open: implement refunds of payments" in lines
    assert {line.partition(". ")[2] for line in lines if line[3:4] == "["} == {
        "[fact] Payments go through Stripe",
        "[effort:open] implement refunds of payments",
    }
    assert lines[-4:] == [
        "1. Continue payments (has an open effort)",
        "2. Fork payments",
        "3. New chat with selected artifacts",
        "4. Start fresh",
    ]


def test_continuing_sends_it_there(mind: Mind) -> None:
    """The session is switched to."""
    assert mind("start", INTENT, "--choose", "just continue").code == 0
    status = mind("status", "--json").data
    assert status["session"] == "payments"
    assert mind("drafts", "--json").data["question"] == INTENT


def test_a_fork_begins_where_the_chat_stands(mind: Mind) -> None:
    """Under a name of its own, made of what is wanted."""
    assert mind("start", INTENT, "--choose", "2").code == 0
    sessions = {s["session"]: s for s in mind("sessions", "--json").data}
    fork = sessions["payments/payments-integration"]
    assert fork["current"]
    assert fork["parent"].startswith("payments@")


def test_a_new_chat_begins_with_the_artifacts_that_are_chosen(mind: Mind) -> None:
    """By reference: each knows its origin. What is wanted is an effort of its own."""
    shown = {
        one["type"]: one["number"] for one in mind("start", INTENT, "--json").data["artifacts"]
    }
    ran = mind("start", INTENT, "--choose", f"3, include {shown['fact']}", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["session"] == "payments-integration"
    assert ran.data["choice"]["artifacts"] == [shown["fact"]]
    assert texts(mind) == {"Payments go through Stripe", WANTED}
    again = mind("start", INTENT, "--json").data["artifacts"]
    facts = ",".join(str(one["number"]) for one in again if one["type"] == "fact")
    assert mind("start", INTENT, "--choose", f"3, exclude {facts}", "--name", "other").code == 0
    assert "implement refunds of payments" in texts(mind)
    assert "Payments go through Stripe" not in texts(mind)


def test_a_fresh_chat_begins_with_nothing_but_the_message(mind: Mind) -> None:
    """Titled after it."""
    assert mind("start", INTENT, "--choose", "4").code == 0
    (now,) = [s for s in mind("sessions", "--json").data if s["current"]]
    assert (now["session"], now["title"]) == ("payments-integration", INTENT)
    assert texts(mind) == {WANTED}


def texts(mind: Mind) -> set[str]:
    """The artifacts of the session."""
    return {one["text"] for one in mind("artifact", "list", "--json").data}


def test_where_a_message_awaits_nothing_is_sent(mind: Mind) -> None:
    """It says what to do first."""
    ran = mind("start", "why two tides a day?", "--choose", "1")
    assert ran.code == 0
    assert "awaits drafts there, so nothing was sent" in ran.err
    assert mind("status", "--json").data["session"] == "tides"


def test_without_anything_to_do_with_it_the_start_is_fresh(mind: Mind) -> None:
    """Nobody is asked."""
    ran = mind("start", "zugzwang endgame study")
    assert ran.code == 0, ran.err
    assert "this is a fresh start" in ran.err
    assert mind("status", "--json").data["session"] == "zugzwang-endgame-study"


def test_a_bad_choice_changes_nothing(mind: Mind) -> None:
    """Neither does one that names what was not shown."""
    for choice in ("7", "continue 9", "3, include 9"):
        assert mind("start", INTENT, "--choose", choice).code == 2
    assert {s["session"] for s in mind("sessions", "--json").data} == {"payments", "tides"}


def test_a_program_is_shown_what_there_is(mind: Mind) -> None:
    """Without a choice, and nothing happens."""
    data = mind("start", INTENT, "--json").data
    assert [chat["session"] for chat in data["chats"]] == ["payments"]
    assert [one["number"] for one in data["artifacts"]] == [1, 2]
