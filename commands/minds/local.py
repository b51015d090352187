"""A mind on this machine: a GGUF model run in-process by llama.cpp, no network, no key.

Small models obey only when they are held: decoding is constrained to the compact dialect's JSON,
so the reply parses unless it is cut off.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from commands.minds.engine import loaded, stream
from commands.minds.failures import Asked, broke_off, timed_out
from commands.minds.mind import Listener, MindFailed, Reply, Request
from domain.errors import BadSetting

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "thoughts": {
            "type": "array",
            "items": {"type": "string", "minLength": 12, "maxLength": 220},
            "minItems": 1,
            "maxItems": 3,
        },
        "draft": {"type": "string", "minLength": 8, "maxLength": 700},
    },
    "required": ["thoughts", "draft"],
    "additionalProperties": False,
}
"""What a compact reply looks like; the bounds keep a small model from rambling on."""

MOST_TOKENS = 400
"""The longest reply that the schema allows has about this many tokens."""


@dataclass(frozen=True)
class LocalMind:
    """A model file on this machine. It is loaded at the first reply and then kept."""

    name: str
    file: Path
    threads: int = 1
    context: int = 4096
    """Tokens of prompt and reply together."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    dialect: Literal["compact"] = "compact"

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Ask once, see :class:`commands.minds.mind.Mind`."""
        began = self.clock()
        server = loaded(self.file, self.threads, self.context)
        # loading is not the attempt's: a cold disk may take longer than the thinking
        deadline = self.clock() + request.timeout
        arriving = Arriving()
        with closing(stream(server, _question(request))) as chunks:
            for chunk in chunks:
                piece = arriving.read(chunk)
                if arriving.error:
                    raise self.failure(arriving.error)
                if piece and listener:
                    listener(piece)
                if arriving.finish is None and self.clock() > deadline:
                    raise timed_out(Asked(self.name), request.timeout, arriving.text)
        if arriving.finish is None:
            raise broke_off(Asked(self.name), arriving.text)
        return Reply(
            text=arriving.text,
            model=self.file.stem,
            tokens_in=arriving.usage.get("prompt_tokens"),
            tokens_out=arriving.usage.get("completion_tokens"),
            cost_usd=0.0,
            latency_ms=round((self.clock() - began) * 1000),
            finish=arriving.finish,
        )

    def failure(self, error: Mapping[str, Any]) -> MindFailed:
        """The engine reports failures as dicts in the form of HTTP errors."""
        if error.get("type") == "exceed_context_size_error":
            return MindFailed(
                f"The prompt has {error.get('n_prompt_tokens')} tokens, {self.name} reads"
                f" {self.context}: show it less, or set MIND_LOCAL_CONTEXT higher.",
                retryable=False,
            )
        words = Asked(self.name).because(str(error.get("message", "")))
        return MindFailed(
            f"{self.name} failed{words}: try again.",
            retryable=int(error.get("code") or 500) >= 500,
        )


class Arriving:
    """What has streamed in so far."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.usage: dict[str, int] = {}
        self.error: Mapping[str, Any] | None = None
        self.finish: str | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def read(self, chunk: Mapping[str, Any]) -> str:
        """Take one chunk in; returns the text that it adds."""
        before = len(self.pieces)
        self.error = chunk.get("error")
        self.usage.update(chunk.get("usage") or {})
        for choice in chunk.get("choices") or ():
            self.finish = choice.get("finish_reason") or self.finish
            if piece := choice.get("delta", {}).get("content"):
                self.pieces.append(piece)
        return "".join(self.pieces[before:])


def _question(request: Request) -> dict[str, Any]:
    """The request as the engine's chat protocol puts it."""
    messages = [{"role": "system", "content": request.system}]
    for prompt, reply in request.examples:
        messages += [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]
    messages.append({"role": "user", "content": harmless(request.prompt)})
    own = request.schema is None
    return {
        "messages": messages,
        "max_tokens": min(request.max_tokens, MOST_TOKENS) if own else request.max_tokens,
        "temperature": 0.7 if request.temperature is None else request.temperature,
        "top_p": 0.95,
        "repeat_penalty": 1.1,
        "seed": request.seed % 2**32,
        "json_schema": SCHEMA if own else request.schema,
        # the system prompt and the examples never change, so they are read only once
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
        # chunks while the prompt is read, so that a timeout or Ctrl-C need not wait for its end
        "return_progress": True,
    }


def harmless(prompt: str) -> str:
    """The prompt without what the engine would take for its own marks of turns.

    It reads ``<|im_end|>`` as the end of a turn wherever it stands, so that whoever writes it into
    a message could put words into the mouth of the system.
    """
    return prompt.replace("<|", "<\u200b|").replace("<\uff5c", "<\u200b\uff5c")


def threads_of(env: Mapping[str, str]) -> int:
    """How many threads to use: ``MIND_LOCAL_THREADS``, else all cores but one.

    Raises:
        BadSetting: the variable is no whole number of at least 1.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return _whole(env, "MIND_LOCAL_THREADS", max(1, cores - 1), least=1)


def context_of(env: Mapping[str, str]) -> int:
    """How many tokens prompt and reply may have together: ``MIND_LOCAL_CONTEXT``, else 4096.

    Raises:
        BadSetting: the variable is no whole number of at least 512.
    """
    return _whole(env, "MIND_LOCAL_CONTEXT", 4096, least=512)


def _whole(env: Mapping[str, str], variable: str, default: int, least: int) -> int:
    text = env.get(variable, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < least:
        raise BadSetting(f"{variable} is {text!r}: give a whole number of at least {least}.")
    return int(text)
