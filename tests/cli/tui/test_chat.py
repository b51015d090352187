"""The verb: what it refuses before anything is drawn, and the app in a real terminal."""

import os
import pty
import select
import subprocess
from pathlib import Path

import pytest

from cli.chat import _token
from domain.errors import Refused
from tests.cli.conftest import MIND, Mind
from tests.cli.tui.house import stage_in


def test_without_a_store_or_a_terminal_nothing_is_drawn(within: Mind, tmp_path: Path) -> None:
    """One sentence and exit code 2, as every verb does."""
    ran = within("chat")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("mind: No store is open")
    stage_in(tmp_path)
    ran = within("chat", "--store", "store")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err == "mind: mind chat needs a terminal: use mind message and mind run in scripts.\n"
    )
    ran = within("chat", "--token-file", "t", "--store", "store")
    assert ran.err == "mind: --token-file goes with --connect: name the server as well.\n"


def test_a_token_that_can_t_be_read_is_told_of_in_a_sentence(tmp_path: Path) -> None:
    """What is wrong with the file, and which one is meant, without the words of Python."""
    (tmp_path / "picture").write_bytes(b"\xff\xfe")
    for name, why in (("nowhere", "No such file or directory"), ("picture", "it is no text")):
        with pytest.raises(Refused) as refused:
            _token(tmp_path / name)
        assert refused.value.sentence.endswith(
            f"can't be read ({why}): name the file that mind serve tells as tokenFile."
        )


def test_the_app_opens_in_a_terminal_and_leaves_it_as_it_was(tmp_path: Path) -> None:
    """Through the installed command: keys arrive, ctrl+q quits, the screen is given back."""
    stage = stage_in(tmp_path, message="why two tides?")
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm-256color"}
    with subprocess.Popen(
        [MIND, "chat", "--store", str(stage.directory)],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.STDOUT,
        env={**env, "COLUMNS": "80", "LINES": "24"},
        cwd=tmp_path,
    ) as app:
        os.close(theirs)
        seen = _read_until(ours, b"why two tides?")
        os.write(ours, b"/signal engaged here\r")
        seen += _read_until(ours, "“here”".encode())
        os.write(ours, b"\x11")
        seen += _read_until(ours, b"says that you left")
        assert app.wait(30) == 0
    os.close(ours)
    assert b"\x1b[?1049h" in seen  # its own screen,
    assert b"\x1b[?1049l" in seen  # given back
    assert stage.state.attention.presence == "engaged"


def _read_until(terminal: int, text: bytes) -> bytes:
    """What the terminal is told, until that text is among it."""
    seen = b""
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], 30)
        assert ready, f"{text!r} never came: {seen[-2000:]!r}"
        try:
            seen += os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
    assert text in seen, seen[-2000:]
    return seen
