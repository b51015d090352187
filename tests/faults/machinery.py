"""Real processes: the installed command, a store with a recorded mind, and waiting for news."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from commands.eventlog import EventLog
from domain.ids import SessionId
from domain.recorded import Recorded
from tests.cli.inside import inside

ROOT = Path(__file__).parents[2]
MIND = Path(sys.executable).with_name("mind")
MAIN = SessionId("main")
UNEMBEDDED = ("--set", "embedding_model=off")


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> None:
        """Check for exit code 2 and one sentence."""
        self._one_sentence(2, words)

    def broken(self, *words: str) -> None:
        """Check for exit code 1 and one sentence as the last line."""
        self._one_sentence(1, words)

    def _one_sentence(self, code: int, words: tuple[str, ...]) -> None:
        assert "Traceback" not in self.err, self.err
        assert self.code == code, self
        said = self.err.strip().splitlines()[-1]
        assert said.startswith("mind: "), self.err
        for word in words:
            assert word in said, said

    def fine(self) -> "Told":
        """Check for exit code 0."""
        assert self.code == 0, self
        return self


class House(NamedTuple):
    """A place for one store, and an environment of its own."""

    store: Path
    env: dict[str, str]

    def mind(self, *args: object, stdin: bytes | None = None, before: Sequence[str] = ()) -> Told:
        """Run the installed command to its end; ``before`` wraps it in another one."""
        done = subprocess.run(
            [*before, str(MIND), *map(str, args)],
            check=False,
            env=self.env,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=60,
        )
        return Told(done.returncode, done.stdout.decode(), done.stderr.decode())

    def here(self, *args: object, stdin: bytes = b"") -> Told:
        """Run it within this process: much faster, where it is no matter whose process it is."""
        return Told(*inside([str(arg) for arg in args], self.env, stdin))

    def started(self, *args: object) -> "subprocess.Popen[str]":
        """Start the installed command, with pipes from its mouth."""
        return subprocess.Popen(
            [str(MIND), *map(str, args)],
            env=self.env | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def init(self, replies: Iterable[dict[str, Any]] = (), message: str | None = None) -> "House":
        """Make the store with a recorded mind and no embedder, which would take time to load."""
        words = [message] if message is not None else []
        self.here("init", self.store, *words, "-m", self.script(replies), *UNEMBEDDED).fine()
        return self

    def script(self, replies: Iterable[dict[str, Any]]) -> str:
        """The name of a mind that gives these replies."""
        file = self.store.parent / f"{self.store.name}.jsonl"
        file.write_text("".join(json.dumps(reply) + "\n" for reply in replies), "utf-8")
        return f"script:{file}"

    def events(self, session: str = MAIN) -> list[Recorded]:
        """All events of a session."""
        with EventLog(self.store) as log:
            return list(log.read(SessionId(session)))

    def kinds(self, session: str = MAIN) -> list[str]:
        """Their kinds."""
        return [r.event.kind for r in self.events(session)]

    def sound(self) -> None:
        """Check that the store opens, that it is proven, and that every session has a state."""
        with EventLog(self.store) as log:
            assert not [f for verdict in log.verify() for f in verdict.findings]
            for name in log.sessions():
                versions = [r.version for r in log.read(name)]
                assert versions == list(range(1, len(versions) + 1))
                assert log.state(name).version == len(versions)


def house(directory: Path) -> House:
    """A house in an existing directory; nothing of the real user's is seen or touched."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("MIND_")}
    store = directory / "store"
    env |= {
        "MIND_STORE": str(store),
        "MIND_USER": "ann",
        "XDG_STATE_HOME": str(directory / "state"),
        "NO_COLOR": "1",
    }
    return House(store, env)


def copied(template: House, directory: Path) -> House:
    """A copy of a house with its store, which nobody has open."""
    home = house(directory)
    shutil.copytree(template.store, home.store, symlinks=True)
    return home


def draft(number: int, **more: Any) -> dict[str, Any]:
    """A recorded reply with a thought and a draft that is long enough to be one."""
    return {"text": f"thoughts: [thinking {number}]\ndraft: the answer, number {number}", **more}


def wait_for(
    log: EventLog, session: str, wanted: Callable[[Recorded], bool], seconds: float = 30
) -> Recorded:
    """The first event of a session that is wanted, as soon as it is there.

    Raises:
        TimeoutError: it did not come.
    """
    stop, timer = threading.Event(), None
    try:
        timer = threading.Timer(seconds, stop.set)
        timer.start()
        for recorded in log.follow(0, stop):
            if recorded.session == session and wanted(recorded):
                return recorded
    finally:
        if timer is not None:
            timer.cancel()
            timer.join()
    raise TimeoutError(f"nothing of the kind in {seconds} s")


def ended(process: "subprocess.Popen[str]", seconds: float = 60) -> Told:
    """Wait for the end of a process that was started."""
    out, err = process.communicate(timeout=seconds)
    return Told(process.returncode, out, err)
