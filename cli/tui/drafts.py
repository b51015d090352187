"""The drafts of the open exchange beside each other, newest first, and the one being written."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from cli.tui.shapes import Draft, newest_first
from cli.tui.texts import content, shown
from cli.tui.transcript import Written
from domain.sentences import count

_COLUMN = 34
"""Cells that a draft wants at least."""


class Card(VerticalScroll, can_focus=False):
    """One draft."""

    def __init__(self, draft: Draft, *, chosen: bool, beside: str = "") -> None:
        super().__init__(classes="-chosen" if chosen else "")
        self.set_class(draft.signal, "-signal")
        self.draft = draft
        mark = "▸ " if chosen else ""
        self.border_title = content(f"{mark}#{draft.index} {', '.join(_marks(draft))}")
        self.border_subtitle = content(beside)

    def compose(self) -> ComposeResult:
        """Its text."""
        yield Written(self.draft.text)

    def on_click(self) -> None:
        """Choose it."""
        self.post_message(Clicked(self.draft.index))


def _best(drafts: Sequence[Draft]) -> int:
    """Where the newest one with content is: a signal is never the answer."""
    return next((n for n, draft in enumerate(drafts) if not draft.signal), 0)


def _marks(draft: Draft) -> list[str]:
    return [
        *(["signal"] if draft.signal else []),
        "seen" if draft.seen else "new",
        f"age {draft.age}",
        *([f"repeats #{draft.repeats}"] if draft.repeats else []),
        *([f"confidence {draft.confidence:g}"] if draft.confidence is not None else []),
        *(["still working"] if draft.working else []),
        *(["late"] if draft.late else []),
    ]


class Clicked(Message):
    """A draft was clicked."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


