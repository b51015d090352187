"""Finding where something turned."""

import json
from functools import partial
from pathlib import Path

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from domain.ids import SessionId
from projections.facts import FACTS
from tests.cli.conftest import MIND, Mind
from tests.stories.cast import Stage

LINES = (
    "thoughts: [the far bulge]\ndraft: The Moon pulls the near water more than the Earth.",
    "draft: The Moon pulls the near water more, and the Earth more than the far water.",
    "draft: '+1'",
)


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


@pytest.fixture
def drafted(mind: Mind, tmp_path: Path) -> Mind:
    """Three drafts, of which the second is accepted, another message, and a draft of that."""
    stage = Stage(tmp_path / "thinking", "main").begins()
    stage.runs(*LINES, mode="background", iterations=3)
    stage.does(AcceptDraft(), SendMessage(text="and the Sun?"))
    stage.runs("thoughts: []", "draft: It is the Sun as well.", mode="background", iterations=2)
    stage.log.close()
    return partial(mind, MIND_STORE=str(tmp_path / "thinking"))


@pytest.fixture
def shell(drafted: Mind, installed: Mind, tmp_path: Path) -> Mind:
    """The same, by the installed command: what a shell prints needs a real stderr."""
    assert drafted("status").code == 0
    return partial(installed, MIND_STORE=str(tmp_path / "thinking"))


def history(directory: Path, session: str = "main") -> list[str]:
    """What happened, by kind; the first one at place 1."""
    with EventLog(directory / "thinking") as log:
        return ["", *(r.event.kind for r in log.read(SessionId(session)))]


def test_the_first_event_for_which_it_holds(drafted: Mind, tmp_path: Path) -> None:
    """The event, the one before it, and how many states were looked at."""
    kinds = history(tmp_path)
    second = [n for n, kind in enumerate(kinds) if kind == "draft.emitted"][1]
    ran = drafted("bisect", "--where", "draft_count >= 2 or exchanges > 0")
    assert ran.code == 0, ran.err
    first, before, looks = ran.out.splitlines()
    assert first.split()[:2] == ["first", str(second)]
    assert "draft.emitted" in first
    assert "#2: The Moon pulls" in first
    assert before.split()[:2] == ["before", str(second - 1)]
    assert looks == f"Looked at 6 of {len(kinds) - 1} states."


def test_the_same_as_json(drafted: Mind, tmp_path: Path) -> None:
    """With both events whole, and the ends that were searched."""
    kinds = history(tmp_path)
    found = drafted("bisect", "-w", "state = 'idle' AND answer IS NOT NULL", "2", "--json")
    assert found.code == 2
    assert "It does not hold at event" in found.err
    assert found.out == ""
    closed = kinds.index("draft.accepted")
    found = drafted("bisect", "-w", "answer IS NOT NULL", "2", str(closed + 2), "--json")
    data = found.data
    assert (data["session"], data["start"], data["end"]) == ("main", 2, closed + 2)
    assert data["first"]["version"] == closed
    assert data["first"]["kind"] == "draft.accepted"
    assert data["before"]["version"] == closed - 1
    assert data["between"] == [closed - 1, closed]
    assert data["states"] == closed + 1
    assert data["looks"] <= 2 + data["states"].bit_length()
    assert data["skipped"] == []


def test_every_fact_can_be_asked_for(drafted: Mind, tmp_path: Path) -> None:
    """Each of them, with its value and its meaning, now and as of a moment."""
    listed = {row["fact"]: row for row in drafted("bisect", "--facts", "--json").data}
    assert list(listed) == list(FACTS)
    assert listed["exchanges"]["value"] == 1
    assert listed["exchanges"]["meaning"] == FACTS["exchanges"].meaning
    assert listed["config"]["value"]["token_limit"] == 4000
    for words in (["bisect", "--facts", "--at", "iter:1"], ["at", "iter:1", "bisect", "--facts"]):
        then = {row["fact"]: row["value"] for row in drafted(*words, "--json").data}
        assert (then["iteration"], then["draft_count"], then["exchanges"]) == (1, 1, 0)
    shown = drafted("bisect", "--facts").out
    assert shown.splitlines()[0].split() == ["fact", "value", "meaning"]
    for name, fact in FACTS.items():
        assert f"\n{name} " in shown
        assert fact.meaning in shown


