"""Two moments side by side: what each side did since they part."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.redaction import redact_events
from commands.sessions import ChangeConfig, LabelMoment
from commands.thinking import InjectThought
from domain.ancestry import Point
from domain.events import (
    Caused,
    DraftAccepted,
    DraftEmitted,
    Event,
    ExchangesPruned,
    MessageSent,
    NoteAdded,
    Source,
    ThoughtAdded,
)
from domain.ids import ExchangeId, SessionId
from domain.recorded import Draw, Recorded
from projections.comparison import Setting, compare
from tests.domain.happened import formed, merged
from tests.projections.sides import CHILD, GRANDCHILD, MAIN, A, B, C, compared, fork, on, told
from tests.stories.cast import SATURDAY, Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An exchange with two drafts that could be its answer; it awaits a choice."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {A}", f"draft: {B}", mode="background", iterations=2)
    yield stage
    stage.log.close()


# exchanges


def test_another_draft_accepted(stage: Stage) -> None:
    """The exchange that was open at the fork is one and the same, and its drafts are found."""
    fork(stage)
    stage.does(AcceptDraft(index=1))
    on(stage, CHILD).does(AcceptDraft(index=2))
    (pair,) = compared(stage).pairs
    assert told((pair,)) == [("why two tides?", "why two tides?", "exchange", "different")]
    assert (pair.one.draft and pair.one.draft.text, pair.one.by) == (A, "user")
    assert pair.other.draft is not None
    assert (pair.other.draft.text, pair.other.draft.index) == (B, 2)
    assert [p.text for p in pair.answers() if p.change != "same"] == ["first", "second"]
    assert pair.questions()[0].change == "same"


def test_an_answer_against_a_draft_that_awaits(stage: Stage) -> None:
    """One side has chosen, the other has a newer draft; a +1 is never what is compared."""
    fork(stage)
    stage.does(AcceptDraft(index=2))
    on(stage, CHILD).runs(f"draft: {C}", "draft: '+1'", mode="background", iterations=2)
    found = compared(stage)
    (pair,) = found.pairs
    assert (pair.one.accepted is None, pair.other.accepted is None) == (False, True)
    assert pair.other.draft is not None
    assert pair.other.draft.text == C
    assert (pair.other.content, pair.other.signals, pair.one.content) == (1, 1, 0)
    assert (found.other.content, found.other.signals, found.one.answered) == (1, 1, 1)


def test_only_one_side_has_gone_on(stage: Stage) -> None:
    """The other still stands where they parted, and that is what is compared."""
    before = stage.state.version
    stage.runs("draft: The first answer of all")
    stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
    found = compared(stage, MAIN, MAIN, before, stage.state.version)
    assert told(found.pairs) == [("why two tides?", "why two tides?", "exchange", "different")]
    assert [p.text for p in found.pairs[0].answers() if p.change == "removed"] == [
        "second",
        "them ",
    ]
    assert [course.question for course in found.only_other] == ["and spring tides?"]
    assert found.only_one == ()


def test_an_open_exchange_that_nobody_touched_is_not_told(stage: Stage) -> None:
    """It is the same on both sides."""
    fork(stage)
    stage.does(AddNote(text="hm"))
    found = compared(stage)
    assert (found.pairs, found.only_one, found.only_other) == ((), (), ())


def test_twins_that_do_the_same_are_told(stage: Stage) -> None:
    """Two branches off one moment: what they did is alike to the version, and still was done."""
    for twin in (CHILD, GRANDCHILD):
        fork(stage, twin)
    for twin in (CHILD, GRANDCHILD):
        on(stage, twin).does(AcceptDraft())
    found = compared(stage, CHILD, GRANDCHILD)
    assert found.pairs[0].one == found.pairs[0].other
    assert told(found.pairs)[0][2:] == ("exchange", "same")


def test_without_any_draft_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """Signals and silence are no answers; one draft is the one side's alone."""
    stage = Stage(tmp_path).begins()
    fork(stage)
    stage.runs("draft: '+1'")
    assert told(compared(stage).pairs)[0][3] == "none"
    on(stage, CHILD).runs(f"draft: {A}")
    (pair,) = compared(stage).pairs
    assert (pair.verdict, pair.answers()) == ("one-sided", [])
    stage.log.close()


