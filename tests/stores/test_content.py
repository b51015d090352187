"""What is stored comes back as it was: any text, any size, any number, any name."""

import pytest

from commands.eventlog import EventLog
from domain.ids import SessionId, session_id
from tests.commands.eventlog.stores import MAIN, begin, draw, grow, pool, thought
from tests.stores.places import Site, stored, whole

TEXTS = (
    "".join(chr(plane * 0x10000 + 0x2F1) for plane in range(17)),
    "\ud800 half a pair, \udfff the other half",
    "a\x00b\x01\x7f\x80\ufeff\uffff",
    "\r\n\t \u2028 % %s {} '' \"\" \\ \\x00 $1 $$ ; --",
    "e\u0301 \u202e rtl \u200d",
    " ",
)


def test_every_text_comes_back(log: EventLog, site: Site) -> None:
    """Of all planes, halves of pairs, and what other programs take for signs of their own."""
    begin(log)
    log.append(MAIN, 1, draw(*map(thought, TEXTS), wish=1))
    other = site.open(site.elsewhere("another"))
    assert pool(log, MAIN) == pool(other, MAIN) == list(TEXTS)
    whole(other)


def test_a_text_of_five_megabytes_comes_back(log: EventLog, site: Site) -> None:
    """Alone and behind others."""
    begin(log)
    long = "tides " * 833_333 + "~5 MB"
    log.append(MAIN, 1, draw(thought("a"), thought(long), wish=1))
    other = site.open(site.elsewhere("another"))
    assert [r.event for r in other.read(MAIN, after=1)] == [thought("a"), thought(long)]


@pytest.mark.parametrize("many", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_events_at_once(log: EventLog, site: Site, many: int) -> None:
    """One append of many is read in pages of any size, each once."""
    begin(log)
    grow(log, MAIN, many)
    rows = stored(site.open())
    assert [row[1] for row in rows] == list(range(1, many + 2))
    assert [row[2] for row in rows] == sorted({row[2] for row in rows})
    for page in (7, 512, many):
        assert [r.version for r in log.read(MAIN, page=page)] == list(range(1, many + 2))
    assert site.open(site.elsewhere("another")).state(MAIN).version == many + 1


def test_the_longest_name(log: EventLog) -> None:
    """Names of all letters that there are, and as long as they may be."""
    names = [session_id(name) for name in ("a" * 80, "a" * 79 + "b", "0.a_b-c/z", "a", "a/b")]
    for name in names:
        begin(log, name)
    assert log.sessions() == names
    for name in names:
        assert grow(log, name, 1).version == 2
        assert log.born_as(name) == [name]
    assert not log.exists(SessionId("a" * 78))
