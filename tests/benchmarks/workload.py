"""W1 driven through the real commands and the real log, and its states read back for digests."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.gatherer import Gatherer
from commands.handle import handle
from commands.recording import RecordIteration
from commands.sessions import start_session
from commands.thinking import Embedded, Embedding, alone
from domain.actors import Actor
from domain.events import MindInvoked, ThoughtAdded
from domain.events.thinking import packed
from domain.ids import CommandId, SessionId
from domain.protocol.prompts import PROTOCOL
from domain.session import Session
from projections.history import History
from tests.benchmarks.w1 import DIM, N_FORK, W1, Iteration

MAIN, FORK, FORK_OF_FORK = SessionId("main"), SessionId("main/fork"), SessionId("main/fork/again")
MODEL = "openrouter:example/thinker-large"
EMBEDDER = "all-minilm-l6-v2"
AGAIN_AFTER = N_FORK // 2
"""The fork's fork keeps so many of its iterations, and then goes the same way by itself."""

_MIND = Actor("mind", MODEL)
_SYSTEM = sha256(b"the system prompt").digest()


class SteppingWorld:
    """A world where every look at the clock is a second later and every id the next number."""

    def __init__(self, begin: int = 1_767_225_600_000_000) -> None:
        self._at = begin
        self._id = 0

    @property
    def actor(self) -> Actor:
        """Always the same user."""
        return Actor("user", "ann")

    def now(self) -> int:
        """A second after the last look."""
        self._at += 1_000_000
        return self._at

    def local_time(self) -> Any:
        """Nobody asks."""
        raise NotImplementedError

    def command_id(self) -> CommandId:
        """The next number."""
        self._id += 1
        return CommandId(self._id.to_bytes(16, "big"))

    def seed(self) -> int:
        """Always the same."""
        return 20_260_115


class Prepared(NamedTuple):
    """An iteration as it comes from a mind and an embedder: nothing here is timed."""

    iteration: Iteration
    raw: str
    vectors: tuple[bytes, ...]
    picks: tuple[int, ...]
    prompt_hash: bytes
    seed: int


class Workload:
    """W1 of some length, ready to be recorded; vectors as float16 or as float32."""

    def __init__(self, n: int, *, half: bool) -> None:
        self.w1 = W1(n, half=half)
        self.half = half
        self.main = [self._prepared(it) for it in self.w1.main]
        self.fork = [self._prepared(it) for it in self.w1.fork]

    def _prepared(self, it: Iteration) -> Prepared:
        dice = Random(f"{it.i}/{it.draft}")  # noqa: S311 — repeatable on purpose
        raw = "thoughts:\n" + "".join(f"  - >-\n    {t.text}\n" for t in it.thoughts)
        return Prepared(
            it,
            raw + f"draft: >-\n  {it.draft}\n",
            tuple(shortened(t.emb) if self.half else t.emb for t in it.thoughts),
            tuple(dice.sample(range(50), 10)),
            sha256(it.draft.encode()).digest(),
            dice.getrandbits(32),
        )


def shortened(vector: bytes) -> bytes:
    """The same numbers as float16; lossless on W1's half grid."""
    return np.frombuffer(vector, "<f4").astype("<f2").tobytes()


def lengthened(vector: bytes) -> bytes:
    """Back to float32."""
    return np.frombuffer(vector, "<f2").astype("<f4").tobytes()


def _broken(sentence: str) -> None:
    raise AssertionError(sentence)


