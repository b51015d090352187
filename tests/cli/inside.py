"""``mind`` within this process, for tests to which it is no matter whose process it is."""

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from cli.main import run


def inside(words: list[str], env: Mapping[str, str], stdin: bytes = b"") -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote to stdout and to stderr, byte for byte."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    code = 0
    with _process(["mind", *words], env, stdin), redirect_stdout(out), redirect_stderr(err):
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, _written(out), _written(err)


@contextmanager
def _process(argv: list[str], env: Mapping[str, str], stdin: bytes) -> Iterator[None]:
    """Arguments, environment and input as a process of its own would have them."""
    before = dict(os.environ), sys.argv, sys.stdin, sys.excepthook
    sys.argv, sys.stdin = argv, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before[0])
        _, sys.argv, sys.stdin, sys.excepthook = before


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    found: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return found.decode()
