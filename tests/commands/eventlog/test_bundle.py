"""Bundles: sessions go from store to store whole, once, and under any name, or not at all."""

import random
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.eventlog.snapshots import EVERY
from domain.errors import (
    BadBundle,
    LogosphereError,
    NoSuchSession,
    StoreIsFull,
    StoreIsReadOnly,
)
from domain.events import Event, SessionForked
from domain.ids import SessionId
from tests.commands.eventlog.stores import (
    MAIN,
    begin,
    branch,
    draw,
    grow,
    pool,
    thought,
)
from tests.domain.happened import accepted, asked, drafted

ROOT = Path(__file__).parents[3]


def store(directory: Path) -> EventLog:
    """An empty store in a new directory."""
    directory.mkdir()
    return EventLog.create(directory)


def dump(log: EventLog) -> list[tuple[object, ...]]:
    """All that a store holds, row by row."""
    with log._recorder.reading() as cursor:
        cursor.execute("SELECT rowid, * FROM stored_events ORDER BY rowid")
        rows = cursor.fetchall()
        cursor.execute("SELECT * FROM aliases ORDER BY 1")
        return rows + cursor.fetchall()


def bundle(log: EventLog, session: str, file: Path) -> Path:
    """An export, for a test that is about something else."""
    log.export(SessionId(session), file)
    return file


def came(log: EventLog, file: Path) -> dict[str, tuple[str, str, int]]:
    """What an import did: by the name there, the name here, what, and how many events."""
    return {t.session: (t.name, t.what, t.events) for t in log.take_over(file)}


def whole(log: EventLog) -> None:
    """Every chain is proved, and every session has a state."""
    assert [f.sentence for verdict in log.verify() for f in verdict.findings] == []
    for name in log.sessions():
        assert log.state(name).version == log.head(name).version


def alike(one: EventLog, other: EventLog, names: dict[SessionId, SessionId] | None = None) -> None:
    """Sessions are the same in both: hashes, events, and the state at every version."""
    for there, here in (names or {name: name for name in one.sessions()}).items():
        assert other.head(here) == one.head(there)
        old, new = list(one.rows(there)), list(other.rows(here))
        assert [(row[1], row[3], row[4]) for row in new] == [
            (row[1], row[3], row[4]) for row in old
        ]
        for version in range(1, one.head(there).version + 1):
            was, now = one.state(there, version), other.state(here, version)
            assert now == was._replace(id=now.id)


def happens(log: EventLog, session: str, chance: random.Random) -> None:
    """Something that may happen in a session: thoughts, or the next step of a dialogue."""
    name = SessionId(session)
    state = log.state(name)
    dialogue, wish = state.dialogue, chance.getrandbits(120)
    events: list[Event]
    if chance.random() < 0.4:
        events = [thought(f"{session} thinks {wish}") for _ in range(chance.randint(1, 4))]
    elif dialogue.awaiting is None:
        exchange = dialogue.next_exchange(state.upcoming)
        events = [asked(f"{session} asks {wish}", exchange, state.upcoming)]
    elif not dialogue.drafts or chance.random() < 0.5:
        index, exchange = len(dialogue.drafts) + 1, dialogue.awaiting.exchange
        events = [drafted(index, f"a draft, number {wish}", 1, exchange=exchange)]
    else:
        events = [accepted(len(dialogue.drafts), dialogue.awaiting.exchange)]
    log.append(name, state.version, draw(*events, wish=wish))


def grown(log: EventLog, seed: int, sessions: int = 14) -> None:
    """A family: forks of forks anywhere in their past, redactions, a line of eight generations."""
    chance = random.Random(seed)  # noqa: S311 — repeatable
    begin(log, events=3)
    names = [MAIN]
    for number in range(sessions):
        for _ in range(chance.randint(1, 12)):
            happens(log, chance.choice(names[-5:]), chance)
        parent = names[-1] if number < 8 else chance.choice(names)
        low = log.path(parent)[0].after
        at = chance.randint(max(1, low - 3), log.head(parent).version)
        child = SessionId(f"{chance.choice(('a', 'b/c', 'x-y'))}.{number}")
        branch(log, parent, at, child)
        names.append(child)
    for name in names:
        happens(log, name, chance)
    thoughts = [r for r in log.feed() if r.event.kind in {"thought.added", "message.sent"}]
    for recorded in chance.sample(thoughts, 6):
        wish = chance.getrandbits(120)
        log.redact({recorded.session: [recorded.version]}, "private", draw(wish=wish))


