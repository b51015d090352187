"""What is done to artifacts of any type: edited, merged, rejected, linked, excluded, recalled."""

from typing import Any

import pytest

from commands.artifacts.about import RecallArtifact, life_of
from commands.artifacts.edits import (
    EditArtifact,
    ExcludeArtifact,
    LinkArtifacts,
    MergeArtifacts,
    RejectArtifact,
)
from domain.artifacts import MOST
from domain.errors import BadSetting, BadText, NoSuchArtifact, NothingChanges, Refused
from tests.commands.artifacts.past import past, shelf
from tests.domain.happened import (
    ELSEWHERE,
    concluded,
    edited,
    evicted,
    exchanged,
    excluded,
    happens,
    imported,
    learned,
    linked,
    one_of_two,
    opened,
    recalled,
    rejected,
    resolved,
    routed,
    summed_up,
    superseded,
)
from tests.spec import given

# editing


def test_words_are_changed() -> None:
    """The words alone: what is not named stays."""
    state = (
        past(learned("a", since="2026-05-02"))
        .when(EditArtifact(artifact=2, text=" b "))
        .then(edited(2, text="b"))
    )
    (fact,) = state.shelf.artifacts
    assert (fact.text, fact.when) == ("b", "2026-05-02")


def test_times_and_resolutions_are_changed() -> None:
    """Of what has them; what stays the same is not said again."""
    past(happens("tea", "2026-05-02")).when(
        EditArtifact(artifact=2, text="tea", when="2026-05-03 16:00", expires="2026-05-03")
    ).then(edited(2, when="2026-05-03T16:00", expires="2026-05-03"))
    past(opened(), resolved(2)).when(EditArtifact(artifact=2, resolution="better")).then(
        edited(2, resolution="better")
    )
    past(*exchanged(1), summed_up("a", "exc_1_000")).when(EditArtifact(artifact=6, text="b")).then(
        edited(6, text="b")
    )


@pytest.mark.parametrize(
    ("wish", "error", "why"),
    [
        ({"artifact": 9, "text": "x"}, NoSuchArtifact, "no artifact 9"),
        ({"artifact": 2}, NothingChanges, "Effort 2 says that already"),
        ({"artifact": 2, "text": "explain the tides"}, NothingChanges, "says that already"),
        ({"artifact": 2, "text": " "}, BadText, "The text is empty"),
        ({"artifact": 2, "resolution": "x"}, BadSetting, "only a resolved effort has one"),
        ({"artifact": 2, "when": "2026-05-02"}, BadSetting, "only facts and events have one"),
        ({"artifact": 3, "expires": "2026-05-02"}, BadSetting, "Fact 3 does not expire"),
        ({"artifact": 4, "expires": "2026-05-01"}, BadSetting, "before it begins"),
        ({"artifact": 4, "when": "later"}, BadSetting, "'later' is no date"),
        ({"artifact": 5, "text": "x"}, Refused, "Fact 5 was superseded by 3: name 3 instead"),
    ],
)
def test_what_can_not_be_edited(wish: dict[str, Any], error: type[Refused], why: str) -> None:
    """What it has not, what it says already, and what holds no longer."""
    happened = (opened(), learned("a"), happens("tea", "2026-05-02"), learned("b"))
    past(*happened, superseded(5, 3)).when(EditArtifact(**wish)).refused(error, why)


def test_what_left_comes_back_and_is_edited() -> None:
    """Whoever edits it speaks of it."""
    past(learned("a"), evicted(2)).when(EditArtifact(artifact=2, text="b")).then(
        recalled(2, "a"), edited(2, text="b")
    )


# merging


def test_two_facts_were_one() -> None:
    """The second stands for both."""
    state = (
        past(learned("a"), learned("b"))
        .when(MergeArtifacts(artifact=2, into=3))
        .then(one_of_two(2, 3))
    )
    assert shelf(state) == [(3, "b")]


def test_what_belonged_to_one_belongs_to_the_other() -> None:
    """Exchanges, parts, and facts learned on the way."""
    happened = (*exchanged(1), opened(), opened("b"), opened("c", parent=6), routed("exc_1_000", 6))
    state = (
        past(*happened, learned(effort=6))
        .when(MergeArtifacts(artifact=6, into=7))
        .then(one_of_two(6, 7))
    )
    assert [(a.id, a.parent) for a in state.shelf.artifacts] == [(7, None), (8, 7), (10, 7)]
    assert state.shelf.thread(7) == ("exc_1_000",)
    assert state.shelf.effort == 7


