"""A store of somebody else: reading works, writing is refused in one sentence."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from tests.commands.eventlog.stores import grow
from tests.faults.machinery import MIND, House, Told, copied, draft, house

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.fixture(scope="module")
def template() -> Iterator[House]:
    """A store with one accepted exchange and one draft, in a place that everybody may look into."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become somebody else")
    probe = subprocess.run([*NOBODY, MIND, "--version"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("somebody else can't reach this Python")
    with open_place() as home:
        home.init([draft(1), draft(2), draft(3)], "why two tides?")
        for args in (("run",), ("accept",), ("message", "and in the Baltic?"), ("run",)):
            home.here(*args).fine()
        yield home


@contextmanager
def open_place() -> Iterator[House]:
    """A house that is not hidden in pytest's own directory."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    home = house(directory)
    try:
        yield home._replace(env=home.env | {"HOME": str(directory), "PYTHONDONTWRITEBYTECODE": "1"})
    finally:
        shutil.rmtree(directory)


@pytest.fixture
def public(template: House) -> Iterator[House]:
    """A copy of it, which belongs to root."""
    with open_place() as home:
        copied(template, home.store.parent)
        yield home


def stranger(home: House, *args: object) -> Told:
    """What somebody without rights is told."""
    return home.mind(*args, before=NOBODY)


def listing(directory: Path) -> dict[str, bytes]:
    """All files of a store."""
    return {f.name: f.read_bytes() for f in sorted(directory.iterdir())}


READING = [
    ("history",),
    ("drafts", "--json"),
    ("log",),
    ("status",),
    ("sessions",),
    ("verify",),
    ("at", "iter:1", "drafts"),
]
WRITING = [
    ("accept",),
    ("think", "a thought"),
    ("run",),
    ("fork", "what-if"),
    ("new", "other", "why?"),
]


@pytest.mark.parametrize("args", READING, ids=" ".join)
def test_reading_works(public: House, args: tuple[str, ...]) -> None:
    """Somebody who may only read is told the same as the owner, and leaves no trace."""
    before = listing(public.store)
    told = stranger(public, *args).fine()
    assert listing(public.store) == before
    assert told.out == public.here(*args).fine().out
    assert "Traceback" not in told.err


@pytest.mark.parametrize("args", WRITING, ids=" ".join)
def test_writing_is_refused(public: House, args: tuple[str, ...]) -> None:
    """Whoever may not write is told so in one sentence, and nothing changes."""
    before = listing(public.store)
    stranger(public, *args).refused("can't be written")
    assert listing(public.store) == before


def test_how_a_store_stands(public: House) -> None:
    """Whoever may only read is told so, too, but not what nobody can tell without the right."""
    before = listing(public.store)
    told = stranger(public, "store", "status").fine()
    assert listing(public.store) == before
    assert "SQLite" in told.out
    assert "journal" not in told.out
    assert "journal_mode=wal" in public.here("store", "status").fine().out


def test_reading_beside_a_writer(public: House) -> None:
    """While the owner has the store open, a reader without rights sees what was committed."""
    with EventLog(public.store) as log:
        grow(log, "main", 2, tag="fresh")
        told = stranger(public, "thoughts", "-n", "0").fine()
        version = log.head(log.sessions()[0]).version
        assert f"fresh{version}" in told.out
        stranger(public, "verify").fine()
        stranger(public, "think", "x").refused("can't be written")


def test_after_the_writer_was_killed(public: House) -> None:
    """A journal that the owner left behind is read by those who can't tidy it up, or refused."""
    copy = public.store.parent / "copy"
    with EventLog(public.store) as log:
        grow(log, "main", 2, tag="fresh")
        copy.mkdir()
        for file in public.store.iterdir():
            if not file.name.endswith("-shm"):
                shutil.copy(file, copy / file.name)
        version = log.head(log.sessions()[0]).version
    told = stranger(public, "thoughts", "-n", "0", "--store", copy)
    assert "Traceback" not in told.err
    if told.code == 0:
        assert f"fresh{version}" in told.out, "never an old state as if it were the newest"
    else:
        told.refused(str(copy))


def test_a_store_that_can_not_be_entered(public: House) -> None:
    """Directories and files without any rights are refused in one sentence as well."""
    public.store.chmod(0o700)
    stranger(public, "status").refused(str(public.store))
    public.store.chmod(0o755)
    (public.store / "log.db").chmod(0o600)
    stranger(public, "status").refused(str(public.store))


def test_no_store_is_made_where_nobody_may_write(public: House) -> None:
    """``mind init`` in somebody else's directory is refused in one sentence."""
    stranger(public, "init", public.store.parent / "mine", "why?").refused("mine")
    stranger(public, "init", public.store.parent / "a" / "b", "why?").refused("a/b")
    assert not (public.store.parent / "mine").exists()


def test_a_home_that_can_not_be_written(public: House) -> None:
    """A store in a good place is made and used, even where the last used store can't be noted."""
    place = public.store.parent / "place"
    place.mkdir()
    place.chmod(0o777)
    told = stranger(public, "init", place / "mine", "why?")
    assert "Traceback" not in told.err, told.err
    assert told.code == 0
    stranger(public, "think", "x", "--store", place / "mine").fine()


def test_following_without_rights(public: House) -> None:
    """Who may only read is shown what is there, and told that news can't be followed."""
    said = stranger(public, "log", "--follow", "--json")
    assert '"version": 1,' in said.out
    said.refused("news can't be followed")


def test_other_things_in_the_place_of_a_store(home: House, tmp_path: Path) -> None:
    """A file, a directory of that name, a dangling link: each is refused in one sentence."""
    file = tmp_path / "file"
    file.write_text("hello")
    for args in (("init", file, "why?"), ("status", "--store", file), ("init", file / "x", "why?")):
        told = home.here(*args)
        assert "Traceback" not in told.err, told.err
        assert told.code in {1, 2}
    strange = tmp_path / "strange"
    (strange / "log.db").mkdir(parents=True)
    for args in (("init", strange, "why?"), ("status", "--store", strange)):
        told = home.here(*args)
        assert "Traceback" not in told.err, told.err
        assert told.code in {1, 2}
    assert file.read_text() == "hello"


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\x00", b"../../etc", b"gone\n"])
def test_a_torn_note_of_the_current_session(home: House, content: bytes) -> None:
    """The file that notes the current session is no truth: a torn one stops nobody for long."""
    home.init([], "why?")
    (home.store / "current").write_bytes(content)
    told = home.here("status")
    assert "Traceback" not in told.err, told.err
    assert told.code in {0, 2}
    home.here("switch", "main").fine()
    home.here("status").fine()
