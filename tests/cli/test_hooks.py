"""Hooks on the command line."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import TIDES, Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


GUIDE = Path(__file__).parents[2] / "docs" / "hooks.md"


@pytest.fixture
def hooked(mind: Mind, tmp_path: Path) -> Mind:
    """A store whose mind is recorded, without an embedder; and the hook of the guide."""
    (tmp_path / "tides.txt").write_text(TIDES, encoding="utf-8")
    (source,) = re.findall(
        r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    (tmp_path / "doubt.py").write_text(source, encoding="utf-8")
    made = mind(
        *("init", "thinking", "why two tides a day?", "-m", f"script:{tmp_path}/tides.txt"),
        *("--set", "embedding_model=off"),
    )
    assert made.code == 0, made.err
    return mind


def test_the_hook_of_the_guide_does_what_it_says(hooked: Mind) -> None:
    """It stirs the mind and writes a note, signed, about the draft that led to it."""
    assert hooked("step", "--hook", "doubt.py").code == 0
    (thought,) = [t for t in hooked("thoughts", "--json").data if t["origin"] == "injected"]
    assert thought["text"] == "Draft 1 has 10 words: what is missing?"
    assert thought["mind"] == "agent:hook:doubt"
    (note,) = hooked("note", "--json").data
    assert note["text"] == "A draft of 10 words."
    (about,) = note["about"]
    assert hooked("show", str(about), "--json").data["kind"] == "draft.emitted"
    assert note["by"] == "agent:hook:doubt"
    shown = hooked("show", str(note["version"]), "--json").data
    assert hooked("show", str(shown["cause"]), "--json").data["kind"] == "mind.invoked"
    assert hooked("verify").code == 0


def test_hooks_take_arguments_and_come_in_any_number(hooked: Mind) -> None:
    """From the environment first, then from the options; `MIND_HOOKS=` switches the first off."""
    words = ("run", "1", "--hook", "doubt.py:Doubt,words=3", "--hook", "novelty,every=1")
    ran = hooked(*words, MIND_HOOKS="auditor,every=1")
    assert ran.code == 0, ran.err
    log = [line.split()[3] for line in hooked("log").out.splitlines()]
    assert log[3:] == [
        *("thought.added", "mind.invoked", "thought.added", "draft.emitted", "draft.seen"),
        *("note.added", "run.stopped"),
    ]
    (note,) = hooked("note", "--json").data
    assert note["by"] == "agent:hook:auditor"


def test_a_hook_that_fails_is_told_and_the_run_goes_on(hooked: Mind, tmp_path: Path) -> None:
    """One sentence on stderr each time; stdout stays data, and the exit code 0."""
    source = "def hook(turn):\n    print('hello')\n    raise ValueError('\\x1b[31mno')\n"
    (tmp_path / "bad.py").write_text(source, encoding="utf-8")
    ran = hooked("run", "-b", "4", "--json", "--hook", "bad.py")
    assert ran.code == 0
    assert ran.data["iterations"] == 4
    told = [line for line in ran.err.splitlines() if line.startswith("  ! ")]
    assert told[0] == (
        "  ! Hook 'bad' failed after iteration 1: ValueError: ␛[31mno (bad.py, line 3)."
        " The run goes on."
    )
    assert len(told) == 3
    assert told[2].endswith("It is left out for the rest of this run.")


@pytest.mark.parametrize(
    ("hook", "sentence"),
    [
        ("novelte", "there are auditor, novelty"),
        ("gone.py", "There is no hook file 'gone.py'"),
        ("novelty,evry=2", "it takes every, file"),
        ("novelty,2", "write key=value"),
    ],
)
def test_a_hook_that_is_not_there_is_refused(hooked: Mind, hook: str, sentence: str) -> None:
    """Before anything runs, by run and by step, as an option and in the environment."""
    for words, more in ((("run", "--hook", hook), ""), (("step",), hook)):
        ran = hooked(*words, MIND_HOOKS=more)
        assert (ran.code, ran.out) == (2, "")
        assert sentence in ran.err
        assert len(ran.err.splitlines()) == 1
    assert hooked("status", "--json").data["version"] == 2


def test_a_store_that_came_from_elsewhere_runs_no_code(hooked: Mind, tmp_path: Path) -> None:
    """Nothing that lies in it, and no setting, can name a hook."""
    store = tmp_path / "thinking"
    (store / "hook.py").write_text("raise SystemExit('sprung')\n", encoding="utf-8")
    info = store / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[logosphere.hooks]\nnovelty = hook:x\n")
    for key in ("hook", "hooks", "MIND_HOOKS"):
        assert hooked("config", "--set", f"{key}=hook.py").code == 2
    ran = hooked("step")
    assert ran.code == 0
    assert "sprung" not in ran.err
    assert hooked("note", "--json").data == []
