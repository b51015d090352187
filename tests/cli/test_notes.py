"""Notes on the command line."""

import pytest

from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


def test_a_note_is_written_and_read(mind: Mind) -> None:
    """By whom, when, and about what."""
    mind("init", "thinking", "why two tides?", "-m", "local", "--set", "embedding_model=off")
    assert "There is no note yet." in mind("note").err
    assert mind("note", "--json").data == []
    assert "Noted, as event 3." in mind("note", "a good question", "--about", "exc_1_000").err
    assert mind("note", "-", "-a", "1", "-a", "2", stdin="from a pipe\n").code == 0
    first, second = mind("note", "--json").data
    assert (first["text"], first["about"], first["by"]) == ("a good question", [2], "user:ann")
    assert (second["text"], second["about"], second["iteration"]) == ("from a pipe", [1, 2], 0)
    shown = mind("note").out
    assert "user:ann, iteration 0, about 1, 2" in shown
    assert shown.index("a good question") < shown.index("from a pipe")
    assert "a good question" not in mind("note", "-n", "1").out
    assert [n["text"] for n in mind("at", "3", "note", "--json").data] == ["a good question"]
    assert "a good question (about 2)" in mind("log").out


def test_what_is_no_note_is_refused(mind: Mind) -> None:
    """In a sentence, with exit code 2, and nothing is written."""
    mind("init", "thinking", "why two tides?", "-m", "local", "--set", "embedding_model=off")
    mind("new", "other")
    for words, sentence in (
        (["note", "", "-s", "main"], "empty"),
        (["note", "x", "--about", "99", "-s", "main"], "no moment '99'"),
        (["note", "x", "--about", "nonsense"], "names no moment"),
        (["note", "x", "--about", "main@1", "-s", "other"], "of another session"),
        (["note", "--about", "1"], "needs a note"),
        (["at", "1", "note", "x"], "The past can only be read"),
    ):
        ran = mind(*words)
        assert ran.code == 2, words
        assert sentence in ran.err
    assert mind("note", "--json").data == []
