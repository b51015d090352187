"""The conversation as it reads: the same by index, by scan and by fold, at every moment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.sessions import ChangeConfig
from domain.ids import SessionId
from projections.history import History, Turn
from tests.stories.cast import Stage

SESSIONS = ("tides", "tides/b", "tides/b/c")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Six exchanges, a fork in the middle of the fourth with one more, and a fork of that."""
    stage = Stage(tmp_path_factory.mktemp("store")).begins("question 1")
    for n in range(1, 7):
        if n > 1:
            stage.does(SendMessage(text=f"question {n}"))
        stage.runs(f"draft: the {n}th answer, not so good")
        stage.runs(f"draft: the {n}th answer, and better")
        stage.does(AcceptDraft(index=n % 2 + 1))
        if n == 4:
            middle = stage.state.version - 3
    fork_session(stage.log, stage.session, middle, SessionId("tides/b"), stage.world)
    stage.session = SessionId("tides/b")
    stage.does(AcceptDraft(), ChangeConfig(key="auto_accept_after", value="1"))
    stage.does(SendMessage(text="question b"), PruneExchanges(keep=1))
    stage.runs("draft: an answer that nobody chose", "thoughts: [hm]", iterations=2)
    before = stage.state.version - 2
    fork_session(stage.log, stage.session, before, SessionId("tides/b/c"), stage.world)
    stage.session = SessionId("tides/b/c")
    stage.does(AcceptDraft())
    yield stage
    stage.log.close()


@pytest.mark.parametrize("session", SESSIONS)
def test_history_is_the_fold_at_every_version(stage: Stage, session: str) -> None:
    """Every exchange that the state at that version holds, with the same words and numbers."""
    name = SessionId(session)
    for version in range(1, stage.log.head(name).version + 1):
        state = stage.log.state(name, version)
        turns = list(History(stage.log, name, version).all())
        assert [
            (t.exchange, t.question, t.answer, t.index, t.version, t.asked_iteration) for t in turns
        ] == [
            (e.id, e.question, e.answer, e.index, e.version, e.asked)
            for e in state.dialogue.history
        ]
        assert [t.answered_iteration for t in turns] == [e.answered for e in state.dialogue.history]


@pytest.mark.parametrize("session", SESSIONS)
def test_the_newest_are_the_end_of_all(stage: Stage, session: str) -> None:
    """Any number of them, as of any version."""
    name = SessionId(session)
    head = stage.log.head(name).version
    for version in (None, 1, 2, head // 2, head - 1, head):
        history = History(stage.log, name, version)
        everything = list(history.all())
        for count in (0, 1, 2, 3, len(everything), 100):
            assert history.newest(count) == (everything[-count:] if count else [])


def test_a_turn_says_who_chose_it_and_when(stage: Stage) -> None:
    """Pruned exchanges are hidden from the mind, never from history."""
    (*_, last) = History(stage.log, SessionId("tides/b")).all()
    assert isinstance(last, Turn)
    assert (last.question, last.by, last.index) == ("question b", "auto-accept", 1)
    assert last.asked_at < last.accepted_at
    assert len(list(History(stage.log, SessionId("tides/b")).all())) == 5
    (*_, other) = History(stage.log, SessionId("tides/b/c")).all()
    assert other.by == "user"


def test_part_of_a_history(stage: Stage) -> None:
    """The acceptances behind a version: what a branch has of its own."""
    name = SessionId("tides/b")
    whole = list(History(stage.log, name).all())
    for after in range(stage.log.head(name).version + 1):
        part = History(stage.log, name, after=after)
        assert list(part.all()) == [t for t in whole if t.version > after]
        assert part.newest(100) == [t for t in whole if t.version > after]


def test_a_late_draft_is_not_history(tmp_path: Path) -> None:
    """The accepted one stays the answer."""
    stage = Stage(tmp_path).begins()
    stage.runs("draft: Because the moon pulls on both sides.")

    def act(*_: object) -> str:
        stage.does(AcceptDraft())
        return "draft: Two bulges, one turning earth."

    stage.runs(act)
    assert [t.answer for t in History(stage.log, stage.session).all()] == [
        "Because the moon pulls on both sides."
    ]
