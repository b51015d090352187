"""What was once stored can be read for ever."""

from pathlib import Path
from typing import Any, Literal

import msgpack
import pytest

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.wire import EventMapper
from domain.errors import NewerSchema, StoreIsDamaged, UnknownKind
from domain.events import EVENTS, Event
from tests.golden.write import CAUSE, DRAW, EXAMPLES, FOLDER, read, stored, write_missing

GOLDEN = sorted(FOLDER.glob("*.msgpack"))


def parts(file: Path) -> tuple[str, int]:
    """The kind and schema in a file's name."""
    kind, _, schema = file.stem.rpartition(".v")
    return kind, int(schema)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_golden_event_is_what_it_was(file: Path) -> None:
    """It reads as its repr says, and is written again to the same bytes."""
    kind, schema = parts(file)
    payload = file.read_bytes()
    recorded = read(kind, payload)
    if schema == EVENTS[kind].schema_version:
        assert f"{recorded.event!r}\n" == file.with_suffix(".repr").read_text("utf-8")
        assert stored(recorded.event) == payload
    else:  # an older schema, through its upcasters
        assert type(recorded.event) is EVENTS[kind]


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_golden_envelope_is_what_it_was(file: Path) -> None:
    """When, who, which wish and why."""
    recorded = read(parts(file)[0], file.read_bytes())
    assert (recorded.at, recorded.command, recorded.cause) == (DRAW.at, DRAW.command, CAUSE)
    assert str(recorded.actor) == "mind:script:a:b"
    assert recorded.when.isoformat() == "2026-05-01T10:30:00.000001+00:00"


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_golden_event_is_plain_msgpack(file: Path) -> None:
    """Readable from any language: a map of names, without anything of Python's."""
    envelope = msgpack.unpackb(file.read_bytes(), strict_map_key=True)
    assert set(envelope) == {"schema", "at", "actor", "command", "cause", "data"}
    assert envelope["schema"] == parts(file)[1]
    assert "kind" not in envelope["data"]
    assert None not in envelope["data"].values()


def test_every_kind_has_a_golden_file() -> None:
    """In its present schema; ``python -m tests.golden.write`` adds it."""
    have = {parts(file) for file in GOLDEN}
    assert {(kind, event.schema_version) for kind, event in EVENTS.items()} <= have
    assert {file.stem for file in FOLDER.glob("*.repr")} == {file.stem for file in GOLDEN}


def test_a_golden_file_is_never_overwritten() -> None:
    """Writing again adds nothing and touches nothing."""
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in GOLDEN}
    assert write_missing() == []
    assert before == {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in GOLDEN}


def test_examples_set_every_field() -> None:
    """Else a golden file would say nothing about it; a few fields exclude each other."""
    unset = {
        f"{event.kind}.{name}"
        for event in EXAMPLES
        for name, value in event
        if value == type(event).model_fields[name].default and name != "kind"
    }
    assert unset == {"config.changed.old", "draft.emitted.late", "draft.emitted.signal"}


def test_what_is_none_is_not_stored() -> None:
    """And comes back as None."""
    event = next(e for e in EXAMPLES if e.kind == "config.changed")
    assert msgpack.unpackb(stored(event))["data"] == {"key": "budget_usd", "new": 2.5}
    assert read("config.changed", stored(event)).event == event


class TideTurned(Event):
    """An event that has changed twice since it was first written."""

    schema_version = 3
    kind: Literal["tide.turned"] = "tide.turned"
    height_cm: int
    harbour: str


OLD = {
    1: {"metres": 2},
    2: {"height_cm": 200},
    3: {"height_cm": 200, "harbour": "unknown"},
}
UPCASTS: dict[Any, Any] = {
    ("tide.turned", 1): lambda old: {"height_cm": old["metres"] * 100},
    ("tide.turned", 2): lambda old: {**old, "harbour": "unknown"},
}
MAPPER = EventMapper({"tide.turned": TideTurned}, UPCASTS)


def row(schema: Any, data: Any, kind: str = "tide.turned") -> Any:
    """A row as some version stored it."""
    envelope = {"schema": schema, "at": 1, "actor": "user:ann", "command": bytes(16), "data": data}
    return ("tides", 7, 9, kind, bytes(HASH_LENGTH) + msgpack.packb(envelope))


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_old_events_are_read_through_a_chain_of_upcasters(schema: int) -> None:
    """From any schema to today's; what is stored stays as it is."""
    recorded = MAPPER.recorded(row(schema, OLD[schema]))
    assert recorded.event == TideTurned(height_cm=200, harbour="unknown")
    assert recorded.version == 7


def test_an_event_from_the_future_is_not_guessed_at() -> None:
    """The sentence names the event, both schemas, and what to do."""
    with pytest.raises(NewerSchema) as error:
        MAPPER.recorded(row(4, OLD[3]))
    assert error.value.sentence == (
        "Event 7 of session 'tides' (tide.turned) has schema 4, this version reads up to 3:"
        " install a newer Logosphere to read it."
    )


def test_an_unknown_kind_is_not_guessed_at() -> None:
    """Nor is it passed over."""
    with pytest.raises(UnknownKind, match=r"Event 7 of session 'tides' is of the unknown kind"):
        MAPPER.recorded(row(1, {}, "moon.fell"))


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (3, {"height_cm": 200}),
        (3, {"height_cm": "high", "harbour": "x"}),
        (3, {"height_cm": 1, "harbour": "x", "extra": 1}),
        (3, None),
        (3, []),
        (1, {}),
        (0, {}),
        (-1, {}),
        ("3x", {}),
        (None, {}),
    ],
)
def test_fields_that_make_no_event_are_damage(schema: Any, data: Any) -> None:
    """Said as such, with the event's version, never as an error of some library."""
    with pytest.raises(StoreIsDamaged, match="Event 7 of session 'tides'"):
        MAPPER.recorded(row(schema, data))


@pytest.mark.parametrize("state", [b"", b"\xc1", b"\x80", b"\x01", b"\x91\x01", b"\x80\x80"])
def test_bytes_that_make_no_envelope_are_damage(state: bytes) -> None:
    """Truncated, empty or of another form."""
    with pytest.raises(StoreIsDamaged):
        MAPPER.recorded(("tides", 7, 9, "tide.turned", bytes(HASH_LENGTH) + state))
