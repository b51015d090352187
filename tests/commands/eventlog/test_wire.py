"""Bytes and events: what an older or newer version wrote, and files that are not ours."""

import random
import sqlite3
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.eventlog import EventLog
from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.sqlite.layout import APPLICATION_ID, LAYOUT
from commands.eventlog.wire import EventMapper, Row
from domain.actors import SYSTEM, Actor
from domain.errors import (
    LogosphereError,
    NewerSchema,
    NoStore,
    NotAStore,
    StoreExists,
    StoreIsDamaged,
    StoreOfAnotherLayout,
    UnknownKind,
)
from domain.events import (
    EVENTS,
    Caused,
    ConfigChanged,
    DraftSeen,
    Event,
    ExchangesPruned,
    MessageSent,
    MindInvoked,
    SessionForked,
    ThoughtAdded,
)
from domain.ids import CommandId, ExchangeId
from domain.recorded import BEGINNING, Draw, Recorded
from tests.commands.eventlog.stores import ANN, MAIN, NOON, begin, branch, grow, raw, started

EXCHANGE = ExchangeId("exc_1_000")


def rows_of(*events: Caused) -> list[Row]:
    """What would be stored, as rows of the table."""
    stored, _ = EventMapper().sealed(
        BEGINNING, MAIN, Draw(list(events), NOON, ANN, CommandId(bytes(16)))
    )
    return [
        (s.originator_id, s.originator_version, n, s.topic, s.state)
        for n, s in enumerate(stored, 1)
    ]


def there_and_back(event: Event) -> Event:
    """An event after a visit to its bytes."""
    (row,) = rows_of(Caused(event))
    return EventMapper().recorded(row).event


any_text = st.text(st.characters())


@settings(deadline=None)
@given(any_text | st.just("\ud800 lone \udfff"), st.none() | st.binary(max_size=64))
def test_any_text_and_bytes(text: str, embedding: bytes | None) -> None:
    """Lone surrogates, NULs, astral characters and raw bytes come back as they were."""
    event = ThoughtAdded(text=text, iteration=1, mind="local", embedding=embedding)
    assert there_and_back(event) == event


@pytest.mark.parametrize(
    "event",
    [
        DraftSeen(exchange=EXCHANGE, indexes=()),
        ExchangesPruned(exchanges=()),
        ExchangesPruned(exchanges=(EXCHANGE, EXCHANGE)),
        ConfigChanged(key="budget_usd", old=None, new=0.1),
        ConfigChanged(key="budget_usd", old=2**40, new=None),
        ConfigChanged(key="x", old=float("inf"), new=-0.0),
        MessageSent(exchange=EXCHANGE, text="", iteration=2**60),
        SessionForked(
            parent="a/b", at_version=2**40, parent_hash=bytes(range(32)), reason="\udc80"
        ),
        MindInvoked(
            iteration=1,
            based_on=2,
            model="local",
            protocol="1.4",
            dialect="full",
            system_hash=b"\xff" * 32,
            prompt_hash=b"",
            sampled=(),
            seed=2**32 - 1,
            user_time="",
            outcome="ok",
            raw=b"\x00\xff",
            repairs=("a", ""),
            cost_usd=1e-9,
        ),
        started("\x00\x1b[31m\u202e"),
    ],
    ids=lambda event: event.kind,
)
def test_fields_of_every_type(event: Event) -> None:
    """Empty tuples, None, bytes, numbers of any size: all come back, and of the same type."""
    found = there_and_back(event)
    assert found == event
    for name, value in event:
        assert type(getattr(found, name)) is type(value), name


def test_the_layout_that_is_documented() -> None:
    """32 bytes of hash and a msgpack map: any language can read it without us."""
    rows = rows_of(
        Caused(started()),
        Caused(ThoughtAdded(text="ö", iteration=1, mind="local"), cause=1, by=SYSTEM),
    )
    envelopes = [msgpack.unpackb(row[4][HASH_LENGTH:]) for row in rows]
    assert envelopes[0].keys() == {"schema", "at", "actor", "command", "data"}
    assert envelopes[1] == {
        "schema": 1,
        "at": NOON,
        "actor": "system:logosphere",
        "command": bytes(16),
        "cause": 1,
        "data": {"text": "ö", "iteration": 1, "mind": "local", "origin": "mind"},
    }
    assert [row[3] for row in rows] == ["session.started", "thought.added"]
    assert not any(b"domain" in row[4] for row in rows), "no path of ours is stored"


