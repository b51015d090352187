"""Efforts by hand: opened, resolved, reopened, expanded, collapsed, and what belongs to them."""

from typing import Any

import pytest

from commands.artifacts.efforts import (
    CollapseEffort,
    ExpandEffort,
    OpenEffort,
    ReopenEffort,
    ResolveEffort,
    RouteExchange,
    open_parts,
    resolution_events,
)
from commands.artifacts.upkeep import loose_in
from domain.context import FRAME, assemble, worded
from domain.errors import BadText, NoSuchArtifact, NoSuchExchange, NothingChanges, Refused
from domain.events import Caused
from domain.session import Session
from domain.tokens import estimate
from tests.commands.artifacts.past import past
from tests.domain.happened import (
    ELSEWHERE,
    asked,
    collapsed,
    concluded,
    evicted,
    exchanged,
    excluded,
    expanded,
    imported,
    learned,
    one_of_two,
    opened,
    pruned,
    recalled,
    rejected,
    reopened,
    resolved,
    routed,
    summed_up,
)

TALK = (*exchanged(1), *exchanged(2), *exchanged(3))
"""Versions 2 to 13: three exchanges."""
BEGUN = 14
"""The version of what comes behind them."""


def size(number: int) -> int:
    """Tokens of the ``number``-th exchange."""
    said = (f"question {number}", f"this is the answer number {number}")
    return sum(map(estimate, said)) + 2 * FRAME


def said(session: Session) -> list[str]:
    """The exchanges that a mind is shown word for word."""
    return [turn.exchange.id for turn in assemble(session, "2026-05-02T10:30:00+00:00").turns]


# opening


def test_an_effort_is_opened() -> None:
    """With a goal; it lies on the shelf under the version of its event, and is open."""
    state = past().when(OpenEffort(goal=" explain the tides ")).then(opened())
    (effort,) = state.shelf.open_efforts
    assert (effort.id, effort.text, effort.type) == (2, "explain the tides", "effort")


def test_an_effort_begins_in_an_exchange() -> None:
    """The exchange belongs to it from then on, and so does what is talked of now."""
    state = (
        past(*TALK, asked("and the sun?", "exc_4_000", 4))
        .when(OpenEffort(goal="explain the tides", exchange="exc_4_000", messages=(14,)))
        .then(opened(exchange="exc_4_000", messages=(14,)))
    )
    assert state.shelf.thread(15) == ("exc_4_000",)
    assert state.shelf.effort == 15


def test_an_effort_is_part_of_another() -> None:
    """Of one that is open, and has not left."""
    state = (
        past(opened())
        .when(OpenEffort(goal="ask the moon", parent=2))
        .then(opened("ask the moon", parent=2))
    )
    assert [a.parent for a in state.shelf.artifacts] == [None, 2]


@pytest.mark.parametrize(
    ("happened", "parent", "error", "why"),
    [
        ((), 7, NoSuchArtifact, "There is no artifact 7 here"),
        ((learned(),), 2, Refused, "2 is a fact, not an effort"),
        ((opened(), resolved(2)), 2, Refused, "reopen it first (mind effort reopen 2)"),
        ((opened(), rejected(2)), 2, Refused, "Effort 2 was rejected: bring it back first"),
        ((opened(), opened("b"), one_of_two(2, 3)), 2, Refused, "merged into 3: name 3 instead"),
    ],
)
def test_what_can_not_have_parts(
    happened: tuple[Any, ...], parent: int, error: type[Refused], why: str
) -> None:
    """What is no open effort, in one sentence that says what to do."""
    past(*happened).when(OpenEffort(goal="ask", parent=parent)).refused(error, why)


def test_a_goal_is_needed_and_an_exchange_that_is_there() -> None:
    """Nothing else is opened, and nothing twice."""
    past().when(OpenEffort(goal=" ")).refused(BadText, "The goal is empty")
    past().when(OpenEffort(goal="x", exchange="exc_9_000")).refused(NoSuchExchange, "exc_9_000")
    past(opened()).when(OpenEffort(goal="explain the tides")).refused(
        NothingChanges, "Effort 2 has this goal already"
    )


