"""`mind export parquet` and `mind export arrow`, as they are typed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.recorded import BEGINNING
from projections.analytics.catchup import catch_up
from tests.cli.conftest import MIND, Mind
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, thought
from tests.domain.happened import asked, drafted, started

LIMITED = """import os, resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.argv[2], sys.argv[2:])"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a session and a branch of it."""
    home = tmp_path_factory.mktemp("template")
    with EventLog.create(home) as log:
        past = started(), asked(), drafted(1, "Because…"), thought("of \x1b[31mtides")
        log.begin(MAIN, BEGINNING, draw(*past))
        branch(log, MAIN, 3, "b")
        grow(log, "b", 2)
    return home


@pytest.fixture
def here(template: Path, tmp_path: Path) -> str:
    """A copy of it."""
    return str(shutil.copytree(template, tmp_path / "here"))


@pytest.fixture(scope="module")
def template_asked(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its database."""
    home = shutil.copytree(template, tmp_path_factory.mktemp("asked"), dirs_exist_ok=True)
    with EventLog(home) as log:
        catch_up(log, home)
    return home


@pytest.fixture(scope="module")
def template_of_noise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose thoughts can't be compressed, with its database."""
    home = tmp_path_factory.mktemp("noise")
    with EventLog.create(home) as log:
        begin(log)
        for n in range(30):
            log.append(MAIN, n + 1, draw(thought(os.urandom(1_000).hex()), wish=n + 1))
        catch_up(log, home)
    return home


def test_parquet_and_arrow(within: Mind, here: str, tmp_path: Path) -> None:
    """What was written is told in a sentence, or as JSON; nothing else is on stdout."""
    done = within("export", "parquet", "lake", "--partition-by", "session", "-S", here)
    assert (done.code, done.out) == (0, "")
    first, second = done.err.splitlines()
    assert first == "There was no analytics.duckdb: built anew."
    assert second.startswith("Wrote ")
    assert "up to event 7 of the store" in second
    assert (tmp_path / "lake" / "messages" / "session=main").is_dir()
    done = within("export", "arrow", "tables", "--table", "drafts", "-S", here, "--json")
    size = sum(file.stat().st_size for file in (tmp_path / "tables").iterdir())
    facts = {"place": "tables", "position": 7, "behind": 0, "files": 3, "bytes": size}
    assert done.data == {**facts, "rows": {"drafts": 1}}
    assert done.err == ""


def test_a_second_time(within: Mind, here: str, tmp_path: Path) -> None:
    """It has to be told that the first one goes, and then holds what is new."""
    assert within("export", "parquet", "lake", "-S", here).code == 0
    with EventLog(Path(here)) as log:
        grow(log, MAIN, 1)
    done = within("export", "parquet", "lake", "-S", here)
    assert done.code == 2
    assert "--force" in done.err
    done = within("export", "parquet", "lake", "-S", here, "-f")
    assert done.code == 0
    assert "up to event 8" in done.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("parquet", "here/lake"), "in the store"),
        (("parquet", "here"), "in the store"),
        (("parquet", "file"), "there already"),
        (("parquet", "."), "where you are"),
        (("parquet", "no/where"), "make it first"),
        (("parquet", "/proc/lake"), "can't be written"),
        (("parquet", "/dev/null"), "there already"),
        (("parquet", "lake", "-t", "nothing"), "no table 'nothing'"),
        (("parquet", "\x1b[31m/x"), "make it first"),
        (("arrow", "file.arrow"), "one table"),
        (("arrow", "here/m.arrow", "-t", "messages"), "in the store"),
    ],
)
def test_what_is_refused(
    within: Mind, template_asked: Path, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    """In one sentence that a terminal can show, with nothing written."""
    here = str(shutil.copytree(template_asked, tmp_path / "here"))
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = within("export", *words, "--force", "-S", here)
    assert done.code == 2
    assert why in done.err
    assert "\x1b" not in done.err
    assert len(done.err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_the_past_is_no_export(within: Mind, here: str, tmp_path: Path) -> None:
    """An export is of all there is, so a look from the past is refused, not left unsaid."""
    done = within("at", "2", "export", "parquet", "lake", "-S", here)
    assert done.code == 2
    assert "mind at" in done.err
    assert not (tmp_path / "lake").exists()


def _started(tmp_path: Path, *words: str) -> "subprocess.Popen[bytes]":
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MIND_USER": "ann"}
    return subprocess.Popen([MIND, *words], cwd=tmp_path, env=env, stderr=subprocess.DEVNULL)


def test_a_kill_leaves_nothing_at_the_place(installed: Mind, tmp_path: Path) -> None:
    """While it is being written nothing is there, and the next export clears up."""
    home = tmp_path / "here"
    home.mkdir()
    with EventLog.create(home) as log:
        begin(log, events=2_000)
    assert installed("export", "parquet", "first", "-S", "here").code == 0
    hits, tries = 0, [f"lake-{n}" for n in range(20)]
    for lake in tries:
        running = _started(tmp_path, "export", "parquet", lake, "-S", "here")
        while running.poll() is None and not list(tmp_path.glob(".mind-export-*/new/events")):
            pass
        running.kill()
        running.wait()
        left = list(tmp_path.glob(".mind-export-*"))
        if (tmp_path / lake / "_schema.json").exists():  # it was faster
            continue
        assert not (tmp_path / lake).exists()
        assert len(left) == 1  # of this one: what the one before had left is gone
        hits += 1
        if hits == 3:
            break
    assert hits == 3
    assert installed("export", "parquet", "last", "-S", "here").code == 0
    assert not list(tmp_path.glob(".mind-export-*"))
    told = [(tmp_path / name / "_schema.json").read_text() for name in ("first", "last")]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (0, ("parquet", "lake")),
        (20_000, ("parquet", "lake")),
        (20_000, ("arrow", "lake")),
        (1_000, ("arrow", "m.arrow", "-t", "thoughts")),
    ],
)
def test_a_full_disk(
    within: Mind, template_of_noise: Path, tmp_path: Path, limit: int, words: tuple[str, ...]
) -> None:
    """One sentence, exit code 1, nothing half-written; with room, it is done."""
    shutil.copytree(template_of_noise, tmp_path / "here")
    words = ("export", *words, "-S", "here")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), MIND, *words],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MIND_USER": "ann"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("mind: ")
    assert "full" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    assert within(*words).code == 0


def test_a_store_that_nobody_may_write(within: Mind, here: str, tmp_path: Path) -> None:
    """It can be exported as long as its database is there."""
    assert within("export", "arrow", "before", "-S", here).code == 0
    for file in Path(here).iterdir():
        file.chmod(0o444)
    Path(here).chmod(0o555)
    try:
        assert within("export", "parquet", "lake", "-S", here).code == 0
    finally:
        Path(here).chmod(0o755)
    assert (tmp_path / "lake" / "README.md").exists()


def test_without_duckdb_it_says_what_to_install(installed: Mind, here: str, tmp_path: Path) -> None:
    """Where the extra is not installed, the sentence names it."""
    (tmp_path / "duckdb.py").write_text("raise ImportError")
    done = installed("export", "parquet", "lake", "-S", here, PYTHONPATH=str(tmp_path))
    assert done.code == 2
    assert "logosphere[analysis]" in done.err
    assert not (tmp_path / "lake").exists()