class Live(VerticalScroll, can_focus=False):
    """What the mind is writing just now, as it comes."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__(classes="-live")
        self.border_title = content(title)
        self._text = text

    def compose(self) -> ComposeResult:
        """The raw text."""
        yield Static(content(shown(self._text)), markup=False)

    def on_mount(self) -> None:
        """Follow the end."""
        self.watch(self, "virtual_size", self._follow)

    def _follow(self) -> None:
        self.scroll_end(animate=False, immediate=True)

    def put(self, text: str) -> None:
        """Show the text so far."""
        self.query_one(Static).update(content(shown(text)))


class Drafts(Horizontal, can_focus=True):
    """As many as fit; the others are reached with left and right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "choose(-1)", "Newer", key_display="←"),
        Binding("right,l", "choose(1)", "Older", key_display="→"),
        Binding("a,enter", "accept", "Accept"),
        Binding("d", "diff", "Diff"),
        Binding("s", "seen", "Seen", show=False),
        Binding("up,k", "scroll(-1)", "Scroll up", show=False),
        Binding("down,j", "scroll(1)", "Scroll down", show=False),
        Binding("pageup", "scroll(-5)", "Scroll up", show=False),
        Binding("pagedown", "scroll(5)", "Scroll down", show=False),
    ]

    class Accepted(Message):
        """A draft is to be the answer."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Seen(Message):
        """A draft has been read."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Compared(Message):
        """Two drafts are to be compared, the older one first."""

        def __init__(self, older: int, newer: int) -> None:
            super().__init__()
            self.older, self.newer = older, newer

    def __init__(self) -> None:
        super().__init__(id="drafts")
        self.display = False
        self._drafts: list[Draft] = []
        self._chosen = 0
        self._live: tuple[str, str] | None = None
        self._fit = 0

    @property
    def shown(self) -> list[Draft]:
        """All drafts, newest first, also those that do not fit."""
        return self._drafts

    @property
    def chosen(self) -> Draft | None:
        """The one that keys act upon."""
        return self._drafts[self._chosen] if self._drafts else None

    async def put(self, drafts: Sequence[Draft]) -> None:
        """Show these; the same one stays chosen, unless that was the newest: so it is again."""
        drafts = newest_first(drafts)
        if drafts == self._drafts:
            return
        before, newest = self.chosen, self._chosen == _best(self._drafts)
        self._drafts = drafts
        indexes = [draft.index for draft in drafts]
        stays = before is not None and not newest and before.index in indexes
        self._chosen = indexes.index(before.index) if stays and before else _best(drafts)
        await self._draw()

    async def write(self, title: str | None, text: str = "") -> None:
        """Show what is being written; without a title, that nothing is."""
        before, self._live = self._live, (title, text) if title is not None else None
        live = next(iter(self.query(Live)), None)
        if live is not None and before and self._live and before[0] == self._live[0]:
            live.put(text)
        elif before or self._live:
            await self._draw()

    async def _draw(self) -> None:
        self.display = bool(self._drafts or self._live)
        if not self.display and self.has_focus:
            self.screen.query_one("#prompt").focus()
        await self.recompose()

    def compose(self) -> ComposeResult:
        """The live one, then as many drafts as fit around the chosen one."""
        fit = self._fit = self._room
        if self._live:
            yield Live(*self._live)
            fit = max(1, fit - 1)
        first = max(0, self._chosen - fit + 1)
        last = min(first + fit, len(self._drafts)) - 1
        for number in range(first, last + 1):
            newer = f"← {first} newer" if number == first and first else ""
            rest = len(self._drafts) - last - 1
            older = f"{rest} older →" if number == last and rest else ""
            beside = "  ".join(filter(None, (newer, older)))
            yield Card(self._drafts[number], chosen=number == self._chosen, beside=beside)

    async def on_resize(self) -> None:
        """Another width has room for more or fewer."""
        if self._fit != self._room:
            await self.recompose()

    @property
    def _room(self) -> int:
        return max(1, self.size.width // _COLUMN) if self.size.width else 2

    async def on_clicked(self, event: Clicked) -> None:
        """Choose the one that was clicked."""
        event.stop()
        indexes = [draft.index for draft in self._drafts]
        if event.index in indexes:
            await self.action_choose(indexes.index(event.index) - self._chosen)

    async def action_choose(self, by: int) -> None:
        """Choose the next one."""
        chosen = min(max(self._chosen + by, 0), max(len(self._drafts) - 1, 0))
        if chosen != self._chosen:
            self._chosen = chosen
            await self._draw()

    def action_accept(self) -> None:
        """Make the chosen one the answer."""
        if self.chosen:
            self.post_message(self.Accepted(self.chosen.index))

    def action_seen(self) -> None:
        """Say that the chosen one has been read."""
        if self.chosen:
            self.post_message(self.Seen(self.chosen.index))

    def action_diff(self) -> None:
        """Compare the chosen one with the one before it; signals are passed over."""
        if self.chosen:
            older = [draft for draft in self._drafts[self._chosen + 1 :] if not draft.signal]
            other = older[0].index if older else self.chosen.index
            self.post_message(self.Compared(other, self.chosen.index))

    def action_scroll(self, by: int) -> None:
        """Scroll in the chosen one."""
        for card in self.query("Card.-chosen").results(Card):
            card.scroll_relative(y=by, animate=False)


def sentence_of(drafts: Sequence[Draft], *, running: bool, iteration: int | None) -> str:
    """How the message that awaits an answer stands."""
    at_work = f"Iteration {iteration} is under way" if iteration else "The mind is at work"
    number = sum(not draft.signal for draft in drafts)
    if number:
        waits = f"{count(number, 'draft')} to choose from: ctrl+n, then a accepts."
        return f"{at_work}. {waits}" if running else waits
    return f"{at_work}: escape stops it." if running else "No draft yet: ctrl+r lets the mind work."


def lines_of(data: Sequence[dict[str, str]]) -> list[tuple[str, str]]:
    """The lines of ``draft_diff``."""
    return [(line["op"], line["text"]) for line in data]
