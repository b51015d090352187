"""What sessions are called that nobody named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import session_id
from domain.slugs import free, slug
from domain.titles import LONGEST, title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("why two tides?", "Why two tides?"),
        ("Hello there, my login fails. I tried twice.", "My login fails"),
        ("hi!", None),
        ("ok thanks", None),
        ("Good morning!\nPlease explain the tides to a child.", "Explain the tides to a child"),
        (
            "we have to find out what happened to the orders of last week before monday morning",
            "We have to find out what happened to the orders of last …",
        ),
    ],
)
def test_a_title_is_the_first_sentence_without_its_greeting(text: str, title: str | None) -> None:
    """Cut at a word; none where it says too little."""
    assert title_of(text) == title


@given(st.text(max_size=200))
def test_a_title_is_one_short_line(text: str) -> None:
    """Whatever it is made of."""
    title = title_of(text)
    assert title is None or (len(title) <= LONGEST + 2 and "\n" not in title and title.strip())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I want to work on the payment integration", "payment-integration"),
        ("Größe des Überlaufs?", "groe-des-uberlaufs"),
        ("to be", "to-be"),
        ("!!!", "chat"),
    ],
)
def test_a_name_is_made_of_the_words_that_tell_most(text: str, name: str) -> None:
    """In plain letters."""
    assert slug(text) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    """The first that nobody has."""
    assert free("tides", {"moon"}) == "tides"
    assert free("tides", {"tides", "tides-2"}) == "tides-3"


@given(st.text(max_size=300))
def test_every_name_is_a_good_one(text: str) -> None:
    """Also behind another one, however long that is."""
    assert session_id(slug(text)) == slug(text)
    assert free(f"{'x' * 80}/{slug(text)}", ())
