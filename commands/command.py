"""A wish: data that can decide, given a state, which events it becomes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from domain.events import Caused, Event
from domain.session import Session

Decision = Iterable[Event | Caused]


class Command(BaseModel, ABC):
    """Something that somebody wants of a session.

    ``decide`` is pure: it reads the state, yields events or raises a refusal, and is asked again
    with a newer state whenever somebody else was faster. The class docstring is its help text on
    every surface.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @abstractmethod
    def decide(self, session: Session) -> Decision:
        """The events that fulfil the wish.

        Raises:
            Refused: it can't be fulfilled as things are.
        """
        ...