@pytest.fixture
def source(tmp_path: Path) -> Iterator[EventLog]:
    """``main`` of 20 events; ``a`` behind its 10th, ``b`` behind the 13th of ``a``; ``other``."""
    with store(tmp_path / "source") as log:
        begin(log, events=20)
        branch(log, MAIN, 10, "a")
        grow(log, "a", 4, tag="a")
        branch(log, "a", 13, "b")
        grow(log, "b", 3, tag="b")
        begin(log, "other", events=3)
        yield log


@pytest.fixture
def target(tmp_path: Path) -> Iterator[EventLog]:
    """An empty store."""
    with store(tmp_path / "target") as log:
        yield log


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a bundle is to be."""
    return tmp_path / "a bundle.mind"


# there and back


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in range(10, 30))]
)
def test_a_family_arrives_as_it_was(tmp_path: Path, file: Path, seed: int) -> None:
    """Forks of forks, eight deep, below their parents' beginnings, with redactions: all alike."""
    with store(tmp_path / "1") as one, store(tmp_path / "2") as two:
        grown(one, seed)
        names, events = one.export(MAIN, file)
        assert set(names) == set(one.sessions())
        assert events == one.position()
        taken = two.take_over(file)
        assert {(t.session, t.name, t.what) for t in taken} == {(n, n, "new") for n in names}
        assert sum(t.events for t in taken) == events
        alike(one, two)
        whole(two)
        before = dump(two)
        assert {what for _, what, _ in came(two, file).values()} == {"known"}
        assert dump(two) == before
        with unpacked(file, tmp_path) as bare:
            whole(bare)
            alike(one, bare)


@contextmanager
def unpacked(file: Path, tmp_path: Path) -> Iterator[EventLog]:
    """A bundle, opened as the log that it is."""
    directory = tmp_path / "unpacked"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(file, directory / "log.db")
    with EventLog(directory, writable=False) as log:
        yield log


@pytest.mark.parametrize("seed", [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 6))])
def test_each_member_of_a_family_alone(tmp_path: Path, seed: int) -> None:
    """Any session may be exported by itself; from all these files, the family is one again."""
    with store(tmp_path / "1") as one, store(tmp_path / "2") as two:
        grown(one, seed)
        for number, name in enumerate(reversed(one.sessions())):
            file = bundle(one, name, tmp_path / f"{number}.mind")
            with store(tmp_path / f"alone-{number}") as alone:
                alone.take_over(file)
                whole(alone)
                alike(one, alone, {name: name})
            two.take_over(file)
        whole(two)
        assert set(two.sessions()) == set(one.sessions())
        assert two.position() == one.position()
        alike(one, two)


def test_a_bundle_is_no_more_than_a_log(source: EventLog, file: Path, tmp_path: Path) -> None:
    """It is one file, in no need of a WAL, and proves itself as any log does."""
    source.export(MAIN, file)
    assert [f.name for f in tmp_path.iterdir() if f.is_file()] == [file.name]
    assert file.read_bytes()[18:20] == b"\x01\x01", "not in WAL mode"
    with unpacked(file, tmp_path) as log:
        assert log.sessions() == ["main", "a", "b"]
        whole(log)


def test_what_is_imported_goes_on(source: EventLog, target: EventLog, file: Path) -> None:
    """Imported sessions are appended to and forked as any, by one who had the store open too."""
    with EventLog(target.place.home) as other:
        assert other.sessions() == []
        came(target, bundle(source, MAIN, file))
        grow(other, "b", 3, tag="here")
        branch(other, "a", 12, "a/new")
        grow(target, "a/new", 2, tag="here")
        for log in (target, other):
            assert pool(log, "b")[-1] == "here20"
            assert pool(log, "a/new") == [
                *(f"t{n}" for n in range(2, 11)),
                "a12",
                "here14",
                "here15",
            ]
            whole(log)


def test_snapshots_of_before_serve_nobody_wrong(source: EventLog, tmp_path: Path) -> None:
    """A store that knows a session of that name from elsewhere keeps its own states apart."""
    with store(tmp_path / "1") as one, store(tmp_path / "2") as two:
        begin(one, events=2 * EVERY, tag="one")
        begin(two, events=2 * EVERY, tag="two")
        for log in (one, two):
            log.state(MAIN)
            grow(log, MAIN, EVERY, tag=log.place.home.name)
            log.state(MAIN)
        assert came(two, bundle(one, MAIN, tmp_path / "f"))["main"][:2] == ("main-2", "new")
        alike(one, two, {MAIN: SessionId("main-2")})
        assert pool(two, MAIN)[-1] == f"2{3 * EVERY}"


