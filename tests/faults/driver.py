"""A process to be killed: it works through the real code, and says what has been acknowledged.

``python -m tests.faults.driver STORE SEED``: after each command one line of JSON with the session,
its version and the chain hash there. A line stands only after the log has said that it is durable.
"""

import json
import random
import sys
from pathlib import Path

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.handle import handle
from commands.minds.script import Line, ScriptMind
from commands.runs import run_session
from commands.sessions import start_session
from commands.world import RealWorld
from domain.actors import Actor
from domain.ids import SessionId

REPLY = "thoughts: [one, two]\ndraft: an answer that is long enough to be content"


def main(store: Path, seed: int) -> None:
    """Work until somebody kills us."""
    chance, world = random.Random(seed), RealWorld(Actor("user", "ann"))  # noqa: S311 — repeatable
    mind = ScriptMind("script", (Line(REPLY),) * 100_000)
    log = EventLog(store)

    def acknowledged(session: SessionId) -> None:
        version, hash_ = log.head(session)
        print(json.dumps([session, version, hash_.hex()]), flush=True)

    names = log.sessions()
    if not names:
        start_session(log, SessionId("main"), world)
        names = [SessionId("main")]
    acknowledged(names[0])
    while True:
        session = chance.choice(names[-4:])
        dialogue = log.state(session).dialogue
        if chance.random() < 0.1:
            child = SessionId(f"s{len(names)}")
            version = chance.randint(1, log.head(session).version)
            fork_session(log, session, version, child, world)
            names.append(child)
            acknowledged(child)
        elif dialogue.awaiting is None:
            handle(log, session, SendMessage(text="why? " * chance.randint(1, 2000)), world)
            acknowledged(session)
        elif dialogue.latest_content is None or chance.random() < 0.6:
            run_session(log, session, lambda _: mind, world, iterations=chance.randint(1, 3))
            acknowledged(session)
        else:
            handle(log, session, AcceptDraft(), world)
            acknowledged(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
