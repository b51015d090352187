"""One client that started this process: messages on stdin and stdout, talk on stderr."""

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from cli.mcp.incoming import Incoming, taken_stdin
from cli.mcp.server import CLIENT, Caller, mcp_server
from cli.rpc.client_name import client_name
from cli.tools.reading import Reader, read_tools
from cli.wiring import open_store
from commands.eventlog.place import Place
from commands.world import RealWorld


def serve(store: Place | None, role: str | None, client: str | None) -> None:
    """Answer until the client closes its side, or the process is told to end.

    Raises:
        NoStore, NotAStore: there is no store.
        NoSuchRole, BadRole: nobody has this role.
        BadSetting: no client can be called so.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mind: %(message)s")
    if role is None:
        with open_store(store) as (directory, log):
            reader = Reader(log, directory, RealWorld.of_this_user())
            asyncio.run(_until_told(_converse(mcp_server(reader, read_tools(*reader)))))
        return
    asyncio.run(_until_told(_with_agents(store, role, client_name(client or CLIENT))))


async def _with_agents(store: Place | None, role: str, client: str) -> None:
    from cli.mcp.agents import tools_of  # noqa: PLC0415 — only for roles
    from cli.rpc.service import open_service  # noqa: PLC0415 — as above

    async with open_service(store, os.environ, resume=False) as service:
        caller = Caller(client, service.roles.get(role))
        reader = Reader(service.log, service.directory, service.world)
        await _converse(
            mcp_server(
                reader,
                read_tools(*reader),
                caller_of=lambda _: caller,
                tools_of=tools_of(service),
            )
        )


async def _converse(server: Server[Any]) -> None:
    lines: Any = Incoming(taken_stdin())  # all that is asked of a file is its lines
    async with stdio_server(stdin=lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _until_told(work: Any) -> None:
    """Do it to its end, or until SIGTERM: then, too, everything is closed in order."""
    task = asyncio.ensure_future(work)
    with suppress(NotImplementedError):  # Windows has no such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        await task