class Recorder:
    """Writes W1 into a store of its own, as a user and a mind would."""

    def __init__(self, store: Path | EventLog, work: Workload, *, clustered: bool = False) -> None:
        """One that has not begun; ``clustered`` gathers its thoughts as well."""
        self.work = work
        self.log = store if isinstance(store, EventLog) else EventLog.create(store)
        self.directory = self.log.place.home
        self.gatherer = Gatherer(self.log, lambda _: None, _broken) if clustered else None
        self.world = SteppingWorld()
        self.state = start_session(self.log, MAIN, self.world)
        self.ends: dict[SessionId, list[int]] = {MAIN: [self.state.version]}
        """The version behind each number of iterations."""

    def record(self, first: int, last: int) -> None:
        """Iterations ``first <= i < last`` of the main line."""
        ends = self.ends[MAIN]
        for prepared in self.work.main[first:last]:
            self.state = self._one(MAIN, self.state, prepared)
            ends.append(self.state.version)

    def branch(self) -> None:
        """The fork in the middle of an exchange, and a fork of that fork that goes the same way."""
        k = self.work.w1.K
        self._branch(FORK, MAIN, k, self.work.fork)
        self._branch(FORK_OF_FORK, FORK, k + AGAIN_AFTER, self.work.fork[AGAIN_AFTER:])

    def _branch(self, child: SessionId, parent: SessionId, k: int, own: list[Prepared]) -> None:
        fork_session(self.log, parent, self.ends[parent][k], child, self.world)
        state = self.log.state(child)
        ends = self.ends[child] = self.ends[parent][: k + 1]
        for prepared in own:
            state = self._one(child, state, prepared)
            ends.append(state.version)

    def _one(self, session: SessionId, state: Session, prepared: Prepared) -> Session:
        it, log, world = prepared.iteration, self.log, self.world
        if it.user is not None:
            state = handle(log, session, SendMessage(text=it.user), world).state
        asked, pool = state.dialogue.awaiting, state.pool.active
        if asked is None:
            raise ValueError("W1 iterates while nothing awaits")
        invocation = MindInvoked(
            iteration=state.upcoming,
            based_on=state.version,
            model=MODEL,
            answered_by="example/thinker-large-2026",
            protocol=PROTOCOL,
            dialect="full",
            system_hash=_SYSTEM,
            prompt_hash=prepared.prompt_hash,
            sampled=tuple(pool[pick].version for pick in prepared.picks if pick < len(pool)),
            seed=prepared.seed,
            user_time="2026-01-15T10:30:00+01:00",
            outcome="ok",
            raw=packed(prepared.raw),
            tokens_in=2210,
            tokens_out=184,
            cost_usd=0.004215,
            latency_ms=3120,
            finish="stop",
        )
        wish = RecordIteration(
            invocation=invocation,
            exchange=asked.exchange,
            texts=tuple(t.text for t in it.thoughts),
            draft=it.draft,
            embedded=Embedded(
                "local", tuple(Embedding(EMBEDDER, DIM, v) for v in prepared.vectors)
            ),
            gather=self.gatherer.decide if self.gatherer else alone,
        )
        done = handle(log, session, wish, world, by=_MIND)
        state = done.state
        if self.gatherer is not None:
            self.gatherer.recorded(done)
        if it.accept:
            state = handle(log, session, AcceptDraft(), world).state
        return state


def history(log: EventLog, session: SessionId, version: int | None) -> list[tuple[str, str, int]]:
    """The whole history, which the state holds only the end of."""
    turns = History(log, session, version).all()
    return [(turn.question, turn.answer, turn.index) for turn in turns]


def told(log: EventLog, state: Session, work: Workload) -> dict[str, Any]:
    """A state in the words of W1, its history completed from the log."""
    return worded(log, state, history(log, state.id, state.version), work)


def worded(
    log: EventLog, state: Session, turns: list[tuple[str, str, int]], work: Workload
) -> dict[str, Any]:
    """A state and a whole history in the words of W1; vectors are read from the log."""
    asked = state.dialogue.awaiting
    return {
        "iter": state.iteration,
        "awaiting": asked.text if asked else None,
        "drafts": [draft.text for draft in state.dialogue.drafts],
        "history": turns,
        "pool": list(_pool(log, state, work)),
    }


def vectors(log: EventLog, state: Session) -> dict[int, bytes]:
    """The vectors of the active pool, which the state refers to by version."""
    pool = log.pick(state.id, [thought.version for thought in state.pool.active])
    return {
        recorded.version: recorded.event.embedding or b""
        for recorded in pool
        if isinstance(recorded.event, ThoughtAdded)
    }


def _pool(log: EventLog, state: Session, work: Workload) -> Iterator[tuple[str, str, bytes]]:
    """Thoughts under W1's ids, which count iterations from 0 and the thoughts in each."""
    known = vectors(log, state)
    branched = state.id != MAIN
    ordinal, before = 0, -1
    for thought in state.pool.active:
        i = thought.iteration - 1
        ordinal = ordinal + 1 if i == before else 0
        before = i
        line = "f" if branched and i >= work.w1.K else "m"
        vector = known[thought.version]
        yield f"t{line}{i}.{ordinal}", thought.text, lengthened(vector) if work.half else vector
