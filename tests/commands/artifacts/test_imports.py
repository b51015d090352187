"""Artifacts of other sessions: imported by reference, followed by choice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.artifacts.edits import EditArtifact, RejectArtifact
from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from commands.artifacts.imports import (
    FollowOrigin,
    ImportArtifact,
    Origin,
    find_origin,
    read_origin,
)
from commands.artifacts.known import known
from commands.command import Command
from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import redact_events
from commands.sessions import start_session
from domain.actors import SYSTEM
from domain.errors import NoSuchArtifact, NoSuchMoment, NoSuchSession, NothingChanges, Refused
from domain.events import ArtifactImported, Event, Source
from domain.ids import SessionId
from domain.lives import Life
from domain.recorded import Draw
from tests.commands.artifacts.past import past, shelf
from tests.domain.happened import (
    edited,
    evicted,
    exchanged,
    learned,
    opened,
    recalled,
    rejected,
    reopened,
    resolved,
    routed,
    summed_up,
    superseded,
)
from tests.stories.cast import Stage

PAYMENTS, HERE = SessionId("payments"), SessionId("checkout")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with an effort (4), a fact (5) and an event (6), and another one beside it."""
    stage = Stage(tmp_path, "payments").begins()
    start_session(stage.log, HERE, stage.world, settings={"model": "script:rehearsed"})
    stage.does(OpenEffort(goal="refunds"))
    stage.does(LearnFact(statement="we use Stripe", since="2026-01-10"))
    stage.does(NoteEvent(what="launch", when="2026-06-01", expires="2026-06-02"))
    yield stage
    stage.log.close()


def here(stage: Stage, *wishes: Command) -> tuple[Event, ...]:
    """What wishes become in the other session."""
    done: tuple[Event, ...] = ()
    for wish in wishes:
        done = handle(stage.log, HERE, wish, stage.world).events
    return done


def ids(stage: Stage) -> dict[str, int]:
    """The artifacts of the first session by their words."""
    return {a.text: a.id for a in stage.state.shelf.artifacts}


def brought(stage: Stage, text: str, *, follow: bool = False) -> int:
    """Import it; its id here."""
    origin = find_origin(stage.log, HERE, PAYMENTS, ids(stage)[text])
    here(stage, ImportArtifact(origin=origin, follow=follow))
    return stage.log.state(HERE).version


def follow(stage: Stage, artifact: int) -> tuple[Event, ...]:
    """Bring it up to date."""
    one = stage.log.state(HERE).shelf.get(artifact)
    life = known(stage.log, HERE, [artifact])
    held = one or life[0].artifact
    assert held.origin is not None
    origin = read_origin(stage.log, SessionId(held.origin.session), held.origin.version)
    assert origin is not None
    return here(stage, FollowOrigin(artifact=artifact, origin=origin, known=life))


# bringing over


def test_a_fact_is_used_here_too(stage: Stage) -> None:
    """With all that it says, the event that brought it there, and up to when it was read."""
    fact = ids(stage)["we use Stripe"]
    origin = find_origin(stage.log, HERE, PAYMENTS, fact)
    head = stage.log.head(PAYMENTS)
    assert here(stage, ImportArtifact(origin=origin)) == (
        ArtifactImported(
            type="fact",
            text="we use Stripe",
            status="current",
            when="2026-01-10",
            source=Source(PAYMENTS, fact, stage.log.head(PAYMENTS, fact).hash),
            as_of=head.version,
        ),
    )
    (artifact,) = stage.log.state(HERE).shelf.artifacts
    assert artifact.follows is None
    assert artifact.origin == origin.source


def test_an_effort_and_an_event_are_used_here_too(stage: Stage) -> None:
    """As they stand: resolved, edited, with their times."""
    effort, event = ids(stage)["refunds"], ids(stage)["launch"]
    stage.does(ResolveEffort(effort=effort, resolution="by webhook"))
    stage.does(EditArtifact(artifact=event, text="big launch"))
    brought(stage, "refunds", follow=True)
    brought(stage, "big launch")
    shown = [
        (a.type, a.text, a.status, a.resolution, a.expires)
        for a in stage.log.state(HERE).shelf.artifacts
    ]
    assert shown == [
        ("effort", "refunds", "resolved", "by webhook", None),
        ("event", "big launch", "current", None, "2026-06-02"),
    ]


