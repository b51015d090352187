"""What a notebook does: open a store, ask its history, visit its past."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import logosphere
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from domain.errors import NoStore, NoSuchMoment, NoSuchSession, NotAStore
from domain.ids import SessionId
from tests.stories.agents import ANSWER, QUESTION, harbour
from tests.stories.cast import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """``tides`` with two answered questions, and a branch behind the first draft."""
    stage = Stage(tmp_path).begins()
    stage.runs("draft: One moon, two bulges.")
    fork_session(stage.log, stage.session, stage.state.version, SessionId("what-if"), stage.world)
    stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
    stage.runs("draft: Sun and Moon in line.")
    return stage


@pytest.fixture
def store(stage: Stage) -> Iterator[logosphere.Store]:
    """The same store, open."""
    with logosphere.open(stage.log.place.home) as store:
        yield store


def test_the_history_is_asked_with_sql(store: logosphere.Store) -> None:
    """Answers are relations, and values are bound, never pasted."""
    asked = store.sql(
        "SELECT message, accepted FROM exchanges_of($session) ORDER BY version", session="tides"
    )
    assert asked.fetchall() == [("why two tides?", 1), ("and spring tides?", None)]
    hostile = store.sql("SELECT count(*) FROM drafts_of($s)", s="'); DROP TABLE events; --")
    assert hostile.fetchall() == [(0,)]


def test_a_new_connection_sees_what_is_new(stage: Stage, store: logosphere.Store) -> None:
    """The one before is closed, and what it read then stays as it was."""
    count = "SELECT count(*) FROM acceptances"
    first = store.connect()
    assert first.execute(count).fetchall() == [(1,)]
    stage.does(AcceptDraft())
    assert store.sql(count).fetchall() == [(1,)]
    assert store.connect().execute(count).fetchall() == [(2,)]
    with pytest.raises(duckdb.ConnectionException):
        first.execute(count)


def test_a_connection_only_reads(store: logosphere.Store) -> None:
    """The log is the truth: nothing is changed through its projection."""
    with pytest.raises(duckdb.Error, match="read-only"):
        store.connect().execute("DELETE FROM events")


def test_an_open_notebook_hinders_nobody(stage: Stage, store: logosphere.Store) -> None:
    """Another one catches up beside it; each sees a whole history."""
    mine = store.connect()
    stage.does(AcceptDraft())
    with logosphere.open(store.directory) as other:
        caught = other.catch_up()
        assert (caught.behind, caught.why) == (0, None)
    assert mine.execute("SELECT count(*) FROM acceptances").fetchall() == [(1,)]
    store.close()
    with logosphere.open(store.directory) as later:
        assert later.sql("SELECT count(*) FROM acceptances").fetchall() == [(2,)]


def test_the_past_is_visited_by_ref(store: logosphere.Store) -> None:
    """The same names of moments as everywhere, in this session or in another."""
    past = store.state("draft:1", "tides")
    assert past.dialogue.drafts[-1].text == "Sun and Moon in line."
    assert store.version("what-if@head", "tides")[0] == "what-if"
    which, version = store.version("iter:1", "tides")
    assert [r.version for r in store.events("iter:1", "tides")] == list(range(1, version + 1))
    assert store.state("iter:1", "tides") == store.log.state(which, version)
    with pytest.raises(NoSuchMoment):
        store.state("iter:99", "tides")
    with pytest.raises(NoSuchSession):
        store.state("head", "nobody")


def test_agents_are_asked_about_and_are_no_sessions(tmp_path: Path) -> None:
    """They have tables of their own."""
    office = harbour(tmp_path / "store")
    with logosphere.open(office.directory) as store:
        assert store.sessions() == ["tides"]
        asked = store.sql("SELECT text, answer FROM turns WHERE outcome = 'completed'")
        assert asked.fetchall() == [(QUESTION, ANSWER)]
    office.log.close()


def test_where_there_is_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, as the command line does."""
    with pytest.raises((NoStore, NotAStore)):
        logosphere.open(tmp_path / "nowhere")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("MIND_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoStore):
        logosphere.open()