def test_a_resolved_effort_goes_on_in_an_open_one() -> None:
    """What it stood for is word for word again: the open one is not done."""
    happened = (*exchanged(1), opened(), opened("b"), routed("exc_1_000", 6), resolved(6))
    compacted = concluded(6, "exc_1_000", before=9, after=9)
    state = (
        past(*happened, compacted).when(MergeArtifacts(artifact=6, into=7)).then(one_of_two(6, 7))
    )
    assert [a.id for a in state.shelf.open_efforts] == [7]


@pytest.mark.parametrize(
    ("artifact", "into", "error", "why"),
    [
        (2, 2, BadSetting, "2 can't be merged into itself"),
        (2, 9, NoSuchArtifact, "no artifact 9"),
        (9, 2, NoSuchArtifact, "no artifact 9"),
        (2, 5, Refused, "5 is a fact, not an effort"),
        (2, 6, Refused, "Effort 2 is open and 6 is resolved"),
        (2, 4, Refused, "would become a part of itself: merge 4 into 2 instead"),
        (7, 5, Refused, "Fact 7 was rejected: bring it back first (mind artifact recall 7)"),
        (5, 7, Refused, "Fact 7 was rejected"),
    ],
)
def test_what_can_not_be_merged(artifact: int, into: int, error: type[Refused], why: str) -> None:
    """Different types, itself, its own part, and what holds no longer."""
    happened = (opened("a"), opened("b", parent=2), opened("c", parent=3), learned("x"))
    more = (opened("d"), learned("y"), resolved(6), rejected(7))
    past(*happened, *more).when(MergeArtifacts(artifact=artifact, into=into)).refused(error, why)


def test_no_circle_of_parts_comes_of_merging_what_left() -> None:
    """What an effort is a part of may have left the shelf: it is a part of it all the same."""
    happened = (opened("a"), opened("b", parent=2), opened("c", parent=3))
    left = (resolved(3, "x"), evicted(3))
    past(*happened, *left).when(MergeArtifacts(artifact=2, into=4)).refused(
        Refused, "would become a part of itself"
    )
    state = past(*happened, *left).when(MergeArtifacts(artifact=4, into=2)).then(one_of_two(4, 2))
    assert shelf(state) == [(2, "a")]


def test_merging_into_what_left_brings_it_back() -> None:
    """What is merged away need not come back before."""
    facts = (learned("a"), learned("b"))
    past(*facts, evicted(2)).when(MergeArtifacts(artifact=2, into=3)).then(one_of_two(2, 3))
    past(*facts, evicted(3)).when(MergeArtifacts(artifact=2, into=3)).then(
        recalled(3, "b"), one_of_two(2, 3)
    )


# rejecting


def test_an_artifact_is_rejected() -> None:
    """What it stood for stands for itself again."""
    happened = (*exchanged(1), opened(), routed("exc_1_000", 6), resolved(6))
    compacted = concluded(6, "exc_1_000", before=9, after=9)
    state = (
        past(*happened, compacted)
        .when(RejectArtifact(artifact=6, reason=" no "))
        .then(rejected(6, "no"))
    )
    assert shelf(state) == []
    assert state.shelf.stands_for(exchanged(1)[0].exchange) is None


def test_what_can_be_rejected() -> None:
    """Of whatever type, on the shelf or not; but once."""
    for happened in ((learned(),), (learned(), evicted(2)), (learned(), superseded(2))):
        past(*happened).when(RejectArtifact(artifact=2)).then(rejected(2))
    past(learned(), rejected(2)).when(RejectArtifact(artifact=2)).refused(
        NothingChanges, "Fact 2 was rejected already"
    )
    past(learned("a"), learned("b"), one_of_two(2, 3)).when(RejectArtifact(artifact=2)).refused(
        NothingChanges, "Fact 2 was merged into 3 already"
    )
    past(learned()).when(RejectArtifact(artifact=2, reason="")).refused(BadText, "reason")
    past().when(RejectArtifact(artifact=2)).refused(NoSuchArtifact, "no artifact 2")


# linking


def test_artifacts_are_linked() -> None:
    """Whatever their types; with a word for how."""
    past(opened(), learned()).when(LinkArtifacts(artifact=3, to=2)).then(linked(3, 2))
    past(opened(), learned(), evicted(3), superseded(3)).when(
        LinkArtifacts(artifact=3, to=2, relation=" speaks \n against ")
    ).then(linked(3, 2, "speaks against"))