def test_ends_at_which_it_is_not_so(drafted: Mind) -> None:
    """A sentence says which, and what to do."""
    for words, sentence in {
        ("--where", "version >= 1"): "It holds already at event 1",
        ("--where", "exchanges == 0"): "turn the condition around",
        ("--where", "draft_count > 99"): "It does not hold at event",
        ("5", "5", "--where", "draft"): "event 5 is not before 5",
        ("iter:2", "iter:1", "--where", "draft"): "The start has to be before the end",
    }.items():
        ran = drafted("bisect", *words)
        assert (ran.code, ran.out) == (2, ""), words
        assert sentence in ran.err


def test_what_can_not_be_asked(drafted: Mind) -> None:
    """One question at a time; names and moments that are not there bring the nearest."""
    for words, sentence in {
        (): "in one of two ways",
        ("-w", "draft", "-r", "true"): "in one of two ways",
        ("-w", "drfat"): "the nearest are draft,",
        ("-w", "draft > 3", "draft:1"): "can't compare a text with a number",
        ("-w", "__import__('os').system('touch gone')"): "can't be reached",
        ("mian@1", "-w", "draft"): "There is no session 'mian'; there is main.",
        ("head~3", "iter:99", "-w", "draft"): "the nearest is iter:5",
    }.items():
        ran = drafted("bisect", *words)
        assert (ran.code, ran.out) == (2, ""), words
        assert sentence in ran.err, words
        assert "Traceback" not in ran.err


def test_on_forks_and_in_the_past(drafted: Mind, tmp_path: Path) -> None:
    """A branch has its own moments behind those of its parent; the past ends where it is looked."""
    assert drafted("fork", "what-if", "--at", "exc_1:1").code == 0
    assert drafted("accept").code == 0
    assert drafted("fork", "what-if/else").code == 0
    kinds = history(tmp_path, "what-if/else")
    found = drafted("bisect", "-w", "exchanges = 1", "--json").data
    assert found["session"] == "what-if/else"
    assert found["first"]["session"] == "what-if"
    assert found["first"]["version"] == kinds.index("draft.accepted")
    found = drafted("bisect", "main@2", "head", "-w", "exchanges = 1", "--json").data
    assert found["session"] == "main"
    assert found["first"]["version"] == history(tmp_path).index("draft.accepted")
    refused = drafted("bisect", "main@2", "what-if@head", "-w", "draft")
    assert "have to be moments of one session" in refused.err
    at = found["first"]["version"]
    for past in (["at", f"main@{at - 1}", "bisect"], ["bisect", "--at", f"main@{at - 1}"]):
        ran = drafted(*past, "1", "head", "-w", "exchanges = 1")
        assert f"It does not hold at event {at - 1}, nor" in ran.err
    ran = drafted("at", f"main@{at}", "bisect", "-w", "exchanges = 1", "--json")
    assert ran.data["first"]["version"] == ran.data["end"] == at


def test_a_command_decides(shell: Mind, tmp_path: Path) -> None:
    """Once per moment, with the facts on stdin and the moment in its environment."""
    script = tmp_path / "judge.sh"
    script.write_text(
        'cat > "facts-$MIND_VERSION.json"\n'
        'echo "seen $MIND_SESSION@$MIND_VERSION in $MIND_STORE"\n'
        'test "$MIND_VERSION" -ge 11\n'
    )
    ran = shell("bisect", "--run", "sh judge.sh", "--json", SHELL="/bin/sh")
    assert ran.code == 0, ran.err
    assert ran.data["first"]["version"] == 11
    seen = sorted(tmp_path.glob("facts-*.json"))
    assert len(seen) == ran.data["looks"]
    for file in seen:
        facts = json.loads(file.read_text())
        assert list(facts) == list(FACTS)
        assert file.name == f"facts-{facts['version']}.json"
    assert f"seen main@11 in {tmp_path / 'thinking'}" in ran.err
    assert "event 11: holds" in ran.err
    assert "event 10: does not hold" in ran.err


