"""Picking: what another branch has comes here as new events that say where it came from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.handle import handle
from commands.picks import (
    Pick,
    PickedExchange,
    PickedThought,
    conflicts,
    find_picked,
    refuse_conflicts,
)
from commands.redaction import redact_events
from commands.thinking import InjectThought
from domain.errors import AnswerFirst, NothingChanges, PickConflicts, Refused
from domain.events import DraftAccepted, DraftEmitted, MessageSent, Source, ThoughtAdded
from domain.ids import SessionId
from projections.board import board
from projections.history import History
from tests.stories.cast import Stage

MAIN, BRANCH, DEEPER = SessionId("tides"), SessionId("tides/b"), SessionId("tides/b/c")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session with one answer, and a branch of a branch that went on from there."""
    stage = Stage(tmp_path).begins()
    stage.answers("", "Because the moon pulls on both sides.")
    fork_session(stage.log, MAIN, stage.state.version, BRANCH, stage.world)
    stage.session = BRANCH
    stage.answers("and spring tides?", "When sun and moon pull together.")
    fork_session(stage.log, BRANCH, stage.state.version, DEEPER, stage.world)
    stage.session = DEEPER
    stage.does(SendMessage(text="and neap tides?"))
    stage.runs("thoughts: [a right angle]\ndraft: Something about a quarter moon.")
    stage.runs("draft: When they pull at right angles.")
    stage.does(AcceptDraft(index=2))
    stage.session = MAIN
    yield stage
    stage.log.close()


def found(stage: Stage, kind: str, session: SessionId = DEEPER) -> int:
    """The version of the newest event of a kind."""
    recorded = stage.log.newest(session, [kind])
    assert recorded is not None
    return recorded.version


def pick(stage: Stage, *wanted: tuple[SessionId, int]) -> None:
    """Bring them to the session on stage."""
    picked = find_picked(stage.log, stage.session, wanted)
    refuse_conflicts(conflicts(stage.log, stage.state, picked))
    stage.does(Pick(picked=tuple(picked)))


@pytest.mark.parametrize("kind", ["draft.accepted", "message.sent", "draft.emitted"])
def test_an_exchange_comes_whole_by_any_of_its_parts(stage: Stage, kind: str) -> None:
    """Question and accepted answer; it opens and closes at once, and all can look it up."""
    before = stage.state
    pick(stage, (DEEPER, found(stage, kind)))
    state = stage.state
    assert state.version == before.version + 3
    assert state.dialogue.awaiting is None
    turn = History(stage.log, MAIN).newest(1)[0]
    assert (turn.question, turn.answer) == ("and neap tides?", "When they pull at right angles.")
    assert state.dialogue.history[-1].answer == turn.answer
    shown = board(stage.log, MAIN, turn.exchange)
    assert shown is not None
    assert [draft.accepted for draft in shown.drafts] == [True]


def test_what_came_says_where_it_came_from(stage: Stage) -> None:
    """The stream, version and chain hash of the event there, whichever branch it was asked of."""
    pick(stage, (DEEPER, found(stage, "draft.accepted")), (DEEPER, found(stage, "thought.added")))
    for class_, kind in (
        (MessageSent, "message.sent"),
        (DraftEmitted, "draft.emitted"),
        (ThoughtAdded, "thought.added"),
    ):
        version = found(stage, kind)
        assert stage.events(class_)[-1].source == Source(
            DEEPER, version, stage.log.head(DEEPER, version).hash
        )


def test_an_inherited_exchange_names_the_stream_that_holds_it(stage: Stage) -> None:
    """Asked of the grandchild, recorded as the child's."""
    pick(stage, (DEEPER, found(stage, "draft.accepted", BRANCH)))
    assert stage.events(MessageSent)[-1].source.session == BRANCH


def test_several_exchanges_get_ids_of_their_own(stage: Stage) -> None:
    """In one append, in the order asked for; and the next message gets another id again."""
    wanted = [(DEEPER, found(stage, "draft.accepted", session)) for session in (BRANCH, DEEPER)]
    pick(stage, *wanted)
    stage.does(SendMessage(text="and now?"))
    ids = [message.exchange for message in stage.events(MessageSent)]
    assert len(set(ids)) == len(ids) == 4
    commands = {r.command for r in stage.history() if isinstance(r.event, DraftAccepted)}
    assert len(commands) == 2


