"""A store that is put back to a backup, and in which something else is redacted then."""

import pytest

from commands.eventlog import EventLog
from commands.eventlog.snapshots import EVERY
from commands.handle import handle
from commands.thinking import InjectThought
from domain.errors import LostRace
from domain.ids import SessionId
from tests.commands.eventlog.stores import (
    MAIN,
    StillWorld,
    begin,
    branch,
    draw,
    grow,
    pool,
    thought,
)
from tests.stores.places import Site, whole

BRANCH = SessionId("child")
KEPT = EVERY + 5
"""Events after which a state is kept."""


@pytest.fixture
def log(site: Site) -> EventLog:
    """A session with thoughts, and a branch that shares them."""
    log = site.create()
    begin(log, events=KEPT)
    branch(log, MAIN, KEPT, BRANCH)
    return log


def redacted(log: EventLog, version: int) -> None:
    """One thought of the session is taken away."""
    log.redact({MAIN: [version]}, "a secret", draw(wish=(1 << 70) + version))


def words(log: EventLog, *, of: set[str]) -> set[str]:
    """Which of these thoughts the session or its branch still shows, now or where it was kept."""
    said = {*pool(log, MAIN), *pool(log, MAIN, KEPT), *pool(log, BRANCH)}
    return of & said


def test_what_is_kept_is_not_believed(log: EventLog, site: Site) -> None:
    """One thought was redacted before, another one is now: no kept state brings it back."""
    put_back = site.kept()
    redacted(log, 114)
    assert words(log, of={"t113", "t114"}) == {"t113"}
    put_back()
    redacted(site.open(site.elsewhere("other")), 113)
    again = site.open()
    assert words(again, of={"t113", "t114"}) == {"t114"}
    whole(again)


def test_what_a_process_remembers_is_not_believed(log: EventLog, site: Site) -> None:
    """Nor is a wish decided upon it."""
    put_back = site.kept()
    redacted(log, 114)
    assert words(log, of={"t113", "t114"}) == {"t113"}
    before = log.remembered(BRANCH)
    assert before is not None
    put_back()
    redacted(site.open(site.elsewhere("other")), 113)
    with pytest.raises(LostRace):
        log.append(BRANCH, before.version, draw(thought("late"), wish=78), upon=before)
    assert words(log, of={"t113", "t114"}) == {"t114"}
    handle(log, BRANCH, InjectThought(text="decided again", by="user:ann"), StillWorld())
    whole(log)


@pytest.mark.parametrize("remembering", [True, False])
def test_what_is_no_longer_redacted_is_there_again(
    log: EventLog, site: Site, *, remembering: bool
) -> None:
    """The log says what is so, also where it says more than before."""
    redacted(log, 113)
    put_back = site.kept()
    redacted(log, 114)
    assert words(log, of={"t113", "t114", "t115"}) == {"t115"}
    put_back()
    one = log if remembering else site.open()
    assert words(one, of={"t113", "t114", "t115"}) == {"t114", "t115"}
    redacted(site.open(site.elsewhere("other")), 115)
    assert words(one, of={"t113", "t114", "t115"}) == {"t114"}
    whole(one)


def test_the_same_moment_keeps_what_was_kept(log: EventLog, site: Site) -> None:
    """Where a store is put back to the redactions that there are, nothing has to be folded."""
    redacted(log, 113)
    assert words(log, of={"t113"}) == set()
    put_back = site.kept()
    grow(log, MAIN, 2)
    put_back()
    again = site.open()
    assert list(again.snapshots(MAIN))
    assert words(again, of={"t113"}) == set()


def test_a_mark_is_that_of_a_history_of_redactions(log: EventLog, site: Site) -> None:
    """None without any; the same for whoever asks, and as long as nothing is redacted."""
    assert log.mark() == b""
    redacted(log, 113)
    put_back, one = site.kept(), log.mark()
    grow(log, MAIN, 1)
    assert site.open(site.elsewhere("other")).mark() == log.mark() == one
    redacted(log, 114)
    two = log.mark()
    put_back()
    assert log.mark() == one
    redacted(log, 115)
    assert len({b"", one, two, log.mark()}) == 4