def test_as_of_a_moment(stage: Stage) -> None:
    """What an artifact said then; before it came there was none."""
    fact = ids(stage)["we use Stripe"]
    then = stage.state.version
    stage.does(EditArtifact(artifact=fact, text="we use PayPal"))
    origin = find_origin(stage.log, HERE, PAYMENTS, fact, upto=then)
    assert (origin.life.artifact.text, origin.now.version) == ("we use Stripe", then)
    with pytest.raises(NoSuchArtifact):
        find_origin(stage.log, HERE, PAYMENTS, fact, upto=fact - 1)


def test_what_left_there_can_be_used_here(stage: Stage) -> None:
    """It was only out of the context of that chat."""
    effort = ids(stage)["refunds"]
    stage.does(ResolveEffort(effort=effort, resolution="by webhook"))
    left = Draw((evicted(effort).because(1),), stage.world.now(), SYSTEM, stage.world.command_id())
    stage.log.append(PAYMENTS, stage.state.version, left)
    origin = find_origin(stage.log, HERE, PAYMENTS, effort)
    assert origin.life.left == "evicted"
    assert here(stage, ImportArtifact(origin=origin))[0].kind == "artifact.imported"


def test_what_can_not_be_imported(stage: Stage) -> None:
    """Each for its reason, in one sentence."""
    names = ids(stage)
    stage.does(SupersedeFact(fact=names["we use Stripe"], statement="we use PayPal"))
    stage.does(RejectArtifact(artifact=names["launch"]))
    child = SessionId("payments/b")
    fork_session(stage.log, PAYMENTS, stage.state.version, child, stage.world)
    paypal = ids(stage)["we use PayPal"]
    for into, session, artifact, error, why in (
        (HERE, PAYMENTS, names["we use Stripe"], Refused, f"was superseded by {paypal} there"),
        (HERE, PAYMENTS, names["launch"], Refused, "was rejected there"),
        (HERE, PAYMENTS, 1, NoSuchArtifact, "no artifact 1"),
        (HERE, PAYMENTS, 999, NoSuchArtifact, "no artifact 999"),
        (HERE, "nowhere", 1, NoSuchSession, "nowhere"),
        (child, PAYMENTS, paypal, NothingChanges, "part of session 'payments/b' already"),
        (PAYMENTS, PAYMENTS, paypal, NothingChanges, "by descent"),
    ):
        with pytest.raises(error, match=why):
            find_origin(stage.log, into, SessionId(session), artifact)
    with pytest.raises(NoSuchMoment):
        find_origin(stage.log, HERE, PAYMENTS, paypal, upto=999)
    (event,) = stage.log.pick(PAYMENTS, [paypal])
    redact_events(stage.log, [event], "private", stage.world)
    with pytest.raises(Refused, match="was redacted: there is nothing to bring over"):
        find_origin(stage.log, HERE, PAYMENTS, paypal)


def test_a_summary_is_not_imported() -> None:
    """It stands for exchanges that are elsewhere."""
    summary = past(*exchanged(1), summed_up("a", "exc_1_000")).life(6)
    source = Source("payments", 6, bytes(32))
    with pytest.raises(TypeError):
        list(ImportArtifact(origin=Origin(summary, source, source)).decide(past().session))


def test_nothing_is_imported_twice(stage: Stage) -> None:
    """The same event is known by its hash."""
    fact = ids(stage)["we use Stripe"]
    version = brought(stage, "we use Stripe")
    again = ImportArtifact(origin=find_origin(stage.log, HERE, PAYMENTS, fact))
    with pytest.raises(NothingChanges, match=f"Fact {version} is that of payments@{fact} already"):
        here(stage, again)


# following


def test_new_words_there_are_new_words_here(stage: Stage) -> None:
    """With the moment that they are of; then there is nothing more to bring."""
    version = brought(stage, "launch", follow=True)
    with pytest.raises(NothingChanges, match="is as it is in its origin"):
        follow(stage, version)
    launch = ids(stage)["launch"]
    stage.does(EditArtifact(artifact=launch, text="big launch", when="2026-05-31"))
    head = stage.log.head(PAYMENTS)
    now = Source(PAYMENTS, head.version, head.hash)
    assert follow(stage, version) == (
        edited(version, text="big launch", when="2026-05-31", source=now),
    )
    (artifact,) = stage.log.state(HERE).shelf.artifacts
    assert artifact.follows == head.version
    with pytest.raises(NothingChanges):
        follow(stage, version)


def test_one_that_does_not_follow_may_begin_to(stage: Stage) -> None:
    """From then on it does, even if nothing has changed."""
    version = brought(stage, "we use Stripe")
    (event,) = follow(stage, version)
    head = stage.log.head(PAYMENTS)
    assert event == edited(version, source=Source(PAYMENTS, head.version, head.hash))
    with pytest.raises(NothingChanges):
        follow(stage, version)


