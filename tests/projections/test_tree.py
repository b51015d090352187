"""The tree of branches: told by look-ups, and true to every state."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.eventlog.wire import Row
from commands.forks import fork_session
from commands.handle import handle
from commands.recording import RecordIteration
from commands.redaction import redact_events
from commands.sessions import (
    ArchiveSession,
    LabelMoment,
    RenameSession,
    RestoreSession,
    start_session,
)
from domain.errors import NoSuchSession
from domain.events import DraftEmitted
from domain.ids import SessionId
from domain.recorded import Look, Recorded
from projections import tree
from projections.tree import Branch, Place, branch, branches, drawn, visible
from tests.domain.happened import invoked
from tests.often import often
from tests.projections.branching import Branch as Grown
from tests.projections.branching import branches as several
from tests.projections.branching import grown
from tests.stories.cast import Stage
from tests.strategies import Wish, turns

MAIN = SessionId("tides")
NEAR, FAR = "Because the Moon pulls the near side.", "Because it pulls the far side less."


def fork(stage: Stage, child: str, parent: str = "tides", at: int | None = None) -> SessionId:
    """A branch, at the head of its parent unless said otherwise."""
    version = at or stage.log.head(SessionId(parent)).version
    fork_session(stage.log, SessionId(parent), version, SessionId(child), stage.world)
    return SessionId(child)


def places(found: Sequence[Branch]) -> dict[str, tuple[str | None, Place | None]]:
    """Where each branched off."""
    return {each.session: (each.parent, each.fork) for each in found}


def lines(stage: Stage, current: str | None = None, *, everything: bool = False) -> list[str]:
    """The tree, one character a level."""
    found = branches(stage.log)
    shown = found if everything else visible(found, SessionId(current) if current else None)
    return [
        "".join("." if last else "|" for last in twig.last) + twig.branch.session
        for twig in drawn(shown)
    ]


@often(12, 30, turns, several)
def test_every_branch_is_what_its_state_says(steps: Sequence[Wish], more: Sequence[Grown]) -> None:
    """Title, iterations, exchange, drafts, now and where it branched off, without any state."""
    with grown(steps, more) as log:
        for found in branches(log):
            state = log.state(found.session)
            assert found == branch(log, found.session)
            assert (found.title, found.archived) == (state.title, state.archived)
            assert (found.at, found.now.version) == (state.at, state.version)
            own = [r for r in log.read(found.session) if r.session == found.session]
            assert found.events == len(own)
            moments = [(found.now, state)]
            if found.fork is not None:
                moments.append((found.fork, log.state(found.session, found.fork.version)))
                assert own[0].version == found.fork.version + 1
            for place, then in moments:
                assert place.iteration == then.iteration
                assert place.exchange == then.dialogue.newest
                assert place.drafting == (then.dialogue.awaiting is not None)
                assert place.drafts == len(then.dialogue.drafts)


def test_a_session_without_anything(tmp_path: Path) -> None:
    """It began, and that is all."""
    stage = Stage(tmp_path).begins(None)
    (found,) = branches(stage.log)
    assert found.now == Place(1, 0, None, drafting=False, drafts=0)
    assert (found.parent, found.fork, found.events, found.label) == (None, None, 1, None)
    assert found.titled
    empty = Stage(tmp_path / "empty")
    assert branches(empty.log) == []
    with pytest.raises(NoSuchSession):
        branch(empty.log, MAIN)


def test_where_a_branch_left_its_parent(tmp_path: Path) -> None:
    """In the middle of an iteration, before any draft, between exchanges: in these words."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"thoughts: [one]\ndraft: {NEAR}", f"draft: {FAR}", mode="background", iterations=2)
    drafts = [r.version for r in stage.history() if isinstance(r.event, DraftEmitted)]
    fork(stage, "asked", at=2)
    fork(stage, "thinking", at=drafts[0] - 1)
    fork(stage, "first", at=drafts[0])
    fork(stage, "second", at=drafts[1])
    stage.does(AcceptDraft(index=1))
    fork(stage, "answered")
    fork(stage, "begun", at=1)
    wanted = {
        "asked": Place(2, 0, "exc_1_000", drafting=True, drafts=0),
        "thinking": Place(drafts[0] - 1, 1, "exc_1_000", drafting=True, drafts=0),
        "first": Place(drafts[0], 1, "exc_1_000", drafting=True, drafts=1),
        "second": Place(drafts[1], 2, "exc_1_000", drafting=True, drafts=2),
        "answered": Place(stage.state.version, 2, "exc_1_000", drafting=False, drafts=0),
        "begun": Place(1, 0, None, drafting=False, drafts=0),
    }
    found = places(branches(stage.log))
    assert {name: place for name, (_, place) in found.items() if place} == wanted
    assert {parent for name, (parent, _) in found.items() if name != "tides"} == {"tides"}


