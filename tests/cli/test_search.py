"""mind search: what was said, found again."""

from pathlib import Path

import pytest

from commands.artifacts.facts import LearnFact
from domain.events import ArtifactsEvicted
from tests.cli.conftest import Mind
from tests.commands.eventlog.stores import draw
from tests.stories.cast import Stage


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Nothing here needs a process of its own, but for one test."""
    return within


@pytest.fixture
def talked(asked: Mind) -> Mind:
    """A session with an accepted answer."""
    for words in (["run"], ["accept", "1"]):
        done = asked(*words)
        assert done.code == 0, done.err
    return asked


def test_messages_and_answers_are_found(talked: Mind, installed: Mind) -> None:
    """By the installed command: with what matched, where it stands, and when it was said."""
    done = installed("search", "Moon near water")
    assert done.code == 0
    first = done.out.splitlines()[0]
    assert first.startswith("main@")
    assert "  answer  " in first
    assert "[Moon] pulls the [near] [water]" in done.out
    assert done.err == ""


def test_json_holds_everything(talked: Mind) -> None:
    """The whole text, a snippet with **, the ref that other commands take."""
    (hit,) = talked("search", "Moon", "--kind", "answer", "--json").data
    assert hit["kind"] == "answer"
    assert hit["snippet"].startswith("The **Moon** pulls")
    assert hit["text"].startswith("The Moon pulls")
    assert hit["ref"] == f"main@{hit['version']}"
    assert hit["artifact"] is None
    assert hit["score"] == 1.0
    assert talked("show", hit["ref"], "--json").data["kind"] == "draft.accepted"


def test_nothing_found_is_said(talked: Mind) -> None:
    """On stderr, as it is no data."""
    done = talked("search", "xylophone")
    assert (done.code, done.out) == (0, "")
    assert done.err == "Nothing was found: try fewer or other words.\n"
    assert talked("search", "xylophone", "--json").out == "[]\n"


def test_a_branch_and_a_moment(talked: Mind) -> None:
    """--session is one branch, --as-of a moment of it; a time is one of all sessions."""
    assert talked("fork", "other", "--at", "2").code == 0
    assert talked("search", "Moon", "--session", "other", "--json").data == []
    assert len(talked("search", "tides", "--session", "other", "--json", "-k", "message").data) == 1
    assert talked("search", "Moon", "--as-of", "main@2", "--json").data == []
    assert talked("at", "main@2", "search", "Moon", "--json").data == []
    assert talked("search", "Moon", "--as-of", "2020-01-01", "--json").data == []
    assert len(talked("search", "Moon", "--as-of", "2999-01-01", "--json").data) >= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x", "--kind", "poem"], "--kind 'poem' is none that can be found"),
        (["x", "--session", "nowhere"], "There is no session 'nowhere'"),
        (["x", "--as-of", "never ever"], "names no moment"),
        ([], "say what to look for"),
    ],
)
def test_what_can_not_be_asked_is_refused(talked: Mind, words: list[str], said: str) -> None:
    """In one sentence."""
    done = talked("search", *words)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_what_was_redacted_is_not_found(talked: Mind, tmp_path: Path) -> None:
    """And its bytes have left the index with it."""
    (hit,) = talked("search", "far water", "--kind", "answer", "--json").data or [None]
    file = tmp_path / "thinking" / "search.db"
    assert b"Moon" in file.read_bytes()
    done = talked("redact", "exc_1", "--reason", "a test", "--yes", "--only")
    assert done.code == 0, done.err
    assert b"Moon" not in file.read_bytes()
    assert talked("search", "Moon", "--json").data == []
    assert hit is not None


def test_vectors_are_off_where_embedding_is(talked: Mind) -> None:
    """--index says so; words are searched all the same."""
    done = talked("search", "--index")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("No vectors were made")


def test_a_text_can_not_speak_to_the_terminal(asked: Mind) -> None:
    """Escape sequences of a message stay text."""
    asked("run")
    asked("accept", "1")
    asked("message", "look: \x1b[31mred\x1b[0m \ue000 alert")
    done = asked("search", "alert")
    assert "\x1b" not in done.out
    assert "[alert]" in done.out


def test_meaning_is_compared_by_the_embedder_of_this_machine(embedding: Mind) -> None:
    """It finds what shares no word with the question."""
    embedding("run")
    embedding("accept", "1")
    assert embedding("search", "--index").err == "All texts have their vectors.\n"
    hits = embedding("search", "lunar gravity", "--kind", "answer", "--json").data
    assert hits[0]["text"].startswith("The Moon pulls")
    assert hits[0]["similarity"] > 0.25


def test_what_left_the_context_comes_back_when_it_is_searched_for(
    mind: Mind, tmp_path: Path
) -> None:
    """If that is wanted; what is there already stays as it is."""
    stage = Stage(tmp_path / "store").begins(None, embedding_model="off")
    stage.does(LearnFact(statement="The harbour opens at six"))
    stage.does(LearnFact(statement="The harbour is deep"))
    gone, here = (artifact.id for artifact in stage.state.shelf.artifacts)
    left = ArtifactsEvicted(artifacts=(gone,), turn=21)
    stage.log.append(stage.session, stage.state.version, draw(left))
    stage.log.close()
    assert mind("open", "store").code == 0
    found = mind("search", "harbour", "--kind", "fact", "--json").data
    assert {hit["artifact"] for hit in found} == {gone, here}
    assert [one["id"] for one in mind("fact", "list", "--json").data] == [here]
    done = mind("search", "harbour", "--kind", "fact", "--recall")
    assert (done.code, done.err) == (0, f"Fact {gone} is in the context again.\n")
    assert [one["id"] for one in mind("fact", "list", "--json").data] == [gone, here]
    assert mind("search", "harbour", "--recall").err == ""
