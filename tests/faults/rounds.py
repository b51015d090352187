"""Work in rounds, until somebody kills it: the side that works, and the side that kills."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.faults.machinery import ROOT

Rounds = Callable[[Path, random.Random], Iterator[Any]]
"""Two words for each round: one before it, and one when it is done."""


def work(kinds: Mapping[str, Rounds]) -> None:
    """Do one kind of rounds for ever, in a process with the arguments KIND DIRECTORY SEED."""
    kind, directory, seed = sys.argv[1:]
    for said in kinds[kind](Path(directory), random.Random(int(seed))):  # noqa: S311 — repeatable
        print(json.dumps(said), flush=True)


class Worker:
    """A process at such work."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        self.process, self.stdout = process, process.stdout
        self._lines = [self.stdout.readline()]
        self.lasted = 0.2
        """Seconds that its newest round took."""

    def rounds(self, count: int) -> None:
        """Let it do so many whole rounds, and begin another one."""
        for _ in range(count):
            start = time.perf_counter()
            self._lines.append(self.stdout.readline())
            self.lasted = time.perf_counter() - start
            self._lines.append(self.stdout.readline())

    @property
    def said(self) -> list[Any]:
        """All that it has said; half a line is nothing."""
        return [json.loads(line) for line in self._lines if line.endswith(b"\n")]

    def kill(self) -> None:
        """End it now."""
        self.process.kill()
        self._lines += self.stdout.readlines()


@contextmanager
def working(module: str, kind: str, directory: Path, chance: random.Random) -> Iterator[Worker]:
    """A process of that module, which is killed when the block ends."""
    command = [sys.executable, "-m", module, kind, str(directory), str(chance.getrandbits(32))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        worker = Worker(process)
        yield worker
        worker.kill()
    assert process.returncode == -signal.SIGKILL


def wait_for_writing(directory: Path, files: str, seconds: float) -> None:
    """Wait until one of these files is there, or another than it was, but not for ever."""

    def now() -> list[tuple[str, int, int]]:
        found = []
        for file in directory.glob(files):
            with suppress(FileNotFoundError):
                stat = file.stat()
                found.append((file.name, stat.st_size, stat.st_mtime_ns))
        return sorted(found)

    before, until = now(), time.perf_counter() + seconds
    while now() == before and time.perf_counter() < until:
        pass
