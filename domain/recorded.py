"""What a log gives and takes: recorded events, draws of new ones, heads, segments."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from domain.actors import Actor
from domain.events import Caused, Event
from domain.ids import CommandId, SessionId


class Recorded(NamedTuple):
    """An event with its envelope, as read from the log."""

    session: SessionId
    """The session whose stream holds it: for inherited events an ancestor."""
    version: int
    position: int
    """Its place in the order of the whole store."""
    at: int
    """Microseconds since 1970, UTC; never runs backwards within a session."""
    actor: Actor
    command: CommandId
    cause: int | None
    """The version of the event that led to this one, where one did."""
    event: Event
    redacted: bool = False
    """Its content was taken away for good."""

    @property
    def when(self) -> datetime:
        """``at`` as a datetime in UTC."""
        return datetime.fromtimestamp(self.at / 1e6, UTC)


class Plain(NamedTuple):
    """An event with its envelope as plain data, unchecked: for those who copy a whole store.

    Texts are valid Unicode here: what is none, half a surrogate pair say, is replaced by U+FFFD.
    """

    session: SessionId
    version: int
    position: int
    kind: str
    """May be one of a newer version, which :class:`Recorded` never has."""
    at: int
    actor: str
    command: bytes
    cause: int | None
    data: dict[str, Any]
    """The fields of the event at its newest schema, without those that are None; the parent of a
    ``session.forked`` under the name that it has in this store."""
    redacted: bool


class Draw(NamedTuple):
    """Events that wait to be recorded together, with the envelope that they share."""

    events: Sequence[Caused]
    at: int
    actor: Actor
    """Who did what names nobody else."""
    command: CommandId


class Head(NamedTuple):
    """Where a session stands: its newest version and the chain hash there."""

    version: int
    hash: bytes


BEGINNING = Head(0, bytes(32))
"""What the first event of a session is chained on."""


class Segment(NamedTuple):
    """The part of a session's history that one stream holds: ``after < version <= upto``."""

    stream: SessionId
    after: int
    upto: int | None
    """None for the session's own, growing end."""


class Look(NamedTuple):
    """The question for the newest event in a segment."""

    segment: Segment
    kinds: tuple[str, ...] = ()
    """Of these alone; of all, where there are none."""
