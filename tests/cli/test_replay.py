"""Living the past again from the command line: the proof, and what would have been otherwise."""

import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Mind

WORDY = """\
thoughts:
  - think of a rotating frame
---
draft: Both fall around a common centre, and water on both sides lags behind.
---
draft: It adds up with the Moon's pull every fortnight.
---
draft: Less than half as much.
"""


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


@pytest.fixture
def told(asked: Mind, tmp_path: Path) -> Mind:
    """The same, with two exchanges, the second one open, and the script of another mind."""
    asked("run", "-b", "2")
    asked("accept")
    asked("signal", "-p", "reviewing", "at my desk")
    asked("message", "and the sun?")
    asked("run", "2")
    (tmp_path / "wordy.txt").write_text(WORDY, encoding="utf-8")
    return asked


def other(tmp_path: Path) -> str:
    """The setting that makes it the other mind."""
    return f"model=script:{tmp_path}/wordy.txt"


# the proof


def test_all_comes_out_as_it_was(told: Mind, tmp_path: Path) -> None:
    """Counts of prompts, samples and states; exit code 0."""
    ran = told("replay", "--check")
    assert ran.code == 0
    assert "prompts  4        4      0          0" in ran.out
    assert "of 1 session replayed: all as it was." in ran.out
    told("fork", "b", "--at", "draft:1")
    assert told("replay", "b", "--with", other(tmp_path)).code == 2, "the name is taken"
    data = told("replay", "--check", "--all", "--json").data
    assert data["sessions"] == ["main", "b"]
    assert data["holds"]
    assert data["prompts"] == {"checked": 4, "equal": 4, "different": 0, "unproven": 0}
    assert told("replay", "--check", "main", "b", "--json").data == data
    assert told("replay", "--check", "-s", "main", "--json").data["sessions"] == ["main"]


def test_what_comes_out_otherwise_is_named(told: Mind, tmp_path: Path) -> None:
    """The first difference with iteration, version and both values; exit code 1."""
    with sqlite3.connect(tmp_path / "thinking" / "log.db") as connection:
        connection.execute("DROP TRIGGER events_never_change")
        rows = connection.execute("SELECT state, rowid FROM stored_events").fetchall()
        wrong = [(state.replace(b"at my desk", b"at my deck"), rowid) for state, rowid in rows]
        connection.executemany("UPDATE stored_events SET state=? WHERE rowid=?", wrong)
    connection.close()
    ran = told("replay", "--check")
    assert ran.code == 1
    assert "prompts  4        2      2          0" in ran.out
    assert "mind verify" in ran.err
    data = told("replay", "--check", "--json").data
    assert not data["holds"]
    assert [d["iteration"] for d in data["differences"]] == [3, 4]
    first = data["differences"][0]
    assert first["recorded"] != first["found"]
    where = f"iteration 3 of main, event {first['version']}:\n  recorded {first['recorded']}"
    assert f"First difference: the prompt of {where}" in ran.out


def test_what_was_redacted_can_not_be_proven(told: Mind) -> None:
    """It is counted apart and told; nothing is wrong with it."""
    assert told("redact", "draft:1", "--reason", "personal", "--yes").code == 0
    ran = told("replay", "--check")
    assert ran.code == 0
    assert "redacted" in ran.err
    assert told("replay", "--check", "--json").data["prompts"]["unproven"] == 1


def test_nothing_to_prove(told: Mind) -> None:
    """A session that is not there is refused; so are options that go with something else."""
    assert told("replay", "--check", "nowhere").code == 2
    for words in (["--check", "--with", "a=b"], ["--check", "--from", "1"], ["--all"], []):
        ran = told("replay", *words)
        assert ran.code == 2, words
        assert "Traceback" not in ran.err
    assert told("at", "iter:1", "replay", "--check").code == 2


# what would have been otherwise


