"""Torn files: a journal that breaks off, lost pages; what the command line says of them."""

import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.handle import handle
from commands.thinking import InjectThought
from commands.world import RealWorld
from domain.actors import Actor
from domain.ids import SessionId
from tests.commands.eventlog.stores import begin, branch, grow, unguarded
from tests.faults.machinery import ROOT, House, house

WRITER = """
import json, os, signal, sys
from pathlib import Path
from commands.eventlog import EventLog
from tests.commands.eventlog.stores import begin, branch, grow
with EventLog.create(Path(sys.argv[1])) as log:
    heads = [("main", *begin(log, events=3))]
    for n in range(40):
        heads.append(("main", *grow(log, "main", 2, tag="x" * (n * 37 % 900))))
    heads.append(("fork", *branch(log, "main", 20, "fork")))
    for n in range(10):
        heads.append(("fork", *grow(log, "fork", 1)))
    print(json.dumps([(s, v, h.hex()) for s, v, h in heads]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
Heads = list[tuple[str, int, str]]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Heads]:
    """A store that was killed with all its commits in the journal, and their hashes in order."""
    store = tmp_path_factory.mktemp("left")
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(store)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (store / "log.db-wal").stat().st_size > 100_000
    return store, json.loads(done.stdout)


def copy_of(store: Path, to: Path, journal: bytes) -> Path:
    """The store with another journal, as a machine would find it that was switched off."""
    shutil.copy(store / "log.db", to / "log.db")
    (to / "log.db-wal").write_bytes(journal)
    return to


def prefix(store: Path, heads: Heads) -> int:
    """How many of the commits are there; checked to be the first ones, whole, and proven."""
    with EventLog(store) as log:
        names = log.sessions()
        assert not [f for verdict in log.verify() for f in verdict.findings]
        count = 0
        for session, version, hash_ in heads:
            if session not in names or log.head(SessionId(session)).version < version:
                break
            assert log.head(SessionId(session), version).hash.hex() == hash_
            count += 1
        newest = {session: version for session, version, _ in heads[:count]}
        assert {name: log.head(name).version for name in names} == newest
        for name in names:
            assert log.state(name).version == newest[name]
        if names:
            world = RealWorld(Actor("user", "ann"))
            handle(log, names[-1], InjectThought(text="and on", by="ann"), world)
    return count


def test_a_whole_journal(left: tuple[Path, Heads], tmp_path: Path) -> None:
    """A store that was killed before its first checkpoint has lost nothing."""
    store, heads = left
    journal = (store / "log.db-wal").read_bytes()
    assert prefix(copy_of(store, tmp_path, journal), heads) == len(heads)


@pytest.mark.parametrize("seed", range(12))
def test_a_journal_that_breaks_off(left: tuple[Path, Heads], tmp_path: Path, seed: int) -> None:
    """Wherever it breaks off: the commits before that are whole, and the store goes on."""
    store, heads = left
    journal = (store / "log.db-wal").read_bytes()
    cut = random.Random(seed).randrange(len(journal))  # noqa: S311 — repeatable
    print(f"seed {seed}: {cut} of {len(journal)} bytes")
    count = prefix(copy_of(store, tmp_path, journal[:cut]), heads)
    assert count < len(heads)
    assert count >= len(heads) * (cut / len(journal)) * 0.2 - 1


@pytest.mark.parametrize("seed", range(6))
def test_garbage_behind_a_journal(left: tuple[Path, Heads], tmp_path: Path, seed: int) -> None:
    """What a disk left behind the last commit is not taken for another one."""
    store, heads = left
    chance = random.Random(seed)  # noqa: S311 — repeatable
    journal = (store / "log.db-wal").read_bytes() + chance.randbytes(chance.randint(1, 30_000))
    assert prefix(copy_of(store, tmp_path, journal), heads) == len(heads)


@pytest.mark.parametrize("seed", range(12))
def test_a_torn_page_in_a_journal(left: tuple[Path, Heads], tmp_path: Path, seed: int) -> None:
    """A page of the journal that was never written: the commits before it are whole."""
    store, heads = left
    chance = random.Random(seed)  # noqa: S311 — repeatable
    journal = bytearray((store / "log.db-wal").read_bytes())
    at = chance.randrange(32, len(journal))
    journal[at : at + 512] = bytes(len(journal[at : at + 512]))
    prefix(copy_of(store, tmp_path, bytes(journal)), heads)


@pytest.mark.parametrize("content", [b"", b"\0" * 32, b"not a journal at all"])
def test_no_journal(left: tuple[Path, Heads], tmp_path: Path, content: bytes) -> None:
    """Without its journal the store is as old as its file, but it is a store."""
    store, heads = left
    assert prefix(copy_of(store, tmp_path, content), heads) == 0


# what the command line says


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A store with some hundred events in several sessions, from which copies are torn."""
    home = house(tmp_path_factory.mktemp("damaged"))
    home.store.mkdir()
    with EventLog.create(home.store) as log:
        begin(log, "main", tag="main" * 10)
        begin(log, "zoo", tag="zoo" * 10)
        for _ in range(4):
            grow(log, "main", 60, tag="main" * 10)
            grow(log, "zoo", 60, tag="zoo" * 10)
        branch(log, "main", 100, "fork")
    return home


