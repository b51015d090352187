"""How tables look: whole where nobody looks, fit for the terminal where somebody does."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli import output as out
from cli.main import build
from cli.runs import Onlooker
from commands.minds.mind import Request
from tests.cli.conftest import Mind, lived

WORDS = "It is the Sun as well, which is much heavier and yet so far away that it does little"
ROWS = [("412", "payments/what-if-refunds", WORDS, "why"), ("7", "main", "no", WORDS)]
NAMES = ("event", "session", "what", "effect")

Looked = Callable[..., list[str]]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Looked:
    """What something prints to a terminal of 80 columns, or of so many, line by line."""
    monkeypatch.setenv("NO_COLOR", "1")

    def looked(happens: Callable[[], object], columns: int = 80) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        with monkeypatch.context() as terminal:
            terminal.setattr(sys.stdout, "isatty", lambda: True)
            happens()
        return capsys.readouterr().out.splitlines()

    return looked


def test_the_widest_texts_are_cut_and_share_what_is_left(looked_at: Looked) -> None:
    """Names and numbers stay whole, a short text as well, and the line ends with the terminal."""
    lines = looked_at(lambda: out.table(ROWS, NAMES, cut=("what", "effect")))
    assert lines[1:] == [
        f"412    payments/what-if-refunds  {WORDS[:21]}…  why",
        f"7      main                      no                      {WORDS[:21]}…",
    ]


def test_nothing_is_cut_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe gets every text whole."""
    out.table(ROWS, NAMES, cut=("what", "effect"), spare=("event",))
    assert capsys.readouterr().out.count(WORDS) == 2


def test_a_last_column_that_is_not_cut_goes_on_below_itself(looked_at: Looked) -> None:
    """Every word of it is there, and beside it nothing."""
    rows = [("412", "main", WORDS), ("7", "payments", "no")]
    lines = looked_at(lambda: out.table(rows, NAMES[:3], wrapped=True), 60)
    column = lines[1].index("It is")
    assert [line[:column].split() for line in lines[1:]] == [
        ["412", "main"],
        *([], []),
        ["7", "payments"],
    ]
    assert " ".join(line[column:] for line in lines[1:]) == f"{WORDS} no"


def test_what_can_be_spared_makes_room_for_texts(looked_at: Looked) -> None:
    """Where texts would be cut to nothing a column is left out, and not one more than that."""
    spare = ("event", "effect")
    lines = looked_at(lambda: out.table(ROWS, NAMES, cut=("what", "effect"), spare=spare), 50)
    assert lines[0].split() == ["session", "what", "effect"]
    assert max(map(len, lines)) <= 50
    lines = looked_at(lambda: out.table(ROWS, NAMES, cut=("what", "effect"), spare=spare), 40)
    assert lines[0].split() == ["session", "what"]


def test_a_row_without_room_becomes_a_paragraph(looked_at: Looked) -> None:
    """Rather than that a name is cut, each cell gets a line."""
    lines = looked_at(lambda: out.table(ROWS[:1], NAMES, cut=("what", "effect")), 40)
    assert lines == [
        "— 1 —",
        "  event  412",
        "session  payments/what-if-refunds",
        f"   what  {WORDS[:30]}…",
        " effect  why",
    ]


def test_a_text_with_shades_is_broken_between_words(
    looked_at: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What colours it takes no room, marks do, and its own lines stay."""
    lines = looked_at(lambda: out.answer(out.wrapped(f"{WORDS}\n\nend", indent="  ")), 50)
    assert lines == [f"  {WORDS[:48]}", f"  {WORDS[49:]}", "", "  end"]
    monkeypatch.delenv("NO_COLOR")
    coloured = looked_at(lambda: out.answer(out.wrapped(out.marked("added", WORDS))), 50)
    assert coloured == [f"\x1b[32m{WORDS[:48]}", f"{WORDS[49:]}\x1b[0m"]


def test_what_is_waited_for_makes_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence begins on a line of its own, also where the mind could not answer at all."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    watcher = Onlooker()
    watcher.asked(Request("", (), "", 16, None, 0, 1.0, 7))
    watcher.close()
    watcher.close()
    assert capsys.readouterr().err == "\r\x1b[Kiteration 7 …\r\x1b[K"


def test_steps_that_show_what_is_part_of_what_stay(looked_at: Looked) -> None:
    """Spaces before a text are part of it, to somebody who looks as in a pipe."""
    lines = looked_at(lambda: out.table([("1", "    a part")], ("id", "what it says")))
    assert lines[1] == "1       a part"


def test_verbs_keep_to_the_terminal(
    within: Mind, tmp_path: Path, looked_at: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verbs with wide tables print no line that a terminal of 80 columns would break."""
    store = lived(tmp_path, ("run",), ("label", "good-start"))
    monkeypatch.setenv("MIND_STORE", str(store))
    monkeypatch.setenv("MIND_USER", "ann")
    assert within("fork", "payments/what-if-refunds", "--at", "draft:1").code == 0
    assert within("config", "--set", f"model=openrouter:{'long-' * 20}").code == 0
    assert within("work", "--once").code == 0

    def asked(*words: str) -> list[str]:
        return looked_at(lambda: build(words[0])(list(words), standalone_mode=False))

    for words in ("audit", "config", "role list", "work show activity", "bisect --facts"):
        lines = asked(*words.split())
        assert len(lines) > 2
        assert not [line for line in lines if len(line) > 80], words
    checks = asked("doctor")
    assert not [line for line in checks if len(line) > 80 or line.endswith("…")]
    sessions = asked("sessions")
    assert not [line for line in sessions if len(line) > 80]
    assert sessions[0].split()[-2:] == ["active", "title"]
    assert sessions[1].endswith("  Why two tides a day?")