# no more than is shared


def test_ancestors_are_cut_to_what_is_shared(
    source: EventLog, target: EventLog, file: Path
) -> None:
    """What they said after a branch parted from them is nowhere in the file."""
    grow(source, MAIN, 1, tag="a secret of main")
    grow(source, "a", 2, tag="a secret of a")
    names, events = source.export(SessionId("b"), file)
    assert (names, events) == (["main", "a", "b"], 10 + 3 + 4)
    content = file.read_bytes()
    assert b"secret" not in content
    assert b"t11" not in content
    assert b"other" not in content
    came(target, file)
    assert [target.head(SessionId(n)).version for n in names] == [10, 13, 17]
    alike(source, target, {SessionId("b"): SessionId("b")})
    whole(target)


def test_a_parent_that_shares_nothing_stays_behind(target: EventLog, tmp_path: Path) -> None:
    """A branch below its parent's own beginning has nothing of it, nor has its bundle."""
    with store(tmp_path / "1") as log:
        begin(log, events=8, tag="shared")
        grow(log, MAIN, 4, tag="secret")
        onto = log.head(MAIN, 12)
        fork = SessionForked(parent="main", at_version=12, parent_hash=onto.hash, reason="secret")
        log.begin(SessionId("private"), onto, draw(fork, thought("secret"), wish=9))
        branch(log, "private", 5, "public")
        branch(log, "public", 3, "public/leaf")
        grow(log, "public/leaf", 2, tag="leaf")
        for name, expected in (
            ("public", ["main", "public", "public/leaf"]),
            ("public/leaf", ["main", "public/leaf"]),
        ):
            file = tmp_path / name.replace("/", "-")
            names, _ = log.export(SessionId(name), file)
            assert names == expected
            assert b"secret" not in file.read_bytes()
            target.take_over(file)
            alike(log, target, {SessionId(name): SessionId(name)})
            whole(target)
        assert target.head(MAIN).version == 5
        assert came(target, bundle(log, MAIN, tmp_path / "all"))["public"][1] == "known"
        alike(log, target)
        whole(target)


def test_an_ancestor_goes_on_to_the_word_of_a_redaction(
    source: EventLog, target: EventLog, file: Path
) -> None:
    """What was emptied in the shared part needs it; what was redacted in between, its own too."""
    redact = source.redact
    grow(source, MAIN, 5, tag="between")
    redact({MAIN: [4]}, "x", draw(wish=1 << 70))  # 26
    grow(source, MAIN, 1, tag="beyond")
    redact({MAIN: [22, 23]}, "x", draw(wish=1 << 71))  # 28, 29
    grow(source, MAIN, 2, tag="beyond")
    redact({MAIN: [29]}, "x", draw(wish=1 << 72))  # 32
    grow(source, MAIN, 1, tag="secret")
    redact({MAIN: [33]}, "x", draw(wish=1 << 73))
    redact({SessionId("a"): [14]}, "x", draw(wish=1 << 74))  # not shared by b
    names, events = source.export(SessionId("b"), file)
    assert (names, events) == (["main", "a", "b"], 32 + 3 + 4)
    content = file.read_bytes()
    for gone in (b"t4", b"between22", b"between23", b"secret33"):
        assert gone not in content
    assert b"between24" in content
    came(target, file)
    assert pool(target, "b") == [
        *("t2", "t3"),
        *(f"t{n}" for n in range(5, 11)),
        *pool(source, "b")[8:],
    ]
    alike(source, target, {SessionId("b"): SessionId("b")})
    whole(target)
    assert came(target, bundle(source, MAIN, file.with_name("all")))["main"] == (
        "main",
        "longer",
        2,
    )
    alike(source, target, {MAIN: MAIN})
    whole(target)


# again


