"""What people read: times and numbers in their words, and what to do where something is wrong."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from cli.main import run
from domain.agent_errors import AgentHasEnded, NoSuchAgent
from domain.errors import NoSuchMoment, NoSuchSession
from domain.sentences import the_nearest, there_are
from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """All of this without a process."""
    return within


def test_one_of_something_is_not_many() -> None:
    """A name alone is, several are, and those that are not named count."""
    assert there_are(["main"]) == "there is main"
    assert there_are(["main"], 2) == "there are main and 2 more"
    assert there_are(["main", "tides"]) == "there are main, tides"
    assert the_nearest(["draft:1"]) == "the nearest is draft:1"
    assert NoSuchSession("mian", ["main"]).sentence.endswith("'mian'; there is main.")
    assert NoSuchSession("mian", []).sentence.endswith("in this store (mind new NAME makes one).")
    assert NoSuchMoment("main", "draft:9", iter(["draft:1"])).sentence.endswith("is draft:1.")
    assert NoSuchAgent("x-1", ["reviewer-1"]).sentence.endswith(": there is reviewer-1.")


def test_only_who_was_to_be_spoken_to_is_replaced() -> None:
    """Who ends what has ended already does not want another one."""
    assert "draft another one" in AgentHasEnded("a-1", "killed", spoken_to=True).sentence
    assert "draft" not in AgentHasEnded("a-1", "killed").sentence


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("log -n x", "'--count' / '-n': 'x' is not taken, give a whole number, 0 or more."),
        ("log -n -1", "'-1' is not taken, give a whole number, 0 or more."),
        ("work --shards 5000", "'5000' is not taken, give a whole number from 1 to 1024."),
        ("drafts diff 1 b", "'b' is not taken, give a whole number."),
        (
            "import --from markdwn notes.md",
            "'markdwn' is not one of 'claude-code', 'chatgpt', 'openai-messages', 'markdown'.",
        ),
    ],
)
def test_what_an_option_takes_is_said(mind: Mind, words: str, said: str) -> None:
    """In words of ours, with all that is allowed."""
    refused = mind(*words.split())
    assert refused.code == 2
    assert refused.err.splitlines()[-1].endswith(said)
    assert "Input should" not in refused.err
    assert "Value error" not in refused.err


def test_nothing_to_do_is_said_as_such(asked_within: Mind) -> None:
    """Drafts that are not there are not seen, and no words are not looked for."""
    assert asked_within("drafts", "seen").err == "No draft yet: mind run\n"
    assert asked_within("run").code == 0
    seen = [asked_within("drafts", "seen").err for _ in range(2)]
    assert "All of them were seen before.\n" in seen
    assert asked_within("search", " ").err.startswith("mind: There are no words to look for: give")
    assert asked_within("accept").code == 0
    assert asked_within("message", "").err == "mind: The message is empty: write one.\n"


def test_status_is_read_as_sessions_is(asked_within: Mind) -> None:
    """Local time to the second, and how far the exchange is; programs get what they always had."""
    (row,) = asked_within("sessions").out.splitlines()[1:]
    shown = asked_within("status").out
    assert re.search(r" updated  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n", shown)
    assert "  no draft\n" in shown
    assert "  no draft  " in row
    data = asked_within("status", "--json").data
    assert (data["state"], data["updated"][-6:]) == ("drafting", "+00:00")
    assert asked_within("run").code == 0
    assert "state  1 draft\n" in asked_within("status").out


def test_a_store_that_was_deleted_is_said_to_be(asked_within: Mind, tmp_path: Path) -> None:
    """Who named no store learns which one was meant, and how to choose another."""
    shutil.rmtree(tmp_path / "thinking")
    refused = asked_within("status")
    assert refused.code == 2
    assert f"The store '{tmp_path}/thinking', which was used last, is no longer" in refused.err
    assert "mind open DIR" in refused.err
    assert "mind init DIR" in refused.err


def test_a_setting_can_be_asked_alone(asked_within: Mind) -> None:
    """Its value and nothing else; a name that is none is refused with what was meant."""
    assert asked_within("config", "token_limit").out == "4000\n"
    assert asked_within("config", "temperature").out == "off\n"
    assert asked_within("config", "temperature", "--json").data is None
    assert asked_within("config", "attempts", "--set", "attempts=2").out == "2\n"
    assert "did you mean token_limit?" in asked_within("config", "token-limit").err


def test_what_was_set_is_shown_and_no_other_setting(asked_within: Mind) -> None:
    """The line that was asked for does not drown in thirty others."""
    told = asked_within("config", "--set", "attempts=2", "--set", "budget_usd=0.5").out
    assert [line.split()[:2] for line in told.splitlines()[1:]] == [
        ["attempts", "2"],
        ["budget_usd", "0.5"],
    ]


def test_help_is_a_verb_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`mind help VERB` prints what `mind VERB --help` prints."""
    told = []
    for words in (["help", "work", "show"], ["work", "show", "--help"], ["help"]):
        monkeypatch.setattr(sys, "argv", ["mind", *words])
        with pytest.raises(SystemExit) as ended:
            run()
        assert ended.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert "mind work show [OPTIONS] {VIEW}" in told[0]
    assert "mind [OPTIONS] COMMAND" in told[2]
