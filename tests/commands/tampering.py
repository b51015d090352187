"""What an attacker, a bad disk or a bad script does to a store, and what proof has to name then."""

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from commands.eventlog import EventLog, Finding
from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.wire import EventMapper, original
from commands.heads import Kept, compared
from domain.errors import NothingChanges
from domain.events import EVENTS
from domain.ids import SessionId
from tests.commands.eventlog.stores import unguarded

T = TypeVar("T")


class Stored(NamedTuple):
    """A row as it lies in the table."""

    rowid: int
    stream: SessionId
    version: int
    kind: str
    state: bytes


class Choice(NamedTuple):
    """Where to tamper, as parts of all there is, from 0 to 1."""

    row: float
    other: float
    bit: float


Damage = Callable[[sqlite3.Connection, list[Stored], Choice], set[tuple[SessionId, int]]]
"""Does it, and says which events of which sessions have to be named; none if there was no way."""


def _one(things: list[T], part: float) -> T:
    return things[min(int(part * len(things)), len(things) - 1)]


def _heads(rows: list[Stored]) -> dict[SessionId, int]:
    heads: dict[SessionId, int] = {}
    for row in rows:
        heads[row.stream] = max(row.version, heads.get(row.stream, 0))
    return heads


def _at(row: Stored) -> tuple[SessionId, int]:
    return row.stream, row.version


