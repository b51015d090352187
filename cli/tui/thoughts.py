"""What the mind is thinking: its newest thoughts, with their clusters."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from cli.tui.shapes import Thought
from cli.tui.texts import FAINT, content, one_line


class Thoughts(VerticalScroll):
    """The newest first; live while the mind is at work."""

    def __init__(self) -> None:
        super().__init__(id="thoughts")
        self.border_title = "Thinking"
        self._thoughts: tuple[Thought, ...] = ()

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(content(("No thoughts yet.", FAINT)), markup=False)

    def put(self, thoughts: Sequence[Thought]) -> None:
        """Show these."""
        if tuple(thoughts) == self._thoughts:
            return
        self._thoughts = tuple(thoughts)
        self.query_one(Static).update(thoughts_text(thoughts))


def thoughts_text(thoughts: Sequence[Thought]) -> Content:
    """Thoughts below each other: cluster, its size, age, text."""
    if not thoughts:
        return content(("No thoughts yet.", FAINT))
    return Content("\n").join(_thought(thought) for thought in thoughts)


def _thought(thought: Thought) -> Content:
    cluster = f"cluster {thought.cluster} ×{thought.size}" if thought.cluster else "alone"
    origin = "" if thought.origin in {"", "mind"} else f", {thought.origin}"
    marks = f"{cluster}, age {thought.age}{one_line(origin)}"
    return content("· ", one_line(thought.text), ("\n  " + marks, FAINT))