def test_a_thought_enters_the_pool_as_imported(stage: Stage) -> None:
    """With the mind that had it."""
    pick(stage, (DEEPER, found(stage, "thought.added")))
    thought = stage.state.pool.active[-1]
    assert (thought.text, thought.mind) == ("a right angle", "rehearsed")
    assert thought.origin == "imported"


def test_a_thought_may_come_while_a_message_awaits_its_answer(stage: Stage) -> None:
    """An exchange may not: one question at a time."""
    stage.does(SendMessage(text="and on Mars?"))
    pick(stage, (DEEPER, found(stage, "thought.added")))
    version = stage.state.version
    with pytest.raises(AnswerFirst):
        pick(stage, (DEEPER, found(stage, "draft.accepted")))
    assert stage.state.version == version


def test_what_is_here_by_descent_is_not_picked(stage: Stage) -> None:
    """It would stand here twice."""
    with pytest.raises(NothingChanges, match="part of session 'tides' already"):
        pick(stage, (DEEPER, found(stage, "draft.accepted", MAIN)))


def test_the_same_version_of_another_branch_is_another_event(stage: Stage) -> None:
    """Numbers coincide where branches went on side by side."""
    stage.answers("another way on?", "There is always one, as the sea knows.")
    stage.answers("and one more?", "And one more, with every day that goes.")
    version = found(stage, "draft.accepted", BRANCH)
    assert version <= stage.state.version
    pick(stage, (BRANCH, version))
    assert stage.state.dialogue.history[-1].question == "and spring tides?"


def test_picking_twice_is_a_conflict(stage: Stage) -> None:
    """Named with the event that brought it; nothing is written."""
    wanted = (DEEPER, found(stage, "draft.accepted"))
    pick(stage, wanted)
    head = stage.state.version
    with pytest.raises(PickConflicts, match=rf"picked before \(event {head - 2}\)"):
        pick(stage, wanted)
    assert stage.state.version == head


def test_another_answer_to_the_same_question_is_a_conflict(stage: Stage) -> None:
    """And so is a thought that was had here as well; both are named at once."""
    stage.answers("and neap tides?", "I can't say anything about these.")
    stage.does(InjectThought(text="a right angle", by="user:ann"))
    picked = find_picked(
        stage.log,
        MAIN,
        [(DEEPER, found(stage, "draft.accepted")), (DEEPER, found(stage, "thought.added"))],
    )
    against = conflicts(stage.log, stage.state, picked)
    assert [one.what for one in against] == ["answered otherwise", "thought already"]
    assert [type(one.picked) for one in against] == [PickedExchange, PickedThought]


def test_the_same_question_before_the_branches_parted_is_no_conflict(stage: Stage) -> None:
    """Both sides know it; only what happened here since can speak against."""
    stage.session = BRANCH
    stage.answers("why two tides?", "Asked again, answered better than before.")
    version = found(stage, "draft.accepted", BRANCH)
    stage.session = MAIN
    pick(stage, (BRANCH, version))
    assert stage.state.dialogue.history[-1].answer == "Asked again, answered better than before."


@pytest.mark.parametrize("kind", ["run.started", "session.forked", "mind.invoked"])
def test_other_events_are_nothing_to_bring(stage: Stage, kind: str) -> None:
    """The sentence says what can be."""
    with pytest.raises(Refused, match="name an accepted exchange"):
        pick(stage, (DEEPER, found(stage, kind)))


def test_a_draft_that_was_not_accepted_is_not_brought(stage: Stage) -> None:
    """Only the answer of an exchange is."""
    first = next(
        r.version
        for r in stage.log.read(DEEPER, kinds=["draft.emitted"], newest_first=True)
        if isinstance(r.event, DraftEmitted) and r.event.index == 1
    )
    with pytest.raises(Refused, match="not the draft that was accepted"):
        pick(stage, (DEEPER, first))


def test_an_open_exchange_is_not_brought(stage: Stage) -> None:
    """It has no answer yet."""
    handle(stage.log, DEEPER, SendMessage(text="and on Mars?"), stage.world)
    with pytest.raises(Refused, match="not accepted yet"):
        pick(stage, (DEEPER, found(stage, "message.sent")))


def test_what_was_redacted_is_gone_for_picks_too(stage: Stage) -> None:
    """There is nothing to bring over."""
    version = found(stage, "message.sent")
    accepted = found(stage, "draft.accepted")
    redact_events(stage.log, stage.log.pick(DEEPER, [version]), "private", stage.world)
    with pytest.raises(Refused, match="was redacted"):
        pick(stage, (DEEPER, accepted))
