"""What a search gives and takes: hits, scopes, and what makes vectors."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from domain.ids import SessionId

Kind = Literal["message", "answer", "effort", "fact", "event", "summary", "session"]
"""What can be found; ``session`` is a session by its title or name."""

KINDS: tuple[Kind, ...] = ("message", "answer", "effort", "fact", "event", "summary", "session")
ARTIFACTS: tuple[Kind, ...] = ("effort", "fact", "event", "summary")


class Hit(NamedTuple):
    """Something that was found."""

    kind: Kind
    session: SessionId
    """The session whose stream holds it: in a fork, for what it inherited, an ancestor. What was
    said to an agent, and what it answered, is in ``agent:NAME``."""
    version: int
    """The event that gave it these words; of an answer, its acceptance. Names it as
    ``session@version``."""
    artifact: int | None
    """The name of the artifact, the version that brought it; None for what is none."""
    text: str
    """All of its words; of a resolved effort, the goal, and ``→`` and the resolution below it."""
    snippet: str
    """The part that fits best, what matched between ``START`` and ``END``."""
    score: float
    """From 0 to 1: 1 is the first of all by words and by meaning."""
    at: int
    """Microseconds since 1970, UTC, when it got these words."""
    title: str = ""
    """What the session is called."""
    similarity: float | None = None
    """The cosine between what was asked and its nearest passage; None where it was not compared."""

    @property
    def ref(self) -> str:
        """How the moment is named: ``payments@412``."""
        return f"{self.session}@{self.version}"


START, END = "\x02", "\x03"
"""Around what matched in a snippet; no text holds them."""


def marked(snippet: str, before: str, after: str) -> str:
    """A snippet with other marks around what matched."""
    return snippet.replace(START, before).replace(END, after)


class Branch(NamedTuple):
    """One session as it sees itself, with all that it inherited, now or as of a version."""

    session: SessionId
    upto: int | None = None


class Everywhere(NamedTuple):
    """All sessions and agents, each thing once, in the stream that holds it."""

    before: int | None = None
    """Only what was so at this time, in microseconds since 1970, UTC."""
    agents: bool = True
    """What was said to agents, and what they answered, too."""


Scope = Branch | Everywhere


class Vectors(NamedTuple):
    """What makes vectors of texts."""

    model: str
    """What they are made with: only those of one and the same can be compared."""
    of: Callable[[Sequence[str]], Sequence[bytes | None]]
    """One vector a text, of length 1, as little-endian float16; None for a text without words.
    A :class:`domain.errors.LogosphereError` says why there are none at all."""
