"""The whole intervention history, as a table, as JSON, as CSV."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from cli.audit import no_formula
from tests.cli.conftest import Mind, Ran


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


def rows(ran: Ran) -> list[tuple[str, str, str]]:
    """Who, through which command, what: as JSON tells it."""
    assert ran.code == 0, ran.err
    return [(row["actor"], row["command"], row["what"]) for row in ran.data]


def cells(ran: Ran) -> list[dict[str, str]]:
    """CSV, read by the book."""
    assert ran.code == 0, ran.err
    return list(csv.DictReader(StringIO(ran.out, newline=""), strict=True))


def test_the_installed_command(mind: Mind) -> None:
    """It is there, and answers as any other."""
    mind("init", "thinking", "-m", "local")
    assert mind("audit", "--json").data[0]["command"] == "init"
    assert mind("audit", "--by", "user:bob").code == 2


def test_who_did_what_and_what_came_of_it(asked: Mind) -> None:
    """Each wish is one line: when, who, through which command, what, with what effect."""
    asked("run", "-b", "2")
    asked("signal", "-p", "engaged", "reading")
    asked("accept", "1", MIND_USER="bob")
    shown = asked("audit")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0].split() == ["event", "when", "who", "command", "what", "effect"]
    assert [line.split()[3:5] for line in lines[1:]] == [
        ["user:ann", "init"],
        ["user:ann", "run"],
        ["user:ann", "run"],
        ["user:ann", "signal"],
        ["user:bob", "accept"],
    ]
    assert "answered by draft 1 of 2 after 2 iterations" in lines[1]
    assert "run -b" in lines[2]
    assert "2 iterations, 2 drafts, 2 thoughts" in lines[2]
    assert "was absent; seen by no iteration" in lines[4]
    assert "one of 2 drafts; closed exc_1_000" in lines[5]


def test_for_programs(asked: Mind) -> None:
    """JSON has every deed with its facts; times are UTC, wishes are named as in the log."""
    asked("run")
    data = asked("audit", "--json").data
    assert [row["command"] for row in data] == ["init", "run", "run", "run"]
    begun: dict[str, Any] = data[1]
    assert begun["kinds"] == ["run.started"]
    assert begun["deeds"][0]["facts"]["iterations"] == 1
    assert begun["deeds"][0]["facts"]["end"] == "stopped: draft"
    assert begun["at"].endswith("+00:00")
    logged = {line["version"]: line for line in _log(asked)}
    for row in data:
        assert row["wish"] == logged[row["version"]]["command"]
        assert row["at"] == logged[row["version"]]["at"]
        assert {logged[deed["version"]]["kind"] for deed in row["deeds"]} == set(row["kinds"])


def _log(mind: Mind) -> list[dict[str, Any]]:
    import json  # noqa: PLC0415 — for this one

    return [json.loads(line) for line in mind("log", "-n", "0", "--json").out.splitlines()]


def test_nothing_is_cut_in_full(asked: Mind) -> None:
    """`--full` shows each deed with its effect below, whatever their length."""
    note = "a long note, " * 20
    asked("note", note, "--about", "2")
    full = asked("audit", "--full", "-n", "1").out
    assert note.strip() in " ".join(full.split())
    assert "→ about 2" in full


def test_csv_is_read_by_the_book(asked: Mind) -> None:
    """Quotes, commas and line breaks survive; lines end as RFC 4180 says."""
    text = 'he said "no", and\nthen, "yes"'
    asked("note", text)
    raw = asked("audit", "--csv")
    assert raw.out.count("\n") == 3
    assert [row["what"] for row in cells(raw)][-1] == " ".join(text.split())
    assert list(cells(raw)[0]) == [
        *("at", "actor", "command", "session", "version", "last", "kinds", "what", "effect"),
        "wish",
    ]
    data = asked("audit", "--json").data
    for row, facts in zip(cells(raw), data, strict=True):
        assert row["kinds"].split() == facts["kinds"]
        assert [row[k] for k in ("at", "effect", "wish")] == [
            facts[k] for k in ("at", "effect", "wish")
        ]


def test_lines_of_csv_end_by_the_book(asked: Mind, tmp_path: Path) -> None:
    """With CR and LF, which a text of the user can't bring in."""
    asked("note", "one\r\ntwo\rthree")
    shown = asked("audit", "--csv").out
    assert "\r\r" not in shown
    assert "one" in shown


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_formulas_stay_texts(start: str) -> None:
    """What a spreadsheet would calculate begins with an apostrophe."""
    assert no_formula(start) == f"'{start}"
    assert no_formula(f"x{start}") == f"x{start}"
    assert no_formula("") == ""


def test_a_note_that_is_a_formula(asked: Mind) -> None:
    """In CSV it is disarmed; in JSON it is what was written."""
    asked("note", "=HYPERLINK(1)")
    assert cells(asked("audit", "--csv"))[-1]["what"] == "'=HYPERLINK(1)"
    assert asked("audit", "--json").data[-1]["what"] == "=HYPERLINK(1)"


def test_texts_do_not_command_the_terminal(asked: Mind) -> None:
    """Escape sequences are shown, not obeyed, in every form."""
    asked("note", "a \x1b[31mred\x1b[0m \x9b2J note \u202e")
    for form in ([], ["--full"], ["--json"], ["--csv"]):
        shown = asked("audit", *form).out
        assert "red" in shown
        assert not {"\x1b", "\x9b", "\u202e"} & set(shown), form


