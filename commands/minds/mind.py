"""The protocol that every mind speaks: one request, one reply, or a failure that says why."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from domain.errors import Broken, Refused
from domain.protocol.prompts import Dialect

Listener = Callable[[str], None]
"""Called with each piece of text as it streams in."""


class Request(NamedTuple):
    """One invocation: everything a mind is told, and how far it may go."""

    system: str
    """The system prompt, a versioned file of the package."""
    examples: tuple[tuple[str, str], ...]
    """Turns shown before the prompt (prompt, reply); empty in the full dialect."""
    prompt: str
    """The rendered view; its sha256 is in the log."""
    max_tokens: int
    """The most tokens a reply may have."""
    temperature: float | None
    """None leaves it to the provider."""
    seed: int
    """For minds that can be seeded."""
    timeout: float
    """Seconds that one attempt may take, streaming included."""
    iteration: int
    """Which iteration this is, 1 for the first: a recorded mind answers by it."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the reply is held to where a mind can do so: an object, all of whose
    keys are required, with ``anyOf`` for choices. None asks for the form of the dialect."""


class Reply(NamedTuple):
    """What a mind answered and what it took."""

    text: str
    model: str
    """The model that really answered, as the provider names it."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    """None where nobody can say; never 0 for unknown. A model on this machine costs 0."""
    latency_ms: int = 0
    """All attempts and waits together."""
    finish: str | None = None
    """Why the reply ended: ``stop``, ``length`` …"""
    attempts: int = 1


class Addressed(Protocol):
    """A mind as far as a prompt depends on it: who it is, and how it is spoken to."""

    @property
    def name(self) -> str:
        """As the user names it: ``local``, ``openrouter:anthropic/claude-haiku-4.5``."""
        ...

    @property
    def dialect(self) -> Dialect:
        """Which form of the protocol it is told and answers in."""
        ...


class Mind(Addressed, Protocol):
    """A language model that can be asked for one reply."""

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Ask once; stream to ``listener`` where one is given.

        Raises:
            MindFailed: the attempt failed; ``retryable`` tells whether another may succeed.
            MindUnavailable: nothing was asked, since something has to be set up first.
        """
        ...


class MindUnavailable(Refused):
    """A key, a package or a model file is missing; the sentence says how to get it."""


class MindFailed(Broken):
    """An invocation that brought no whole reply. What arrived is kept in ``partial``."""

    def __init__(
        self,
        sentence: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        partial: str = "",
        attempts: int = 1,
        latency_ms: int = 0,
        status: int | None = None,
    ) -> None:
        super().__init__(sentence)
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds the provider asked us to wait."""
        self.partial = partial
        self.attempts = attempts
        self.latency_ms = latency_ms
        self.status = status
        """The HTTP status that the provider refused with."""