def asks(stage: Stage, *questions: str) -> None:
    """Whole exchanges; those with a ``…`` take an iteration more, which moves all later ids."""
    for number, question in enumerate(questions, 1):
        if "…" in question:
            stage.does(SendMessage(text=question))
            stage.runs("thoughts: [hm]", iterations=1)
        stage.answers(question, f"this is answer number {number}")


@pytest.mark.parametrize(
    ("mine", "theirs", "pairs", "only"),
    [
        ("a b", "a b", ["a a question", "b b question"], "|"),
        ("a b", "b a", ["a a question", "b b question"], "|"),
        ("a a", "a x a", ["a a question", "a a question"], "|x"),
        ("a a", "a", ["a a question"], "a|"),
        ("a", "b", ["a b id"], "|"),
        ("a b", "c", ["a c id"], "b|"),
        ("a", "", [], "a|"),
        ("", "a", [], "|a"),
        ("s a", "s… b", ["s s… id", "a b ordinal"], "|"),
        ("x… s a", "s b", ["s s question", "a b ordinal"], "x…|"),
        ("x… s a y", "s b", ["s s question", "a b ordinal"], "x… y|"),
        ("a… s", "s b", ["s s question"], "a…|b"),
    ],
)
def test_which_exchanges_correspond(
    tmp_path: Path, mine: str, theirs: str, pairs: list[str], only: str
) -> None:
    """Those of the same question, else of the same id, else of the same place behind a pair."""
    stage = Stage(tmp_path).begins()
    asks(stage, "why two tides?")
    fork(stage)
    asks(stage, *mine.split())
    asks(on(stage, CHILD), *theirs.split())
    found = compared(stage)
    assert [f"{p.one.question} {p.other.question} {p.by}" for p in found.pairs] == pairs
    rest = (" ".join(c.question for c in side) for side in (found.only_one, found.only_other))
    assert "|".join(rest) == only
    stage.log.close()


def test_the_same_messages_sent_again_correspond_whatever_their_ids(tmp_path: Path) -> None:
    """Where one mind takes longer, the id of one exchange is that of another on the other side."""
    stage = Stage(tmp_path).begins()
    asks(stage, "why two tides?")
    fork(stage)
    asks(stage, "one", "two", "three")
    on(stage, CHILD).does(SendMessage(text="one"))
    stage.runs("thoughts: [slowly]", iterations=1)
    asks(stage, "one", "two", "three")
    found = compared(stage)
    assert [(p.one.question, p.other.question, p.by) for p in found.pairs] == [
        (question, question, "question") for question in ("one", "two", "three")
    ]
    ids = [[course.exchange for course in side.courses] for side in (found.one, found.other)]
    assert ids[0][2] == ids[1][1]
    stage.log.close()


def test_a_late_draft_is_counted_where_it_belongs(stage: Stage) -> None:
    """On the exchange closed meanwhile; on one closed before the fork, in the sum alone."""
    before = stage.state.version

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
        fork(stage)
        return f"draft: {C}"

    stage.runs(act, "draft: When sun and moon pull together.")
    since = compared(stage, MAIN, MAIN, before, stage.state.version).other
    assert [(c.question, c.content, c.late) for c in since.courses] == [
        ("why two tides?", 0, 1),
        ("and spring tides?", 1, 0),
    ]
    assert since.courses[0].draft is not None
    assert since.courses[0].draft.text == B
    branched = compared(stage).one
    assert [c.question for c in branched.courses] == ["and spring tides?"]
    assert (branched.content, branched.late) == (1, 1)


