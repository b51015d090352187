"""Which streams there are beside sessions, and what folds them.

A session's stream is called as the session is. The others have their family before a colon, which
no session's name can hold: ``agent:analyst-1``, ``project:payments``, ``task:payments/refunds``.
"""

from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from domain.agents import Agent
from domain.agents import evolve as evolve_agent
from domain.ids import AgentId, SessionId
from domain.projects import Project, Task, evolve_project, evolve_task
from domain.recorded import Recorded
from domain.session import evolve as evolve_session

Family = Literal["session", "agent", "project", "task"]

S = TypeVar("S")

Evolve = Callable[[Any, Recorded], Any]

_EVOLVE: dict[str, Evolve] = {
    "session": evolve_session,
    "agent": evolve_agent,
    "project": evolve_project,
    "task": evolve_task,
}


class Stream(NamedTuple, Generic[S]):
    """A stream that is no session, and of which state it is."""

    id: SessionId
    """As the log calls it."""

    @property
    def name(self) -> str:
        """As people call it."""
        return self.id.partition(":")[2]


def agent_stream(agent: str) -> Stream[Agent]:
    """Where the events of an agent are."""
    return Stream(SessionId(f"agent:{agent}"))


def project_stream(project: str) -> Stream[Project]:
    """Where the events of a project are."""
    return Stream(SessionId(f"project:{project}"))


def task_stream(project: str, slug: str) -> Stream[Task]:
    """Where the events of a task are."""
    return Stream(SessionId(f"task:{project}/{slug}"))


def family_of(stream: str) -> Family:
    """What a stream is about."""
    family, colon, _ = stream.partition(":")
    if not colon:
        return "session"
    if family not in _EVOLVE or family == "session":
        raise ValueError(f"{stream!r} is a stream of no known family")
    return family  # type: ignore[return-value]  # checked just now


def evolve_of(stream: str) -> Evolve:
    """What folds a stream's events."""
    return _EVOLVE[family_of(stream)]


def agent_of(stream: str) -> AgentId:
    """The agent whose stream it is."""
    return AgentId(stream.partition(":")[2])
