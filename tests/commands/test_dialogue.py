"""What the user may say, and what the mind still sees of it."""

import pytest

from commands.dialogue import PruneExchanges, SendMessage
from domain.errors import AnswerFirst, BadText, NoSuchExchange, NothingChanges
from domain.texts import LONGEST
from tests.domain.happened import (
    accepted,
    asked,
    drafted,
    exchanged,
    invoked,
    pruned,
    run_began,
    run_ended,
)
from tests.spec import given

TWO = (*exchanged(1), *exchanged(2))


def test_a_message_opens_an_exchange() -> None:
    """The first message is seen first by iteration 1, and its exchange is named after it."""
    given().when(SendMessage(text="why two tides?")).then(asked("why two tides?", "exc_1_000", 1))


def test_an_exchange_is_named_after_the_iteration_that_sees_it_first() -> None:
    """After two iterations the next message belongs to the third."""
    given(*TWO).when(SendMessage(text="and spring tides?")).then(
        asked("and spring tides?", "exc_3_000", 3)
    )


def test_two_exchanges_never_have_the_same_name() -> None:
    """An exchange that no iteration came after does not lend its name to the next."""
    given(asked(), drafted(1, "an answer out of nowhere"), accepted(1)).when(
        SendMessage(text="and now?")
    ).then(asked("and now?", "exc_1_001", 1))


def test_no_message_while_drafting() -> None:
    """The dialogue is strict: accept one of the drafts first."""
    given(asked(), drafted(1, "x" * 20), drafted(2, "y" * 20)).when(SendMessage(text="hm")).refused(
        AnswerFirst, "accept one of 2 drafts first"
    )


def test_no_message_while_the_last_one_has_no_draft() -> None:
    """Where there is nothing to accept yet, the sentence says to run the mind."""
    given(asked()).when(SendMessage(text="hello?")).refused(AnswerFirst, "run the mind first")


def test_a_message_may_be_sent_while_a_run_goes_on() -> None:
    """A run holds the mind, not the user."""
    given(asked(), run_began(), invoked(1), drafted(1, "x" * 20), accepted(1)).when(
        SendMessage(text="next")
    ).then(asked("next", "exc_2_000", 2))
    given(asked(), run_began(), run_ended(), invoked(1), drafted(1, "x" * 20), accepted(1)).when(
        SendMessage(text="next")
    ).then(asked("next", "exc_2_000", 2))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        (" \n\t ", "is empty"),
        ("a\0b", "NUL"),
        ("half a pair: \ud83d", "not valid UTF-8"),
        ("x" * (LONGEST + 1), "at most 200,000"),
    ],
)
def test_a_text_that_can_not_be_sent(text: str, sentence: str) -> None:
    """Nothing, too much and binary are refused, each with its reason."""
    given().when(SendMessage(text=text)).refused(BadText, sentence)


@pytest.mark.parametrize("text", ["x" * LONGEST, "ö", "😀", "--- # yaml?", "a\nb", "a\u2028b"])
def test_a_text_that_can_be_sent(text: str) -> None:
    """Everything else arrives as it was written."""
    given().when(SendMessage(text=text)).then(asked(text))


def test_blank_ends_are_no_part_of_a_message() -> None:
    """A pipe ends in a line feed that nobody meant."""
    given().when(SendMessage(text="\n  why?\n")).then(asked("why?"))


def test_named_exchanges_are_pruned() -> None:
    """The mind no longer sees them, in the order of history whatever the order asked for."""
    state = (
        given(*TWO)
        .when(PruneExchanges(exchanges=("exc_2_000", "exc_1_000")))
        .then(pruned("exc_1_000", "exc_2_000"))
    )
    assert [e.pruned for e in state.dialogue.history] == [True, True]


def test_all_but_the_newest_are_pruned() -> None:
    """``keep`` counts what stays visible."""
    given(*TWO).when(PruneExchanges(keep=1)).then(pruned("exc_1_000"))
    given(*TWO).when(PruneExchanges(keep=0)).then(pruned("exc_1_000", "exc_2_000"))


def test_what_is_hidden_is_not_hidden_again() -> None:
    """Only what changes is recorded."""
    given(*TWO, pruned("exc_1_000")).when(
        PruneExchanges(exchanges=("exc_1_000", "exc_2_000"))
    ).then(pruned("exc_2_000"))


@pytest.mark.parametrize(
    "wish",
    [PruneExchanges(exchanges=("exc_1_000",)), PruneExchanges(keep=2), PruneExchanges()],
)
def test_pruning_that_changes_nothing(wish: PruneExchanges) -> None:
    """A wish that is fulfilled already is refused, and says so."""
    given(*TWO, pruned("exc_1_000")).when(wish).refused(NothingChanges)


def test_only_accepted_exchanges_are_pruned() -> None:
    """The open exchange, and one that never was, can't be hidden."""
    open_ = (*exchanged(1), asked("open", "exc_2_000", 2))
    for name in ("exc_2_000", "exc_9_000", "nonsense"):
        given(*open_).when(PruneExchanges(exchanges=("exc_1_000", name))).refused(
            NoSuchExchange, repr(name)
        )
