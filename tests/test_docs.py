"""What the documentation shows can be typed, and what it points to is there."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from typer.main import get_command

from cli.main import NOUNS, build
from commands.minds.fetch import PullFailed
from commands.minds.weights import pull
from domain.artifacts import Shelf
from domain.detection.findings import Passage
from domain.detection.rules import detect
from domain.ids import exchange_id
from domain.protocol.output import Output
from domain.protocol.parse import parse
from tests.cli.inside import inside

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")])
WRITTEN = [page for page in PAGES if page.name != "cli.md"]


def _shown(page: Path) -> list[str]:
    """Commands in code blocks, and in line where they are whole."""
    return _commands(page.read_text(encoding="utf-8"))


def _commands(text: str) -> list[str]:
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in _joined(block)]
    return [
        line.removeprefix("$ ").partition("  #")[0]
        for line in lines
        if re.match(r"(\$ )?mind [a-z-]", line) and "REF …" not in line
    ]


def _joined(block: str) -> Iterator[str]:
    """The lines of a block; a command goes on while a quotation is open."""
    rest = iter(block.split("\n"))
    for line in rest:
        while line.startswith("$ ") and line.count('"') % 2:
            line = f"{line} {next(rest).strip()}"  # noqa: PLW2901 — one command
        yield line


def _words(line: str) -> list[str]:
    """The words of a command, up to where a shell would begin with something else."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|>;&")
    lexer.whitespace_split, lexer.commenters = True, ""
    return list(takewhile(lambda word: not set(word) <= set("|>;&"), lexer))


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_shown_command_can_be_typed(page: Path) -> None:
    """Verbs, arguments and options of every shown command are those of the command line."""
    for line in _shown(page):
        _can_be_typed(_words(line)[1:])


def _can_be_typed(words: list[str]) -> None:
    while words[0] == "at":  # looks from a moment, at a command of its own
        words = words[2:]
    verb, arguments = words[0], words[1:]
    assert any(verb in verbs for verbs in NOUNS.values()), words
    command = get_command(build(verb)).commands[verb]  # type: ignore[attr-defined]
    with command.make_context(verb, arguments):
        pass


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """Relative links point to files that exist."""
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} → {target}"


def test_the_tutorial_shows_enough_to_be_worth_testing() -> None:
    """The reader of code blocks finds them: this guards the tests above."""
    assert len(_shown(ROOT / "docs" / "tutorial.md")) > 25


def test_the_tutorial_can_be_typed_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command does something, in the order in which they stand there, up to other minds."""
    monkeypatch.chdir(tmp_path)
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "MIND_USER": "ann"}
    reply = "thoughts: [the tide in bay {0} is high]\ndraft: The Moon lifts bay {0}."
    replies = [{"text": reply.format(number)} for number in range(40)]
    (tmp_path / "bays.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    more = {
        "init": ["-m", "script:bays.jsonl"],
        "start": ["--choose", "1"],
        "redact": ["--yes"],
    }

    def typed(words: list[str]) -> str:
        code, out, err = inside([*words, *more.get(words[0], ())], home)
        assert code == 0, (words, err)
        return out

    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    for line in _commands(page.partition("## Other minds")[0]):
        for part in line.split(" && "):
            words = _words(part)[1:]
            if words[:2] == ["artifact", "show"]:  # a number that the list has
                words[2] = str(json.loads(typed(["artifact", "list", "--json"]))[0]["id"])
            if words[:2] == ["why", "thought:42"]:
                words[1] = f"thought:{json.loads(typed(['thoughts', '--json']))[0]['version']}"
            typed(words)


def test_what_the_tutorial_says_leaves_what_it_promises() -> None:
    """Of the message about the harbour the rules find a fact and an event."""
    said = [_words(line)[-1] for line in _shown(ROOT / "docs" / "tutorial.md") if "Remind" in line]
    assert len(said) == 1
    passage = Passage(exchange_id(1, 0), said[0], None, (), "2026-11-22T12:00:00+00:00")
    found = detect(passage, Shelf())
    assert [fact.statement for fact in found.learned] == [
        "We use the tide tables of the harbour office"
    ]
    assert [event.what for event in found.noted] == ["Call the harbour office"]


def test_the_recorded_replies_that_are_shown_can_be_read() -> None:
    """What the page on minds shows for a script is what a mind may reply."""
    page = (ROOT / "docs" / "minds.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```yaml\n(thoughts:.*?)^```", page, re.DOTALL | re.MULTILINE)
    one, other = map(parse, shown.split("---\n"))
    assert isinstance(one, Output)
    assert isinstance(other, Output)
    assert (one.thoughts, bool(one.draft)) == (("the far bulge is the surprising half",), True)
    assert other.draft == "+1"


def test_generated_pages_are_fresh() -> None:
    """Reference pages say what the code says."""
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_command_of_the_demo_can_be_typed() -> None:
    """Verbs and options of its program are those of the command line; what it works out is a 1."""
    program = ast.parse((ROOT / "docs" / "demo" / "run.py").read_text(encoding="utf-8"))
    calls = [
        [str(arg.value) if isinstance(arg, ast.Constant) else "1" for arg in node.args]
        for node in ast.walk(program)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "run"
    ]
    assert len(calls) > 15
    for words in calls:
        _can_be_typed(words)


@pytest.mark.slow
@pytest.mark.local_model
def test_the_demo_runs_on_the_smallest_model(tmp_path: Path) -> None:
    """The demo's program goes through all its steps with a real model on this machine."""
    try:
        pull("local:tiny", env=os.environ)
    except PullFailed as failure:
        pytest.skip(f"the model can't be fetched here: {failure.sentence}")
    done = subprocess.run(
        [sys.executable, "docs/demo/run.py"],
        cwd=ROOT,
        env={**os.environ, "MODEL": "tiny", "DEMO_STORE": str(tmp_path / "store")},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all as written" in done.stdout
