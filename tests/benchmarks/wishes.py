"""A long session of small and varied events, the books kept apart from the log."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from eventsourcing.persistence import StoredEvent

from commands.eventlog import EventLog
from commands.sessions import start_session
from domain.actors import Actor
from domain.dialogue import TEXTS_KEPT
from domain.events import (
    Caused,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    Event,
    MessageSent,
    MindInvoked,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import ExchangeId, exchange_id
from domain.protocol.prompts import PROTOCOL
from domain.recorded import Draw, Head
from domain.session import Session
from tests.benchmarks.measure import WrongState
from tests.benchmarks.w1 import DIM, WORDS
from tests.benchmarks.workload import EMBEDDER, MAIN, MODEL, SteppingWorld

COMMIT = 250
"""Events that are committed together while the session is built; each wish keeps its own id."""

EMBEDDED = 1 / 6
"""The share of thoughts that have a vector, unless another is wanted."""

_USER, _MIND = Actor("user", "ann"), Actor("mind", MODEL)
_HASH = bytes(range(32))


class Expected(NamedTuple):
    """What a state has to say behind a version, counted apart from the log."""

    version: int
    iteration: int
    thoughts: int
    accepted: int
    drafts: int
    newest: str
    """The text of the newest draft, or of the newest answer while nothing awaits."""


class Wishes:
    """A long dialogue as wishes, small and varied: messages, iterations, seen marks, signals.

    Half of the iterations have two thoughts, the others one; some thoughts have a vector.
    """

    def __init__(self, seed: int, embedded: float = EMBEDDED) -> None:
        self._dice = random.Random(seed)  # noqa: S311 — repeatable on purpose
        self._embedded = embedded
        self.world = SteppingWorld()
        generator = np.random.default_rng(seed)
        vectors = generator.standard_normal((256, DIM)).astype("<f4")
        vectors /= np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        self._vectors = [v.astype("<f2").tobytes() for v in vectors]
        self._texts = [" ".join(self._dice.choices(WORDS, k=12)) for _ in range(1024)]
        self.version, self.iteration, self.thoughts, self.accepted = 1, 0, 0, 0
        self.drafts: list[str] = []
        self.draft_version = 0
        self._newest = ""
        self.ends: list[int] = [1]
        """The version behind each number of iterations."""

    def expected(self) -> Expected:
        """What holds now."""
        newest = self.drafts[-1] if self.drafts else self._newest
        return Expected(
            self.version, self.iteration, self.thoughts, self.accepted, len(self.drafts), newest
        )

    def exchange(self) -> Iterator[tuple[Actor, list[Event]]]:
        """The wishes of one exchange, each with who wishes it."""
        dice, id_ = self._dice, exchange_id(self.iteration + 1, 0)
        yield _USER, [MessageSent(exchange=id_, text=self._text(), iteration=self.iteration + 1)]
        if dice.random() < 0.5:
            yield _USER, [self._signal()]
        for index in range(1, dice.randint(4, 16)):
            yield _MIND, self._iteration(id_, index)
            if dice.random() < 0.2:
                yield _USER, [DraftSeen(exchange=id_, indexes=(index,))]
        yield _USER, [DraftAccepted(exchange=id_, index=len(self.drafts))]

    def count(self, events: list[Event]) -> None:
        """Keep the books."""
        first = self.version
        for event in events:
            self.version += 1
            if isinstance(event, MindInvoked):
                self.iteration += 1
                self.ends.append(first + len(events))
            elif isinstance(event, ThoughtAdded):
                self.thoughts += 1
            elif isinstance(event, DraftEmitted):
                self.drafts.append(event.text)
                self.draft_version = self.version
            elif isinstance(event, DraftAccepted):
                self.accepted += 1
                self._newest, self.drafts = self.drafts[-1], []

    def _text(self) -> str:
        return self._dice.choice(self._texts)

    def _signal(self) -> SignalChanged:
        return SignalChanged(
            presence="reviewing", status="", time="Sat 10:30", iteration=self.iteration + 1
        )

    def _iteration(self, id_: ExchangeId, index: int) -> list[Event]:
        iteration, dice = self.iteration + 1, self._dice
        events: list[Event] = [
            MindInvoked(
                iteration=iteration,
                based_on=self.version,
                model=MODEL,
                protocol=PROTOCOL,
                dialect="full",
                system_hash=_HASH,
                prompt_hash=_HASH,
                sampled=(),
                seed=iteration,
                user_time="2026-01-15T10:30:00+01:00",
                outcome="ok",
                tokens_in=900,
                tokens_out=60,
                cost_usd=0.001,
                latency_ms=900,
            )
        ]
        for _ in range(dice.choice((1, 2))):
            vector = dice.choice(self._vectors) if dice.random() < self._embedded else None
            events.append(
                ThoughtAdded(
                    text=self._text(),
                    iteration=iteration,
                    mind=MODEL,
                    embedding=vector,
                    embedding_model=EMBEDDER if vector else None,
                    dimension=DIM if vector else None,
                )
            )
        text = f"{iteration}: {self._text()}"
        events.append(DraftEmitted(exchange=id_, index=index, text=text, iteration=iteration))
        return events


def build(
    directory: Path,
    size: int,
    *,
    seed: int = 7,
    samples: int = 200,
    embedded: float = EMBEDDED,
) -> tuple[EventLog, Wishes, list[Expected]]:
    """Make the store: the same rows as one append for each wish, but committed together.

    The state follows along, so that snapshots are where a life of single appends leaves them.
    """
    log, wishes = EventLog.create(directory), Wishes(seed, embedded)
    start_session(log, MAIN, wishes.world)
    return log, wishes, grow(log, wishes, size, max(1, size // samples))


def grow(log: EventLog, wishes: Wishes, size: int, every: int) -> list[Expected]:
    """Go on, by whole exchanges, until there are so many events; what was known on the way."""
    head, world = log.head(MAIN), wishes.world
    rows: list[StoredEvent] = []
    known: list[Expected] = []
    while wishes.version < size:
        for actor, events in wishes.exchange():
            # acceptances name their draft, as the real command does
            cause = wishes.draft_version if isinstance(events[0], DraftAccepted) else None
            caused = [Caused(event, cause) for event in events]
            draw = Draw(caused, world.now(), actor, world.command_id())
            sealed, head = log._mapper.sealed(head, MAIN, draw)
            rows += sealed
            wishes.count(events)
            if wishes.version // every > len(known):
                known.append(wishes.expected())
            if len(rows) >= COMMIT:
                _commit(log, rows, head)
                rows = []
    _commit(log, rows, head)
    return known


def _commit(log: EventLog, rows: Sequence[StoredEvent], head: Head) -> None:
    if rows:
        log._recorder.insert_events(rows)
        if log.state(MAIN).version != head.version:
            raise WrongState("the built session")


def check(state: Session, wanted: Expected) -> None:
    """Compare a state with the books.

    Raises:
        WrongState: they differ.
    """
    dialogue = state.dialogue
    newest = dialogue.drafts[-1].text if dialogue.drafts else None
    if dialogue.awaiting is None and dialogue.history:
        newest = dialogue.history[-1].answer
    got = Expected(
        state.version,
        state.iteration,
        state.pool.total,
        dialogue.accepted,
        len(dialogue.drafts),
        newest or wanted.newest,
    )
    if got != wanted or len(dialogue.history) > TEXTS_KEPT:
        raise WrongState(f"{got} is not {wanted}")
