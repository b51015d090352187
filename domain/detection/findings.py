"""What is looked at for artifacts, and what was found: a proposal, until a wish records it."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from domain.artifacts import Shelf
from domain.events.artifacts import Outcome
from domain.ids import ExchangeId

HERE = 0
"""Stands for the effort that is opened in these very findings, which has no id yet."""

Text = Annotated[str, Field(min_length=1, max_length=500)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$")]
"""ISO 8601 in the user's local time: a date, or a date and a time."""


class Passage(NamedTuple):
    """A message, with its answer once there is one, and what stood when it was sent."""

    exchange: ExchangeId
    question: str
    answer: str | None
    """None while no draft has been accepted."""
    before: tuple[tuple[str, str], ...]
    """The newest earlier exchanges, question and answer, oldest first."""
    now: str
    """The user's local time, ISO 8601."""


class _Found(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Opened(_Found):
    """Something is to be achieved."""

    goal: Text
    parent: int | None = None
    """The open effort that this is one attempt at, or one part of."""


class Resolved(_Found):
    """An effort ended."""

    effort: int
    """The id of an open one, or 0 for the one opened here."""
    resolution: Text
    outcome: Outcome = "done"


class Learned(_Found):
    """Something turned out to be so, or was decided."""

    statement: Text
    since: Moment | None = None
    supersedes: int | None = None
    """The id of the fact that no longer holds."""


class Noted(_Found):
    """Something happens at some time."""

    what: Text
    when: Moment | None = None
    expires: Moment | None = None


class Findings(_Found):
    """All that one look at a passage found; all of it empty where it is ambient talk."""

    effort: int | None = None
    """The open effort that the exchange belongs to, 0 for the one opened here; None for none."""
    mentions: tuple[int, ...] = ()
    """Artifacts that it speaks of."""
    opened: Opened | None = None
    resolved: tuple[Resolved, ...] = ()
    reopened: tuple[int, ...] = ()
    """Resolved efforts that go on after all."""
    learned: tuple[Learned, ...] = ()
    noted: tuple[Noted, ...] = ()
    words: Annotated[str, Field(max_length=200)] | None = None
    """The words of the message that told which effort it belongs to."""


Detect = Callable[[Passage, Shelf], Findings]
"""Looks at a passage, given what lies on the shelf."""
