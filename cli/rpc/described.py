"""Methods made of asynchronous functions: types and summary are those of the function."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, get_type_hints

from cli.rpc.method import Method, Params, Peer, Result

P = TypeVar("P", bound=Params)
R = TypeVar("R", bound=Result)


def described(name: str, run: Callable[[Peer, P], Awaitable[R]], *errors: int) -> Method:
    """The method that a function is: its parameter ``asked``, its result, its docstring.

    Args:
        name: as clients call it.
        run: what it does.
        errors: the codes that it may answer with beside those that every method may.
    """
    hints: dict[str, Any] = get_type_hints(run)
    summary = (run.__doc__ or "").partition("\n")[0]
    return Method(name, summary, hints["asked"], hints["return"], run, errors)
