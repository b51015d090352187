"""Files that are no bundles, or not as they were written: nothing of them is ever taken over."""

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgpack
import pytest

from commands.eventlog import EventLog
from commands.eventlog.chain import link
from commands.eventlog.sqlite.layout import LAYOUT, SCHEMA, lay_out
from commands.eventlog.wire import EventMapper
from domain.errors import LogosphereError, NotAStore, StoreOfAnotherLayout
from domain.events import Event, SessionForked
from domain.ids import SessionId
from domain.recorded import BEGINNING, Head
from tests.commands.eventlog.stores import (
    MAIN,
    NOON,
    begin,
    branch,
    draw,
    grow,
    started,
    thought,
)
from tests.domain.happened import accepted, asked, configured, drafted


def dump(log: EventLog) -> list[tuple[object, ...]]:
    """All that a store holds, row by row."""
    with log._recorder.reading() as cursor:
        cursor.execute("SELECT rowid, * FROM stored_events ORDER BY rowid")
        rows = cursor.fetchall()
        cursor.execute("SELECT * FROM aliases ORDER BY 1")
        return rows + cursor.fetchall()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of ``main`` and two branches, with long texts, redactions and aliases."""
    place = tmp_path_factory.mktemp("good")
    for name in ("first", "second"):
        (place / name).mkdir()
    with EventLog.create(place / "first") as log:
        begin(log, events=30, tag="some text ")
        log.append(MAIN, 30, draw(thought("long " * 3_000), wish=1 << 60))
        branch(log, MAIN, 10, "a")
        grow(log, "a", 25, tag="other text ")
        branch(log, "a", 20, "b")
        log.redact({MAIN: [5, 12]}, "private", draw(wish=1 << 61))
        log.export(MAIN, place / "1")
    with EventLog.create(place / "second") as log:
        begin(log, events=2)
        log.take_over(place / "1")
        log.export(SessionId("main-2"), place / "good.mind")
    return place / "good.mind"


@pytest.fixture
def file(good: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    copy = tmp_path / "bundle.mind"
    shutil.copy(good, copy)
    return copy


@pytest.fixture
def target(tmp_path: Path) -> Iterator[EventLog]:
    """A store with a session of its own."""
    (tmp_path / "target").mkdir()
    with EventLog.create(tmp_path / "target") as log:
        begin(log, "mine", events=4)
        yield log


def refused(target: EventLog, file: Path, match: str | None = None) -> None:
    """It is refused in one sentence, and the store holds what it held."""
    before = dump(target)
    with pytest.raises(LogosphereError, match=match) as refusal:
        target.take_over(file)
    assert dump(target) == before
    said = refusal.value.sentence
    assert "\n" not in said
    assert len(said) < 600


# bytes


def damaged(
    good: Path,
    target: EventLog,
    file: Path,
    chance: random.Random,
    spoil: Callable[[bytearray], None],
) -> bool:
    """Import a spoilt copy: whether it was refused; else it must have brought what was written."""
    content = bytearray(good.read_bytes())
    spoil(content)
    file.write_bytes(content)
    before = dump(target)
    try:
        target.take_over(file)
    except LogosphereError:
        assert dump(target) == before
        return True
    (whole := target.place.home.parent / "whole").mkdir(exist_ok=True)
    if not (whole / "log.db").exists():
        with EventLog.create(whole) as log:
            begin(log, "mine", events=4)
            log.take_over(good)
    with EventLog(whole, writable=False) as log:
        assert dump(target) == dump(log)
    return False


def empty_again(target: EventLog) -> EventLog:
    """The store as it was before an import that brought everything."""
    directory = target.place.home
    target.close()
    for name in directory.iterdir():
        name.unlink()
    again = EventLog.create(directory)
    begin(again, "mine", events=4)
    return again


def spoilt(good: Path, tmp_path: Path, seed: int, times: int, how: str) -> None:
    """So many spoilt copies, each tried in a store that knows nothing of the bundle."""
    chance = random.Random(seed)  # noqa: S311 — repeatable
    directory = tmp_path / "target"
    directory.mkdir()
    target = EventLog.create(directory)
    begin(target, "mine", events=4)
    known = 0

    def spoil(content: bytearray) -> None:
        at = chance.randrange(len(content))
        if how == "bit":
            content[at] ^= 1 << chance.randrange(8)
        elif how == "byte":
            content[at] = chance.randrange(256)
        elif how == "piece":
            length = chance.choice((2, 4, 16, 300, 4096))
            content[at : at + length] = chance.randbytes(len(content[at : at + length]))
        elif how == "swap":
            one, two = sorted(chance.sample(range(len(content) // 4096), 2))
            a, b = slice(one * 4096, one * 4096 + 4096), slice(two * 4096, two * 4096 + 4096)
            content[a], content[b] = content[b], content[a]
        else:
            del content[at:]

    for _ in range(times):
        if not damaged(good, target, tmp_path / "spoilt", chance, spoil):
            known += 1
            target = empty_again(target)
    target.close()
    print(f"{known} of {times} were whole all the same")


@pytest.mark.parametrize("how", ["bit", "byte", "piece", "swap", "cut"])
def test_wherever_it_is_damaged(good: Path, tmp_path: Path, how: str) -> None:
    """It is refused, or what was damaged was nothing that anybody reads."""
    spoilt(good, tmp_path, 7, 60 if how == "bit" else 15, how)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", ["bit", "byte", "piece", "swap", "cut"])
def test_wherever_it_is_damaged_often(good: Path, tmp_path: Path, how: str, seed: int) -> None:
    """The same, many times over."""
    spoilt(good, tmp_path, seed, 400, how)


def test_every_bit_of_the_first_page(good: Path, tmp_path: Path) -> None:
    """The header and the schema, bit by bit: a sentence or the whole content."""
    directory = tmp_path / "target"
    directory.mkdir()
    target = EventLog.create(directory)
    begin(target, "mine", events=4)
    chance = random.Random(0)  # noqa: S311 — repeatable
    for at in range(100):

        def spoil(content: bytearray, at: int = at) -> None:
            content[at] ^= 1 << at % 8

        if not damaged(good, target, tmp_path / "spoilt", chance, spoil):
            target = empty_again(target)
    target.close()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", NotAStore),
        (b"SQLite format 3\0", NotAStore),
        (b"{}", NotAStore),
        (b"PK\x03\x04" + bytes(5_000), NotAStore),
        (bytes(8192), NotAStore),
    ],
)
def test_other_files(target: EventLog, file: Path, content: bytes, error: type[Exception]) -> None:
    """What is no log at all is said to be none."""
    file.write_bytes(content)
    before = dump(target)
    with pytest.raises(error):
        target.take_over(file)
    assert dump(target) == before


def test_things_that_are_no_files(target: EventLog, tmp_path: Path) -> None:
    """Nothing, a directory, a link to nowhere."""
    refused(target, tmp_path / "nowhere", "there is no such file")
    refused(target, tmp_path, str(tmp_path))
    (tmp_path / "link").symlink_to("gone")
    refused(target, tmp_path / "link", "there is no such file")


def test_a_database_of_somebody_else(target: EventLog, file: Path) -> None:
    """A SQLite file without our mark is none of ours, whatever its tables are called."""
    file.unlink()
    with closing(sqlite3.connect(file)) as other:
        for statement in SCHEMA:
            other.execute(statement)
    before = dump(target)
    with pytest.raises(NotAStore):
        target.take_over(file)
    assert dump(target) == before


def test_a_layout_of_another_time(target: EventLog, file: Path) -> None:
    """It says which version can read it."""
    for layout in (LAYOUT - 1, LAYOUT + 1, 0):
        with closing(sqlite3.connect(file)) as other:
            other.execute(f"PRAGMA user_version={layout}")
        with pytest.raises(StoreOfAnotherLayout, match=f"layout {layout}"):
            target.take_over(file)


# tables

TABLES: dict[str, str] = {
    "a trigger more": "CREATE TRIGGER more AFTER INSERT ON stored_events BEGIN SELECT 1; END",
    "a view": "CREATE VIEW more AS SELECT * FROM stored_events",
    "a table more": "CREATE TABLE more (what TEXT)",
    "an index more": "CREATE INDEX more ON stored_events (state)",
    "a virtual table": "CREATE VIRTUAL TABLE more USING fts5(what)",
    "a trigger less": "DROP TRIGGER events_never_go",
    "an index less": "DROP INDEX stored_events_by_kind",
    "no aliases": "DROP TABLE aliases",
    "no events": "DROP TABLE stored_events",
    "statistics": "ANALYZE",
    "another trigger of that name": "DROP TRIGGER events_never_go;"
    "CREATE TRIGGER events_never_go BEFORE DELETE ON stored_events BEGIN SELECT 1; END",
    "another column": "ALTER TABLE stored_events ADD COLUMN more TEXT",
    "another name": "ALTER TABLE stored_events RENAME COLUMN topic TO kind",
    "a view in its place": "DROP TABLE aliases; CREATE VIEW aliases AS SELECT 'a' AS stream,"
    " 'b' AS name, NULL AS parent",
}


@pytest.mark.parametrize("how", TABLES)
def test_tables_that_are_not_ours(target: EventLog, file: Path, how: str) -> None:
    """To the letter: whatever else a database can hold may be somebody's program."""
    with closing(sqlite3.connect(file)) as other:
        other.executescript(TABLES[how])
    refused(target, file, "tables are not those of a log")


