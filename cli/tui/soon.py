"""What a screen does soon: news that come close together are dealt with once."""

import asyncio
from collections.abc import Awaitable, Callable

from textual.css.query import NoMatches
from textual.screen import Screen

DEBOUNCE = 0.05
"""Seconds in which further news are dealt with together."""


class Soon:
    """One thing to do, again and again while it is asked for, and never twice at once."""

    def __init__(self, screen: Screen[None], doing: Callable[[], Awaitable[None]]) -> None:
        self._screen, self._doing = screen, doing
        self._asked = False
        self.busy = False
        """Whether it is being done, or soon will be."""

    def ask(self) -> None:
        """Have it done soon; what is asked for meanwhile is done after that."""
        self._asked = True
        if not self.busy:
            self.busy = True
            self._screen.run_worker(self._do())

    async def _do(self) -> None:
        try:
            while self._asked:
                await asyncio.sleep(DEBOUNCE)
                self._asked = False
                await self._doing()
        except NoMatches:  # the parts of a screen go before it does: nobody looks any more
            return
        finally:
            self.busy = False