READERS = (("status",), ("history",), ("log",), ("sessions",))


def told_about(home: House, *, named: str | None, readers: bool = True) -> None:
    """Check that proof fails with a sentence, and that nothing ends in a traceback."""
    told = home.here("verify")
    told.broken()
    if named is not None:
        assert named in told.out
    doctor = home.here("doctor")
    doctor.broken()
    if named is not None:
        assert named in doctor.out
    for args in READERS if readers else ():
        answer = home.here(*args)
        assert "Traceback" not in answer.err, (args, answer.err)
        assert answer.code in {0, 1}


@pytest.mark.parametrize("filling", ["zeros", "garbage"])
def test_a_lost_page(damaged: House, tmp_path: Path, filling: str) -> None:
    """A page in the middle of the file: proof and doctor fail in a sentence."""
    home = house(tmp_path)
    shutil.copytree(damaged.store, home.store)
    content = bytearray((home.store / "log.db").read_bytes())
    page = len(content) // 4096 // 2
    lost = bytes(4096) if filling == "zeros" else random.Random(3).randbytes(4096)  # noqa: S311 — repeatable
    content[page * 4096 : (page + 1) * 4096] = lost
    (home.store / "log.db").write_bytes(content)
    told_about(home, named=None)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("UPDATE stored_events SET state=substr(state,1,90) WHERE rowid=9", "event 8"),
        ("UPDATE stored_events SET state=x'' WHERE rowid=1", "event 1"),
        ("DELETE FROM stored_events WHERE rowid=1", "event 1"),
        ("DELETE FROM stored_events WHERE rowid=9", "event 8"),
        ("UPDATE stored_events SET topic='dream.dreamt' WHERE rowid=9", "event 8"),
    ],
)
def test_an_edited_event(damaged: House, tmp_path: Path, damage: str, named: str) -> None:
    """An event that was changed or deleted is named by session and version."""
    home = house(tmp_path)
    shutil.copytree(damaged.store, home.store)
    with unguarded(home.store) as connection:
        if "rowid=9" in damage:
            (version,) = connection.execute(
                "SELECT originator_version FROM stored_events WHERE rowid=9"
            ).fetchone()
            assert version == 8
        connection.execute(damage)
    told_about(home, named=f"main: {named}", readers="rowid=1" in damage)


def test_doctor_finds_the_store_by_itself(damaged: House, tmp_path: Path) -> None:
    """A damaged store is as damaged when no option named it."""
    home = house(tmp_path)
    shutil.copytree(damaged.store, home.store)
    file = home.store / "log.db"
    file.write_bytes(file.read_bytes()[:8192])
    home.mind("verify").broken()
    home.here("doctor", "--store", home.store).broken()
    home.mind("doctor").broken()
