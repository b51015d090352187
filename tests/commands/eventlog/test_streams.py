"""Agents, projects and tasks beside sessions: every reader of the whole store copes with them."""

import json
from pathlib import Path

import pytest

from commands.agents.wishes import LoseTurn
from commands.eventlog import EventLog
from commands.heads import Kept, compared, heads_of, read_heads
from commands.redaction import copies, redact_events, with_its_reply
from commands.sessions import start_session
from domain.errors import NoSuchMoment, NoSuchSession, NothingChanges, SessionExists, StoreExists
from domain.events import ProjectClosed, TaskClosed, TaskReopened
from domain.ids import SessionId
from domain.recorded import BEGINNING
from domain.streams import Family, agent_stream, project_stream, task_stream
from tests.commands.eventlog.stores import StillWorld, draw, unguarded
from tests.stories.agents import ANSWER, HERE, QUESTION, Office, harbour

FAMILIES: tuple[Family, ...] = ("session", "agent", "project", "task")
AGENT, TASK = SessionId("agent:analyst-1"), SessionId("task:harbour/gauges")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A store with a session, a project, a task, and an agent after two turns."""
    return harbour(tmp_path / "store")


def cut(office: Office, keep: int) -> EventLog:
    """The store as a kill after so many events would have left it, opened again."""
    office.log.close()
    with unguarded(office.directory) as connection:
        connection.execute("DELETE FROM stored_events WHERE rowid > ?", (keep,))
    return EventLog(office.directory)


# which there are


def test_sessions_are_listed_alone_and_streams_by_family(office: Office) -> None:
    """In order of their beginnings, whatever their names."""
    log = office.log
    office.opens("dunes", "grass")
    office.drafts("a-1")
    start_session(log, SessionId("agents"), office.world, title="about agents")
    start_session(log, SessionId("zebra"), office.world, title="z")
    assert log.sessions() == ["tides", "agents", "zebra"]
    assert log.streams("agent") == ["agent:analyst-1", "agent:a-1"]
    assert log.streams("project") == ["project:harbour", "project:dunes"]
    assert log.streams("task") == ["task:harbour/gauges", "task:dunes/grass"]
    assert log.streams()[:4] == ["tides", "project:harbour", "task:harbour/gauges", AGENT]
    assert set(log.streams()) == {s for f in FAMILIES for s in log.streams(f)}


def test_a_store_may_begin_with_a_project(tmp_path: Path) -> None:
    """It has no session yet, and can still get its first one; not a second first one."""
    office = Office(tmp_path / "store")
    office.opens()
    assert office.log.sessions() == []
    start_session(office.log, SessionId("main"), office.world, title="t", first=True)
    assert office.log.sessions() == ["main"]
    with pytest.raises(StoreExists):
        start_session(office.log, SessionId("more"), office.world, title="t", first=True)
    office.log.close()


def test_states_of_all_families_at_every_version(office: Office) -> None:
    """Now, and as of any moment; what is not there is refused."""
    log = office.log
    done = draw(TaskClosed(reason="done"), TaskReopened(reason="not done"), wish=1 << 40)
    log.append(TASK, 1, done._replace(at=office.world.now()))
    task = task_stream("harbour", "gauges")
    assert [log.stands(task, n).open for n in (1, 2, 3)] == [True, False, True]
    assert log.stands(task) == log.stands(task, 3)
    project = project_stream("harbour")
    log.append(project.id, 1, draw(ProjectClosed(), wish=1 << 41))
    assert not log.stands(project).open
    versions = [log.stands(agent_stream("analyst-1"), n) for n in range(1, 9)]
    assert [agent.version for agent in versions] == list(range(1, 9))
    assert [agent.completed for agent in versions] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [agent.failed for agent in versions] == [0, 0, 0, 0, 0, 0, 0, 1]
    with EventLog(office.directory) as again:
        assert again.stands(agent_stream("analyst-1")) == versions[-1]
    with pytest.raises(NoSuchSession):
        log.stands(agent_stream("analyst-2"))
    with pytest.raises(NoSuchMoment):
        log.stands(agent_stream("analyst-1"), 9)


# proof


def test_all_streams_are_proved(office: Office) -> None:
    """By default; or one of them by its name."""
    verdicts = {v.session: v.events for v in office.log.verify()}
    assert verdicts == {"tides": 2, "project:harbour": 1, TASK: 1, AGENT: 8}
    (one,) = office.log.verify([AGENT])
    assert (one.session, one.events, one.findings) == (AGENT, 8, ())
    with pytest.raises(NoSuchSession):
        list(office.log.verify([SessionId("agent:analyst-2")]))


def test_what_is_new_in_the_stream_of_an_agent_is_proved(office: Office) -> None:
    """By the proof of what came since the last one."""
    list(office.log.verify())
    office.says("And in June?")
    (new,) = office.log.verify(new=True)
    assert (new.session, new.events, new.findings) == (AGENT, 1, ())


@pytest.mark.parametrize("version", [1, 5, 8])
def test_a_tampered_agent_is_found(office: Office, version: int) -> None:
    """Which event of which stream; what is before it, and all else, is as written."""
    before = office.log.position()
    office.log.close()
    with unguarded(office.directory) as connection:
        ((state,),) = connection.execute(
            "SELECT state FROM stored_events WHERE originator_id=? AND originator_version=?",
            (AGENT, version),
        ).fetchall()
        changed = bytes([*state[:-1], state[-1] ^ 1])
        connection.execute(
            "UPDATE stored_events SET state=? WHERE originator_id=? AND originator_version=?",
            (changed, AGENT, version),
        )
    with EventLog(office.directory) as log:
        found = [f for v in log.verify() for f in v.findings]
        assert {f.session for f in found} == {AGENT}
        assert min(f.version for f in found) == version
        assert log.position() == before
        assert log.state(SessionId("tides")).version == 2


def test_an_answer_put_into_another_agent_s_mouth_is_found(office: Office) -> None:
    """The chain seals whose stream it is."""
    office.drafts("analyst-2")
    office.log.close()
    with unguarded(office.directory) as connection:
        connection.execute(
            "UPDATE stored_events SET originator_id='agent:analyst-2', originator_version="
            "originator_version - 6 WHERE originator_id=? AND originator_version > 7",
            (AGENT,),
        )
    with EventLog(office.directory) as log:
        found = {f.session for v in log.verify() for f in v.findings}
    assert found == {"agent:analyst-2"}


def test_heads_find_every_cut(office: Office, tmp_path: Path) -> None:
    """A kill leaves a prefix that proves itself; heads kept before it say what is missing."""
    heads = heads_of(office.log, office.log.streams(), StillWorld())
    file = tmp_path / "heads.json"
    file.write_text(json.dumps(heads), "utf-8")
    kept = read_heads(file).kept
    assert [k.session for k in kept] == office.log.streams()
    assert {c.standing for c in compared(office.log, kept)} == {"as written"}
    whole = office.log.position()
    for keep in range(whole - 1, 2, -1):
        with cut(office, keep) as log:
            assert not [f for v in log.verify() for f in v.findings]
            standing = {c.session: (c.standing, c.now) for c in compared(log, kept)}
            held = max(0, keep - 4)
            assert standing[AGENT] == (("cut off", held) if held else ("gone", 0))
            assert standing[SessionId("tides")] == ("as written", 2)
            if held:
                assert log.stands(agent_stream("analyst-1")).version == held


def test_a_forged_end_is_found(office: Office) -> None:
    """Another history of the same length is not the one whose head was kept."""
    kept = Kept(AGENT, *office.log.head(AGENT))
    with cut(office, office.log.position() - 1) as log:
        office.log = log
        office.does_to("analyst-1", LoseTurn(dead=HERE))
        assert log.head(AGENT).version == kept.version
        (one,) = compared(log, [kept])
        assert (one.standing, one.now) == ("rewritten", kept.version)
        assert not [f for v in log.verify() for f in v.findings], "it is in one piece"


# taking away, and taking along


def test_what_was_said_to_an_agent_can_be_taken_away(office: Office) -> None:
    """It stays provable, its state goes on, and copies of it are found wherever they are."""
    office.drafts("reader-1")
    office.says(f"Somebody asked: {QUESTION}", "reader-1")
    chosen = with_its_reply(office.log, AGENT, 2)
    assert [(r.session, r.version) for r in chosen] == [(AGENT, 2)]
    others = list(copies(office.log, chosen))
    assert [(r.session, r.version) for r in others] == [("agent:reader-1", 2)]
    redact_events(office.log, [*chosen, *others], "It named a patient.", office.world)
    assert not [f for v in office.log.verify() for f in v.findings]
    assert QUESTION.encode() not in (office.directory / "log.db").read_bytes()
    agent = office.agent()
    assert (agent.version, agent.completed) == (9, 1)
    with pytest.raises(NothingChanges):
        redact_events(office.log, chosen, "Again.", office.world)
    office.says("And now?")
    assert office.hears(ANSWER).completed == 2


def test_what_a_project_says_can_be_taken_away(office: Office) -> None:
    """And it still stands."""
    for stream in (project_stream("harbour").id, TASK):
        redact_events(office.log, office.log.pick(stream, [1]), "A name.", office.world)
    assert office.log.stands(project_stream("harbour")).created.description == "[redacted]"
    task = office.log.stands(task_stream("harbour", "gauges"))
    assert (task.created.title, task.open, task.version) == ("[redacted]", True, 2)


def test_a_bundle_holds_sessions_alone(office: Office, tmp_path: Path) -> None:
    """What goes out of a store with agents comes into another one, agents there or not."""
    bundle = tmp_path / "tides.mind"
    assert office.log.export(office.session, bundle) == (["tides"], 2)
    other = harbour(tmp_path / "other")
    (taken,) = other.log.take_over(bundle)
    assert taken.session in other.log.sessions()
    assert not [f for v in other.log.verify() for f in v.findings]
    assert other.log.streams("agent") == [AGENT]


def test_the_same_agent_can_t_begin_twice(office: Office) -> None:
    """Nor a session where one is."""
    first = office.life()[0].event
    with pytest.raises(SessionExists):
        office.log.begin(AGENT, BEGINNING, draw(first))
    assert office.agent().version == 8
