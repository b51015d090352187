"""Which artifact a text speaks of."""

import pytest

from domain.detection.matching import matches, mentioned, stem, stems
from tests.detection.score import artifact

SHELF = (
    artifact("1 fact: I am allergic to walnuts"),
    artifact("2 fact: The webhook endpoint is /api/webhooks/stripe"),
    artifact("3 resolved: Renovate the bathroom => Blue tiles"),
    artifact("4 open: Fix the bug in the login page"),
)


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("allergic", "allergies", "allergy"), "allerg"),
        (("refund", "refunds", "refunding"), "refund"),
        (("tomato", "tomatoes"), "tomato"),
        (("v2", "v2"), "v2"),
    ],
)
def test_forms_of_a_word_are_one(words: tuple[str, ...], same: str) -> None:
    """Whatever ending they have."""
    assert {stem(word) for word in words} == {same}


def test_common_words_tell_nothing() -> None:
    """They are in every text."""
    assert stems("what did we say about it, and how do I use that?") == frozenset()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("can I eat pesto, given my allergy?", (1,)),
        ("what did we say about the webhook?", (2,)),
        ("which tiles were it?", (3,)),
        ("is there a bug?", ()),
        ("walnuts in the bathroom", (1, 3)),
        ("hello", ()),
    ],
)
def test_a_text_mentions_what_it_shares_a_telling_word_with(
    text: str, ids: tuple[int, ...]
) -> None:
    """Vague words such as bug are not enough."""
    assert mentioned(text, SHELF) == ids


def test_rare_words_count_more_than_those_that_many_artifacts_have() -> None:
    """The one with the rare word comes first."""
    shelf = [artifact(f"{n} fact: the invoice {word}") for n, word in enumerate(["a", "tax"], 1)]
    best = matches("invoice with tax", [*shelf, artifact("9 fact: an invoice number")])[0]
    assert best.artifact.id == 2
