"""Minds behind an API: one attempt is one request to the provider.

The libraries bring retries of their own; they are switched off, so that ``retry.py`` is the only
one that asks again and the log knows how often. A client lives as long as its request.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from commands.minds.failures import Asked, broke_off, endless, timed_out, unreachable
from commands.minds.mind import Listener, MindFailed, Reply, Request
from commands.minds.names import Service

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

    from commands.minds.services import Opening

MOST_TEXT = 1_000_000
"""Characters of a reply from which on a provider has lost its way."""


class Whole(NamedTuple):
    """A reply that arrived, as the library hands it over."""

    text: str
    response: "ModelResponse"


class _Unheard(Exception):
    """Carries what a listener raised past the code that explains the provider's failures."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause = cause


@dataclass(frozen=True)
class HostedMind:
    """A model of a provider, asked over HTTP.

    It runs an event loop of its own for each request: inside of a running one, call it from
    another thread.
    """

    name: str
    service: Service
    model: str
    url: str
    """The base URL of the API."""
    key_variable: str
    key: str = field(repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    dialect: Literal["full"] = "full"

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Ask once, see :class:`commands.minds.mind.Mind`."""
        from commands.minds import services  # noqa: PLC0415 - pydantic_ai takes a second to import

        opening = services.opening(self.service, self.model, self.url, self.key, request.timeout)
        began = self.clock()
        arrived = asyncio.run(self._attempt(opening, request, listener))
        # raised here and not where it was caught: the library's own error, which may repeat the
        # key, must not hang on to it as its context
        if isinstance(arrived, Exception):
            raise arrived
        response, usage = arrived.response, arrived.response.usage
        counted = bool(usage.input_tokens or usage.output_tokens)
        return Reply(
            text=arrived.text,
            model=response.model_name or self.model,
            tokens_in=usage.input_tokens if counted else None,
            tokens_out=usage.output_tokens if counted else None,
            cost_usd=services.cost(self.service, self.model, response) if counted else None,
            latency_ms=round((self.clock() - began) * 1000),
            finish=response.finish_reason,
        )

    async def _attempt(
        self, opening: "Opening", request: Request, listener: Listener | None
    ) -> Whole | Exception:
        """The reply, or the failure that explains why there is none."""
        from commands.minds import services  # noqa: PLC0415
        from commands.minds.hosted_errors import failure_of  # noqa: PLC0415

        arriving: list[str] = []
        asked = Asked(self.name, self.key_variable, self.key)
        turns = services.messages(request)
        settings = services.settings(self.service, request)
        try:
            # the libraries count the silence between two bytes; this counts the whole attempt
            async with asyncio.timeout(request.timeout), opening() as model:
                form = services.form(model, request.schema)
                if listener is None:
                    response = await services.ask(model, turns, settings, form)
                else:
                    hear = _hearing(listener, arriving)
                    response = await services.listen(model, turns, settings, form, hear)
        except _Unheard as unheard:
            return unheard.cause
        except TimeoutError:
            return timed_out(asked, request.timeout, "".join(arriving))
        except Exception as error:  # noqa: BLE001 - whatever a library raises is a failed attempt
            return failure_of(error, asked, request.timeout, "".join(arriving))
        return checked(asked, response, streamed=listener is not None)


def _hearing(listener: Listener, arriving: list[str]) -> Callable[[str], bool]:
    """Keep each piece and pass it on; False once there is more text than any reply can have."""
    length = 0

    def hear(piece: str) -> bool:
        nonlocal length
        length += len(piece)
        arriving.append(piece)
        try:
            listener(piece)
        except Exception as cause:
            raise _Unheard(cause) from cause
        return length <= MOST_TEXT

    return hear


def checked(asked: Asked, response: "ModelResponse", *, streamed: bool) -> Whole | MindFailed:
    """A reply is whole when its provider says why it ended; a broken stream just ends."""
    text = response.text or ""
    if len(text) > MOST_TEXT:
        return endless(asked, text[:MOST_TEXT])
    if response.finish_reason == "error":
        return unreachable(asked, "the model behind it failed")
    if streamed and response.finish_reason is None:
        return broke_off(asked, text)
    return Whole(text, response)
