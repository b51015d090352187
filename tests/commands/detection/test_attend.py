"""Looking at what was said: each exchange once, and nothing lost whatever the detector does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from commands.artifacts.upkeep import BATCH
from commands.detection.attend import attend
from commands.detection.looked import Looked
from commands.dialogue import SendMessage
from commands.redaction import redact_events
from domain.artifacts import Shelf
from domain.context import RECENT, assemble
from domain.detection.findings import HERE, Findings, Learned, Opened, Passage, Resolved
from domain.events import (
    ArtifactRecalled,
    ArtifactsEvicted,
    ContextCompacted,
    DetectorInvoked,
    EffortOpened,
    EffortResolved,
    FactLearned,
)
from tests.stories.cast import Stage

NOW = "2026-05-02T10:30:00+00:00"


class Scripted:
    """A detector that finds what it was told to, by words of the message."""

    def __init__(self, **findings: Findings | Callable[[Shelf], Findings]) -> None:
        self.findings = findings
        self.passages: list[Passage] = []

    def look(self, passage: Passage, shelf: Shelf) -> Looked:
        """The findings of the first word that is known; each is found when it is answered."""
        self.passages.append(passage)
        for word, found in self.findings.items():
            if word in passage.question and passage.answer is not None:
                return Looked(found(shelf) if callable(found) else found, "rules")
        return Looked(Findings(), "rules")


def resolved(shelf: Shelf) -> Findings:
    """The newest open effort ended."""
    effort = shelf.open_efforts[-1].id
    return Findings(effort=effort, resolved=(Resolved(effort=effort, resolution="a new token"),))


OPENED = Findings(effort=HERE, opened=Opened(goal="fix the login of the portal"))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A session without a message."""
    return Stage(tmp_path / "store").begins(None)


def says(stage: Stage, detector: Scripted | None, question: str, answer: str = "So it is.") -> None:
    """An exchange, looked at as the command line does it."""
    before = stage.state.version
    stage.does(SendMessage(text=question))
    attend(stage.log, stage.session, detector, stage.world, after=before)
    before = stage.state.version
    stage.answers(question, f"{answer} And that is all.")
    attend(stage.log, stage.session, detector, stage.world, after=before)


def test_what_was_found_is_recorded_with_where_it_came_from(stage: Stage) -> None:
    """The message and the draft, by version; the look comes first and led to it."""
    says(stage, Scripted(login=OPENED), "the login fails")
    (look,) = [r for r in stage.history() if isinstance(r.event, DetectorInvoked)]
    (opened,) = [r for r in stage.history() if isinstance(r.event, EffortOpened)]
    assert opened.cause == look.version
    assert isinstance(opened.event, EffortOpened)
    asked, drafted = stage.log.pick(stage.session, opened.event.messages)
    assert (asked.event.kind, drafted.event.kind) == ("message.sent", "draft.emitted")
    assert stage.state.shelf.effort == opened.version


def test_what_leaves_nothing_leaves_no_trace(stage: Stage) -> None:
    """Who reads the log shall not have to read that somebody looked and found nothing."""
    says(stage, Scripted(), "good morning to you")
    assert not stage.events(DetectorInvoked)


def test_a_detector_is_shown_the_message_first_and_then_the_answer(stage: Stage) -> None:
    """With the newest exchanges before it, oldest first."""
    detector = Scripted()
    says(stage, detector, "one question here")
    says(stage, detector, "another question here")
    shown = [(p.question, p.answer, len(p.before)) for p in detector.passages]
    answer = "So it is. And that is all."
    assert shown == [
        ("one question here", None, 0),
        ("one question here", answer, 0),
        ("another question here", None, 1),
        ("another question here", answer, 1),
    ]


def test_nothing_is_looked_at_twice(stage: Stage) -> None:
    """All that is behind the last recorded look, and from then on nothing again."""
    detector = Scripted(login=OPENED)
    says(stage, None, "the login fails")
    says(stage, None, "good morning to you")
    first = attend(stage.log, stage.session, detector, stage.world)
    version = stage.state.version
    again = attend(stage.log, stage.session, detector, stage.world)
    assert (first.looks, again.looks) == (4, 0)
    assert stage.state.version == version
    assert len(stage.events(EffortOpened)) == 1


def test_what_is_found_now_does_not_hide_what_nobody_looked_at(stage: Stage) -> None:
    """As where a talk goes on behind an imported past."""
    detector = Scripted(login=OPENED, sea=Findings(learned=(Learned(statement="salt"),)))
    says(stage, None, "the login fails")
    says(stage, detector, "is the sea salt?")
    assert not stage.events(EffortOpened)
    attend(stage.log, stage.session, detector, stage.world)
    assert len(stage.events(EffortOpened)) == 1
    assert len(stage.events(FactLearned)) == 1


def test_a_look_is_told_when_it_was_said(stage: Stage) -> None:
    """What was to be done tomorrow, was to be done on the day after that."""
    says(stage, None, "the login fails")
    stage.world.time += 90 * 24 * 3600 * 1_000_000
    detector = Scripted()
    attend(stage.log, stage.session, detector, stage.world)
    assert {passage.now[:10] for passage in detector.passages} == {"2026-05-02"}