def test_an_auto_accepted_answer_says_so(tmp_path: Path) -> None:
    """Nobody chose it."""
    stage = Stage(tmp_path).begins(auto_accept_after=1)
    fork(stage)
    stage.runs(f"draft: {A}", "thoughts: [hm]", mode="background")
    (pair,) = compared(stage).pairs
    assert (pair.one.by, pair.other.by) == ("auto-accept", None)
    stage.log.close()


# what else was done


def test_what_each_side_did(stage: Stage) -> None:
    """Thoughts, presence, notes, labels, pruning: each in its place, with its version."""
    fork(stage)
    stage.does(AcceptDraft(), SendMessage(text="and spring tides?"), AddNote(text="hm"))
    stage.runs("thoughts: [one, two]\ndraft: When sun and moon pull together.")
    stage.does(AcceptDraft(), PruneExchanges(keep=1))
    on(stage, CHILD).does(
        SetSignal(presence="engaged", status="reading", time=SATURDAY),
        InjectThought(text="mine", by="user:ann"),
        LabelMoment(label="here", version=3),
    )
    found = compared(stage)
    one, other = found.one, found.other
    assert [(t.text, t.origin) for t in one.thoughts] == [("one", "mind"), ("two", "mind")]
    assert [(t.text, t.origin) for t in other.thoughts] == [("mine", "injected")]
    assert list(one.listed) == ["notes", "pruned"]
    assert [e.event for e in one.listed["notes"]] == stage_events(stage, MAIN, NoteAdded)
    assert [e.event for e in one.listed["pruned"]] == stage_events(stage, MAIN, ExchangesPruned)
    assert {family: [e.event.kind for e in events] for family, events in other.listed.items()} == {
        "session": ["session.forked", "session.labelled"],
        "presence": ["signal.changed"],
    }
    assert (one.asked, one.answered, one.content) == (1, 2, 1)
    assert (one.work.iterations, one.work.tokens_in, one.work.tokens_out) == (1, 10, 5)
    assert one.work.models == {"rehearsed": 1}
    assert (one.kinds.get("session.forked"), other.kinds["session.forked"]) == (None, 1)


def stage_events(stage: Stage, session: SessionId, kind: type[Event]) -> list[Event]:
    """What happened there of that class."""
    return [r.event for r in stage.log.read(session) if isinstance(r.event, kind)]


def test_iterations_that_came_to_nothing(stage: Stage) -> None:
    """Skipped and unreadable ones are told apart from those that were well."""
    fork(stage)
    stage.runs("skip: true", "thoughts: [", "thoughts: [one]", mode="background", iterations=3)
    work = compared(stage).one.work
    assert work.outcomes == {"skipped": 1, "unparseable": 1, "ok": 1}
    assert (work.iterations, work.unknown_costs, work.cost_usd) == (3, 3, 0.0)


def test_clusters_that_formed_and_merged(stage: Stage) -> None:
    """Each turning is told; what brought it about is only counted."""
    before = stage.state
    events = [Caused(formed(1, 7, 8)), Caused(formed(2, 9, 10)), Caused(merged(1, 2))]
    draw = Draw(events, before.at, stage.world.actor, stage.world.command_id())
    stage.log.append(MAIN, before.version, draw)
    since = compared(stage, MAIN, MAIN, before.version, before.version + 3).other
    assert [e.event for e in since.listed["clusters"]] == [caused.event for caused in events]


def test_settings_at_both_ends(stage: Stage) -> None:
    """Changed on one side, on both, to the same, and back again: only differences are told."""
    fork(stage)
    for key, *values in (("temperature", "0.2", "0.7"), ("token_limit", "100"), ("attempts", "9")):
        stage.does(*(ChangeConfig(key=key, value=value) for value in values))
    stage.does(ChangeConfig(key="attempts", value="4"))
    on(stage, CHILD).does(
        ChangeConfig(key="temperature", value="1"), ChangeConfig(key="token_limit", value="100")
    )
    found = compared(stage)
    assert found.settings == (
        Setting("temperature", None, 0.7, 1.0),
        Setting("token_limit", 4000, 100, 100),
    )
    assert compared(stage, CHILD, CHILD, 4, stage.state.version).settings == (
        Setting("temperature", None, None, 1.0),
        Setting("token_limit", 4000, 4000, 100),
    )