def test_an_unknown_kind_is_named(log: EventLog, tmp_path: Path) -> None:
    """An event of a kind from the future stops the reader, and names what can read it."""
    begin(log, events=3)
    with raw(tmp_path) as connection:
        connection.execute(
            "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
            " SELECT 'main', 4, 'dream.dreamt', state FROM stored_events WHERE rowid=3"
        )
    sentence = "Event 4 of session 'main' is of the unknown kind 'dream.dreamt': a newer Logosphere"
    for ask in (
        lambda: list(log.read(MAIN)),
        lambda: list(log.feed()),
        lambda: log.state(MAIN),
        lambda: log.newest(MAIN, None),
        lambda: log.pick(MAIN, [4]),
    ):
        with pytest.raises(UnknownKind, match=sentence):
            ask()
    assert log.state(MAIN, 3).version == 3, "what is known stays readable"
    assert [f.version for v in log.verify() for f in v.findings] == [4]


def test_a_newer_schema_is_named() -> None:
    """A known kind in a form from the future is refused with both numbers."""
    stream, version, position, kind, state = rows_of(Caused(started()))[0]
    envelope = msgpack.unpackb(state[HASH_LENGTH:]) | {"schema": 3}
    row = (stream, version, position, kind, state[:HASH_LENGTH] + msgpack.packb(envelope))
    with pytest.raises(NewerSchema, match=r"schema 3, this version reads up to 1"):
        EventMapper().recorded(row)


class Renamed(Event):
    """A message whose text has become its words, since schema 3."""

    schema_version: ClassVar[int] = 3
    kind: Literal["message.sent"] = "message.sent"
    exchange: str
    words: tuple[str, ...]


def test_old_schemas_go_up_step_by_step() -> None:
    """Each upcaster makes one step, and the reader sees only today's form."""
    steps: dict[tuple[str, int], Any] = {
        ("message.sent", 1): lambda d: {"exchange": d["exchange"], "said": d["text"]},
        ("message.sent", 2): lambda d: {
            "exchange": d["exchange"],
            "words": tuple(d["said"].split()),
        },
    }
    mapper = EventMapper({**EVENTS, "message.sent": Renamed}, steps)
    (row,) = rows_of(Caused(MessageSent(exchange=EXCHANGE, text="why two tides", iteration=1)))
    assert mapper.recorded(row).event == Renamed(exchange=EXCHANGE, words=("why", "two", "tides"))
    missing = EventMapper({**EVENTS, "message.sent": Renamed}, {})
    with pytest.raises(StoreIsDamaged, match="Event 1 of session 'main'"):
        missing.recorded(row)


def test_any_flipped_bit_is_read_or_refused() -> None:
    """No damage to a payload gets out as anything but an event or one of our sentences."""
    (row,) = rows_of(Caused(MessageSent(exchange=EXCHANGE, text="why?", iteration=1), cause=3))
    stream, version, position, kind, state = row
    for bit in range(HASH_LENGTH * 8, len(state) * 8):
        torn = bytearray(state)
        torn[bit // 8] ^= 1 << bit % 8
        try:
            found = EventMapper().recorded((stream, version, position, kind, bytes(torn)))
        except LogosphereError:
            continue
        assert _sound(found), bit


@pytest.mark.parametrize("seed", range(10))
def test_any_garbage_is_read_or_refused(seed: int) -> None:
    """The same for bytes that were cut, replaced or made up."""
    chance = random.Random(seed)  # noqa: S311 — repeatable
    (row,) = rows_of(Caused(MessageSent(exchange=EXCHANGE, text="why?", iteration=1), cause=3))
    stream, version, position, kind, state = row
    for _ in range(400):
        torn = bytearray(state[HASH_LENGTH:])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(torn))
            torn[at : at + chance.randint(0, 6)] = chance.randbytes(chance.randint(0, 6))
        try:
            found = EventMapper().recorded((stream, version, position, kind, bytes(32) + torn))
        except LogosphereError:
            continue
        assert _sound(found), bytes(torn)


