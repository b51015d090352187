"""Projects and their tasks: beginning, closing and reopening them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

from commands.agents.role_file import checked_role_name
from commands.command import Decision, Wish
from commands.handle import handle
from commands.places import (
    LONGEST_NAME,
    is_name,
    open_project,
    project_of,
    slugs,
    task_of,
)
from commands.world import World
from domain.agent_errors import ProjectExists, TaskExists, TasksAreOpen
from domain.errors import BadSetting, BadText, NothingChanges, SessionExists
from domain.events import (
    Caused,
    Event,
    ProjectClosed,
    ProjectCreated,
    TaskClosed,
    TaskCreated,
    TaskReopened,
)
from domain.log import Log
from domain.projects import Project, Task
from domain.protocol.fields import shown
from domain.recorded import BEGINNING, Draw
from domain.slugs import free
from domain.slugs import slug as named_by
from domain.streams import Stream, project_stream, task_stream
from domain.texts import checked_text

LONGEST_TITLE = 200
"""Characters of a task's title: one line of a list."""

S = TypeVar("S", Project, Task)


def create_project(
    log: Log,
    world: World,
    name: str,
    *,
    description: str = "",
    roles: Iterable[str] = (),
    path: str | Path | None = None,
    virtual: bool = False,
) -> Project:
    """Begin a project.

    Args:
        log: where it is kept.
        world: time, chance and the present user.
        name: a slug of one part.
        description: what it is about; may be empty.
        roles: the only ones that may be drafted into it; none of them means all.
        path: the directory that agents with tools for files work in: absolute, and there.
        virtual: whether it is only a heading, without tasks.

    Raises:
        ProjectExists: the name is taken.
        BadSetting, BadText: nothing was begun.
    """
    created = ProjectCreated(
        name=_checked_name(name, "project"),
        description=_optional(description, "description"),
        roles=tuple(dict.fromkeys(checked_role_name(role) for role in roles)),
        path=_checked_directory(path),
        virtual=virtual,
    )
    stream = project_stream(name)
    try:
        _begin(log, world, stream, created)
    except SessionExists:
        raise ProjectExists(name) from None
    return log.stands(stream)


def close_project(
    log: Log, world: World, name: str, reason: str = "", *, with_tasks: bool = False
) -> Project:
    """Close a project: nothing more is begun in it, and what is in it stays.

    Args:
        log: where it is kept.
        world: time, chance and the present user.
        name: the project.
        reason: why, for whoever reads it later.
        with_tasks: whether its open tasks are closed, too; else there must be none.

    Raises:
        NoSuchProject: there is none of this name.
        TasksAreOpen: some of its tasks are.
        NothingChanges: it is closed, and so are its tasks.
    """
    reason = _optional(reason, "reason")
    project = project_of(log, name)
    remaining = _open_slugs(log, name) if with_tasks else []
    if not project.open and not remaining:
        raise NothingChanges(f"Project {name!r} is closed already.")

    def unless_tasks_are_open(project: Project) -> Event | None:
        if not project.open:
            return None
        tasks_open = [] if with_tasks else _open_slugs(log, name)
        if tasks_open:
            raise TasksAreOpen(name, tasks_open)
        return ProjectClosed(reason=reason)

    project = _alone(log, world, project_stream(name), unless_tasks_are_open)
    # none can begin any more, and none can be opened again: these are the last ones
    for slug_ in _open_slugs(log, name) if with_tasks else ():
        _alone(
            log,
            world,
            task_stream(name, slug_),
            lambda task: TaskClosed(reason=reason) if task.open else None,
        )
    return project


def create_task(
    log: Log,
    world: World,
    project: str,
    title: str,
    *,
    slug: str | None = None,
    description: str = "",
) -> Task:
    """Set a task in a project, named by the words of its title unless a ``slug`` is given.

    Raises:
        NoSuchProject, ProjectIsVirtual, ProjectIsClosed: no task can be set there.
        TaskExists: the given slug is taken.
        BadSetting, BadText: nothing was begun.
    """
    title, description = _checked_title(title), _optional(description, "description")
    wanted = _checked_name(slug, "task") if slug is not None else None
    while True:
        open_project(log, project)
        name = wanted or free(named_by(title), slugs(log, project))
        created = TaskCreated(project=project, slug=name, title=title, description=description)
        stream = task_stream(project, name)
        try:
            _begin(log, world, stream, created, provided=lambda: open_project(log, project))
        except SessionExists:
            if wanted is not None:
                raise TaskExists(project, name) from None
            continue  # somebody else was faster with the same words
        return log.stands(stream)


