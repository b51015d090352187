"""The index follows the log, and is built anew when it has to be."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from domain.events import (
    ArtifactEdited,
    ArtifactRejected,
    EffortOpened,
    EffortResolved,
    FactLearned,
    SessionRenamed,
)
from domain.ids import SessionId
from projections.search.ask import Searcher
from projections.search.index import Index, forget
from projections.search.place import FILE, LOCK, alone, connect, new_of
from tests.commands.eventlog.stores import draw
from tests.projections.search.library import TOY, Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A store in which something was said."""
    library = Library(tmp_path / "store")
    library.says("why is the sky blue?")
    return library


def contents(library: Library, directory: Path | None = None) -> dict[str, list[Any]]:
    """All that is in the index, without vectors."""
    with Index(library.log, directory or library.directory) as index:
        index.catch_up()
        tables = {
            name: index.connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()  # noqa: S608
            for name in ("texts", "endings", "status")
        }
        words = index.connection.execute(
            "SELECT rowid, bm25(words) FROM words WHERE words MATCH 'sky OR key OR login'"
        )
        return {**tables, "words": [(n, round(score, 6)) for n, score in words]}


def test_built_anew_it_says_the_same(library: Library, tmp_path: Path) -> None:
    """Followed event by event or read from the first one on: row for row."""
    effort = library.records(EffortOpened(goal="Fix the login"))
    contents(library)
    fact = library.records(FactLearned(statement="The key is under the mat"))
    library.forks("child")
    contents(library)
    library.records(EffortResolved(effort=effort, resolution="done"), session="child")
    library.records(ArtifactEdited(artifact=fact, text="The key is lost"))
    contents(library)
    library.records(ArtifactRejected(artifact=fact), session="child")
    library.records(SessionRenamed(title="sky"))
    library.answers("and the sea?", "blue from the sky")
    followed = contents(library)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    assert contents(library, fresh) == followed
    assert len(followed["texts"]) == 10


def test_it_can_be_deleted(library: Library) -> None:
    """The next search builds another."""
    before = library.finds("sky")
    (library.directory / FILE).unlink()
    assert library.finds("sky") == before


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 99, None])
def test_what_is_torn_is_built_anew(library: Library, damage: bytes | None) -> None:
    """Empty, overwritten, or with a hole in the middle."""
    library.says(*(f"sky number {n}" for n in range(300)))
    before = library.finds("sky", limit=50)
    file = library.directory / FILE
    whole = file.read_bytes()
    middle = whole[:8192] + b"\xff" * 16384 + whole[8192 + 16384 :]
    file.write_bytes(middle if damage is None else damage)
    assert library.finds("sky", limit=50) == before


def test_who_meets_a_hole_while_searching_gets_another_index(library: Library) -> None:
    """Nothing was new, so nobody had looked at that page before."""
    library.says(*(f"sky number {n}" for n in range(900)))
    before = library.finds("sky", limit=50)
    file = library.directory / FILE
    whole = file.read_bytes()
    file.write_bytes(whole[:16384] + b"\xff" * (len(whole) - 16384))
    told: list[str] = []
    with Searcher(library.log, library.directory, on_remark=told.append) as searcher:
        assert [hit.version for hit in searcher.search("sky", limit=50)] == [
            int(one.split("@")[1].split()[0]) for one in before
        ]
    assert told
    assert all(one.endswith("built anew.") for one in told)


def test_who_can_not_read_it_now_searches_in_memory(library: Library) -> None:
    """Somebody keeps the file to themselves for longer than anybody waits."""
    told: list[str] = []
    with Searcher(library.log, library.directory, on_remark=told.append) as searcher:
        assert len(searcher.search("sky")) == 1
        searcher._index.connection.execute("PRAGMA busy_timeout=0")
        rude = connect(library.directory / FILE, writable=True)
        rude.execute("BEGIN EXCLUSIVE")
        assert len(searcher.search("sky")) == 1
        assert searcher._index.in_memory
        rude.execute("ROLLBACK")
        rude.close()
    assert len(told) == 1
    assert "made in memory" in told[0]


def test_an_index_of_another_log_is_not_used(library: Library, tmp_path: Path) -> None:
    """A file that was copied from elsewhere answers nothing."""
    other = Library(tmp_path / "other")
    other.says("the sky of another world")
    other.finds("sky")
    (library.directory / FILE).write_bytes((other.directory / FILE).read_bytes())
    assert library.finds("sky") == ["message main@2 why is the sky blue?"]


def test_an_index_of_another_version_is_built_anew(library: Library) -> None:
    """The arrangement of its tables has a name."""
    library.finds("sky")
    connection = connect(library.directory / FILE, writable=True)
    connection.execute("UPDATE status SET layout = 'old'")
    connection.execute("DELETE FROM texts")
    connection.close()
    assert library.finds("sky") == ["message main@2 why is the sky blue?"]