def test_tables_in_another_order(target: EventLog, file: Path) -> None:
    """A redaction or a VACUUM moves them about, and changes nothing."""
    with closing(sqlite3.connect(file)) as other:
        trigger = next(sql for sql in SCHEMA if "events_never_change" in sql)
        other.execute("DROP TRIGGER events_never_change")
        other.execute(trigger)
        other.execute("VACUUM")
    assert {t.what for t in target.take_over(file)} == {"new"}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE stored_events SET state='text' WHERE rowid=9",
        "UPDATE stored_events SET state=7 WHERE rowid=9",
        "UPDATE stored_events SET originator_id=7 WHERE originator_id='b'",
        "UPDATE stored_events SET originator_id=x'ff' WHERE originator_id='b'",
        "UPDATE stored_events SET originator_id=CAST(x'ff' AS TEXT) WHERE originator_id='b'",
        "UPDATE stored_events SET originator_version='nine' WHERE rowid=9",
        "UPDATE stored_events SET originator_version=-9 WHERE rowid=9",
        "UPDATE stored_events SET topic=7 WHERE rowid=9",
        "UPDATE stored_events SET topic=NULL WHERE rowid=9",
        "UPDATE stored_events SET state=x'' WHERE rowid=9",
        "DELETE FROM stored_events WHERE rowid=9",
        "DELETE FROM stored_events WHERE topic='event.redacted'",
        "DELETE FROM stored_events WHERE originator_id='a'",
        "DELETE FROM stored_events WHERE originator_id='main-2'",
        "DELETE FROM stored_events",
        "UPDATE stored_events SET rowid=rowid+1000 WHERE originator_id='main-2'",
        "UPDATE aliases SET name='mine'",
        "UPDATE aliases SET name=7",
        "UPDATE aliases SET name=x'00'",
        "UPDATE aliases SET name=''",
        "UPDATE aliases SET parent='nowhere'",
        "UPDATE aliases SET parent=stream",
        "UPDATE aliases SET parent='b' WHERE stream='a'",
        "DELETE FROM aliases",
        "UPDATE stored_events SET originator_id='../b' WHERE originator_id='b'",
        "UPDATE stored_events SET originator_id='B' WHERE originator_id='b'",
    ],
)
def test_rows_that_nobody_wrote(target: EventLog, file: Path, change: str) -> None:
    """Whatever was edited in the tables, types and all: refused in one sentence."""
    edit(file, change)
    refused(target, file)


