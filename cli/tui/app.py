"""The app of ``mind chat``: one client, some modes, slash commands, and keys for all of them."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar, TypeVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from cli.client.client import LOST, CallFailed, Client, State
from cli.tui.agent_slash import add_agents
from cli.tui.drafting import DraftMode, found_at_start
from cli.tui.help import HelpScreen
from cli.tui.here import in_app
from cli.tui.mind import MindMode
from cli.tui.mode import Mode
from cli.tui.palette import SlashProvider
from cli.tui.slash import SlashCommands
from cli.tui.slash_common import COMMON
from cli.tui.slash_mind import OF_MINDS
from cli.tui.texts import content, shown

T = TypeVar("T")

NOT_CONNECTED = "Not connected: wait until the server is back, then try again."


class Reached(Message):
    """The connection came or went."""

    def __init__(self, state: State, sentence: str) -> None:
        super().__init__()
        self.state, self.sentence = state, sentence


class ChatApp(App[None]):
    """Everything that a person does with minds and agents, over one client."""

    TITLE = "Logosphere"
    CSS_PATH: ClassVar[list[str]] = ["chat.tcss", "mind.tcss"]  # type: ignore[assignment]
    DEFAULT_MODE = "mind"
    COMMANDS: ClassVar[set[Any]] = {*App.COMMANDS, SlashProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Stop, back", show=False),
        Binding("ctrl+t", "toggle_theme", "Light or dark", show=False),
        Binding("ctrl+o,f4", "app.enter('agent')", "Agent"),
        Binding("f1", "help", "Help", key_display="F1"),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(self, client: Client, session: str) -> None:
        """Show a session; further modes are added with :meth:`add`."""
        super().__init__()
        self.client = client
        self.slash = SlashCommands()
        self.slash.add(*COMMON, *OF_MINDS)
        self.mind = MindMode(session)
        self.parts: dict[str, Mode] = {}
        self.drafting = DraftMode()
        self.add(self.mind)
        self.add(self.drafting)
        add_agents(self.slash, self.drafting)
        self.disconnected: Content | None = None
        self.store_away: Content | None = None
        self.taking = False
        """Whether a line that was typed is being taken."""

    # modes

    def add(self, mode: Mode) -> None:
        """Make a mode known, to be entered with :meth:`enter`."""
        self.parts[mode.NAME] = mode
        self.add_mode(mode.NAME, lambda: mode)

    async def enter(self, name: str) -> None:
        """Go to a mode."""
        await self.switch_mode(name)
        await self.mode.caught_up()

    @property
    def mode(self) -> Mode:
        """The active mode, also under a dialog."""
        return self.parts[self.current_mode]

    def tell(self, sentence: str, *, refused: bool = False) -> None:
        """Say something on the active mode's screen."""
        self.mode.tell(sentence, refused=refused)

    # the client

    async def call(self, method: str, /, **params: Any) -> Any:
        """Call a method of the protocol.

        Raises:
            CallFailed: it was refused, it failed, or nobody is connected.
        """
        if self.client.state != "connected":
            raise CallFailed(LOST, NOT_CONNECTED)
        try:
            return await self.client.call(method, **params)
        except CallFailed as failed:
            raise CallFailed(failed.code, in_app(failed.sentence), failed.data) from failed

    async def attempt(self, doing: Awaitable[T]) -> T | None:
        """Do something; when a call fails, say why, and go on."""
        try:
            return await doing
        except CallFailed as failed:
            self.tell(failed.sentence, refused=True)
            return None

    def begin(self, doing: Callable[[], Awaitable[Any]]) -> None:
        """Do something without waiting for it; when a call fails, say why."""
        self.run_worker(self.attempt(doing()), exit_on_error=True)

    def on_mount(self) -> None:
        """Listen."""
        self.client.on_state(lambda state, said: self.post_message(Reached(state, said)))
        self.run_worker(self._listen())
        self.begin(lambda: found_at_start(self, self.drafting))

    async def _listen(self) -> None:
        async for method, params in self.client.notifications():
            if method == "store_status":
                await self._store(params)
            for mode in self.parts.values():
                if mode.is_mounted:
                    await self.attempt(mode.told(method, params))

    async def _store(self, told: dict[str, Any]) -> None:
        """Say that the store is away; catch up when it is back."""
        before, self.store_away = self.store_away, None
        if told["away"]:
            self.store_away = content("The store is away. ", shown(told["reason"] or ""))
        await self._stand_anew("The store is back." if before and not told["away"] else "")

    async def on_reached(self, event: Reached) -> None:
        """Say that the connection is gone; catch up when it is back."""
        before = self.disconnected
        self.disconnected = self.store_away = None
        if event.state == "reconnecting":
            self.disconnected = content("Not connected: trying again… ", shown(event.sentence))
        elif event.state == "closed":
            self.disconnected = content(
                "The connection is closed: quit with ctrl+q. ", event.sentence
            )
        back = event.state == "connected" and before is not None
        await self._stand_anew("Connected again." if back else "")

    async def _stand_anew(self, back: str) -> None:
        """Show how things stand; where something is back, say so, and read all anew."""
        if back:
            self.tell(back)
        for mode in self.parts.values():  # those that are not looked at have missed as much
            mode.draw_title()
            if back and mode.is_mounted:
                await self.attempt(mode.caught_up())

    # lines

    def submit(self, mode: Mode, text: str) -> None:
        """Take a line that was typed; a second one waits in the prompt until it is done."""
        if not self.taking:
            self.taking = True
            self.run_worker(self._take(mode, text))

    async def _take(self, mode: Mode, text: str) -> None:
        try:
            await mode.take(text)
        finally:
            self.taking = False

    async def command(self, line: str) -> bool:
        """Run a slash command; False when there is none of that name.

        Raises:
            CallFailed: it was refused.
        """
        name, _, rest = line[1:].strip().partition(" ")
        found = self.slash.get(name)
        if found is None:
            near = self.slash.nearest(name)
            meant = f"did you mean /{near}?" if near else "/help lists them."
            self.tell(f"There is no command /{name}: {meant}", refused=True)
            return False
        if not rest.strip() and found.needs_words:
            self.tell(f"Say more: {found.shape}", refused=True)
            return False
        await found.run(self, rest.strip())
        return True

    # keys

    async def action_enter(self, name: str) -> None:
        """Go to a mode."""
        await self.attempt(self.enter(name))

    async def action_leave(self) -> None:
        """Stop what goes on, leave the past, or go back to the line."""
        mode = self.mode
        if not await mode.pressed_escape():
            mode.prompt.focus()

    def action_toggle_theme(self) -> None:
        """Light or dark."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def action_help(self) -> None:
        """All keys and commands."""
        self.push_screen(HelpScreen(self.mode, self.slash))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Textual's own, without those that only speak of Textual."""
        for command in super().get_system_commands(screen):
            if command.title in {"Theme", "Quit"}:
                yield command