def test_another_mind_is_told_the_same(told: Mind, tmp_path: Path) -> None:
    """Its drafts go to stdout, what is done again to stderr; the session stays the one it was."""
    ran = told("replay", "what-if", "--with", other(tmp_path), "--set", "token_limit=100")
    assert ran.code == 0, ran.err
    assert "Both fall around a common centre" in ran.out
    assert "» why two tides a day?" in ran.err
    assert "» accepted #1 of exc_1_000" in ran.err
    assert ran.err.strip().endswith("Compare: mind diff main what-if")
    status = told("status", "--session", "what-if", "--json").data
    assert (status["iterations"], status["state"]) == (4, "drafting")
    assert told("status", "--json").data["session"] == "main"
    assert told("config", "-s", "what-if", "--json").data["token_limit"] == 100
    assert told("replay", "--check", "what-if").code == 0
    again = told("replay", "--continue", "what-if", "--json").data
    assert (again["session"], again["reason"], again["source"]) == ("what-if", "done", "main")


def test_a_part_of_the_past(told: Mind, tmp_path: Path) -> None:
    """From a moment of the source up to another one; a moment of another session is refused."""
    words = ["replay", "what-if", "--with", other(tmp_path), "--from", "exc_1_000"]
    ended = told(*words, "--until", "iter:3", "--json").data
    assert (ended["reason"], ended["iterations"]) == ("done", 1)
    told("fork", "b")
    words = ["replay", "x", "--from"]
    assert "--session main" in told(*words, "main@iter:1").err
    assert told(*words, "main@iter:1", "--session", "main", "--with", other(tmp_path)).code == 0
    refused = told("replay", "y", "--from", "head")
    assert refused.code == 2
    assert "did nothing" in refused.err


def test_nothing_is_begun_that_can_not_be(told: Mind) -> None:
    """Bad settings, names and keys are refused, and no branch is made."""
    for words in (
        ["replay", "x", "--with", "temperature=9"],
        ["replay", "x", "--with", "nonsense"],
        ["replay", "x", "--with", "model=openrouter:a/b"],
        ["replay", "X!", "--with", "token_limit=100"],
        ["replay", "x", "y"],
        ["replay", "--continue", "main"],
        ["replay", "--continue", "main", "--with", "token_limit=100"],
    ):
        ran = told(*words)
        assert ran.code == 2, words
        assert ran.err.startswith("mind: "), words
    assert [row["session"] for row in told("sessions", "--json").data] == ["main"]


def test_no_draft_where_one_was_accepted(told: Mind, tmp_path: Path) -> None:
    """It stops with exit code 1 and says how to go on by hand; then it goes on."""
    short = tmp_path / "short.txt"
    short.write_text("thoughts: [a]\n---\nthoughts: [b]\n---\n" + WORDY.partition("---\n")[2])
    ran = told("replay", "what-if", "--with", f"model=script:{short}")
    assert ran.code == 1
    assert "mind run --session what-if" in ran.err
    assert told("run", "--session", "what-if").code == 0
    ran = told("replay", "--continue", "what-if", "--quiet")
    assert (ran.code, ran.out) == (0, "")
    assert told("status", "--session", "what-if", "--json").data["iterations"] == 5


def test_a_mind_that_has_no_more_to_say(told: Mind, tmp_path: Path) -> None:
    """What was lived is there, and it goes on as soon as it can."""
    short = tmp_path / "short.txt"
    short.write_text(WORDY.rpartition("---\n")[0])
    ran = told("replay", "what-if", "--with", f"model=script:{short}")
    assert ran.code == 2
    assert "has none for iteration 4" in ran.err
    short.write_text(WORDY)
    assert told("replay", "--continue", "what-if", "--json").data["reason"] == "done"


def test_texts_can_not_command_the_terminal(asked: Mind, tmp_path: Path) -> None:
    """What is told of the steps is shown, never obeyed."""
    asked("think", "\x1b]0;owned\x07")
    asked("signal", "-p", "e", "\x1b[31m")
    ran = asked("replay", "what-if")
    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err