@pytest.mark.parametrize(
    ("wish", "error", "why"),
    [
        ({"to": 2}, BadSetting, "2 can't be linked to itself"),
        ({"to": 9}, NoSuchArtifact, "no artifact 9"),
        ({"to": 4}, Refused, "Fact 4 was rejected: name one that holds"),
        ({"relation": " "}, BadText, "The relation is empty"),
        ({"relation": "x" * 61}, BadSetting, "at most 60"),
    ],
)
def test_what_can_not_be_linked(wish: dict[str, Any], error: type[Refused], why: str) -> None:
    """Itself, what is not there, what should never have been."""
    happened = (opened(), learned("a"), learned("b"), rejected(4))
    past(*happened).when(LinkArtifacts(**{"artifact": 2, "to": 3, **wish})).refused(error, why)


# excluding and recalling


def test_an_artifact_is_excluded_and_shown_again() -> None:
    """It stays what it is."""
    state = past(learned()).when(ExcludeArtifact(artifact=2)).then(excluded(2))
    assert [a.excluded for a in state.shelf.artifacts] == [True]
    past(learned(), excluded(2)).when(ExcludeArtifact(artifact=2, excluded=False)).then(
        excluded(2, False)
    )


def test_what_left_is_excluded_where_it_is() -> None:
    """It need not come back for that; should it, it is excluded."""
    given_ = past(learned(), evicted(2))
    given_.when(ExcludeArtifact(artifact=2)).then(excluded(2))
    past(learned(), evicted(2), excluded(2)).when(RecallArtifact(artifact=2)).then(
        recalled(2, "the moon pulls"), excluded(2)
    )


def test_nothing_is_excluded_twice() -> None:
    """Nor included twice; nor what holds no longer."""
    past(learned(), excluded(2)).when(ExcludeArtifact(artifact=2)).refused(
        NothingChanges, "Fact 2 is excluded already"
    )
    past(learned()).when(ExcludeArtifact(artifact=2, excluded=False)).refused(
        NothingChanges, "Fact 2 is not excluded already"
    )
    past(learned(), rejected(2)).when(ExcludeArtifact(artifact=2)).refused(Refused, "was rejected")
    past().when(ExcludeArtifact(artifact=2)).refused(NoSuchArtifact, "no artifact 2")


def test_an_artifact_is_recalled() -> None:
    """As it was last: edited, excluded, imported; with the words that called it."""
    given_ = past(
        imported("pay", "event", when="2026-05-02"), edited(2, text="pay now"), evicted(2)
    )
    state = given_.when(RecallArtifact(artifact=2, words="that bill")).then(
        recalled(2, "pay now", "event", when="2026-05-02", source=ELSEWHERE, words="that bill")
    )
    assert shelf(state) == [(2, "pay now")]


def test_what_was_superseded_or_rejected_can_be_recalled() -> None:
    """It holds again; what was merged is part of another."""
    for ended in (superseded(2), rejected(2)):
        past(learned(), ended).when(RecallArtifact(artifact=2)).then(recalled(2, "the moon pulls"))
    past(learned("a"), learned("b"), one_of_two(2, 3)).when(RecallArtifact(artifact=2)).refused(
        Refused, "Fact 2 was merged into 3: name 3 instead"
    )
    past(learned()).when(RecallArtifact(artifact=2)).refused(NothingChanges, "in the context")
    past().when(RecallArtifact(artifact=2)).refused(NoSuchArtifact, "no artifact 2")


def test_a_part_comes_back_to_the_whole_that_it_has_by_now() -> None:
    """While it was away, what it is a part of was merged."""
    happened = (opened("a"), opened("b"), opened("c", parent=2), resolved(4, "x"), evicted(4))
    state = (
        past(*happened, one_of_two(2, 3))
        .when(RecallArtifact(artifact=4))
        .then(recalled(4, "c", "effort", outcome="done", resolution="x", parent=3))
    )
    assert [(a.id, a.parent) for a in state.shelf.artifacts] == [(3, None), (4, 3)]


def test_what_was_pushed_off_the_shelf_has_left_it() -> None:
    """Where no event says so either: there are only so many on it."""
    given_ = past(*(learned(f"fact {n}") for n in range(MOST + 1)))
    assert given_.session.shelf.get(2) is None
    assert life_of(given_.session, 2, given_.lives.values()).left == "evicted"
    state = given_.when(RecallArtifact(artifact=2)).then(recalled(2, "fact 0"))
    assert len(state.shelf.artifacts) == MOST


def test_without_knowing_what_left_there_is_nothing_of_it() -> None:
    """A wish brings along what the log knows; else it is refused, never guessed."""
    given(learned(), evicted(2)).when(RecallArtifact(artifact=2)).refused(NoSuchArtifact, "2")
