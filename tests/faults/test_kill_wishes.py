"""kill -9 in the middle of fork, import, redact and export: all of the wish, or nothing."""

import random
import re
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commands.eventlog import EventLog
from commands.eventlog.log import SNAPSHOT_FILE
from commands.eventlog.sqlite.layout import SCHEMA
from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import texts
from commands.thinking import InjectThought
from commands.world import RealWorld
from domain.actors import Actor
from domain.errors import BadBundle, SessionExists
from domain.events import EventRedacted, SessionForked
from domain.ids import SessionId
from domain.recorded import Recorded
from tests.commands.eventlog.stores import begin, branch, draw, grow, raw
from tests.faults.rounds import wait_for_writing, working
from tests.faults.wish_driver import BUNDLE, MAIN, Said, think

ANN = RealWorld(Actor("user", "ann"))
FEW, MANY = 4, 50


class Killed(NamedTuple):
    """What a process said until it was killed."""

    done: list[tuple[Said, Said]]
    """Wishes that were granted: what it was going to do, and what it said then."""
    doing: Said | None
    """The wish that it was killed in; None where the kill came right behind one."""


def killed(kind: str, directory: Path, chance: random.Random) -> Killed:
    """Let a process grant wishes of a kind, and kill it in the middle of one.

    That is at any moment of it, or soon after it has begun to write.
    """
    with working("tests.faults.wish_driver", kind, directory, chance) as worker:
        worker.rounds(chance.randint(1, 3))
        until = time.perf_counter() + chance.random() * 1.2 * worker.lasted
        if chance.random() < 0.5:
            wait_for_writing(directory, worker.said[-1]["writes"], 2 * worker.lasted)
            until = time.perf_counter() + chance.random() ** 3 * 0.3 * worker.lasted
        while time.perf_counter() < until:
            pass
    said: list[Said] = worker.said
    pairs = list(zip(said[::2], said[1::2], strict=False))
    assert pairs
    return Killed(pairs, said[-1] if len(said) % 2 else None)


def sound(log: EventLog) -> None:
    """Check that everything is proved, has a state and its guards, and that life goes on."""
    assert not [f for verdict in log.verify() for f in verdict.findings]
    for name in log.sessions():
        versions = [r.version for r in log.read(name)]
        assert versions == list(range(1, len(versions) + 1))
        assert log.state(name).version == len(versions)
    with raw(log.place.home) as connection:
        tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        assert {row[0] for row in tables} == set(SCHEMA)
    done = handle(log, log.sessions()[-1], InjectThought(text="life goes on", by="ann"), ANN)
    assert [event.kind for event in done.events] == ["thought.added"]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a ``store``: sessions, forks of forks, something redacted, states kept."""
    directory = tmp_path_factory.mktemp("grown")
    store, chance = directory / "store", random.Random(4)  # noqa: S311 — repeatable
    store.mkdir()
    with EventLog.create(store) as log:
        begin(log, "main", events=3)
        think(log, MAIN, chance, 20)
        branch(log, "main", 100, "fork")
        think(log, SessionId("fork"), chance, 12)
        branch(log, "fork", 150, "leaf")
        grow(log, "leaf", 30)
        begin(log, "other", events=40)
        think(log, MAIN, chance, 4)
    with EventLog(store) as log:
        for name in log.sessions():
            log.state(name)
    return directory


def copy_of(grown: Path, to: Path) -> Path:
    """A store of one's own, to be worked on."""
    shutil.copytree(grown, to, dirs_exist_ok=True)
    return to / "store"


def times(few: int = FEW, many: int = MANY) -> pytest.MarkDecorator:
    """Some kills always, and many by ``make test-slow``."""
    slow = [pytest.param(many, seed, marks=pytest.mark.slow) for seed in (10, 11)]
    return pytest.mark.parametrize(("kills", "seed"), [(few, 1), *slow])


# fork


