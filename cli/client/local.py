"""A client in the process that has the store open: the same texts, and no wire between."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from typing import Any

from cli.client.client import CLOSED, CallFailed, Notification, OnState, State
from cli.client.messages import read, request, result_of
from cli.rpc.backlog import BYTES, MESSAGES, Backlog
from cli.rpc.dispatcher import Dispatcher, notification
from cli.rpc.handshake import handshake
from cli.rpc.service import Service, all_methods

_PACED = frozenset({"event", "cut_off", "store_status"})
"""What comes no faster than there is room for it, or now and then."""


class LocalClient:
    """Calls the methods of a service; implements :class:`cli.client.client.Client`.

    Whoever opened the service closes it, after the client. So much waits for whoever listens, and
    no more. Events of a subscription come as fast as they are heard, and none is missed. What else
    is told where nothing more may wait is not told later: as over a wire that is lost and comes
    back, the state is ``reconnecting`` then, and ``connected`` once there is room again. Calls are
    answered all the time.
    """

    def __init__(self, service: Service, name: str, *, most: int = MESSAGES) -> None:
        """Connect.

        Args:
            service: what answers.
            name: how the client is called; drafts belong to it.
            most: how many notifications may wait to be heard.
        """
        self._service, self._name = service, name
        self._dispatcher = Dispatcher({**all_methods(service), "handshake": handshake()})
        self._numbers = itertools.count(1)
        self._inbox = Backlog[Notification](most, BYTES)
        self._missed = False
        self._told: list[OnState] = []
        self._calls: set[asyncio.Task[str | None]] = set()
        self._open = True
        service.attach(self)

    # as the service sees it

    @property
    def name(self) -> str:
        """How the client is called."""
        return self._name

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notification."""
        if not self._open:
            return
        text = notification(method, params)
        told, size = (method, read(text)["params"]), len(text.encode())  # as others get it
        if method in _PACED:
            self._inbox.add(told, size)
        elif not self._inbox.put(told, size) and not self._missed:
            self._missed = True
            self._change("reconnecting", "More was told than was heard: some of it is missing.")

    @property
    def has_room(self) -> bool:
        """Whether it takes events as they come; if not, those of the log once it does."""
        return self._inbox.has_room

    async def drained(self) -> None:
        """Wait until there is room for more."""
        await self._inbox.drained()

    # as the caller sees it

    @property
    def state(self) -> State:
        """Connected, until it is closed."""
        return "connected" if self._open else "closed"

    async def call(self, method: str, /, **params: Any) -> Any:
        """Call a method; see :class:`cli.client.client.Client`."""
        if not self._open:
            raise CallFailed(CLOSED, "The connection is closed.")
        text = request(next(self._numbers), method, params)
        task = asyncio.ensure_future(self._dispatcher.answer(self, text))
        self._calls.add(task)
        try:
            answer = await task
        except asyncio.CancelledError:
            if task.cancelled() and self.state == "closed":
                raise CallFailed(CLOSED, "The connection was closed.") from None
            raise
        finally:
            self._calls.discard(task)
        return result_of(read(answer or ""))

    async def notifications(self) -> AsyncIterator[Notification]:
        """What the service tells; see :class:`cli.client.client.Client`."""
        async for told in self._inbox.all():
            if self._missed and self._inbox.has_room:
                self._missed = False
                self._change("connected", "")
            yield told

    def on_state(self, callback: OnState) -> None:
        """Let somebody know when something was missed, and when it is closed."""
        self._told.append(callback)

    async def close(self) -> None:
        """Let go of the service."""
        if not self._open:
            return
        self._open = False
        self._service.detach(self)
        for task in self._calls:
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        self._inbox.end()
        self._change("closed", "")

    def _change(self, state: State, sentence: str) -> None:
        for callback in tuple(self._told):
            callback(state, sentence)
