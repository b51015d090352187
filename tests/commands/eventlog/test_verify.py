"""Proof: whatever was changed behind the log's back is found, named, and nothing else is."""

import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.errors import LogosphereError
from domain.ids import SessionId
from tests.commands.eventlog.stores import MAIN, begin, branch, grow, pool, raw, unguarded

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """``main`` of 12 events; ``fork`` on its 6th; ``leaf`` on the fork's 8th; ``own``."""
    with EventLog.create(tmp_path) as log:
        begin(log, events=12)
        branch(log, MAIN, 6, "fork")
        grow(log, "fork", 3)
        branch(log, "fork", 8, "leaf")
        grow(log, "leaf", 2)
        begin(log, "own", events=5)
    return tmp_path


def found(store: Path, *names: str) -> set[tuple[str, int]]:
    """Session and version of all findings."""
    with EventLog(store) as log:
        sessions = [SessionId(name) for name in names] or None
        verdicts = list(log.verify(sessions))
        for verdict in verdicts:
            for finding in verdict.findings:
                about = finding.version or "index by kind"
                assert str(about) in finding.sentence or "branched" in finding.sentence
        return {(f.session, f.version) for v in verdicts for f in v.findings}


def flip(state: bytes, bit: int) -> bytes:
    """The same bytes with one bit turned over."""
    turned = bytearray(state)
    turned[bit // 8] ^= 1 << bit % 8
    return bytes(turned)


def change_state(store: Path, session: str, version: int, how: Callable[[bytes], bytes]) -> None:
    """Replace what a row holds."""
    with unguarded(store) as connection:
        where = (session, version)
        (state,) = connection.execute(
            "SELECT state FROM stored_events WHERE originator_id=? AND originator_version=?", where
        ).fetchone()
        connection.execute(
            "UPDATE stored_events SET state=? WHERE originator_id=? AND originator_version=?",
            (how(state), *where),
        )


def test_all_is_well(store: Path) -> None:
    """An untouched store has nothing to find; each stream's own events are counted once."""
    with EventLog(store) as log:
        verdicts = list(log.verify())
    assert [(v.session, v.events) for v in verdicts] == [
        ("main", 12),
        ("fork", 4),
        ("leaf", 3),
        ("own", 5),
    ]
    assert not [f for v in verdicts for f in v.findings]


def test_a_named_session_brings_its_ancestors(store: Path) -> None:
    """Proving a fork proves all that it inherits, and nothing that it does not."""
    with EventLog(store) as log:
        assert {v.session for v in log.verify([SessionId("leaf")])} == {"main", "fork", "leaf"}
        assert {v.session for v in log.verify([MAIN])} == {"main"}


@pytest.mark.parametrize(
    ("session", "version"), [("main", 1), ("main", 7), ("main", 12), ("fork", 9), ("own", 3)]
)
@pytest.mark.parametrize("byte", [32, 40, -1])
def test_a_flipped_bit_in_a_payload(store: Path, session: str, version: int, byte: int) -> None:
    """One bit of one event is enough, and only that event is named."""
    change_state(store, session, version, lambda s: flip(s, (byte % len(s)) * 8 + 3))
    assert found(store) == {(session, version)}


@pytest.mark.parametrize("version", [1, 5, 12])
def test_a_flipped_bit_in_a_hash(store: Path, version: int) -> None:
    """A changed hash breaks its own event, and the link of the next."""
    change_state(store, "main", version, lambda s: flip(s, 77))
    assert (MAIN, version) in found(store) <= {(MAIN, version), (MAIN, version + 1)}


def test_the_hash_at_a_fork_point(store: Path) -> None:
    """A parent's changed hash is seen from the child as well: it branched off something else."""
    change_state(store, "main", 6, lambda s: flip(s, 77))
    assert {(MAIN, 6), ("fork", 7)} <= found(store)


def test_a_changed_kind(store: Path) -> None:
    """The kind is sealed: an event can't be made another one."""
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE stored_events SET topic='draft.accepted'"
            " WHERE originator_id='main' AND originator_version=4"
        )
    assert found(store) == {("main", 4)}


