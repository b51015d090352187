"""A store that is put back to an earlier moment, under a process that stays."""

import pytest

from commands.eventlog import EventLog
from commands.handle import handle
from commands.thinking import InjectThought
from domain.errors import LostRace
from tests.commands.eventlog.stores import MAIN, StillWorld, begin, branch, draw, grow, thought
from tests.stores.places import Site


def _put_back(site: Site, log: EventLog, version: int, *, further: int) -> None:
    """Take away what came behind a version, as a restore does, and let others go on."""
    gone = [event.position for event in log.read(MAIN, after=version)]
    for position in reversed(gone):
        site.tamper(position, None)
    grow(site.open(site.elsewhere("other")), MAIN, further, tag="other")


@pytest.mark.parametrize("further", [1, 2, 5])
def test_nothing_is_written_on_what_is_gone(site: Site, further: int) -> None:
    """An append that follows an event of before is a lost race, and the chain stays whole."""
    log = site.create()
    begin(log, events=5)
    grow(log, MAIN, 2)
    _put_back(site, log, 5, further=further)
    with pytest.raises(LostRace):
        log.append(MAIN, 7, draw(thought("on what is gone"), wish=78))
    handle(log, MAIN, InjectThought(text="decided again", by="user:ann"), StillWorld())
    assert log.state(MAIN) == site.open(site.elsewhere("third")).state(MAIN)
    assert log.head(MAIN).version == 5 + further + 1
    assert not [finding for verdict in log.verify() for finding in verdict.findings]


@pytest.mark.parametrize("further", [1, 2, 5])
def test_what_is_remembered_is_looked_at_again(site: Site, further: int) -> None:
    """States of now and of any moment are those of the history that there is."""
    log = site.create()
    begin(log, events=5)
    branch(log, MAIN, 3, "child")
    grow(log, MAIN, 2)
    assert log.state(MAIN).version == 7
    _put_back(site, log, 5, further=further)
    cold = site.open(site.elsewhere("third"))
    for version in range(5, 5 + further + 1):
        assert log.state(MAIN, version) == cold.state(MAIN, version)
    assert log.state(MAIN) == cold.state(MAIN)
    assert log.state(MAIN).pool == cold.state(MAIN).pool
