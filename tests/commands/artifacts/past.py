"""A session whose artifacts may have left the shelf, with what is known of them."""

from typing import Any

from commands.command import Command
from domain.events import Event
from domain.lives import LIVES, Life, lives
from tests.domain.happened import STARTED
from tests.spec import Given, Wish, recorded


class Past(Given):
    """A session to which things have happened, and all that is known of its artifacts."""

    def __init__(self, *events: Event) -> None:
        super().__init__(*events)
        history = recorded((STARTED, *events))
        self.lives = lives(one for one in history if one.event.kind in LIVES)

    def when(self, command: Command) -> Wish:
        """Somebody wishes something, knowing what the log knows."""
        fields = type(command).model_fields
        known = {"known": tuple(self.lives.values())} if "known" in fields else {}
        return Wish(self.session, command.model_copy(update=known))

    def life(self, id_: int) -> Life:
        """What became of an artifact."""
        return self.lives[id_]


def past(*events: Event) -> Past:
    """A session, begun for you at version 1, to which these events have happened."""
    return Past(*events)


def shelf(given: Any) -> list[tuple[int, str]]:
    """What lies on the shelf: ids and texts."""
    session = getattr(given, "session", given)
    return [(a.id, a.text) for a in session.shelf.artifacts]