def flip_a_bit(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """In a hash or in a payload."""
    if not rows:
        return set()
    row = _one(rows, choice.row)
    state = bytearray(row.state)
    bit = min(int(choice.bit * len(state) * 8), len(state) * 8 - 1)
    state[bit // 8] ^= 1 << bit % 8
    connection.execute(_STATE, (bytes(state), row.rowid))
    return {_at(row)}


def change_a_kind(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """An event is called something else."""
    row = _one(rows, choice.row)
    kind = _one([kind for kind in EVENTS if kind != row.kind], choice.other)
    connection.execute("UPDATE stored_events SET topic=? WHERE rowid=?", (kind, row.rowid))
    return {_at(row)}


def delete_a_row(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """From the middle or the beginning of a stream; of the end, see :func:`cut_a_tail`."""
    heads = _heads(rows)
    inner = [row for row in rows if row.version < heads[row.stream]]
    if not inner:
        return set()
    row = _one(inner, choice.row)
    connection.execute("DELETE FROM stored_events WHERE rowid=?", (row.rowid,))
    return {_at(row)}


def renumber_a_row(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """An event is said to be a much later one of its session, or one before the first."""
    heads, row = _heads(rows), _one(rows, choice.row)
    later = heads[row.stream] + 1 + int(choice.other * 4)
    version = -later if choice.bit < 0.3 else later
    connection.execute(
        "UPDATE stored_events SET originator_version=? WHERE rowid=?", (version, row.rowid)
    )
    # behind the newest there is nothing from which a hole could be seen, but it is counted
    return {(row.stream, 0 if version < 0 and row.version == heads[row.stream] else row.version)}


def swap_payloads(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """Two events of any sessions get each other's content, under hashes that stay."""
    row = _one(rows, choice.row)
    others = [r for r in rows if r.state[HASH_LENGTH:] != row.state[HASH_LENGTH:]]
    if not others:
        return set()
    other = _one(others, choice.other)
    for one, two in ((row, other), (other, row)):
        state = one.state[:HASH_LENGTH] + two.state[HASH_LENGTH:]
        connection.execute(_STATE, (state, one.rowid))
    return {_at(row), _at(other)}


def swap_rows(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """Two events of any sessions change places, hashes and kinds and all.

    Not two of the same version where both sessions were born with one name: if they share what is
    before, nothing would be wrong but what these are called here.
    """
    names = dict(connection.execute("SELECT stream, name FROM aliases"))
    row = _one(rows, choice.row)
    place = (names.get(row.stream, row.stream), row.version)
    others = [r for r in rows if (names.get(r.stream, r.stream), r.version) != place]
    if not others:
        return set()
    other = _one(others, choice.other)
    for one, two in ((row, other), (other, row)):
        connection.execute(
            "UPDATE stored_events SET topic=?, state=? WHERE rowid=?",
            (two.kind, two.state, one.rowid),
        )
    return {_at(row), _at(other)}


def give_away_a_row(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """An event is said to be the newest of another session."""
    heads, row = _heads(rows), _one(rows, choice.row)
    others = [stream for stream in heads if stream != row.stream]
    if not others:
        return set()
    to = _one(others, choice.other)
    connection.execute(
        "UPDATE stored_events SET originator_id=?, originator_version=? WHERE rowid=?",
        (to, heads[to] + 1, row.rowid),
    )
    there = {(to, heads[to] + 1)}
    return there if row.version == heads[row.stream] else {_at(row), *there}


def flip_a_bit_of_a_stub(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """In what is left of a redacted event: the chain seals what was there, not this."""
    return flip_a_bit(connection, [row for row in rows if _is_stub(row)], choice)


def empty_a_row(
    connection: sqlite3.Connection, rows: list[Stored], choice: Choice
) -> set[tuple[SessionId, int]]:
    """An event is emptied as a redaction would, but nobody says so."""
    full = [row for row in rows if not _is_stub(row)]
    mapper, row = EventMapper(), _one(full, choice.row)
    with suppress(NothingChanges):
        stub, _ = mapper.stub((row.stream, row.version, row.rowid, row.kind, row.state))
        connection.execute(_STATE, (row.state[:HASH_LENGTH] + stub, row.rowid))
        return {_at(row)}
    return set()


def _is_stub(row: Stored) -> bool:
    return original(row.state[HASH_LENGTH:]) is not None


_STATE = "UPDATE stored_events SET state=? WHERE rowid=?"
DAMAGES: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        flip_a_bit,
        flip_a_bit_of_a_stub,
        empty_a_row,
        change_a_kind,
        delete_a_row,
        renumber_a_row,
        swap_payloads,
        swap_rows,
        give_away_a_row,
    )
}


def _copied(store: Path, to: Path) -> Path:
    """A copy of a store that nobody writes to just now."""
    to.mkdir()
    for file in store.glob("log.db*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, to)
    return to


def _stored(connection: sqlite3.Connection) -> list[Stored]:
    """All rows, in the order of the store."""
    rows = connection.execute(
        "SELECT rowid, originator_id, originator_version, topic, state FROM stored_events"
        " ORDER BY rowid"
    )
    return [Stored(*row) for row in rows]


def _covers(finding: Finding, session: SessionId, version: int) -> bool:
    """Whether a finding is about an event: by its number, or as one in a hole."""
    if finding.session != session:
        return False
    hole = re.match(r"event (\d+) to (\d+) is missing", finding.sentence)
    first, last = map(int, hole.groups()) if hole else (finding.version, finding.version)
    return first <= version <= last


def check_found(
    store: Path,
    how: str,
    choice: Choice,
    *,
    family: Callable[[Iterable[SessionId]], set[SessionId]],
) -> set[SessionId]:
    """Tamper with a copy of a store, and check that proof names what was touched.

    Args:
        store: its directory.
        how: one of :data:`DAMAGES`.
        choice: where.
        family: sessions with all that branched off them: nobody else may be suspected.

    Returns:
        The sessions that were touched; none if there was no way.
    """
    with tempfile.TemporaryDirectory() as directory:
        copy = _copied(store, Path(directory) / "copy")
        with unguarded(copy) as connection:
            wanted = DAMAGES[how](connection, _stored(connection), choice)
        with EventLog(copy) as log:
            findings = [f for verdict in log.verify() for f in verdict.findings]
    for session, version in wanted:
        named = any(_covers(finding, session, version) for finding in findings)
        assert named, (how, session, version, findings)
    touched = {session for session, _ in wanted}
    # what was given away may have been what others branched off, and is missed by them alone
    suspects = {finding.session for finding in findings}
    assert how == "give_away_a_row" or suspects <= family(touched), (how, wanted, findings)
    return touched


def check_missed(store: Path, choice: Choice) -> None:
    """Take the end of a session away, and check that a head that was kept before tells.

    Of itself that leaves no trace: what is left hangs together.
    """
    with tempfile.TemporaryDirectory() as directory:
        copy = _copied(store, Path(directory) / "copy")
        with unguarded(copy) as connection:
            row = _one(_stored(connection), choice.row)
            with EventLog(copy) as log:
                kept = Kept(row.stream, *log.head(row.stream))
            connection.execute(
                "DELETE FROM stored_events WHERE originator_id=? AND originator_version>=?",
                (row.stream, row.version),
            )
        with EventLog(copy) as log:
            (found,) = compared(log, [kept])
    assert found.standing != "as written", row