def test_a_second_time_when_the_source_has_grown(
    source: EventLog, target: EventLog, tmp_path: Path
) -> None:
    """Only what is new comes: more events, and sessions that began meanwhile."""
    came(target, bundle(source, MAIN, tmp_path / "1"))
    grow(source, MAIN, 600, tag="more")
    grow(source, "b", 2, tag="more")
    branch(source, "b", 18, "b/c")
    assert came(target, bundle(source, MAIN, tmp_path / "2")) == {
        "main": ("main", "longer", 600),
        "a": ("a", "known", 0),
        "b": ("b", "longer", 2),
        "b/c": ("b/c", "new", 1),
    }
    whole(target)
    assert target.state(MAIN) == source.state(MAIN)
    before = dump(target)
    assert {what for _, what, _ in came(target, tmp_path / "1").values()} == {"known"}
    assert dump(target) == before


def test_a_session_that_somebody_looks_at_meanwhile(
    source: EventLog, target: EventLog, tmp_path: Path
) -> None:
    """Who has the target open sees what came at the next look."""
    came(target, bundle(source, MAIN, tmp_path / "1"))
    with EventLog(target.place.home) as other:
        assert other.state(MAIN).version == target.state(MAIN).version == 20
        grow(source, MAIN, 3)
        came(target, bundle(source, MAIN, tmp_path / "2"))
        assert other.state(MAIN) == target.state(MAIN) == source.state(MAIN)


def test_a_second_time_when_the_target_has_grown(
    source: EventLog, target: EventLog, file: Path
) -> None:
    """What went on here is left alone: all of the bundle is known."""
    came(target, bundle(source, MAIN, file))
    grow(target, MAIN, 5, tag="here")
    grow(target, "a", 1, tag="here")
    before = dump(target)
    assert {what for _, what, _ in came(target, file).values()} == {"known"}
    assert dump(target) == before


def test_when_both_have_grown(source: EventLog, target: EventLog, tmp_path: Path) -> None:
    """They are two histories from then on: theirs comes whole, under another name, once."""
    came(target, bundle(source, MAIN, tmp_path / "1"))
    grow(target, MAIN, 2, tag="here")
    grow(source, MAIN, 3, tag="there")
    branch(source, MAIN, 22, "late")
    assert came(target, bundle(source, MAIN, tmp_path / "2")) == {
        "main": ("main-2", "new", 23),
        "a": ("a", "known", 0),
        "b": ("b", "known", 0),
        "late": ("late", "new", 1),
    }
    assert [s.stream for s in target.path(SessionId("late"))] == ["late", "main-2"]
    assert pool(target, MAIN)[-1] == "here22"
    assert pool(target, "late")[-1] == "there22"
    whole(target)
    before = dump(target)
    assert {what for _, what, _ in came(target, tmp_path / "2").values()} == {"known"}
    assert dump(target) == before
    grow(source, MAIN, 1, tag="there")
    grow(target, "late", 1, tag="here")
    assert came(target, bundle(source, MAIN, tmp_path / "3"))["main"] == ("main-2", "longer", 1)
    whole(target)


def test_back_where_it_came_from(source: EventLog, target: EventLog, tmp_path: Path) -> None:
    """An export of the import brings nothing new home; what was added there does come."""
    begin(target, events=7, tag="mine")
    begin(target, "a", events=2, tag="mine")
    names = {t.session: t.name for t in target.take_over(bundle(source, MAIN, tmp_path / "1"))}
    assert names == {"main": "main-2", "a": "a-2", "b": "b"}
    before = dump(source)
    back = came(source, bundle(target, "main-2", tmp_path / "2"))
    assert back == {
        "main-2": ("main", "known", 0),
        "a-2": ("a", "known", 0),
        "b": ("b", "known", 0),
    }
    assert dump(source) == before
    grow(target, "main-2", 2, tag="there")
    branch(target, "a-2", 12, "a-2/new")
    assert came(source, bundle(target, "main-2", tmp_path / "3")) == {
        "main-2": ("main", "longer", 2),
        "a-2": ("a", "known", 0),
        "b": ("b", "known", 0),
        "a-2/new": ("a-2/new", "new", 1),
    }
    assert [s.stream for s in source.path(SessionId("a-2/new"))] == ["a-2/new", "a", "main"]
    alike(target, source, {SessionId("main-2"): MAIN, SessionId("a-2/new"): SessionId("a-2/new")})
    whole(source)
    whole(target)


# names


