"""The command line within this process: for tests that ask the same of many commands."""

from pathlib import Path

from typer.testing import CliRunner

from cli.main import build
from cli.output import safe
from domain.errors import Broken, LogosphereError
from tests.cli.conftest import Ran


def inside(store: Path, *words: str, **more: str) -> Ran:
    """Run a command on a store; as the installed command tells it."""
    env: dict[str, str | None] = {"MIND_STORE": str(store), "MIND_SESSION": None, "NO_COLOR": "1"}
    env |= {"MIND_USER": "ann", "COLUMNS": "100", "MIND_HOOKS": None}
    done = CliRunner(env=env | more).invoke(build(words[0]), words, prog_name="mind")
    error = done.exception
    if isinstance(error, LogosphereError):
        sentence = f"{done.stderr}mind: {safe(error.sentence)}\n"
        return Ran(1 if isinstance(error, Broken) else 2, done.stdout, sentence)
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return Ran(done.exit_code, done.stdout, done.stderr)
