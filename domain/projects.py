"""The states of projects and of their tasks."""

from typing import NamedTuple

from domain.events import (
    EventRedacted,
    ProjectClosed,
    ProjectCreated,
    TaskClosed,
    TaskCreated,
    TaskReopened,
)
from domain.ids import CommandId
from domain.recorded import Recorded

COMMANDS_KEPT = 32


class Project(NamedTuple):
    """What a project is."""

    id: str
    created: ProjectCreated
    begun: int
    version: int = 0
    at: int = 0
    open: bool = True
    commands: tuple[CommandId, ...] = ()


class Task(NamedTuple):
    """What a task is."""

    id: str
    """``PROJECT/SLUG``."""
    created: TaskCreated
    begun: int
    version: int = 0
    at: int = 0
    open: bool = True
    reason: str = ""
    """Why it was closed, or opened again."""
    commands: tuple[CommandId, ...] = ()


def evolve_project(project: Project | None, recorded: Recorded) -> Project:
    """A project after one more event.

    Raises:
        ValueError: the event can't be there.
    """
    event = recorded.event
    if project is None:
        if not isinstance(event, ProjectCreated):
            raise ValueError(f"a project can't begin with {event.kind}")
        project = Project(event.name, event, recorded.at)
    elif isinstance(event, ProjectClosed):
        project = project._replace(open=False)
    elif not isinstance(event, EventRedacted):
        raise ValueError(f"{event.kind} does not happen to a project")
    commands = (*project.commands[1 - COMMANDS_KEPT :], recorded.command)
    return project._replace(version=recorded.version, at=recorded.at, commands=commands)


def evolve_task(task: Task | None, recorded: Recorded) -> Task:
    """A task after one more event.

    Raises:
        ValueError: the event can't be there.
    """
    event = recorded.event
    if task is None:
        if not isinstance(event, TaskCreated):
            raise ValueError(f"a task can't begin with {event.kind}")
        task = Task(f"{event.project}/{event.slug}", event, recorded.at)
    elif isinstance(event, TaskClosed):
        task = task._replace(open=False, reason=event.reason)
    elif isinstance(event, TaskReopened):
        task = task._replace(open=True, reason=event.reason)
    elif not isinstance(event, EventRedacted):
        raise ValueError(f"{event.kind} does not happen to a task")
    commands = (*task.commands[1 - COMMANDS_KEPT :], recorded.command)
    return task._replace(version=recorded.version, at=recorded.at, commands=commands)