@times()
def test_fork(grown: Path, tmp_path: Path, kills: int, seed: int) -> None:
    """A branch is there as a whole or not at all, and nobody else's head ever moves."""
    store, chance = copy_of(grown, tmp_path), random.Random(seed)  # noqa: S311 — repeatable
    for _ in range(kills):
        with EventLog(store) as log:
            before = {name: log.head(name) for name in log.sessions()}
        done, doing = killed("fork", tmp_path, chance)
        with EventLog(store) as log:
            assert {name: log.head(name) for name in before} == before
            for wish, said in done:
                assert log.head(wish["child"]).hash.hex() == said["hash"]
                whole_branch(log, wish)
            made = [wish["child"] for wish, _ in done]
            assert log.sessions()[len(before) :] in ([*made], [*made, doing and doing["child"]])
            if doing is not None:
                again = (log, doing["parent"], doing["version"], doing["child"], ANN)
                if log.exists(doing["child"]):
                    with pytest.raises(SessionExists):
                        fork_session(*again)
                else:
                    fork_session(*again, reason="what if")
                whole_branch(log, doing)
            sound(log)


def whole_branch(log: EventLog, wish: Said) -> None:
    """Check that a branch has all of its parent's past, and its own first event."""
    child, parent, version = wish["child"], wish["parent"], wish["version"]
    *past, forked = log.read(child)
    assert past == list(log.read(parent, upto=version))
    assert forked.event == SessionForked(
        parent=parent,
        at_version=version,
        parent_hash=log.head(parent, version).hash,
        reason="what if",
    )
    assert log.state(child).id == child


# import


