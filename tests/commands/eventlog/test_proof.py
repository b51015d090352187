"""Proof of what is new, and of what was taken away: nothing forged passes for a redaction."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgpack
import pytest

from commands.eventlog import EventLog
from commands.eventlog.proof import PROVED_FILE, Proof
from commands.eventlog.sqlite.recorder import SqliteRecorder
from commands.eventlog.verify import PAGE, verify_streams
from commands.eventlog.wire import EventMapper, Row
from domain.errors import StoreIsDamaged
from domain.events import EventRedacted
from domain.ids import SessionId
from tests.commands.eventlog.stores import (
    MAIN,
    begin,
    branch,
    draw,
    grow,
    unguarded,
)

FORK = SessionId("fork")
Found = list[tuple[str, int, str]]


def found(store: Path, *, new: bool = False) -> Found:
    """What a proof finds: session, version, sentence."""
    with EventLog(store) as log:
        return [tuple(f) for verdict in log.verify(new=new) for f in verdict.findings]  # type: ignore[misc]


def counted(store: Path) -> int:
    """How many events a proof of what is new looks at, when it finds nothing."""
    with EventLog(store) as log:
        verdicts = list(log.verify(new=True))
    assert [f for verdict in verdicts for f in verdict.findings] == []
    return sum(verdict.events for verdict in verdicts)


def remembered(store: Path) -> int:
    """The position up to which everything is known to be proved; 0 without."""
    file = store / PROVED_FILE
    return int(json.loads(file.read_text("utf-8"))["position"]) if file.exists() else 0


def state_at(store: Path, session: str, version: int) -> bytes:
    """What a row holds."""
    with closing(sqlite3.connect(store / "log.db")) as connection:
        where = "originator_id=? AND originator_version=?"
        statement = f"SELECT state FROM stored_events WHERE {where}"  # noqa: S608
        (state,) = connection.execute(statement, (session, version)).fetchone()
        return bytes(state)


def put(store: Path, session: str, version: int, state: bytes) -> None:
    """Let a row hold something else."""
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE stored_events SET state=? WHERE originator_id=? AND originator_version=?",
            (state, session, version),
        )


def changed(state: bytes, **fields: object) -> bytes:
    """The same row with other fields in its envelope; those that are None are left out."""
    envelope = msgpack.unpackb(state[32:], unicode_errors="surrogatepass") | fields
    kept = {key: value for key, value in envelope.items() if value is not None}
    return state[:32] + bytes(msgpack.packb(kept))


def emptied(state: bytes) -> bytes:
    """What a redaction would leave, made by somebody who records none."""
    data = {"text": "[redacted]", "iteration": 1, "mind": "user:ann", "origin": "injected"}
    return changed(state, data=data, digest=sha256(state[32:]).digest())


def redact(store: Path, *versions: int, session: str = MAIN) -> None:
    """Take the content of events away as one should."""
    with EventLog(store) as log:
        log.redact({SessionId(session): versions}, "private", draw(wish=(1 << 70) + versions[0]))


def more(store: Path, session: str, events: int, tag: str = "new") -> None:
    """So many more thoughts."""
    with EventLog(store) as log:
        grow(log, session, events, tag=tag)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """``main`` of 12 events and ``fork`` on its 6th, of 4, all of it proved; nobody has it open."""
    with EventLog.create(tmp_path) as log:
        begin(log, events=12)
        branch(log, MAIN, 6, FORK)
        grow(log, FORK, 3)
        assert [f for verdict in log.verify() for f in verdict.findings] == []
    assert remembered(tmp_path) == 16
    return tmp_path


# forged redactions

EMPTIED, RESTORED = "was emptied, and no redaction says so", "and holds something again"
CHANGED = "is not what was written"


@pytest.mark.parametrize("session", [MAIN, FORK])
def test_an_event_that_was_emptied_in_secret(store: Path, session: str) -> None:
    """A stub with the right digest keeps the chain, and is named: nobody recorded a redaction."""
    put(store, session, 9, emptied(state_at(store, session, 9)))
    assert found(store) == [(session, 9, f"event 9 {EMPTIED}")]


def test_a_redaction_of_another_event_is_no_excuse(store: Path) -> None:
    """The word of a redaction is about one event of one session."""
    redact(store, 8)
    redact(store, 9, session=FORK)
    put(store, MAIN, 9, emptied(state_at(store, MAIN, 9)))
    assert found(store) == [(MAIN, 9, f"event 9 {EMPTIED}")]


@pytest.mark.parametrize(
    "change",
    [
        {"actor": "user:eve"},
        {"at": 1},
        {"cause": 3},
        {"command": bytes(15) + b"x"},
        {"data": {"text": "[forged]", "iteration": 1, "mind": "user:ann", "origin": "injected"}},
        {"data": {"text": "[redacted]", "iteration": 2, "mind": "user:ann", "origin": "injected"}},
        {"more": "than was there"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_stub_with_other_fields(store: Path, change: dict[str, object]) -> None:
    """What is left of an event is sealed by the word of its redaction, to the last byte."""
    redact(store, 9)
    assert found(store) == []
    put(store, MAIN, 9, changed(state_at(store, MAIN, 9), **change))
    assert found(store) == [(MAIN, 9, f"event 9 {EMPTIED}")]


@pytest.mark.parametrize("digest", [None, bytes(32), b"short", "text"])
def test_a_stub_with_another_digest(store: Path, digest: object) -> None:
    """Without the digest of what was there, the chain itself is broken."""
    redact(store, 9)
    put(store, MAIN, 9, changed(state_at(store, MAIN, 9), digest=digest))
    whole = found(store)
    assert (MAIN, 9, f"event 9 (thought.added) {CHANGED}, or not where") in whole
    assert {finding[:2] for finding in whole} == {(MAIN, 9)}


def test_a_payload_that_was_restored(store: Path) -> None:
    """Who kept a copy of it can't put it back: it would keep the chain, and it is named."""
    before = state_at(store, MAIN, 9)
    redact(store, 9)
    put(store, MAIN, 9, before)
    assert found(store) == [(MAIN, 9, f"event 9 was redacted, {RESTORED}")]