def test_a_look_into_the_past_counts_the_turns_of_the_past(stage: Stage) -> None:
    """An effort of the first turn is not as fresh as one of the last."""
    says(stage, None, "the login fails")
    for number in range(4):
        says(stage, None, f"question {number} of another kind")
    attend(stage.log, stage.session, Scripted(login=OPENED), stage.world)
    (effort,) = stage.state.shelf.artifacts
    assert effort.turn == 1
    assert stage.state.shelf.turn == stage.state.shelf.turns == 5


def test_a_concluded_effort_stands_for_its_exchanges(stage: Stage) -> None:
    """Those that come after its end too; the newest ten are shown all the same."""
    detector = Scripted(login=OPENED, fixed=resolved)
    says(stage, detector, "the login fails")
    says(stage, detector, "fixed it, thank you")
    (effort,) = stage.state.shelf.artifacts
    assert (effort.status, effort.resolution) == ("resolved", "a new token")
    shelf = stage.state.shelf
    talk = stage.state.dialogue.history
    assert [shelf.stands_for(e.id) for e in talk] == [effort.id, effort.id]
    assert len(assemble(stage.state, NOW).turns) == 4
    for number in range(RECENT):
        says(stage, None, f"question {number} of another kind")
    shown = {turn.exchange.id for turn in assemble(stage.state, NOW).turns}
    assert not shown & {e.id for e in talk}


def test_a_summary_stands_for_the_oldest_where_nothing_concludes(stage: Stage) -> None:
    """When the room gets tight; the newest ten stay as they are."""
    text = "words that take room " * 40
    for number in range(RECENT + BATCH + 1):
        says(stage, None, f"question {number}: {text}", text)
    (compacted,) = stage.events(ContextCompacted)
    assert compacted.how == "extractive"
    history = [e.id for e in stage.state.dialogue.history]
    assert list(compacted.exchanges) == history[: len(compacted.exchanges)]
    assert len(compacted.exchanges) >= BATCH
    assert compacted.tokens_after < compacted.tokens_before
    context = assemble(stage.state, NOW)
    assert {turn.exchange.id for turn in context.turns} == set(history[len(compacted.exchanges) :])
    assert [held.artifact.type for held in context.memory] == ["summary"]


def test_what_nobody_speaks_of_leaves_and_comes_back_when_mentioned(stage: Stage) -> None:
    """After as many turns as the settings say; with all that it was."""
    detector = Scripted(login=OPENED, fixed=resolved)
    says(stage, detector, "the login fails")
    says(stage, detector, "fixed it, thank you")
    (effort,) = stage.state.shelf.artifacts
    for number in range(stage.state.config.evict_after):
        says(stage, detector, f"question {number} of another kind")
    assert [event.artifacts for event in stage.events(ArtifactsEvicted)] == [(effort.id,)]
    assert stage.state.shelf.artifacts == ()

    before = stage.state.version
    stage.does(SendMessage(text="how was it with the login of the portal?"))
    attend(stage.log, stage.session, detector, stage.world, after=before)
    assert [event.artifact for event in stage.events(ArtifactRecalled)] == [effort.id]
    (back,) = stage.state.shelf.artifacts
    assert (back.text, back.resolution, back.outcome) == (
        "fix the login of the portal",
        "a new token",
        "done",
    )


def test_findings_that_no_longer_fit_are_left_out(stage: Stage) -> None:
    """Efforts that are none, facts that are known; what fits is recorded."""
    fact = Learned(statement="The sea is salt.")
    nonsense = Findings(
        effort=999,
        mentions=(998,),
        resolved=(Resolved(effort=997, resolution="no"),),
        reopened=(996,),
        learned=(fact, Learned(statement="the sea is salt", supersedes=995)),
    )
    says(stage, Scripted(sea=nonsense), "is the sea salt?")
    assert not stage.events(EffortResolved)
    assert [event.statement for event in stage.events(FactLearned)] == ["The sea is salt."]


def test_two_who_look_at_the_same_find_it_once(stage: Stage) -> None:
    """Whoever comes second finds that it was looked at."""
    detector = Scripted(login=OPENED)

    class Meanwhile(Scripted):
        """Somebody else looks while this one does."""

        def look(self, passage: Passage, shelf: Shelf) -> Looked:
            """Let the other one go first."""
            super().look(passage, shelf)
            attend(stage.log, stage.session, detector, stage.world)
            return Looked(OPENED, "rules")

    says(stage, None, "the login fails")
    attend(stage.log, stage.session, Meanwhile(), stage.world)
    assert len(stage.events(EffortOpened)) == 1


def test_what_was_redacted_is_not_looked_at(stage: Stage) -> None:
    """Neither a message nor its answer."""
    says(stage, None, "good morning to you")
    says(stage, None, "the login fails")
    _, asked = [r for r in stage.history() if r.event.kind == "message.sent"]
    redact_events(stage.log, [asked], "private", stage.world)
    detector = Scripted(login=OPENED)
    attend(stage.log, stage.session, detector, stage.world)
    assert [p.question for p in detector.passages] == ["good morning to you"] * 2