def test_another_session_of_that_name_stays(
    source: EventLog, target: EventLog, tmp_path: Path
) -> None:
    """The newcomers get numbered names, and their branches know them by these."""
    for name in ("main", "main-2", "b"):
        begin(target, name, events=4, tag=f"mine-{name}-")
    before = {name: target.head(name) for name in target.sessions()}
    taken = target.take_over(bundle(source, MAIN, tmp_path / "1"))
    assert [(t.session, t.name, t.what) for t in taken] == [
        ("main", "main-3", "new"),
        ("a", "a", "new"),
        ("b", "b-2", "new"),
    ]
    assert {name: target.head(name) for name in before} == before
    assert [s.stream for s in target.path(SessionId("b-2"))] == ["b-2", "a", "main-3"]
    assert target.state(SessionId("b-2")).id == "b-2"
    alike(source, target, {t.session: t.name for t in taken})
    whole(target)
    rows = dump(target)
    assert {t.what for t in target.take_over(tmp_path / "1")} == {"known"}
    assert dump(target) == rows


def test_what_has_another_name_goes_on(source: EventLog, target: EventLog, tmp_path: Path) -> None:
    """Appends, redactions and branches of it are sealed with the name that it was born with."""
    begin(target, events=2, tag="mine")
    came(target, bundle(source, MAIN, tmp_path / "1"))
    name = SessionId("main-2")
    grow(target, name, 2, tag="here")
    target.redact({name: [3]}, "x", draw(wish=1 << 70))
    branch(target, name, 21, "main-2/b")
    branch(target, "main-2/b", 15, "main-2/b/c")
    for log in (target, EventLog(target.place.home)):
        with log:
            whole(log)
            assert log.state(SessionId("main-2/b/c"), 15).version == 15
            assert pool(log, "main-2/b")[-1] == "here21"
    with store(tmp_path / "third") as third, EventLog(target.place.home) as again:
        taken = third.take_over(bundle(again, name, tmp_path / "2"))
        assert {t.name for t in taken} == {"main-2", "a", "b", "main-2/b", "main-2/b/c"}
        alike(again, third, {t.name: t.name for t in taken})
        whole(third)
        assert third.born_as("main") == ["main-2"]
        assert third.born_as("main-2") == []


def test_a_name_that_the_bundle_needs_itself(target: EventLog, tmp_path: Path) -> None:
    """A numbered name is not given to one session while another one of the bundle has it."""
    with store(tmp_path / "1") as one:
        for name in ("main", "main-2", "main-3"):
            begin(one, name, events=2, tag=name)
        branch(one, MAIN, 2, "leaf")
        for name in ("main", "main-2", "main-3", "leaf"):
            came(target, bundle(one, name, tmp_path / f"{name}.mind"))
        assert target.sessions() == ["main", "leaf", "main-2", "main-3"]
        whole(target)
    with store(tmp_path / "2") as two, store(tmp_path / "3") as three:
        begin(two, MAIN, events=3, tag="two")
        branch(two, MAIN, 3, "main-2")
        begin(three, MAIN, events=3, tag="three")
        taken = came(three, bundle(two, MAIN, tmp_path / "f"))
        assert taken == {"main": ("main-3", "new", 3), "main-2": ("main-2", "new", 1)}
        assert [s.stream for s in three.path(SessionId("main-2"))] == ["main-2", "main-3"]
        whole(three)


@pytest.mark.parametrize("name", ["x" * 80, "a/" * 39 + "bc", "y" * 77 + "/zz", "z" * 76 + ".-.z"])
def test_the_longest_names(tmp_path: Path, name: str) -> None:
    """A number fits behind the longest name there can be, again and again."""
    seen = set()
    many = 12 if name[0] == "x" else 2
    with store(tmp_path / "target") as target:
        for number in range(many):
            with store(tmp_path / f"{number}") as log:
                begin(log, name, events=2, tag=f"{number}-")
                ((here, what, _),) = came(
                    target, bundle(log, name, tmp_path / f"f{number}")
                ).values()
                assert what == "new"
                assert len(here) <= 80
                seen.add(here)
        assert len(seen) == many
        whole(target)


def test_the_same_name_in_a_circle(tmp_path: Path) -> None:
    """Three stores with a session of the same name send each other all they have: three in each."""
    logs = [store(tmp_path / f"{n}") for n in range(3)]
    for number, log in enumerate(logs):
        begin(log, events=3, tag=f"{number}-")
        branch(log, MAIN, 2, "leaf")
        grow(log, "leaf", 2, tag=f"leaf{number}-")
    for turn in range(2):
        for log in logs:
            for other, one in enumerate(logs):
                for name in one.sessions():
                    if one is not log and not name.startswith("leaf"):
                        file = tmp_path / f"{turn}-{logs.index(log)}-{other}-{name}"
                        log.take_over(bundle(one, name, file))
    for log in logs:
        assert len(log.sessions()) == 6
        whole(log)
        log.close()


