"""What lies over the screen for a while: a text to read, hits to choose from, a name to give."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from cli.tui.shapes import Hit
from cli.tui.texts import FAINT, content, one_line, shown


class Reading(ModalScreen[None]):
    """A text to scroll through, or several below each other, of which one is gone to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", key_display="esc"),
    ]

    def __init__(self, title: str, *texts: Content | str, at: int = 0) -> None:
        super().__init__()
        self._title, self._at = title, at
        self._texts = [content(shown(text)) if isinstance(text, str) else text for text in texts]

    def compose(self) -> ComposeResult:
        """All of it."""
        with VerticalScroll(classes="dialog") as dialog:
            dialog.border_title = content(one_line(self._title))
            for text in self._texts:
                yield Static(text, markup=False, classes="text")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Begin where somebody wants to read."""
        if self._at:
            there = self.query(".text")[self._at]
            self.call_after_refresh(there.scroll_visible, animate=False, top=True)


class Found(ModalScreen[Hit | None]):
    """Hits of a search: the chosen one, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", key_display="esc"),
        Binding("enter", "go", "Go there", show=True),
    ]

    def __init__(self, words: str, hits: Sequence[Hit]) -> None:
        super().__init__()
        self._words, self._hits = words, hits

    def compose(self) -> ComposeResult:
        """The hits, best first."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f"Found for {one_line(self._words)}")
            options = OptionList(*(Option(_hit(hit)) for hit in self._hits), markup=False)
            options.highlighted = 0
            yield options
        yield Footer(compact=True, show_command_palette=False)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._hits[event.option_index])

    def action_go(self) -> None:
        """Go to the hit that is highlighted."""
        self.query_one(OptionList).action_select()


def _hit(hit: Hit) -> Content:
    where = f"{hit.session}@{hit.version}"
    return content((where, "bold"), (f"  {hit.kind}\n", FAINT), f"  {one_line(hit.text)}")


class AskName(ModalScreen[str | None]):
    """A name that is asked for; None when the user would rather not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """A question and a line."""
        with Vertical(classes="dialog -small") as dialog:
            dialog.border_title = content("Fork")
            yield Static(content(self._question), markup=False)
            yield Input(placeholder="name-of-the-branch", compact=True)
        yield Footer(compact=True, show_command_palette=False)

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())


_OPS = {"+": "$text-success", "-": "$text-error", "?": FAINT}


def diff_text(lines: Sequence[tuple[str, str]]) -> Content:
    """Lines of a diff, by sign and colour; the signs alone are enough to read it."""
    return Content("\n").join(
        content((f"{op} {shown(text)}", _OPS.get(op, ""))) for op, text in lines
    )