def test_a_changed_kind_at_a_fork_point(store: Path) -> None:
    """A fork that is made to look like something else is named at its own first event."""
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE stored_events SET topic='thought.added'"
            " WHERE originator_id='fork' AND originator_version=7"
        )
    names = found(store)
    assert ("fork", 7) in names
    assert {session for session, _ in names} <= {"fork", "leaf"}


@pytest.mark.parametrize(
    ("session", "version"), [("main", 1), ("main", 2), ("main", 6), ("main", 11), ("fork", 8)]
)
def test_a_deleted_event(store: Path, session: str, version: int) -> None:
    """A hole is named by the version that is missing."""
    with unguarded(store) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id=? AND originator_version=?",
            (session, version),
        )
    assert (session, version) in found(store)
    assert {name for name, _ in found(store)} <= {"main", "fork", "leaf"}


def test_deleted_events_in_a_row(store: Path) -> None:
    """A longer hole is one finding, at its beginning, that says how far it goes."""
    with unguarded(store) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id='own' AND originator_version IN (2,3)"
        )
    with EventLog(store) as log:
        sentences = [f for v in log.verify([SessionId("own")]) for f in v.findings]
    assert [(f.version, f.sentence) for f in sentences] == [(2, "event 2 to 3 is missing")]


def test_a_beginning_that_is_gone(store: Path) -> None:
    """A fork whose first event was deleted is named there, although nobody knows its parent."""
    with unguarded(store) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id='fork' AND originator_version=7"
        )
    assert {session for session, _ in found(store)} & {"fork"}


def test_a_parent_that_is_gone(store: Path) -> None:
    """A fork whose parent was deleted as a whole is named, when all are proven and alone."""
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE originator_id='main'")
    assert ("fork", 7) in found(store)
    assert ("fork", 7) in found(store, "fork")


def test_a_renumbered_event(store: Path) -> None:
    """An event at another version is both missing there and wrong here."""
    with unguarded(store) as connection:
        connection.execute(
            "UPDATE stored_events SET originator_version=14"
            " WHERE originator_id='main' AND originator_version=12"
        )
        connection.execute(
            "UPDATE stored_events SET originator_version=20"
            " WHERE originator_id='own' AND originator_version=3"
        )
    names = found(store)
    assert ("main", 12) in names
    assert ("own", 3) in names


def test_events_that_changed_places(store: Path) -> None:
    """Two payloads swapped, hashes and all: both are named."""
    with unguarded(store) as connection:
        rows = connection.execute(
            "SELECT rowid, state FROM stored_events"
            " WHERE originator_id='main' AND originator_version IN (4, 9) ORDER BY 1"
        ).fetchall()
        (a, first), (b, second) = rows
        for rowid, state in ((a, second), (b, first)):
            connection.execute("UPDATE stored_events SET state=? WHERE rowid=?", (state, rowid))
    assert {("main", 4), ("main", 9)} <= found(store)
    assert {session for session, _ in found(store)} == {"main"}


@pytest.mark.parametrize(("one", "other"), [("fork", "leaf"), ("leaf", "fork"), ("own", "leaf")])
def test_beginnings_that_changed_places(store: Path, one: str, other: str) -> None:
    """Each of them is named itself, and no gap that nothing could have left."""
    query = (
        "SELECT rowid, topic, state, originator_version FROM stored_events"
        " WHERE originator_id=? ORDER BY originator_version LIMIT 1"
    )
    with unguarded(store) as connection:
        (a, *here, first), (b, *there, second) = (
            connection.execute(query, (name,)).fetchone() for name in (one, other)
        )
        for rowid, (kind, state) in ((a, there), (b, here)):
            connection.execute(
                "UPDATE stored_events SET topic=?, state=? WHERE rowid=?", (kind, state, rowid)
            )
    assert {(one, first), (other, second)} <= found(store)
    with EventLog(store) as log:
        sentences = [f.sentence for verdict in log.verify() for f in verdict.findings]
    holes = [re.findall(r"event (\d+) to (\d+) is missing", sentence) for sentence in sentences]
    assert all(int(low) < int(high) for hole in holes for low, high in hole)


