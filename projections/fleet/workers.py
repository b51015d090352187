"""Who does the work: this process, many processes, or a Dask cluster; each an ``Executor``."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, ParamSpec, TypeVar

from domain.errors import Refused

P = ParamSpec("P")
T = TypeVar("T")

KILLS = 3
"""Workers that one partition may end before it is given up."""

CONNECT = 10.0
"""Seconds to wait for a scheduler."""


class Team(NamedTuple):
    """Workers, and how much may wait for them."""

    name: str
    executor: Executor
    width: int
    """How many partitions are worked on at once."""
    ahead: int
    """How many may be under way: more than are worked on, so that nobody waits."""
    alone: bool = False
    """Whether there is but this process, which has the store open already."""


def is_killed(error: BaseException) -> bool:
    """Whether a worker died of what it was given, again and again."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


@contextmanager
def here() -> Iterator[Team]:
    """No workers: this very process does all, one thing after the other."""
    with _Here() as executor:
        yield Team("this process", executor, 1, 1, alone=True)


class _Here(Executor):
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do it now."""
        future: Future[T] = Future()
        try:
            with redirect_stdout(sys.stderr):
                future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 — raised by whoever asks for the result
            future.set_exception(error)
        return future


@contextmanager
def processes(count: int, lost: Callable[[], object] = lambda: None) -> Iterator[Team]:
    """So many processes of this machine; all of them end with the block, or with this process.

    Args:
        count: how many.
        lost: called where one was killed, from any thread; what it did is done again.
    """
    executor = _Processes(count, lost)
    try:
        yield Team(f"{count} processes", executor, count, 2 * count)
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


class _Processes(Executor):
    """Processes, each alone in a pool of its own: so it is known what one that died was doing."""

    def __init__(self, count: int, lost: Callable[[], object]) -> None:
        self._lost = lost
        self._context = get_context("spawn")
        # no worker outlives whoever holds the other end, even if that one is killed
        self._lifeline, self._held = self._context.Pipe(duplex=False)
        self._carriers = ThreadPoolExecutor(count, "analyse")
        self._pools: dict[int, ProcessPoolExecutor] = {}
        self._over = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have one of the processes do it."""
        return self._carriers.submit(self._carry, partial(fn, *args, **kwargs))

    def _carry(self, call: Callable[[], T]) -> T:
        """Have the process of this thread do it, or the next one where it is killed."""
        me, killed = threading.get_ident(), 0
        while True:
            pool = self._pools.get(me)
            if pool is None:
                pool = self._pools[me] = ProcessPoolExecutor(
                    1, self._context, initializer=_begin, initargs=(self._lifeline,)
                )
            try:
                return pool.submit(call).result()
            except BrokenProcessPool:
                self._pools.pop(me).shutdown()
                killed += 1
                if self._over or killed == KILLS:
                    raise
                self._lost()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 — as the class above has it
        """Wait for what is under way, or end it at once."""
        self._over = True
        if cancel_futures:
            self._held.close()
        self._carriers.shutdown(cancel_futures=cancel_futures)
        for pool in self._pools.values():
            pool.shutdown()
        self._held.close()
        self._lifeline.close()


def _begin(lifeline: "Connection[Any, Any]") -> None:
    """What a process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us hears it, too, and ends us
    sys.stdout = sys.stderr  # data is for the one that started us to write
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: "Connection[Any, Any]") -> None:
    with suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(1)


@contextmanager
def dask(
    address: str, say: Callable[[str], object] = lambda _: None, *, tls: bool = False
) -> Iterator[Team]:
    """The workers of a Dask cluster.

    Args:
        address: ``HOST:PORT`` of its scheduler.
        say: told a sentence where the cluster has no worker yet.
        tls: whether to speak TLS, with the certificates that Dask's own configuration names.

    Raises:
        Refused: Dask is not installed, or nobody answers there.
    """
    try:
        from distributed import Client  # noqa: PLC0415 — half a second that only a cluster costs
    except ImportError:
        raise Refused(
            'Dask is not installed here: pip install "logosphere[dask]" brings it.'
        ) from None
    name, url = (
        (f"dask+tls://{address}", f"tls://{address}")
        if tls
        else (f"dask://{address}", f"tcp://{address}")
    )
    try:
        client: Any = Client(url, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:  # the last where TLS is not configured
        why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise Refused(
            f"No Dask scheduler answers at {name} ({why}): start one with dask scheduler, and"
            " workers with dask worker."
        ) from None
    with _hushed("distributed.client"), client:
        width = sum(client.nthreads().values())
        if not width:
            say(f"{name} has no worker yet: waiting for one (dask worker {url}).")
        executor = client.get_executor(pure=False)
        try:
            yield Team(name, executor, max(width, 1), 2 * max(width, 8))
        except BaseException:
            executor.shutdown(wait=False)
            raise


@contextmanager
def _hushed(logger: str) -> Iterator[None]:
    """Let a library not tell of what we tell in a sentence."""
    its = logging.getLogger(logger)
    level = its.level
    its.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        its.setLevel(level)
