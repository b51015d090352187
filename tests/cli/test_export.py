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
    done = within("export", "parquet", "lake", "--buckets", "4", "-S", here)
    assert (done.code, done.out) == (0, "")
    first, second = done.err.splitlines()
    assert first == "There was no analytics.duckdb: built anew."
    assert second.startswith("Wrote ")
    assert "up to event 7 of the store" in second
    (bucket,) = (tmp_path / "lake" / "messages" / "day=2025-06-15").iterdir()
    assert bucket.name in {f"bucket={n}" for n in range(4)}
    done = within("export", "arrow", "tables", "--table", "drafts", "-S", here, "--json")
    size = sum(file.stat().st_size for file in (tmp_path / "tables").iterdir())
    facts = {"place": "tables", "position": 7, "behind": 0, "files": 3, "bytes": size}
    assert done.data == {**facts, "rows": {"drafts": 1}}
    assert done.err == ""


def test_again_and_again(within: Mind, here: str) -> None:
    """It is told what came, what could go, and why all was written anew."""
    lake = ("export", "parquet", "lake", "-S", here, "-t", "events", "-t", "sessions")
    assert within(*lake).code == 0
    again = within(*lake)
    assert again.err == "lake is up to date: it goes up to event 7 of the store.\n"
    with EventLog(Path(here)) as log:
        grow(log, MAIN, 1)
    added, could_go = within(*lake).err.splitlines()
    assert added.startswith("Added to lake: 3 rows, 2 files, ")
    assert added.endswith("; events 8 to 8 of the store.")
    assert could_go.startswith("1 file of earlier states, ")
    assert within(*lake, "--prune").err.splitlines()[1].startswith("Removed 1 file, ")
    assert within("redact", "draft:1", "--reason", "a name", "-y", "-S", here, "-s", MAIN).code == 0
    done = within(*lake, "--json")
    facts = {name: done.data[name] for name in ("place", "after", "position", "behind", "redacted")}
    assert facts == {"place": "lake", "after": 0, "position": 9, "behind": 0, "redacted": True}
    assert (done.data["rows"], done.data["files"]) == ({"events": 9, "sessions": 2}, 3)
    assert (done.data["superseded"]["files"], done.data["removed"]["files"]) == (0, 3)
    done = within(*lake, "--buckets", "3")
    assert done.code == 2
    assert "--force" in done.err
    with EventLog(Path(here)) as log:
        newest = next(r for r in log.read(MAIN) if r.event.kind == "thought.added")
        log.redact({MAIN: [newest.version]}, "a name", draw(wish=77))
    assert "was redacted since the last export: all of lake was written anew" in within(*lake).err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("parquet", "here/lake"), "in the store"),
        (("parquet", "here"), "in the store"),
        (("parquet", "file"), "there already"),
        (("parquet", "."), "no export"),
        (("parquet", "lake", "--buckets", "0"), "1 to 1,024"),
        (("arrow", "."), "where you are"),
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


def _limited(
    limit: int, words: tuple[str, ...], tmp_path: Path
) -> "subprocess.CompletedProcess[str]":
    """The installed command where no file can be longer than that."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), MIND, *words],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "MIND_USER": "ann",
            "PYTHONDONTWRITEBYTECODE": "1",  # half of it would be there for everybody
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


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
    done = _limited(limit, words, tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("mind: ")
    assert "full" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    assert within(*words).code == 0


def test_a_full_disk_leaves_a_lake_as_it_was(
    within: Mind, template_of_noise: Path, tmp_path: Path
) -> None:
    """What can't be added is not, and there is room for it again."""
    here = shutil.copytree(template_of_noise, tmp_path / "here")
    words = ("export", "parquet", "lake", "-S", "here", "-t", "events", "-t", "thoughts")
    assert within(*words).code == 0
    before = sorted((tmp_path / "lake").rglob("*"))
    with EventLog(here) as log:
        log.append(MAIN, 31, draw(*(thought(os.urandom(9_000).hex()) for _ in range(9)), wish=99))
        catch_up(log, here)
    done = _limited(50_000, words, tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert "full" in done.stderr
    assert sorted((tmp_path / "lake").rglob("*")) == before
    assert "events 32 to 40" in within(*words).err


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