def test_the_same_goal_once_more() -> None:
    """A goal may be had again when the effort that had it is over, and as part of another."""
    past(opened(), resolved(2)).when(OpenEffort(goal="explain the tides")).then(opened())
    past(opened(), opened("b")).when(OpenEffort(goal="explain the tides", parent=3)).then(
        opened(parent=3)
    )


# resolving


def test_an_effort_is_resolved() -> None:
    """It is no longer open, and says how it ended."""
    state = (
        past(opened()).when(ResolveEffort(effort=2, resolution="the moon pulls")).then(resolved(2))
    )
    (effort,) = state.shelf.artifacts
    assert (effort.is_open, effort.resolution, effort.outcome) == (False, "the moon pulls", "done")


def test_its_exchanges_leave_the_context() -> None:
    """Those that belong to it, with tokens before and after by the estimate."""
    given = past(*TALK, opened(), routed("exc_1_000", BEGUN), routed("exc_3_000", BEGUN))
    text = "explain the tides\n=> it does"
    wish = given.when(ResolveEffort(effort=BEGUN, resolution="it does", outcome="failed"))
    state = wish.then(
        resolved(BEGUN, "it does", outcome="failed"),
        concluded(
            BEGUN,
            "exc_1_000",
            "exc_3_000",
            before=size(1) + size(3),
            after=estimate(text) + FRAME,
        ),
    )
    assert [a and worded(a) for a in [state.shelf.get(BEGUN)]] == [text]
    assert state.shelf.stands_for(TALK[0].exchange) == BEGUN
    assert state.shelf.stands_for(TALK[4].exchange) is None
    *_, compacted = wish.decided()
    assert isinstance(compacted, Caused)
    assert compacted.cause == given.session.version + 1


def test_only_accepted_exchanges_for_which_nothing_stands_leave() -> None:
    """The one that awaits stays, and so does what stands for others; a hidden one costs nothing."""
    given = past(
        *TALK,
        opened(),
        *(routed(f"exc_{n}_000", BEGUN) for n in (1, 2)),
        concluded(BEGUN, "exc_1_000", before=9, after=9),
        pruned("exc_2_000"),
        asked("and the sun?", "exc_4_000", 4),
        routed("exc_4_000", BEGUN),
    )
    given.when(ResolveEffort(effort=BEGUN, resolution="x")).then(
        resolved(BEGUN, "x"),
        concluded(BEGUN, "exc_2_000", before=0, after=estimate("explain the tides\n=> x") + FRAME),
    )


def test_the_talk_goes_back_to_what_it_is_part_of() -> None:
    """A part that ends gives the word back to the whole, while that goes on."""
    state = past(
        *TALK, opened(), opened("ask the moon", parent=BEGUN), routed("exc_3_000", BEGUN + 1)
    ).session
    assert state.shelf.effort == BEGUN + 1
    wish = ResolveEffort(effort=BEGUN + 1, resolution="it said no", outcome="failed")
    decided = past(
        *TALK, opened(), opened("ask the moon", parent=BEGUN), routed("exc_3_000", BEGUN + 1)
    ).when(wish)
    events = [caused.event for caused in decided.decided() if isinstance(caused, Caused)]
    assert decided.then(*events).shelf.effort == BEGUN


def test_a_whole_may_be_resolved_while_parts_are_open() -> None:
    """It is said which ones, parts of parts included."""
    given = past(
        opened(), opened("b", parent=2), opened("c", parent=3), opened("d"), resolved(3, "x")
    )
    assert [a.id for a in open_parts(given.session, 2)] == [4]
    state = given.when(ResolveEffort(effort=2, resolution="x")).then(resolved(2, "x"))
    assert [a.id for a in open_parts(state, 2)] == [4]
    assert open_parts(state, 5) == ()


@pytest.mark.parametrize(
    ("happened", "error", "why"),
    [
        ((), NoSuchArtifact, "There is no artifact 2"),
        ((learned(),), Refused, "2 is a fact, not an effort: name an effort (mind effort list)"),
        ((opened(), resolved(2)), NothingChanges, "Effort 2 is resolved already"),
        ((opened(), resolved(2), evicted(2)), NothingChanges, "Effort 2 is resolved already"),
        ((opened(), rejected(2)), Refused, "bring it back first (mind artifact recall 2)"),
        ((opened(), opened("b"), one_of_two(2, 3)), Refused, "merged into 3"),
    ],
)
def test_what_can_not_be_resolved(
    happened: tuple[Any, ...], error: type[Refused], why: str
) -> None:
    """What is no effort, no longer open, or holds no longer."""
    past(*happened).when(ResolveEffort(effort=2, resolution="x")).refused(error, why)


