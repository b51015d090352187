"""A mind on this machine: a GGUF model run in-process by llama.cpp, no network, no key.

Small models obey only when they are held: decoding is constrained to the compact dialect's JSON,
so the reply parses unless it is cut off. The library always opens a port of its own on loopback;
it gets a random key that nobody is told, and no pages.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from commands.minds.failures import Asked, garbled, timed_out
from commands.minds.mind import Listener, MindFailed, MindUnavailable, Reply, Request
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

BATCH = 128
"""Prompt tokens between two looks at the clock: a busy core reads some 40 a second."""

_servers: dict[tuple[Path, int, int], Any] = {}
_loading = threading.Lock()


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
        server = _loaded(self.file, self.threads, self.context)
        arriving = _Arriving(began + request.timeout, self.clock, listener)
        refusal = server.handle_chat_completions(_question(request), arriving.take)
        error = arriving.error or (refusal or {}).get("error")
        if arriving.raised is not None:
            raise arriving.raised
        if error:
            raise self._failed(error)
        if arriving.late:
            raise timed_out(Asked(self.name), request.timeout, arriving.text)
        if arriving.finish is None:
            raise garbled(Asked(self.name), "it stopped without a reason", arriving.text)
        return Reply(
            text=arriving.text,
            model=self.file.stem,
            tokens_in=arriving.usage.get("prompt_tokens"),
            tokens_out=arriving.usage.get("completion_tokens"),
            cost_usd=0.0,
            latency_ms=round((self.clock() - began) * 1000),
            finish=arriving.finish,
        )

    def _failed(self, error: Mapping[str, Any]) -> MindFailed:
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


class _Arriving:
    """What streams in. The engine swallows exceptions of its callback, so they are kept here."""

    def __init__(
        self, deadline: float, clock: Callable[[], float], listener: Listener | None
    ) -> None:
        self.pieces: list[str] = []
        self.usage: dict[str, int] = {}
        self.error: Mapping[str, Any] | None = None
        self.raised: BaseException | None = None
        self.finish: str | None = None
        self.late = False
        self._deadline = deadline
        self._clock = clock
        self._listener = listener

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """One chunk of the stream; True stops the engine."""
        try:
            self._read(chunk)
        except BaseException as raised:  # noqa: BLE001 - Ctrl-C too: raised again outside
            self.raised = raised
        self.late = self.finish is None and self._clock() > self._deadline
        return self.late or self.raised is not None or self.error is not None

    def _read(self, chunk: Mapping[str, Any]) -> None:
        self.error = chunk.get("error")
        self.usage.update(chunk.get("usage") or {})
        for choice in chunk.get("choices") or ():
            self.finish = choice.get("finish_reason") or self.finish
            if piece := choice.get("delta", {}).get("content"):
                self.pieces.append(piece)
                if self._listener:
                    self._listener(piece)


def _question(request: Request) -> dict[str, Any]:
    """The request as the engine's chat protocol puts it."""
    messages = [{"role": "system", "content": request.system}]
    for prompt, reply in request.examples:
        messages += [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]
    messages.append({"role": "user", "content": request.prompt})
    return {
        "messages": messages,
        "max_tokens": min(request.max_tokens, MOST_TOKENS),
        "temperature": 0.7 if request.temperature is None else request.temperature,
        "top_p": 0.95,
        "repeat_penalty": 1.1,
        "seed": request.seed % 2**32,
        "json_schema": SCHEMA,
        # the system prompt and the examples never change, so they are read only once
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
        # chunks while the prompt is read, so that a timeout or Ctrl-C need not wait for its end
        "return_progress": True,
    }


def _loaded(file: Path, threads: int, context: int) -> Any:
    """The server of a model file, loaded once per process."""
    with _loading:
        key = (file, threads, context)
        if key not in _servers:
            _servers[key] = _load(file, threads, context)
        return _servers[key]


def _load(file: Path, threads: int, context: int) -> Any:
    try:
        import xllamacpp  # noqa: PLC0415 - heavy, and an extra
    except ImportError as error:
        raise MindUnavailable(
            'A local mind needs the package xllamacpp: pip install "logosphere[local]".'
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {"local"}
    params.n_ctx = context
    params.n_batch = BATCH
    params.n_parallel = 1
    params.verbosity = -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    # threads that spin while they wait bring a busy machine to a halt
    params.cpuparams.poll = 0
    params.api_keys = [secrets.token_hex(16)]
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise MindUnavailable(
            f"{str(file)!r} can't be loaded: it must be a GGUF chat model that fits into memory"
            " (mind model pull local fetches one)."
        ) from error


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