def test_a_late_draft_is_none_of_the_open_exchange(tmp_path: Path) -> None:
    """It belongs to the exchange that was closed while the mind was at work."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {NEAR}")

    def meanwhile(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and springs?"))
        return f"draft: {FAR}"

    stage.runs(meanwhile, iterations=1)
    assert any(e.late for e in stage.events(DraftEmitted))
    now = branch(stage.log, MAIN).now
    assert (now.exchange, now.drafting, now.drafts) == (stage.state.dialogue.newest, True, 0)


def test_a_late_draft_hides_none_of_the_open_exchange(tmp_path: Path) -> None:
    """Another run drafted for the new exchange before the late draft came."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {NEAR}")

    def meanwhile(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and springs?"))
        session = stage.state
        assert session.dialogue.awaiting is not None
        stage.does(
            RecordIteration(
                invocation=invoked(session.upcoming, based_on=session.version),
                exchange=session.dialogue.awaiting.exchange,
                draft="Sun and Moon pull in one line then.",
            )
        )
        return f"draft: {FAR}"

    stage.runs(meanwhile, iterations=1)
    assert [(e.index, e.late) for e in stage.events(DraftEmitted)] == [
        (1, False),
        (1, False),
        (2, True),
    ]
    fork(stage, "behind")
    for found in branches(stage.log):
        assert (found.now.drafting, found.now.drafts) == (True, 1)


def test_a_branch_hangs_on_whoever_owns_the_moment(tmp_path: Path) -> None:
    """One that left its parent below the parent's own beginning is the grandparent's."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {NEAR}")
    fork(stage, "b")
    fork(stage, "of-b", "b")
    fork(stage, "of-main", "b", at=2)
    assert lines(stage) == ["tides", "|b", "|.of-b", ".of-main"]
    assert places(branches(stage.log))["of-main"][0] == "tides"


def test_roots_and_branches_stand_in_order_of_their_beginnings(tmp_path: Path) -> None:
    """Whatever their names are, and however deep they hang."""
    stage = Stage(tmp_path).begins()
    start_session(stage.log, SessionId("aaa"), stage.world)
    fork(stage, "z")
    fork(stage, "a")
    fork(stage, "a/1", "a")
    fork(stage, "z/1", "z")
    fork(stage, "z/2", "z/1")
    assert lines(stage) == ["tides", "|z", "|.z/1", "|..z/2", ".a", "..a/1", "aaa"]


def test_archived_branches_are_hidden_unless_others_hang_on_them(tmp_path: Path) -> None:
    """A hidden parent would leave its children hanging; the current session is never hidden."""
    stage = Stage(tmp_path).begins()
    fork(stage, "b")
    fork(stage, "b/c", "b")
    fork(stage, "b/c/d", "b/c")
    fork(stage, "e")
    for name in ("b", "b/c", "e"):
        handle(stage.log, SessionId(name), ArchiveSession(), stage.world)
    assert lines(stage) == ["tides", ".b", "..b/c", "...b/c/d"]
    handle(stage.log, SessionId("b/c/d"), ArchiveSession(reason="done"), stage.world)
    assert lines(stage) == ["tides"]
    assert lines(stage, "b/c") == ["tides", ".b", "..b/c"]
    assert lines(stage, everything=True) == ["tides", "|b", "|.b/c", "|..b/c/d", ".e"]
    handle(stage.log, SessionId("b"), RestoreSession(), stage.world)
    assert lines(stage) == ["tides", ".b"]


def test_a_title_is_inherited_as_it_was(tmp_path: Path) -> None:
    """A later title of the parent is not the branch's; its own is its own."""
    stage = Stage(tmp_path).begins()
    stage.does(RenameSession(title="Tides"))
    fork(stage, "b")
    fork(stage, "b/c", "b")
    stage.does(RenameSession(title="Tides and springs"))
    handle(stage.log, SessionId("b/c"), RenameSession(title="A dead end"), stage.world)
    told = {each.session: (each.title, each.titled) for each in branches(stage.log)}
    assert told == {
        "tides": ("Tides and springs", True),
        "b": ("Tides", False),
        "b/c": ("A dead end", True),
    }


def test_labels_are_told_of_the_branch_that_got_them(tmp_path: Path) -> None:
    """The newest one; those of the parent are not repeated on every branch."""
    stage = Stage(tmp_path).begins()
    stage.does(LabelMoment(label="old", version=1), LabelMoment(label="new", version=2))
    child = fork(stage, "b")
    assert [(e.label, e.label_version) for e in branches(stage.log)] == [("new", 2), (None, None)]
    handle(stage.log, child, LabelMoment(label="mine", version=1), stage.world)
    assert branch(stage.log, child).label == "mine"


def test_a_title_that_was_taken_away(tmp_path: Path) -> None:
    """What was redacted is told as such, here and in every branch."""
    stage = Stage(tmp_path).begins()
    stage.does(RenameSession(title="A secret"), LabelMoment(label="secret", version=1))
    fork(stage, "b")
    redact_events(stage.log, stage.log.pick(MAIN, [3, 4]), "not ours to keep", stage.world)
    assert {each.title for each in branches(stage.log)} == {"[redacted]"}
    assert branch(stage.log, MAIN).label == "[redacted]"


def test_a_parent_that_an_import_had_to_call_otherwise(tmp_path: Path) -> None:
    """The tree tells the names of this store, whatever the branch itself says of its parent."""
    there, here = Stage(tmp_path / "there").begins("there"), Stage(tmp_path / "here").begins("here")
    fork(there, "b")
    there.log.export(MAIN, tmp_path / "bundle")
    here.log.take_over(tmp_path / "bundle")
    (one, other, child) = branches(here.log)
    assert (one.session, one.parent, other.parent) == (MAIN, None, None)
    assert other.session != MAIN
    assert (child.session, child.parent) == ("b", other.session)


def test_a_long_chain_of_forks(tmp_path: Path) -> None:
    """Each hangs on the one before; nothing recurses."""
    stage = Stage(tmp_path).begins()
    for number in range(60):
        fork(stage, f"c{number}", f"c{number - 1}" if number else "tides")
    twigs = list(drawn(branches(stage.log)))
    assert [len(twig.last) for twig in twigs] == list(range(61))
    assert twigs[-1].branch.now == Place(62, 0, "exc_1_000", drafting=True, drafts=0)


def test_a_branch_whose_parent_is_not_listed_is_drawn_as_a_root() -> None:
    """So that no branch is lost from a part of the tree."""
    place = Place(1, 0, None, drafting=False, drafts=0)
    lone = Branch(SessionId("b"), "b", True, MAIN, place, place, 1, 0, None, None, False)
    assert [(twig.branch, twig.last) for twig in drawn([lone])] == [(lone, ())]


class Counting(EventLog):
    """A log that counts what it is asked."""

    asked = 0
    widest = 0
    """Of how many things at once."""

    def newest_of(self, looks: Sequence[Look]) -> list[Recorded | None]:
        """One more question."""
        self.asked += 1
        self.widest = max(self.widest, len(looks))
        return super().newest_of(looks)

    def rows(self, *span: Any, **which: Any) -> Iterator[Row]:
        """One more, or several."""
        self.asked += 1
        return super().rows(*span, **which)


def test_many_branches_are_told_in_as_few_questions_as_some(tmp_path: Path) -> None:
    """Each may be a round trip to a server."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {NEAR}")
    asked = []
    for first, last in ((0, 4), (4, 40)):
        for number in range(first, last):
            child = fork(stage, f"b{number}", at=2 + number % 3)
            handle(stage.log, child, RenameSession(title=f"{number}"), stage.world)
        with Counting(tmp_path) as log:
            assert len(branches(log)) == last + 1
            asked.append(log.asked)
    assert asked[0] == asked[1]


def test_not_all_branches_are_held_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, what is found for some is let go before the next are asked about."""
    stage = Stage(tmp_path).begins()
    for number in range(7):
        fork(stage, f"b{number}")
    whole = branches(stage.log)
    monkeypatch.setattr(tree, "_TOGETHER", 3)
    with Counting(tmp_path) as log:
        assert branches(log) == whole
        assert log.widest == 3
