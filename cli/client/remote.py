"""A client of a server far away, over a WebSocket: it comes back by itself, and misses nothing."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Callable
from functools import partial
from random import random
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, InvalidURI, WebSocketException

from cli.client.client import CLOSED, LOST, CallFailed, Notification, OnState, State
from cli.client.followed import Followed
from cli.client.messages import read, request, result_of
from cli.rpc.backlog import Backlog
from commands.minds.retry import jittered

PROTOCOL_VERSION = 1

LARGEST = 64 << 20
"""Bytes of the largest message that is taken."""

PING = 10.0
"""Seconds between two questions whether the server is still there, and for its answer."""

_AWAY = "StoreIsUnreachable"
"""The class of the refusal of a server whose store is away."""

_FINAL = frozenset({4001, 4003})
"""Codes of a closed connection after which trying again would not help."""


class Backoff(NamedTuple):
    """How long to wait before trying again: twice as long each time, anywhere below that bound."""

    first: float = 0.2
    longest: float = 5.0
    """Seconds."""


class _Waiting(NamedTuple):
    """A call that was sent."""

    answer: asyncio.Future[Any]
    noticed: Callable[[Any], Any]


class _Over(Exception):
    """Trying again would not help."""


class RemoteClient:
    """Calls the methods of a server; implements :class:`cli.client.client.Client`.

    It connects when it is first called. When the connection is lost, calls that wait for their
    answer fail, and it tries until it is back. Subscriptions keep their numbers and go on behind
    the last event that was heard, so that none is missed and none comes twice. What else a server
    tells while nobody is connected is not told later.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        name: str = "chat",
        *,
        backoff: Backoff = Backoff(),
    ) -> None:
        """Connect when first called.

        Args:
            url: where the server is, ``ws://127.0.0.1:9800/``.
            token: the server's; ``MIND_TOKEN`` by default.
            name: how the client is called; drafts belong to it.
            backoff: how long to wait before trying again.
        """
        self.url, self._name, self._backoff = url, name, backoff
        self._token = token if token is not None else os.environ.get("MIND_TOKEN")
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Waiting] = {}
        self._followed = Followed()
        # without a bound: to read no more would hold up the answers that come behind
        self._inbox = Backlog[Notification]()
        self._told: list[OnState] = []
        self._state: State = "reconnecting"
        self._wire: ClientConnection | None = None
        self._opening = asyncio.Lock()
        self._living: asyncio.Task[None] | None = None

    @property
    def state(self) -> State:
        """Whether calls can be answered now."""
        return self._state

    def on_state(self, callback: OnState) -> None:
        """Let somebody know whenever the state changes."""
        self._told.append(callback)

    async def open(self) -> None:
        """Connect, unless that was done.

        Raises:
            CallFailed: the server can't be reached, or does not let us in.
        """
        async with self._opening:
            if self._living is not None or self._state == "closed":
                return
            try:
                wire = await self._connected()
            except _Over as over:
                self._end(str(over))
                raise CallFailed(CLOSED, str(over)) from None
            except (OSError, WebSocketException) as error:
                raise CallFailed(LOST, self._unreachable(error)) from None
            self._wire = wire
            self._change("connected", "")
            self._living = asyncio.create_task(self._live(wire))

    async def call(self, method: str, /, **params: Any) -> Any:
        """Call a method; see :class:`cli.client.client.Client`."""
        if self._living is None:
            await self.open()
        wire = self._wire
        if self._state == "closed":
            raise CallFailed(CLOSED, "The connection is closed.")
        if wire is None:
            raise CallFailed(LOST, f"Not connected to {self.url}: trying again.")
        followed = self._followed
        if method == "subscribe":
            session = params.get("session")
            return await self._ask(wire, method, params, lambda a: followed.begun(a, session))
        if method == "unsubscribe":
            number = params.get("subscription")
            there = {**params, "subscription": followed.there(number)}
            return await self._ask(wire, method, there, lambda a: followed.ended(number, a))
        return await self._ask(wire, method, params)

    def notifications(self) -> AsyncIterator[Notification]:
        """What the server tells; see :class:`cli.client.client.Client`."""
        return self._inbox.all()

    async def close(self) -> None:
        """Disconnect, for good."""
        living, self._living = self._living, None
        if living is not None:
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)
        self._end("")

    # one connection after the other

    async def _live(self, wire: ClientConnection) -> None:
        """Hear what comes, and come back whenever the connection is lost."""
        try:
            while True:
                await self._hear(wire)
                wire = await self._again(wire)
        except _Over as over:
            self._end(str(over))
        finally:
            await wire.close()

    async def _hear(self, wire: ClientConnection) -> None:
        """Begin where the last connection ended, and take all that comes until this one ends."""
        hearing = asyncio.create_task(self._take(wire))
        try:
            if await self._resumed(wire, hearing):
                self._wire = wire
                self._change("connected", "")
                await hearing
        finally:
            self._wire = None
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)

    async def _again(self, wire: ClientConnection) -> ClientConnection:
        """Another connection in place of the one that is lost.

        Raises:
            _Over: the server does not want us.
        """
        await wire.close()
        why = wire.close_reason or "it is gone"
        self._fail_all(
            LOST,
            f"The connection to {self.url} was lost before the answer came: what was asked for may"
            " have been done.",
        )
        if wire.close_code in _FINAL:
            raise _Over(why)
        self._change("reconnecting", f"The connection to {self.url} was lost: {why}")
        for attempt in itertools.count(1):
            pause = jittered(attempt, self._backoff.first, self._backoff.longest, random)
            await asyncio.sleep(pause)
            with contextlib.suppress(OSError, WebSocketException):
                return await self._connected()
        raise AssertionError  # never: it is tried for ever

    async def _connected(self) -> ClientConnection:
        """A connection behind its handshake.

        Raises:
            _Over: the address is none, or the server does not let us in.
            OSError, WebSocketException: there is no server just now.
        """
        try:
            wire = await connect(
                self.url,
                compression=None,
                # a proxy of the environment would be told the token
                proxy=None,
                max_size=LARGEST,
                max_queue=64,
                ping_interval=PING,
                ping_timeout=PING,
                open_timeout=PING,
                close_timeout=1,
            )
        except InvalidURI:
            message = f"{self.url!r} is no address of a server: write ws://127.0.0.1:9800/."
            raise _Over(message) from None
        except InvalidStatus as refused:
            if refused.response.status_code not in {401, 403, 404, 421}:
                raise
            said = refused.response.body.decode("utf-8", "replace").strip()
            message = said or f"{self.url} is no server of this protocol."
            raise _Over(message) from None
        try:
            greeting = {"protocolVersion": PROTOCOL_VERSION, "clientName": self._name}
            given = {**greeting, "token": self._token}
            async with asyncio.timeout(PING):
                await wire.send(request(0, "handshake", given))
                result_of(read(await wire.recv()))
        except CallFailed as failed:
            await wire.close()
            raise _Over(failed.sentence) from None
        except BaseException:
            await wire.close()
            raise
        return wire

    # calls and answers

    async def _ask(
        self,
        wire: ClientConnection,
        method: str,
        params: dict[str, Any],
        noticed: Callable[[Any], Any] = lambda answer: answer,
    ) -> Any:
        """Call, and wait for the answer; ``noticed`` sees it before anything that comes behind."""
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = _Waiting(answer, noticed)
        try:
            with contextlib.suppress(ConnectionClosed):  # whoever hears it fails the call
                await wire.send(request(number, method, params))
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _take(self, wire: ClientConnection) -> None:
        """Take answers and notifications until the connection ends, or makes no sense."""
        with contextlib.suppress(ConnectionClosed, CallFailed, KeyError, TypeError):
            while True:
                self._taken(read(await wire.recv()))

    def _taken(self, message: dict[str, Any]) -> None:
        if "method" in message:
            told = self._followed.told(message["method"], message.get("params") or {})
            if told is not None:
                self._inbox.add(told)
            return
        waiting = self._waiting.get(message.get("id", 0))
        if waiting is None or waiting.answer.done():
            return
        try:
            result = result_of(message)
        except CallFailed as failed:
            waiting.answer.set_exception(failed)
        else:
            waiting.answer.set_result(waiting.noticed(result))

    async def _resumed(self, wire: ClientConnection, hearing: asyncio.Task[None]) -> bool:
        """Subscribe to all that was subscribed to; whether the connection lasted that long."""
        for number, params in self._followed.lost():
            goes_on = partial(self._followed.resumed, number)
            while True:
                asked = asyncio.create_task(self._ask(wire, "subscribe", params, goes_on))
                try:
                    await asyncio.wait({asked, hearing}, return_when=asyncio.FIRST_COMPLETED)
                    if not asked.done():
                        return False
                    await asked
                except CallFailed as failed:
                    if failed.error == _AWAY:  # as we wait for the server, it waits for its store
                        await asyncio.sleep(self._backoff.longest)
                        continue
                    self._inbox.add(self._followed.refused(number, failed.sentence))
                finally:
                    asked.cancel()
                break
        return not hearing.done()

    # ends

    def _unreachable(self, error: Exception) -> str:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return f"{self.url} can't be reached ({why}): is mind serve running there?"

    def _fail_all(self, code: int, sentence: str) -> None:
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(CallFailed(code, sentence))

    def _end(self, sentence: str) -> None:
        if self._state == "closed":
            return
        self._fail_all(CLOSED, sentence or "The connection was closed.")
        self._change("closed", sentence)
        self._inbox.end()

    def _change(self, state: State, sentence: str) -> None:
        if state == self._state:
            return
        self._state = state
        for callback in tuple(self._told):
            callback(state, sentence)
