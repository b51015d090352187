"""Many questions at once: the same answers as one by one, in every store."""

from itertools import product

import pytest

from commands.eventlog import EventLog
from domain.errors import NoSuchSession
from domain.ids import SessionId
from domain.recorded import Look, Recorded, Segment
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow
from tests.domain.happened import noted
from tests.stores.places import Site

NAMES = [MAIN, *(SessionId(name) for name in ("a", "a/b", "of-main", "other"))]
KINDS = ((), ("note.added",), ("thought.added", "session.forked"), ("draft.emitted",))


@pytest.fixture
def log(site: Site) -> EventLog:
    """Branches of branches, one that skips its parent, and another root."""
    log = site.create()
    begin(log, events=4)
    branch(log, MAIN, 3, NAMES[1])
    log.append(NAMES[1], 4, draw(noted("a note", 1, 2), wish=1 << 60))
    branch(log, NAMES[1], 5, NAMES[2])
    grow(log, NAMES[2], 2)
    branch(log, NAMES[1], 2, NAMES[3])
    begin(log, NAMES[4], events=2)
    return log


def one_by_one(log: EventLog, look: Look) -> Recorded | None:
    """The last of the events of a segment that the look asks for."""
    (stream, after, upto), kinds = look
    events = [
        recorded
        for recorded in log.read(stream, after=after, upto=upto)
        if recorded.session == stream and (not kinds or recorded.event.kind in kinds)
    ]
    return events[-1] if events else None


def test_looks(log: EventLog) -> None:
    """Whole streams and parts of them, for all kinds, some, and none that is there."""
    looks = [
        Look(Segment(name, after, upto), kinds)
        for name, after, upto, kinds in product(NAMES, (0, 3), (None, 2, 5), KINDS)
    ]
    found = log.newest_of(looks)
    assert found == [one_by_one(log, look) for look in looks]
    assert {recorded.event.kind for recorded in found if recorded} >= {"note.added"}
    assert None in found
    assert log.newest_of([]) == []


def test_paths(site: Site, log: EventLog) -> None:
    """Those of all sessions, or of one whose ancestors nobody has looked at."""
    alone = site.open(site.elsewhere("alone"))
    assert log.paths(NAMES) == [alone.path(name) for name in NAMES]
    assert site.open(site.elsewhere("third")).paths([NAMES[2]]) == [alone.path(NAMES[2])]
    with pytest.raises(NoSuchSession):
        log.paths([MAIN, SessionId("nobody")])
