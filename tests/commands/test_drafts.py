"""Accepting drafts and marking them as seen."""

import pytest

from commands.drafts import AcceptDraft, MarkSeen
from domain.dialogue import TEXTS_KEPT
from domain.errors import DraftIsASignal, NoSuchDraft, NothingAwaits, NothingToAccept
from domain.events import Caused
from tests.domain.happened import accepted, asked, drafted, exchanged, invoked, seen
from tests.spec import given

ONE, TWO = "Because the moon pulls on both sides.", "Two bulges, one turning earth."


def test_the_latest_draft_is_accepted() -> None:
    """Without an index the newest draft becomes the answer."""
    state = (
        given(asked(), invoked(1), drafted(1, ONE), invoked(2), drafted(2, TWO))
        .when(AcceptDraft())
        .then(accepted(2))
    )
    assert state.dialogue.awaiting is None
    newest = state.dialogue.history[-1]
    assert (newest.answer, newest.index, newest.drafts) == (TWO, 2, 2)
    assert (newest.asked, newest.answered) == (1, 2)


def test_a_plus_one_is_never_the_answer() -> None:
    """Signals endorse a draft; they are not one."""
    given(asked(), drafted(1, ONE), drafted(2, "+1")).when(AcceptDraft()).then(accepted(1))


def test_an_earlier_draft_may_be_accepted() -> None:
    """By its index, which counts from 1 in each exchange."""
    given(asked(), drafted(1, ONE), drafted(2, TWO)).when(AcceptDraft(index=1)).then(accepted(1))


def test_an_acceptance_names_the_draft_that_led_to_it() -> None:
    """Its cause is the version of the draft."""
    wish = given(asked(), drafted(1, ONE), drafted(2, TWO)).when(AcceptDraft(index=1))
    assert wish.decided() == [Caused(accepted(1), cause=3)]


@pytest.mark.parametrize("index", [0, -1, 3, 10**9])
def test_a_draft_that_is_not_there(index: int) -> None:
    """No index below 1 or above the count is taken for another."""
    given(asked(), drafted(1, ONE), drafted(2, TWO)).when(AcceptDraft(index=index)).refused(
        NoSuchDraft, f"There is no draft {index}: the exchange has drafts 1 to 2"
    )


def test_a_signal_can_not_be_accepted_by_name() -> None:
    """The refusal quotes it."""
    given(asked(), drafted(1, ONE), drafted(2, "+1")).when(AcceptDraft(index=2)).refused(
        DraftIsASignal, "'+1'"
    )


@pytest.mark.parametrize("drafts", [(), (drafted(1, "+1"),)])
def test_nothing_to_accept(drafts: tuple[()]) -> None:
    """No draft, or signals alone, are no answer."""
    given(asked(), *drafts).when(AcceptDraft()).refused(NothingToAccept, "run the mind")


def test_nothing_awaits() -> None:
    """While idle there is nothing to accept and nothing to see."""
    for wish in (AcceptDraft(), AcceptDraft(index=1), MarkSeen(), MarkSeen(indexes=(1,))):
        given(*exchanged(1)).when(wish).refused(NothingAwaits, "send a message first")


def test_all_drafts_are_seen() -> None:
    """Without indexes: all that were not seen before."""
    state = (
        given(asked(), drafted(1, ONE), drafted(2, TWO), seen(1), drafted(3, "+1"))
        .when(MarkSeen())
        .then(seen(2, 3))
    )
    assert all(draft.seen for draft in state.dialogue.drafts)


def test_some_drafts_are_seen() -> None:
    """Each is marked once, whatever the order and number of times it is named."""
    given(asked(), drafted(1, ONE), drafted(2, TWO), seen(2)).when(
        MarkSeen(indexes=(2, 1, 1))
    ).then(seen(1))


def test_seeing_again_changes_nothing() -> None:
    """It is no refusal either: looking twice is no mistake."""
    given(asked(), drafted(1, ONE), seen(1)).when(MarkSeen()).then()
    given(asked(), drafted(1, ONE), seen(1)).when(MarkSeen(indexes=(1,))).then()


def test_a_draft_that_is_not_there_is_not_seen() -> None:
    """One wrong index refuses the whole wish."""
    given(asked(), drafted(1, ONE)).when(MarkSeen(indexes=(1, 2))).refused(
        NoSuchDraft, "the exchange has draft 1"
    )
    given(asked()).when(MarkSeen(indexes=(1,))).refused(NoSuchDraft, "no draft yet")


def test_an_old_draft_can_still_be_accepted() -> None:
    """The state has let go of its text, the log has not."""
    many = [drafted(n, f"this is draft number {n}") for n in range(1, TEXTS_KEPT + 3)]
    state = given(asked(), *many).when(AcceptDraft(index=2)).then(accepted(2))
    newest = state.dialogue.history[-1]
    assert (newest.answer, newest.index, newest.draft_version) == (None, 2, 4)
