"""Answering programs, and the app, over a WebSocket: serve."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cli.cells import place_to_follow
from cli.options import StoreOption
from cli.wiring import find_store
from commands.eventlog.place import Place, prepared
from domain.errors import BadSetting, NoStore, Refused

if TYPE_CHECKING:
    from cli.rpc.later import Mounted
    from cli.rpc.server import Server
    from cli.rpc.service import Service

PORT = 9800

_LAST_SECONDS = 4.5
"""For everything to end by itself; what was said before is durable in any case."""

_TURNS_SECONDS = 2.5


class Plan(NamedTuple):
    """What was asked for."""

    store: Place
    token_file: Path
    once: bool
    hosts: Sequence[str]
    origins: Sequence[str]
    drafts_per_client: int
    workers: int


def serve(
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Which port; 0 takes a free one.")
    ] = PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="Holds the token; by default serve.token of the store.",
            metavar="F",
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End when the first client has gone.")
    ] = False,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines in; needs --token-file.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="One more name of this server.", metavar="NAME"),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin", help="Let pages of this origin call.", metavar="https://HOST"
        ),
    ] = None,
    drafts_per_client: Annotated[
        int, typer.Option("--drafts-per-client", min=1, help="Agents drafted at once by a client.")
    ] = 1,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Workers at once.")] = 4,
    store: StoreOption = None,
) -> None:
    """Serve the store to programs and to mind chat --connect: JSON-RPC 2.0 over WebSocket.

    One line of JSON says when it is ready. Only this machine can connect, and only with the token,
    which is made on the first start. docs/rpc.md has every method.

    Example: mind serve --port 9800
    """
    _needs_packages()
    from cli.rpc.guard import TOKEN_FILE, NotOnlyHere, only_here  # noqa: PLC0415 — as below

    if not only_here(host) and not (allow_remote and token_file is not None):
        raise NotOnlyHere(host)
    place = prepared(find_store(store))  # where the token is put
    if place.url is None and not (place.home / "log.db").is_file():
        raise NoStore(str(place))
    plan = Plan(
        place_to_follow(place, None, "served"),
        token_file or place.home / TOKEN_FILE,
        once,
        [*(allow_host or ()), host],
        allow_origin or (),
        drafts_per_client,
        workers,
    )
    with _bound(host, port) as bound, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve_until_told(plan, bound, at_the_end=_end_for_sure))


def _needs_packages() -> None:
    """Make sure that what serving needs is installed."""
    try:
        import starlette  # noqa: F401, PLC0415 — slow, and only to serve
        import uvicorn  # noqa: F401, PLC0415 — as above
        import websockets  # noqa: F401, PLC0415 — as above
    except ImportError as error:
        raise Refused(
            f'Serving needs the package {error.name}: pip install "logosphere[serve]".'
        ) from None


@contextlib.contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens there.

    Raises:
        BadSetting: nobody can, or somebody does so already.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        raise BadSetting(
            f"Nothing can listen on {host!r}, port {port} ({error.strerror or error}):"
            " choose another one (--port 0 takes any that is free)."
        ) from None
    with bound:
        yield bound


async def serve_until_told(
    plan: Plan, bound: socket.socket, *, at_the_end: Callable[[], object]
) -> None:
    """Serve until a signal comes, or the one client that was awaited has gone.

    Args:
        plan: what was asked for.
        bound: where clients come to.
        at_the_end: called when it is to end, before anything is closed.

    Raises:
        BadToken: the token can't be used.
        NoStore, NotAStore, StoreIsClosed: there is no store to open.
    """
    from cli.rpc.guard import token_of  # noqa: PLC0415 — brings what only a server needs
    from cli.rpc.server import House, Server  # noqa: PLC0415 — as above
    from cli.rpc.service import all_methods, open_service  # noqa: PLC0415 — as above
    from commands.agents.rules import Rules  # noqa: PLC0415 — as above

    rules = Rules(drafts_per_client=plan.drafts_per_client, workers_at_once=plan.workers)
    token = token_of(plan.token_file)
    with _logged(), _asked_to_end() as end:
        async with open_service(plan.store, rules=rules) as service:
            service.log.position()  # of many cells there is none: no session said which one
            server = Server(
                House(all_methods(service), service.attach, service.detach, _mcp(service, token)),
                token,
                bound=bound,
                allow_hosts=plan.hosts,
                allow_origins=plan.origins,
            )
            _ready(plan, await server.open())
            await _either(end, server.first_left if plan.once else None)
            server.refuse_more()
            at_the_end()
            await _close(service, server)


def _mcp(service: "Service", token: str) -> Mapping[str, "Mounted"]:
    """The door for the Model Context Protocol, where its package is installed."""
    from cli.rpc.later import Later  # noqa: PLC0415 — as above

    async def make() -> "Mounted":
        door = await asyncio.to_thread(import_module, "cli.mcp.http")  # the package is a large one
        app: Mounted = door.mcp_app(service, token)
        return app

    return {"/mcp": Later(make)} if find_spec("mcp") else {}


def _ready(plan: Plan, url: str) -> None:
    said: dict[str, Any] = {
        "ready": True,
        "url": url,
        "tokenFile": str(plan.token_file),
        "pid": os.getpid(),
        "store": str(plan.store),
    }
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(said), flush=True)


async def _either(one: asyncio.Event, other: asyncio.Event | None) -> None:
    waiting = {asyncio.create_task(event.wait()) for event in (one, other) if event is not None}
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


async def _close(service: "Service", server: "Server") -> None:
    """End the turns while those who look on are still there to be told, then send them away."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_TURNS_SECONDS):
            await service.harness.close()
    await server.close()


def _end_for_sure() -> None:
    """A model that still talks can't hold up the end: nothing that it says is kept any more."""
    timer = threading.Timer(_LAST_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def _asked_to_end() -> Iterator[asyncio.Event]:
    """Set by SIGTERM and Ctrl-C; a second one of either does not wait."""
    loop, end = asyncio.get_running_loop(), asyncio.Event()

    def asked() -> None:
        if end.is_set():
            os._exit(0)
        end.set()

    signals = (signal.SIGTERM, signal.SIGINT)
    with contextlib.suppress(NotImplementedError):  # where there are none, Ctrl-C breaks it off
        for one in signals:
            loop.add_signal_handler(one, asked)
    try:
        yield end
    finally:
        with contextlib.suppress(NotImplementedError):
            for one in signals:
                loop.remove_signal_handler(one)


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """What is to be known of goes to stderr, one JSON object a line."""
    from cli.rpc.guard import JsonLines  # noqa: PLC0415 — as above

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(serve)
