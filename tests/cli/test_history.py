"""Looking back and branching off."""

import json
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.events import ThoughtAdded
from tests.cli.conftest import Mind
from tests.commands.eventlog.stores import MAIN, begin, draw


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


def test_any_reading_command_as_of_any_moment(asked: Mind) -> None:
    """`mind at` shows what was there then, by version, iteration, draft or distance."""
    asked("run", "-b", "3")
    for ref, drafts in (("iter:1", 1), ("draft:2", 2), ("2", 0), ("head", 3)):
        shown = asked("at", ref, "drafts", "--json").data
        assert len(shown["drafts"]) == drafts, ref
    assert asked("at", "iter:1", "status", "--json").data["iterations"] == 1
    assert asked("at", "~1", "log", "-n", "1").code == 0


def test_the_past_is_read_only(asked: Mind) -> None:
    """A wish in the past is refused, and told to branch off."""
    asked("run", "-b", "2")
    refused = asked("at", "draft:1", "accept")
    assert refused.code == 2
    assert "mind fork" in refused.err
    assert asked("at", "draft:1", "message", "x").code == 2
    assert asked("at", "draft:1", "run").code == 2


def test_a_branch_goes_its_own_way(asked: Mind) -> None:
    """A fork in mid-exchange sees what its parent saw; the parent never knows."""
    asked("run", "-b", "2")
    before = asked("status", "--json").data["version"]
    assert asked("fork", "what-if", "--at", "draft:1", "--reason", "less is more").code == 0
    assert asked("accept", "--json").data["index"] == 1
    listed = {row["session"]: row for row in asked("sessions", "--json").data}
    assert listed["what-if"]["parent"] == "main@6"
    assert listed["what-if"]["current"]
    assert listed["main"]["version"] == before
    assert asked("switch", "main").code == 0
    assert len(asked("drafts", "--json").data["drafts"]) == 2
    assert asked("at", "what-if@draft:1", "status", "--json").data["session"] == "main"


def test_labels_name_moments(asked: Mind) -> None:
    """A labelled moment is found by @label; an unknown one is refused with what there is."""
    asked("run", "-b", "2")
    asked("label", "good-start", "draft:1")
    assert len(asked("at", "@good-start", "drafts", "--json").data["drafts"]) == 1
    refused = asked("at", "@bad", "drafts")
    assert refused.code == 2
    assert "@good-start" in refused.err


def test_moments_that_are_not_there_are_refused_with_the_nearest(asked: Mind) -> None:
    """A ref to nowhere names where one could go instead; nonsense names the forms."""
    asked("run")
    assert "iter:1" in asked("at", "iter:24", "status").err
    assert "draft:1" in asked("at", "draft:7", "status").err
    nonsense = asked("at", "yesterday-ish", "status")
    assert nonsense.code == 2
    assert "iter:24" in nonsense.err


def test_the_log_is_one_json_object_a_line(asked: Mind) -> None:
    """Each event has its envelope: who, when, which wish, because of what."""
    asked("run")
    events = [json.loads(line) for line in asked("log", "-n", "0", "--json").out.splitlines()]
    assert [e["version"] for e in events] == list(range(1, len(events) + 1))
    by_kind = {e["kind"]: e for e in events}
    assert by_kind["draft.emitted"]["cause"] == by_kind["mind.invoked"]["version"]
    assert by_kind["draft.emitted"]["command"] == by_kind["mind.invoked"]["command"]
    assert by_kind["draft.seen"]["actor"] == "user:ann"
    assert by_kind["draft.emitted"]["actor"].startswith("mind:script:")


def test_show_prints_one_event(asked: Mind) -> None:
    """All its fields, the raw output of the mind included."""
    asked("run")
    shown = asked("show", "iter:1", "--json").data
    assert shown["kind"] in {"draft.seen", "draft.emitted"}
    invoked = asked("show", "4", "--json").data
    assert invoked["kind"] == "mind.invoked"
    assert "the far bulge" in invoked["data"]["raw"]


