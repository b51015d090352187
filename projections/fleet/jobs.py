"""What a job is: a pure function from the events of one session to rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from domain.errors import Refused
from domain.ids import SessionId
from domain.recorded import Recorded
from domain.streams import Family

Type = Literal["text", "int", "float", "bool", "time"]
"""What a column holds; ``time`` is a datetime in UTC, to the microsecond."""

Value = str | int | float | bool | datetime | None
Row = Mapping[str, Value]


class BadJob(Refused):
    """A job that is not there, or not to be had so."""


class Branch(NamedTuple):
    """A session, and where its history comes from."""

    session: SessionId
    parent: SessionId | None
    """Whose event it branched off; None for one that began with nothing."""
    root: SessionId
    """Where its history begins: itself, if it branched off nothing."""
    after: int
    """The newest version that it inherits; 0 for a root. What is above happened here."""


class Column(NamedTuple):
    """A column of a job's rows."""

    name: str
    type: Type
    about: str = ""


Rows = Callable[[Branch, Iterator[Recorded]], Iterable[Row]]
"""Must depend on nothing but what it is given: it may run anywhere, and more than once."""


class Job(NamedTuple):
    """What is asked of each session."""

    name: str
    rows: Rows
    about: str
    """A sentence."""
    columns: tuple[Column, ...] = ()
    """What its rows hold, in that order; none means whatever they turn out to hold."""
    whole: bool = False
    """Whether it is given the whole history of a session, what it inherits included; else only
    what happened there, so that each event of the store is met once."""
    kinds: tuple[str, ...] | None = None
    """Which events it is given; None means all."""
    families: tuple[Family, ...] = ("session",)
    """Of which streams."""
    by: tuple[str, ...] = ()
    """Rows of all sessions that agree on these columns become one; the others are added up."""
