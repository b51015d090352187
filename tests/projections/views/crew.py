"""Worker processes, hired and lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from projections.views.store import ViewStore
from tests.postgres.netlab import Host
from tests.projections.views.team import House

MIND = Path(sys.executable).with_name("mind")

Process = subprocess.Popen[bytes]


class Crew:
    """Processes that work on one store."""

    def __init__(self, name: str, **environment: str) -> None:
        self.name = name
        self.members: list[Process] = []
        self._env = {**os.environ, "MIND_STORE": name, **environment}

    def hires(self, *words: str, within: tuple[str, ...] = ()) -> Process:
        """Start another one; ``within`` is a command in front, for those on another host."""
        worker = subprocess.Popen(
            [*within, MIND, "work", "--batch", "5", *words],
            env=self._env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.members.append(worker)
        return worker

    def asks(self, host: Host, *words: str) -> str:
        """What a command says, run on a host."""
        done = subprocess.run(
            [*host.within, MIND, *words], env=self._env, capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def loses(self, worker: Process) -> None:
        """Kill one of them."""
        worker.kill()
        worker.wait()
        self.members.remove(worker)

    def dismissed(self) -> list[int]:
        """Ask all to end, which they do by themselves; their exit codes."""
        for worker in self.members:
            worker.send_signal(signal.SIGTERM)
        codes = [worker.wait(60) for worker in self.members]
        self.members.clear()
        return codes

    def kill(self) -> None:
        """End whoever is left."""
        for worker in list(self.members):
            self.loses(worker)


@contextmanager
def crew_of(house: House) -> Iterator[Crew]:
    """Those who work on a house; nobody is left when the test ends."""
    with crew_at(house.place.url or str(house.place.home)) as crew:
        yield crew


@contextmanager
def crew_at(name: str, **environment: str) -> Iterator[Crew]:
    """As :func:`crew_of`, of a store by its name."""
    crew = Crew(name, **environment)
    try:
        yield crew
    finally:
        crew.kill()


def wait_for(wanted: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until it is so.

    Raises:
        TimeoutError: it did not come about.
    """
    deadline = time.monotonic() + seconds
    while not wanted():
        if time.monotonic() > deadline:
            raise TimeoutError
        threading.Event().wait(0.01)


def caught_up(store: ViewStore, goal: int) -> bool:
    """Whether all shards of all views are at a position, or beyond it."""
    tracked = store.tracked().values()
    return bool(tracked) and min(one.position for one in tracked) >= goal