@pytest.mark.parametrize(
    "change",
    [
        {"at": "noon"},
        {"at": 1.5},
        {"at": None},
        {"actor": 7},
        {"actor": ["user", "ann"]},
        {"actor": None},
        {"command": 7},
        {"command": None},
        {"cause": "one"},
        {"schema": "1"},
        {"schema": -1},
        {"data": None},
        {"data": [1, 2]},
    ],
    ids=str,
)
def test_an_envelope_of_other_types_is_damage(change: dict[str, Any]) -> None:
    """An envelope whose fields are of other types is refused where it is read, not later."""
    stream, version, position, kind, state = rows_of(Caused(started()))[0]
    envelope = msgpack.unpackb(state[HASH_LENGTH:]) | change
    row = (stream, version, position, kind, state[:HASH_LENGTH] + msgpack.packb(envelope))
    with pytest.raises(StoreIsDamaged, match="Event 1 of session 'main'"):
        EventMapper().recorded(row)


def _sound(found: Recorded) -> bool:
    return (
        isinstance(found.at, int)
        and isinstance(found.actor, Actor)
        and isinstance(found.command, bytes)
        and isinstance(found.cause, int | None)
        and isinstance(found.event, Event)
    )


# files


def test_no_store(tmp_path: Path) -> None:
    """Where there is nothing, that is said, and nothing is made."""
    with pytest.raises(NoStore):
        EventLog(tmp_path / "nowhere")
    with pytest.raises(NoStore):
        EventLog(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_store_a_directory(log: EventLog, tmp_path: Path) -> None:
    """A store is never made over another one."""
    begin(log, events=3)
    with pytest.raises(StoreExists):
        EventLog.create(tmp_path)
    assert log.position() == 3


def test_a_store_from_the_future(log: EventLog, tmp_path: Path) -> None:
    """A layout that is newer than ours is refused with both numbers."""
    with raw(tmp_path) as connection:
        connection.execute(f"PRAGMA user_version={LAYOUT + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    both = f"layout {LAYOUT + 1}, this version reads .*{LAYOUT}"
    with pytest.raises(StoreOfAnotherLayout, match=both):
        EventLog(tmp_path)


@pytest.mark.parametrize("what", ["empty", "short", "text", "other", "marked", "zeros"])
def test_a_file_that_is_no_store(tmp_path: Path, what: str) -> None:
    """Other files are recognised, refused in a sentence, and left exactly as they were."""
    file = tmp_path / "log.db"
    match what:
        case "empty":
            file.touch()
        case "short":
            file.write_bytes(b"SQLite format 3\0")
        case "text":
            file.write_text("Dear diary, " * 200)
        case "zeros":
            file.write_bytes(bytes(8192))
        case _:
            with raw(tmp_path) as connection:
                connection.execute("CREATE TABLE stored_events (id, version, payload)")
                if what == "marked":
                    connection.execute(f"PRAGMA application_id={APPLICATION_ID ^ 1}")
    before = file.read_bytes()
    with pytest.raises(NotAStore, match="nothing was read or changed"):
        EventLog(tmp_path)
    assert file.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["log.db"]


def test_our_mark_on_a_stranger(tmp_path: Path) -> None:
    """A database that says it is ours, but has no events, ends in a sentence of ours."""
    with raw(tmp_path) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={LAYOUT}")
    with pytest.raises(LogosphereError), EventLog(tmp_path) as log:
        log.sessions()


def test_odd_directories(tmp_path: Path) -> None:
    """Spaces, question marks, percent signs, umlauts and hashes in paths are only names."""
    for name in ("a b", "what?", "100%25", "ö#1&mode=ro", "it's"):
        directory = tmp_path / name
        directory.mkdir()
        with EventLog.create(directory) as log:
            begin(log, events=2)
            branch(log, MAIN, 2, "b")
            grow(log, MAIN, 300)
            log.state(MAIN)
        with EventLog(directory, writable=False) as log:
            assert log.sessions() == [MAIN, "b"]
        assert {f.name for f in directory.iterdir()} <= {"log.db", "snapshots.db"}


def test_all_writes_are_durable(log: EventLog) -> None:
    """Each connection that writes the log waits for the disk, and the log is a WAL."""
    with log._recorder.reading() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert sqlite3.sqlite_version_info >= (3, 40)
