"""The line at the bottom: a message, or a slash command."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from cli.tui.slash import SlashCommands


class Prompt(TextArea):
    """Takes one message at a time: enter sends, ctrl+j begins a new line, tab completes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Send", show=False),
        Binding("ctrl+j,shift+enter", "newline", "New line", show=False),
        Binding("tab", "complete", "Complete, or next pane", show=False),
    ]

    class Submitted(Message):
        """A line was typed to the end."""

        def __init__(self, prompt: "Prompt", text: str) -> None:
            super().__init__()
            self.prompt, self.text = prompt, text

    def __init__(self, commands: SlashCommands, placeholder: str) -> None:
        super().__init__(
            soft_wrap=True,
            compact=True,
            highlight_cursor_line=False,
            placeholder=placeholder,
            id="prompt",
        )
        self.cursor_blink = False
        self._commands = commands

    async def _on_key(self, event: events.Key) -> None:
        if event.key in {"enter", "tab"}:  # bindings of this class, where TextArea would type
            event.prevent_default()

    def action_submit(self) -> None:
        """Hand the line over; whoever takes it empties it."""
        self.post_message(self.Submitted(self, self.text))

    def action_newline(self) -> None:
        """Go on in a new line."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Complete a slash command; else tab moves on."""
        completed = self._commands.completed(self.text)
        if completed != self.text:
            self.put(completed)
        elif not self.text.startswith("/"):
            self.screen.focus_next()

    def put(self, text: str) -> None:
        """Let this be the line, to go on from."""
        self.text = text
        self.move_cursor(self.document.end)

    def update_suggestion(self) -> None:
        """Show how a command goes on."""
        line = self.text
        self.suggestion = ""
        if not line.startswith("/") or "\n" in line or len(line) < 2:
            return
        found = self._commands.beginning(line[1:]) if " " not in line else []
        self.suggestion = found[0].name[len(line) - 1 :] if found else ""