def test_a_word_that_was_taken_back(store: Path) -> None:
    """Without its ``event.redacted``, a stub is an event that somebody emptied."""
    redact(store, 9)
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE topic='event.redacted'")
    assert found(store) == [(MAIN, 9, f"event 9 {EMPTIED}")]


def test_a_word_that_was_changed(store: Path) -> None:
    """The word is sealed by the chain as any event is; what it vouched for is named as well."""
    redact(store, 9)
    word = state_at(store, MAIN, 13)
    data = msgpack.unpackb(word[32:])["data"]
    put(store, MAIN, 13, changed(word, data=data | {"version": 8}))
    names = {(version, sentence) for _, version, sentence in found(store)}
    assert (13, f"event 13 (event.redacted) {CHANGED}, or not where") in names
    assert (9, f"event 9 {EMPTIED}") in names
    assert (8, f"event 8 was redacted, {RESTORED}") in names


def test_a_word_about_an_event_that_never_was_redacted(store: Path) -> None:
    """An ``event.redacted`` that somebody appended, seal and all, does not pass for one."""
    with EventLog(store) as log:
        said = EventRedacted(
            version=9, what="thought.added", digest=bytes(32), stub=bytes(32), reason="x"
        )
        log.append(MAIN, 12, draw(said, wish=1 << 60))
    assert found(store) == [(MAIN, 9, f"event 9 was redacted, {RESTORED}")]


def test_what_is_redacted_can_not_be_deleted_unseen(store: Path) -> None:
    """The place of a redacted event is still proved."""
    redact(store, 9)
    with unguarded(store) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id='main' AND originator_version=9"
        )
    assert (MAIN, 9, "event 9 is missing") in found(store)


# the same, in what is new


def test_new_events_that_were_redacted_are_proved(store: Path) -> None:
    """Redactions of old events and of new ones, and of a redaction: all is as written."""
    more(store, MAIN, 5)
    redact(store, 3, 14)
    redact(store, 18)
    redact(store, 8, session=FORK)
    assert counted(store) == 5 + 2 + 1 + 1
    assert found(store) == []


@pytest.mark.parametrize("version", [3, 14])
def test_a_restored_payload_in_a_proof_of_what_is_new(store: Path, version: int) -> None:
    """The word of the redaction is new, so what it is about is looked at, however old."""
    more(store, MAIN, 5)
    before = state_at(store, MAIN, version)
    redact(store, version)
    put(store, MAIN, version, before)
    expected = [(MAIN, version, f"event {version} was redacted, {RESTORED}")]
    assert found(store, new=True) == expected
    assert found(store) == expected


def test_a_forged_stub_in_a_proof_of_what_is_new(store: Path) -> None:
    """A new event that was emptied in secret is named, and so is an old one with another stub."""
    more(store, MAIN, 5)
    redact(store, 3)
    put(store, MAIN, 15, emptied(state_at(store, MAIN, 15)))
    put(store, MAIN, 3, changed(state_at(store, MAIN, 3), actor="user:eve"))
    assert {f[:2] for f in found(store, new=True)} == {(MAIN, 3), (MAIN, 15)}


