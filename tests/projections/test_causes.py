"""What led to an event: back along what is recorded, to the beginning if need be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.sessions import start_session
from domain.events import DraftEmitted, Event, MessageSent, Source, ThoughtAdded
from domain.ids import SessionId
from domain.recorded import Draw, Recorded
from projections.causes import Step, causes, picked, told
from tests.stories.cast import Stage

ONE, TWO = "The first answer of them all", "The second answer of them all"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An exchange of two iterations with a signal in between, and another one behind it."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"thoughts: [the far bulge]\ndraft: {ONE}", mode="background", iterations=1)
    stage.does(SetSignal(presence="reviewing", status="back", time=stage.world.local_time()))
    stage.runs(f"draft: {TWO}")
    stage.does(AcceptDraft(index=1), SendMessage(text="and spring tides?"))
    stage.runs("draft: they are another matter")
    yield stage
    stage.log.close()


def event_at(stage: Stage, version: int) -> Recorded:
    """The event of a version."""
    (recorded,) = stage.log.pick(stage.session, [version])
    return recorded


def newest(stage: Stage, kind: str) -> Recorded:
    """The newest event of a kind."""
    recorded = stage.log.newest(stage.session, [kind])
    assert recorded is not None
    return recorded


def back(stage: Stage, start: Recorded, most: int = 99) -> list[Step]:
    """All steps."""
    return list(causes(stage.log, stage.session, start, most))


def in_words(steps: list[Step]) -> list[tuple[str, str]]:
    """Why, and what."""
    return [(step.way, step.event.kind) for step in steps]


def appended(stage: Stage, event: Event) -> Recorded:
    """Something that no wish of today becomes."""
    version = stage.state.version
    draw = Draw([event.because(1)], 2**50, stage.world.actor, stage.world.command_id())
    stage.log.append(stage.session, version, draw)
    return event_at(stage, version + 1)


def test_a_draft_leads_back_to_the_beginning(stage: Stage) -> None:
    """Its invocation, what that was shown, the message; the answer before, and what led to that."""
    assert in_words(back(stage, newest(stage, "draft.emitted"))) == [
        ("because of", "mind.invoked"),
        ("based on", "run.started"),
        ("in answer to", "message.sent"),
        ("after", "draft.accepted"),
        ("because of", "draft.emitted"),  # the first one: it was accepted
        ("because of", "mind.invoked"),
        ("based on", "run.started"),
        ("in answer to", "message.sent"),
    ]


def test_an_iteration_follows_the_one_before(stage: Stage) -> None:
    """Also where the user acted last before it."""
    second = next(
        r for r in stage.history() if isinstance(r.event, DraftEmitted) and r.event.text == TWO
    )
    steps = back(stage, second)
    assert in_words(steps)[:4] == [
        ("because of", "mind.invoked"),
        ("based on", "run.started"),
        ("after", "mind.invoked"),
        ("based on", "run.started"),
    ]
    assert steps[0].event == told(event_at(stage, second.version - 1))


def test_no_more_steps_than_asked_for(stage: Stage) -> None:
    """The nearest ones."""
    start = newest(stage, "draft.emitted")
    assert back(stage, start, 0) == []
    assert back(stage, start, 3) == back(stage, start)[:3]


def test_what_the_user_did_has_no_cause(stage: Stage) -> None:
    """A signal, a note, the first message and the beginning come from nobody else."""
    stage.does(AddNote(text="hm"))
    for kind in ("signal.changed", "note.added", "run.started"):
        assert back(stage, newest(stage, kind)) == []
    assert back(stage, event_at(stage, 2)) == []
    assert back(stage, event_at(stage, 1)) == []


def test_a_branch_leads_back_into_its_parent(stage: Stage) -> None:
    """Through branches of branches, one of which begins within an iteration."""
    first = next(r for r in stage.history() if isinstance(r.event, DraftEmitted))
    for name in ("tides/b", "tides/b/c"):
        fork_session(
            stage.log, stage.session, first.version, SessionId(name), stage.world, reason="why not"
        )
        stage.session = SessionId(name)
        first = newest(stage, "session.forked")
    assert in_words(back(stage, first))[:4] == [
        ("branched at", "session.forked"),
        ("branched at", "draft.emitted"),
        ("because of", "mind.invoked"),
        ("based on", "run.started"),
    ]
    stage.runs(f"draft: {TWO}")
    steps = back(stage, newest(stage, "draft.emitted"))
    assert [step.event.session for step in steps[:3]] == ["tides/b/c", "tides/b/c", "tides"]
    assert in_words(steps)[:3] == [
        ("because of", "mind.invoked"),
        ("based on", "run.started"),
        ("after", "mind.invoked"),
    ]


@pytest.mark.parametrize("kind", ["message.sent", "draft.emitted", "thought.added"])
def test_what_was_picked_leads_to_where_it_is_from(stage: Stage, kind: str) -> None:
    """And from there on through the other session's own past."""
    origin = newest(stage, kind)
    elsewhere = SessionId("elsewhere")
    start_session(stage.log, elsewhere, stage.world, message="another question")
    head = stage.log.head(stage.session, origin.version)
    there, stage.session = stage.session, elsewhere
    source = Source(there, origin.version, head.hash)
    copy = {
        "message.sent": MessageSent(exchange="exc_9_000", text="x", iteration=9, source=source),  # type: ignore[arg-type]
        "draft.emitted": DraftEmitted(
            exchange="exc_1_000",  # type: ignore[arg-type]
            index=1,
            text=ONE,
            iteration=1,
            late=True,
            source=source,
        ),
        "thought.added": ThoughtAdded(
            text="x", iteration=1, mind="m", origin="imported", source=source
        ),
    }[kind]
    start = appended(stage, copy)
    steps = back(stage, start)
    assert steps[0] == Step("picked from", told(origin))
    assert steps[1:] == list(causes(stage.log, there, origin, 99))
    gone = copy.model_copy(update={"source": source._replace(hash=bytes(32))})
    assert in_words(back(stage, appended(stage, gone)))[0] == ("because of", "session.started")


def test_a_source_is_here_if_the_very_same_event_is(stage: Stage) -> None:
    """By its hash; a name that others use here, or a version that is not there, is no proof."""
    head = stage.log.head(stage.session, 2)
    assert picked(stage.log, None) is None
    for source, here in (
        (Source("tides", 2, head.hash), True),
        (Source("tides", 3, head.hash), False),
        (Source("tides", 10**9, head.hash), False),
        (Source("nobody", 2, head.hash), False),
    ):
        found = picked(stage.log, source)
        assert found is not None
        assert (found.session, found.version, found.here) == (source.session, source.version, here)


@pytest.mark.parametrize("ahead", [0, 1, 10**6])
def test_a_cause_that_is_no_cause_ends_the_way(stage: Stage, ahead: int) -> None:
    """Only a forged log names an event that is not behind: nobody walks in circles there."""
    version = stage.state.version + 1
    event = ThoughtAdded(text="x", iteration=1, mind="m")
    draw = Draw(
        [event.because(version + ahead), event.because(version)],
        2**50,
        stage.world.actor,
        stage.world.command_id(),
    )
    stage.log.append(stage.session, version - 1, draw)
    assert back(stage, event_at(stage, version)) == []
    assert len(back(stage, event_at(stage, version + 1))) == 1