def test_payloads_that_changed_places(store: Path) -> None:
    """Two payloads swapped under the hashes where they were: just these two are named."""
    with unguarded(store) as connection:
        (a, first), (b, second) = connection.execute(
            "SELECT rowid, state FROM stored_events"
            " WHERE originator_id='main' AND originator_version IN (4, 9) ORDER BY 1"
        ).fetchall()
        for rowid, state in ((a, first[:32] + second[32:]), (b, second[:32] + first[32:])):
            connection.execute("UPDATE stored_events SET state=? WHERE rowid=?", (state, rowid))
    assert found(store) == {("main", 4), ("main", 9)}


def test_an_event_moved_to_another_session(store: Path) -> None:
    """The stream is sealed: an event of one session is nothing in another."""
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE originator_id='own'")
        connection.execute(
            "UPDATE stored_events SET originator_id='own' WHERE originator_id='main'"
            " AND originator_version > 6"
        )
        connection.execute(
            "UPDATE stored_events SET originator_version=originator_version-6"
            " WHERE originator_id='own'"
        )
    assert {version for session, version in found(store) if session == "own"} >= set(range(1, 7))


def test_the_past_of_a_fork(store: Path) -> None:
    """A changed event of a parent is found when only the child is proven."""
    change_state(store, "main", 3, lambda s: flip(s, 400))
    assert found(store, "leaf") == {("main", 3)}
    assert found(store, "own") == set()


def test_a_parent_that_was_rewritten(store: Path, tmp_path: Path) -> None:
    """A parent with another, flawless history: the fork remembers what it branched off."""
    other = tmp_path / "other"
    other.mkdir()
    with EventLog.create(other) as log:
        begin(log, events=12, tag="better")
        assert not [f for v in log.verify() for f in v.findings]
    with unguarded(store) as connection:
        connection.execute("DELETE FROM stored_events WHERE originator_id='main'")
        connection.execute("ATTACH ? AS other", (str(other / "log.db"),))
        connection.execute("INSERT INTO main.stored_events SELECT * FROM other.stored_events")
        connection.commit()
        connection.execute("DETACH other")
    assert found(store) == {("fork", 7)}
    assert found(store, "leaf") == {("fork", 7)}
    with EventLog(store) as log:
        (sentence,) = [f.sentence for v in log.verify() for f in v.findings]
    assert sentence == "the event it branched off, main@6, is another"


def test_what_is_not_touched_stays_readable(store: Path) -> None:
    """Damage to one event leaves the other events, sessions and moments to be read."""
    change_state(store, "main", 9, lambda s: s[:40])
    assert found(store) == {("main", 9)}
    with EventLog(store) as log:
        assert pool(log, "main", 8) == [f"t{n}" for n in range(2, 9)]
        assert pool(log, "leaf") == [*(f"t{n}" for n in range(2, 7)), "t8", "t10", "t11"]
        assert [r.version for r in log.read(MAIN, upto=8)] == list(range(1, 9))
        assert [r.version for r in log.read(MAIN, after=9)] == [10, 11, 12]
        with pytest.raises(LogosphereError, match="Event 9 of session 'main'"):
            log.state(MAIN)


@pytest.mark.parametrize("version", [1, 2, 7])
def test_no_state_is_made_over_a_hole(store: Path, version: int) -> None:
    """A history with a missing event is an error that names it, not a state that looks right."""
    with unguarded(store) as connection:
        connection.execute(
            "DELETE FROM stored_events WHERE originator_id='main' AND originator_version=?",
            (version,),
        )
    with EventLog(store) as log, pytest.raises(LogosphereError, match="main"):
        log.state(MAIN)


