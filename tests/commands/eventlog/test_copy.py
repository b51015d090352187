"""Copies of stores: the same rows at the same positions wherever they go, or no store at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.eventlog.backends import make_store
from commands.eventlog.copy import Copied, StoreCopy
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.layout import migrate
from commands.redaction import redact_events
from domain.errors import Broken, NoStore, Refused, StoreExists, StoreIsBusy, StoreIsDamaged
from domain.ids import SessionId
from domain.server_errors import AnotherHistory, CopyIsUnfinished
from tests.commands.eventlog.stores import MAIN, StillWorld, begin, branch, grow, unguarded
from tests.stories.agents import harbour

ROOT = Path(__file__).parents[3]
KINDS = ("file", "server")
SECRET = "the harbour's combination is 4711"  # noqa: S105 — a thought to take away


class Places:
    """Places for stores: directories, and schemas of one database."""

    def __init__(self, directory: Path, url: str) -> None:
        self.directory, self.url = directory, url
        self._made = 0

    def new(self, kind: str) -> Place:
        """A place where nothing is."""
        self._made += 1
        name = f"place{self._made}"
        return place_of(f"{self.url}?schema={name}" if kind == "server" else self.directory / name)


@pytest.fixture
def places(tmp_path: Path, pg_url: str, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Places, with their caches in ``tmp_path``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Places(tmp_path, pg_url)


@pytest.fixture
def files(tmp_path: Path) -> Places:
    """Directories alone."""
    return Places(tmp_path, "")


def made(place: Place) -> EventLog:
    """An empty store."""
    if place.url is None:
        place.home.mkdir()
    return EventLog.create(place)


def copied(source: Place, target: Place, **more: Any) -> Copied:
    """A whole copy."""
    with StoreCopy(source, target, **more) as work:
        work.fill()
        return work.prove()


def rows(place: Place) -> list[Any]:
    """All that a store holds: the mark of its redactions, rows, then aliases."""
    with EventLog(place) as log, log._recorder.reading() as cursor:
        return [
            log.mark(),
            *log._recorder.rows_by_position(cursor, 0, 10_000),
            *log._recorder.aliases(cursor),
        ]


def redact(log: EventLog, session: str, version: int) -> None:
    """Take the content of one event away."""
    redact_events(log, log.pick(SessionId(session), [version]), "In confidence.", StillWorld())


def damage(place: Place, version: int) -> None:
    """Change one byte of an event behind everybody's back."""
    with unguarded(place.home) as connection:
        connection.execute(
            "UPDATE stored_events SET state = CAST(substr(state, 1, 40) || x'00'"
            " || substr(state, 42) AS BLOB) WHERE originator_version = ?",
            (version,),
        )


def whole(place: Place) -> None:
    """Every chain is proved."""
    with EventLog(place) as log:
        assert [f for verdict in log.verify() for f in verdict.findings] == []


def filled(place: Place, tmp_path: Path) -> None:
    """A store with all that there is: agents, forks of forks, something redacted, other names."""
    with made(Place(tmp_path / "elsewhere")) as other:
        begin(other, events=7, tag="another")
        branch(other, MAIN, 5, "alt")
        other.export(MAIN, tmp_path / "main.mind")
    office = harbour(tmp_path / "office")
    office.log.close()
    copied(Place(tmp_path / "office"), place)
    with EventLog(place) as log:
        begin(log, events=9)
        log.take_over(tmp_path / "main.mind")
        branch(log, MAIN, 6, "fork")
        grow(log, "fork", 3)
        branch(log, "fork", 8, "fork-of-fork")
        grow(log, "alt", 2)
        redact(log, MAIN, 3)
        redact(log, "fork", 8)


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_a_copy_is_the_same_to_the_byte(
    places: Places, tmp_path: Path, source: str, target: str
) -> None:
    """Rows, positions, hashes and names, from files and servers to both; and it goes on."""
    there, here = places.new(source), places.new(target)
    filled(there, tmp_path)
    before = rows(there)
    done = copied(there, here)
    assert rows(here) == before == rows(there)
    assert (done.new, done.proved) == (done.events, done.events)
    with EventLog(there) as old, EventLog(here) as new:
        assert done.events == done.position == old.position()
        assert done.streams == len(old.streams()) > done.sessions == len(old.sessions())
        assert new.streams() == old.streams()
        assert "main-2" in new.sessions()
        for stream in old.streams():
            assert new.head(stream) == old.head(stream)
        assert new.state(SessionId("main-2")) == old.state(SessionId("main-2"))
        grow(new, "main-2", 1)
        assert new.position() == done.position + 1
    whole(here)


