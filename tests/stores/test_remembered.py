"""Wishes that are decided on a remembered state, in one question to the store."""

from itertools import count

import pytest

from commands.command import Command, Decision
from commands.eventlog import EventLog
from commands.handle import handle
from domain.errors import LostRace, Refused
from domain.events import ThoughtAdded
from domain.ids import SessionId
from domain.session import Session
from tests.commands.eventlog.stores import MAIN, StillWorld, begin, branch, draw, grow, thought
from tests.stores.places import Site, whole

BRANCH = SessionId("child")
_wishes = count(1 << 40)


class Repeat(Command):
    """Think all thoughts again, in one."""

    def decide(self, session: Session) -> Decision:
        """What the pool holds."""
        thoughts = ", ".join(thought.text for thought in session.pool.active)
        yield ThoughtAdded(text=thoughts, iteration=0, mind="repeater")


class Refuse(Command):
    """Be refused where a thought is there."""

    text: str

    def decide(self, session: Session) -> Decision:
        """Nothing, or a thought of its absence."""
        if self.text in {thought.text for thought in session.pool.active}:
            raise Refused(f"{self.text!r} is there.")
        yield ThoughtAdded(text=f"no {self.text}", iteration=0, mind="refuser")


@pytest.fixture
def log(site: Site) -> EventLog:
    """A session with some thoughts, and a branch that shares them."""
    log = site.create()
    begin(log, events=5)
    branch(log, MAIN, 5, BRANCH)
    return log


@pytest.fixture
def other(site: Site, log: EventLog) -> EventLog:
    """Another process, which remembers the branch."""
    other = site.open(site.elsewhere("other"))
    handle(other, BRANCH, Repeat(), StillWorld(drawn=next(_wishes)))
    assert "t4" in {thought.text for thought in other.state(BRANCH).pool.active}
    return other


def test_nothing_is_decided_from_what_was_redacted(log: EventLog, other: EventLog) -> None:
    """A branch that did not move since is read again before anything is said of it."""
    log.redact({MAIN: [4]}, "a secret", draw(wish=1 << 70))
    handle(other, BRANCH, Repeat(), StillWorld(drawn=next(_wishes)))
    (told,) = (r.event for r in other.read(BRANCH, after=other.head(BRANCH).version - 1))
    assert isinstance(told, ThoughtAdded)
    assert (told.text.count("t3"), told.text.count("t4")) == (2, 1)
    whole(log)


def test_an_append_says_what_it_was_decided_upon(log: EventLog, other: EventLog) -> None:
    """One upon a state from before a redaction, or upon another one than is remembered, is none."""
    before = other.remembered(BRANCH)
    assert before is not None
    log.redact({MAIN: [4]}, "a secret", draw(wish=1 << 70))
    events, version = draw(thought("late"), wish=1 << 71), before.version
    with pytest.raises(LostRace):
        other.append(BRANCH, version, events, upon=before)
    assert other.state(BRANCH).version == version
    with pytest.raises(LostRace):
        other.append(BRANCH, version, events, upon=before)
    now = other.remembered(BRANCH)
    assert other.append(BRANCH, version, events, upon=now).version == version + 1
    whole(log)


def test_a_refusal_is_looked_at_again(log: EventLog, other: EventLog) -> None:
    """What a remembered state refuses may be right by now."""
    with pytest.raises(Refused):
        handle(other, BRANCH, Refuse(text="t4"), StillWorld(drawn=next(_wishes)))
    log.redact({MAIN: [4]}, "a secret", draw(wish=1 << 70))
    grow(log, BRANCH, 1)
    handle(other, BRANCH, Refuse(text="t4"), StillWorld(drawn=next(_wishes)))
    assert "no t4" in {thought.text for thought in log.state(BRANCH).pool.active}
    whole(log)
