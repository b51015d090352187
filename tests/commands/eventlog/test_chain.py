"""The chain: the formula as it is documented, computed here a second time."""

import struct
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.eventlog import EventLog
from commands.eventlog.chain import link
from tests.commands.eventlog.stores import MAIN, begin, branch, grow, raw


def documented(previous: bytes, version: int, stream: str, kind: str, payload: bytes) -> bytes:
    """What the docstring of ``chain`` says, in other words than its code."""
    name, what = stream.encode("utf-8"), kind.encode("utf-8")
    seal = sha256()
    seal.update(previous)
    seal.update(struct.pack(">Q", version))
    seal.update(struct.pack(">H", len(name)) + name)
    seal.update(struct.pack(">H", len(what)) + what)
    seal.update(sha256(payload).digest())
    return seal.digest()


def stored(directory: Path, stream: str) -> list[tuple[int, str, bytes, bytes]]:
    """Version, kind, hash and payload of a stream's own rows, read without our code."""
    with raw(directory) as connection:
        rows = connection.execute(
            "SELECT originator_version, topic, state FROM stored_events"
            " WHERE originator_id=? ORDER BY originator_version",
            (stream,),
        ).fetchall()
    return [(version, kind, state[:32], state[32:]) for version, kind, state in rows]


def test_a_known_vector() -> None:
    """The hash of one fixed event is the same for ever, on every machine."""
    found = link(bytes(32), 1, "main", "session.started", sha256(b"\x80").digest())
    assert found.hex() == "32859d4c64cb7e9a75ac267e64abceafa58248a3958f95eb9c82fac0ee645b5a"


@settings(deadline=None)
@given(
    st.binary(min_size=32, max_size=32),
    st.integers(1, 2**62),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.binary(max_size=300),
)
def test_the_formula(previous: bytes, version: int, stream: str, kind: str, payload: bytes) -> None:
    """Code and documentation agree on every event."""
    expected = documented(previous, version, stream, kind, payload)
    digest = sha256(payload).digest()
    assert link(previous, version, stream, kind, digest) == expected


def test_names_can_not_flow_into_each_other() -> None:
    """The lengths are sealed too: ``ab`` + ``c`` is not ``a`` + ``bc``."""
    assert link(bytes(32), 1, "ab", "c", b"") != link(bytes(32), 1, "a", "bc", b"")


def test_each_stored_event_seals_the_one_before(log: EventLog, tmp_path: Path) -> None:
    """What lies in the file is the documented chain, across appends of one and of many."""
    begin(log, events=4)
    for size in (1, 3, 1):
        grow(log, MAIN, size)
    previous = bytes(32)
    rows = stored(tmp_path, MAIN)
    assert [row[0] for row in rows] == list(range(1, 10))
    for version, kind, hash_, payload in rows:
        previous = documented(previous, version, MAIN, kind, payload)
        assert hash_ == previous
    assert log.head(MAIN) == (9, previous)


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_fork_chains_on_its_parent(log: EventLog, tmp_path: Path, at: int) -> None:
    """A fork's first event seals the parent's history up to the fork point."""
    begin(log, events=5)
    branch(log, MAIN, at, "what-if")
    grow(log, "what-if", 2)
    parent = stored(tmp_path, MAIN)[at - 1][2]
    rows = stored(tmp_path, "what-if")
    assert [row[0] for row in rows] == [at + 1, at + 2, at + 3]
    for version, kind, hash_, payload in rows:
        parent = documented(parent, version, "what-if", kind, payload)
        assert hash_ == parent