def edit(file: Path, *changes: str) -> None:
    """Change rows past all guards, and leave the schema as it was, to the letter."""
    with closing(sqlite3.connect(file)) as other:
        for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type='trigger'"):
            other.execute(f"DROP TRIGGER {name}")
        other.execute("PRAGMA writable_schema=ON")
        for word in (" STRICT", "STRICT, ", " NOT NULL"):
            other.execute("UPDATE sqlite_master SET sql=replace(sql, ?, '')", (word,))
        other.commit()
    with closing(sqlite3.connect(file)) as other:
        for change in changes:
            other.execute(change)
        other.commit()
    with closing(sqlite3.connect(file)) as other:
        for statement in SCHEMA:
            name = statement.split()[2]
            if statement.startswith("CREATE TRIGGER"):
                other.execute(statement)
            else:
                other.execute("PRAGMA writable_schema=ON")
                other.execute("UPDATE sqlite_master SET sql=? WHERE name=?", (statement, name))
        other.commit()


def test_a_session_that_no_index_knows(target: EventLog, forger: "Forger") -> None:
    """What a damaged index hides is not left out without a word: none of the file is taken."""
    forger.add("hidden", started())
    with closing(sqlite3.connect(forger.file)) as other:
        kept = other.execute("SELECT * FROM sqlite_master WHERE type='index'").fetchall()
        statement = "SELECT sql FROM sqlite_master WHERE name='stored_events'"
        (table,) = other.execute(statement).fetchone()
        whole = "SELECT * FROM stored_events WHERE originator_id='hidden'"
        row = other.execute(whole).fetchone()[1:]
        for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type='trigger'"):
            other.execute(f"DROP TRIGGER {name}")
        other.execute("DELETE FROM stored_events WHERE originator_id='hidden'")
        other.execute("PRAGMA writable_schema=ON")
        other.execute("DELETE FROM sqlite_master WHERE type='index' AND tbl_name='stored_events'")
        unique = "UNIQUE (originator_id, originator_version)"
        bare = table.replace(f",\n        {unique}", "")
        assert bare != table
        other.execute("UPDATE sqlite_master SET sql=? WHERE name='stored_events'", (bare,))
        other.commit()
    with closing(sqlite3.connect(forger.file)) as other:
        columns = "originator_id, originator_version, topic, state"
        other.execute(f"INSERT INTO stored_events ({columns}) VALUES (?,?,?,?)", row)  # noqa: S608
        other.commit()
        other.execute("PRAGMA writable_schema=ON")
        other.execute("UPDATE sqlite_master SET sql=? WHERE name='stored_events'", (table,))
        others = [index for index in kept if index[2] == "stored_events"]
        other.executemany("INSERT INTO sqlite_master VALUES (?,?,?,?,?)", others)
        other.commit()
    edit(forger.file)
    refused(target, forger.file, "the file is damaged")


