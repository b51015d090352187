"""Events as plain data: the same as the feed tells, and more than it can."""

from pathlib import Path

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.eventlog import EventLog
from commands.eventlog.chain import HASH_LENGTH, marked
from commands.eventlog.wire import EventMapper
from domain.actors import Actor
from domain.errors import NewerSchema, StoreIsDamaged, UnknownKind
from domain.events import EVENTS
from domain.ids import CommandId, SessionId
from domain.recorded import BEGINNING, Recorded
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, thought, unguarded


def as_recorded(log: EventLog) -> list[Recorded]:
    """What the plain feed tells, in the words of the other one."""
    return [
        Recorded(
            p.session,
            p.version,
            p.position,
            p.at,
            Actor.parse(p.actor),
            CommandId(p.command),
            p.cause,
            EVENTS[p.kind].from_wire(p.data),
            p.redacted,
        )
        for p in log.plain()
    ]


def test_both_feeds_tell_the_same(log: EventLog) -> None:
    """Envelope and fields, of forks and of what was redacted; from any position on."""
    begin(log, events=600)
    branch(log, MAIN, 7, "fork")
    grow(log, "fork", 3)
    log.redact({MAIN: [5]}, "said in confidence", draw(wish=9))
    assert as_recorded(log) == list(log.feed())
    assert [p.position for p in log.plain(598)] == [r.position for r in log.feed(598)]


def test_a_parent_has_the_name_that_it_has_here(log: EventLog, tmp_path: Path) -> None:
    """An import may have given it another one."""
    there = tmp_path / "there"
    there.mkdir()
    begin(log, events=4)
    with EventLog.create(there) as other:
        begin(other, events=9, tag="other")
        branch(other, MAIN, 6, "fork")
        other.export(MAIN, tmp_path / "t.mind")
    log.take_over(tmp_path / "t.mind")
    (forked,) = (p for p in log.plain() if p.kind == "session.forked")
    assert (forked.session, forked.data["parent"]) == ("fork", "main-2")
    assert log.path(SessionId("fork"))[1].stream == "main-2"


def test_a_kind_of_tomorrow(log: EventLog, tmp_path: Path) -> None:
    """Who copies a whole store copies what it does not know."""
    begin(log, events=3)
    with unguarded(tmp_path) as connection:
        connection.execute("UPDATE stored_events SET topic='dream.told' WHERE rowid=3")
    assert [p.kind for p in log.plain()][-1] == "dream.told"
    with pytest.raises(UnknownKind):
        list(log.feed())


def test_a_schema_of_tomorrow(log: EventLog) -> None:
    """What is known by name, and not as it is, is not guessed at."""
    begin(log)
    (row,) = log.rows(MAIN)
    envelope = msgpack.unpackb(row[4][HASH_LENGTH:])
    newer = (*row[:4], row[4][:HASH_LENGTH] + msgpack.packb({**envelope, "schema": 99}))
    with pytest.raises(NewerSchema):
        EventMapper().plain(newer)


@pytest.mark.parametrize("state", [b"", b"\xc1" * 40, bytes(32) + msgpack.packb({"at": 1})])
def test_what_is_no_event(log: EventLog, state: bytes) -> None:
    """Bytes that can't be read are named."""
    begin(log)
    (row,) = log.rows(MAIN)
    with pytest.raises(StoreIsDamaged, match="Event 1 of session 'main'"):
        EventMapper().plain((*row[:4], state))


@settings(max_examples=60)
@given(text=st.text(st.characters(codec=None)) | st.just("half of \ud83d a pair"))
def test_every_text_is_unicode(text: str) -> None:
    """Half a surrogate pair becomes U+FFFD; everything else stays."""
    rows, _ = EventMapper().sealed(BEGINNING, MAIN, draw(thought(text)))
    row = (MAIN, 1, 1, rows[0].topic, rows[0].state)
    found = EventMapper().plain(row).data["text"]
    found.encode()
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert found == text


def test_hashes_and_marks(log: EventLog) -> None:
    """By what a copy knows that it is still one of this history."""
    begin(log, events=4)
    assert log.hash_at(4) == log.head(MAIN).hash
    assert (log.hash_at(0), log.hash_at(5), log.mark()) == (None, None, b"")
    log.redact({MAIN: [2, 3]}, "said in confidence", draw(wish=9))
    first, second = log.head(MAIN, 5).hash, log.head(MAIN, 6).hash
    assert log.mark() == marked(marked(b"", first), second)
