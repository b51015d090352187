"""Slash commands of the app itself."""

from typing import TYPE_CHECKING

from cli.tui.slash import Slash

if TYPE_CHECKING:
    from cli.tui.app import ChatApp


async def _help(chat: "ChatApp", _: str) -> None:
    chat.action_help()


async def _quit(chat: "ChatApp", _: str) -> None:
    chat.exit()


async def _theme(chat: "ChatApp", _: str) -> None:
    chat.action_toggle_theme()


COMMON = (
    Slash("help", "", "All keys and commands.", _help),
    Slash("theme", "", "Light or dark.", _theme),
    Slash("quit", "", "Leave; the log has everything.", _quit),
)
