"""Findings become events: what fits the state as it is by now, each with where it came from."""

from typing import Any

from commands.artifacts.record import RecordFindings
from domain.detection.findings import HERE, Findings, Learned, Noted, Opened, Resolved
from domain.events import (
    ContextCompacted,
    DetectorInvoked,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    FactSuperseded,
)
from domain.ids import ExchangeId
from tests.domain.happened import FIRST, accepted, asked, drafted, exchanged
from tests.spec import Given, given

SECOND = ExchangeId("exc_2_000")
TALK = (asked("my login fails"), drafted(1, "which token do you send?"), accepted(1))
OPENED = EffortOpened(goal="fix the login", exchange=FIRST, messages=(2, 3), found_by="rules")


def look(exchange: str = FIRST, turn: int = 1, **more: Any) -> DetectorInvoked:
    """Somebody looked at an exchange."""
    return DetectorInvoked(
        looked_at=4, exchange=ExchangeId(exchange), turn=turn, found_by="rules", **more
    )


def found(at: Given, findings: Findings, invocation: DetectorInvoked | None = None) -> list[Event]:
    """What becomes of findings, without the look itself."""
    wish = RecordFindings(invocation=invocation or look(), findings=findings, messages=(2, 3))
    decided = [getattr(one, "event", one) for one in at.when(wish).decided()]
    at.when(wish).then(*decided)
    assert not decided or decided[0] == wish.invocation
    return decided[1:]


def test_an_effort_is_opened_with_the_exchange_it_came_from() -> None:
    """It is what the talk is about from then on."""
    findings = Findings(effort=HERE, opened=Opened(goal="fix the login"))
    assert found(given(*TALK), findings) == [OPENED]


def test_a_goal_that_is_open_is_not_opened_again() -> None:
    """The exchange belongs to the effort that has it; case and full stops do not count."""
    at = given(*TALK, OPENED, *exchanged(2))
    again = Findings(effort=HERE, opened=Opened(goal="Fix the login."))
    assert found(at, again, look(SECOND, 2)) == [
        ExchangeRouted(exchange=SECOND, effort=5, found_by="rules")
    ]


def test_an_effort_may_open_and_end_at_once() -> None:
    """A conclusion of which nobody knew that it was wanted."""
    findings = Findings(
        effort=HERE,
        opened=Opened(goal="fix the login"),
        resolved=(Resolved(effort=HERE, resolution="a new token"),),
    )
    opened, resolved, compacted = found(given(*TALK), findings)
    assert opened == OPENED
    assert resolved == EffortResolved(
        effort=6, resolution="a new token", messages=(2, 3), found_by="rules"
    )
    assert isinstance(compacted, ContextCompacted)
    assert (compacted.effort, compacted.exchanges, compacted.how) == (6, (FIRST,), "conclusion")


def test_an_attempt_is_a_part_of_an_open_effort() -> None:
    """And of none, if that one is not open."""
    at = given(*TALK, OPENED)
    part = Findings(effort=HERE, opened=Opened(goal="try another token", parent=5))
    (opened,) = found(at, part)
    assert isinstance(opened, EffortOpened)
    assert opened.parent == 5
    part = Findings(effort=HERE, opened=Opened(goal="try another token", parent=99))
    (opened,) = found(at, part)
    assert isinstance(opened, EffortOpened)
    assert opened.parent is None


def test_an_effort_is_reopened_only_when_it_was_resolved() -> None:
    """Of an open one nothing is said."""
    ended = EffortResolved(effort=5, resolution="a new token")
    assert found(given(*TALK, OPENED, ended), Findings(reopened=(5,))) == [
        EffortReopened(effort=5, messages=(2, 3), found_by="rules")
    ]
    assert found(given(*TALK, OPENED), Findings(reopened=(5, 99))) == []


def test_a_fact_supersedes_another_one() -> None:
    """By its own id; what is no fact is left alone."""
    at = given(*TALK, FactLearned(statement="Tokens last an hour."))
    newer = Learned(statement="Tokens last a day.", supersedes=5)
    learned = FactLearned(statement="Tokens last a day.", messages=(2, 3), found_by="rules")
    assert found(at, Findings(learned=(newer,))) == [learned, FactSuperseded(fact=5, by=7)]
    at = given(*TALK, OPENED)
    assert found(at, Findings(learned=(newer,))) == [learned.model_copy(update={"effort": 5})]


def test_what_is_known_is_not_found_again() -> None:
    """Facts by their words, events by their words and their time."""
    known = (
        FactLearned(statement="Tokens last an hour."),
        EventNoted(what="call mom", when="2026-05-03"),
    )
    findings = Findings(
        learned=(Learned(statement="tokens last an  hour"),),
        noted=(Noted(what="Call mom", when="2026-05-03"),),
    )
    assert found(given(*TALK, *known), findings) == []
    later = Findings(noted=(Noted(what="Call mom", when="2026-05-04"),))
    assert found(given(*TALK, *known), later) == [
        EventNoted(what="Call mom", when="2026-05-04", messages=(2, 3), found_by="rules")
    ]


def test_a_mention_is_said_once_a_turn() -> None:
    """It counts from the turn that it was in."""
    at = given(*TALK, FactLearned(statement="Tokens last an hour."), *exchanged(2))
    mentions = Findings(mentions=(5, 77))
    (routed,) = found(at, mentions, look(SECOND, 2))
    assert routed == ExchangeRouted(exchange=SECOND, mentions=(5,), found_by="rules")
    after = given(*TALK, FactLearned(statement="Tokens last an hour."), *exchanged(2), routed)
    assert found(after, mentions, look(SECOND, 2)) == []


def test_a_look_that_found_nothing_is_no_event() -> None:
    """Unless somebody asked for all of the past, or a model was paid for it."""
    nothing = Findings()
    wish = RecordFindings(invocation=look(), findings=nothing, messages=(2,))
    given(*TALK).when(wish).then()
    given(*TALK).when(wish.model_copy(update={"asked_for": True})).then(look())
    asked_a_model = look(attempts=1, model="some", cost_usd=0.01)
    paid = wish.model_copy(update={"invocation": asked_a_model})
    state = given(*TALK).when(paid).then(asked_a_model)
    assert state.shelf.spent == 0.01