# what is new


def test_only_what_is_new_is_counted(store: Path) -> None:
    """After a whole proof nothing is new; then what came, once, in whatever sessions."""
    assert counted(store) == 0
    more(store, MAIN, 3)
    with EventLog(store) as log:
        branch(log, FORK, 8, "fork/leaf")
        begin(log, "another", events=4)
    assert counted(store) == 8
    assert counted(store) == 0
    more(store, "fork/leaf", 600)
    assert counted(store) == 600
    assert remembered(store) == 16 + 8 + 600


def test_the_first_time_everything_is_new(store: Path) -> None:
    """Without a whole proof before, it is one."""
    (store / PROVED_FILE).unlink()
    assert counted(store) == 16
    assert counted(store) == 0


def test_named_sessions_prove_nothing_about_the_others(store: Path) -> None:
    """A proof of some sessions is not remembered as one of all."""
    more(store, MAIN, 3)
    with EventLog(store) as log:
        assert sum(v.events for v in log.verify([MAIN])) == 15
    assert remembered(store) == 16
    assert counted(store) == 3


class Counting(SqliteRecorder):
    """Counts the rows that are read."""

    read = 0

    @staticmethod
    def _counted(rows: list[Row]) -> list[Row]:
        Counting.read += len(rows)
        return rows

    @staticmethod
    def rows(*args: object, **more: object) -> list[Row]:  # type: ignore[override]
        """As ever."""
        return Counting._counted(SqliteRecorder.rows(*args, **more))  # type: ignore[arg-type]

    @staticmethod
    def rows_by_position(*args: object) -> list[Row]:  # type: ignore[override]
        """As ever."""
        return Counting._counted(SqliteRecorder.rows_by_position(*args))  # type: ignore[arg-type]

    @staticmethod
    def birth(*args: object) -> tuple[Row, str, str | None] | None:  # type: ignore[override]
        """As ever."""
        Counting.read += 1
        return SqliteRecorder.birth(*args)  # type: ignore[arg-type]


