"""What people do to artifacts is an intervention; what the system finds and lets go is none."""

from pathlib import Path

from commands.artifacts.edits import EditArtifact, LinkArtifacts, RejectArtifact
from commands.artifacts.efforts import OpenEffort, ReopenEffort, ResolveEffort
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from commands.artifacts.imports import ImportArtifact, find_origin
from commands.handle import handle
from commands.sessions import start_session
from domain.actors import SYSTEM
from domain.events import Caused
from domain.ids import SessionId
from domain.recorded import Draw
from projections.audit import KINDS, Audit
from tests.domain.happened import evicted, learned, opened, summed_up
from tests.golden.write import EXAMPLES
from tests.stories.cast import Stage

OTHER = SessionId("other")


def test_what_people_do_is_told(tmp_path: Path) -> None:
    """With the command that it was done by, and what came of it."""
    stage = Stage(tmp_path).begins()
    stage.does(
        OpenEffort(goal="explain"),  # 3
        OpenEffort(goal="ask", parent=3),
        ResolveEffort(effort=4, resolution="no", outcome="failed"),
        ReopenEffort(effort=4, reason="again"),
        LearnFact(statement="a", effort=3),  # 7
        SupersedeFact(fact=7, statement="b"),  # 8, 9
        NoteEvent(what="tea", when="2026-06-01"),  # 10
        EditArtifact(artifact=10, text="coffee"),
        LinkArtifacts(artifact=10, to=3),
        RejectArtifact(artifact=10, reason="water"),
    )
    told = [
        (row.command, row.what, row.effect)
        for row in Audit(stage.log, stage.session).all()
        if row.version > 2
    ]
    assert told == [
        ("effort open", "explain", ""),
        ("effort open", "ask (part of 3)", "part of 3"),
        ("effort resolve", "effort 4 (failed): no", "effort 4 ended: failed"),
        ("effort reopen", "effort 4: again", "effort 4 goes on"),
        ("fact learn", "a (in effort 3)", "learned in effort 3"),
        (
            "fact supersede",
            "b (in effort 3); fact 7 by 8",
            "learned in effort 3; fact 7 no longer holds",
        ),
        ("event note", "tea (2026-06-01)", ""),
        ("artifact edit", "10: coffee", "10 says so from now on"),
        ("artifact link", "10 belongs to 3", ""),
        ("artifact reject", "10: water", "10 is shown to no mind"),
    ]
    stage.log.close()


def test_what_was_imported_names_its_origin(tmp_path: Path) -> None:
    """It is an import, and no pick."""
    stage = Stage(tmp_path).begins()
    stage.does(LearnFact(statement="a"))
    start_session(stage.log, OTHER, stage.world, settings={"model": "script:rehearsed"})
    origin = find_origin(stage.log, OTHER, stage.session, 3)
    handle(stage.log, OTHER, ImportArtifact(origin=origin, follow=True), stage.world)
    row = list(Audit(stage.log, OTHER).all())[-1]
    assert (row.command, row.effect) == (
        "artifact import",
        "a copy of tides@3, which it follows",
    )
    assert row.deeds[0].facts["source"] == "tides@3"
    stage.log.close()


def test_what_the_system_does_is_no_intervention(tmp_path: Path) -> None:
    """Found by rules or a model, evicted, summed up: it follows from what others did."""
    stage = Stage(tmp_path).begins()
    before = len(list(Audit(stage.log, stage.session).all()))
    events = (opened("a"), learned("b"), evicted(4), summed_up("c", "exc_9_000"))
    draw = Draw(
        [Caused(event, None, SYSTEM) for event in events],
        stage.world.now(),
        SYSTEM,
        stage.world.command_id(),
    )
    stage.log.append(stage.session, 2, draw)
    assert len(list(Audit(stage.log, stage.session).all())) == before
    stage.log.close()


def test_only_what_people_can_wish_is_a_kind_of_deed() -> None:
    """Looks, evictions and summaries are not."""
    never = {"artifacts.evicted", "context.compacted", "detector.invoked"}
    families = (
        *("effort.", "fact.", "event.noted", "artifact"),
        *("exchange.", "context.compacted", "detector."),
    )
    mine = {event.kind for event in EXAMPLES if event.kind.startswith(families)}
    assert mine - KINDS == never
