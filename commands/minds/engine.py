"""llama.cpp in this process: a model loaded once, and answers that can be stopped.

The library always opens a port of its own on loopback; it gets a random key that nobody is told,
no pages and no list of what it is doing.
"""

import secrets
import threading
from collections.abc import Generator, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from commands.minds.mind import MindUnavailable

BATCH = 128
"""Prompt tokens between two chances to stop: a busy core reads some 40 a second."""

PATIENCE = 0.1
"""Seconds between two looks at the clock while nothing arrives."""

_servers: dict[tuple[Path, int, int], Any] = {}
_loading = threading.Lock()


def loaded(file: Path, threads: int, context: int) -> Any:
    """The server of a model file, loaded once per process.

    Args:
        file: a GGUF model.
        threads: how many cores it may use.
        context: tokens of prompt and reply together.

    Raises:
        MindUnavailable: the package is missing, or the file is no model.
    """
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


def stream(server: Any, question: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, None]:
    """The chunks of an answer, with an empty one now and then while none comes.

    The engine runs in a thread of its own, because it swallows whatever its callback raises,
    Ctrl-C included. Closing the iterator tells it to stop; it does at its next chunk.
    """
    chunks: SimpleQueue[Mapping[str, Any] | BaseException | None] = SimpleQueue()
    stop = threading.Event()

    def take(chunk: Mapping[str, Any]) -> bool:
        chunks.put(chunk)
        return stop.is_set()

    def run() -> None:
        try:
            chunks.put(server.handle_chat_completions(question, take) or {})
        except BaseException as raised:  # noqa: BLE001 - raised again by whoever waits
            chunks.put(raised)
        chunks.put(None)

    # not a daemon: a process must not end while the engine is at work
    threading.Thread(target=run, name="local mind").start()
    try:
        while True:
            try:
                chunk = chunks.get(timeout=PATIENCE)
            except Empty:
                yield {}
                continue
            if chunk is None:
                return
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk
    finally:
        stop.set()