def test_an_edit_that_changes_nothing(target: EventLog, file: Path) -> None:
    """The way in which these tests spoil a bundle does not spoil it by itself."""
    edit(file)
    assert {t.what for t in target.take_over(file)} == {"new"}


# histories


class Forger:
    """Writes bundles whose chains are in order, whatever they say."""

    def __init__(self, file: Path) -> None:
        file.unlink(missing_ok=True)
        lay_out(file)
        self.file = file
        self.heads: dict[str, Head] = {}

    def add(
        self, stream: str, *events: Event, onto: Head = BEGINNING, at: int = NOON, name: str = ""
    ) -> Head:
        """More events of a stream, sealed as they should be."""
        before = self.heads.get(stream, onto)
        rows, self.heads[stream] = EventMapper().sealed(
            before, stream, draw(*events, at=at), name or stream
        )
        for row in rows:
            self.put(stream, row.originator_version, row.topic, row.state)
        return self.heads[stream]

    def raw(self, stream: str, kind: str, **envelope: object) -> None:
        """One more event with any envelope, sealed as it should be."""
        fields = {"schema": 1, "at": NOON, "actor": "user:eve", "command": bytes(16), "data": {}}
        version, hash_ = self.heads[stream]
        payload = bytes(msgpack.packb(fields | envelope))
        sealed = link(hash_, version + 1, stream, kind, sha256(payload).digest())
        self.put(stream, version + 1, kind, sealed + payload)
        self.heads[stream] = Head(version + 1, sealed)

    def put(self, stream: str, version: int, kind: str, state: bytes) -> None:
        """A row as it is."""
        with closing(sqlite3.connect(self.file)) as other:
            other.execute(
                "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
                " VALUES (?,?,?,?)",
                (stream, version, kind, state),
            )
            other.commit()