def test_what_was_redacted_is_gone_from_the_file(library: Library) -> None:
    """Its words, its vector and its bytes; the vectors of all else stay."""
    secret = library.says("my password is xylophone")
    with Searcher(library.log, library.directory, TOY) as searcher:
        assert searcher.make_vectors() == 0
        assert [hit.version for hit in searcher.search("xylophone")] == [secret]
        file = library.directory / FILE
        assert b"xylophone" in file.read_bytes()
        library.log.redact({SessionId("main"): [secret]}, "secret", draw(wish=1 << 90))
        assert forget(library.log, library.directory)
        assert b"xylophone" not in file.read_bytes()
        assert b"xyloph" not in file.read_bytes()
        assert searcher.search("xylophone") == []
        assert [hit.version for hit in searcher.search("sky")] == [2]
        rows = connect(file, writable=False).execute("SELECT passages FROM texts").fetchall()
    assert rows
    assert all(row == (1,) for row in rows)


def test_an_answer_whose_draft_was_redacted_is_gone_too(library: Library) -> None:
    """The draft holds its words."""
    accepted = library.answers("and the sea?", "xylophone")
    assert library.finds("xylophone") == [f"answer main@{accepted} xylophone"]
    library.log.redact({SessionId("main"): [accepted - 1]}, "secret", draw(wish=1 << 90))
    assert library.finds("xylophone") == []
    assert "[redacted]" not in str(library.finds("redacted"))


def test_an_effort_whose_goal_was_redacted_is_found_by_its_resolution(library: Library) -> None:
    """What is left of it stays."""
    effort = library.records(EffortOpened(goal="xylophone"))
    library.records(EffortResolved(effort=effort, resolution="all done"))
    library.log.redact({SessionId("main"): [effort]}, "secret", draw(wish=1 << 90))
    assert library.finds("xylophone") == []
    (hit,) = library.hits("done")
    assert (hit.artifact, hit.text) == (effort, "all done")


def test_nothing_to_forget_where_there_is_no_index(library: Library) -> None:
    """And none is made for it."""
    assert forget(library.log, library.directory)
    assert not (library.directory / FILE).exists()


def test_where_nothing_can_be_written_it_is_made_in_memory(library: Library) -> None:
    """From the file, as far as that has come."""
    library.finds("sky")
    library.says("the sky again")
    (library.directory / LOCK).unlink()
    (library.directory / LOCK).mkdir()  # what no user, not even root, can write to
    before = (library.directory / FILE).read_bytes()
    told: list[str] = []
    with Searcher(library.log, library.directory, TOY, on_remark=told.append) as searcher:
        assert {hit.version for hit in searcher.search("sky")} == {2, 3}
        library.says("the sky once more")
        assert {hit.version for hit in searcher.search("sky")} == {2, 3, 4}
    assert told[0] == "The index of the search can't be written here: it was made in memory."
    assert (library.directory / FILE).read_bytes() == before


def test_nobody_waits_long_for_who_writes_it(library: Library) -> None:
    """While another process builds the index, one in memory answers; then the file does."""
    with Index(library.log, library.directory, patience=0.0) as index:
        with alone(library.directory):
            told = index.catch_up()
            assert index.in_memory
        assert told == "Another process writes the index of the search: one was made in memory."
        library.says("more")
        assert index.catch_up() is None
        assert not index.in_memory


def test_who_has_an_old_file_open_sees_the_new_one(library: Library) -> None:
    """Another process may put a new index in its place at any time."""
    with Searcher(library.log, library.directory) as searcher:
        searcher.search("sky")
        (library.directory / FILE).unlink()
        library.finds("sky")
        library.says("the sky again")
        assert len(searcher.search("sky")) == 2
        assert len(library.finds("sky")) == 2


def test_what_a_killed_process_left_is_removed(library: Library) -> None:
    """Half a new index beside the old one."""
    new_of(library.directory / FILE).write_bytes(b"half")
    assert len(library.finds("sky")) == 1
    assert not new_of(library.directory / FILE).exists()


def test_many_at_once_agree(library: Library) -> None:
    """Each with files of its own, while the log grows: everybody finds what is there, once."""

    def look(_: int) -> int:
        with (
            EventLog(library.directory) as log,
            Searcher(log, library.directory, TOY) as searcher,
        ):
            for _ in range(5):
                found = searcher.search("sky", limit=100)
                assert len({hit.version for hit in found}) == len(found) >= 1
            return len(found)

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(look, n) for n in range(4)]
        for n in range(10):
            library.says(f"sky {n}")
        assert all(one.result() <= 11 for one in asked)
    assert look(0) == 11
    with connect(library.directory / FILE, writable=False) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_it_takes_no_extension_and_runs_nothing(library: Library) -> None:
    """What stands in the file is data."""
    library.finds("sky")
    connection = connect(library.directory / FILE, writable=False)
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT load_extension('x')")
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM texts")
    connection.close()