@pytest.fixture(scope="module")
def travelled(grown: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle, and a store ``into`` which it is to go that knows some of its sessions.

    Two get longer, and redacted; one is known there by another name; others are new.
    """
    directory = tmp_path_factory.mktemp("travelled")
    store, into = copy_of(grown, directory), directory / "into"
    fork, early = SessionId("fork"), directory / "early.mind"
    into.mkdir()
    with EventLog(store) as log, EventLog.create(into) as there:
        begin(there, "leaf", events=5, tag="another ")
        log.export(fork, early)
        told = there.take_over(early)
        assert [(one.name, one.what) for one in told][:2] == [(MAIN, "new"), (fork, "new")]
        log.redact({MAIN: [20, 30, 40], fork: [110, 111]}, "In confidence.", draw())
        think(log, MAIN, random.Random(5), 40)  # noqa: S311 — repeatable
        for number in range(10):
            branch(log, "leaf", 160 + number, f"new-{number}")
        log.export(MAIN, directory / BUNDLE)
    return directory


@times()
def test_import(travelled: Path, tmp_path: Path, kills: int, seed: int) -> None:
    """Every session of a bundle is there, with all events and redactions, or none has come."""
    copy_of(travelled, tmp_path)
    chance, bundle = random.Random(seed), tmp_path / BUNDLE  # noqa: S311 — repeatable
    with EventLog(tmp_path / "into") as log:
        nothing = list(log.feed())
    shutil.copytree(tmp_path / "into", tmp_path / "all")
    with EventLog(tmp_path / "all") as log:
        told = log.take_over(bundle)
        everything = list(log.feed())
    assert {one.what for one in told} == {"known", "longer", "new"}
    assert any(one.redacted for one in told)
    for _ in range(kills):
        done, doing = killed("import", tmp_path, chance)
        for wish, _ in done:
            with EventLog(tmp_path / wish["store"]) as log:
                assert list(log.feed()) == everything
        if doing is not None:
            with EventLog(tmp_path / doing["store"]) as log:
                found = list(log.feed())
                assert found in (nothing, everything)
                again = {one.what for one in log.take_over(bundle)}
                assert again == ({"known"} if found == everything else {"known", "longer", "new"})
                assert list(log.feed()) == everything
                sound(log)
        for store in tmp_path.glob("into-*"):
            shutil.rmtree(store)


# redact


@times()
def test_redact(grown: Path, tmp_path: Path, kills: int, seed: int) -> None:
    """All events of the wish are emptied, with a word of it for each, or none is.

    What a killed process had not yet swept away is gone once a store is opened and told to forget.
    """
    store, chance = copy_of(grown, tmp_path), random.Random(seed)  # noqa: S311 — repeatable
    secret: set[str] = set()
    for _ in range(kills):
        done, doing = killed("redact", tmp_path, chance)
        secret |= {text for wish, _ in done for text in wish["texts"]}
        with EventLog(store) as log:
            told = words(log)
            for wish, said in done:
                assert said == {"gone": True}
                assert targets(wish) <= told
            if doing is not None and targets(doing) <= told:
                secret |= set(doing["texts"])
            elif doing is not None:
                assert not targets(doing) & told
                assert set(doing["texts"]) <= {text for r in log.feed() for text in texts(r.event)}
            for name in log.sessions():
                assert not secret & {thought.text for thought in log.state(name).pool.active}
            assert not secret & kept(store)
            assert log.forget()
            assert not in_files(store, secret)
            sound(log)
        assert not in_files(store, secret)


def test_what_is_looked_for_would_be_found(grown: Path, tmp_path: Path) -> None:
    """Looking for texts in files finds them in the log, in replies and in kept states."""
    store = copy_of(grown, tmp_path)
    with EventLog(store) as log:
        thoughts = {t.text for name in log.sessions() for t in log.state(name).pool.active}
        said = {text for r in log.feed() for text in texts(r.event) if "secret" in text}
    secret = {text for text in thoughts if "secret" in text}
    assert in_files(store, secret) == secret
    for file in store.glob("log.db*"):
        file.unlink()
    left = in_files(store, said)
    assert left >= kept(store)
    assert kept(store)
    assert left < said


def kept(store: Path) -> set[str]:
    """The secrets in states that are kept, whether or not anybody would read these."""
    assert (store / SNAPSHOT_FILE).exists()
    with raw(store, SNAPSHOT_FILE) as connection:
        states = connection.execute("SELECT state FROM states").fetchall()
    found = (re.findall(rb"secret [0-9a-f]+", zlib.decompress(state)) for (state,) in states)
    return {text.decode() for some in found for text in some}


def words(log: EventLog) -> set[tuple[str, int]]:
    """The events that were redacted; checked to be just those that are empty now."""
    events = [(r.session, r.event) for r in log.feed()]
    told = [(session, e.version) for session, e in events if isinstance(e, EventRedacted)]
    assert len(set(told)) == len(told)
    assert {(r.session, r.version) for r in log.feed() if r.redacted} == set(told)
    return set(told)


def targets(wish: Said) -> set[tuple[str, int]]:
    """The events that were to be redacted."""
    return {(session, version) for session, version in wish["targets"]}


def in_files(store: Path, secret: Iterable[str]) -> set[str]:
    """Which of these texts stand in any file of a store, plain or compressed."""
    found: set[str] = set()
    for file in store.iterdir():
        content = file.read_bytes()
        for data in (content, *inflated(content)):
            found |= {text for text in secret if text.encode() in data}
    return found


def inflated(content: bytes) -> Iterator[bytes]:
    """All that can be read of what was compressed somewhere in a file."""
    for start in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", content):
        reader, data = zlib.decompressobj(), b""
        try:
            for at in range(start.start(), len(content), 64):  # as far as it goes
                data += reader.decompress(content[at : at + 64])
                if reader.eof:
                    break
        except zlib.error:
            pass
        yield data


# export


@times()
def test_export(grown: Path, tmp_path: Path, kills: int, seed: int) -> None:
    """A file is complete or not there, and the next export sweeps away what was left half made."""
    store, chance = copy_of(grown, tmp_path), random.Random(seed)  # noqa: S311 — repeatable
    with EventLog(store) as log:
        everything = list(log.feed())
        log.export(MAIN, tmp_path / "whole")
    whole = taken_over(tmp_path / "whole", tmp_path / "there")
    assert len({r.session for r in whole}) == 3
    for _ in range(kills):
        done, doing = killed("export", tmp_path, chance)
        for wish, _ in done[-1:]:
            assert taken_over(tmp_path / wish["file"], tmp_path / "there") == whole
        with EventLog(store) as log:
            assert list(log.feed()) == everything
            if doing is not None:
                file = tmp_path / doing["file"]
                if file.exists():
                    assert taken_over(file, tmp_path / "there") == whole
                    with pytest.raises(BadBundle):
                        log.export(MAIN, file)
                else:
                    log.export(MAIN, file)
                    assert taken_over(file, tmp_path / "there") == whole
        for wish in (*(wish for wish, _ in done), *([doing] if doing else [])):
            assert [f.name for f in tmp_path.glob(f"{wish['file']}*")] == [wish["file"]]
            (tmp_path / wish["file"]).unlink()


def taken_over(file: Path, into: Path) -> list[Recorded]:
    """All events of a bundle, as a new store has them that took it over."""
    into.mkdir()
    with EventLog.create(into) as log:
        assert {one.what for one in log.take_over(file)} == {"new"}
        sound(log)
        found = list(log.feed())[:-1]
    shutil.rmtree(into)
    return found
