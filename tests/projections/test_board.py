"""The drafts of one exchange: open or closed, all of them, for ever."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from domain.errors import NoSuchExchange
from domain.ids import SessionId
from projections.board import Board, board
from tests.stories.cast import Stage

A, B, C = "The first answer of them all", "The second answer of them all", "The third of them"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An exchange with three drafts, of which the last is a signal."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {A}\nconfidence: 0.5\nworking: true")
    stage.runs(f"draft: {A}", "draft: '+1'", "thoughts: []", mode="background")
    yield stage
    stage.log.close()


def newest(stage: Stage, exchange: str | None = None, upto: int | None = None) -> Board:
    """The board as it stands."""
    found = board(stage.log, stage.session, exchange, upto)
    assert found is not None
    return found


def test_an_open_board(stage: Stage) -> None:
    """Oldest first, with all that is known of each draft."""
    open_ = newest(stage)
    assert (open_.exchange, open_.question, open_.is_open) == ("exc_1_000", "why two tides?", True)
    assert [(d.index, d.text, d.signal) for d in open_.drafts] == [
        (1, A, False),
        (2, A, False),
        (3, "+1", True),
    ]
    assert [d.seen for d in open_.drafts] == [True, False, False]
    assert [d.repeats for d in open_.drafts] == [None, 1, None]
    assert (open_.drafts[0].confidence, open_.drafts[0].working) == (0.5, True)
    assert not any(d.accepted or d.late for d in open_.drafts)


def test_the_board_is_the_fold(stage: Stage) -> None:
    """At every version: the same drafts as the state's, and none before the first message."""
    stage.does(MarkSeen(indexes=(2,)))
    for version in range(1, stage.state.version + 1):
        drafts = stage.log.state(stage.session, version).dialogue.drafts
        found = board(stage.log, stage.session, upto=version)
        assert (found is None) == (version == 1)
        if found:
            assert [
                (d.index, d.version, d.iteration, d.text, d.signal, d.seen, d.repeats)
                for d in found.drafts
            ] == [
                (d.index, d.version, d.iteration, d.text, d.signal, d.seen, d.repeats)
                for d in drafts
            ]


def test_a_closed_board(stage: Stage) -> None:
    """All drafts stay readable, the accepted one is marked, the next exchange has its own."""
    stage.does(AcceptDraft(index=1), SendMessage(text="and spring tides?"))
    stage.runs(f"draft: {B}")
    closed = newest(stage, "exc_1_000")
    assert not closed.is_open
    assert [d.accepted for d in closed.drafts] == [True, False, False]
    assert len(newest(stage).drafts) == 1
    assert newest(stage).exchange == "exc_5_000"
    assert newest(stage).is_open


def test_a_late_draft_is_on_its_own_board(stage: Stage) -> None:
    """Behind the acceptance, marked as late, and not on the board of the next question."""

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
        return f"draft: {B}"

    stage.runs(act, f"draft: {C}")
    closed, open_ = newest(stage, "exc_1_000"), newest(stage)
    assert [(d.index, d.late) for d in closed.drafts] == [
        (1, False),
        (2, False),
        (3, False),
        (4, True),
    ]
    assert [d.text for d in open_.drafts] == [C]


def test_an_exchange_that_is_not_there(stage: Stage) -> None:
    """Refused; and so is one that has not come yet at that version."""
    for exchange, upto in (("exc_9_000", None), ("nonsense", None), ("exc_1_000", 1)):
        with pytest.raises(NoSuchExchange, match=exchange):
            board(stage.log, stage.session, exchange, upto)


def test_the_board_of_a_branch(stage: Stage) -> None:
    """It has its parent's drafts up to the fork, and its own; the parent has none of these."""
    child = SessionId("tides/b")
    fork_session(stage.log, stage.session, newest(stage).drafts[1].version, child, stage.world)
    before = newest(stage)
    stage.session = child
    assert [d.index for d in newest(stage).drafts] == [1, 2]
    stage.runs(f"draft: {C}")
    stage.does(AcceptDraft())
    assert [d.text for d in newest(stage).drafts] == [A, A, C]
    assert [d.accepted for d in newest(stage).drafts] == [False, False, True]
    stage.session = SessionId("tides")
    assert newest(stage) == before