@pytest.fixture
def forger(tmp_path: Path) -> Forger:
    """With one session that is as it should be."""
    forger = Forger(tmp_path / "forged.mind")
    forger.add("main", started(), thought("one"))
    return forger


def test_what_a_forger_writes_well_is_taken(target: EventLog, forger: Forger) -> None:
    """The way in which these tests forge bundles makes good ones, too."""
    onto = forger.add("main", asked(), drafted(1, "a draft that is long enough"), accepted())
    fork = SessionForked(parent="main", at_version=onto.version, parent_hash=onto.hash)
    forger.add("leaf", fork, thought("leaf"), onto=onto)
    assert [(t.name, t.what) for t in target.take_over(forger.file)] == [
        ("main", "new"),
        ("leaf", "new"),
    ]
    assert not [f for verdict in target.verify() for f in verdict.findings]


@pytest.mark.parametrize(
    "name",
    ["../x", "Main", "x/../y", "", "a b", "x" * 81, "ä", "a/", ".a", "a//b", "a\nb", "\x1b[2J"],
)
def test_names_that_no_session_can_have(target: EventLog, forger: Forger, name: str) -> None:
    """Names are looked at as if somebody typed them: nothing climbs out of anywhere."""
    forger.add(name, started())
    refused(target, forger.file)


@pytest.mark.parametrize("length", [0, 81, 65_535, 70_000])
def test_names_that_no_session_was_born_with(target: EventLog, forger: Forger, length: int) -> None:
    """Nor may a chain be sealed with such a name."""
    born = "x" * length or "../x"
    forger.add("leaf", started(), name=born[:65_535])
    edit(forger.file, f"INSERT INTO aliases VALUES ('leaf', '{born}', NULL)")  # noqa: S608
    refused(target, forger.file)


NONSENSE: dict[str, tuple[Event, ...]] = {
    "a draft of nothing is accepted": (accepted(),),
    "a draft that is not there is accepted": (asked(), accepted(3)),
    "a setting out of bounds": (configured("active_pool_size", 50, -1),),
    "a setting of another kind": (configured("granularity", 1, {"a": 1}),),
    "a second beginning": (started(),),
}


@pytest.mark.parametrize("how", NONSENSE)
def test_events_that_make_no_state(target: EventLog, forger: Forger, how: str) -> None:
    """A history that can't have happened is refused, and the event is named."""
    forger.add("main", *NONSENSE[how])
    refused(target, forger.file, r"event \d of main|session\.started|event \d \(session.started")


@pytest.mark.parametrize(
    ("kind", "envelope", "words"),
    [
        ("note.sung", {}, "unknown kind 'note.sung'"),
        ("", {}, "unknown kind"),
        ("note.added", {"schema": 99}, "schema"),
        ("note.added", {"schema": 0}, "can't be read"),
        ("note.added", {"data": {}}, "can't be read"),
        ("note.added", {"data": {"text": 7, "iteration": 0}}, "can't be read"),
        ("note.added", {"data": {"text": "x", "iteration": 0, "more": 1}}, "can't be read"),
        ("note.added", {"data": {"text": "x", "iteration": 0}, "actor": "nobody"}, "can't be read"),
        ("note.added", {"data": {"text": "x", "iteration": 0}, "at": "now"}, "can't be read"),
        ("note.added", {"data": {"text": "x", "iteration": 0}, "at": -1}, "event 3 of main"),
        ("note.added", {"data": {"text": "x", "iteration": 0}, "at": 2**62}, "event 3 of main"),
        ("session.started", {"data": {}}, "session.started"),
    ],
)
def test_envelopes_that_nobody_wrote(
    target: EventLog, forger: Forger, kind: str, envelope: dict[str, object], words: str
) -> None:
    """Unknown kinds, newer schemas, other types, times that no calendar knows: all named."""
    forger.raw("main", kind, **envelope)
    refused(target, forger.file, words)


