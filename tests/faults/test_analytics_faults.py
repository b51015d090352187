"""What can be wrong with the database, its disk and its neighbours: the next question is right."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.errors import StoreIsBusy, StoreIsFull, StoreIsReadOnly
from projections.analytics.catchup import catch_up
from projections.analytics.compare import compared
from projections.analytics.place import FILE, alone
from tests.commands.eventlog.stores import grow
from tests.faults.analytics_asker import COUNT
from tests.faults.analytics_driver import MAIN
from tests.faults.analytics_stores import (
    asked,
    asking,
    built_anew,
    counted,
    holding,
    made,
    more,
    store,
    template,
    told,
)
from tests.faults.machinery import ROOT, House, draft
from tests.faults.test_full_disk import LIMITED, fill, small
from tests.faults.test_read_only import NOBODY

duckdb = pytest.importorskip("duckdb")
__all__ = ["small", "store", "template"]


# what lies there


def gone(file: Path) -> str:
    """Somebody deleted it."""
    file.unlink()
    return f"There was no {FILE}"


def emptied(file: Path) -> str:
    """There is nothing in it."""
    file.write_bytes(b"")
    return "could not be read"


def overwritten(file: Path) -> str:
    """It is a text."""
    file.write_text("why two tides?\n" * 4000, "utf-8")
    return "could not be read"


def halved(file: Path) -> str:
    """Its end is missing."""
    os.truncate(file, file.stat().st_size // 2)
    return "could not be read"


def beheaded(file: Path) -> str:
    """Only its first block is there."""
    os.truncate(file, 4096)
    return "could not be read"


def older(file: Path) -> str:
    """Another version made it."""
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("UPDATE base.status SET layout = 'older'")
    return "was made by another version"


def stranger(file: Path) -> str:
    """Somebody's own database lies there."""
    file.unlink()
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("CREATE TABLE mine(a INTEGER)")
    return "was no database of this kind"


def of_tomorrow(file: Path) -> str:
    """A DuckDB that is not out yet wrote it: the number of its format is higher."""
    content = bytearray(file.read_bytes())
    content[12] = 250
    file.write_bytes(content)
    return "could not be read"


def of_another_log(file: Path) -> str:
    """It was copied from another store."""
    with tempfile.TemporaryDirectory() as directory:
        made(Path(directory), 13, seed=9)
        shutil.copy(Path(directory) / FILE, file)
    return "was made of another log"


def without_a_table(file: Path) -> str:
    """Somebody dropped one."""
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("DROP TABLE messages CASCADE")
        connection.execute("DROP TABLE base.drafts CASCADE")
    return "could not be read"


def with_a_directory(file: Path) -> str:
    """A directory has its name."""
    file.unlink()
    file.mkdir()
    return "could not be read"


DAMAGES = (
    gone,
    emptied,
    overwritten,
    halved,
    beheaded,
    older,
    stranger,
    of_tomorrow,
    of_another_log,
    without_a_table,
)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_is_no_good_is_built_anew(store: Path, damage: Callable[[Path], str]) -> None:
    """Whatever lies in its place: it is built anew, and why is said."""
    why = damage(store / FILE)
    more(store)
    found = asked(store)
    assert found.why is not None
    assert why in found.why
    assert built_anew(store) is None


def test_a_longer_log_than_there_is(store: Path) -> None:
    """A store that was brought back from a backup is behind its database: that one is left."""
    copy = Path(shutil.copytree(store, store.parent / "backup"))
    more(store, 3)
    asked(store)
    shutil.copy(store / FILE, copy / FILE)
    assert asked(copy).why == f"{FILE} was made of another log"


