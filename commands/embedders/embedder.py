"""The protocol that every embedder speaks: texts, one vector each, or a failure that says why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from domain.errors import Broken, Refused

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray


class Answer(NamedTuple):
    """What one attempt brought, before anybody looked at it."""

    rows: "NDArray[np.floating[Any]]"
    """Raw vectors, one row a text, in the order of the texts. A row of NaN is no vector."""
    tokens: int | None = None
    """Tokens that were read; None where nobody counted."""
    cost_usd: float | None = None
    """None where nobody can say; never 0 for unknown. A model on this machine costs 0."""


class Embedder(Protocol):
    """A model that gives texts a place among each other."""

    @property
    def name(self) -> str:
        """As configured: ``local``, ``local:multilingual``, ``openai:text-embedding-3-small``."""
        ...

    @property
    def model(self) -> str:
        """What the vectors are made with: only those of one and the same can be compared."""
        ...

    def vectors(self, texts: Sequence[str], timeout: float) -> Answer:
        """Ask once. Any text is taken; what is longer than the model reads is cut.

        Args:
            texts: at least one.
            timeout: seconds that this attempt may take; loading a model does not count.

        Raises:
            EmbedderFailed: the attempt failed; ``retryable`` tells whether another may succeed.
            EmbedderUnavailable: nothing was asked, since something has to be set up first.
        """
        ...


class EmbedderUnavailable(Refused):
    """A key, a package or a model file is missing; the sentence says how to get it."""


class EmbedderFailed(Broken):
    """An attempt that brought no vectors."""

    def __init__(self, sentence: str, *, retryable: bool, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds the provider asked us to wait."""
