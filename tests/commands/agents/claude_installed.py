"""The stand-in for Claude Code as an executable of one test, and what it is to say."""

import json
import os
import select
import sys
from pathlib import Path
from typing import Any

STAND_IN = Path(__file__).with_name("claude_stand_in.py")
KEY = "a-key-that-nobody-may-read-0123456789"

Steps = list[dict[str, Any]]


def install(directory: Path) -> dict[str, str]:
    """The environment of an agent whose Claude Code is the stand-in."""
    home = directory / "claude home"
    home.mkdir()
    program = directory / "claude"
    program.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")
    program.chmod(0o700)
    return {
        "MIND_CLAUDE": str(program),
        "CLAUDE_CONFIG_DIR": str(home),
        "TMPDIR": str(directory),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_API_KEY": KEY,
        "OPENAI_API_KEY": KEY,
    }


def plays(env: dict[str, str], turns: dict[str, Steps], *, old: bool = False) -> None:
    """What it does from now on, by prompt; ``old``: as one that can't tell what it took before."""
    scenario = {"turns": turns, "old": old}
    (Path(env["CLAUDE_CONFIG_DIR"]) / "scenario.json").write_text(json.dumps(scenario))


def forget(env: dict[str, str]) -> None:
    """Remove every conversation that it has kept."""
    for kept in Path(env["CLAUDE_CONFIG_DIR"]).glob("*/*.json"):
        kept.unlink()


def gone(pid: int) -> bool:
    """Whether a process has ended, or is about to."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 5)[0])
    finally:
        os.close(process)