def test_a_resolution_is_needed() -> None:
    """An effort does not end without a word."""
    past(opened()).when(ResolveEffort(effort=2, resolution="")).refused(BadText, "resolution")


def test_an_open_effort_that_left_comes_back_first() -> None:
    """As it was last, with where it was imported from."""
    past(imported("pay", "effort"), evicted(2)).when(ResolveEffort(effort=2, resolution="x")).then(
        recalled(2, "pay", "effort", status="open", source=ELSEWHERE), resolved(2, "x")
    )


def test_a_detector_may_resolve_by_the_same_rules() -> None:
    """The rule is a function of the state; who found it and where is said."""
    session = past(opened()).session
    found = resolution_events(session, 2, "x", found_by="model", messages=(1,), source=ELSEWHERE)
    assert found == [resolved(2, "x", found_by="model", messages=(1,), source=ELSEWHERE)]


# reopening, expanding, collapsing


def test_an_effort_is_reopened() -> None:
    """It goes on, and its exchanges are what is talked about, word for word."""
    given = past(
        *TALK,
        *(e for n in range(4, 16) for e in exchanged(n)),
        opened(),
        routed("exc_1_000", 62),
        resolved(62),
        concluded(62, "exc_1_000", before=9, after=9),
    )
    assert "exc_1_000" not in said(given.session)
    state = given.when(ReopenEffort(effort=62, reason=" not so ")).then(reopened(62, "not so"))
    (effort,) = state.shelf.open_efforts
    assert (effort.resolution, effort.outcome) == (None, None)
    assert state.shelf.effort == 62
    assert "exc_1_000" in said(state)


def test_what_can_not_be_reopened() -> None:
    """What is open, and what is no effort; an effort that left comes back first."""
    past(opened()).when(ReopenEffort(effort=2)).refused(NothingChanges, "Effort 2 is open already")
    past(learned()).when(ReopenEffort(effort=2)).refused(Refused, "2 is a fact")
    past(opened(), resolved(2)).when(ReopenEffort(effort=2, reason=" ")).refused(BadText, "reason")
    past(opened(), resolved(2), evicted(2)).when(ReopenEffort(effort=2)).then(
        recalled(2, "explain the tides", "effort", outcome="done", resolution="the moon pulls"),
        reopened(2),
    )


def test_a_resolved_effort_is_expanded_and_collapsed() -> None:
    """Its exchanges are shown, and leave again; it stays resolved."""
    given = past(opened(), resolved(2))
    state = given.when(ExpandEffort(effort=2)).then(expanded(2))
    assert [a.expanded for a in state.shelf.artifacts] == [True]
    given = past(opened(), resolved(2), expanded(2))
    state = given.when(CollapseEffort(effort=2)).then(collapsed(2))
    assert [(a.expanded, a.status) for a in state.shelf.artifacts] == [(False, "resolved")]


def test_what_can_not_be_expanded_or_collapsed() -> None:
    """An open effort is shown anyway, and nothing is done twice."""
    open_ = past(opened())
    open_.when(ExpandEffort(effort=2)).refused(NothingChanges, "its exchanges are shown already")
    open_.when(CollapseEffort(effort=2)).refused(Refused, "resolve it first (mind effort resolve 2")
    past(opened(), resolved(2), expanded(2)).when(ExpandEffort(effort=2)).refused(
        NothingChanges, "Effort 2 is expanded already"
    )
    for happened in ((opened(), resolved(2)), (opened(), resolved(2), evicted(2))):
        past(*happened).when(CollapseEffort(effort=2)).refused(NothingChanges, "not expanded")
    past(learned()).when(ExpandEffort(effort=2)).refused(Refused, "2 is a fact")
    past().when(CollapseEffort(effort=2)).refused(NoSuchArtifact, "no artifact 2")


