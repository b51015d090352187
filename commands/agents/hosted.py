"""Models behind an API as what answers for agents, on the same library as the minds.

One call is one request, without the libraries' own retries. Its client lives as long as it does,
so that cancelling the call closes the connection.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commands.agents.model import Said, Shown, Wanted
from commands.minds.failures import Asked, endless, timed_out
from commands.minds.hosted import MOST_TEXT, HostedMind, checked
from commands.minds.mind import MindFailed

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    from commands.minds.services import Opening

SILENCE = 120.0
"""Seconds without a byte after which a provider does not answer any more."""

WHOLE = 900.0
"""Seconds that one call may take: some models think for minutes before they speak."""

CAREFUL = 32_000
"""Tokens to show a model of whose window nobody knows; most can be shown more."""

OLLAMA = 4_096
"""The same for Ollama, which shows a model so many unless told otherwise, and leaves out what is
more without a word."""


@dataclass(frozen=True)
class HostedModel:
    """A model of a provider, asked over HTTP."""

    mind: HostedMind
    """How it is reached."""
    window_set: int | None = None
    """The window that the user has set."""
    silence: float = SILENCE
    whole: float = WHOLE
    sums_up: bool = field(default=True, init=False)
    warning: str = field(default="", init=False)

    @property
    def name(self) -> str:
        """As the user names it."""
        return self.mind.name

    @property
    def window(self) -> int | None:
        """What the user has set, else what the price list knows."""
        from commands.agents import requests  # noqa: PLC0415 — pydantic_ai takes seconds

        return self.window_set or requests.window(self.mind.service, self.mind.model)

    @property
    def careful(self) -> int:
        """What to show it while nobody knows."""
        return OLLAMA if self.mind.service == "ollama" else CAREFUL

    @property
    def free(self) -> bool:
        """Whether it is on this machine, or one of the user's own."""
        return self.mind.service == "ollama" and not self.mind.model.endswith("-cloud")

    async def prepare(self) -> None:
        """Import the provider's library; everybody else goes on meanwhile."""
        await asyncio.to_thread(self._opening)

    def _opening(self) -> "Opening":
        from commands.agents import requests  # noqa: F401, PLC0415
        from commands.minds import services  # noqa: PLC0415

        mind = self.mind
        return services.opening(mind.service, mind.model, mind.url, mind.key, self.silence)

    async def reply(self, shown: Shown, hear: Callable[[str], None]) -> Said:
        """Reply once, see :class:`commands.agents.model.Model`."""
        arrived = await self._attempt(shown, hear)
        # raised here and not where it was caught: the library's own error, which may repeat the
        # key, must not hang on to it as its context
        if isinstance(arrived, MindFailed):
            raise arrived
        return self._said(arrived)

    async def _attempt(
        self, shown: Shown, hear: Callable[[str], None]
    ) -> "ModelResponse | MindFailed":
        from commands.agents import requests  # noqa: PLC0415
        from commands.minds.hosted_errors import failure_of  # noqa: PLC0415

        mind = self.mind
        asked = Asked(mind.name, mind.key_variable, mind.key)
        arriving: list[str] = []
        length = 0

        def take(piece: str, size: int) -> bool:
            nonlocal length
            length += size
            if piece:
                arriving.append(piece)
            hear(piece)
            return length <= MOST_TEXT

        try:
            async with asyncio.timeout(self.whole), self._opening()() as model:
                response = await requests.listen(model, mind.service, shown, take)
        except TimeoutError:
            return timed_out(asked, self.whole, "".join(arriving))
        except Exception as error:  # noqa: BLE001 — whatever a library raises is a failed attempt
            return failure_of(error, asked, self.silence, "".join(arriving))
        if length > MOST_TEXT:
            return endless(asked, "".join(arriving))
        whole = checked(asked, response, streamed=True)
        return whole if isinstance(whole, MindFailed) else whole.response

    def _said(self, response: "ModelResponse") -> Said:
        from commands.minds import services  # noqa: PLC0415

        usage = response.usage
        counted = bool(usage.input_tokens or usage.output_tokens)
        cached = usage.cache_read_tokens + usage.cache_write_tokens
        return Said(
            text=response.text or "",
            model=response.model_name or self.mind.model,
            finish=response.finish_reason,
            wanted=tuple(
                Wanted(call.tool_call_id, call.tool_name, _arguments(call))
                for call in response.tool_calls
            ),
            tokens_in=max(0, usage.input_tokens - cached) if counted else None,
            tokens_out=usage.output_tokens if counted else None,
            cache_read=usage.cache_read_tokens,
            cache_creation=usage.cache_write_tokens,
            cost_usd=services.cost(self.mind.service, self.mind.model, response)
            if counted
            else None,
            raw=response,
        )


def _arguments(call: "ToolCallPart") -> str:
    """As the model wrote them, well or not."""
    return call.args if isinstance(call.args, str) else json.dumps(call.args or {})
