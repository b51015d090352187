"""What meaning finds, and how vectors are kept."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Broken
from projections.search.ask import K, Searcher, fused
from projections.search.hit import Branch, Vectors
from projections.search.matrix import Near
from projections.search.vectors import MOST, PASSAGE, passages
from projections.search.words import Told
from tests.commands.eventlog.stores import MAIN
from tests.projections.search.library import TOY, Library, by_concept


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A store with talk about three things."""
    library = Library(tmp_path / "store")
    library.says("the login is slow", "the moon is far", "flour and salt", "rain tomorrow")
    return library


def searcher(library: Library, vectors: Vectors | None = TOY, **more: object) -> Searcher:
    """Asks that store."""
    return Searcher(library.log, library.directory, vectors, **more)  # type: ignore[arg-type]


def test_what_means_the_same_is_found_without_a_word_in_common(library: Library) -> None:
    """What words find too comes before it."""
    with searcher(library) as ask:
        (hit,) = ask.search("credentials")
        assert (hit.text, hit.kind) == ("the login is slow", "message")
        assert hit.similarity is not None
        assert hit.similarity > 0.99
        library.says("new credentials for all")
        assert [hit.version for hit in ask.search("credentials")] == [6, 2]


def test_without_vectors_words_find_all_the_same(library: Library) -> None:
    """And nothing is said about it."""
    told: list[str] = []
    with searcher(library, None, on_remark=told.append) as ask:
        assert ask.search("credentials") == []
        (hit,) = ask.search("login")
        assert (hit.score, hit.similarity) == (1.0, None)
    assert told == []


def test_an_embedder_that_fails_is_told_once(library: Library) -> None:
    """The search goes on with words."""

    def fails(_: Sequence[str]) -> list[bytes | None]:
        raise Broken("The embedder is asleep: wake it.")

    told: list[str] = []
    with searcher(library, Vectors("toy", fails), on_remark=told.append) as ask:
        assert len(ask.search("login")) == 1
        assert len(ask.search("moon")) == 1
    assert told == ["Searched by words alone: The embedder is asleep: wake it."]


def test_vectors_are_made_for_the_newest_first_and_once(library: Library) -> None:
    """A few before each search; what has none yet is said."""
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> list[bytes | None]:
        asked.extend(texts)
        return by_concept(texts)

    told: list[str] = []
    with searcher(library, Vectors("toy", counted), on_remark=told.append) as ask:
        ask.search("x", each=2)
        assert asked[:2] == ["rain tomorrow", "flour and salt"]
        assert told == [
            "3 older texts were searched by words alone: mind search --index makes their vectors."
        ]
        assert ask.make_vectors() == 0
        assert len(asked) == 6  # four messages, a title, and what was asked
        assert ask.make_vectors() == 0
    with searcher(library, Vectors("toy", counted)) as ask:
        assert ask.make_vectors() == 0
    assert len(asked) == 6


def test_vectors_of_another_model_are_made_again(library: Library) -> None:
    """They can't be compared."""
    with searcher(library) as ask:
        assert ask.make_vectors() == 0
    library.says("one more")
    with searcher(library, Vectors("other", by_concept)) as ask:
        assert ask.make_vectors() == 0
        assert [hit.text for hit in ask.search("lunar")] == ["the moon is far"]
        models = ask._index.connection.execute("SELECT DISTINCT model FROM vectors").fetchall()
        assert models == [("other",)]


def test_built_anew_it_finds_the_same_by_meaning(library: Library) -> None:
    """Vectors are made again, and say the same."""
    library.answers("what of the tides?", "They follow the moon.")
    with searcher(library) as ask:
        ask.make_vectors()
        before = [ask.search(text) for text in ("credentials", "lunar pull", "baking", "rain")]
    (library.directory / "search.db").unlink()
    with searcher(library) as ask:
        after = [ask.search(text) for text in ("credentials", "lunar pull", "baking", "rain")]
    assert after == before
    assert all(before)


def test_texts_without_words_have_no_vector(library: Library) -> None:
    """And are not asked for again."""
    library.says("+1", "?!")
    with searcher(library) as ask:
        assert ask.make_vectors() == 0
        assert ask.search("123 456") == []


def test_meaning_keeps_to_branches_kinds_and_phrases(library: Library) -> None:
    """As words do."""
    library.forks("child", 2)
    library.says("the password was changed", session="child")
    with searcher(library) as ask:
        assert len(ask.search("credentials")) == 2
        found = ask.search("credentials", scope=Branch(MAIN))
        assert [hit.text for hit in found] == ["the login is slow"]
        assert len(ask.search("credentials", scope=Branch(MAIN, 1))) == 0
        assert ask.search("credentials", kinds=["answer"]) == []
        assert [h.version for h in ask.search('credentials "is slow"')] == [2]
        assert [h.version for h in ask.search("credentials -slow")] == [4]


def test_a_long_text_is_found_by_a_passage_within(library: Library) -> None:
    """Its snippet shows that passage."""
    library.says("This is about rain. " * 110 + "\n\n" + "A loaf of baking. " * 40)
    with searcher(library) as ask:
        hits = ask.search("flour")
    long = next(hit for hit in hits if hit.version == 6)
    assert long.similarity is not None
    assert long.snippet.startswith("…A loaf of baking.")


@given(st.text(max_size=4000))
def test_passages_are_parts_of_the_text(text: str) -> None:
    """In order, none too long, and nothing but blanks is left out until there are enough."""
    found = passages(text)
    assert len(found) <= MOST
    for part in found:
        assert text[part.start : part.start + len(part.text)] == part.text
        assert 0 < len(part.text) <= PASSAGE
    if len(found) < MOST:
        assert "".join(part.text for part in found).split() == text.split() or "\n" in text


def test_ranks_are_put_together() -> None:
    """A text counts 1 / (60 + rank) in each list, in that of words by its share squared."""
    near = [Near(1, 0, 0.9), Near(2, 0, 0.8)]
    best = fused([Told(2, 1.0), Told(3, 0.5)], near)
    assert [one.text for one in best] == [2, 1, 3]
    whole = 2 / (K + 1)
    assert best[0].score == pytest.approx((1 / (K + 1) + 1 / (K + 2)) / whole)
    assert best[2].score == pytest.approx(0.25 / (K + 2) / whole)
    assert fused([Told(5, 1.0)], None)[0].score == 1.0


def test_what_has_no_vector_yet_is_not_behind_what_has(library: Library) -> None:
    """For a text that was not compared, its words speak in both lists."""
    best = library.says("password of the printer")
    library.says(*(f"login number {n}" for n in range(5)))
    with searcher(library) as ask:
        hits = ask.search("printer password", each=5)
    assert hits[0].version == best
    assert hits[0].similarity is None
    assert hits[1].similarity is not None