@pytest.mark.parametrize(
    "part", [0, 2, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 5))]
)
def test_a_flipped_bit(store: Path, part: int) -> None:
    """Nobody reads what is wrong: it is noticed, or it was nothing, or reading it is refused."""
    chance = random.Random(part)  # noqa: S311 — repeatable
    content = bytearray((store / FILE).read_bytes())
    content[int((part + chance.random()) / 6 * len(content))] ^= 1 << chance.randrange(8)
    (store / FILE).write_bytes(content)
    more(store)
    found = asked(store, sound=False)
    noticed = None
    try:
        assert compared(store / FILE, store.parent / "whole") == []
    except duckdb.Error as error:
        noticed = str(error)
    assert noticed is None or ("checksum" in noticed and found.why is None)


@pytest.mark.parametrize("name", [f"{FILE}.wal", f"{FILE}.new", f"{FILE}.new.wal"])
@pytest.mark.parametrize("content", [b"", b"what is this?" * 999], ids=["empty", "text"])
def test_what_lies_beside_it(store: Path, name: str, content: bytes) -> None:
    """What others left there stands in nobody's way, and goes."""
    (store / name).write_bytes(content)
    more(store)
    asked(store)
    assert sorted(f.name for f in store.glob("analytics*")) == [FILE, "analytics.lock"]


def test_the_wal_of_another_one(store: Path, tmp_path: Path) -> None:
    """A journal that belongs to another file is not applied to this one."""
    other = Path(shutil.copytree(store, tmp_path / "other"))
    command = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]);"
        " c.execute('DELETE FROM events WHERE position > 3'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", command, str(other / FILE)], check=True)
    assert (other / f"{FILE}.wal").stat().st_size
    more(store)
    assert built_anew(store) is None
    shutil.copy(other / f"{FILE}.wal", store / f"{FILE}.wal")
    more(store)
    asked(store)
    (store / FILE).unlink()
    shutil.copy(other / f"{FILE}.wal", store / f"{FILE}.wal")
    assert asked(store).why == f"There was no {FILE}"


# the disk


@pytest.fixture(scope="module")
def longer(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which much has happened since its database was caught up."""
    longer = Path(shutil.copytree(template, tmp_path_factory.mktemp("longer") / "store"))
    more(longer, 80)
    return longer


@pytest.mark.parametrize("what", ["catch up", "rebuild"])
@pytest.mark.parametrize("limit", [0, pytest.param(20_000, marks=pytest.mark.slow), 400_000])
def test_no_room(longer: Path, tmp_path: Path, what: str, limit: int) -> None:
    """It says so in one sentence, what was there is there, and nothing half made is."""
    store = Path(shutil.copytree(longer, tmp_path / "store"))
    (store / "analytics.lock").touch()
    before = counted(store)
    (said,) = told(asking(what, store, before=(*LIMITED, str(limit))))
    assert said[0] == StoreIsFull.__name__, said
    assert "full" in said[1]
    assert counted(store)[0] >= before[0]
    assert len({*counted(store)}) == 1
    assert not list(store.glob("*.new*"))
    assert asked(store).why is None


def test_a_disk_that_is_really_full(small: House, template: Path) -> None:
    """On a full file system too; and with room again all is well."""
    store = small.store
    store.mkdir()
    shutil.copy(template / "log.db", store)
    with EventLog(store) as log:
        filler = fill(store.parent)
        os.truncate(filler, filler.stat().st_size - 60_000)
        with pytest.raises(StoreIsFull):
            catch_up(log, store)
        assert not list(store.glob(f"{FILE}*"))
        filler.unlink()


@contextmanager
def open_to_all(store: Path) -> Iterator[Path]:
    """A copy that everybody may look into and only we may write."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become somebody else")
    directory = Path(tempfile.mkdtemp())
    try:
        directory.chmod(0o755)
        yield Path(shutil.copytree(store, directory / "store"))
    finally:
        shutil.rmtree(directory)