# redactions


def test_redactions_arrive(source: EventLog, target: EventLog, tmp_path: Path) -> None:
    """What was redacted there since is redacted here, and gone from all files here, too."""
    text = "the very thing that nobody should read"
    source.append(MAIN, 20, draw(thought(text), wish=1 << 60))
    branch(source, MAIN, 21, "late")
    came(target, bundle(source, MAIN, tmp_path / "1"))
    with EventLog(target.place.home) as other:
        assert text in pool(other, "late")
        source.redact({MAIN: [21, 5], SessionId("b"): [16]}, "private", draw(wish=1 << 61))
        taken = target.take_over(bundle(source, MAIN, tmp_path / "2"))
        assert [(t.name, t.what, t.events, t.redacted) for t in taken] == [
            ("main", "longer", 2, 2),
            ("a", "known", 0, 0),
            ("b", "longer", 1, 1),
            ("late", "known", 0, 0),
        ]
        for log in (target, other):
            assert text not in pool(log, "late")
            assert "t5" not in pool(log, "b")
            assert "b16" not in pool(log, "b")
            alike(source, log, {name: name for name in source.sessions() if name != "other"})
        whole(target)
    content = b"".join(f.read_bytes() for f in target.place.home.iterdir())
    assert text.encode() not in content
    again = target.take_over(tmp_path / "2")
    assert {(t.what, t.redacted) for t in again} == {("known", 0)}


def test_redactions_arrive_under_another_name(
    source: EventLog, target: EventLog, tmp_path: Path
) -> None:
    """A session that is called something else here loses the same events."""
    begin(target, events=2, tag="mine")
    came(target, bundle(source, MAIN, tmp_path / "1"))
    source.redact({MAIN: [5]}, "private", draw(wish=1 << 61))
    came(target, bundle(source, MAIN, tmp_path / "2"))
    assert target.pick(SessionId("main-2"), [5])[0].redacted
    assert not target.pick(MAIN, [2])[0].redacted
    whole(target)


def test_an_old_bundle_restores_nothing(source: EventLog, target: EventLog, file: Path) -> None:
    """What was redacted here stays so, whatever an older file still holds."""
    came(target, bundle(source, MAIN, file))
    target.redact({MAIN: [5]}, "private", draw(wish=1 << 61))
    before = dump(target)
    assert {what for _, what, _ in came(target, file).values()} == {"known"}
    assert dump(target) == before
    assert b"t5" not in (target.place.home / "log.db").read_bytes()


# files


@pytest.mark.parametrize(
    "name",
    [
        "with spaces.mind",
        'it\'s "quoted".mind',
        "[brackets] *?.mind",
        "100%#1?mode=memory&x=y.mind",
        "Tidenhub – 潮汐 😀.mind",
        ".hidden",
        "-o",
        ":memory:",
        "new\nline",
    ],
)
def test_names_of_files(source: EventLog, target: EventLog, tmp_path: Path, name: str) -> None:
    """Any name that a file can have; nothing is left beside it."""
    place = tmp_path / "a [place] for 50% of it?"
    place.mkdir()
    source.export(MAIN, place / name)
    assert [f.name for f in place.iterdir()] == [name]
    assert {t.what for t in target.take_over(place / name)} == {"new"}
    assert [f.name for f in place.iterdir()] == [name]


def test_a_file_that_is_there_is_not_replaced(source: EventLog, file: Path) -> None:
    """Whatever it is, it stays, and so does a link to nowhere."""
    file.write_text("my only copy")
    with pytest.raises(BadBundle, match="name another file"):
        source.export(MAIN, file)
    assert file.read_text() == "my only copy"
    file.unlink()
    file.mkdir()
    with pytest.raises(BadBundle, match="name another file"):
        source.export(MAIN, file)
    assert [f.name for f in file.parent.iterdir()] == ["source", file.name]
    file.rmdir()
    file.symlink_to("nowhere")
    with pytest.raises(BadBundle, match="name another file"):
        source.export(MAIN, file)
    assert file.is_symlink()