@pytest.mark.parametrize("old", [50, 2_000])
def test_the_work_grows_with_what_is_new_alone(tmp_path: Path, old: int) -> None:
    """Rows that are read: a few for each session that grew, however long it was before."""
    with EventLog.create(tmp_path) as log:
        begin(log, events=old)
        branch(log, MAIN, old // 2, FORK)
        grow(log, FORK, old)
        begin(log, "still", events=old)
        assert not [f for verdict in log.verify() for f in verdict.findings]
        grow(log, MAIN, 20)
        grow(log, FORK, 10)
        branch(log, FORK, old, "fork/leaf")
        log.redact({MAIN: [3, 4], FORK: [old]}, "x", draw(wish=1 << 70))
        names = log.sessions()
        Counting.read = 0
        recorder = Counting(tmp_path / "log.db")
        with closing(recorder):
            proof = Proof(recorder, EventMapper(), log._lineage.birth, tmp_path)
            verdicts = list(proof.of_new(names))
    assert sum(verdict.events for verdict in verdicts) == 20 + 10 + 1 + 3
    assert [f for verdict in verdicts for f in verdict.findings] == []
    assert Counting.read <= 34 + 20


class Holding(SqliteRecorder):
    """Notes how many rows are held together."""

    most = 0

    def rows_of(self, *args: Any, **more: Any) -> list[list[Row]]:
        """As ever."""
        found = super().rows_of(*args, **more)
        Holding.most = max(Holding.most, sum(map(len, found)))
        return found


def test_no_more_rows_are_held_than_of_a_page(tmp_path: Path) -> None:
    """However many streams there are, and however long one is."""
    with EventLog.create(tmp_path) as log:
        for number in range(40):
            begin(log, f"s{number}", events=2 * PAGE + 1 if number == 7 else 30)
        names = log.sessions()
    with closing(Holding(tmp_path / "log.db")) as recorder:
        verdicts = list(verify_streams(recorder, EventMapper(), names))
    assert [verdict.session for verdict in verdicts] == names
    assert sum(verdict.events for verdict in verdicts) == 39 * 30 + 2 * PAGE + 1
    assert PAGE - 30 < Holding.most <= PAGE


TAMPERED: dict[str, str] = {
    "a payload": "UPDATE stored_events SET state=CAST(state||x'00' AS BLOB) WHERE rowid=20",
    "no text": "UPDATE stored_events SET state=CAST(x'ff00ff' AS TEXT) WHERE rowid=20",
    "a hash": "UPDATE stored_events SET state=CAST(zeroblob(32)||substr(state, 33) AS BLOB)"
    " WHERE rowid=20",
    "a kind": "UPDATE stored_events SET topic='note.added' WHERE rowid=20",
    "a version": "UPDATE stored_events SET originator_version=99 WHERE rowid=20",
    "a session": "UPDATE stored_events SET originator_id='eve' WHERE rowid=20",
    "a deleted event": "DELETE FROM stored_events WHERE rowid=20",
    "events in a row": "DELETE FROM stored_events WHERE rowid IN (19, 20, 21)",
    "the first new one": "DELETE FROM stored_events WHERE rowid=17",
    "no blob": "UPDATE stored_events SET state='text' WHERE rowid=20",
    "no state": "UPDATE stored_events SET state=x'' WHERE rowid=20",
    "another order": "UPDATE stored_events SET rowid=rowid+100 WHERE rowid=20",
}


@pytest.mark.parametrize("how", TAMPERED)
def test_whatever_was_changed_in_what_is_new(store: Path, how: str) -> None:
    """It is found, in the session where it was, and never remembered as proved."""
    more(store, MAIN, 8)
    with unguarded(store) as connection:
        connection.execute(TAMPERED[how])
    names = {session for session, _, _ in found(store, new=True)}
    assert MAIN in names or names == {"eve"}
    assert remembered(store) == 16
    assert found(store) != []
    assert remembered(store) == 16


def test_a_fork_of_nothing_in_what_is_new(store: Path) -> None:
    """A new session that says it branched off an event that is not there, or is another."""
    with EventLog(store) as log:
        branch(log, MAIN, 4, "new")
    at = state_at(store, "new", 5)
    data = msgpack.unpackb(at[32:])["data"]
    put(store, "new", 5, changed(at, data=data | {"parent_hash": bytes(32)}))
    assert {f[:2] for f in found(store, new=True)} == {("new", 5)}


CUT: dict[str, str] = {
    "the newest": "DELETE FROM stored_events WHERE rowid=16",
    "some": "DELETE FROM stored_events WHERE rowid>=12",
    "all": "DELETE FROM stored_events",
    "another hash": "UPDATE stored_events SET state=CAST(zeroblob(32)||substr(state, 33) AS BLOB)"
    " WHERE rowid=16",
    "another position": "UPDATE stored_events SET rowid=17 WHERE rowid=16",
}


@pytest.mark.parametrize("how", CUT)
@pytest.mark.parametrize("later", [0, 5])
def test_what_was_proved_is_no_longer_there(store: Path, how: str, later: int) -> None:
    """A tail that was cut off below the last proof, or written anew there, is noticed."""
    with unguarded(store) as connection:
        connection.execute(CUT[how])
    if later:
        with EventLog(store) as log:
            begin(log, "later", events=later)
    sentences = [sentence for session, _, sentence in found(store, new=True) if not session]
    assert sentences == ["the event at position 16 is not the one that was verified"]
    assert remembered(store) == 16, "what was not found whole is not remembered"


def test_what_is_damaged_is_then_named(store: Path) -> None:
    """Where what was proved is another, everything is proved again, so that it can be named."""
    put(store, MAIN, 3, state_at(store, MAIN, 3)[:-1] + b"?")
    assert found(store, new=True) == [], "what was proved is not looked at every time"
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE rowid=16")
    assert {f[:2] for f in found(store, new=True)} == {("", 0), (MAIN, 3)}


def test_a_whole_proof_is_a_new_beginning(store: Path) -> None:
    """After a cut that was noticed, ``mind verify`` of what is left is what counts from then on."""
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE rowid>=14")
    assert found(store, new=True) != []
    assert found(store) == []
    assert remembered(store) == 13
    assert counted(store) == 0


def whole_again(tag: str) -> Callable[[EventLog], None]:
    """A history of the same lengths, all seals in order."""

    def write(log: EventLog) -> None:
        begin(log, events=12, tag=tag)
        branch(log, MAIN, 6, FORK)
        grow(log, FORK, 3, tag=tag)

    return write


def test_a_history_that_was_rewritten_whole(store: Path, tmp_path: Path) -> None:
    """No hash is wrong in it; only who remembers the last proof can tell."""
    other = tmp_path / "other"
    other.mkdir()
    with EventLog.create(other) as log:
        whole_again("better")(log)
    for name in ("log.db", "log.db-wal", "log.db-shm"):
        (store / name).unlink(missing_ok=True)
    (other / "log.db").rename(store / "log.db")
    assert {f[0] for f in found(store, new=True)} == {""}
    assert found(store) == [], "the chain alone does not know"


# what is remembered

GARBAGE: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"position 16",
    "no text": b"\xff\xfe\x00\xd8",
    "a list": b"[16]",
    "a number": b"16",
    "no hash": b'{"position": 16}',
    "no position": b'{"hash": "%s"}' % (b"00" * 32),
    "a short hash": b'{"position": 16, "hash": "00"}',
    "no hex": b'{"position": 16, "hash": "%s"}' % (b"xy" * 32),
    "a list of hashes": b'{"position": 16, "hash": ["00"]}',
    "a word for a number": b'{"position": "16", "hash": "%s"}' % (b"00" * 32),
    "a fraction": b'{"position": 15.5, "hash": "%s"}' % (b"00" * 32),
    "yes": b'{"position": true, "hash": "%s"}' % (b"00" * 32),
    "below all": b'{"position": -1, "hash": "%s"}' % (b"00" * 32),
    "zero": b'{"position": 0, "hash": "%s"}' % (b"00" * 32),
    "endless": b'{"position": 1e999, "hash": "%s"}' % (b"00" * 32),
    "huge": b'{"position": %s, "hash": "%s"}' % (b"9" * 60, b"00" * 32),
    "very deep": b"[" * 100_000,
}


