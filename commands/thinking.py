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
        yield injected(checked_text(self.text, "thought"), self.by, session.upcoming)


def injected(text: str, by: str, iteration: int) -> ThoughtAdded:
    """A thought that somebody put into the pool, first seen by an iteration."""
    return ThoughtAdded(text=text, iteration=iteration, mind=by, origin="injected")
