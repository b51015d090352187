"""What somebody may have meant."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import AmbiguousRef, NoSuchSession
from domain.nearest import nearest, similar

NAMES = ["main", "payments", "payments/what-if", "tides", "tides/b"]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("paymets", ["payments", "payments/what-if"]),
        ("what-if", ["payments/what-if"]),
        ("PAYMENTS", ["payments", "payments/what-if"]),
        ("tide", ["tides", "tides/b"]),
        ("mian", ["main"]),
        ("zzz", []),
        ("", []),
        ("t", []),
    ],
)
def test_names_that_may_have_been_meant(wanted: str, meant: list[str]) -> None:
    """Misspelt ones and those that hold the other, the most alike first, in any letter case."""
    assert similar(wanted, NAMES) == meant


def test_the_nearest_come_first_and_then_the_others() -> None:
    """So many as are asked for, in the order in which they were given, each once."""
    assert nearest("tide", NAMES, 4) == ["tides", "tides/b", "main", "payments"]
    assert nearest("zzz", NAMES * 2, 3) == ["main", "payments", "payments/what-if"]
    assert nearest("zzz", []) == []


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=12), st.integers(0, 9))
@settings(deadline=None, max_examples=200)
def test_the_nearest_are_of_those_that_there_are(wanted: str, having: list[str], most: int) -> None:
    """Nothing is made up, nothing named twice, and there are as many as there can be."""
    found = nearest(wanted, having, most)
    assert set(found) <= set(having)
    assert len(found) == len(set(found)) == min(most, len(set(having)))
    if wanted in having and most and len(wanted) > 1:
        assert found[0].casefold() == wanted.casefold()


def test_a_session_that_is_not_there() -> None:
    """The nearest of all names is told first, however many there are."""
    many = [f"chat-{n}" for n in range(30)]
    assert NoSuchSession("x", many).sentence == (
        "There is no session 'x'; there are chat-0, chat-1, chat-2, chat-3, chat-4, chat-5,"
        " chat-6, chat-7 and 22 more."
    )
    assert "; there are payments, chat-0," in NoSuchSession("paymnts", [*many, "payments"]).sentence
    assert NoSuchSession("paymnts", ["payments"]).sentence.endswith("there is payments.")
    assert "in this store (mind new NAME makes one)" in NoSuchSession("x", []).sentence
    assert NoSuchSession("x").sentence.endswith("(mind sessions lists them).")


def test_what_is_ambiguous_names_the_candidates() -> None:
    """As one writes them."""
    assert AmbiguousRef("a", ["b", "c", "d"]).sentence == (
        "'a' could be b, c or d: write one of them."
    )
