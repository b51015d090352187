"""Methods made of functions that look into the store, or change it, each in a thread aside."""

import asyncio
from collections.abc import Callable
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
    service: Service, work: Callable[[Service, P], R], *, one_by_one: bool = False
) -> Method:
    """The method that a function is: its name, its types, and its docstring's first line.

    Args:
        service: what it is done with.
        work: what is done. It may take as long as it takes.
        one_by_one: whether no two of its calls go on at once; those that wait hold up nobody.
    """
    turn = asyncio.Semaphore(1 if one_by_one else 1_000_000)

    async def run(_: Peer, asked: P) -> Result:
        async with turn:
            return await service.aside(work, service, asked)

    hints: dict[str, Any] = get_type_hints(work)
    summary = (work.__doc__ or "").partition("\n")[0]
    return Method(work.__name__, summary, hints["asked"], hints["return"], run)
