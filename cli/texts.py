"""Texts from wherever the user has them: an argument, a file, a pipe."""

import sys
from pathlib import Path

from domain.errors import BadText
from domain.texts import LONGEST


def read_text(argument: str | None, file: Path | None) -> str:
    """The text of the argument, else of the file, else of the pipe.

    Raises:
        BadText: there is none, or too much of it, or it is not text.
    """
    if argument is not None and file is not None:
        raise BadText("Give either a text or -f FILE, not both.")
    if argument is not None and argument != "-":
        return argument
    if file is not None and str(file) != "-":
        return _decoded(_bytes_of(file), str(file))
    if sys.stdin.isatty() and argument is None:
        raise BadText("There is no text: give one, name a file (-f FILE), or pipe one in.")
    return _decoded(sys.stdin.buffer.read(4 * LONGEST + 1), "the pipe")


def _bytes_of(file: Path) -> bytes:
    try:
        with file.open("rb") as source:
            return source.read(4 * LONGEST + 1)
    except OSError as error:
        raise BadText(f"{str(file)!r} can't be read: {error.strerror or error}.") from None


def _decoded(raw: bytes, where: str) -> str:
    if len(raw) > 4 * LONGEST:
        raise BadText(f"The text of {where} is longer than {LONGEST:,} characters: send less.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadText(f"What {where} holds is not UTF-8 text: nothing was sent.") from None
