"""A real server in the loop of the test, with methods of its own, and clients of other hands."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from pydantic import Field
from websockets.asyncio.client import ClientConnection, connect

from cli.rpc.guard import Limits
from cli.rpc.method import Method, Nothing, Params, Peer, Result
from cli.rpc.server import House, Server
from domain.agent_errors import NoSuchTask
from domain.errors import NothingAwaits, StoreIsBusy

TOKEN = "a-token-that-only-this-test-knows"  # noqa: S105 — of a server that lives for a moment


class Subtract(Params):
    """Two numbers."""

    minuend: int
    subtrahend: int


class Add(Params):
    """Many numbers."""

    a: int
    b: int
    c: int


class Greet(Params):
    """A name."""

    user_name: str = Field(max_length=20)
    times: int = 1


class Answer(Result):
    """Anything."""

    answer: Any = None


Run = Callable[[Peer, Any], Any]


def method(name: str, takes: type[Params], does: Run) -> Method:
    """A method that does it at once."""

    async def run(peer: Peer, params: Any) -> Answer:
        return Answer(answer=does(peer, params))

    return Method(name, f"Does {name}.", takes, Answer, run)


def failing(error: Exception) -> Run:
    """What only fails."""

    def fail(_: Peer, __: Any) -> Any:
        raise error

    return fail


def table(*more: Method) -> dict[str, Method]:
    """Methods to try a server with."""
    made = [
        method("subtract", Subtract, lambda _, p: p.minuend - p.subtrahend),
        method("sum", Add, lambda _, p: p.a + p.b + p.c),
        method("get_data", Nothing, lambda *_: ["hello", 5]),
        method("greet", Greet, lambda _, p: f"Hello {p.user_name}" * p.times),
        method("update", Params, lambda *_: None),
        method("who", Nothing, lambda peer, _: peer.name),
        method("idle", Nothing, failing(NothingAwaits("main"))),
        method("busy", Nothing, failing(StoreIsBusy("log.db", 30))),
        method("task", Nothing, failing(NoSuchTask("payments", "refunds"))),
        method("bug", Nothing, failing(ZeroDivisionError("a secret of the server"))),
        *more,
    ]
    return {one.name: one for one in made}


class Someone:
    """A peer without a wire: what it was told stands in a list."""

    def __init__(self, name: str = "ann") -> None:
        self.name = name
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._news: asyncio.Queue[None] = asyncio.Queue()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Remember it."""
        self.told.append((method, dict(params)))
        self._news.put_nowait(None)

    async def hears(self, what: Callable[[str, dict[str, Any]], bool]) -> None:
        """Wait until something of that sort was told."""
        async with asyncio.timeout(10):
            while not any(what(*one) for one in self.told):
                await self._news.get()


class Served(NamedTuple):
    """A server that answers."""

    url: str
    server: Server

    @property
    def port(self) -> int:
        """Where."""
        return int(self.url.rstrip("/").rpartition(":")[2])


@asynccontextmanager
async def served(
    house: House | None = None, *, limits: Limits = Limits(), narrow: bool = False, **options: Any
) -> AsyncIterator[Served]:
    """A server on a port of its own; a narrow one, where the system itself buffers little."""
    bound = socket.create_server(("127.0.0.1", 0))
    if narrow:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    server = Server(house or House(table()), TOKEN, bound=bound, limits=limits, **options)
    url = await server.open()
    try:
        yield Served(url, server)
    finally:
        await server.close()


class Talk:
    """A connection of the ``websockets`` library, JSON in and out."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.told: list[dict[str, Any]] = []
        self._last = 0

    async def say(self, message: Any) -> None:
        """Send it, as it is if it is a text or bytes."""
        plain = isinstance(message, str | bytes)
        await self.socket.send(message if plain else json.dumps(message))

    async def hear(self) -> Any:
        """The next message, whatever it is."""
        async with asyncio.timeout(10):
            return json.loads(await self.socket.recv())

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer to a call; notifications before it are kept in ``told``."""
        self._last += 1
        await self.say({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        while True:
            answer: dict[str, Any] = await self.hear()
            if answer.get("id") == self._last:
                return answer
            self.told.append(answer)

    async def code(self) -> int | None:
        """The code that the server closes with, after whatever else it says."""
        async with asyncio.timeout(10):
            await self.socket.wait_closed()
        return self.socket.close_code


@asynccontextmanager
async def talking(url: str, *, greet: bool = True, **options: Any) -> AsyncIterator[Talk]:
    """A client, which has made its handshake unless told otherwise."""
    # a queue of its own that is full would hold up even its farewell
    options = {"proxy": None, "max_size": None, "max_queue": None, **options}
    async with connect(url, **options) as opened:
        talk = Talk(opened)
        if greet:
            answer = await talk.ask("handshake", protocolVersion=1, token=TOKEN, clientName="ann")
            assert "result" in answer, answer
        yield talk
