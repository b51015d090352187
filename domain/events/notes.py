"""What is written in the margin: for whoever reads the log, never for the mind."""

from typing import Literal

from domain.events.base import Event


class NoteAdded(Event):
    """Somebody wrote down what they noticed; no mind is ever shown it."""

    kind: Literal["note.added"] = "note.added"
    content = ("text",)
    text: str
    about: tuple[int, ...] = ()
    """Versions of the events that it speaks of."""
    iteration: int
    """The newest iteration when it was written; 0 before the first one."""