class CloseTask(Wish):
    """Close a task: it is done with."""

    reason: str = ""

    def decide(self, task: Task) -> Decision:
        """The task as closed."""
        if not task.open:
            raise NothingChanges(f"Task {task.id} is closed already.")
        yield TaskClosed(reason=self.reason)


def close_task(log: Log, world: World, project: str, slug: str, reason: str = "") -> Task:
    """Close a task: it is done with, and nobody is drafted into it any more.

    Raises:
        NoSuchProject, NoSuchTask: there is none of this name.
        NothingChanges: it is closed.
    """
    task_of(log, project, slug)
    wish = CloseTask(reason=_optional(reason, "reason"))
    return handle(log, task_stream(project, slug), wish, world).state


def reopen_task(log: Log, world: World, project: str, slug: str, reason: str = "") -> Task:
    """Open a closed task again.

    Raises:
        NoSuchProject, NoSuchTask: there is none of this name.
        ProjectIsClosed: nothing is begun in its project any more.
        NothingChanges: it is open.
    """
    reason = _optional(reason, "reason")
    task_of(log, project, slug)

    def where_the_project_is_open(task: Task) -> Event:
        if task.open:
            raise NothingChanges(f"Task {task.id} is open already.")
        open_project(log, project)
        return TaskReopened(reason=reason)

    return _alone(log, world, task_stream(project, slug), where_the_project_is_open)


def _begin(
    log: Log,
    world: World,
    stream: Stream[S],
    event: Event,
    *,
    provided: Callable[[], object] | None = None,
) -> None:
    draw = Draw([Caused(event)], world.now(), world.actor, world.command_id())
    log.begin(stream.id, BEGINNING, draw, provided=provided)


def _alone(log: Log, world: World, stream: Stream[S], decide: Callable[[S], Event | None]) -> S:
    """Decide by more than this stream while nobody else can write to any."""
    wish = world.command_id()

    def draw(state: Any) -> Draw | None:
        event = decide(state)
        if event is None:
            return None
        return Draw([Caused(event)], max(world.now(), state.at), world.actor, wish)

    return cast("S", log.exclusively(stream.id, draw))


def _open_slugs(log: Log, project: str) -> list[str]:
    return [slug for slug in slugs(log, project) if log.stands(task_stream(project, slug)).open]


def _checked_name(text: str, what: str) -> str:
    if not is_name(text):
        raise BadSetting(
            f"{shown(text, 80)} can't name a {what}: use a-z, 0-9, '.', '_' and '-', at most"
            f" {LONGEST_NAME} characters (for example payments)."
        )
    return text


def _checked_title(text: str) -> str:
    title = " ".join(checked_text(text, "title").split())
    if len(title) > LONGEST_TITLE:
        raise BadText(
            f"The title has {len(title)} characters, at most {LONGEST_TITLE} are taken: put the"
            " rest into the description."
        )
    return title


def _optional(text: str, what: str) -> str:
    return checked_text(text, what) if text.strip() else ""


def _checked_directory(path: str | Path | None) -> str | None:
    if path is None:
        return None
    directory = Path(path)
    name = shown(str(path), 200)
    if not directory.is_absolute():
        raise BadSetting(f"{name} is no whole path: begin it with the root of the file system.")
    try:
        resolved = directory.resolve(strict=True)
        is_directory = resolved.is_dir()
        str(resolved).encode()
    except (OSError, RuntimeError, ValueError):  # not there, a loop of links, a NUL
        is_directory = False
    if not is_directory:
        raise BadSetting(f"{name} is no directory: name one that is there.")
    return str(resolved)
