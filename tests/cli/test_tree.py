"""Sessions among each other: the tree, titles, what is put away."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from tests.cli.conftest import MIND, Mind


def drawing(out: str) -> list[str]:
    """The lines up to the name, marks included."""
    header, *lines = out.splitlines()
    end = min(header.find(word) for word in ("branched off", "events") if word in header)
    return [line[:end].rstrip() for line in lines]


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


def test_the_tree(asked: Mind) -> None:
    """Each branch hangs on its parent, and says where it left it; the current one is marked."""
    asked("run", "-b", "3")
    asked("fork", "b", "--at", "draft:1")
    asked("fork", "b/c", "--stay")
    asked("fork", "d", "-s", "main", "--at", "2", "--stay")
    shown = asked("sessions")
    assert drawing(shown.out) == ["  main", "* ├─ b", "  │  └─ b/c", "  └─ d"]
    assert "@6 draft 1 of exc_1_000" in shown.out.splitlines()[2]
    assert "@2 in exc_1_000" in shown.out.splitlines()[4]
    assert "3 drafts" in shown.out.splitlines()[1]
    assert shown.err == ""
    asked("switch", "main")
    assert drawing(asked("sessions").out) == ["* main", "  ├─ b", "  │  └─ b/c", "  └─ d"]


def test_the_tree_where_its_lines_can_not_be_shown(asked: Mind, installed: Mind) -> None:
    """In another encoding than UTF-8 it is drawn in ASCII, and no title breaks it."""
    asked("fork", "b")
    asked("fork", "c", "-s", "main")
    asked("rename", "Ebbe – Flut 潮", "-s", "b")
    shown = installed("sessions", PYTHONIOENCODING="ascii")
    assert shown.code == 0, shown.err
    assert drawing(shown.out) == ["  main", "  |- b", "* `- c"]
    assert "Ebbe ? Flut ?" in shown.out
    assert "Ebbe – Flut 潮" in asked("sessions").out


def test_the_tree_with_what_is_to_be_achieved(asked: Mind) -> None:
    """The open efforts of each branch that are its own; those of its parent stand there."""
    asked("effort", "open", "explain \x1b[31mthe\n tides")
    asked("fork", "b")
    asked("effort", "open", "ask the moon", "--apart")
    asked("fork", "b/c", "--stay")
    shown = asked("sessions", "--graph")
    assert shown.out.splitlines() == [
        "  main",
        "     effort 3: explain ␛[31mthe tides",
        "* └─ b  @3 in exc_1_000",
        "        effort 5: ask the moon",
        "     └─ b/c  @5 in exc_1_000",
    ]
    rows = asked("sessions", "--graph", "--json").data
    assert [[e["id"] for e in row["open_efforts"]] for row in rows] == [[3], [5], []]
    assert "open_efforts" not in asked("sessions", "--json").data[0]


def test_the_tree_for_programs(asked: Mind) -> None:
    """A flat list: every branch with its parent as a ref, where it left it, how far it is."""
    asked("run", "-b", "2")
    asked("fork", "b", "--at", "draft:1")
    asked("accept")
    asked("label", "good")
    main, child = asked("sessions", "--json").data
    assert main["parent"] is main["branched_off"] is main["label"] is None
    assert (main["events"], main["iterations"], main["drafts"]) == (main["version"], 2, 2)
    assert child == {
        "session": "b",
        "current": True,
        "archived": False,
        "title": "Why two tides a day?",
        "parent": "main@6",
        "branched_off": {
            "version": 6,
            "iteration": 1,
            "exchange": "exc_1_000",
            "drafting": True,
            "drafts": 1,
        },
        "version": 9,
        "events": 3,
        "iterations": 1,
        "state": "idle",
        "exchange": "exc_1_000",
        "drafts": 0,
        "label": "good",
        "label_version": 8,
        "updated": child["updated"],
        "away": None,
    }


def test_a_branch_can_be_looked_at_where_it_began(asked: Mind) -> None:
    """What `parent` says is a ref, and means that moment."""
    asked("run", "-b", "2")
    asked("fork", "b", "--at", "draft:1")
    ref = asked("sessions", "--json").data[1]["parent"]
    assert len(asked("at", ref, "drafts", "--json").data["drafts"]) == 1


def test_archived_sessions_are_hidden(asked: Mind) -> None:
    """Said, shown with --all, shown faint where others hang on them, and brought back."""
    asked("fork", "b", "--stay")
    asked("fork", "b/c", "-s", "b", "--stay")
    assert asked("archive", "b", "--reason", "a dead end").code == 0
    shown = asked("sessions")
    assert drawing(shown.out) == ["* main", "  └─ b (archived)", "     └─ b/c"]
    assert shown.err == ""
    assert asked("archive", "b/c").code == 0
    shown = asked("sessions")
    assert drawing(shown.out) == ["* main"]
    assert "2 archived sessions not shown: mind sessions --all" in shown.err
    assert [row["session"] for row in asked("sessions", "--json").data] == ["main"]
    rows = asked("sessions", "--all", "--json").data
    assert [(row["session"], row["archived"]) for row in rows] == [
        ("main", False),
        ("b", True),
        ("b/c", True),
    ]
    assert asked("archive", "--undo", "b").code == 0
    assert drawing(asked("sessions").out) == ["* main", "  └─ b"]


def test_the_current_session_may_be_archived(asked: Mind) -> None:
    """It stays the one that is worked on, and says so; no other takes its place unasked."""
    done = asked("archive")
    assert done.code == 0
    assert "main is archived, and still the one you work on: mind switch NAME." in done.err
    assert asked("sessions", "--json").data[0] | {"updated": ""} == {
        **asked("sessions", "--json").data[0],
        "updated": "",
        "current": True,
        "archived": True,
    }
    assert asked("run").code == 0
    assert asked("fork", "b").code == 0
    assert not asked("sessions", "--json").data[1]["archived"]
    switched = asked("switch", "main")
    assert switched.code == 0
    assert "which is archived (mind archive --undo main brings it back)" in switched.err
    assert asked("archive", "--undo").code == 0
    assert "archived" not in asked("switch", "main").err


def test_what_changes_nothing_is_refused(asked: Mind) -> None:
    """Put away twice, brought back twice, the same title, a reason for bringing back."""
    for words, sentence in (
        (("archive", "--undo", "main"), "is not archived"),
        (("rename", "Why two tides a day?"), "is 'Why two tides a day?' already"),
        (("rename", " "), "The title is empty"),
        (("archive", "--undo", "--reason", "x"), "leave out --reason, or --undo"),
        (("archive", "mian"), "There is no session 'mian'; there is main."),
        (("switch", "mian"), "There is no session 'mian'; there is main."),
        (("archive", "Not A Name"), "can't name a session"),
        (("at", "1", "archive"), "The past can only be read"),
        (("at", "1", "rename", "x"), "The past can only be read"),
    ):
        refused = asked(*words)
        assert (refused.code, refused.out) == (2, ""), words
        assert sentence in refused.err
    asked("archive")
    assert asked("archive").code == 2
    assert asked("status", "--json").data["version"] == 3


def test_a_title_is_shown_where_it_is_the_branch_s_own(asked: Mind) -> None:
    """On one line, without what a terminal would obey; the name stays."""
    asked("fork", "b")
    assert asked("rename", "A \x1b[31mred\x1b[0m\nherring").code == 0
    asked("fork", "b/c")
    lines = asked("sessions").out.splitlines()
    assert lines[0].endswith("title")
    assert lines[2].endswith("A ␛[31mred␛[0m herring")
    assert "herring" not in lines[3]
    assert [row["session"] for row in asked("sessions", "--json").data] == ["main", "b", "b/c"]


def test_a_deep_chain_stays_readable(asked: Mind) -> None:
    """Beyond so many levels the drawing goes no further to the right, and says how deep it is."""
    for depth in range(14):
        asked("fork", f"c{depth}")
    lines = drawing(asked("sessions").out)
    assert lines[12] == "  " + 11 * "   " + "└─ c11"
    assert lines[13] == "  +1" + (11 * 3 - 2) * " " + "└─ c12"
    assert lines[14] == "* +2" + (11 * 3 - 2) * " " + "└─ c13"


def test_a_store_without_sessions(mind: Mind, tmp_path: Path) -> None:
    """As a kill in the middle of `init` may leave it: nothing to list, and no fault."""
    (tmp_path / "empty").mkdir()
    EventLog.create(tmp_path / "empty").close()
    shown = mind("sessions", "-S", "empty")
    assert (shown.code, shown.out, shown.err) == (0, "", "")
    assert mind("sessions", "-S", "empty", "--json").data == []


def test_on_a_terminal_no_line_wraps(asked: Mind, tmp_path: Path) -> None:
    """A tree whose lines wrap is none; archived branches are faint, the current one is bold."""
    asked("fork", "b")
    asked("rename", "A very long title " * 5)
    asked("fork", "c")
    asked("archive", "b")
    env = {**os.environ, "MIND_STORE": str(tmp_path / "thinking"), "COLUMNS": "72", "TERM": "xterm"}
    env.pop("NO_COLOR", None)
    leader, follower = pty.openpty()
    subprocess.run([MIND, "sessions"], stdout=follower, env=env, check=True, timeout=60)
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    lines = shown.splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert [len(line) <= 72 for line in plain] == [True] * 4
    assert plain[2].endswith("…")
    assert lines[2].startswith("\x1b[2m  └─ b (archived)")
    assert lines[3].startswith("\x1b[1m*    └─ c")