def test_what_was_picked_from_another_branch(stage: Stage) -> None:
    """Each event names where it came from."""
    stage.does(AcceptDraft())
    before, source = stage.state, Source("tides/b", 12, bytes(32))
    exchange = ExchangeId("exc_9_000")
    draft = {"exchange": exchange, "index": 1, "text": C, "iteration": 3, "source": source}
    events: list[Event] = [
        MessageSent(exchange=exchange, text="picked?", iteration=3, source=source),
        DraftEmitted(**draft),
        DraftAccepted(exchange=exchange, index=1),
        ThoughtAdded(text="picked", iteration=3, mind="m", origin="imported", source=source),
    ]
    draw = Draw([Caused(e) for e in events], before.at, stage.world.actor, stage.world.command_id())
    stage.log.append(MAIN, before.version, draw)
    since = compared(stage, MAIN, MAIN, before.version, before.version + 4).other
    assert [(p.kind, p.source.version) for p in since.picked] == [
        ("message.sent", 12),
        ("draft.emitted", 12),
        ("thought.added", 12),
    ]
    assert [c.draft and c.draft.text for c in since.courses] == [C]


def test_what_was_redacted_is_never_called_the_same(stage: Stage) -> None:
    """Two texts that are gone may have been any: they pair nothing, and no answers are alike."""
    stage.does(AcceptDraft())
    fork(stage)
    asks(stage, "secret one?", "another?")
    asks(on(stage, CHILD), "secret two?")
    for session in (MAIN, CHILD):
        secret = [
            r
            for r in stage.log.read(session, after=stage.log.path(CHILD)[0].after)
            if isinstance(r.event, MessageSent | DraftEmitted | ThoughtAdded)
        ]
        redact_events(stage.log, secret, "private", stage.world)
    found = compared(stage)
    assert told(found.pairs) == [("[redacted]", "[redacted]", "id", "redacted")]
    assert found.pairs[0].answers() == found.pairs[0].questions() == []
    assert [c.redacted for c in found.only_one] == [True]
    assert [e.event.kind for e in found.one.listed["redactions"]] == ["event.redacted"] * 4


# what it costs


class Watched:
    """A log that remembers the versions of all events that it gave."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.given: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def read(self, *args: Any, **more: Any) -> Iterator[Recorded]:
        """The same, noted down."""
        for recorded in self._log.read(*args, **more):
            self.given.append(recorded.version)
            yield recorded

    def newest(self, *args: Any, **more: Any) -> Recorded | None:
        """The same, noted down."""
        found = self._log.newest(*args, **more)
        self.given += [found.version] if found else []
        return found

    def pick(self, *args: Any) -> list[Recorded]:
        """The same, noted down."""
        found = self._log.pick(*args)
        self.given += [recorded.version for recorded in found]
        return found

    def state(self, *_: Any) -> None:
        """A state of the whole session is more than a comparison needs."""
        raise AssertionError("a state was asked for")


def test_the_past_that_both_share_is_not_read(stage: Stage) -> None:
    """Behind the ancestor each event is read once; before it, no more than four are looked up."""
    for number in range(30):
        stage.runs(f"thoughts: [one, two]\ndraft: {A} {number}")
    fork(stage)
    at = stage.state.version
    stage.does(AcceptDraft(index=7))
    asks(on(stage, CHILD), "why two tides?", "and spring tides?")
    watched = Watched(stage.log)
    ends = [Point(session, stage.log.head(session).version) for session in (MAIN, CHILD)]
    found = compare(watched, *ends)
    assert found.pairs[0].one.draft is not None
    assert found.pairs[0].one.draft.index == 7
    behind = sorted(version for version in watched.given if version > at)
    assert behind == sorted(
        [*range(at + 1, ends[0].version + 1), *range(at + 1, ends[1].version + 1)]
    )
    assert len(watched.given) - len(behind) <= 4
