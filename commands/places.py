"""Where agents are drafted: projects and tasks as they stand, now or as of a place in the log."""

from typing import TypeVar

from domain.agent_errors import (
    NoSuchProject,
    NoSuchTask,
    ProjectIsClosed,
    ProjectIsVirtual,
    TaskIsClosed,
)
from domain.agents import Agent
from domain.errors import BadName, BadSetting, NoSuchSession
from domain.events import AgentDrafted
from domain.ids import session_id
from domain.log import Log
from domain.projects import Project, Task
from domain.streams import Stream, project_stream, task_stream

LONGEST_NAME = 64

MOST_TOLD = 8
"""Names that a sentence has room for."""

S = TypeVar("S")


def place(log: Log, project: str, task: str) -> tuple[Project, Task]:
    """Where somebody may be drafted.

    Raises:
        NoSuchProject, ProjectIsVirtual, ProjectIsClosed: not into this project.
        NoSuchTask, TaskIsClosed: not into this task.
    """
    within = open_project(log, project)
    found = task_of(log, project, task)
    if not found.open:
        raise TaskIsClosed(project, task)
    return within, found


def open_project(log: Log, name: str) -> Project:
    """A project in which something can be begun.

    Raises:
        NoSuchProject, ProjectIsVirtual, ProjectIsClosed: it is not there, or not one of these.
    """
    project = project_of(log, name)
    if project.created.virtual:
        raise ProjectIsVirtual(name)
    if not project.open:
        raise ProjectIsClosed(name)
    return project


def project_of(log: Log, name: str, *, upto: int | None = None) -> Project:
    """A project by its name, now or as of a position of the store.

    Raises:
        NoSuchProject: there is none; the sentence says which are like it.
    """
    found = _stands(log, project_stream(name), upto) if is_name(name) else None
    if found is None:
        raise NoSuchProject(name, [project.id for project in projects(log, upto=upto)])
    return found


def task_of(log: Log, project: str, slug: str, *, upto: int | None = None) -> Task:
    """A task of a project by its slug, now or as of a position of the store.

    Raises:
        NoSuchProject: there is no such project.
        NoSuchTask: it has no such task; the sentence says which are like it.
    """
    project_of(log, project, upto=upto)
    found = _stands(log, task_stream(project, slug), upto) if is_name(slug) else None
    if found is None:
        there = [task.created.slug for task in tasks(log, project, upto=upto)]
        raise NoSuchTask(project, slug, there)
    return found


def projects(log: Log, *, upto: int | None = None) -> list[Project]:
    """All projects, closed ones too, in order of their beginnings."""
    streams = [Stream[Project](stream) for stream in log.streams("project")]
    found = [_stands(log, stream, upto) for stream in streams]
    return [project for project in found if project is not None]


def tasks(log: Log, project: str | None = None, *, upto: int | None = None) -> list[Task]:
    """The tasks of a project, or of all, closed ones too, in order of their beginnings.

    Raises:
        NoSuchProject: there is no such project.
    """
    if project is not None:
        project_of(log, project, upto=upto)
        streams = [task_stream(project, slug) for slug in slugs(log, project)]
    else:
        streams = [Stream[Task](stream) for stream in log.streams("task")]
    found = [_stands(log, stream, upto) for stream in streams]
    return [task for task in found if task is not None]


def only_project(log: Log) -> str:
    """The one project that somebody can be drafted into.

    Raises:
        BadSetting: there are several, or none.
    """
    found = [one.id for one in projects(log) if one.open and not one.created.virtual]
    if not found:
        raise BadSetting("There is no open project: make one with mind project create NAME.")
    return _only(found, "open projects")


def only_task(log: Log, project: str) -> str:
    """The one open task of a project.

    Raises:
        NoSuchProject: there is no such project.
        BadSetting: there are several, or none.
    """
    found = [task.created.slug for task in tasks(log, project) if task.open]
    if not found:
        raise BadSetting(
            f"Project {project!r} has no open task: make one with mind task create {project} TITLE."
        )
    return _only(found, f"open tasks of {project!r}")


def _only(found: list[str], what: str) -> str:
    if len(found) > 1:
        more = f" and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
        raise BadSetting(
            f"There are {len(found)} {what}: name one of {', '.join(found[:MOST_TOLD])}{more}."
        )
    return found[0]


def slugs(log: Log, project: str) -> list[str]:
    """The names of the tasks of a project, in order of their beginnings."""
    begin = task_stream(project, "").id
    return [name.removeprefix(begin) for name in log.streams("task") if name.startswith(begin)]


def drafted_into(log: Log, project: str, slug: str, *, upto: int | None = None) -> list[Agent]:
    """The agents that were ever drafted into a task, in order of their drafting."""
    found = [
        _stands(log, Stream[Agent](stream), upto)
        for stream in log.streams("agent")
        for first in log.read(stream, upto=1, page=1)
        if isinstance(first.event, AgentDrafted)
        and (first.event.project, first.event.task) == (project, slug)
    ]
    return [agent for agent in found if agent is not None]


def is_name(text: str) -> bool:
    """Whether a project or a task could be called that: a slug of one part."""
    try:
        return "/" not in session_id(text) and len(text) <= LONGEST_NAME
    except BadName:
        return False


def _stands(log: Log, stream: Stream[S], upto: int | None) -> S | None:
    """The state as of a position of the store; None before there was one."""
    try:
        if upto is None:
            return log.stands(stream)
        version = 0
        for recorded in log.read(stream.id):  # a handful of events, but for agents
            if recorded.position > upto:
                break
            version = recorded.version
        return log.stands(stream, version) if version else None
    except NoSuchSession:
        return None