def test_a_command_may_look_with_mind(shell: Mind, tmp_path: Path) -> None:
    """It finds the store and the session that are searched, and can stand at the moment."""
    script = 'mind at "$MIND_VERSION" drafts --json | grep -q "far water"'
    path = f"{MIND.parent}:/usr/bin:/bin"
    found = shell("bisect", "1", "exc_1:3", "--run", script, "--json", PATH=path).data
    drafts = [n for n, kind in enumerate(history(tmp_path)) if kind == "draft.emitted"]
    assert found["first"]["version"] == drafts[1]


def test_a_command_that_can_not_tell(shell: Mind) -> None:
    """Its neighbours are asked; where all of them pass, the range that remains is told."""
    skipping = "test $MIND_VERSION -lt 8 -o $MIND_VERSION -gt 12 || exit 125; "
    script = skipping + "test $MIND_VERSION -gt 5"
    found = shell("bisect", "--run", script, "--json", SHELL="/bin/sh").data
    assert found["first"]["version"] == 6
    assert found["skipped"] == []
    script = skipping + "test $MIND_VERSION -gt 12"
    ran = shell("bisect", "--run", script, "--json", SHELL="/bin/sh")
    assert ran.code == 2
    assert (ran.data["first"], ran.data["before"]) == (None, None)
    assert ran.data["between"] == [7, 13]
    assert ran.data["skipped"] == [8, 9, 10, 11, 12]
    assert "It begins to hold at one of the events 8 to 13" in ran.err
    assert "nobody could tell at 8 to 12" in ran.err
    plain = shell("bisect", "--run", script, SHELL="/bin/sh")
    assert (plain.code, plain.out) == (2, "")
    ran = shell("bisect", "--run", "exit 125", SHELL="/bin/sh")
    assert "It can't be told at event 1: choose another end." in ran.err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("exit 3", "ended with exit code 3 at event 1"),
        ("no-such-command", "ended with exit code 127 (not found) at event 1"),
        ("kill -9 $$", "was ended by signal 9 at event 1"),
    ],
)
def test_a_command_that_fails_ends_the_search(shell: Mind, command: str, sentence: str) -> None:
    """A sentence says how it ended, and what its exit codes mean."""
    ran = shell("bisect", "--run", command, SHELL="/bin/sh")
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert "125 that nobody can tell" in ran.err


def test_a_shell_that_is_not_there(drafted: Mind) -> None:
    """Is named."""
    ran = drafted("bisect", "--run", "true", SHELL="/nowhere/sh")
    assert ran.code == 2
    assert "The shell '/nowhere/sh' can't be run" in ran.err


def test_texts_can_not_command_the_terminal(drafted: Mind) -> None:
    """Neither those of the session nor those of the condition."""
    drafted("think", "\x1b]0;owned\x07 of moons")
    found = drafted("bisect", "-w", "any('owned' in t for t in thoughts)")
    assert "␛]0;owned␇ of moons" in found.out
    for words in (["--facts"], ["--facts", "--json"], ["-w", "'\x1b[31m' + draft"], ["-w", "\x1b"]):
        ran = drafted("bisect", *words)
        assert "\x1b" not in ran.out + ran.err


def test_a_redacted_event_shows_as_such(drafted: Mind) -> None:
    """It is still found by what it did."""
    redacted = drafted(
        "redact", "exc_1_000:2", "--reason", "It names a patient.", "--yes", "--only"
    )
    assert redacted.code == 0, redacted.err
    shown = drafted("bisect", "1", "exc_1_000:3", "-w", "draft_count >= 2").out
    assert "draft.emitted" in shown
    assert "[redacted]" in shown
    assert "far water" not in shown
