"""Every event in a line, to scrub: the moment that is looked at, and what happened around it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from cli.tui.shapes import Happened
from cli.tui.texts import FAINT, clock, content, one_line

PAGE = 60
"""Events that are fetched at once."""


class Timeline(Widget, can_focus=True):
    """A bar from the first event to the last, and a few lines around the moment."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,j", "move(-1)", "Back", key_display="←"),
        Binding("right,k", "move(1)", "On", key_display="→"),
        Binding("pageup,up", "move(-10)", "10 back", show=False),
        Binding("pagedown,down", "move(10)", "10 on", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end", "now", "Last", show=False),
        Binding("f", "fork", "Fork here"),
        Binding("enter", "now", "Now"),
    ]

    class Moved(Message):
        """Another moment is to be looked at; None is now."""

        def __init__(self, version: int | None) -> None:
            super().__init__()
            self.version = version

    class Forked(Message):
        """A branch is to begin at the moment that is looked at."""

    def __init__(self) -> None:
        super().__init__(id="timeline")
        self.display = False
        self.border_title = "Timeline"
        self._events: dict[int, Happened] = {}
        self.first = self.last = 1
        self.at: int | None = None

    @property
    def cursor(self) -> int:
        """The version that is looked at."""
        return self.last if self.at is None else self.at

    def forget(self) -> None:
        """Begin anew, with another session."""
        self._events.clear()
        self.at = None

    def put(self, events: Sequence[Happened], first: int, last: int) -> None:
        """Know these events, and where the line begins and ends."""
        self._events |= {event.version: event for event in events}
        self.first, self.last = first, max(last, first)
        self.refresh()

    def look(self, version: int | None) -> None:
        """Mark the moment that is looked at."""
        self.at = version
        self.refresh()

    def wanted(self) -> int | None:
        """Before which version events are missing; None when all in sight are known."""
        sight = range(max(self.first, self.cursor - 6), min(self.last, self.cursor + 6) + 1)
        missing = any(version not in self._events for version in sight)
        return min(self.last, self.cursor + PAGE // 2) + 1 if missing else None

    def reach(self, last: int) -> None:
        """Know where the line ends now."""
        if last != self.last:
            self.last = last
            self.refresh()

    def render(self) -> Content:
        """The bar, and as many events as there is room for."""
        rows = max(1, self.size.height - 1)
        top = min(max(self.cursor - rows // 2, self.first), max(self.last - rows + 1, self.first))
        lines = [self._bar(), *map(self._line, range(top, min(top + rows, self.last + 1)))]
        return Content("\n").join(lines)

    def _bar(self) -> Content:
        label = f" {self.cursor} of {self.last}"
        room = max(self.size.width - len(label) - 1, 4)
        span = max(self.last - self.first, 1)
        place = round((self.cursor - self.first) / span * (room - 1))
        rest = room - place - 1
        return content("━" * place, ("◆", "bold"), ("┄" * rest, FAINT), (label, "bold"))

    def _line(self, version: int) -> Content:
        here = version == self.cursor
        mark = "▸" if here else " "
        event = self._events.get(version)
        if event is None:
            return content(f"{mark} {version:>5}  …")
        who = event.actor.partition(":")[0]
        text = f"{clock(event.at)}  {who:<6.6} {event.kind:<16} {one_line(event.summary)}"
        line = content(f"{mark} {version:>5}  ", (text, "bold" if here else FAINT))
        return line.truncate(max(self.size.width, 10), ellipsis=True)

    def action_move(self, by: int) -> None:
        """Look at an earlier or later event."""
        to = min(max(self.cursor + by, self.first), self.last)
        self.post_message(self.Moved(None if to >= self.last else to))

    def action_first(self) -> None:
        """Look at the beginning."""
        self.post_message(self.Moved(self.first if self.first < self.last else None))

    def action_now(self) -> None:
        """Return to now."""
        self.post_message(self.Moved(None))

    def action_fork(self) -> None:
        """Branch off here."""
        self.post_message(self.Forked())