def test_a_copy_that_is_broken_off_is_no_store_and_goes_on(places: Places) -> None:
    """Nobody opens, makes or changes it; what was redacted meanwhile has no content there."""
    there = places.new("file")
    with made(there) as log:
        begin(log, events=20)
        grow(log, MAIN, 1, tag=SECRET)
        grow(log, MAIN, 29)
    for kind in KINDS:
        here, stopped = places.new(kind), KeyboardInterrupt()

        def stop(done: int, whole: int, stopped: BaseException = stopped) -> None:
            assert whole >= 50
            if done >= 30:
                raise stopped

        with pytest.raises(KeyboardInterrupt), StoreCopy(there, here, rows=10) as work:
            work.fill(stop)
        for refused in (EventLog, EventLog.create, make_store):
            with pytest.raises(CopyIsUnfinished, match="say the same mind store copy again"):
                refused(here)
        if kind == "server":
            with pytest.raises(CopyIsUnfinished):
                migrate(here.address)
        with EventLog(there) as log:
            if not log.mark():
                redact(log, MAIN, 21)
            grow(log, MAIN, 1)
        done = copied(there, here, rows=10)
        assert done.new == done.events - 30
        assert done.proved == done.events
        assert rows(here) == rows(there)
        whole(here)
        assert SECRET not in str(rows(here))


@pytest.mark.parametrize("target", KINDS)
def test_a_copy_gets_what_is_new(places: Places, target: str) -> None:
    """An earlier state is brought up to date, redactions included, and only that is proved."""
    there, here = places.new("file"), places.new(target)
    with made(there) as log:
        begin(log, events=20)
        grow(log, MAIN, 1, tag=SECRET)
        copied(there, here)
        assert copied(there, here).new == 0
        with EventLog(here) as kept:  # its caches hold what will be taken away
            assert SECRET in str(kept.state(MAIN))
        branch(log, MAIN, 21, "fork")
        redact(log, MAIN, 21)
        grow(log, MAIN, 1)
    done = copied(there, here)
    assert (done.new, done.proved, done.redacted, done.events) == (3, 3, 1, 24)
    assert rows(here) == rows(there)
    whole(here)
    for file in here.home.glob("*.db*"):
        assert SECRET.encode() not in file.read_bytes()


def test_writers_go_on_while_a_copy_is_made(places: Places) -> None:
    """It is as of the moment at which it began, and the next one brings the rest."""
    there = places.new("server")
    with made(there) as log:
        begin(log, events=40)
        grow(log, MAIN, 1, tag=SECRET)
        here = places.new("file")
        with StoreCopy(there, here, rows=5) as work:
            work.fill(lambda _done, _whole: grow(log, MAIN, 1) and None)
            redact(log, MAIN, 41)
            first = work.prove()
        assert first.events == first.position == 41
        whole(here)
        later = copied(there, here)
        assert later.events == log.position() > 41
        assert later.redacted == 1
    assert rows(here) == rows(there)


@pytest.mark.parametrize("target", KINDS)
def test_another_history_is_left_alone(places: Places, target: str) -> None:
    """One that has gone on, one that went another way, one that has nothing in common."""
    there, here = places.new("file"), places.new(target)
    with made(there) as log:
        begin(log, events=20)
        begin(log, "second", events=3)
        copied(there, here)
        with EventLog(here) as other:
            grow(other, MAIN, 2, tag="here")
        before = rows(here)
        with pytest.raises(AnotherHistory, match="it has come to position 25, of 23"):
            copied(there, here)
        grow(log, "second", 5)
    with pytest.raises(AnotherHistory, match="main went another way there"):
        copied(there, here)
    assert rows(here) == before
    alone = places.new(target)
    with made(alone) as log:
        begin(log, "alone")
    with pytest.raises(AnotherHistory, match=r"is there alone|is missing there"):
        copied(there, alone)


