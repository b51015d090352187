"""The catalogue: all artifacts of a session, as of any moment, with what became of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.artifacts.edits import (
    EditArtifact,
    ExcludeArtifact,
    LinkArtifacts,
    MergeArtifacts,
    RejectArtifact,
)
from commands.artifacts.efforts import OpenEffort, ResolveEffort, RouteExchange
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from commands.artifacts.imports import FollowOrigin, ImportArtifact, find_origin, read_origin
from commands.artifacts.work import bring_back, work_on
from commands.dialogue import SendMessage
from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import redact_events
from commands.sessions import start_session
from domain.actors import SYSTEM
from domain.artifacts import MOST
from domain.errors import NoSuchArtifact, NoSuchMoment
from domain.events import Caused, Event
from domain.ids import SessionId
from domain.recorded import Draw
from projections.artifacts import Catalogue, catalogue
from projections.dashboard import dashboard, is_over
from projections.past import as_of
from tests.domain.happened import evicted, learned, recalled, summed_up
from tests.stories.cast import Stage

TIDES, OTHER = SessionId("tides"), SessionId("other")
NOW = "2026-05-02T10:30"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """One exchange: versions 1 to 7 or so."""
    stage = Stage(tmp_path).begins()
    stage.answers("", "Because the moon pulls on both sides.")
    yield stage
    stage.log.close()


def new(stage: Stage, wish: OpenEffort | LearnFact | NoteEvent) -> int:
    """The version of what a wish brings."""
    stage.does(wish)
    return stage.state.version


def happened(stage: Stage, *events: Event) -> None:
    """What the system does."""
    draw = Draw(
        [Caused(event, None, SYSTEM) for event in events],
        stage.world.now(),
        SYSTEM,
        stage.world.command_id(),
    )
    stage.log.append(stage.session, stage.state.version, draw)


def listed(stage: Stage) -> Catalogue:
    """All artifacts as they stand."""
    return catalogue(stage.log, stage.session)


def other(stage: Stage) -> None:
    """Another session."""
    start_session(stage.log, OTHER, stage.world, settings={"model": "script:rehearsed"})


def test_an_effort_with_all_that_is_known(stage: Stage) -> None:
    """Its words, how it ended, what it came from, what belongs to it, what happened to it."""
    effort = new(stage, OpenEffort(goal="explain", exchange="exc_1_000", messages=(2,)))
    part = new(stage, OpenEffort(goal="ask the moon", parent=effort))
    fact = new(stage, LearnFact(statement="the moon pulls", effort=effort))
    stage.does(ResolveEffort(effort=effort, resolution="both sides", messages=(5,)))
    found = listed(stage)
    item = found.get(effort)
    assert (item.text, item.status, item.outcome, item.resolution) == (
        *("explain", "resolved", "done"),
        "both sides",
    )
    assert (item.messages, item.exchanges, item.parts) == ((2, 5), ("exc_1_000",), (part, fact))
    assert [(one.kind, one.actor) for one in item.history] == [
        ("effort.opened", "user:ann"),
        ("effort.resolved", "user:ann"),
        ("context.compacted", "user:ann"),
    ]
    assert (item.session, item.found_by, item.origin, item.orphan) == (TIDES, "user", None, None)
    assert [i.id for i in found] == [effort, part, fact]
    assert found.get(part).parent == effort
    with pytest.raises(NoSuchArtifact):
        found.get(1)


def test_what_became_of_them_is_told_in_a_word(stage: Stage) -> None:
    """Whatever it was, and what is there instead; the list has them all."""
    ids = {name: new(stage, LearnFact(statement=name)) for name in "abcdefg"}
    stage.does(SupersedeFact(fact=ids["a"], statement="a2"))
    a2 = stage.state.version - 1
    stage.does(MergeArtifacts(artifact=ids["b"], into=ids["c"]))
    stage.does(RejectArtifact(artifact=ids["d"]), ExcludeArtifact(artifact=ids["e"]))
    happened(stage, evicted(ids["f"], ids["g"]), recalled(ids["g"], "g"))
    found = listed(stage)
    assert {item.text: item.standing for item in found} == {
        "a": "superseded",
        "b": "merged",
        "c": "current",
        "d": "rejected",
        "e": "excluded",
        "f": "evicted",
        "g": "current",
        "a2": "current",
    }
    assert (found.get(ids["a"]).instead, found.get(a2).supersedes) == (a2, (ids["a"],))
    assert (found.get(ids["b"]).instead, found.get(ids["c"]).merged) == (ids["c"], (ids["b"],))
    assert [found.get(ids[name]).holds for name in "adf"] == [False, False, True]


def test_what_was_pushed_off_the_shelf_is_evicted(stage: Stage) -> None:
    """There are only so many on it; here they all are."""
    happened(stage, *(learned(f"fact {number}") for number in range(MOST + 2)))
    standings = [item.standing for item in listed(stage)]
    assert standings == ["evicted"] * 2 + ["current"] * MOST


def test_exchanges_follow_where_they_are_routed(stage: Stage) -> None:
    """Corrected, and merged with their effort; a summary has those that it stands for."""
    one = new(stage, OpenEffort(goal="one", exchange="exc_1_000"))
    two = new(stage, OpenEffort(goal="two"))
    stage.does(RouteExchange(exchange="exc_1_000", effort=two))
    found = listed(stage)
    assert (found.get(one).exchanges, found.get(two).exchanges) == ((), ("exc_1_000",))
    stage.does(MergeArtifacts(artifact=two, into=one))
    assert listed(stage).get(one).exchanges == ("exc_1_000",)
    happened(stage, summed_up("the moon", "exc_1_000"))
    summary = listed(stage).get(stage.state.version)
    assert (summary.type, summary.exchanges, summary.found_by) == (
        "summary",
        ("exc_1_000",),
        "rules",
    )


def test_links_are_known_to_both(stage: Stage) -> None:
    """Each once."""
    one, two = new(stage, LearnFact(statement="a")), new(stage, LearnFact(statement="b"))
    stage.does(LinkArtifacts(artifact=two, to=one, relation="speaks against"))
    found = listed(stage)
    (link,) = found.get(one).links
    assert (link.artifact, link.relation, link.to) == (two, "speaks against", one)
    assert found.get(two).links == (link,)


def test_orphans_are_a_query(stage: Stage) -> None:
    """Nothing is collected: what was part of something rejected can be asked for."""
    effort = new(stage, OpenEffort(goal="explain"))
    part = new(stage, OpenEffort(goal="ask", parent=effort))
    deeper = new(stage, LearnFact(statement="it is silent", effort=part))
    old, fact = new(stage, LearnFact(statement="a")), new(stage, LearnFact(statement="b"))
    stage.does(SupersedeFact(fact=old, by=fact))
    assert listed(stage).orphans() == []
    stage.does(RejectArtifact(artifact=effort), RejectArtifact(artifact=fact))
    found = listed(stage)
    assert {item.id: item.orphan for item in found.orphans()} == {
        part: f"effort {effort}, which it is part of, was rejected",
        old: f"{fact}, by which it was superseded, was rejected",
    }
    assert found.get(deeper).orphan is None


def test_an_origin_that_moved_on(stage: Stage) -> None:
    """Is said until the copy is up to date; a session that is not here says nothing."""
    fact = new(stage, LearnFact(statement="the moon pulls"))
    other(stage)
    origin = find_origin(stage.log, OTHER, TIDES, fact)
    handle(stage.log, OTHER, ImportArtifact(origin=origin, follow=True), stage.world)
    (item,) = catalogue(stage.log, OTHER)
    assert item.origin is not None
    assert (item.origin.session, item.origin.version, item.origin.follow) == (TIDES, fact, True)
    assert (item.origin.here, item.origin.moved_on) == (True, False)
    stage.does(LinkArtifacts(artifact=fact, to=new(stage, LearnFact(statement="x"))))
    assert [i.origin.moved_on for i in catalogue(stage.log, OTHER) if i.origin] == [False]
    before = stage.state.version
    stage.does(EditArtifact(artifact=fact, text="the sun pulls"))
    (item,) = catalogue(stage.log, OTHER)
    assert item.origin is not None
    assert (item.origin.moved_on, item.origin.now) == (True, "the sun pulls")
    past = as_of(stage.log, TIDES, before)
    assert [i.origin.moved_on for i in catalogue(past, OTHER) if i.origin] == [False]
    origin_now = read_origin(stage.log, TIDES, fact)
    assert origin_now is not None
    handle(stage.log, OTHER, FollowOrigin(artifact=item.id, origin=origin_now), stage.world)
    (item,) = catalogue(stage.log, OTHER)
    assert item.origin is not None
    assert (item.text, item.origin.moved_on) == ("the sun pulls", False)
    stage.does(RejectArtifact(artifact=fact))
    (item,) = catalogue(stage.log, OTHER)
    assert item.origin is not None
    assert item.origin.now == "the sun pulls (rejected)"


def test_as_of_a_moment_and_in_branches(stage: Stage) -> None:
    """A branch sees what was there when it began, and its own; its parent goes its own way."""
    one = new(stage, LearnFact(statement="a"))
    moment = stage.state.version
    child = SessionId("tides/b")
    stage.does(EditArtifact(artifact=one, text="b"))
    fork_session(stage.log, TIDES, moment, child, stage.world)
    handle(stage.log, child, LearnFact(statement="of the branch"), stage.world)
    assert [(i.text, i.session) for i in catalogue(stage.log, child)] == [
        ("a", TIDES),
        ("of the branch", child),
    ]
    assert [i.text for i in listed(stage)] == ["b"]
    assert [i.text for i in catalogue(stage.log, TIDES, moment)] == ["a"]
    assert len(catalogue(stage.log, TIDES, 1)) == 0
    with pytest.raises(NoSuchMoment):
        catalogue(stage.log, TIDES, 999)


def test_the_branch_of_an_effort_knows_what_belongs_to_it(stage: Stage) -> None:
    """All that is said there is of that effort, though no event says so."""
    effort = new(stage, OpenEffort(goal="explain"))
    stage.session = work_on(stage.log, TIDES, effort, stage.world).session
    stage.does(SendMessage(text="and the sun?"))
    asked = stage.state.dialogue.awaiting
    assert asked is not None
    assert listed(stage).get(effort).exchanges == (asked.exchange,)
    fact = new(stage, LearnFact(statement="it pulls too", effort=effort))
    stage.does(ResolveEffort(effort=effort, resolution="both"))
    bring_back(stage.log, stage.session, stage.world)
    (brought,) = [i for i in catalogue(stage.log, TIDES) if i.type == "fact"]
    assert brought.origin is not None
    assert (brought.origin.session, brought.origin.version) == (stage.session, fact)
    assert (brought.origin.here, brought.origin.moved_on) == (True, False)


def test_what_was_redacted_says_so(stage: Stage) -> None:
    """It stays in the list, without words."""
    fact = new(stage, LearnFact(statement="her address"))
    redact_events(stage.log, stage.log.pick(TIDES, [fact]), "private", stage.world)
    (item,) = listed(stage)
    assert (item.text, item.redacted, item.history[0].redacted) == ("[redacted]", True, True)


# all chats at a glance


def test_the_dashboard(stage: Stage) -> None:
    """Open efforts of all chats, the newest facts, and what is to come, the next one first."""
    effort = new(stage, OpenEffort(goal="explain"))
    done = new(stage, OpenEffort(goal="ask"))
    stage.does(ResolveEffort(effort=done, resolution="no"))
    new(stage, LearnFact(statement="a"))
    new(stage, NoteEvent(what="over", when="2026-05-01"))
    new(stage, NoteEvent(what="some time"))
    new(stage, NoteEvent(what="later", when="2026-06-01"))
    new(stage, NoteEvent(what="today", when="2026-05-02"))
    other(stage)
    for wish in (OpenEffort(goal="pay"), LearnFact(statement="b"), LearnFact(statement="c")):
        handle(stage.log, OTHER, wish, stage.world)
    seen = dashboard(stage.log, stage.log.sessions(), NOW, 2)
    assert [(one.text, one.session) for one in seen.efforts] == [("pay", OTHER), ("explain", TIDES)]
    assert [one.text for one in seen.facts] == ["c", "b"]
    assert [one.text for one in seen.events] == ["today", "later", "some time"]
    assert seen.efforts[1].id == effort


def test_what_branches_share_is_told_once(stage: Stage) -> None:
    """With the branches that have it; one that says otherwise is another."""
    effort = new(stage, OpenEffort(goal="explain"))
    fact = new(stage, LearnFact(statement="a"))
    child = SessionId("tides/b")
    fork_session(stage.log, TIDES, stage.state.version, child, stage.world)
    stage.does(EditArtifact(artifact=fact, text="a2"))
    handle(stage.log, child, ResolveEffort(effort=effort, resolution="x"), stage.world)
    seen = dashboard(stage.log, stage.log.sessions(), NOW, 9)
    assert [(one.text, one.sessions) for one in seen.efforts] == [("explain", (TIDES,))]
    assert [(one.text, one.session, one.sessions) for one in seen.facts] == [
        ("a2", TIDES, (TIDES,)),
        ("a", TIDES, (child,)),
    ]
    assert dashboard(stage.log, [], NOW, 9) == ((), (), ())


@pytest.mark.parametrize(
    ("when", "expires", "over"),
    [
        (None, None, False),
        ("2026-05-01", None, True),
        ("2026-05-02", None, False),
        ("2026-05-02T10:29", None, True),
        ("2026-05-02T10:30", None, False),
        ("2026-05-01", "2026-05-02", False),
        ("2026-05-03", "2026-05-02T10:00", True),
    ],
)
def test_when_an_event_is_over(when: str | None, expires: str | None, over: bool) -> None:
    """A day lasts to its end, a minute to its end, and what has no time never passes."""
    assert is_over(when, expires, NOW + ":59+02:00") is over