@pytest.mark.parametrize("what", GARBAGE)
def test_a_note_that_says_nothing(store: Path, what: str) -> None:
    """Where it can't be read, everything is proved, and a new one is written."""
    (store / PROVED_FILE).write_bytes(GARBAGE[what])
    assert counted(store) == 16
    assert remembered(store) == 16


def test_the_note_of_another_store(store: Path, tmp_path: Path) -> None:
    """It does not fit, which is said; everything is proved, and a whole proof replaces it."""
    other = tmp_path / "other"
    other.mkdir()
    with EventLog.create(other) as log:
        whole_again("other")(log)
        list(log.verify())
    (store / PROVED_FILE).write_bytes((other / PROVED_FILE).read_bytes())
    with EventLog(store) as log:
        verdicts = list(log.verify(new=True))
    assert [f.session for v in verdicts for f in v.findings] == [""]
    assert sum(v.events for v in verdicts) == 16
    assert found(store) == []
    assert counted(store) == 0


def test_a_place_that_can_not_be_noted_in(store: Path) -> None:
    """A directory in the place of the note: everything is proved each time, and nothing fails."""
    (store / PROVED_FILE).unlink()
    (store / PROVED_FILE).mkdir()
    assert counted(store) == 16
    assert counted(store) == 16
    assert not list(store.glob(f"{PROVED_FILE}.*"))


def test_who_may_only_read_notes_nothing(store: Path) -> None:
    """A proof of somebody else's store leaves no trace in it, and is always of everything."""
    more(store, MAIN, 2)
    before = {file.name: file.read_bytes() for file in store.iterdir()}
    with EventLog(store, writable=False) as log:
        assert sum(v.events for v in log.verify(new=True)) == 18
    assert {file.name: file.read_bytes() for file in store.iterdir()} == before


def test_a_proof_that_nobody_read_to_the_end(store: Path) -> None:
    """It is not remembered: what it had not come to may be wrong."""
    (store / PROVED_FILE).unlink()
    with EventLog(store) as log:
        next(iter(log.verify()))
    assert remembered(store) == 0


def test_what_begins_during_a_proof_is_not_taken_for_proved(store: Path) -> None:
    """What is remembered is where the store stood before the first session was looked at."""
    with EventLog(store) as log, EventLog(store) as other:
        proof = iter(log.verify())
        next(proof)
        begin(other, "meanwhile", events=3)
        list(proof)
    assert remembered(store) == 16
    assert counted(store) == 3


def test_an_empty_store(tmp_path: Path) -> None:
    """There is nothing to prove and nothing to remember, as often as one likes."""
    with EventLog.create(tmp_path):
        pass
    assert found(tmp_path, new=True) == found(tmp_path) == []
    assert remembered(tmp_path) == 0


def test_a_file_that_can_not_be_read(store: Path) -> None:
    """A damaged file is a sentence, not a crash, and nothing is remembered of it."""
    (store / PROVED_FILE).unlink()
    content = bytearray((store / "log.db").read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    (store / "log.db").write_bytes(content)
    with pytest.raises(StoreIsDamaged):
        found(store, new=True)
    assert remembered(store) == 0