def test_an_effort_that_left_is_expanded() -> None:
    """It comes back, as it was: one that was excluded stays so."""
    past(opened(), resolved(2), excluded(2), evicted(2)).when(ExpandEffort(effort=2)).then(
        recalled(2, "explain the tides", "effort", outcome="done", resolution="the moon pulls"),
        excluded(2),
        expanded(2),
    )


# correcting where an exchange belongs


def test_an_exchange_is_routed() -> None:
    """The user knows best where it belongs."""
    state = (
        past(*TALK, opened())
        .when(RouteExchange(exchange="exc_2_000", effort=BEGUN))
        .then(routed("exc_2_000", BEGUN))
    )
    assert state.shelf.thread(BEGUN) == ("exc_2_000",)


def test_an_exchange_of_a_resolved_effort_leaves_at_once() -> None:
    """The resolution stands for it as for the others."""
    given = past(*TALK, opened(), resolved(BEGUN, "x"))
    state = given.when(RouteExchange(exchange="exc_2_000", effort=BEGUN)).then(
        routed("exc_2_000", BEGUN),
        concluded(
            BEGUN, "exc_2_000", before=size(2), after=estimate("explain the tides\n=> x") + FRAME
        ),
    )
    assert "exc_2_000" not in [one.exchange for one in loose_in(state)]


def test_an_exchange_goes_from_one_resolved_effort_to_another() -> None:
    """The right one stands for it from then on; a summary of it stays."""
    happened = (*TALK, opened("a"), opened("b"), routed("exc_2_000", BEGUN))
    ended = (resolved(BEGUN, "x"), resolved(BEGUN + 1, "y"))
    right = estimate("b\n=> y") + FRAME
    stood = concluded(BEGUN, "exc_2_000", before=9, after=9)
    state = (
        past(*happened, *ended, stood)
        .when(RouteExchange(exchange="exc_2_000", effort=BEGUN + 1))
        .then(
            routed("exc_2_000", BEGUN + 1),
            concluded(BEGUN + 1, "exc_2_000", before=size(2), after=right),
        )
    )
    assert state.shelf.stands_for(TALK[4].exchange) == BEGUN + 1
    past(*happened, *ended, summed_up("s", "exc_2_000")).when(
        RouteExchange(exchange="exc_2_000", effort=BEGUN + 1)
    ).then(routed("exc_2_000", BEGUN + 1))


def test_an_exchange_may_belong_to_nothing() -> None:
    """As may the one that awaits; the talk is of nothing in particular then."""
    awaiting = (*TALK, opened(), asked("hm", "exc_4_000", 4), routed("exc_4_000", BEGUN))
    state = past(*awaiting).when(RouteExchange(exchange="exc_4_000")).then(routed("exc_4_000"))
    assert state.shelf.effort is None
    past(*TALK).when(RouteExchange(exchange="exc_2_000")).refused(
        NothingChanges, "exc_2_000 belongs to no effort already"
    )
    past(*awaiting).when(RouteExchange(exchange="exc_4_000", effort=BEGUN)).refused(
        NothingChanges, f"belongs to effort {BEGUN} already"
    )


def test_where_no_exchange_can_belong() -> None:
    """To what is no effort; and no exchange that is not there belongs anywhere."""
    past(*TALK, learned()).when(RouteExchange(exchange="exc_1_000", effort=BEGUN)).refused(
        Refused, f"{BEGUN} is a fact"
    )
    past(*TALK).when(RouteExchange(exchange="exc_1_000", effort=99)).refused(NoSuchArtifact, "99")
    past(opened()).when(RouteExchange(exchange="exc_1_000", effort=2)).refused(
        NoSuchExchange, "exc_1_000"
    )
    past(*TALK, opened(), resolved(BEGUN, "x"), evicted(BEGUN)).when(
        RouteExchange(exchange="exc_1_000", effort=BEGUN)
    ).then(
        recalled(BEGUN, "explain the tides", "effort", outcome="done", resolution="x"),
        routed("exc_1_000", BEGUN),
        concluded(
            BEGUN, "exc_1_000", before=size(1), after=estimate("explain the tides\n=> x") + FRAME
        ),
    )