def test_the_same_newest_event_is_not_the_same_history(files: Places, tmp_path: Path) -> None:
    """Two stores may end alike, by an import, and have parted before."""
    there, here = files.new("file"), files.new("file")
    with made(there) as one, made(bundled := files.new("file")) as lent:
        begin(one, events=3)
        begin(lent, "lent", events=3)
        lent.export(SessionId("lent"), tmp_path / "lent.mind")
        copied(there, here)
        grow(one, MAIN, 1, tag="one")
        one.take_over(tmp_path / "lent.mind")
    assert bundled.url is None
    with EventLog(here) as other:
        grow(other, MAIN, 1, tag="other")
        other.take_over(tmp_path / "lent.mind")
    assert rows(there)[-1] == rows(here)[-1]
    with pytest.raises(AnotherHistory, match="main went another way there"):
        copied(there, here)


@pytest.mark.parametrize("target", KINDS)
def test_who_writes_into_a_copy_meanwhile_stops_it(places: Places, target: str) -> None:
    """What they wrote stays, and nothing comes behind it."""
    there, here = places.new("file"), places.new(target)
    with made(there) as log:
        begin(log, events=5)
        copied(there, here)
        grow(log, MAIN, 200)
    with EventLog(here) as other:

        def write(done: int, _whole: int) -> None:
            if done < 100:
                begin(other, "mine")

        with (
            pytest.raises(AnotherHistory, match="somebody else writes there"),
            StoreCopy(there, here, rows=50) as work,
        ):
            work.fill(write)
        assert other.streams() == [MAIN, "mine"]
        assert other.position() == 5 + 50 + 1


def test_two_copies_to_one_directory_are_not_made_at_once(files: Places) -> None:
    """The second is told so, and nothing of the first is harmed."""
    there, here = files.new("file"), files.new("file")
    with made(there) as log:
        begin(log, events=5)
    with StoreCopy(there, here) as work:
        with pytest.raises(StoreIsBusy):
            copied(there, here)
        work.fill()
        work.prove()
    assert rows(here) == rows(there)
    assert [file.name for file in here.home.iterdir()] == ["log.db"]


def test_who_makes_a_store_meanwhile_keeps_it(files: Places) -> None:
    """A copy never takes the place of a store."""
    there, here = files.new("file"), files.new("file")
    with made(there) as log:
        begin(log, events=5)
    with StoreCopy(there, here) as work:
        work.fill()
        copied(there, other := files.new("file"))
        os.link(other.home / "log.db", here.home / "log.db")
        with pytest.raises(StoreExists):
            work.prove()


def test_what_is_not_as_written_becomes_no_store(places: Places) -> None:
    """A damaged original is named, and its copy is never opened."""
    there = places.new("file")
    with made(there) as log:
        begin(log, events=9)
    damage(there, 4)
    for kind in KINDS:
        here = places.new(kind)
        with pytest.raises(Broken, match=r"main: event 4 .* is not what was written"):
            copied(there, here)
        with pytest.raises(CopyIsUnfinished):
            EventLog(here)


@pytest.mark.parametrize("target", KINDS)
def test_a_whole_copy_gets_nothing_that_is_damaged(places: Places, target: str) -> None:
    """It stays what it was: no later copy could mend it."""
    there, here = places.new("file"), places.new(target)
    with made(there) as log:
        begin(log, events=9)
        copied(there, here)
        before = rows(here)
        grow(log, MAIN, 5)
    damage(there, 12)
    with pytest.raises(Broken, match=r"main: event 12 .*: nothing was copied"):
        copied(there, here)
    assert rows(here) == before


def test_a_copy_that_was_killed_once_it_was_finished_is_tidied_up(files: Places) -> None:
    """The file that it was made in had become the store's, and is removed."""
    there, here = files.new("file"), files.new("file")
    with made(there) as log:
        begin(log, events=9)
        copied(there, here)
        os.link(here.home / "log.db", here.home / "log.db.copy")
        (here.home / "log.db.copy.lock").touch()
        grow(log, MAIN, 1)
    assert copied(there, here).new == 1
    assert not list(here.home.glob("*.copy*"))
    assert rows(here) == rows(there)


def test_what_can_not_be_read_is_said(files: Places) -> None:
    """In a sentence about the original, whichever page of it is torn."""
    there = files.new("file")
    with made(there) as log:
        begin(log, events=9)
    with unguarded(there.home) as connection:
        connection.execute("UPDATE stored_events SET state = CAST(x'ff' AS TEXT)")
    with pytest.raises(StoreIsDamaged, match=rf"{there.home.name}/log.db' can't be read"):
        copied(there, files.new("file"))


