"""Where a new talk may begin: what a search found, by chat."""

from pathlib import Path

import pytest

from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.artifacts.facts import LearnFact, SupersedeFact
from commands.handle import handle
from commands.sessions import ArchiveSession, start_session
from domain.ids import SessionId
from projections.search.ask import search
from projections.start import CHATS, Offer, offer
from tests.stories.cast import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A chat about payments, with a fact, an open effort and one that is resolved."""
    stage = Stage(tmp_path / "store", "payments").begins("how do we take payments?")
    stage.answers("how do we take payments?", "With Stripe, and webhooks for what comes late.")
    stage.does(LearnFact(statement="Payments go through Stripe API v2023-10"))
    stage.does(OpenEffort(goal="choose a payments provider"))
    stage.does(
        ResolveEffort(effort=stage.state.shelf.artifacts[-1].id, resolution="Stripe, not PayPal")
    )
    stage.does(OpenEffort(goal="implement refunds of payments"))
    return stage


def offered(stage: Stage, text: str) -> Offer:
    """What is offered to somebody who wants that, by words alone."""
    return offer(stage.log, search(stage.log, stage.directory, text, limit=40))


def test_chats_are_offered_with_what_they_came_to(stage: Stage) -> None:
    """Their title, the newest conclusion, their facts and open efforts."""
    (chat,) = offered(stage, "I want to work on the payments integration").chats
    assert (chat.session, chat.title) == ("payments", "payments")
    assert chat.summary == "choose a payments provider => Stripe, not PayPal"
    assert (chat.facts, chat.resolved_efforts) == (1, 1)
    assert chat.open_efforts == ("implement refunds of payments",)
    assert chat.at == stage.state.at


def test_artifacts_are_offered_once_each_with_their_newest_words(stage: Stage) -> None:
    """A resolved effort says how it ended."""
    found = {one.text: (one.type, one.status) for one in offered(stage, "payments").artifacts}
    assert found == {
        "Payments go through Stripe API v2023-10": ("fact", "current"),
        "choose a payments provider => Stripe, not PayPal": ("effort", "resolved"),
        "implement refunds of payments": ("effort", "open"),
    }


def test_what_no_longer_holds_is_not_offered(stage: Stage) -> None:
    """A fact that another one superseded."""
    fact = next(a.id for a in stage.state.shelf.artifacts if a.type == "fact")
    stage.does(SupersedeFact(fact=fact, reason="we left Stripe"))
    assert "fact" not in {one.type for one in offered(stage, "payments Stripe").artifacts}


def test_the_best_chats_are_offered_and_none_that_was_put_away(stage: Stage) -> None:
    """At most three; what has nothing to do with it is not among them."""
    for number in range(CHATS + 1):
        session = SessionId(f"more-{number}")
        message = "and payments by card?" if number else "why two tides a day?"
        start_session(stage.log, session, stage.world, message=message)
    handle(stage.log, SessionId("more-1"), ArchiveSession(), stage.world)
    chats = [chat.session for chat in offered(stage, "payments").chats]
    assert set(chats) == {"payments", "more-2", "more-3"}


def test_nothing_is_offered_where_nothing_was_found(stage: Stage) -> None:
    """A fresh start."""
    assert offered(stage, "zugzwang") == Offer((), ())