def test_an_event_that_is_no_msgpack(target: EventLog, forger: Forger) -> None:
    """Bytes that hold nothing at all, in a chain that is in order."""
    version, hash_ = forger.heads["main"]
    for payload in (b"", b"\xc1", b"\x91" * 3_000, b"\xdf\xff\xff\xff\xff", b"plain text"):
        other = Forger(forger.file)
        other.add("main", started(), thought("one"))
        sealed = link(hash_, version + 1, "main", "note.added", sha256(payload).digest())
        other.put("main", version + 1, "note.added", sealed + payload)
        refused(target, other.file, "can't be read")


# ancestry


def fork_of(parent: str, head: Head, **more: object) -> SessionForked:
    """A branch behind the head of another session."""
    fields = {"parent": parent, "at_version": head.version, "parent_hash": head.hash} | more
    return SessionForked.model_validate(fields)


def test_a_parent_that_is_not_in_it(target: EventLog, forger: Forger) -> None:
    """A branch of what the bundle does not hold is refused, even if it is here."""
    with EventLog(target.place.home) as log:
        head = log.head(SessionId("mine"))
    forger.add("leaf", fork_of("mine", head), onto=head)
    refused(target, forger.file, "leaf comes before what it branched off")


def test_a_child_before_its_parent(target: EventLog, tmp_path: Path) -> None:
    """The order of a store is that of beginnings: it can't be turned around."""
    source = Forger(tmp_path / "one")
    head = source.add("main", started(), thought("one"))
    forger = Forger(tmp_path / "two")
    forger.add("leaf", fork_of("main", head), onto=head)
    forger.add("main", started(), thought("one"))
    refused(target, forger.file, "leaf comes before what it branched off")


@pytest.mark.parametrize(
    "more", [{"at_version": 1}, {"parent_hash": bytes(32)}, {"at_version": 99}, {"at_version": -1}]
)
def test_a_branch_of_another_moment(
    target: EventLog, forger: Forger, more: dict[str, object]
) -> None:
    """The parent's hash at the fork has to be the one that the branch names, at that version."""
    forger.add("leaf", fork_of("main", forger.heads["main"], **more), onto=forger.heads["main"])
    refused(target, forger.file)


def test_a_branch_of_itself(target: EventLog, forger: Forger) -> None:
    """A session that is its own ancestor is refused, not followed for ever."""
    forger.add("leaf", fork_of("leaf", forger.heads["main"]), onto=forger.heads["main"])
    refused(target, forger.file, "leaf comes before what it branched off")
    edit(forger.file, "INSERT INTO aliases VALUES ('main', 'main', 'leaf')")
    refused(target, forger.file)


def test_nothing_in_it(target: EventLog, tmp_path: Path) -> None:
    """A log without a session is nothing to be imported."""
    refused(target, Forger(tmp_path / "empty").file, "no session in it")


# logs that are in use


def test_a_log_itself(good: Path, target: EventLog, tmp_path: Path) -> None:
    """The file of a store that nobody has open is a bundle, though it is in WAL mode."""
    (tmp_path / "store").mkdir()
    with EventLog.create(tmp_path / "store") as log:
        log.take_over(good)
    before = (tmp_path / "store" / "log.db").read_bytes()
    assert before[18:20] == b"\x02\x02", "in WAL mode"
    assert {t.what for t in target.take_over(tmp_path / "store" / "log.db")} == {"new"}
    assert (tmp_path / "store" / "log.db").read_bytes() == before
    assert not list((tmp_path / "store").glob("log.db-*"))


def test_a_log_that_is_open(target: EventLog, tmp_path: Path) -> None:
    """While its newest events are still in its WAL, it would come without its end: refused."""
    (tmp_path / "store").mkdir()
    with EventLog.create(tmp_path / "store") as log:
        begin(log, events=5)
        refused(target, tmp_path / "store" / "log.db", "mind export")


def test_the_store_itself(target: EventLog) -> None:
    """A store that is given to itself is refused, or all of it is known."""
    refused(target, (target.place.home / "log.db"), "mind export")
    before = dump(target)
    assert target._recorder.forget(rewrite=False)
    assert {t.what for t in target.take_over(target.place.home / "log.db")} == {"known"}
    assert dump(target) == before
