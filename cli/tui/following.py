"""A pane that stays at its end while texts come, unless somebody has scrolled up."""

from textual.containers import VerticalScroll
from textual.message import Message


class Following(VerticalScroll):
    """Follows its end; at its top, it asks for what was before."""

    class WantsMore(Message):
        """The oldest text that is shown has been scrolled to."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__(id=name)
        self.border_title = title
        self._follows = True

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._follows = True
        self.scroll_end(animate=False)

    def on_mount(self) -> None:
        """Stay at the end when texts grow, which Markdown does after a while."""
        self.watch(self, "virtual_size", self.on_resize)

    def on_resize(self) -> None:
        """Stay at the end, unless somebody has scrolled up."""
        if self._follows:
            self.scroll_end(animate=False, immediate=True)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """See whether somebody reads what was before."""
        super().watch_scroll_y(old, new)
        if new != old:
            self._follows = new >= self.max_scroll_y
        if new <= 0 < old:
            self.post_message(self.WantsMore())