NOW = Source("payments", 60, bytes(range(32)))


def followed(
    there: Life, *happened: Event, artifact: int = 2
) -> tuple[list[tuple[int, str]], list[Event]]:
    """What following brings here."""
    origin = Origin(there, NOW._replace(version=41), NOW)
    wish = past(*happened).when(FollowOrigin(artifact=artifact, origin=origin))
    events = [getattr(one, "event", one) for one in wish.decided()]
    return shelf(wish.then(*events)), events


def there(*events: Event) -> Life:
    """The first artifact of another session."""
    return past(*events).life(2)._replace(changed=55)


def test_an_end_there_is_an_end_here() -> None:
    """Of an effort, with the moment of it; the exchanges here leave as by any resolution."""
    effort = there(opened("pay"), resolved(2, "by card", outcome="failed"))
    here_ = (brought_here("effort", "pay", "open"), *exchanged(1), routed("exc_1_000", 2))
    left, events = followed(effort, *here_)
    assert events[0] == resolved(2, "by card", outcome="failed", source=NOW)
    assert [e.kind for e in events[1:]] == ["context.compacted", "artifact.edited"]
    assert left == [(2, "pay")]


def test_a_new_beginning_there_is_one_here() -> None:
    """An effort that goes on there goes on here; other words come along."""
    effort = there(opened("pay on time"))
    here_ = (brought_here("effort", "pay", "resolved", "by card"),)
    _, events = followed(effort, *here_)
    assert events == [
        reopened(2, "it goes on in payments"),
        edited(2, text="pay on time", source=NOW),
    ]


def test_another_resolution_there() -> None:
    """Is another one here."""
    effort = there(opened("pay"), resolved(2, "by cash"))
    _, events = followed(effort, brought_here("effort", "pay", "resolved", "by card"))
    assert events == [edited(2, resolution="by cash", source=NOW)]


def test_what_holds_no_longer_there_does_not_hold_here() -> None:
    """Superseded or rejected, and why."""
    fact = there(learned("a"), superseded(2))
    left, events = followed(fact, brought_here("fact", "a"))
    assert events == [superseded(2, reason="it no longer holds in payments")]
    assert left == []
    fact = there(learned("a"), rejected(2))
    left, events = followed(fact, brought_here("fact", "a"))
    assert events == [rejected(2, "it was rejected in payments")]


def test_what_left_comes_back_to_follow() -> None:
    """Its news are worth a look."""
    mine = brought_here("effort", "pay", "open")
    effort = there(opened("pay"), resolved(2, "by cash"))
    _, events = followed(effort, mine, evicted(2))
    assert [e.kind for e in events] == ["artifact.recalled", "effort.resolved", "artifact.edited"]
    assert events[0] == recalled(
        2, "pay", "effort", status="open", source=mine.source, follows=mine.as_of
    )


def test_what_can_not_follow() -> None:
    """What was not imported, and what holds no longer."""
    origin = Origin(there(learned("a")), NOW, NOW)
    past(learned("a")).when(FollowOrigin(artifact=2, origin=origin)).refused(
        Refused, "Fact 2 was not imported"
    )
    past(brought_here("fact", "a"), rejected(2)).when(
        FollowOrigin(artifact=2, origin=origin)
    ).refused(Refused, "was rejected")


def brought_here(
    type_: str, text: str, status: str = "current", resolution: str | None = None
) -> ArtifactImported:
    """It was imported as it was at version 50 there, and follows."""
    return ArtifactImported.model_validate(
        {
            "type": type_,
            "text": text,
            "status": status,
            "resolution": resolution,
            "source": NOW._replace(version=41),
            "as_of": 50,
            "follow": True,
        }
    )


# what is known of those that left


def test_nothing_is_read_for_what_lies_on_the_shelf(stage: Stage) -> None:
    """Nor for what was never there; an artifact that left is found with what it is a part of."""
    whole = ids(stage)["refunds"]
    stage.does(OpenEffort(goal="partial refunds", parent=whole))
    part = ids(stage)["partial refunds"]
    assert known(stage.log, PAYMENTS, [whole, part, None]) == ()
    assert known(stage.log, PAYMENTS, [999]) == ()
    stage.does(ResolveEffort(effort=part, resolution="x"))
    stage.does(RejectArtifact(artifact=part))
    found = known(stage.log, PAYMENTS, [part])
    assert [(life.artifact.id, life.left) for life in found] == [(part, "rejected"), (whole, None)]
