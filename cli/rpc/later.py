"""Apps beside the socket, and one that is made when it is first asked for: most never are."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from starlette.applications import Starlette
from starlette.routing import Router
from starlette.types import Receive, Scope, Send


class Mounted(Protocol):
    """What answers at a path of a server."""

    router: Router
    """Its ``lifespan_context`` is that of the server."""

    def close(self) -> None:
        """End what would hold up the end of the server; twice is once."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        ...


class Later(Starlette):
    """Answers as the app does that is made at the first request."""

    def __init__(self, make: Callable[[], Awaitable[Mounted]]) -> None:
        super().__init__(lifespan=self._until_the_end)
        self._make = make
        self._end = asyncio.Event()
        self._app: asyncio.Future[Mounted] | None = None
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._app))
        app = await asyncio.shield(self._app)
        await app(scope, receive, send)

    def close(self) -> None:
        """End what would hold up the end of the server, if it ever began."""
        if self._app is not None and self._app.done() and self._app.exception() is None:
            self._app.result().close()

    async def _live(self, made: "asyncio.Future[Mounted]") -> None:
        """From the first request to the end, in one task, as what is begun wants to be ended."""
        try:
            app = await self._make()
            async with app.router.lifespan_context(app):
                made.set_result(app)
                await self._end.wait()
        except Exception as error:
            if made.done():
                raise
            made.set_exception(error)

    @asynccontextmanager
    async def _until_the_end(self, _: Starlette) -> AsyncIterator[None]:
        yield
        self._end.set()
        if self._life is not None:
            await self._life