def test_some_of_them(asked: Mind) -> None:
    """By actor, by kind, from one moment to another, the newest so many."""
    asked("run")
    asked("label", "tea", MIND_USER="bob")
    asked("note", "hm")
    every = rows(asked("audit", "--json"))
    assert len(every) == 6
    for options, expected in (
        (["--by", "user:bob"], every[4:5]),
        (["--by", "user"], every),
        (["--by", "system"], []),
        (["-n", "2"], every[-2:]),
        (["-n", "1", "--by", "user:ann"], every[-1:]),
        (["--kind", "draft.seen", "-k", "note.added"], [every[2], every[5]]),
        (["--since", "iter:1"], every[3:]),
        (["--until", "draft:1"], every[:2]),
        (["--since", "2", "--until", "draft:1"], every[1:2]),
        (["--since", "2001-01-01"], every),
        (["--until", "2001-01-01"], []),
        (["--until", "2901-01-01"], every),
        (["--since", "9999-12-31"], []),
    ):
        assert rows(asked("audit", "--json", *options)) == expected, options
    empty = asked("audit", "--by", "mind")
    assert (empty.code, empty.out) == (0, "")
    assert "no such intervention" in empty.err


def test_what_is_refused(asked: Mind) -> None:
    """In one sentence that says what there is instead."""
    asked("run")
    asked("new", "other")
    for options, sentence in (
        (["main", "--by", "user:zoe"], "'user:zoe' in main: there are mind:script:"),
        (["main", "--by", "ann"], "user:ann"),
        (["main", "--by", ""], "user:ann"),
        (["main", "--kind", "draft.eaten"], "draft.accepted"),
        (["main", "--kind", "mind.invoked"], "no kind"),
        (["main", "--since", "other@1"], "is no moment of main"),
        (["main", "--since", "99"], "no moment '99'"),
        (["main", "--since", "tomorrow"], "names no moment"),
        (["main", "--json", "--csv"], "one of --json and --csv"),
        (["main", "-s", "other"], "'main' or 'other'"),
        (["nowhere"], "no session 'nowhere'"),
    ):
        ran = asked("audit", *options)
        assert (ran.code, ran.out) == (2, ""), options
        assert sentence in ran.err
        assert ran.err.count("\n") == 1


def test_branches_and_moments(asked: Mind) -> None:
    """A branch has what it inherits, with the session where it lives; the past has no future."""
    asked("run", "-b", "2")
    asked("fork", "what-if", "--at", "draft:1", "--reason", "less is more")
    asked("accept")
    mine = asked("audit", "--json").data
    assert [(row["session"], row["command"]) for row in mine] == [
        ("main", "init"),
        ("main", "run -b"),
        ("what-if", "fork"),
        ("what-if", "accept"),
    ]
    assert "main@1" in asked("audit").out
    theirs = asked("audit", "main", "--json").data
    assert [row["session"] for row in theirs] == ["main", "main", "main", "what-if"]
    assert asked("audit", "-s", "main", "--json").data == theirs
    past = asked("at", "main@draft:1", "audit", "--json").data
    assert [row["command"] for row in past] == ["init", "run -b"]
    assert past[1]["effect"].endswith("still going")
    assert asked("at", "main@draft:1", "audit", "--until", "head", "--json").data == past
    asked("note", "later", "-s", "main")
    assert asked("audit", "--json").data == mine


def test_what_was_redacted_is_told_as_such(asked: Mind) -> None:
    """Here and on branches; who took it away, and why, is an intervention."""
    asked("note", "the patient is called N.N.")
    asked("fork", "what-if")
    done = asked("redact", "main@3", "--reason", "It named a patient.", "--yes", "-s", "main")
    assert done.code == 0, done.err
    for name in ("main", "what-if"):
        data = asked("audit", name, "--json").data
        (note,) = (row for row in data if row["command"] == "note")
        assert note["what"] == "[redacted]"
        assert note["deeds"][0]["redacted"]
        assert "N.N." not in asked("audit", name, "--csv").out
    last = asked("audit", "main", "--json").data[-1]
    assert (last["command"], last["what"]) == ("redact", "event 3 (note.added)")
    assert last["effect"] == "content taken away: It named a patient."


def test_commands_are_told_by_their_names(asked: Mind) -> None:
    """Whatever a user types, the audit names it so."""
    asked("run", "-b", "1")
    for words in (
        ["drafts", "seen"],
        ["accept"],
        ["message", "and spring tides?"],
        ["run", "1"],
        ["accept"],
        ["prune", "--keep", "0"],
        ["signal", "-p", "r"],
        ["think", "what of the Sun?"],
        ["config", "--set", "token_limit=300"],
        ["note", "hm"],
        ["label", "tea"],
        ["rename", "Two tides"],
        ["archive", "--reason", "done"],
    ):
        ran = asked(*words)
        assert ran.code == 0, (words, ran.err)
    commands = [row["command"] for row in asked("audit", "main", "--json").data]
    assert list(dict.fromkeys(commands)) == [
        *("init", "run -b", "drafts seen", "accept", "message", "run", "prune", "signal", "think"),
        *("config", "note", "label", "rename", "archive"),
    ]
