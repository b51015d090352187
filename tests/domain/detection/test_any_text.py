"""Whatever people send, the rules read it: no crash, no invented artifact, no endless pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.detection.prose import LOOKED_AT, sentences
from domain.detection.rules import detect
from domain.detection.summarise import extractive
from tests.detection.score import HALVES, items
from tests.domain.detection.reader import BUG, STRIPE, TRY, read

SHELF = (BUG, TRY, STRIPE, "3 resolved: Fix the tap in the kitchen => New washer")
IDS = {0, 3, 7, 9, 12}

PARTS = """that fixed it works now again still not back to bug remind me tomorrow at 3 we use the
is my I want to help let's try step 1 never mind forget token orders tap stripe because was ? . , !
" ` > ``` don't if once the problem is solved decided on meeting Friday next 12 May es lag am no
luck"""
WORDS = st.sampled_from(PARTS.split())
MESSAGES = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join))
LONG = 200_000


@given(
    MESSAGES, st.one_of(st.none(), MESSAGES), st.lists(st.tuples(MESSAGES, MESSAGES), max_size=2)
)
def test_findings_are_about_what_is_there(
    question: str, answer: str | None, before: list[tuple[str, str]]
) -> None:
    """Ids are from the shelf, 0 is the effort that is opened here, and open ones are resolved."""
    findings = read(question, *SHELF, answer=answer, before=before)
    ended = [one.effort for one in findings.resolved]
    assert {*ended, *findings.reopened, *findings.mentions, findings.effort or 0} <= IDS
    assert set(ended) <= {0, 7, 9}
    assert len(ended) == len(set(ended))
    assert set(findings.reopened) <= {3}
    assert {one.supersedes for one in findings.learned} <= {None, 12}
    if 0 in ended or findings.effort == 0:
        assert findings.opened is not None
    if findings.opened is not None:
        assert findings.opened.parent in {None, 7, 9}
        assert 0 < len(findings.opened.goal) <= 120


@given(MESSAGES)
def test_the_same_message_leaves_the_same(question: str) -> None:
    """Whatever was read in between."""
    first = read(question, *SHELF)
    read("something else", BUG)
    assert read(question, *SHELF) == first


@pytest.mark.parametrize(
    "part",
    [
        *("a", " ", "a ", "\n", "?", "! ", '"', "`", "> ", "- ", "1. ", ".", "it was the ", "\t"),
        *("thank you ", "that fixed it ", "we we we ", "remind me ", "moved to ", "12 ", "( ", "ä"),
        *(
            "really really ",
            "a.b",
            "it's ",
            "the word the word is ",
            "hey, ",
            "#",
            "|",
            "tomorrow ",
        ),
        *(
            "Traceback (",
            "\u200b",
            "```\n",
            "in the the ",
            "the problem is ",
            "ok, ",
            "x_",
            "né ñ ",
        ),
    ],
)
def test_texts_made_to_keep_a_pattern_busy_are_read_to_their_end(part: str) -> None:
    """200,000 characters of one part, as a message, an answer and an exchange before."""
    text = (part * (LONG // len(part) + 1))[:LONG]
    read(text, *SHELF)
    read("well?", *SHELF, answer=text)
    read("that worked!", before=[(text, text)])
    extractive([(text, text)], 50)


def test_only_the_beginning_and_the_end_of_a_text_are_looked_at() -> None:
    """So that the work does not grow with what is pasted."""
    text = "A line of a long story that goes on. " * 50_000
    said = sentences(f"I want to paint the fence. {text} That is all, can you help me?")
    assert sum(len(sentence.text) for sentence in said) <= LOOKED_AT + 10
    assert said[0].text == "I want to paint the fence."
    assert said[-1].text == "That is all, can you help me?"


@pytest.mark.parametrize("half", HALVES)
def test_the_labelled_exchanges_are_read_the_same_twice(half: str) -> None:
    """Reading them keeps nothing."""
    of = items(half)
    assert [detect(i.passage, i.shelf) for i in of] == [detect(i.passage, i.shelf) for i in of]
