"""Embedders behind an API: one attempt is one request to the provider.

As in ``commands/minds/hosted.py``, the client's own retries are off, a client lives as long as its
request, and failures are told in the same sentences.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from commands.embedders.embedder import Answer, EmbedderFailed
from commands.embedders.names import Service
from commands.embedders.texts import readable
from commands.minds.failures import Asked, garbled, timed_out
from commands.minds.mind import MindFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic_ai.embeddings import EmbeddingResult
    from pydantic_ai.providers import Provider

LONGEST = 8_000
"""Bytes of a text that are sent: hosted models refuse a text of more than 8,192 tokens instead of
cutting it, and a token is at least a byte."""


@dataclass(frozen=True)
class HostedEmbedder:
    """An embedding model of a provider, asked over HTTP.

    It runs an event loop of its own for each request: inside of a running one, call it from
    another thread.
    """

    name: str
    service: Service
    provider_model: str
    """What the provider calls it."""
    url: str
    """The base URL of the API."""
    key_variable: str
    key: str = field(repr=False)

    @property
    def model(self) -> str:
        """The whole name: who runs a model may have rounded it."""
        return self.name

    def vectors(self, texts: Sequence[str], timeout: float) -> Answer:
        """Ask once, see :class:`commands.embedders.embedder.Embedder`."""
        from commands.minds import services  # noqa: PLC0415 - pydantic_ai takes a second to import

        sent = [_shortened(text) for text in texts]
        arrived = asyncio.run(self._attempt(sent, timeout))
        # raised here and not where it was caught: the library's own error, which may repeat the
        # key, must not hang on to it as its context
        if isinstance(arrived, MindFailed):
            raise EmbedderFailed(
                arrived.sentence, retryable=arrived.retryable, retry_after=arrived.retry_after
            )
        counted = bool(arrived.usage.input_tokens)
        # the library's replies and its vectors tell their price in the same way
        priced: Any = arrived
        return Answer(
            rows=_rows(arrived.embeddings),
            tokens=arrived.usage.input_tokens if counted else None,
            cost_usd=services.cost(self.service, self.provider_model, priced) if counted else None,
        )

    async def _attempt(
        self, texts: Sequence[str], seconds: float
    ) -> "EmbeddingResult | MindFailed":
        """The answer, or the failure that explains why there is none."""
        from openai import AsyncOpenAI  # noqa: PLC0415 - heavy, and an extra
        from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel  # noqa: PLC0415

        from commands.minds.hosted_errors import failure_of  # noqa: PLC0415

        asked = Asked(self.name, self.key_variable, self.key)
        try:
            # the library counts the silence between two bytes; this counts the whole attempt
            async with (
                asyncio.timeout(seconds),
                # servers that need no key still want the header
                AsyncOpenAI(
                    api_key=self.key or "none", base_url=self.url, max_retries=0, timeout=seconds
                ) as client,
            ):
                provider = _provider(self.service, client)
                model = OpenAIEmbeddingModel(self.provider_model, provider=provider)
                return await model.embed(texts, input_type="document")
        except TimeoutError:
            return timed_out(asked, seconds)
        except (AttributeError, TypeError, ValueError):
            # what the libraries stumble over when they read an answer of another shape
            return garbled(asked, "no list of vectors")
        except Exception as error:  # noqa: BLE001 - whatever a library raises is a failed attempt
            return failure_of(error, asked, seconds, "")


def _provider(service: Service, client: Any) -> "Provider[Any]":
    """Who is asked, as the library needs it for prices."""
    match service:
        case "openrouter":
            from pydantic_ai.providers.openrouter import OpenRouterProvider  # noqa: PLC0415

            return OpenRouterProvider(openai_client=client)
        case "ollama":
            from pydantic_ai.providers.ollama import OllamaProvider  # noqa: PLC0415

            return OllamaProvider(openai_client=client)
        case _:
            from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

            return OpenAIProvider(openai_client=client)


def _shortened(text: str) -> str:
    """As much of the beginning as the narrowest of the usual models reads."""
    return readable(text, LONGEST).encode()[:LONGEST].decode(errors="ignore")


def _rows(embeddings: Sequence[Any]) -> "NDArray[np.float64]":
    """The vectors as a table as wide as most of them; NaN for what is no such vector."""
    import numpy as np  # noqa: PLC0415 - not before it is needed

    vectors = [_numbers(embedding) for embedding in embeddings]
    widths = Counter(len(vector) for vector in vectors if vector is not None)
    width = widths.most_common(1)[0][0] if widths else 0
    rows = np.full((len(vectors), width), np.nan)
    for row, vector in zip(rows, vectors, strict=True):
        if vector is not None and len(vector) == width:
            row[:] = vector
    return rows


def _numbers(embedding: Any) -> "NDArray[np.float64] | None":
    """One vector; None for anything else that a server may have put in its place."""
    import numpy as np  # noqa: PLC0415 - not before it is needed

    try:
        vector = np.asarray(embedding, np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return vector if vector.ndim == 1 else None
