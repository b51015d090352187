"""What the user puts into the mind's pool."""

from commands.command import Command, Decision
from domain.events import ThoughtAdded
from domain.session import Session
from domain.texts import checked_text


class InjectThought(Command):
    """Put a thought of your own into the mind's pool."""

    text: str
    by: str

    def decide(self, session: Session) -> Decision:
        """The thought, marked as injected."""
        yield ThoughtAdded(
            text=checked_text(self.text, "thought"),
            iteration=session.upcoming,
            mind=self.by,
            origin="injected",
        )
