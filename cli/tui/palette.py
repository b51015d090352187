"""The command palette: every slash command, to be found by any of its letters."""

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from cli.tui.slash import Slash
from cli.tui.texts import content

if TYPE_CHECKING:
    from cli.tui.app import ChatApp


class SlashProvider(Provider):
    """Offers the slash commands: those that need words are put into the line, others are run."""

    @property
    def _chat(self) -> "ChatApp":
        return cast("ChatApp", self.app)

    async def discover(self) -> Hits:
        """All of them."""
        for command in self._chat.slash:
            chosen = partial(self._chosen, command)
            yield DiscoveryHit(content(command.shape), chosen, command.shape, command.summary)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for command in self._chat.slash:
            score = matcher.match(f"{command.shape} {command.summary}")
            if score > 0:
                chosen = partial(self._chosen, command)
                shape = content(command.shape)
                yield Hit(score, shape, chosen, command.shape, command.summary)

    def _chosen(self, command: Slash) -> None:
        mode = self._chat.mode
        if command.needs_words:
            mode.prompt.put(f"/{command.name} ")
            mode.prompt.focus()
        else:
            self._chat.submit(mode, f"/{command.name}")
