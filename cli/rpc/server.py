"""JSON-RPC over WebSocket: the app that answers at ``/``, at ``/health``, and where it is told."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from cli.rpc.connection import (
    GOING_AWAY,
    NO_HANDSHAKE,
    NO_TEXT,
    Connection,
)
from cli.rpc.dispatcher import Dispatcher
from cli.rpc.guard import OF_ALL_ADDRESSES, Guard, Limits, bearer, hosts, log_refusal
from cli.rpc.handshake import handshake
from cli.rpc.later import Mounted
from cli.rpc.method import Method, Peer
from cli.rpc.openrpc import discover

_UNREADABLE = {
    1002: "What came was no WebSocket.",
    1007: "A message was no UTF-8.",
    1009: "A message was too large.",
}

_ABORT_AFTER = 5.0
"""Seconds for which a closed connection may keep bytes that its client does not take."""


class House(NamedTuple):
    """What a server shows: its methods, who is told of clients, and what is mounted beside."""

    methods: Mapping[str, Method]
    attach: Callable[[Peer], None] = lambda _: None
    detach: Callable[[Peer], None] = lambda _: None
    mounts: Mapping[str, Mounted] = {}
    """Apps that answer at other paths; each sees the path as it was asked for."""


class Server:
    """Answers clients from :meth:`open` until :meth:`close`."""

    def __init__(
        self,
        house: House,
        token: str,
        *,
        bound: socket.socket,
        allow_hosts: Sequence[str] = (),
        allow_origins: Sequence[str] = (),
        limits: Limits = Limits(),
    ) -> None:
        """Get ready to answer on a socket that is bound."""
        self.first_left = asyncio.Event()
        """Set once a client that had made its handshake has gone."""
        self._house, self._limits, self._bound = house, limits, bound
        self._connections: dict[asyncio.Task[Any], Connection] = {}
        self._closing = False
        methods = {"handshake": handshake(token, house.attach), **house.methods}
        about = discover(methods)
        self._dispatcher = Dispatcher({**methods, about.name: about}, gate=_gate)
        host, port = bound.getsockname()[:2]
        guard = Guard(
            _app(self._client, house.mounts),
            allowed_hosts=hosts(host, port, allow_hosts),
            origins=allow_origins,
            token=token,
        )
        config = uvicorn.Config(
            guard,
            http="h11",
            ws=_Protocol,
            ws_max_size=limits.message_bytes,
            ws_per_message_deflate=False,
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        self._uvicorn = _Uvicorn(config)
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> str:
        """Begin to accept clients; the address that they connect to."""
        self._task = asyncio.create_task(self._uvicorn.serve(sockets=[self._bound]))
        ready = asyncio.create_task(self._uvicorn.ready.wait())
        await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            await self._task
            raise RuntimeError("the server ended before it began")
        host, port = self._bound.getsockname()[:2]
        if host in OF_ALL_ADDRESSES:  # which nobody can call it by
            host = "::1" if ":" in host else "127.0.0.1"
        return f"ws://{f'[{host}]' if ':' in host else host}:{port}/"

    def refuse_more(self) -> None:
        """Let nobody else in."""
        self._closing = True

    async def close(self) -> None:
        """Send everybody away, and end."""
        self.refuse_more()
        for connection in self._connections.values():
            connection.close(GOING_AWAY)
        if self._connections:
            await asyncio.wait(self._connections, timeout=1)
        for app in self._house.mounts.values():
            app.close()
        self._uvicorn.ending.set()
        if self._task is not None:
            await self._task

    async def _client(self, websocket: WebSocket) -> None:
        """One client, from its coming to its going."""
        if self._closing or len(self._connections) >= self._limits.connections:
            why = "The server ends." if self._closing else "Too many clients are connected."
            log_refusal(why, websocket.scope, status=503)
            await websocket.send_denial_response(PlainTextResponse(f"{why}\n", 503))
            return
        # the guard has seen that what it brought is right
        trusted = bearer(websocket.scope) is not None
        connection = Connection(websocket.send_text, self._limits, trusted=trusted)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 — every coroutine runs in one
        self._connections[task] = connection
        try:
            await websocket.accept()
            await self._converse(websocket, connection)
        finally:
            del self._connections[task]
            self._house.detach(connection)
            if connection.greeted:
                self.first_left.set()

    async def _converse(self, websocket: WebSocket, connection: Connection) -> None:
        """Read and write side by side, until either ends."""

        def too_late() -> None:
            if not connection.greeted:
                connection.close(NO_HANDSHAKE)

        calls: set[asyncio.Task[None]] = set()
        writing = asyncio.create_task(connection.write())
        sides = {
            writing,
            asyncio.create_task(self._read(websocket, connection, calls)),
            asyncio.create_task(connection.given_up()),
        }
        timer = asyncio.get_running_loop().call_later(self._limits.handshake_seconds, too_late)
        try:
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            for task in (*sides, *calls):
                task.cancel()
            await asyncio.wait({*sides, *calls}, timeout=1)
        closing = connection.closing
        if closing is None:
            return
        if not connection.greeted and closing.code != GOING_AWAY:
            log_refusal(closing.reason, websocket.scope, code=closing.code)
        if not writing.cancelled() and websocket.client_state is not WebSocketState.DISCONNECTED:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await websocket.close(closing.code, closing.reason)

    async def _read(
        self, websocket: WebSocket, connection: Connection, calls: set[asyncio.Task[None]]
    ) -> None:
        """Begin each call as it comes, in order, and go on reading while they run."""

        async def call(text: str) -> None:
            connection.in_flight += 1
            try:
                answer = await self._dispatcher.answer(connection, text)
            finally:
                connection.in_flight -= 1
            if answer is not None:
                connection.answer(answer)

        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                if (code := message.get("code")) in _UNREADABLE:
                    log_refusal(_UNREADABLE[code], websocket.scope, code=code)
                return
            connection.heard()
            text = message.get("text")
            if text is None:
                log_refusal("A binary message came.", websocket.scope, code=NO_TEXT)
                connection.close(NO_TEXT)
                continue
            task = asyncio.create_task(call(text))
            calls.add(task)
            task.add_done_callback(calls.discard)


def _gate(peer: Peer, method: str) -> None:
    if isinstance(peer, Connection):
        peer.allow(method)


def _app(client: Callable[[WebSocket], Any], mounts: Mapping[str, Mounted]) -> Starlette:
    routes: list[BaseRoute] = [
        WebSocketRoute("/", client),
        Route("/health", _health),
        *(Route(path, app) for path, app in mounts.items()),
    ]
    return Starlette(routes=routes, lifespan=_lifespan(mounts.values()))


async def _health(_: Request) -> Response:
    return JSONResponse({"ok": True, "server": "logosphere", "version": version("logosphere")})


def _lifespan(mounts: Iterable[Mounted]) -> Callable[[Starlette], Any]:
    """Starlette begins and ends none but the outermost app."""

    @contextlib.asynccontextmanager
    async def all_of_them(_: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for app in mounts:
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    return all_of_them


class _Uvicorn(uvicorn.Server):
    """Says when it accepts, and leaves signals to the command that serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready, self.ending = asyncio.Event(), asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Wait for the end, without looking for it ten times a second."""
        await self.on_tick(0)
        await self.ending.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        """Capture none."""
        yield


class _Protocol(WebSocketsSansIOProtocol):
    """Lets go of a connection that is closed but whose client takes nothing more."""

    async def run_asgi(self) -> None:
        """Serve it to its end, and see that it ends."""
        await super().run_asgi()
        self.loop.call_later(_ABORT_AFTER, self.transport.abort)

    async def send(self, message: Any) -> None:
        """Send it, and know that a refusal before the upgrade is a whole answer."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True
