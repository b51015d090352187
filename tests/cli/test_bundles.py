"""`mind export session` and `mind import`: what went, what came, and under which names."""

from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.ids import SessionId
from tests.cli.conftest import Mind
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, pool


def store(directory: Path, tag: str = "t") -> str:
    """``main`` of 12 events, and ``b`` behind its 6th with one more."""
    directory.mkdir()
    with EventLog.create(directory) as log:
        begin(log, events=12, tag=tag)
        branch(log, MAIN, 6, "b")
        grow(log, "b", 1, tag=tag)
    return str(directory)


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process: these tests ask many commands."""
    return within


@pytest.fixture
def here(tmp_path: Path) -> str:
    """A store."""
    return store(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> str:
    """Another one, with sessions of the same names."""
    return store(tmp_path / "there", "other")


def test_there_and_back(mind: Mind, here: str, there: str, tmp_path: Path) -> None:
    """Numbers and names are told; twice is once; what is new comes, and goes home again."""
    file = "it's [a] 100% “bundle”.mind"
    done = mind("export", "session", "main", "-o", file, "--store", here)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"Wrote 14 events of main, b to {file}.\n"
    done = mind("import", file, "--store", there)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "main-2: 12 events (it was main there).",
        "b-2: 2 events (it was b there).",
    ]
    assert mind("import", file, "--store", there).out.splitlines() == [
        "main-2: here already, nothing new.",
        "b-2: here already, nothing new.",
    ]
    with EventLog(Path(here)) as log:
        grow(log, MAIN, 1)
        grow(log, "b", 2)
        log.redact({MAIN: [3]}, "private", draw(wish=1 << 70))
        branch(log, "b", 8, "b/c")
    done = mind("export", "session", "b", "-o", "b.mind", "--store", here)
    assert done.err.startswith("Wrote 19 events")
    assert mind("import", "b.mind", "--store", there).out.splitlines() == [
        "main-2: 2 more events; the content of 1 was redacted.",
        "b-2: 2 more events.",
        "b/c: 1 event.",
    ]
    with EventLog(Path(there)) as log:
        assert "t3" not in pool(log, "b-2")
        assert not [f for verdict in log.verify() for f in verdict.findings]
    done = mind("export", "session", "b-2", "-o", "back.mind", "--store", there, "--json")
    assert done.data == {"file": "back.mind", "sessions": ["main-2", "b-2", "b/c"], "events": 19}
    done = mind("import", "back.mind", "--store", here, "--json")
    assert [one["what"] for one in done.data] == ["known"] * 3
    assert done.data[0] == {
        "session": "main-2",
        "name": "main",
        "what": "known",
        "events": 0,
        "redacted": 0,
    }


def test_an_imported_session_is_one_like_others(
    mind: Mind, installed: Mind, here: str, tmp_path: Path
) -> None:
    """It can be listed, read, branched off, appended to and proved, from an empty store on."""
    (tmp_path / "empty").mkdir()
    EventLog.create(tmp_path / "empty").close()
    empty = str(tmp_path / "empty")
    assert installed("export", "session", "b", "-o", "f", "--store", here).code == 0
    assert installed("import", "f", "--store", empty).code == 0
    rows = {row["session"]: row for row in mind("sessions", "--json", "-S", empty).data}
    assert rows["b"]["parent"] == "main@6"
    assert (rows["main"]["version"], rows["b"]["version"]) == (6, 8)
    assert mind("note", "here", "-S", empty, "-s", "main").code == 0
    assert mind("fork", "c", "--at", "b@7", "-S", empty).code == 0
    assert mind("verify", "--store", empty).out == "10 events of 3 sessions: all as written.\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("export", "session", "nowhere", "-o", "f"), "nowhere"),
        (("export", "session", "Main", "-o", "f"), "Main"),
        (("export", "session", "main", "-o", "there.txt"), "name another file"),
        (("export", "session", "main", "-o", "nowhere/f"), "no such directory"),
        (("export", "session", "main", "-o", "."), "name another file"),
        (("import", "nowhere"), "no such file"),
        (("import", "there.txt"), "not a Logosphere log"),
        (("import", "."), "can't be read"),
        (("import", "here/log.db"), "a damaged log"),
    ],
)
def test_what_is_refused(
    mind: Mind, here: str, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    """In one sentence, and nothing is written anywhere."""
    (tmp_path / "there.txt").write_text("my only copy")
    if why == "a damaged log":
        content = bytearray((tmp_path / "here" / "log.db").read_bytes())
        (tmp_path / "damaged").write_bytes(content[:-4096])
        words = ("import", "damaged")
        why = "nothing was taken over"
    with EventLog(tmp_path / "here") as log:
        before = list(log.feed())
    done = mind(*words, "--store", here)
    assert done.code == 2
    assert why in done.err
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) == 1
    with EventLog(tmp_path / "here") as log:
        assert list(log.feed()) == before
    assert (tmp_path / "there.txt").read_text() == "my only copy"
    assert not list(tmp_path.glob("*.new*"))
    assert not (tmp_path / "f").exists()


def test_a_store_that_nobody_may_write(mind: Mind, here: str, tmp_path: Path) -> None:
    """A session can be taken out of it; how to bring one in is said."""
    with EventLog(Path(here)) as log:
        log.export(SessionId("b"), tmp_path / "f")
    for file in Path(here).iterdir():
        file.chmod(0o444)
    Path(here).chmod(0o555)
    try:
        done = mind("export", "session", "b", "-o", "g", "--store", here)
        assert done.code == 0
        assert (tmp_path / "g").exists()
    finally:
        Path(here).chmod(0o755)
