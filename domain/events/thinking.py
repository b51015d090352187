"""The mind at work: invocations, thoughts, signals."""

import zlib
from typing import Literal

from domain.events.base import Event, Source

Outcome = Literal["ok", "skipped", "unparseable", "failed"]


def packed(text: str) -> str | bytes:
    """The text itself, or its zlib-compressed UTF-8 where that takes less room."""
    plain = text.encode("utf-8", "surrogatepass")
    small = zlib.compress(plain, 6)
    return small if len(small) < len(plain) else text


def unpacked(stored: str | bytes) -> str:
    """Undo :func:`packed`."""
    if isinstance(stored, str):
        return stored
    return zlib.decompress(stored).decode("utf-8", "surrogatepass")


class MindInvoked(Event):
    """A mind was asked once: all that is needed to ask it the same again, and what came back."""

    kind: Literal["mind.invoked"] = "mind.invoked"
    content = ("error", "raw", "repairs")
    iteration: int
    based_on: int
    """The version of the session that the prompt shows."""
    model: str
    """As configured (``local``); ``answered_by`` is what the provider calls it."""
    answered_by: str | None = None
    protocol: str
    dialect: str
    system_hash: bytes
    """sha256 of the system prompt (with examples) in use."""
    prompt_hash: bytes
    """sha256 of the exact prompt, as UTF-8."""
    sampled: tuple[int, ...] = ()
    """Versions of the thoughts that were shown, in order."""
    recalled: tuple[tuple[int, int, float], ...] = ()
    """Those of them that were called back from beyond the pool: the version, that of the thought
    which called it, and the chance with which just this one was drawn."""
    seed: int
    user_time: str
    """The user's local time as the prompt gave it."""
    outcome: Outcome
    error: str | None = None
    raw: str | bytes | None = None
    """The output to the letter; bytes are zlib-compressed UTF-8 (see :func:`unpacked`)."""
    repairs: tuple[str, ...] = ()
    """What had to be mended in the output to read it."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    """None where nobody can say."""
    latency_ms: int = 0
    attempts: int = 1
    finish: str | None = None
    embedding_tokens: int | None = None
    embedding_cost_usd: float | None = None
    """What the vectors of its thoughts cost; None where nobody can say."""

    @property
    def output(self) -> str:
        """The raw output as text; empty when nothing came back."""
        return "" if self.raw is None else unpacked(self.raw)


class ThoughtAdded(Event):
    """A thought entered the pool. Its id is its own version."""

    kind: Literal["thought.added"] = "thought.added"
    content = ("text", "embedding")
    text: str
    iteration: int
    mind: str
    """The mind that had it, or the actor who put it there."""
    origin: Literal["mind", "injected", "imported"] = "mind"
    embedding: bytes | None = None
    """Little-endian floats, two or four bytes each; None where it waits, or repeats another."""
    embedding_of: int | None = None
    """The thought that has the very same: of a text by a model, one vector is stored."""
    embedding_model: str | None = None
    dimension: int | None = None
    """How many numbers the vector has."""
    source: Source | None = None
    """Where it was picked from, if it was."""


class ThoughtEmbedded(Event):
    """A thought that waited for its vector got it, or another one, of the session's new model."""

    kind: Literal["thought.embedded"] = "thought.embedded"
    content = ("embedding",)
    thought: int
    """Its version."""
    embedding: bytes | None = None
    embedding_of: int | None = None
    embedding_model: str
    dimension: int


class MindSignalled(Event):
    """An iteration said something by what it left out, or by a ``+1``."""

    kind: Literal["mind.signalled"] = "mind.signalled"
    signal: Literal["hard", "soft", "silence"]
    iteration: int
    consecutive: int
    """Hard signals in a row, this one included; 0 for a soft one."""
