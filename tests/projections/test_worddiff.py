"""What changed between two texts, word by word."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.worddiff import Piece, word_diff

texts = st.lists(
    st.sampled_from(("moon ", "tide", " ", "\n", ", ", "the ", "😀", "ö", "\0", "--", "x1_y"))
    | st.text(max_size=4),
    max_size=25,
).map("".join)


def side(pieces: list[Piece], *changes: str) -> str:
    """One of the texts, put together again."""
    return "".join(piece.text for piece in pieces if piece.change in changes)


@given(texts, texts)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_both_texts_can_be_put_together_again(old: str, new: str) -> None:
    """Nothing is lost on the way, and no piece is empty."""
    pieces = word_diff(old, new)
    assert side(pieces, "same", "removed") == old
    assert side(pieces, "same", "added") == new
    assert all(piece.text for piece in pieces)


@given(texts)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_no_change_is_one_piece(text: str) -> None:
    """Or none, where there is no text."""
    assert word_diff(text, text) == ([Piece("same", text)] if text else [])


@given(texts, texts)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_neighbours_differ(old: str, new: str) -> None:
    """What stayed is never followed by more of what stayed."""
    pieces = word_diff(old, new)
    assert all(a.change != b.change for a, b in itertools.pairwise(pieces))


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        ("", "a", [("added", "a")]),
        ("a", "", [("removed", "a")]),
        (
            "the near tide",
            "the far tide",
            [("same", "the "), ("removed", "near"), ("added", "far"), ("same", " tide")],
        ),
        ("two tides.", "two tides", [("same", "two tides"), ("removed", ".")]),
        ("tide", "tides", [("removed", "tide"), ("added", "tides")]),
    ],
)
def test_words_are_the_pieces(old: str, new: str, pieces: list[tuple[str, str]]) -> None:
    """Not letters: a word that changed is shown whole."""
    assert word_diff(old, new) == pieces
