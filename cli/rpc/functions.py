"""Methods made of functions: name, types and summary are those of the function.

One that looks into the store, or changes it, is done in a thread aside; one that has to do with
agents at work, or with whoever calls, in the thread of the event loop.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, get_type_hints

from cli.rpc.method import Method, Params, Peer, Result
from cli.rpc.service import Service


class Look(Params):
    """A session, looked at now or from a moment."""

    session: str | None = None
    """Which one; the one that the store is set to by default."""
    at: str | None = None
    """The moment: `412`, `iter:24`, `draft:2`, `~2`, `@label`, `session@REF`; now by default."""


P = TypeVar("P", bound=Params)
R = TypeVar("R", bound=Result)


def in_store(
    service: Service, work: Callable[[Service, P], R], *errors: int, one_by_one: bool = False
) -> Method:
    """The method that a function is, in a thread.

    Args:
        service: what it is done with.
        work: what is done. It may take as long as it takes.
        errors: the codes that it may answer with beside those that every method may.
        one_by_one: whether no two of its calls go on at once; those that wait hold up nobody.
    """
    turn = asyncio.Lock()

    async def alone(asked: P) -> R:
        async with turn:
            return await service.aside(work, service, asked)

    async def run(_: Peer, asked: P) -> Result:
        if not one_by_one:
            return await service.aside(work, service, asked)
        # whoever asked may be gone while the thread is still at it: the next one has to wait
        return await asyncio.shield(alone(asked))

    return _method(work, run, errors)


def on_loop(
    service: Service, work: Callable[[Service, Peer, P], Awaitable[R]], *errors: int
) -> Method:
    """The method that a coroutine function is; as :func:`in_store`, and it is told who calls."""

    async def run(peer: Peer, asked: P) -> Result:
        return await work(service, peer, asked)

    return _method(work, run, errors)


def _method(
    work: Callable[..., Any], run: Callable[[Peer, P], Awaitable[Result]], errors: tuple[int, ...]
) -> Method:
    hints: dict[str, Any] = get_type_hints(work)
    summary = (work.__doc__ or "").partition("\n")[0]
    return Method(work.__name__, summary, hints["asked"], hints["return"], run, errors)
