"""The installed command in a directory of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from cli.main import build
from cli.output import safe
from domain.errors import Broken, LogosphereError
from tests.cli.inside import inside

MIND = Path(sys.executable).with_name("mind")

TIDES = """\
thoughts:
  - the far bulge is the surprising half
draft: |
  The Moon pulls the near water more than the Earth.
---
thoughts:
  - compare with Fundy
draft: |
  The Moon pulls the near water more than the Earth, and the Earth more than the far water.
---
draft: "+1"
---
thoughts: []
---
draft: It is the Sun as well.
---
draft: Twice a month they add up.
"""
"""What the recorded mind replies, iteration by iteration."""


class Ran(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Its output, read as JSON."""
        return json.loads(self.out)


Mind = Callable[..., Ran]


def lived(home: Path, *commands: tuple[str, ...]) -> Path:
    """The store ``thinking`` in a directory, with the recorded mind, after these commands."""
    (home / "tides.txt").write_text(TIDES, encoding="utf-8")
    store = home / "thinking"
    env = {"XDG_STATE_HOME": str(home / "state"), "HOME": str(home), "MIND_USER": "ann"}
    model = ("-m", f"script:{home}/tides.txt", "--set", "embedding_model=off")
    for words in (("init", str(store), "why two tides a day?", *model), *commands):
        ran = Ran(*inside([*words], {**env, "MIND_STORE": str(store)}))
        assert ran.code == 0, ran.err
    return store


@pytest.fixture
def mind(installed: Mind) -> Mind:
    """Runs ``mind``: the installed command, unless a file of tests says ``within``."""
    return installed


@pytest.fixture
def installed(tmp_path: Path) -> Mind:
    """Runs ``mind`` in ``tmp_path``, with no store, no key and nobody's settings."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MIND_", "OPENROUTER", "ANTHROPIC", "OPENAI", "XDG_"))
    }
    env |= {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "MIND_USER": "ann"}
    env |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

    def run(*words: str, stdin: str | bytes = b"", **more: str) -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [MIND, *words],
            cwd=tmp_path,
            env={**env, **more},
            input=given,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """The same within this process, for tests that ask many commands: none of them starts one."""
    for key in os.environ:
        if key.startswith(("MIND_", "OPENROUTER", "ANTHROPIC", "OPENAI", "XDG_")):
            monkeypatch.delenv(key)
    env = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "MIND_USER": "ann"}
    env |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: str | bytes = b"", **more: str) -> Ran:
        runner = CliRunner(env={**env, **more})
        done = runner.invoke(build(words[0]), words, input=stdin, prog_name="mind")
        error = done.exception
        if isinstance(error, LogosphereError):
            told = f"{done.stderr}mind: {safe(error.sentence)}\n"
            return Ran(1 if isinstance(error, Broken) else 2, done.stdout, told)
        if error is not None and not isinstance(error, SystemExit):
            raise error
        return Ran(done.exit_code, done.stdout, done.stderr)

    return run


def _asked(mind: Mind, directory: Path, *options: str) -> Mind:
    (directory / "tides.txt").write_text(TIDES, encoding="utf-8")
    model = f"script:{directory}/tides.txt"
    made = mind("init", "thinking", "why two tides a day?", "-m", model, *options)
    assert made.code == 0, made.err
    return mind


@pytest.fixture
def asked(mind: Mind, tmp_path: Path) -> Mind:
    """The same, with a store whose mind is recorded and whose first message awaits an answer.

    Its thoughts get no vectors: most tests need not wait for an embedder.
    """
    return _asked(mind, tmp_path, "--set", "embedding_model=off")


@pytest.fixture
def embedding(mind: Mind, tmp_path: Path) -> Mind:
    """The same, with the embedder of this machine, as whoever installs everything has it."""
    pytest.importorskip("onnxruntime")
    return _asked(mind, tmp_path)


@pytest.fixture
def asked_within(within: Mind, tmp_path: Path) -> Mind:
    """As ``asked``, within this process."""
    return _asked(within, tmp_path, "--set", "embedding_model=off")