def test_show_of_an_exchange(asked: Mind) -> None:
    """While it is open, what was asked; then what was accepted, and from the past as it was."""
    asked("run")
    asked("note", "something else")
    for words in (("show", "exc_1"), ("at", "3", "show", "exc_1_000")):
        shown = asked(*words, "--json").data
        assert (shown["kind"], shown["version"]) == ("message.sent", 2), words
        assert shown["data"]["text"] == "why two tides a day?"
    asked("accept")
    assert asked("show", "exc_1", "--json").data["kind"] == "draft.accepted"
    assert asked("show", "exc_1:1", "--json").data["kind"] == "draft.emitted"


def test_show_of_a_vector(mind: Mind, tmp_path: Path) -> None:
    """One line says what it is; --json has all of it."""
    (store := tmp_path / "thinking").mkdir()
    with EventLog.create(store) as log:
        begin(log, events=1)
        thinks = ThoughtAdded(
            text="x",
            iteration=0,
            mind="m",
            embedding=bytes(800),
            embedding_model="toy",
            dimension=200,
        )
        log.append(MAIN, 1, draw(thinks, wish=1))
    shown = mind("show", "2", "--store", "thinking")
    assert "embedding: 200 numbers of 4 bytes each (--json has them)\n" in shown.out
    whole = mind("show", "2", "--store", "thinking", "--json").data
    assert whole["data"]["embedding"] == "00" * 800


def test_what_is_written_is_proven(asked: Mind) -> None:
    """`verify` counts the events of all sessions; `doctor` finds nothing amiss."""
    asked("run")
    assert "all as written" in asked("verify").out
    assert asked("verify", "--json").data["findings"] == []
    assert asked("doctor").code == 0


def test_sessions_side_by_side(asked: Mind) -> None:
    """`new` begins another session and works on it; `--session` reaches any of them."""
    assert asked("new", "payments", "what is a void?", "--title", "Payments").code == 0
    assert asked("status", "--json").data["title"] == "Payments"
    assert asked("status", "--session", "main", "--json").data["session"] == "main"
    assert asked("new", "payments").code == 2
    assert asked("switch", "nowhere").code == 2


def test_what_was_switched_to_may_be_impossible_to_remember(asked: Mind, tmp_path: Path) -> None:
    """Where nothing can be written, a sentence says how to name the session; nothing is left."""
    current = tmp_path / "thinking" / "current"
    current.unlink()
    current.mkdir()
    refused = asked("switch", "main")
    assert (refused.code, refused.out) == (2, "")
    assert "can't be written" in refused.err
    assert "--session main or MIND_SESSION" in refused.err
    assert not list(current.parent.glob("current.*"))


def test_where_the_store_is_found(asked: Mind, tmp_path: Path) -> None:
    """By option, by MIND_STORE, else the one used last; and `init` never overwrites one."""
    assert asked("status", "--store", "thinking", "--json").code == 0
    assert asked("status", "--json", MIND_STORE=str(tmp_path / "thinking")).code == 0
    assert asked("status", MIND_STORE=str(tmp_path / "nowhere")).code == 2
    assert asked("init", "thinking", "again").code == 2
    asked("init", "other", "x")
    assert asked("status", "--json").data["store"].endswith("other")
    asked("open", "thinking")
    assert asked("status", "--json").data["store"].endswith("thinking")


def test_settings_are_typed(asked: Mind) -> None:
    """A bad value is refused with the range, and of several settings none changes."""
    refused = asked("config", "--set", "token_limit=100", "--set", "active_pool_size=lots")
    assert refused.code == 2
    assert "from 1 to 1000" in refused.err
    assert asked("config", "--json").data["token_limit"] == 4000
    assert asked("config", "--set", "model=nonsense").code == 2
    wanted = "model=openrouter:anthropic/claude-haiku-4.5"
    assert asked("config", "--set", wanted, "--set", "auto_accept_after=3", "--json").code == 0
    assert asked("config", "--json").data["auto_accept_after"] == 3
    keyless = asked("run")
    assert keyless.code == 2
    assert "OPENROUTER_API_KEY" in keyless.err