def test_positions_with_gaps_stay_as_they_are(places: Places) -> None:
    """Where transactions numbered them, each keeps its number, and the next goes behind."""
    there = places.new("server")
    migrate(there.address, by_transaction=True)
    with EventLog(there) as log:
        begin(log, events=3)
        for _ in range(3):
            grow(log, MAIN, 2)
    positions = [row[2] for row in rows(there)[1:]]
    assert positions[-1] - positions[0] > len(positions)
    file, server = places.new("file"), places.new("server")
    copied(there, file)
    copied(file, server)
    assert rows(there) == rows(file) == rows(server)
    migrate(server.address, by_transaction=True)
    with EventLog(server) as log:
        grow(log, MAIN, 1)
        assert log.position() > positions[-1]


def test_what_can_not_be_copied_to_is_said(places: Places) -> None:
    """To itself, to another numbering, from nowhere."""
    there = places.new("file")
    with made(there) as log:
        begin(log)
    with pytest.raises(Refused, match="can't be copied to itself"):
        copied(there, Place(there.home / ".." / there.home.name))
    numbered = places.new("server")
    migrate(numbered.address, by_transaction=True)
    with pytest.raises(Refused, match="numbers positions by transactions"):
        copied(there, numbered)
    nowhere = places.new("file")
    with pytest.raises(NoStore):
        copied(places.new("server"), nowhere)
    assert not nowhere.home.exists()


def test_long_events_are_brought_few_at_a_time(files: Places) -> None:
    """What is held in memory is bounded by bytes, not by events alone."""
    there, here = files.new("file"), files.new("file")
    long = "tide " * 200_000
    with made(there) as log:
        begin(log)
        for _ in range(3):
            grow(log, MAIN, 8, tag=long)
    brought: list[int] = []
    with StoreCopy(there, here) as work:
        work.fill(lambda done, _whole: brought.append(done))
        work.prove()
    assert len(brought) > 1
    assert rows(here) == rows(there)


def test_an_empty_store_is_copied(places: Places) -> None:
    """It is a store, too."""
    there, here = places.new("file"), places.new("server")
    made(there).close()
    assert copied(there, here).events == 0
    with EventLog(here) as log:
        begin(log)


def test_a_place_that_was_only_laid_out_is_filled(places: Places) -> None:
    """Its tables are there, as mind store migrate makes them, and no event."""
    there, here = places.new("file"), places.new("server")
    with made(there) as log:
        begin(log, events=5)
    migrate(here.address)
    copied(there, here)
    assert rows(here) == rows(there)


KILLED = """
import os, signal, sys
from commands.eventlog.copy import StoreCopy
from commands.eventlog.place import place_of
end = int(sys.argv[3])
def told(done, whole):
    if done >= end:
        os.kill(os.getpid(), signal.SIGKILL)
with StoreCopy(*map(place_of, sys.argv[1:3]), rows=7) as work:
    work.fill(told)
    work.prove(told)
"""


def kill(source: Place, target: Place, after: int) -> None:
    """A copy in a process of its own, which is killed after so many events."""
    words = [sys.executable, "-c", KILLED, source.name, target.name, str(after)]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == -signal.SIGKILL


def test_a_killed_copy_goes_on(places: Places) -> None:
    """What was acknowledged before is not brought again."""
    there, here = places.new("file"), places.new("server")
    with made(there) as log:
        begin(log, events=50)
    kill(there, here, 20)
    done = copied(there, here)
    assert done.new == done.events - 21
    assert rows(here) == rows(there)


@pytest.mark.slow
@pytest.mark.parametrize("target", KINDS)
def test_a_copy_that_is_killed_again_and_again_ends_well(
    places: Places, tmp_path: Path, target: str
) -> None:
    """While events come, and while chains are proved."""
    there, here = places.new("file"), places.new(target)
    filled(there, tmp_path)
    for after in (1, 7, 8, 30):
        with EventLog(there) as log:
            grow(log, MAIN, 10)
        kill(there, here, after)
        with pytest.raises(CopyIsUnfinished):
            EventLog(here)
    copied(there, here)
    assert rows(here) == rows(there)
    whole(here)
