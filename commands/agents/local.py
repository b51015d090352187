"""Models on this machine as what answers for agents: llama.cpp in this process, no key, no network.

They are given no tools: the small models that this project knows do not call them, however they
are asked; whoever drafts such an agent is told so.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from commands.agents.model import Said, Shown
from commands.agents.words import introduced, told
from commands.minds.engine import loaded, stream
from commands.minds.failures import Asked, broke_off, timed_out
from commands.minds.local import Arriving, LocalMind, harmless

WHOLE = 900.0
"""Seconds that one reply may take: two busy cores read some 40 tokens a second."""

# the engine answers one at a time, and threads that wait for it are nobody else's
_engine = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local agents")


@dataclass(frozen=True)
class LocalModel:
    """A model file on this machine."""

    mind: LocalMind
    window_set: int | None = None
    """The window that the user has set."""
    whole: float = WHOLE

    @property
    def name(self) -> str:
        """As the user names it."""
        return self.mind.name

    @property
    def window(self) -> int:
        """What it is loaded for."""
        return min(self.window_set or self.mind.context, self.mind.context)

    @property
    def careful(self) -> int:
        """The same."""
        return self.window

    @property
    def free(self) -> bool:
        """It costs nothing."""
        return True

    @property
    def sums_up(self) -> bool:
        """No: it would take minutes."""
        return False

    @property
    def warning(self) -> str:
        """That it has no tools."""
        return (
            f"{self.name} can't use tools: it only talks. Draft the agent with a hosted model"
            " to have it act."
        )

    async def prepare(self) -> None:
        """Load the model, once in a process; everybody else goes on meanwhile."""
        await asyncio.get_running_loop().run_in_executor(_engine, self._server)

    def _server(self) -> Any:
        return loaded(self.mind.file, self.mind.threads, self.mind.context)

    async def reply(self, shown: Shown, hear: Callable[[str], None]) -> Said:
        """Reply once, see :class:`commands.agents.model.Model`."""
        loop = asyncio.get_running_loop()
        stop = threading.Event()
        arriving = Arriving()

        def pass_on(piece: str) -> None:
            if not stop.is_set():
                hear(piece)

        def run() -> None:
            with closing(stream(self._server(), question(shown))) as chunks:
                for chunk in chunks:
                    if stop.is_set():
                        return
                    piece = arriving.read(chunk)
                    if arriving.error:
                        raise self.mind.failure(arriving.error)
                    if chunk:
                        # a loop that is closed has nobody left who hears
                        with suppress(RuntimeError):
                            loop.call_soon_threadsafe(pass_on, piece)

        asked = Asked(self.name)
        try:
            async with asyncio.timeout(self.whole):
                await loop.run_in_executor(_engine, run)
        except TimeoutError:
            raise timed_out(asked, self.whole, arriving.text) from None
        finally:
            stop.set()
        if arriving.finish is None:
            raise broke_off(asked, arriving.text)
        return Said(
            text=arriving.text,
            model=self.mind.file.stem,
            finish=arriving.finish,
            tokens_in=arriving.usage.get("prompt_tokens"),
            tokens_out=arriving.usage.get("completion_tokens"),
            cost_usd=0.0,
        )


def question(shown: Shown) -> Mapping[str, Any]:
    """What it is shown, as the engine's chat protocol puts it."""
    prompts = introduced(shown)
    messages = [{"role": "system", "content": harmless(shown.instructions)}]
    for turn, prompt in zip(shown.turns, prompts, strict=False):
        messages.append({"role": "user", "content": harmless(prompt)})
        messages.append({"role": "assistant", "content": harmless(told(turn))})
    messages.append({"role": "user", "content": harmless(prompts[-1])})
    return {
        "messages": messages,
        "max_tokens": shown.most_tokens,
        "temperature": 0.7,
        "top_p": 0.95,
        "repeat_penalty": 1.1,
        # what was shown before is read only once
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
        # chunks while the prompt is read, so that it can be stopped before its end
        "return_progress": True,
    }
