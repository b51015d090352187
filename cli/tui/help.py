"""The help screen: all keys and commands."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from cli.tui.slash import SlashCommands
from cli.tui.texts import FAINT, content

if TYPE_CHECKING:
    from cli.tui.mode import Mode

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Everywhere",
        (
            ("enter", "send the line"),
            ("ctrl+j", "a new line in the message"),
            ("tab", "complete a command; else the next pane"),
            ("escape", "stop a run or an answer; else return to now; else to the line"),
            ("ctrl+p", "command palette"),
            ("ctrl+t", "light or dark"),
            ("f1", "this help"),
            ("ctrl+q", "quit"),
        ),
    ),
)
"""The keys of all modes; each mode adds its own in ``KEYS``."""


class HelpScreen(ModalScreen[None]):
    """Keys and commands, to be scrolled; escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter", "dismiss", "Close", key_display="esc"),
    ]

    def __init__(self, mode: "Mode", commands: SlashCommands) -> None:
        super().__init__()
        self._lines = [*_keys((*KEYS, *getattr(mode, "KEYS", ()))), *_commands(commands)]

    def compose(self) -> ComposeResult:
        """One long text."""
        with VerticalScroll(classes="dialog") as dialog:
            dialog.border_title = "Help"
            yield Static(Content("\n").join(self._lines), markup=False)
        yield Footer(compact=True, show_command_palette=False)


def _keys(groups: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> Iterable[Content]:
    for title, keys in groups:
        yield content((title, "bold"))
        for key, does in keys:
            yield content(f"  {key:<14} ", (does, FAINT))
        yield content()


def _commands(commands: SlashCommands) -> Iterable[Content]:
    yield content(("Commands", "bold"))
    for command in commands:
        yield content(f"  {command.shape:<30} ", (command.summary, FAINT))
    yield content("  //text".ljust(33), ("a message that begins with a slash", FAINT))
