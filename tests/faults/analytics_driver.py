"""A process to be killed while it catches the database up, or builds it anew.

``python -m tests.faults.analytics_driver KIND STORE SEED`` says in a line of JSON what it is about
to do, and after it how far the database has come by then.
"""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

from commands.eventlog import EventLog
from commands.world import RealWorld
from domain.actors import Actor
from domain.events import Caused, DraftEmitted, Event, MindInvoked, ThoughtAdded
from domain.events.thinking import packed
from domain.ids import ExchangeId, SessionId
from domain.recorded import Draw
from projections.analytics.catchup import catch_up, rebuild
from tests.faults.rounds import work

MAIN = SessionId("main")
ANN = RealWorld(Actor("user", "ann"))
MODELS = (("letters", 4), ("digits", 3))


def iteration(log: EventLog, chance: random.Random, number: int) -> list[Event]:
    """An invocation, thoughts with vectors of some model or without, and a draft."""
    based_on = log.head(MAIN).version
    model, dimension = chance.choice(MODELS)
    data = struct.pack(f"<{dimension}e", *(chance.random() for _ in range(dimension)))
    has = {"embedding": data, "embedding_model": model, "dimension": dimension}
    raw = packed(f"thoughts: [one, two]\ndraft: {chance.randbytes(30).hex()}")
    invoked = MindInvoked(
        iteration=number,
        based_on=based_on,
        model="script",
        protocol="1.4",
        dialect="full",
        system_hash=bytes(32),
        prompt_hash=bytes(32),
        seed=1,
        user_time="2026-05-02T10:30:00+00:00",
        outcome="ok",
        raw=raw,
    )
    draft = DraftEmitted(
        exchange=ExchangeId("exc_1_000"),
        index=number,
        text=f"this is draft number {number} {chance.randbytes(9).hex()}",
        iteration=number,
    )
    return [
        invoked,
        ThoughtAdded(text=f"one {number}", iteration=number, mind="script", **has),
        ThoughtAdded(text=f"two {number}", iteration=number, mind="script"),
        draft,
    ]


def happen(log: EventLog, chance: random.Random, count: int) -> None:
    """So many iterations, each in an append of its own; behind them some in one append."""
    number = log.state(MAIN).iteration
    for _ in range(count):
        number += 1
        state = log.state(MAIN)
        events = [Caused(event) for event in iteration(log, chance, number)]
        log.append(
            MAIN,
            state.version,
            Draw(events, max(ANN.now(), state.at), ANN.actor, ANN.command_id()),
        )


def catchups(store: Path, chance: random.Random) -> Iterator[int]:
    """More happens, and the database follows."""
    log = EventLog(store)
    while True:
        happen(log, chance, chance.randint(1, 12))
        yield log.position()
        catch_up(log, store, size=chance.choice((7, 30, 50_000)))
        yield log.position()


def rebuilds(store: Path, chance: random.Random) -> Iterator[int]:
    """It is built anew again and again."""
    log = EventLog(store)
    while True:
        yield log.position()
        rebuild(log, store, size=chance.choice((60, 50_000)))
        yield log.position()


KINDS = {"catch up": catchups, "rebuild": rebuilds}


if __name__ == "__main__":
    work(KINDS)
