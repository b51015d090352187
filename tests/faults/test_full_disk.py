"""A full disk: one clear sentence, nothing half-written, and all goes on once there is room."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from tests.commands.eventlog.stores import grow
from tests.faults.machinery import House, Told, copied, draft, house

LIMITED = (
    sys.executable,
    "-c",
    """import os, resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.argv[2], sys.argv[2:])""",
)
LONG = "why? " * 30_000


def same(before: bytes, store: Path) -> None:
    """Check that the log holds exactly what it held, whatever lies in the journal."""
    with EventLog(store, writable=False) as log:
        assert b"".join(r[4] for name in log.sessions() for r in log.rows(name)) == before


def content(store: Path) -> bytes:
    """All that the log holds."""
    with EventLog(store, writable=False) as log:
        return b"".join(r[4] for name in log.sessions() for r in log.rows(name))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A store that awaits an answer, with one draft of two at hand."""
    home = house(tmp_path_factory.mktemp("template"))
    home.init([draft(1), draft(2)], "why two tides?")
    home.here("run").fine()
    return home


@pytest.fixture
def drafting(template: House, tmp_path: Path) -> House:
    """A copy of it."""
    return copied(template, tmp_path)


def limited(home: House, limit: int, *args: object, stdin: bytes | None = None) -> Told:
    """Run a command that may write files of so many bytes at most."""
    return home.mind(*args, stdin=stdin, before=(*LIMITED, str(limit)))


@pytest.mark.parametrize("limit", [0, 20_000, 41_000])
def test_no_room_for_the_log(drafting: House, limit: int) -> None:
    """A thought that does not fit is refused in one sentence, and leaves nothing."""
    before = content(drafting.store)
    told = limited(drafting, limit, "think", "-", stdin=LONG.encode())
    told.broken("full", "nothing of this was written")
    same(before, drafting.store)
    drafting.sound()
    drafting.here("think", "-", stdin=LONG.encode()).fine()
    assert drafting.kinds()[-1] == "thought.added"
    drafting.sound()


@pytest.mark.parametrize("limit", [0, 20_000])
@pytest.mark.parametrize("args", [("drafts",), ("log",), ("verify",)], ids=" ".join)
def test_reading_needs_no_room(drafting: House, limit: int, args: tuple[str, ...]) -> None:
    """What is there can be read however full the disk is."""
    told = limited(drafting, limit, *args).fine()
    assert told.out == drafting.here(*args).fine().out


@pytest.mark.parametrize(
    "args",
    [
        ("message", "x" * 9000),
        ("accept",),
        ("fork", "what-if"),
        ("new", "other", "why?"),
        ("run", "1"),
        ("init", "STORE-2", "why?"),
    ],
    ids=lambda args: args[0],
)
def test_every_wish_says_it(drafting: House, args: tuple[str, ...]) -> None:
    """No command that writes ends in anything but a sentence, and none is half done."""
    before = content(drafting.store)
    current = (drafting.store / "current").read_text()
    args = tuple(str(drafting.store.parent / "2") if a == "STORE-2" else a for a in args)
    told = limited(drafting, 0, *args)
    assert "Traceback" not in told.err, told.err
    assert told.code in {1, 2}
    if args[0] != "message":  # which is refused anyway: a draft awaits
        told.broken("full")
    same(before, drafting.store)
    assert (drafting.store / "current").read_text() == current
    if args[0] != "message":
        again = drafting.here(*args)
        assert again.code == 0, again
    drafting.sound()


def test_a_run_that_fills_the_disk(home: House) -> None:
    """A run that finds no room ends with the sentence; later it goes on."""
    big = "thoughts: [" + ", ".join(f"thought {n} {os.urandom(200).hex()}" for n in range(60)) + "]"
    home.init([draft(1), {"text": big}, draft(3), draft(4)], "why?")
    limited(home, 60_000, "run", "-b", "4").broken("full")
    home.sound()
    told = home.here("run", "-b", "2").fine()
    assert "limit" in told.err
    home.sound()
    assert home.kinds().count("mind.invoked") == 3


def test_no_room_for_a_snapshot(home: House) -> None:
    """The cache does not fit on the disk: the wish succeeds all the same."""
    home.init([])
    with EventLog(home.store) as log:
        grow(log, "main", 400)
    for file in home.store.glob("snapshots.db*"):
        file.unlink()
    (home.store / "snapshots.db").symlink_to("/dev/full")
    home.here("think", "one more").fine()
    assert home.here("status").fine().err == ""
    home.sound()


@pytest.fixture
def small() -> Iterator[House]:
    """A house on a disk of its own, of one megabyte."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    directory = Path("/tmp") / f"logosphere-small-{os.getpid()}"  # noqa: S108 — a mount point
    directory.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", str(directory)],
        check=False,
        capture_output=True,
    )
    if done.returncode:
        directory.rmdir()
        pytest.skip(f"mount refused: {done.stderr.decode().strip()}")
    try:
        yield house(directory)
    finally:
        subprocess.run(["umount", str(directory)], check=True)
        directory.rmdir()


def fill(directory: Path) -> Path:
    """A file that takes what room there is."""
    filler = directory / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


@pytest.mark.parametrize("room", [0, 8192, 40_960])
def test_a_disk_that_is_really_full(small: House, room: int) -> None:
    """On a full file system: reading works, writing says so, and room helps at once."""
    small.init([draft(1), draft(2), draft(3)], "why?")
    small.here("run").fine()
    filler = fill(small.store.parent)
    os.truncate(filler, filler.stat().st_size - room)
    before = content(small.store)
    for think in (small.mind, small.here):
        think("think", "-", stdin=LONG.encode()).broken("full")
    assert "number 1" in small.here("drafts").fine().out
    small.here("verify").fine()
    same(before, small.store)
    filler.unlink()
    small.here("think", "-", stdin=LONG.encode()).fine()
    small.here("run").fine()
    small.sound()


def test_a_disk_that_fills_up_bit_by_bit(small: House) -> None:
    """Wherever the last commit that fits ends: what was acknowledged is there, and no more."""
    small.init([], "why?")
    small.here("status").fine()
    with EventLog(small.store) as log:
        acknowledged = log.head(log.sessions()[0])
        filler = fill(small.store.parent)
        os.truncate(filler, filler.stat().st_size - 150_000)
        refusal = None
        for n in range(400):
            try:
                acknowledged = grow(log, "main", 3, tag="x" * (n * 17 % 3000))
            except Exception as error:  # noqa: BLE001 — looked at below
                refusal = error
                break
        assert type(refusal).__name__ == "StoreIsFull"
        assert log.head(log.sessions()[0]) == acknowledged
    with EventLog(small.store, writable=False) as log:
        assert log.head(log.sessions()[0]) == acknowledged
    filler.unlink()
    small.sound()
    small.here("think", "there is room again").fine()


def test_the_cache_fills_the_disk(small: House, tmp_path: Path) -> None:
    """When only the snapshots have no room, every wish succeeds."""
    home = house(tmp_path).init([])
    for file in home.store.glob("snapshots.db*"):
        file.unlink()
    (home.store / "snapshots.db").symlink_to(small.store.parent / "snapshots.db")
    fill(small.store.parent)
    with EventLog(home.store) as log:
        grow(log, "main", 600)
        assert log.state(log.sessions()[0]).version == 601
    home.mind("think", "one more").fine()
    home.sound()
