"""One interface for whoever speaks to a store: in this process, or to a server far away."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal, Protocol

State = Literal["connected", "reconnecting", "closed"]

OnState = Callable[[State, str], object]
"""Told the new state, and one sentence about it, which may be empty."""

Notification = tuple[str, dict[str, Any]]
"""A method of the server's, and its parameters."""

LOST = -32098
"""The code of a call whose connection was lost before an answer came; no server sends it."""

CLOSED = -32099
"""The code of a call on a client that is closed; no server sends it."""


class CallFailed(Exception):
    """A call was answered with no.

    ``code`` is that of JSON-RPC, ``sentence`` says to a person what is and what to do, ``data``
    holds what else the server said.
    """

    def __init__(self, code: int, sentence: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.data = code, sentence, dict(data or {})

    @property
    def error(self) -> str:
        """The class of the refusal, as ``NothingAwaits``; empty where the server names none."""
        return str(self.data.get("error", ""))


class Client(Protocol):
    """Calls methods, and hears what the other side tells by itself."""

    @property
    def state(self) -> State:
        """Whether calls can be answered now."""
        ...

    async def call(self, method: str, /, **params: Any) -> Any:
        """Call a method; its result as plain JSON data.

        Parameters that are None are left out. Calls go on side by side, and are begun in the order
        in which they were made.

        Raises:
            CallFailed: it was refused, something broke, or the connection was lost.
        """
        ...

    def notifications(self) -> AsyncIterator[Notification]:
        """What the other side tells, in order, until the client is closed; for one listener."""
        ...

    def on_state(self, callback: OnState) -> None:
        """Let somebody know whenever the state changes."""
        ...

    async def close(self) -> None:
        """Let go of everything; calls that wait for an answer fail."""
        ...
