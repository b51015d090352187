"""What can be refused around agents, named for the situation; part of the tree in errors.py."""

from collections.abc import Iterable, Sequence

from domain.errors import Refused
from domain.nearest import nearest
from domain.sentences import there_are


def _having(names: Iterable[str], none: str) -> str:
    names = list(names)
    return there_are(names) if names else none


class NoSuchProject(Refused):
    """No project has this name."""

    def __init__(self, project: str, having: Iterable[str] = ()) -> None:
        there = _having(nearest(project, having), "make one with mind project create NAME")
        super().__init__(f"There is no project {project!r}: {there}.")


class ProjectExists(Refused):
    """The name of a new project is taken."""

    def __init__(self, project: str) -> None:
        super().__init__(f"There is a project {project!r} already: choose another name.")


class ProjectIsVirtual(Refused):
    """A heading was taken for a project."""

    def __init__(self, project: str) -> None:
        super().__init__(
            f"Project {project!r} is virtual: it has no tasks, and nobody can be drafted into it."
        )


class ProjectIsClosed(Refused):
    """Nothing more is begun in it."""

    def __init__(self, project: str) -> None:
        super().__init__(f"Project {project!r} is closed: choose another one.")


class NoSuchTask(Refused):
    """No task of the project has this name."""

    def __init__(self, project: str, slug: str, having: Iterable[str] = ()) -> None:
        there = _having(nearest(slug, having), f"make one with mind task create {project} TITLE")
        super().__init__(f"Project {project!r} has no task {slug!r}: {there}.")


class TaskIsClosed(Refused):
    """A closed task was to be worked on."""

    def __init__(self, project: str, slug: str) -> None:
        super().__init__(
            f"Task {slug!r} of project {project!r} is closed:"
            f" open it again first (mind task reopen {project} {slug})."
        )


class TaskExists(Refused):
    """The name of a new task is taken."""

    def __init__(self, project: str, slug: str) -> None:
        super().__init__(f"Project {project!r} has a task {slug!r} already: choose another name.")


class TasksAreOpen(Refused):
    """A project was to be closed over tasks that are not."""

    def __init__(self, project: str, open_: Sequence[str]) -> None:
        more = f" and {len(open_) - 8} more" if len(open_) > 8 else ""
        super().__init__(
            f"Project {project!r} has open tasks, {', '.join(open_[:8])}{more}: close them first,"
            f" or all at once (mind project close {project} --with-tasks)."
        )


class BadRole(Refused):
    """A file that describes no role; the sentence says where and why."""


class NoSuchRole(Refused):
    """No file describes this role."""

    def __init__(self, role: str, having: Iterable[str] = ()) -> None:
        there = _having(nearest(role, having), "write one (mind role new NAME)")
        super().__init__(f"There is no role {role!r}: {there}.")


class RoleNotInProject(Refused):
    """The project lists its roles, and this is none of them."""

    def __init__(self, role: str, project: str, roles: Iterable[str]) -> None:
        super().__init__(
            f"Role {role!r} is not one of project {project!r}: choose {' or '.join(roles)}."
        )


class NoSuchAgent(Refused):
    """No agent has this name."""

    def __init__(self, agent: str, having: Iterable[str] = ()) -> None:
        there = _having(nearest(agent, having), "draft one with mind agent draft ROLE")
        super().__init__(f"There is no agent {agent!r}: {there}.")


class AgentHasEnded(Refused):
    """Nothing can be done with it any more; who was to be spoken to can be replaced."""

    def __init__(self, agent: str, how: str, *, spoken_to: bool = False) -> None:
        what_to_do = ": draft another one." if spoken_to else "; what it did stays in the log."
        super().__init__(f"Agent {agent!r} has ended ({how}){what_to_do}")


class DraftIsActive(Refused):
    """One draft at a time."""

    def __init__(self, client: str, agent: str) -> None:
        super().__init__(
            f"{agent!r} is drafted already by {client!r}: undraft it first (mind agent"
            f" undraft -a {agent})."
        )


class NoActiveDraft(Refused):
    """Nobody is drafted."""

    def __init__(self, client: str) -> None:
        super().__init__(
            f"Nobody is drafted by {client!r}: draft an agent first (mind agent draft ROLE)."
        )


class TurnIsRunning(Refused):
    """One turn at a time: this one has to wait."""

    def __init__(self, agent: str) -> None:
        super().__init__(f"Agent {agent!r} is answering another prompt: this one waits its turn.")


class QueueIsFull(Refused):
    """Too much was said to an agent that has not answered."""

    def __init__(self, agent: str, most: int) -> None:
        super().__init__(
            f"{most} prompts wait for agent {agent!r} already: wait for an answer, or take some"
            " back."
        )


class TooManyAgents(Refused):
    """No more workers at once."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} workers are at work already: wait for one, or end one.")


class NotPermitted(Refused):
    """The role lacks the permission."""

    def __init__(self, role: str, permission: str, what: str) -> None:
        super().__init__(f"Role {role!r} may not use {what}: its permissions lack {permission!r}.")


class NoSuchTool(Refused):
    """An agent called a tool that it was not given."""

    def __init__(self, tool: str, having: Iterable[str]) -> None:
        super().__init__(f"There is no tool {tool!r}: {_having(having, 'there are none')}.")
