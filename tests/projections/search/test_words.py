"""What words find."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.events import SessionRenamed
from domain.ids import SessionId
from projections.search.ask import search
from projections.search.hit import END, START, marked
from projections.search.spelling import taken_apart
from tests.commands.eventlog.stores import begin
from tests.projections.search.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A store."""
    return Library(tmp_path / "store")


def test_what_has_more_of_the_words_comes_first(library: Library) -> None:
    """A text with all words is before one with some, and what has none is not there."""
    library.says("the payment failed", "the payment of the invoice failed", "the sun shines")
    assert library.finds("invoice payment") == [
        "message main@3 the payment of the invoice failed",
        "message main@2 the payment failed",
    ]


def test_other_forms_of_a_word_and_accents_make_no_difference(library: Library) -> None:
    """English endings, upper case and accents are taken off."""
    library.says("We raised invoices at the Café Zürich")
    for text in ("invoice", "INVOICES", "cafe", "zurich", "raising"):
        assert len(library.finds(text)) == 1, text


def test_codes_and_identifiers_are_found_as_they_are(library: Library) -> None:
    """Signs within a word keep its parts next to each other."""
    library.says("it says ERR_CONN_4012 again", "ERR then CONN, and 4012 of them", "see ci/a.yml")
    assert library.finds("ERR_CONN_4012") == ["message main@2 it says ERR_CONN_4012 again"]
    assert library.finds("ci/a.yml") == ["message main@4 see ci/a.yml"]


def test_a_phrase_has_to_be_there_and_a_word_with_a_minus_must_not(library: Library) -> None:
    """Quotes and minus are all the syntax there is."""
    library.says("the red car is fast", "the car is red", "the red car is slow")
    assert len(library.finds("car")) == 3
    assert library.finds('"red car" -slow') == ["message main@2 the red car is fast"]
    assert library.finds('car -"red car"') == ["message main@3 the car is red"]


def test_common_words_alone_are_looked_for(library: Library) -> None:
    """They are left out only where something else was said."""
    library.says("what is it", "what a day")
    assert library.finds("what is it")[0] == "message main@2 what is it"
    assert library.finds("what day") == ["message main@3 what a day"]


def test_the_beginning_of_a_word_is_enough_where_no_word_fits(library: Library) -> None:
    """A word that is still being typed finds something."""
    library.says("PostgreSQL is a database")
    (hit,) = library.hits("postg")
    assert marked(hit.snippet, "[", "]") == "[PostgreSQL] is a database"


def test_chinese_and_japanese_are_found_within_a_sentence(library: Library) -> None:
    """Their words have no spaces around them."""
    library.says("我们决定使用数据库", "別のメッセージです")
    (hit,) = library.hits("数据库")
    assert marked(hit.snippet, "[", "]") == "我们决定使用[数据库]"
    assert len(library.finds("メッセージ")) == 1


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet=st.sampled_from('ab"-*()^:{}+~, NEARANDOTé\0\ud800\x02\n'), max_size=24))
def test_no_text_is_syntax(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever is typed is looked for, and nothing of it breaks the question."""
    place = tmp_path_factory.getbasetemp() / "any"
    library = _kept.setdefault(place, None) or Library(place)
    if _kept[place] is None:
        _kept[place] = library
        library.says("a b ab", "NEAR AND NOT OR")
    asked = taken_apart(text)
    found = library.finds(text)
    assert not found or asked.words or asked.phrases


_kept: dict[Path, Library | None] = {}


def test_only_some_kinds(library: Library) -> None:
    """Messages, answers and titles are told apart."""
    library.records(SessionRenamed(title="On tides"))
    library.answers("why tides?", "The Moon makes tides.")
    assert {hit.kind for hit in library.hits("tides")} == {"session", "message", "answer"}
    assert library.finds("tides", kinds=["answer"]) == ["answer main@5 The Moon makes tides."]
    assert library.finds("tides", kinds=["fact"]) == []


def test_only_the_accepted_draft_is_an_answer(library: Library) -> None:
    """Drafts that nobody took are no answers."""
    library.answers("why tides?", "It is the wind.", "It is the Moon.", accept=2)
    assert library.finds("moon") == ["answer main@5 It is the Moon."]
    assert library.finds("wind") == []


def test_a_snippet_shows_what_matched_in_a_long_text(library: Library) -> None:
    """Somewhere in thousands of words, with marks around it."""
    library.says(f"{'before ' * 2000}the needle is here {'after ' * 2000}")
    (hit,) = library.hits("needle")
    assert f"{START}needle{END}" in hit.snippet
    assert len(hit.snippet) < 330
    assert len(hit.text) > 20_000


def test_marks_in_a_text_are_no_marks(library: Library) -> None:
    """Nobody can make something look as if it matched."""
    library.says("\x02fake\x03 and true")
    (hit,) = library.hits("true")
    assert hit.snippet == f"fake and {START}true{END}"


def test_a_session_is_found_by_its_title_and_by_its_name(library: Library) -> None:
    """The title counts as it is now."""
    begin(library.log, "payments/stripe")
    library.records(SessionRenamed(title="Credit cards"), session="payments/stripe")
    library.records(SessionRenamed(title="Card payments"), session="payments/stripe")
    assert library.finds("stripe") == [
        "session payments/stripe@3 Card payments (payments/stripe)",
    ]
    assert library.finds("card payments") == library.finds("stripe")
    assert library.finds("credit") == []
    library.says("a question about stripes", session="payments/stripe")
    assert {hit.title for hit in library.hits("stripe")} == {"Card payments"}


def test_a_title_that_only_repeats_a_message_is_left_out(library: Library) -> None:
    """Sessions are named by their first message unless somebody names them."""
    library.says("Why are there tides?")
    library.records(SessionRenamed(title="Why are there tides?"))
    assert library.finds("tides") == ["message main@2 Why are there tides?"]
    assert len(library.finds("tides", kinds=["session"])) == 1


def test_nothing_is_found_in_an_empty_question(library: Library) -> None:
    """Signs alone say nothing."""
    library.says("a - b")
    for text in ("", "  ", "-", '""', "!?"):
        assert search(library.log, library.directory, text) == []


def test_a_long_question_is_answered(library: Library) -> None:
    """A whole message can be asked for what it reminds of."""
    library.says("the quick brown fox", "unrelated")
    long = " ".join(f"word{n}" for n in range(3000)) + " fox"
    assert library.finds(f"fox {long}") == ["message main@2 the quick brown fox"]
    assert SessionId("main") == library.hits("fox")[0].session
