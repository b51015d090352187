"""What is redacted is gone wherever its words were taken over; what was made of it is named."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from commands.artifacts.edits import EditArtifact
from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.artifacts.facts import LearnFact
from commands.artifacts.imports import ImportArtifact, find_origin
from commands.artifacts.traces import traces
from commands.dialogue import SendMessage
from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import copies, redact_events, texts, whole_exchange
from commands.sessions import start_session
from domain.actors import SYSTEM
from domain.events import Caused, ContextCompacted, DetectorInvoked, Event, FactLearned, ToolUsed
from domain.events.thinking import packed
from domain.ids import ExchangeId, SessionId
from domain.recorded import Draw, Recorded
from projections.artifacts import catalogue
from tests.domain.happened import evicted, happens, recalled, routed, summed_up
from tests.stories.cast import Stage

SAID = "she lives in Bay Street 7"
FIRST = ExchangeId("exc_1_000")
TIDES, OTHER = SessionId("tides"), SessionId("other")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """An exchange in which an address was given away, and a look of the detector at it."""
    stage = Stage(tmp_path).begins(f"Where does she live? I ask since {SAID}")
    stage.answers("", "You have said that she lives there.")
    yield stage
    stage.log.close()


def happened(stage: Stage, *events: Event, session: SessionId = TIDES) -> list[int]:
    """What the system does; the versions."""
    world, version = stage.world, stage.log.head(session).version
    caused = [Caused(event, None, SYSTEM) for event in events]
    stage.log.append(session, version, Draw(caused, world.now(), SYSTEM, world.command_id()))
    return list(range(version + 1, version + 1 + len(events)))


def looked(stage: Stage, text: str = SAID) -> list[int]:
    """The detector looked at the first exchange, and learned a fact."""
    (look,) = happened(
        stage,
        DetectorInvoked(
            looked_at=stage.state.version,
            exchange=FIRST,
            turn=1,
            found_by="model",
            raw=packed(f'{{"statement": "{text}"}}' * 9),
        ),
    )
    world = stage.world
    fact = FactLearned(statement="her address", messages=(2,), found_by="model")
    draw = Draw([Caused(fact, look, SYSTEM)], world.now(), SYSTEM, world.command_id())
    stage.log.append(TIDES, look, draw)
    return [look, look + 1]


def event(stage: Stage, version: int, session: SessionId = TIDES) -> Recorded:
    """The event of a version."""
    (recorded,) = stage.log.pick(session, [version])
    return recorded


def names(events: Sequence[Recorded]) -> list[str]:
    """Which events, by session, version and kind."""
    return [f"{r.session}@{r.version} {r.event.kind}" for r in events]


def test_a_look_of_the_detector_holds_what_was_said(stage: Stage) -> None:
    """It goes along with the message, and with what it found, and so do quoted words."""
    look, fact = looked(stage)
    (route,) = happened(stage, routed(FIRST, None, words="she lives in Bay"))
    found = traces(stage.log, [event(stage, 2)])
    same = [f"tides@{look} detector.invoked", f"tides@{route} exchange.routed"]
    assert names(found.same) == same
    assert f"tides@{fact} fact.learned" in names(found.made)
    found = traces(stage.log, [event(stage, fact)])
    assert names(found.same) == [f"tides@{look} detector.invoked"]
    assert SAID in texts(event(stage, look).event)[0]
    assert names(list(copies(stage.log, [event(stage, 2)]))) == []


def test_what_was_made_of_a_message_is_named(stage: Stage) -> None:
    """Artifacts, what became of them, and summaries."""
    stage.does(OpenEffort(goal="find her", messages=(2,)))
    effort = stage.state.version
    stage.does(ResolveEffort(effort=effort, resolution="at home", messages=(2,)))
    stage.does(LearnFact(statement="of another message", messages=(1,)))
    (summary, _) = happened(stage, summed_up("her street", FIRST), summed_up("x", "exc_9_000"))
    found = traces(stage.log, [event(stage, 2)])
    assert found.same == ()
    assert names(found.made) == [
        f"tides@{effort} effort.opened",
        f"tides@{effort + 1} effort.resolved",
        f"tides@{summary} context.compacted",
    ]


def test_the_title_of_a_session_is_made_of_its_first_message(stage: Stage) -> None:
    """Of one that was given by hand only where it says the same."""
    settings = {"model": "script:rehearsed"}
    message = f"Where does Ann live? I ask since {SAID}"
    start_session(stage.log, OTHER, stage.world, message=message, settings=settings)
    found = traces(stage.log, [event(stage, 2, OTHER)])
    assert names(found.made) == ["other@1 session.started"]
    assert traces(stage.log, [event(stage, 2)]).made == ()


def test_a_conclusion_holds_no_words(stage: Stage) -> None:
    """The resolution stands for the exchange: nothing of its own could be taken away."""
    compacted = ContextCompacted(
        exchanges=(FIRST,), effort=3, how="conclusion", tokens_before=1, tokens_after=1
    )
    happened(stage, compacted)
    assert "context.compacted" not in " ".join(names(traces(stage.log, [event(stage, 2)]).made))


def test_an_artifact_goes_with_all_its_words(stage: Stage) -> None:
    """Edited, and as it came back; of other artifacts nothing."""
    stage.does(LearnFact(statement=SAID), LearnFact(statement="the moon pulls"))
    fact, other = stage.state.version - 1, stage.state.version
    stage.does(EditArtifact(artifact=fact, text="she lives in Bay Street 8"))
    stage.does(EditArtifact(artifact=other, text="the moon pulls twice"))
    happened(stage, evicted(fact), recalled(fact, "she lives in Bay Street 8", words="her street"))
    start = other + 1
    found = traces(stage.log, [event(stage, fact)])
    kinds = [f"tides@{start} artifact.edited", f"tides@{start + 3} artifact.recalled"]
    assert (names(found.same), found.made) == (kinds, ())
    found = traces(stage.log, [event(stage, start)])
    assert names(found.same) == [f"tides@{start + 3} artifact.recalled"]


def test_a_resolution_that_came_back_goes_along(stage: Stage) -> None:
    """A recalled effort says how it ended."""
    stage.does(OpenEffort(goal="find her"))
    effort = stage.state.version
    stage.does(ResolveEffort(effort=effort, resolution=SAID))
    (_, back) = happened(
        stage, evicted(effort), recalled(effort, "find her", "effort", resolution=SAID)
    )
    found = traces(stage.log, [event(stage, effort + 1)])
    assert names(found.same) == [f"tides@{back} artifact.recalled"]


def test_copies_in_other_sessions_are_named(stage: Stage) -> None:
    """Imported ones, and what they became there; however far they went."""
    stage.does(LearnFact(statement=SAID, messages=(2,)))
    fact = stage.state.version
    start_session(stage.log, OTHER, stage.world, settings={"model": "script:rehearsed"})
    third = SessionId("third")
    start_session(stage.log, third, stage.world, settings={"model": "script:rehearsed"})
    origin = find_origin(stage.log, OTHER, TIDES, fact)
    handle(stage.log, OTHER, ImportArtifact(origin=origin), stage.world)
    copy = stage.log.head(OTHER).version
    handle(stage.log, OTHER, EditArtifact(artifact=copy, text="Bay Street"), stage.world)
    again = find_origin(stage.log, third, OTHER, copy)
    handle(stage.log, third, ImportArtifact(origin=again), stage.world)
    far = f"third@{stage.log.head(third).version} artifact.imported"
    here = [f"other@{copy} artifact.imported", f"other@{copy + 1} artifact.edited", far]
    assert names(traces(stage.log, [event(stage, fact)]).made) == here
    made = names(traces(stage.log, [event(stage, 2)]).made)
    assert set(here) < set(made)


def test_branches_that_inherit_a_message_are_looked_through(stage: Stage) -> None:
    """What was made of it there is named; what their parent made later is not theirs."""
    fork_session(stage.log, TIDES, 3, SessionId("tides/b"), stage.world)
    fork_session(stage.log, TIDES, 1, SessionId("tides/c"), stage.world)
    handle(stage.log, SessionId("tides/b"), LearnFact(statement="b", messages=(2,)), stage.world)
    handle(stage.log, SessionId("tides/c"), SendMessage(text="and you?"), stage.world)
    handle(stage.log, SessionId("tides/c"), LearnFact(statement="c", messages=(2,)), stage.world)
    made = names(traces(stage.log, [event(stage, 2)]).made)
    assert made == ["tides/b@5 fact.learned"]


def test_tools_belong_to_their_exchange(stage: Stage) -> None:
    """What they were given and gave back goes with the whole exchange."""
    (tool, _) = happened(
        stage,
        ToolUsed(exchange=FIRST, name="map", arguments=SAID),
        ToolUsed(exchange=ExchangeId("exc_9_000"), name="map", arguments="elsewhere"),
    )
    found = whole_exchange(stage.log, TIDES, FIRST, stage.state.version)
    assert f"tides@{tool} tool.used" in names(found)
    assert [r.event.kind for r in found].count("tool.used") == 1


def test_all_goes_on_without_what_was_taken_away(stage: Stage) -> None:
    """Lists show that it was redacted; states are folded as before; nothing is found twice."""
    stage.does(LearnFact(statement=SAID, messages=(2,)), OpenEffort(goal=SAID))
    happened(stage, happens(SAID), evicted(stage.state.version))
    everything = [r for r in stage.history() if r.event.redacted() != r.event]
    redact_events(stage.log, everything, "private", stage.world)
    found = catalogue(stage.log, TIDES)
    assert {item.text for item in found} == {"[redacted]"}
    assert all(item.redacted for item in found)
    again = traces(stage.log, [event(stage, 2)])
    assert (again.same, again.made) == ((), ())
