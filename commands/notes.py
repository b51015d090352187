"""Notes in the margin of a session."""

from commands.command import Command, Decision
from domain.errors import NoSuchMoment
from domain.events import NoteAdded
from domain.session import Session
from domain.texts import checked_text


class AddNote(Command):
    """Write down what you noticed; the mind never sees it."""

    text: str
    about: tuple[int, ...] = ()
    """Versions of the events that it speaks of."""

    def decide(self, session: Session) -> Decision:
        """The note, about events that have happened."""
        text = checked_text(self.text, "note")
        for version in self.about:
            if not 1 <= version <= session.version:
                raise NoSuchMoment(session.id, str(version), ["1", str(session.version)])
        yield NoteAdded(
            text=text, about=tuple(dict.fromkeys(self.about)), iteration=session.iteration
        )
