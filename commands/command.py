"""A wish: data that can decide, given a state, which events it becomes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from domain.events import Caused, Event
from domain.session import Session

Decision = Iterable[Event | Caused]

S_contra = TypeVar("S_contra", contravariant=True)


class Decides(Protocol[S_contra]):
    """What every wish has: a decision by the state of the stream that it is about.

    ``decide`` is pure: it reads the state, yields events or raises a refusal, and is asked again
    with a newer state whenever somebody else was faster.
    """

    def decide(self, state: S_contra, /) -> Decision:
        """The events that fulfil the wish.

        Raises:
            Refused: it can't be fulfilled as things are.
        """
        ...


class Wish(BaseModel):
    """Plain, frozen data; the class docstring is its help text on every surface."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Command(Wish, ABC):
    """Something that somebody wants of a session."""

    @abstractmethod
    def decide(self, session: Session) -> Decision:
        """The events that fulfil the wish.

        Raises:
            Refused: it can't be fulfilled as things are.
        """
        ...