def test_a_store_of_somebody_else(store: Path) -> None:
    """Without the right to write, the database is read as it is; without one it is refused."""
    with open_to_all(store) as public:
        assert told(asking("catch up", public, before=NOBODY)) == [[0, None]]
        more(public)
        assert told(asking("catch up", public, before=NOBODY)) == [[4, None]]
        (said,) = told(asking("rebuild", public, before=NOBODY))
        assert said[0] == StoreIsReadOnly.__name__
        (public / FILE).unlink()
        (said,) = told(asking("catch up", public, before=NOBODY))
        assert said[0] == StoreIsReadOnly.__name__
        assert "can't be written" in said[1]


# neighbours


def test_a_reader_in_another_process(store: Path) -> None:
    """Who has it open goes on reading one and the same whole; all others get what is new."""
    before = counted(store)
    with holding("reader", store) as count:
        for _ in range(3):
            more(store)
            assert built_anew(store) is None
            assert tuple(count()) == before
        asked(store)
        assert counted(store)[0] == before[0] + 12
    assert sorted(f.name for f in store.glob("analytics*")) == [FILE, "analytics.lock"]


def test_a_writer_in_another_process(store: Path) -> None:
    """Somebody's own program that writes to it can't hold up the next question."""
    with holding("writer", store):
        more(store)
        found = asked(store)
        assert found.why == f"{FILE} was open in another program"
    more(store)
    assert counted(store)[0] == 54
    asked(store)


def test_a_reader_in_the_same_process(store: Path) -> None:
    """An open connection of this very process hinders nobody, whatever its settings."""
    for config in ({"threads": 1}, {}):
        before = counted(store)
        with closing(duckdb.connect(str(store / FILE), read_only=True, config=config)) as mine:
            more(store)
            with EventLog(store) as log:
                assert catch_up(log, store).why is None
                assert catch_up(log, store).why is None
            assert tuple(mine.execute(COUNT).fetchall()[0]) == before
        assert counted(store)[0] == before[0] + 4
        asked(store)


@pytest.mark.slow
def test_somebody_else_is_at_it(store: Path) -> None:
    """While another process catches up, what is there is read, and how far it is behind is said."""
    more(store)
    with EventLog(store) as log, alone(store):
        found = catch_up(log, store)
        assert (found.behind, found.why) == (4, None)
        (store / FILE).unlink()
        with pytest.raises(StoreIsBusy):
            catch_up(log, store)


@pytest.mark.parametrize(("askers", "times"), [(3, 3), pytest.param(8, 20, marks=pytest.mark.slow)])
def test_many_at_once(store: Path, askers: int, times: int) -> None:
    """Several processes ask while one writes: each sees all it knew of, and nothing twice."""
    processes = [asking("ask", store, times) for _ in range(askers)]
    with EventLog(store) as log:
        for process in processes:
            while process.poll() is None:
                grow(log, MAIN, 3, tag="at once")
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
    answers = [answer for process in processes for answer in told(process)]
    assert len(answers) == askers * times
    for known, behind, why, events, positions, newest in answers:
        assert why is None
        assert events == positions == newest
        assert newest >= known - behind
    assert asked(store).why is None


def test_the_dialogue_has_nothing_to_do_with_it(home: House) -> None:
    """Whoever holds the database: messages, runs and acceptances neither wait nor import it."""
    home.init([draft(1), draft(2)], "why two tides?")
    with EventLog(home.store) as log:
        catch_up(log, home.store)
    with holding("writer", home.store), alone(home.store):
        for args in (("run",), ("accept",), ("message", "and the Baltic?"), ("think", "salt")):
            home.here(*args).fine()
        code = (
            "import sys\n"
            "from cli.main import run\n"
            "for words in ('run 1', 'accept', 'message why?', 'drafts', 'history'):\n"
            "    sys.argv = ['mind', *words.split()]\n"
            "    try: run()\n"
            "    except SystemExit as end: assert not end.code, words\n"
            "print([m for m in ('duckdb', 'pyarrow', 'projections.analytics.database')"
            " if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            env=home.env,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.stdout.splitlines()[-1] == "[]", done
