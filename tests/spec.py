"""Rules as sentences: ``given(*events).when(command).then(*events)``, or ``.refused(Error)``."""

import re
from collections.abc import Iterable, Sequence

import pytest

from commands.command import Command
from commands.thinking import Placed
from domain.actors import Actor
from domain.errors import Refused
from domain.events import Caused, Event, SessionStarted
from domain.ids import CommandId, SessionId
from domain.recorded import Recorded
from domain.session import Session, fold
from tests.domain.happened import STARTED

SESSION = SessionId("tides")
ANN = Actor("user", "ann")
SECOND = 1_000_000


def recorded(
    events: Iterable[Event], after: int = 0, *, stream: SessionId = SESSION
) -> list[Recorded]:
    """Events as a log would hold them: one a second, each a wish of its own."""
    return [
        Recorded(stream, n, n, n * SECOND, ANN, CommandId(n.to_bytes(16, "big")), None, event)
        for n, event in enumerate(events, after + 1)
    ]


class Given:
    """A session to which things have happened."""

    def __init__(self, *events: Event) -> None:
        begun = bool(events) and isinstance(events[0], SessionStarted)
        self.session = after(*events) if begun else after(STARTED, *events)

    def when(self, command: Command) -> "Wish":
        """Somebody wishes something."""
        return Wish(self.session, command)


class Company:
    """Decides what it was told to about thoughts, and keeps what it was asked about."""

    def __init__(self, *events: Event) -> None:
        self.events = events
        self.asked: list[tuple[int, list[Placed]]] = []
        """The version it was asked at, and who got a vector."""

    def __call__(self, session: Session, placed: Sequence[Placed]) -> Iterable[Event]:
        """Decide."""
        self.asked.append((session.version, list(placed)))
        return self.events


class Wish:
    """A command that meets a state."""

    def __init__(self, session: Session, command: Command) -> None:
        self.session, self.command = session, command

    def then(self, *expected: Event) -> Session:
        """It becomes these events, whatever caused them; gives the state behind them."""
        decided = [e if isinstance(e, Caused) else Caused(e) for e in self.decided()]
        assert [caused.event for caused in decided] == list(expected)
        state = fold(recorded(expected, self.session.version), self.session)
        assert state is not None
        return state

    def decided(self) -> list[Event | Caused]:
        """What it becomes, with causes."""
        return list(self.command.decide(self.session))

    def refused(self, error: type[Refused], match: str | None = None) -> None:
        """It is not granted, for this reason, in one sentence that holds these words."""
        with pytest.raises(error, match=match and re.escape(match)) as refusal:
            self.decided()
        assert refusal.type is error


def given(*events: Event) -> Given:
    """A session, begun for you, to which these events have happened."""
    return Given(*events)


def after(*events: Event) -> Session:
    """The state behind events that include the beginning."""
    state = fold(recorded(events))
    assert state is not None
    return state
