"""An app that is made when it is first asked for, and ends with its server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cli.rpc.later import Later
from cli.rpc.server import House
from tests.cli.rpc.serving import served


class Noting(Starlette):
    """Notes what happens to it."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        super().__init__(routes=[Route("/beside", self._answer)], lifespan=self._lives)

    async def _answer(self, _: Request) -> Response:
        return PlainTextResponse("beside")

    @asynccontextmanager
    async def _lives(self, _: Starlette) -> AsyncIterator[None]:
        self._notes.append("begun")
        yield
        self._notes.append("ended")

    def close(self) -> None:
        """Note it."""
        self._notes.append("closed")


def asked(times: int, *, broken: bool = False) -> tuple[list[str], list[int]]:
    """What is noted by an app that is asked so many times at once, and how it answers."""
    notes: list[str] = []
    answers: list[int] = []

    async def make() -> Noting:
        notes.append("made")
        if broken:
            raise ImportError("a package is missing")
        return Noting(notes)

    async def get(session: aiohttp.ClientSession, url: str) -> None:
        async with session.get(url) as answer:
            answers.append(answer.status)

    async def talk() -> None:
        house = House({}, mounts={"/beside": Later(make)})
        async with served(house) as at, aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{at.port}/beside"
            await asyncio.gather(*(get(session, url) for _ in range(times)))

    asyncio.run(talk())
    return notes, answers


def test_it_is_made_once_and_ends_with_the_server() -> None:
    """However many ask at the same time; first what would hold up the end, then the rest."""
    assert asked(5) == (["made", "begun", "closed", "ended"], [200] * 5)


def test_it_is_never_made_where_nobody_asks() -> None:
    """And there is nothing to end."""
    assert asked(0) == ([], [])


def test_one_that_can_not_be_made_is_an_error_of_that_request_alone() -> None:
    """The server ends in order all the same."""
    assert asked(2, broken=True) == (["made"], [500, 500])
