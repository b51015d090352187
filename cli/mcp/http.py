"""Clients that come over HTTP: what ``mind serve`` answers at ``/mcp``.

Streamable HTTP with the token of the server. The role and the name of the client stand in the
address, ``/mcp?role=product-analyst&client=editor``, or in headers.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio import CancelScope
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cli.mcp.agents import tools_of
from cli.mcp.server import CLIENT, Caller, Context, mcp_server
from cli.rpc.client_name import client_name
from cli.rpc.guard import bearer, log_refusal, same
from cli.rpc.service import Service
from cli.tools.reading import Reader, read_tools
from domain.errors import LogosphereError

_MOST_SESSIONS = 256
_MOST_BYTES = 1 << 20
_CALLER = "logosphere.caller"


class McpApp(Starlette):
    """Answers at ``/mcp``, from the beginning to the end of its lifespan."""

    door: "_Door"

    def close(self) -> None:
        """End the streams on which clients wait for news; they would hold up a server that ends."""
        self.door.close()


def mcp_app(service: Service, token: str) -> McpApp:
    """An app that answers at ``/mcp``, behind a server that looks at Host and Origin.

    Args:
        service: the open store with its agents; it has to outlive the app.
        token: what every request has to bring: ``Authorization: Bearer TOKEN``.
    """
    reader = Reader(service.log, service.directory, service.world)
    server = mcp_server(reader, read_tools(*reader), caller_of=_caller, tools_of=tools_of(service))
    manager = StreamableHTTPSessionManager(
        server, max_request_body_size=_MOST_BYTES, max_sessions=_MOST_SESSIONS
    )
    door = _Door(service, token, manager)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = McpApp(routes=[Route("/mcp", door)], lifespan=lifespan)
    app.door = door
    return app


class _Answer:
    """What was sent so far."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._ended = False

    async def send(self, message: Message) -> None:
        """Pass it on."""
        self._begun = self._begun or message["type"] == "http.response.start"
        if message["type"] == "http.response.body":
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Leave nothing half said, so that the server sees that it is over."""
        if not self._begun:
            await self.send({"type": "http.response.start", "status": 503, "headers": []})
        if not self._ended:
            await self.send({"type": "http.response.body", "body": b""})


class _Door:
    """Lets requests in that bring the token, and notes for whom they are."""

    def __init__(self, service: Service, token: str, manager: StreamableHTTPSessionManager) -> None:
        self._service, self._token, self._manager = service, token, manager
        self._open: set[CancelScope] = set()

    def close(self) -> None:
        for scope in tuple(self._open):
            scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = bearer(scope)
        if given is None or not same(given, self._token):
            log_refusal("A request to /mcp had no token, or a wrong one.", scope, status=401)
            sentence = "Send the token of the server: Authorization: Bearer TOKEN."
            refusal = JSONResponse({"error": sentence}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        try:
            scope[_CALLER] = self._who(scope)
        except LogosphereError as error:
            log_refusal(error.sentence, scope, status=400)
            await JSONResponse({"error": error.sentence}, 400)(scope, receive, send)
            return
        answer = _Answer(send)
        with CancelScope() as cancelled:
            self._open.add(cancelled)
            try:
                await self._manager.handle_request(scope, receive, answer.send)
            finally:
                self._open.discard(cancelled)
        if cancelled.cancelled_caught:
            await answer.end()

    def _who(self, scope: Scope) -> Caller:
        """For whom a request is made.

        Raises:
            NoSuchRole, BadRole, BadSetting: it says something that can't be.
        """
        asked, headers = QueryParams(scope.get("query_string", b"")), Headers(scope=scope)
        client = client_name(asked.get("client") or headers.get("mind-client") or CLIENT)
        role = asked.get("role") or headers.get("mind-role")
        return Caller(client, self._service.roles.get(role) if role else None)


def _caller(context: Context) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[_CALLER]
    return caller