def test_places_where_no_file_can_be(source: EventLog, tmp_path: Path) -> None:
    """A directory that is not there, or is a file: a sentence, and nothing is left."""
    (tmp_path / "file").touch()
    for place in (tmp_path / "nowhere" / "x", tmp_path / "file" / "x", tmp_path / ("x" * 300)):
        with pytest.raises(LogosphereError, match=re.escape(str(place)[:80])):
            source.export(MAIN, place)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["file", "source"]


def test_no_such_session(source: EventLog, file: Path) -> None:
    """It is named, and no file is made."""
    with pytest.raises(NoSuchSession, match="nowhere"):
        source.export(SessionId("nowhere"), file)
    assert not file.exists()


@contextmanager
def small_files(limit: int) -> Iterator[None]:
    """As if the disk had room for files of so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("limit", [0, 4096, 60_000])
def test_no_room_for_the_bundle(source: EventLog, file: Path, limit: int) -> None:
    """It is said, and nothing of the file is left; with room, the next try succeeds."""
    grow(source, MAIN, 500, tag="long " * 20)
    with small_files(limit), pytest.raises(StoreIsFull, match=file.name):
        source.export(MAIN, file)
    assert [f.name for f in file.parent.iterdir()] == ["source"]
    source.export(MAIN, file)


@pytest.mark.parametrize("limit", [10_000, 100_000])
def test_no_room_for_the_import(source: EventLog, target: EventLog, file: Path, limit: int) -> None:
    """None of it is taken over; with room, all of it is."""
    grow(source, "b", 900, tag="long " * 20)
    source.export(MAIN, file)
    begin(target, "mine", events=3)
    before = dump(target)
    with small_files(limit), pytest.raises(StoreIsFull, match="target"):
        target.take_over(file)
    assert dump(target) == before
    whole(target)
    target.take_over(file)
    alike(source, target, {MAIN: MAIN})
    whole(target)


def test_who_may_only_read_imports_nothing(source: EventLog, target: EventLog, file: Path) -> None:
    """A store that can't be written is refused as such."""
    source.export(MAIN, file)
    with (
        EventLog(target.place.home, writable=False) as reader,
        pytest.raises(StoreIsReadOnly, match="target"),
    ):
        reader.take_over(file)
    assert dump(target) == []


def test_who_may_only_read_exports(source: EventLog, target: EventLog, file: Path) -> None:
    """Reading a store is enough to take a session out of it."""
    source.close()
    before = {f.name: f.read_bytes() for f in source.place.home.iterdir()}
    with EventLog(source.place.home, writable=False) as reader:
        reader.export(MAIN, file)
        assert {f.name: f.read_bytes() for f in source.place.home.iterdir()} == before
        came(target, file)
        alike(reader, target, {MAIN: MAIN})


def test_a_bundle_that_nobody_may_write(source: EventLog, target: EventLog, file: Path) -> None:
    """It is only read, and nothing is written beside it."""
    place = file.parent / "read only"
    place.mkdir()
    bundle(source, MAIN, place / "b").chmod(0o400)
    place.chmod(0o500)
    try:
        assert {what for _, what, _ in came(target, place / "b").values()} == {"new"}
    finally:
        place.chmod(0o700)


WRITER = """
import sys
from pathlib import Path
from commands.eventlog import EventLog
from tests.commands.eventlog.stores import draw, grow, branch
with EventLog(Path(sys.argv[1])) as log:
    for n in range(25):
        at = log.head("main").version
        grow(log, "main", 3)
        branch(log, "main", at, f"s{n}")
        log.redact({"main": [3 + n]}, "x", draw(wish=(1 << 70) + n))
        print(n, flush=True)
"""


def test_while_another_process_writes_and_redacts(tmp_path: Path) -> None:
    """What is exported is as of one moment: an event and the word of its redaction, or neither."""
    with store(tmp_path / "source") as source, store(tmp_path / "target") as target:
        begin(source, events=1200, tag="long " * 30)
        branch(source, MAIN, 60, "s")
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "source")],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            number = 0
            while writer.poll() is None and number < 4:
                number += 1
                target.take_over(bundle(source, "s", tmp_path / f"s{number}"))
                target.take_over(bundle(source, MAIN, tmp_path / f"m{number}"))
            writer.communicate()
        assert writer.returncode == 0
        assert number > 1
        target.take_over(bundle(source, MAIN, tmp_path / "last"))
        assert target.head(MAIN) == source.head(MAIN)
        assert target.state(MAIN) == source.state(MAIN)
        whole(target)
