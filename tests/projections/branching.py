"""Sessions to which anything has happened, with branches of branches, in a real log."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import has_content, redact_events
from commands.sessions import start_session
from domain.errors import Refused
from domain.ids import SessionId
from tests.stories.cast import SteadyWorld
from tests.strategies import Wish, turns

share = st.floats(min_value=0, max_value=1)


class Branch(NamedTuple):
    """A session that is about to be, and what happens there."""

    parent: float
    """Which of those that are there, as a share of them."""
    at: float
    """Where it branches off, as a share of the parent's events."""
    steps: Sequence[Wish]
    afterwards: Sequence[Wish]
    """What happens to the parent when it has branched off."""
    secret: float | None = None
    """What is redacted at last, as a share of what its parent has said by then, if anything."""


branches = st.lists(
    st.builds(Branch, share, share, turns, turns | st.just([]), st.none() | share), max_size=3
)


@contextmanager
def grown(steps: Sequence[Wish], more: Sequence[Branch]) -> Iterator[EventLog]:
    """A log in which all this has happened, as far as it is allowed."""
    with tempfile.TemporaryDirectory() as directory, EventLog.create(Path(directory)) as log:
        world = SteadyWorld()
        start_session(log, SessionId("s0"), world, message="why two tides?")
        _does(log, world, SessionId("s0"), steps)
        for branch in more:
            sessions = log.sessions()
            parent = sessions[round(branch.parent * (len(sessions) - 1))]
            version = 1 + round(branch.at * (log.head(parent).version - 1))
            child = SessionId(f"s{len(sessions)}")
            fork_session(log, parent, version, child, world)
            _does(log, world, child, branch.steps)
            _does(log, world, parent, branch.afterwards)
            if branch.secret is not None:
                said = [r for r in log.read(parent) if has_content(r)]
                secret = said[round(branch.secret * (len(said) - 1))]
                redact_events(log, [secret], "It was said in confidence.", world)
        yield log


def _does(log: EventLog, world: SteadyWorld, session: SessionId, steps: Sequence[Wish]) -> None:
    for wish in steps:
        with suppress(Refused):
            handle(log, session, wish(log.state(session)), world)
