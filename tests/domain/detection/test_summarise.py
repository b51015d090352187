"""Summaries made of the sentences that were said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.detection.summarise import extractive
from domain.tokens import estimate

TALK = [
    ("hello!", "Hello, how can I help?"),
    (
        "Our import job takes six hours. It used to take 40 minutes.",
        (
            "The import job reads each customer on its own. Read customers in batches of 500. "
            "Batches keep the import job short. Let me know how it goes!"
        ),
    ),
    (
        "Batches of 500 customers run out of memory in the import job.",
        "Then take batches of 100 customers. Memory follows the size of the batches.",
    ),
    ("ok thanks", "You're welcome."),
]


def test_a_summary_holds_what_the_talk_was_about_and_no_greeting() -> None:
    """Sentences are in the order in which they were said, each with its speaker."""
    assert extractive(TALK, 70) == (
        "User: Our import job takes six hours.\n"
        "Mind: The import job reads each customer on its own.\n"
        "User: Batches of 500 customers run out of memory in the import job.\n"
        "Mind: Then take batches of 100 customers."
    )


def test_more_room_holds_more() -> None:
    """Nothing that a small summary holds is missing in a large one."""
    small, large = extractive(TALK, 40), extractive(TALK, 200)
    assert len(small) < len(large)
    assert all(line.split(": ", 1)[1] in large for line in small.splitlines())


def test_what_was_said_twice_is_there_once() -> None:
    """A sentence that says the same again tells nothing new."""
    said = [("The tap in the kitchen drips.", "Change the washer.")] * 5
    assert extractive(said, 200).count("drips") == 1


@pytest.mark.parametrize(
    "said",
    [
        *([], [("", "")], [("hi", "hi")], [("```\nx = 1\n```", "")], [("好" * 500, "…")]),
        [("a " * 5000, "")],
    ],
)
def test_there_is_always_a_summary(said: list[tuple[str, str]]) -> None:
    """Of code, of greetings, of one endless sentence and of nothing."""
    text = extractive(said, 12)
    assert text.strip()
    assert estimate(text) <= 12


@given(
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=200)), max_size=6),
    st.integers(1, 120),
)
def test_a_summary_fits_and_is_the_same_every_time(
    said: list[tuple[str, str]], tokens: int
) -> None:
    """Within its tokens, and never empty."""
    text = extractive(said, tokens)
    assert text == extractive(said, tokens)
    assert text
    assert estimate(text) <= tokens
