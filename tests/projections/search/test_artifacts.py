"""Artifacts are found by the words that they have, where and when they have them."""

from pathlib import Path

import pytest

from domain.errors import NoSuchSession
from domain.events import (
    ArtifactEdited,
    ArtifactImported,
    ArtifactMerged,
    ArtifactRecalled,
    ArtifactRejected,
    ArtifactsEvicted,
    ContextCompacted,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    FactLearned,
    FactSuperseded,
    Source,
)
from domain.ids import ExchangeId, SessionId
from projections.search.hit import Branch, Everywhere
from tests.projections.search.library import Library

SOMEWHERE = Source("main", 2, bytes(32))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A store."""
    return Library(tmp_path / "store")


def test_an_effort_is_found_with_how_it_was_resolved(library: Library) -> None:
    """Its goal stays, its resolution comes and goes."""
    effort = library.records(EffortOpened(goal="Fix the login"))
    (hit,) = library.hits("login")
    assert (hit.kind, hit.artifact, hit.version, hit.session) == ("effort", effort, effort, "main")
    done = library.records(EffortResolved(effort=effort, resolution="longer timeout"))
    (hit,) = library.hits("timeout")
    assert (hit.artifact, hit.version, hit.text) == (
        effort,
        done,
        "Fix the login\n→ longer timeout",
    )
    library.records(EffortReopened(effort=effort))
    assert library.finds("timeout") == []
    assert library.finds("login") == ["effort main@4 Fix the login"]


def test_facts_events_and_summaries_are_found(library: Library) -> None:
    """Each by its words, an event by its date too."""
    library.records(FactLearned(statement="The office closes at six"))
    library.records(EventNoted(what="Dentist", when="2026-05-14"))
    library.records(
        ContextCompacted(
            exchanges=(ExchangeId("exc_1_000"),),
            summary="They talked about bread.",
            how="extractive",
            tokens_before=90,
            tokens_after=9,
        )
    )
    assert library.finds("office") == ["fact main@2 The office closes at six"]
    assert library.finds("2026-05-14") == ["event main@3 Dentist (2026-05-14)"]
    assert library.finds("bread") == ["summary main@4 They talked about bread."]


def test_an_edited_artifact_is_found_by_its_new_words_alone(library: Library) -> None:
    """As of a moment before, by its old ones."""
    fact = library.records(FactLearned(statement="It opens at seven"))
    library.records(ArtifactEdited(artifact=fact, text="It opens at eight"))
    assert library.finds("opens") == ["fact main@3 It opens at eight"]
    assert library.finds_in("main", "opens", upto=2) == ["fact main@2 It opens at seven"]
    assert library.finds("seven") == []


@pytest.mark.parametrize(
    "end",
    [
        FactSuperseded(fact=2, by=3),
        ArtifactMerged(artifact=2, into=3),
        ArtifactRejected(artifact=2),
    ],
    ids=lambda event: event.kind,
)
def test_what_is_over_is_found_no_more(library: Library, end: Event) -> None:
    """It is there as of a moment before."""
    library.records(FactLearned(statement="The key is under the mat"))
    library.records(FactLearned(statement="The key is at the office"))
    before = library.now
    library.records(end)
    assert library.finds("key") == ["fact main@3 The key is at the office"]
    assert len(library.finds_in("main", "key", upto=3)) == 2
    assert len(library.finds("key", Everywhere(before))) == 2
    assert len(library.finds("key", Everywhere(before - 1))) == 1


def test_what_was_evicted_is_found_still(library: Library) -> None:
    """It only left the context; coming back changes its words only if they are others."""
    fact = library.records(FactLearned(statement="The key is under the mat"))
    library.records(ArtifactsEvicted(artifacts=(fact,), turn=20))
    assert library.finds("key") == ["fact main@2 The key is under the mat"]
    back = ArtifactRecalled(
        artifact=fact, type="fact", text="The key is under the mat", status="current"
    )
    library.records(back)
    assert library.finds("key") == ["fact main@2 The key is under the mat"]
    library.records(back.model_copy(update={"text": "The key is under the pot"}))
    assert library.finds("key") == ["fact main@5 The key is under the pot"]


def test_an_imported_artifact_is_one_of_its_session(library: Library) -> None:
    """With the words that it has there."""
    library.forks("other", 1)
    copy = library.records(
        ArtifactImported(
            type="effort",
            text="Fix the login",
            status="resolved",
            resolution="longer timeout",
            source=SOMEWHERE,
            as_of=2,
        ),
        session="other",
    )
    assert library.finds("login") == [f"effort other@{copy} Fix the login\n→ longer timeout"]
    library.records(ArtifactEdited(artifact=copy, text="Fix the sign-in"), session="other")
    assert library.finds("login") == []


# branches


def test_a_fork_sees_its_parent_up_to_the_fork_point(library: Library) -> None:
    """Not what the parent says later, and the parent sees nothing of the fork."""
    library.says("early bird")
    library.forks("child")
    library.says("late bird")
    library.says("own bird", session="child")
    assert set(library.finds_in("child", "bird")) == {
        "message main@2 early bird",
        "message child@4 own bird",
    }
    assert set(library.finds_in("main", "bird")) == {
        "message main@2 early bird",
        "message main@3 late bird",
    }
    assert len(library.finds("bird")) == 3


def test_a_fork_sees_an_artifact_with_the_words_of_the_fork_point(library: Library) -> None:
    """What the parent makes of it later is the parent's own."""
    fact = library.records(FactLearned(statement="The key is under the mat"))
    other = library.records(FactLearned(statement="The key is heavy"))
    library.forks("child")
    library.records(ArtifactEdited(artifact=fact, text="The key is in the car"))
    library.records(ArtifactRejected(artifact=other))
    assert set(library.finds_in("child", "key")) == {
        "fact main@2 The key is under the mat",
        "fact main@3 The key is heavy",
    }
    assert library.finds_in("main", "key") == ["fact main@4 The key is in the car"]
    assert library.finds("key") == library.finds_in("main", "key")


def test_what_a_fork_makes_of_an_artifact_stays_in_the_fork(library: Library) -> None:
    """Edits and ends; a fork of that fork inherits them up to where it left."""
    fact = library.records(FactLearned(statement="The key is under the mat"))
    other = library.records(FactLearned(statement="The key is heavy"))
    library.forks("child")
    edited = library.records(
        ArtifactEdited(artifact=fact, text="The key is in the car"), session="child"
    )
    library.forks("grandchild", edited, parent="child")
    library.records(ArtifactRejected(artifact=other), session="child")
    library.records(ArtifactEdited(artifact=fact, text="The key is lost"), session="child")
    car, heavy = f"fact child@{edited} The key is in the car", "fact main@3 The key is heavy"
    assert set(library.finds_in("grandchild", "key")) == {car, heavy}
    assert library.finds_in("child", "key") == ["fact child@7 The key is lost"]
    assert set(library.finds_in("child", "key", upto=edited)) == {car, heavy}
    assert set(library.finds_in("child", "key", upto=3)) == set(library.finds_in("main", "key"))
    assert set(library.finds("key")) == {
        "fact main@2 The key is under the mat",
        heavy,
        "fact child@7 The key is lost",
    }


def test_a_fork_is_not_found_by_the_title_of_its_parent(library: Library) -> None:
    """As a session it is another one."""
    library.forks("child")
    assert library.finds_in("child", "main") == []
    assert library.finds_in("child", "child") == ["session child@2 child"]


def test_a_session_that_is_not_there(library: Library) -> None:
    """Is refused."""
    with pytest.raises(NoSuchSession):
        library.hits("x", Branch(SessionId("nowhere")))
