"""A mode: one way to use the app, on a screen of its own, with a line to type in."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Markdown, Static, TextArea

from cli.client.client import CallFailed
from cli.tui.prompt import Prompt
from cli.tui.texts import content, shown

if TYPE_CHECKING:
    from cli.tui.app import ChatApp


class Mode(Screen[None]):
    """What every mode has: title, banner, its panes, a notice, the line to type in, and keys.

    A mode yields its widgets in :meth:`panes`, takes plain text in :meth:`say`, hears
    notifications in :meth:`told`, and shows everything anew in :meth:`caught_up`.
    """

    NAME: ClassVar[str]
    """As the app calls it."""
    PLACEHOLDER: ClassVar[str] = "A message, or /help"

    notice = ""
    """What is said above the line, until there is something else to say."""

    _drawn: tuple[Content, Content | None] = (Content(), None)

    AUTO_FOCUS = "#prompt"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 — as Textual has them
        (0, "-narrow"),
        (70, "-medium"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 — as above
        (0, "-short"),
        (20, "-tall"),
    ]

    @property
    def chat(self) -> "ChatApp":
        """The app."""
        return cast("ChatApp", self.app)

    # what a mode says for itself

    def panes(self) -> ComposeResult:
        """Its widgets, between the title and the line to type in."""
        yield from ()

    def title_line(self) -> Content:
        """What stands beside the state of the connection."""
        return Content()

    @abstractmethod
    async def say(self, text: str) -> bool:
        """Take a message; False leaves it in the line.

        Raises:
            CallFailed: it was refused, and stays in the line as well.
        """

    async def told(self, method: str, params: dict[str, Any]) -> None:
        """Hear a notification; every mode hears all of them."""

    async def caught_up(self) -> None:
        """Show everything anew: it was just connected, or the mode was just entered."""

    async def pressed_escape(self) -> bool:
        """Stop, or leave, what escape means here; True when there was something."""
        return False

    def pressed_enter(self) -> None:
        """Do what enter means in an empty line."""

    def banner(self) -> Content | None:
        """A line under the title that has to be seen, if there is something to say."""
        return None

    # what all have in common

    def compose(self) -> ComposeResult:
        """Lay out what is common, around the panes."""
        yield Static(id="title", markup=False)
        yield Static(id="banner", markup=False)
        yield from self.panes()
        yield Static(id="notice", markup=False)
        yield Prompt(self.chat.slash, self.PLACEHOLDER)
        yield Footer(compact=True, show_command_palette=False)

    def on_resize(self) -> None:
        """The title has room for more, or for less."""
        self.draw_title()

    @property
    def state_of_connection(self) -> str:
        """Who this is, and whether anybody listens."""
        states = {"connected": "● Connected", "reconnecting": "○ Not connected"}
        state = states.get(self.chat.client.state, "○ Closed")
        if self.chat.store_away and self.chat.client.state == "connected":
            state = "○ Store away"
        return f"Logosphere {state}" if self.size.width >= 80 else state

    def draw_title(self) -> None:
        """Show the title, and the banner where there is one."""
        if not self.is_mounted:
            return
        state = self.state_of_connection
        line = content((state, "bold"), self.title_line())
        said = self.chat.disconnected or self.chat.store_away or self.banner()
        before, self._drawn = self._drawn, (line, said)
        if before[0] != line:
            taller = line.plain.count("\n") != before[0].plain.count("\n")
            self.query_one("#title", Static).update(line, layout=taller)
        if before[1] != said:
            banner = self.query_one("#banner", Static)
            banner.update(said or "")
            banner.display = said is not None

    def tell(self, sentence: str, *, refused: bool = False) -> None:
        """Say something in the line above the prompt, until there is something else to say."""
        if sentence and self.chat.mode is not self:  # also where somebody looks
            self.chat.tell(sentence, refused=refused)
        notice = self.query_one("#notice", Static)
        if sentence == self.notice and refused == notice.has_class("-refused"):
            return
        self.notice = sentence
        notice.update(content(f"{'! ' if refused else ''}{shown(sentence)}"))
        notice.set_class(refused, "-refused")
        notice.display = bool(sentence)

    @property
    def prompt(self) -> Prompt:
        """The line to type in."""
        return self.query_one(Prompt)

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        event.stop()
        if event.text.strip():
            self.chat.submit(self, event.text)
        else:
            self.pressed_enter()

    @on(TextArea.Changed, "#prompt")
    def _typed(self, event: TextArea.Changed) -> None:
        """Say what the commands that are being typed do."""
        line = event.text_area.text
        if line.startswith("/") and not line.startswith("//"):
            name = line[1:].partition(" ")[0]
            found = [self.chat.slash.get(name)] if " " in line else []
            found = found or [*self.chat.slash.beginning(name)]
            known = [command for command in found if command is not None]
            if len(known) == 1:
                self.tell(f"{known[0].shape}: {known[0].summary}")
            elif known:
                self.tell("  ".join(f"/{command.name}" for command in known))

    @on(Markdown.LinkClicked)
    def _clicked(self, event: Markdown.LinkClicked) -> None:
        """A mind's links are shown, never followed."""
        event.stop()
        self.tell(f"The link leads to {event.href}")

    async def take(self, text: str) -> None:
        """Do what a line says; it stays in the prompt unless it was taken."""
        try:
            command = text.startswith("/") and not text.startswith("//")
            self.tell("")
            taken = (
                await self.chat.command(text)
                if command
                else await self.say(text.removeprefix("/") if text.startswith("//") else text)
            )
        except CallFailed as failed:
            self.tell(failed.sentence, refused=True)
        else:
            if taken and self.prompt.text == text:
                self.prompt.text = ""
