"""A client in the process that has the store open: the same texts, and no wire between."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from typing import Any

from cli.client.client import CLOSED, CallFailed, Notification, OnState, State
from cli.client.messages import read, request, result_of
from cli.rpc.dispatcher import Dispatcher, notification
from cli.rpc.handshake import handshake
from cli.rpc.service import Service, all_methods


class LocalClient:
    """Calls the methods of a service; implements :class:`cli.client.client.Client`.

    Whoever opened the service closes it, after the client.
    """

    def __init__(self, service: Service, name: str) -> None:
        """Connect.

        Args:
            service: what answers.
            name: how the client is called; drafts belong to it.
        """
        self._service, self._name = service, name
        self._dispatcher = Dispatcher({**all_methods(service), "handshake": handshake()})
        self._numbers = itertools.count(1)
        self._inbox: asyncio.Queue[Notification | None] = asyncio.Queue()
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
        if self._open:
            told = read(notification(method, params))  # a text, as others get it
            self._inbox.put_nowait((method, told["params"]))

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
        while True:
            notification = await self._inbox.get()
            if notification is None:
                return
            yield notification

    def on_state(self, callback: OnState) -> None:
        """Let somebody know when it is closed."""
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
        self._inbox.put_nowait(None)
        for callback in self._told:
            callback("closed", "")
