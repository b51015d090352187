"""How a user says where a talk begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.choices import Choice, parse_choice
from domain.errors import BadSetting


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("1", Choice("continue", 1)),
        ("just continue", Choice("continue", 1)),
        ("  Just   Continue ", Choice("continue", 1)),
        ("continue 2", Choice("continue", 2)),
        ("2", Choice("fork", 2)),
        ("fork 1", Choice("fork", 1)),
        ("3", Choice("new", None, (1, 2, 3, 4))),
        ("3, include 1,2", Choice("new", None, (1, 2))),
        ("3,include 2 1 2", Choice("new", None, (2, 1))),
        ("3, exclude 3", Choice("new", None, (1, 2, 4))),
        ("new, exclude 1, 2, 3, 4", Choice("new", None, ())),
        ("4", Choice("fresh")),
        ("start fresh", Choice("fresh")),
    ],
)
def test_every_way_to_say_it(text: str, choice: Choice) -> None:
    """Given two chats and four artifacts; white space and case do not count."""
    assert parse_choice(text, chats=2, artifacts=4) == choice


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5", "'5' is no choice"),
        ("", "is no choice"),
        ("1, include 2", "is no choice"),
        ("4 2", "is no choice"),
        ("3, include", "is no choice"),
        ("continue 3", "There is no chat 3 to continue: chats 1 to 2 were found"),
        ("3, include 0", "There is no artifact 0: artifacts 1 to 4 were found"),
        ("3, exclude 5", "There is no artifact 5"),
    ],
)
def test_what_is_no_choice_is_refused_with_what_is_one(text: str, words: str) -> None:
    """The sentence says what there is."""
    with pytest.raises(BadSetting, match=words):
        parse_choice(text, chats=2, artifacts=4)


def test_of_one_chat_2_forks_that() -> None:
    """Of none, there is nothing to continue or fork."""
    assert parse_choice("2", chats=1, artifacts=0) == Choice("fork", 1)
    assert parse_choice("3", chats=0, artifacts=0) == Choice("new")
    for text in ("1", "2", "just continue"):
        with pytest.raises(BadSetting, match="no related chat was found"):
            parse_choice(text, chats=0, artifacts=1)


@given(st.text(max_size=40), st.integers(0, 3), st.integers(0, 3))
def test_whatever_is_said_is_a_choice_or_refused(text: str, chats: int, artifacts: int) -> None:
    """A choice names only what was shown."""
    try:
        choice = parse_choice(text, chats, artifacts)
    except BadSetting:
        return
    assert choice.chat is None or 1 <= choice.chat <= chats
    assert all(1 <= number <= artifacts for number in choice.artifacts)
