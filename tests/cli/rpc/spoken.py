"""A store with a recorded mind, and a client that talks to it in this process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cli.client.client import CallFailed, Client
from cli.client.local import LocalClient
from cli.rpc.service import Service, open_service
from commands.eventlog import EventLog
from commands.sessions import start_session
from domain.ids import SessionId
from tests.cli.conftest import TIDES
from tests.stories.cast import SteadyWorld

T = TypeVar("T")


def made(home: Path, script: str = TIDES, *, suffix: str = "txt", **settings: Any) -> Path:
    """The store ``thinking`` in a directory, whose session ``main`` awaits drafts."""
    replies = home / f"replies.{suffix}"
    replies.write_text(script, encoding="utf-8")
    store = home / "thinking"
    store.mkdir()
    with EventLog.create(store) as log:
        start_session(
            log,
            SessionId("main"),
            SteadyWorld(),
            message="why two tides a day?",
            settings={"model": f"script:{replies}", "embedding_model": "off", **settings},
        )
    return store


@asynccontextmanager
async def opened(store: Path, name: str = "ann") -> AsyncIterator[tuple[Service, LocalClient]]:
    """The store, served to one client."""
    async with open_service(store, {}) as service:
        client = LocalClient(service, name)
        try:
            yield service, client
        finally:
            await client.close()


def talked(store: Path, talk: Callable[[LocalClient], Awaitable[T]]) -> T:
    """What comes of a talk with a store."""

    async def all_of_it() -> T:
        async with opened(store) as (_, client):
            return await talk(client)

    return asyncio.run(all_of_it())


async def refused(client: Client, method: str, /, **params: Any) -> CallFailed:
    """How a call is refused."""
    with pytest.raises(CallFailed) as caught:
        await client.call(method, **params)
    return caught.value


async def told(client: Client, method: str, until: Callable[[dict[str, Any]], bool]) -> Any:
    """All notifications of a method, up to the first that is waited for."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(20):
        async for name, params in client.notifications():
            if name == method:
                found.append(params)
                if until(params):
                    return found
    return found
