"""Texts before a model reads them: batches, blanks and signs that can't be encoded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.embedders.texts import MOST_CHARS, MOST_TEXTS, batches, has_words, readable


@given(st.lists(st.text(max_size=50) | st.integers(1, 60_000).map(lambda n: "x" * n), max_size=200))
def test_batches_hold_each_text_once_within_their_bounds(texts: list[str]) -> None:
    """Nothing is lost or asked twice, the order stays, and no batch is empty or too large."""
    made = list(batches(texts))
    assert [text for batch in made for text in batch] == list(dict.fromkeys(texts))
    for batch in made:
        assert 0 < len(batch) <= MOST_TEXTS
        assert len(batch) == 1 or sum(map(len, batch)) <= MOST_CHARS


def test_a_huge_text_is_a_batch_of_its_own() -> None:
    """A text beyond the bound is still asked for, alone."""
    assert [len(batch) for batch in batches(["a", "x" * 5_000_000, "b"])] == [1, 1, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", False), (" \n\t\u2003", False), ("\x00\u200b", False), ("\ud800", False),
        ("?", True), (" a ", True), ("🎉", True), ("日", True), ("\ud800a", True),
    ],
)  # fmt: skip
def test_what_holds_words(text: str, words: bool) -> None:
    """Blanks, control signs and halves of pairs are no words; anything to be seen is."""
    assert has_words(text) is words


@pytest.mark.parametrize(
    ("text", "read"),
    [("tide", "tide"), ("tides turn", "tides"), ("a\ud800b", "a\ufffdb"), ("\ud83c\udf89", "🎉")],
)
def test_surrogates_are_paired_or_replaced(text: str, read: str) -> None:
    """What can't be encoded is replaced, two halves become the sign they stand for."""
    assert readable(text, 5) == read


@given(st.text(st.characters(), max_size=20), st.integers(0, 25))
def test_any_text_becomes_encodable(text: str, longest: int) -> None:
    """No text at all stays one that an encoder refuses."""
    readable(text, longest).encode()
