"""The states of projects and tasks, and the names of streams."""

from collections.abc import Callable
from typing import Any

import pytest

from domain.errors import BadName
from domain.events import (
    AgentDrafted,
    Event,
    EventRedacted,
    ProjectClosed,
    ProjectCreated,
    ProjectEvent,
    SessionStarted,
    TaskClosed,
    TaskCreated,
    TaskEvent,
    TaskReopened,
)
from domain.ids import SessionId, stream_id
from domain.projects import evolve_project, evolve_task
from domain.recorded import Recorded
from domain.streams import agent_of, agent_stream, evolve_of, family_of, project_stream, task_stream
from tests.golden.write import EXAMPLES
from tests.spec import SECOND, recorded

PROJECT = ProjectCreated(name="harbour")
TASK = TaskCreated(project="harbour", slug="gauges", title="Read the gauges")
STUB = EventRedacted(version=1, what="task.created", digest=b"", stub=b"", reason="x")


def fold(evolve_: Callable[[Any, Recorded], Any], *events: Event) -> Any:
    """The state behind events."""
    state = None
    for one in recorded(events):
        state = evolve_(state, one)
    return state


def test_a_project_is_open_until_it_is_closed() -> None:
    """And nothing else happens to it."""
    assert fold(evolve_project, PROJECT).open
    closed = fold(evolve_project, PROJECT, STUB, ProjectClosed(reason="dry"))
    assert (closed.id, closed.open, closed.version, closed.begun) == ("harbour", False, 3, SECOND)
    assert closed.created == PROJECT


def test_a_task_can_be_opened_again() -> None:
    """With the newest reason."""
    events = (TASK, TaskClosed(reason="done"), TaskReopened(reason="not done"), STUB)
    closed, again = (fold(evolve_task, *events[:n]) for n in (2, 4))
    assert (closed.id, closed.open, closed.reason) == ("harbour/gauges", False, "done")
    assert (again.open, again.reason, again.version) == (True, "not done", 4)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.kind)
def test_projects_and_tasks_refuse_what_is_not_theirs(example: Event) -> None:
    """In a sentence that names the kind."""
    if not isinstance(example, ProjectEvent) or isinstance(example, ProjectCreated):
        with pytest.raises(ValueError, match=f"{example.kind} does not happen to a project"):
            fold(evolve_project, PROJECT, example)
    if not isinstance(example, TaskEvent) or isinstance(example, TaskCreated):
        with pytest.raises(ValueError, match=f"{example.kind} does not happen to a task"):
            fold(evolve_task, TASK, example)
    if not isinstance(example, ProjectCreated):
        with pytest.raises(ValueError, match=f"can't begin with {example.kind}"):
            fold(evolve_project, example)
    if not isinstance(example, TaskCreated):
        with pytest.raises(ValueError, match=f"can't begin with {example.kind}"):
            fold(evolve_task, example)


def test_projects_know_the_newest_commands() -> None:
    """As agents do."""
    many = fold(evolve_task, TASK, *(TaskClosed(), TaskReopened()) * 40)
    assert len(many.commands) == 32
    assert len(fold(evolve_project, PROJECT, *[STUB] * 40).commands) == 32


# streams


def test_a_stream_tells_what_it_is_about() -> None:
    """By what stands before the colon, which no session's name can hold."""
    assert agent_stream("analyst-1") == ("agent:analyst-1",)
    assert (agent_stream("analyst-1").name, agent_of("agent:analyst-1")) == (
        "analyst-1",
        "analyst-1",
    )
    assert project_stream("harbour").id == "project:harbour"
    assert task_stream("harbour", "gauges").id == "task:harbour/gauges"
    families = [family_of(s) for s in ("tides/low", "agent:a-1", "project:p", "task:p/t")]
    assert families == ["session", "agent", "project", "task"]


@pytest.mark.parametrize("stream", ["fleet:a", "session:tides", ":a"])
def test_a_stream_of_no_known_family_is_not_guessed_at(stream: str) -> None:
    """Nobody folds it."""
    with pytest.raises(ValueError, match="no known family"):
        family_of(stream)


def test_each_family_is_folded_by_its_own() -> None:
    """What begins one begins no other."""
    beginnings: dict[str, Event] = {
        "tides": SessionStarted(title="Tides", config={"model": "m"}, protocol="1.4", seed=7),
        "agent:analyst-1": next(e for e in EXAMPLES if isinstance(e, AgentDrafted)),
        "project:harbour": PROJECT,
        "task:harbour/gauges": TASK,
    }
    for stream in beginnings:
        for other, event in beginnings.items():
            (one,) = recorded([event], stream=SessionId(stream))
            if other == stream:
                assert evolve_of(stream)(None, one).version == 1
            else:
                with pytest.raises(ValueError, match="can't begin with"):
                    evolve_of(stream)(None, one)


@pytest.mark.parametrize("name", ["tides", "agent:analyst-1", "project:a/b", "task:harbour/gauges"])
def test_streams_are_named_by_people_too(name: str) -> None:
    """Where they ask for a proof, or a head."""
    assert stream_id(name) == name


@pytest.mark.parametrize(
    "name", ["", "agent:", "agent:Ann", "fleet:a", "session:a", "task:a", "agent:a:b", "agent:../a"]
)
def test_what_can_t_name_a_stream_is_refused(name: str) -> None:
    """As for sessions."""
    if name == "task:a":
        assert stream_id(name) == name, "it is only not there"
        return
    with pytest.raises(BadName):
        stream_id(name)
