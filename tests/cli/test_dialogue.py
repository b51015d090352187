"""What a newcomer types, and what comes back."""

from pathlib import Path

import pytest

from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process: most of these tests ask many commands."""
    return within


@pytest.fixture
def typed(asked: Mind, installed: Mind) -> Mind:
    """The installed command, at the store that awaits an answer."""
    return installed


def test_an_exchange_from_message_to_history(typed: Mind) -> None:
    """A run stops at the first draft; accepted, it is the answer that history shows."""
    ran = typed("run")
    assert ran.code == 0
    assert "The Moon pulls the near water" in ran.out
    assert "the far bulge" in ran.err
    assert "Stopped after 1 iteration: draft" in ran.err
    accepted = typed("accept", "--json").data
    assert (accepted["exchange"], accepted["index"]) == ("exc_1_000", 1)
    history = typed("history", "--json").data
    assert [turn["question"] for turn in history] == ["why two tides a day?"]


def test_a_pull_says_first_what_it_fetches_and_from_where(within: Mind, tmp_path: Path) -> None:
    """Before anything is asked, since a hub that is away may keep it waiting."""
    (tmp_path / "mind").write_text("no directory")
    refused = within("model", "pull", "local:tiny", XDG_CACHE_HOME=str(tmp_path))
    assert refused.code == 1
    assert refused.err.startswith("Fetching SmolLM2 135M Instruct, Q4_1")
    assert "98 MB, from the model hub, or where that does not answer" in refused.err


def test_a_background_run_leaves_drafts_unseen(asked: Mind) -> None:
    """`run -b` goes on over drafts and a +1, and stops at true silence."""
    ended = asked("run", "-b", "--json").data
    assert (ended["reason"], ended["iterations"]) == ("true silence", 4)
    drafts = asked("drafts", "--json").data["drafts"]
    assert [(d["index"], d["signal"], d["seen"]) for d in drafts] == [
        (1, False, False),
        (2, False, False),
        (3, True, False),
    ]
    assert asked("accept", "--json").data["index"] == 2


def test_a_number_of_iterations_is_kept_exactly(asked: Mind) -> None:
    """`run -b 5` makes five, whatever the mind says or leaves out."""
    ended = asked("run", "-b", "5", "--json").data
    assert (ended["reason"], ended["iterations"]) == ("limit", 5)


def test_a_step_with_debug_shows_request_and_reply(asked: Mind) -> None:
    """The exact prompt and the exact reply stand on stdout."""
    shown = asked("step", "--debug").out
    assert "awaiting:" in shown
    assert "why two tides a day?" in shown
    assert "- the far bulge is the surprising half" in shown


def test_one_message_at_a_time(asked: Mind) -> None:
    """A second message is refused in a sentence that says what to do, with exit code 2."""
    refused = asked("message", "and Fundy?")
    assert refused.code == 2
    assert refused.out == ""
    assert "run the mind first" in refused.err
    asked("run")
    assert "accept its draft first" in asked("message", "and Fundy?").err


def test_no_iteration_while_idle(asked: Mind) -> None:
    """A run with nothing to answer is refused, and says to send a message."""
    asked("run")
    asked("accept")
    refused = asked("run")
    assert refused.code == 2
    assert "send a message first" in refused.err


def test_messages_come_from_files_and_pipes(asked: Mind, typed: Mind, tmp_path: Path) -> None:
    """An argument, a file and a pipe all make a message; white space around it does not count."""
    asked("run")
    asked("accept")
    (tmp_path / "q.md").write_text("\ufeff  from a file\n", encoding="utf-8")
    assert typed("message", "-f", "q.md").code == 0
    asked("run", "1")
    asked("accept")
    assert typed("message", stdin="from a pipe\n").code == 0
    sent = [e["data"]["text"] for e in _log(asked, "message.sent")]
    assert sent == ["why two tides a day?", "from a file", "from a pipe"]


def test_seen_marks_and_word_diff(asked: Mind) -> None:
    """Drafts can be marked as read one by one, and compared word by word."""
    asked("run", "-b", "2")
    assert asked("drafts", "seen", "2").code == 0
    assert [d["seen"] for d in asked("drafts", "--json").data["drafts"]] == [False, True]
    shown = asked("drafts", "diff", "1", "2").out
    assert "{+, and the Earth more than the far water+}" in shown
    missing = asked("drafts", "diff", "1", "9")
    assert (missing.code, "drafts 1 to 2" in missing.err) == (2, True)


def test_closed_exchanges_keep_their_drafts(asked: Mind) -> None:
    """`drafts --exchange` shows what was not chosen, too."""
    asked("run", "-b", "2")
    asked("accept", "1")
    board = asked("drafts", "--exchange", "exc_1_000", "--json").data
    assert [d["accepted"] for d in board["drafts"]] == [True, False]
    assert "exc_1_000" in asked("drafts").err


def test_a_signal_is_never_the_answer(asked: Mind) -> None:
    """Accepting a +1 is refused; accepting without a number passes over it."""
    asked("run", "-b", "3")
    refused = asked("accept", "3")
    assert refused.code == 2
    assert "'+1'" in refused.err
    assert asked("accept", "--json").data["index"] == 2


def test_pruned_exchanges_stay_in_history(asked: Mind) -> None:
    """Pruning hides from the mind only."""
    asked("run")
    asked("accept")
    assert asked("prune", "exc_1_000").code == 0
    assert len(asked("history", "--json").data) == 1
    assert asked("prune", "exc_1_000").code == 2
    assert asked("prune").code == 2


def test_presence_is_told_and_shown(asked: Mind) -> None:
    """What is not given stays; one letter is enough; --clear takes the status back."""
    asked("signal", "-p", "r", "back at my desk")
    asked("signal", "-p", "engaged")
    (now,) = asked("signal", "--json").data
    assert (now["presence"], now["status"]) == ("engaged", "back at my desk")
    asked("signal", "--clear")
    assert asked("signal", "--json").data[0]["status"] == ""
    assert len(asked("signal", "-a", "--json").data) == 3
    assert asked("signal", "-p", "bored").code == 2
    assert "mind signal -p absent" in asked("signal", "absent").err
    assert len(asked("signal", "-a", "--json").data) == 3


def test_a_thought_of_ones_own_enters_the_pool(asked: Mind) -> None:
    """`think` injects; `thoughts` shows who it is from."""
    asked("think", "compare it with Fundy")
    (thought,) = asked("thoughts", "--json").data
    assert (thought["origin"], thought["mind"]) == ("injected", "user:ann")


def test_a_failing_mind_is_said_and_kept(asked: Mind, typed: Mind) -> None:
    """A recording that is over can't answer: exit code 2, one sentence, and the run is closed."""
    asked("run", "-b", "6")
    failed = typed("run", "1")
    assert failed.code == 2
    assert "Traceback" not in failed.err
    assert asked("status", "--json").data["running"] is None


def _log(mind: Mind, kind: str) -> list[dict[str, dict[str, str]]]:
    import json  # noqa: PLC0415

    shown = mind("log", "-n", "0", "--kind", kind, "--json").out
    return [json.loads(line) for line in shown.splitlines()]
