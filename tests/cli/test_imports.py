"""`mind import --from`: what comes, what is said of it, and what is refused."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Mind
from tests.commands.imports.shelf import FIXTURES


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process, in a directory with a store."""
    assert within("init", "store", "--name", "main").code == 0
    return within


def test_chatgpt(mind: Mind) -> None:
    """A line for each session on stdout; counts, reasons and the next steps on stderr."""
    done = mind("import", "--from", "chatgpt", str(FIXTURES / "conversations.json"))
    assert done.code == 0, done.err
    tides, title = "why-are-there-two-tides", "Why are there two tides?"
    assert done.out.splitlines() == [
        f"{tides}: {title} (3 exchanges, 1 tool use, 1 thought, 1 note)",
        f"{tides}/branch-1: {title} (1 answer), a branch of {tides}",
        f"{tides}/branch-2: {title} (1 exchange), a branch of {tides}",
        "chat-2026-03-02: リスボン (1 exchange)",
    ]
    assert done.err.splitlines() == [
        "Imported 4 sessions (2 of them branches): 5 exchanges, 1 tool use, 1 thought, 1 note.",
        "  Left out: conversations without a message: 1",
        "  Left out: reasoning_recap lines of ChatGPT: 1",
        "  Changed: images, sounds and files as a line in the text: 1",
        "Next: mind history --session why-are-there-two-tides",
        "      mind artifact extract why-are-there-two-tides",
    ]
    shown = mind("history", "--session", "why-are-there-two-tides").out
    assert "The difference of the pulls is 1.1e-7 g." in shown
    assert mind("verify").code == 0
    assert mind("sessions").out.count("why-are-there-two-tides") >= 3


def test_again(mind: Mind) -> None:
    """The same file is not imported twice: it is refused, and said how much is here."""
    file = str(FIXTURES / "talk.md")
    assert mind("import", "--from", "markdown", file).code == 0
    done = mind("import", "--from", "markdown", file, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "mind: 'talk.md' was imported before (1 session), and nothing is new in it.\n"
    )


def test_json_and_a_dry_run(mind: Mind) -> None:
    """A program gets all counts; a dry run has the same and writes nothing."""
    words = ("import", "--from", "claude-code", str(FIXTURES / "session.jsonl"), "--json")
    dry = mind(*words, "--prefix", "code", "--dry-run").data
    assert mind("sessions", "--json").out.count("code/") == 0
    real = mind(*words, "--prefix", "code").data
    assert (dry.pop("dry_run"), real.pop("dry_run")) == (True, False)
    assert dry == real
    first = real["sessions"][0]
    assert (first["session"], first["what"]) == ("code/checkout-charges-twice", "new")
    assert (first["exchanges"], first["tools"], first["thoughts"]) == (4, 3, 1)
    assert real["left_out"]["lines of subagents (sidechains)"] == 2


def test_names_and_settings(mind: Mind, tmp_path: Path) -> None:
    """A name, the mind that goes on, settings; then the talk goes on as any other."""
    (tmp_path / "mind.txt").write_text("draft: The smaller one, at half moon.\n", "utf-8")
    done = mind(
        *("import", "--from", "markdown", str(FIXTURES / "plain.txt"), "--name", "tides"),
        *("-m", f"script:{tmp_path}/mind.txt", "--set", "embedding_model=off"),
    )
    assert done.code == 0, done.err
    assert mind("run", "--session", "tides").code == 0
    assert mind("accept", "--session", "tides").code == 0
    history = mind("history", "--session", "tides", "--json").data
    assert [turn["answer"] for turn in history if "answer" in turn][
        -1
    ] == "The smaller one, at half moon."


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--from", "chatgpt", "nothing.json"], "there is no such file"),
        (["--from", "markdown", "."], "is a directory: name a file"),
        (["--from", "chatgpt", "bad.json"], "line 2 is not valid JSON"),
        (["bad.json"], "say which: --from claude-code, chatgpt, openai-messages or markdown."),
        (["bad.json", "--name", "x"], "--name goes with --from"),
        (["--from", "markdown", "talk.md", "--set", "nothing=1"], "nothing"),
        (["--from", "markdown", "talk.md", "--name", "main"], "exists already"),
        (["--from", "word", "talk.md"], "claude-code"),
    ],
)
def test_refusals(mind: Mind, words: list[str], why: str, tmp_path: Path) -> None:
    """Each is one sentence with exit code 2, and nothing is written."""
    (tmp_path / "bad.json").write_text('[\n{"mapping": {"a": nul}}]', "utf-8")
    (tmp_path / "talk.md").write_text("## User\n\nhi\n\n## Assistant\n\nhello\n", "utf-8")
    before = mind("sessions", "--json").out
    done = mind("import", *words)
    assert done.code == 2
    assert why in done.err
    assert mind("sessions", "--json").out == before


def test_what_a_terminal_would_obey(mind: Mind, tmp_path: Path) -> None:
    """Escape sequences in titles, names of tools and reasons are shown, never obeyed."""
    evil = "\x1b[2J\x1b]0;owned\x07\u202etitle"
    talk = {
        "id": "t",
        "title": evil,
        "messages": [
            {"role": "user", "content": f"hi {evil}"},
            {"role": f"x{evil}", "content": "?"},
            {"role": "assistant", "content": evil, "tool_calls": [{"function": {"name": evil}}]},
        ],
    }
    (tmp_path / "evil.jsonl").write_text(json.dumps(talk), "utf-8")
    done = mind("import", "--from", "openai-messages", "evil.jsonl")
    assert done.code == 0, done.err
    told = done.out + done.err
    for verb in ("history", "log", "sessions"):
        told += mind(verb, *([] if verb == "sessions" else ["--session", "2j-0-owned-title"])).out
    assert not any(c in told for c in "\x1b\x07\x9b\u202e")


def test_the_installed_command(installed: Mind) -> None:
    """It imports as a user would; nothing of a progress bar where nobody looks."""
    assert installed("init", "store").code == 0
    done = installed("import", "--from", "openai-messages", str(FIXTURES / "messages.json"))
    assert (done.code, len(done.out.splitlines())) == (0, 1)
    assert "\r" not in done.err
    assert "Imported 1 session: 2 exchanges, 2 tool uses, 1 thought, 1 note." in done.err
