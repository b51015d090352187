"""Slash commands: what a line that begins with ``/`` does; further modules add their own."""

from collections.abc import Awaitable, Callable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cli.tui.app import ChatApp


class Slash(NamedTuple):
    """A slash command."""

    name: str
    """Without the slash."""
    usage: str
    """What follows the name; empty where nothing does."""
    summary: str
    """One sentence: what it does."""
    run: Callable[["ChatApp", str], Awaitable[None]]
    """Given the app, and what follows the name; may raise what a call raises."""

    @property
    def shape(self) -> str:
        """As it is typed: ``/accept [N]``."""
        return f"/{self.name} {self.usage}".rstrip()

    @property
    def needs_words(self) -> bool:
        """Whether it does nothing by its name alone."""
        return bool(self.usage) and not self.usage.startswith("[")


class SlashCommands:
    """All that are known, in the order in which they were added."""

    def __init__(self) -> None:
        self._known: dict[str, Slash] = {}

    def add(self, *commands: Slash) -> None:
        """Make commands known; one of the same name is replaced."""
        self._known |= {command.name: command for command in commands}

    def __iter__(self) -> Iterator[Slash]:
        return iter(self._known.values())

    def get(self, name: str) -> Slash | None:
        """The command of that name, or the only one that begins so."""
        if name in self._known:
            return self._known[name]
        found = self.beginning(name) if name else []
        return found[0] if len(found) == 1 else None

    def beginning(self, typed: str) -> list[Slash]:
        """Those whose names begin so, by name."""
        return sorted(c for c in self if c.name.startswith(typed))

    def nearest(self, name: str) -> str | None:
        """The name that was perhaps meant."""
        found = self.beginning(name[:2]) if len(name) > 1 else []
        names = [command.name for command in found] or list(self._known)
        near = get_close_matches(name, list(self._known), 1, 0.5)
        return near[0] if near else names[0] if found else None

    def completed(self, line: str) -> str:
        """The line with as much of a command's name as is certain."""
        if not line.startswith("/") or " " in line:
            return line
        names = [command.name for command in self.beginning(line[1:])]
        if not names:
            return line
        if len(names) == 1:
            return f"/{names[0]} "
        sure = names[0]
        while not all(name.startswith(sure) for name in names):
            sure = sure[:-1]
        return f"/{sure}"
