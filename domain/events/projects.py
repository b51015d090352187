"""Projects and their tasks; each has its own stream."""

from typing import Literal

from domain.events.base import Event


class ProjectCreated(Event):
    """A project began: a name under which tasks are gathered."""

    kind: Literal["project.created"] = "project.created"
    content = ("description",)
    name: str
    description: str = ""
    roles: tuple[str, ...] = ()
    """Roles that may be drafted into it; none means all."""
    path: str | None = None
    """The directory that agents with tools for files work in."""
    virtual: bool = False
    """Only a heading: nobody can be drafted into it, and it has no tasks."""


class ProjectClosed(Event):
    """Nothing more is begun in a project; what is in it stays."""

    kind: Literal["project.closed"] = "project.closed"
    content = ("reason",)
    reason: str = ""


class TaskCreated(Event):
    """A task was set."""

    kind: Literal["task.created"] = "task.created"
    content = ("title", "description")
    project: str
    slug: str
    title: str
    description: str = ""


class TaskClosed(Event):
    """A task is done with."""

    kind: Literal["task.closed"] = "task.closed"
    content = ("reason",)
    reason: str = ""


class TaskReopened(Event):
    """A closed task is worked on again."""

    kind: Literal["task.reopened"] = "task.reopened"
    content = ("reason",)
    reason: str = ""
