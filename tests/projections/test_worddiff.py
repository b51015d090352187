"""What changed between two texts, word by word."""

import itertools
from random import Random

import pytest
from hypothesis import strategies as st

from projections.worddiff import EXACT, Changed, Piece, word_diff, words_changed
from tests.often import often

texts = st.lists(
    st.sampled_from(("moon ", "tide", " ", "\n", ", ", "the ", "😀", "ö", "\0", "--", "x1_y"))
    | st.text(max_size=4),
    max_size=25,
).map("".join)


def side(pieces: list[Piece], *changes: str) -> str:
    """One of the texts, put together again."""
    return "".join(piece.text for piece in pieces if piece.change in changes)


@often(120, 400, texts, texts)
def test_both_texts_can_be_put_together_again(old: str, new: str) -> None:
    """Nothing is lost on the way, and no piece is empty."""
    pieces = word_diff(old, new)
    assert side(pieces, "same", "removed") == old
    assert side(pieces, "same", "added") == new
    assert all(piece.text for piece in pieces)


@often(40, 100, texts)
def test_no_change_is_one_piece(text: str) -> None:
    """Or none, where there is no text."""
    assert word_diff(text, text) == ([Piece("same", text)] if text else [])


@often(40, 100, texts, texts)
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
        (
            "the big cat sat",
            "the small dog sat",
            [("same", "the "), ("removed", "big cat"), ("added", "small dog"), ("same", " sat")],
        ),
        (
            "one\ntwo three",
            "one two\nthree",
            [
                ("same", "one"),
                ("removed", "\n"),
                ("added", " "),
                ("same", "two"),
                ("removed", " "),
                ("added", "\n"),
                ("same", "three"),
            ],
        ),
        ("  tide", "tide ", [("removed", "  "), ("same", "tide"), ("added", " ")]),
        (" ", "\n", [("removed", " "), ("added", "\n")]),
    ],
)
def test_words_are_the_pieces(old: str, new: str, pieces: list[tuple[str, str]]) -> None:
    """Not letters: a word that changed is shown whole."""
    assert word_diff(old, new) == pieces


def test_how_many_words_changed() -> None:
    """Signs and white space are no words."""
    pieces = word_diff("the near tide, twice.", "the  far tide twice a day")
    assert words_changed(pieces) == Changed(removed=1, added=3, same=3)
    assert words_changed([]) == Changed(0, 0, 0)


# long texts: more than is compared exactly


def dice_of(seed: int) -> Random:
    """Dice that fall the same way each time."""
    return Random(seed)  # noqa: S311 — repeatable on purpose


def long_text(dice: Random, words: int, vocabulary: int) -> list[str]:
    """Words with ends of sentences and lines among them."""
    ends = ("", "", "", "", "", ".", ",", "\n")
    return [f"w{dice.randrange(vocabulary)}{dice.choice(ends)} " for _ in range(words)]


@often(
    20,
    60,
    seed=st.integers(0, 2**32),
    words=st.integers(100, 1500),
    vocabulary=st.sampled_from((1, 2, 15, 400, 10_000)),
    edits=st.integers(0, 60),
)
def test_long_texts_can_be_put_together_again(
    seed: int, words: int, vocabulary: int, edits: int
) -> None:
    """Whatever was inserted, deleted, moved or repeated in them."""
    dice = dice_of(seed)
    before = long_text(dice, words, vocabulary)
    after = list(before)
    for _ in range(edits):
        start, end = sorted(dice.randrange(len(after) + 1) for _ in range(2))
        end = min(end, start + dice.randrange(40))
        part = after[start:end]
        match dice.randrange(4):
            case 0:
                after[start:end] = []
            case 1:
                after[start:end] = long_text(dice, 3, vocabulary)
            case 2:
                after[start:end] = [*part, *part]
            case _:
                place = dice.randrange(len(after) + 1)
                after[place:place] = part
    old, new = "".join(before), "".join(after)
    pieces = word_diff(old, new)
    assert side(pieces, "same", "removed") == old
    assert side(pieces, "same", "added") == new
    assert all(a.change != b.change for a, b in itertools.pairwise(pieces))


def test_edits_of_a_long_text_are_found() -> None:
    """Ten words of 20,000 were changed, and just these are told."""
    dice = dice_of(1)
    words = long_text(dice, 20_000, 5000)
    edited = list(words)
    for place in range(1000, 20_000, 1900):
        edited[place] = "changed "
    assert len(words) ** 2 > EXACT
    changed = words_changed(word_diff("".join(words), "".join(edited)))
    assert changed == Changed(removed=10, added=10, same=19_990)


def test_a_paragraph_that_moved_is_all_that_changed() -> None:
    """It went from the one place and came to the other; the rest stayed."""
    dice = dice_of(2)
    first, moved, last = (long_text(dice, size, 5000) for size in (4000, 300, 4000))
    old, new = "".join([*first, *moved, *last]), "".join([*moved, *first, *last])
    changed = words_changed(word_diff(old, new))
    assert (changed.removed, changed.added) == (300, 300)


@pytest.mark.parametrize("vocabulary", [12, 3000])
def test_long_texts_that_have_nothing_to_do_with_each_other(vocabulary: int) -> None:
    """Two times 20,000 words, at once: what would be compared exactly would take minutes."""
    old = "".join(long_text(dice_of(3), 20_000, vocabulary))
    new = "".join(long_text(dice_of(4), 20_000, vocabulary))
    changed = words_changed(word_diff(old, new))
    assert changed.removed == changed.added
    assert changed.same + changed.removed == 20_000
    assert changed.same < 5000