def test_many_pages(tmp_path: Path) -> None:
    """Damage is found on any page of a long stream, at page borders as well."""
    with EventLog.create(tmp_path) as log:
        begin(log, events=1600)
    for version in (512, 513, 1024, 1600):
        change_state(tmp_path, "main", version, lambda s: flip(s, 300))
    assert found(tmp_path) == {("main", v) for v in (512, 513, 1024, 1600)}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE stored_events SET state='text' WHERE rowid=3",
        "UPDATE stored_events SET state=7 WHERE rowid=3",
        "UPDATE stored_events SET state=x'' WHERE rowid=3",
        "UPDATE stored_events SET topic=x'ff00' WHERE rowid=3",
        "UPDATE stored_events SET topic=CAST(x'ff00' AS TEXT) WHERE rowid=3",
        "UPDATE stored_events SET originator_version=2.5 WHERE rowid=3",
        "UPDATE stored_events SET originator_version='three' WHERE rowid=3",
        "UPDATE stored_events SET originator_version=-3 WHERE rowid=3",
    ],
)
def test_columns_of_other_types(store: Path, change: str) -> None:
    """Whatever an edited file has in a column: a finding about that session, no crash."""
    with unguarded(store) as connection:
        connection.execute(change)
    assert "main" in {session for session, _ in found(store)}
    assert found(store, "own") == set()


LOOP = """
import sys
from pathlib import Path
from commands.eventlog import EventLog
from domain.errors import LogosphereError
with EventLog(Path(sys.argv[1])) as log:
    found = [f for v in log.verify() for f in v.findings]
    for name in log.sessions():
        try:
            log.state(name)
        except LogosphereError:
            pass
print(sorted({f.session for f in found}))
"""


def test_a_fork_of_itself(store: Path) -> None:
    """Ancestries that were edited into a circle are found, not followed for ever."""
    with unguarded(store) as connection:
        for child, parent in (("fork", "leaf"), ("leaf", "fork")):
            rowid, state = connection.execute(
                "SELECT rowid, state FROM stored_events WHERE originator_id=?"
                " AND topic='session.forked'",
                (child,),
            ).fetchone()
            old = b"\xa6parent\xa4" + (b"main" if child == "fork" else b"fork")
            assert old in state
            state = state.replace(old, b"\xa6parent\xa4" + parent.encode())
            connection.execute("UPDATE stored_events SET state=? WHERE rowid=?", (state, rowid))
    done = subprocess.run(
        [sys.executable, "-c", LOOP, str(store)],
        check=True,
        capture_output=True,
        text=True,
        timeout=10,
        cwd=ROOT,
    )
    assert "fork" in done.stdout


