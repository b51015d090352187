"""A process to be killed in the middle of one kind of wish: fork, import, redact or export.

``python -m tests.faults.wish_driver KIND DIRECTORY SEED`` grants wishes of that kind one after
another. Before each it says in a line of JSON what it is going to do, and after it that it is
done; a line stands only after the log has said that all of it is durable.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.redaction import redact_events, with_its_reply
from commands.world import RealWorld
from domain.actors import Actor
from domain.events import Caused, MindInvoked, ThoughtAdded
from domain.events.thinking import packed
from domain.ids import SessionId
from domain.recorded import Draw, Recorded
from tests.faults.rounds import work

MAIN = SessionId("main")
BUNDLE = "bundle.mind"
STORE_WRITES = "store/log.db-wal"
"""What it writes first to."""

THOUGHTS = 12
"""In one iteration."""

Said = dict[str, Any]
ANN = RealWorld(Actor("user", "ann"))


def think(log: EventLog, session: SessionId, chance: random.Random, count: int) -> None:
    """Iterations, each with a raw reply and thoughts that hold words which stand nowhere else."""
    for _ in range(count):
        state = log.state(session)
        texts = [f"secret {chance.randbytes(12).hex()}" for _ in range(THOUGHTS)]
        invoked = MindInvoked(
            iteration=state.upcoming,
            based_on=state.version,
            model="script",
            protocol="1.4",
            dialect="full",
            system_hash=bytes(32),
            prompt_hash=bytes(32),
            seed=1,
            user_time="2026-05-02T10:30:00+00:00",
            outcome="ok",
            raw=packed("thoughts:\n" + "".join(f"  - {text}\n" for text in texts)),
        )
        why = state.version + 1
        thoughts = [
            Caused(ThoughtAdded(text=text, iteration=state.upcoming, mind="script"), why)
            for text in texts
        ]
        events = [Caused(invoked, state.version), *thoughts]
        draw = Draw(events, max(ANN.now(), state.at), ANN.actor, ANN.command_id())
        log.append(session, state.version, draw)


def forks(directory: Path, chance: random.Random) -> Iterator[Said]:
    """Branches anywhere, and branches of these."""
    log = EventLog(directory / "store")
    for number in count(len(log.sessions())):
        parent, child = chance.choice(log.sessions()[-8:]), SessionId(f"b{number}")
        version = chance.randint(1, log.head(parent).version)
        yield {"child": child, "parent": parent, "version": version, "writes": STORE_WRITES}
        head = fork_session(log, parent, version, child, ANN, reason="what if")
        yield {"hash": head.hash.hex()}


def imports(directory: Path, chance: random.Random) -> Iterator[Said]:
    """The same bundle, into one copy after another of the same store."""
    while True:
        store = directory / f"into-{chance.getrandbits(64)}"
        shutil.copytree(directory / "into", store)
        log = EventLog(store)
        yield {"store": store.name, "writes": f"{store.name}/log.db-wal"}
        log.take_over(directory / BUNDLE)
        yield {}
        log.close()


def redactions(directory: Path, chance: random.Random) -> Iterator[Said]:
    """Thoughts and the replies they came from, in two sessions at once, when states are kept."""
    log = EventLog(directory / "store")
    while True:
        for session in (MAIN, SessionId("fork")):
            think(log, session, chance, 2)
        with EventLog(directory / "store") as cold:
            for session in cold.sessions():
                cold.state(session)
        chosen, texts = dict[tuple[str, int], Recorded](), list[str]()
        for session in (MAIN, SessionId("fork")):
            head = log.head(session).version
            for back in chance.sample(range(THOUGHTS), chance.randint(1, 4)):
                for recorded in with_its_reply(log, session, head - back):
                    chosen[recorded.session, recorded.version] = recorded
                    if isinstance(recorded.event, ThoughtAdded):
                        texts.append(recorded.event.text)
        yield {"targets": list(chosen), "texts": texts, "writes": STORE_WRITES}
        yield {"gone": redact_events(log, chosen.values(), "In confidence.", ANN).gone}


def exports(directory: Path, chance: random.Random) -> Iterator[Said]:
    """One session with all its branches, into one file after another."""
    log = EventLog(directory / "store")
    while True:
        file = directory / f"out-{chance.getrandbits(64)}.mind"
        yield {"file": file.name, "writes": f"{file.name}.*"}
        log.export(MAIN, file)
        yield {}


KINDS: dict[str, Callable[[Path, random.Random], Iterator[Said]]] = {
    "fork": forks,
    "import": imports,
    "redact": redactions,
    "export": exports,
}


if __name__ == "__main__":
    work(KINDS)