# torn files


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sessions of 500 events, with a fork, in a file of more than a hundred pages."""
    store = tmp_path_factory.mktemp("large")
    with EventLog.create(store) as log:
        for name in ("a", "b", "main", "z"):
            begin(log, name, tag=name * 20)
        for _ in range(5):
            for name in ("a", "b", "main", "z"):
                grow(log, name, 100, tag=name * 20)
        branch(log, MAIN, 250, "fork")
        grow(log, "fork", 20)
    return store


def pages(store: Path) -> dict[int, str]:
    """What each page of the file belongs to: the table, an index, or the schema."""
    with raw(store) as connection:
        try:
            rows = connection.execute("SELECT pageno, name FROM dbstat").fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no dbstat")
    return dict(rows)


def torn(large: Path, tmp_path: Path, page: int, content: bytes) -> Path:
    """A copy of the store with one page overwritten."""
    shutil.copy(large / "log.db", tmp_path / "log.db")
    with (tmp_path / "log.db").open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(content)
    return tmp_path


@pytest.mark.parametrize("content", ["zeros", "garbage"])
@pytest.mark.parametrize(
    "what", ["stored_events", "sqlite_autoindex_stored_events_1", "stored_events_by_kind"]
)
def test_a_page_is_overwritten(large: Path, tmp_path: Path, what: str, content: str) -> None:
    """Wherever a page of the file is lost, proof fails with a sentence, and never with a crash."""
    mine = [number for number, name in pages(large).items() if name == what and number > 6]
    chance = random.Random(f"{what}/{content}")  # noqa: S311 — repeatable
    filling = bytes(4096) if content == "zeros" else chance.randbytes(4096)
    silent = []
    for page in chance.sample(mine, min(len(mine), 8)):
        store = torn(large, tmp_path, page, filling)
        try:
            with EventLog(store) as log:
                findings = [f for v in log.verify() for f in v.findings]
                if not findings:
                    silent.append(page)
                for name in ("a", "b", "main", "z"):
                    _read_or_refused(log, name)
        except LogosphereError:
            pass
    assert not silent, "pages that were lost without a finding"


def test_a_lost_page_of_events_is_named(large: Path, tmp_path: Path) -> None:
    """A page of the table takes some events with it: these are named, all others are read."""
    mine = [number for number, name in pages(large).items() if name == "stored_events"]
    store = torn(large, tmp_path, mine[len(mine) // 2], bytes(4096))
    with EventLog(store) as log:
        verdicts = list(log.verify())
    findings = {(f.session, f.version) for v in verdicts for f in v.findings}
    assert 1 <= len(findings) <= 100
    with raw(large) as connection:
        total = connection.execute("SELECT count(*) FROM stored_events").fetchone()[0]
    assert sum(v.events for v in verdicts) >= total - 100
    with EventLog(store) as log:
        for session, version in findings:
            with pytest.raises(LogosphereError):
                log.head(session, version)


def test_a_named_session_is_not_proven_by_not_reading_it(large: Path, tmp_path: Path) -> None:
    """When the newest events can't even be counted, proof of that session fails."""
    index = [n for n, name in pages(large).items() if name.startswith("sqlite_autoindex")]
    broken, silent = 0, []
    for page in index:
        store = torn(large, tmp_path, page, bytes(4096))
        for name in ("a", "b", "main", "z"):
            try:
                with EventLog(store) as log:
                    read = sum(1 for _ in log.rows(SessionId(name)))
                    if read == 501:
                        continue
            except LogosphereError:
                pass
            broken += 1
            try:
                with EventLog(store) as log:
                    (verdict,) = log.verify([SessionId(name)])
                    if not verdict.findings:
                        silent.append((page, name, verdict.events))
            except LogosphereError:
                pass
    assert broken
    assert not silent, "page, session, and how many events were said to be all"


@pytest.mark.parametrize("seed", range(25))
def test_random_damage(large: Path, tmp_path: Path, seed: int) -> None:
    """Random bytes anywhere behind the header: findings or a sentence, never another error."""
    chance = random.Random(seed)  # noqa: S311 — repeatable
    content = bytearray((large / "log.db").read_bytes())
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(100, len(content))
        length = chance.choice((1, 2, 16, 512, 4096))
        content[at : at + length] = chance.randbytes(len(content[at : at + length]))
    (tmp_path / "log.db").write_bytes(content)
    try:
        with EventLog(tmp_path) as log:
            list(log.verify())
            for name in log.sessions():
                _read_or_refused(log, name)
    except LogosphereError:
        pass


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_file_that_was_cut(large: Path, tmp_path: Path, part: float) -> None:
    """A file without its end: findings or a sentence."""
    whole = (large / "log.db").read_bytes()
    (tmp_path / "log.db").write_bytes(whole[: int(len(whole) * part)])
    findings: list[object] = []
    try:
        with EventLog(tmp_path) as log:
            findings = [f for v in log.verify() for f in v.findings]
    except LogosphereError as error:
        findings = [error.sentence]
    assert findings


def _read_or_refused(log: EventLog, name: str) -> None:
    for ask in (
        lambda: list(log.read(SessionId(name))),
        lambda: log.state(SessionId(name)),
        lambda: log.head(SessionId(name), 40),
    ):
        try:
            ask()
        except LogosphereError:
            continue
