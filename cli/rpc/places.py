"""Where agents work, and as what: projects, tasks and roles."""

from typing import Any

from cli.output import iso
from cli.rpc.described import described
from cli.rpc.errors import PROJECT, ROLE, TASK
from cli.rpc.method import Method, Nothing, Params, Peer, Result
from cli.rpc.service import Service
from commands.agents.agent_tools import task_context
from commands.places import projects, tasks
from commands.projects import close_task, create_project, create_task, reopen_task
from domain.projects import Project, Task


class ProjectRow(Result):
    """A project."""

    name: str
    description: str
    roles: tuple[str, ...]
    """Roles that may be drafted into it; none means all."""
    path: str | None
    is_virtual: bool
    open: bool


class ProjectRows(Result):
    """Projects, in order of their beginnings."""

    projects: tuple[ProjectRow, ...]


class Creating(Params):
    """A project that begins."""

    name: str
    description: str = ""
    roles: tuple[str, ...] = ()
    path: str | None = None
    is_virtual: bool = False


class InProject(Params):
    """A project."""

    project: str


class TaskRow(Result):
    """A task."""

    project: str
    slug: str
    title: str
    description: str
    open: bool
    reason: str
    """Why it was closed, or opened again."""
    created: str
    last_activity: str


class TaskRows(Result):
    """Tasks, in order of their beginnings."""

    tasks: tuple[TaskRow, ...]


class Setting(Params):
    """A task that is set."""

    project: str
    name: str
    """What it is about, in a line; its slug is made of it."""
    slug: str | None = None
    description: str = ""


class Closing(Params):
    """A task, and why."""

    project: str
    slug: str
    reason: str = ""


class OfTask(Params):
    """A task."""

    project: str
    slug: str


class Context(Result):
    """A task with who has worked on it, and what came of that."""

    context: dict[str, Any]


class RoleRow(Result):
    """A role."""

    name: str
    description: str
    model: str | None
    permissions: tuple[str, ...]


class RoleRows(Result):
    """Roles, by name, and the files that are none."""

    roles: tuple[RoleRow, ...]
    problems: tuple[str, ...]


def _project(project: Project) -> ProjectRow:
    created = project.created
    return ProjectRow(
        name=project.id,
        description=created.description,
        roles=created.roles,
        path=created.path,
        is_virtual=created.virtual,
        open=project.open,
    )


def _task(task: Task) -> TaskRow:
    created = task.created
    return TaskRow(
        project=created.project,
        slug=created.slug,
        title=created.title,
        description=created.description,
        open=task.open,
        reason=task.reason,
        created=iso(task.begun),
        last_activity=iso(task.at),
    )


class _Places:
    """The methods, on one service."""

    def __init__(self, service: Service) -> None:
        self._log, self._world, self._roles = service.log, service.world, service.roles
        self._aside = service.aside

    async def projects(self, _: Peer, asked: Nothing) -> ProjectRows:  # noqa: ARG002 — no parameters
        """List the projects, closed ones too."""
        found = await self._aside(projects, self._log)
        return ProjectRows(projects=tuple(map(_project, found)))

    async def create(self, _: Peer, asked: Creating) -> ProjectRow:
        """Make a project: a name under which tasks are gathered."""
        return _project(
            await self._aside(
                lambda: create_project(
                    self._log,
                    self._world,
                    asked.name,
                    description=asked.description,
                    roles=asked.roles,
                    path=asked.path,
                    virtual=asked.is_virtual,
                )
            )
        )

    async def tasks(self, _: Peer, asked: InProject) -> TaskRows:
        """List the tasks of a project, closed ones too."""
        found = await self._aside(tasks, self._log, asked.project)
        return TaskRows(tasks=tuple(map(_task, found)))

    async def create_task(self, _: Peer, asked: Setting) -> TaskRow:
        """Set a task."""
        return _task(
            await self._aside(
                lambda: create_task(
                    self._log,
                    self._world,
                    asked.project,
                    asked.name,
                    slug=asked.slug,
                    description=asked.description,
                )
            )
        )

    async def close_task(self, _: Peer, asked: Closing) -> TaskRow:
        """Be done with a task: nobody is drafted into it, and nobody drafted is told more."""
        place = (self._log, self._world, asked.project, asked.slug)
        return _task(await self._aside(close_task, *place, asked.reason))

    async def reopen_task(self, _: Peer, asked: Closing) -> TaskRow:
        """Work on a closed task again."""
        place = (self._log, self._world, asked.project, asked.slug)
        return _task(await self._aside(reopen_task, *place, asked.reason))

    async def context(self, _: Peer, asked: OfTask) -> Context:
        """Show a task with who has worked on it, and what came of that."""
        found = await self._aside(task_context, self._log, asked.project, asked.slug)
        return Context(context=found)

    async def roles(self, _: Peer, asked: Nothing) -> RoleRows:  # noqa: ARG002 — no parameters
        """List the roles that can be drafted."""
        found = await self._aside(self._roles.all)
        problems = await self._aside(self._roles.problems)
        return RoleRows(
            roles=tuple(
                RoleRow(
                    name=role.name,
                    description=role.description,
                    model=role.model,
                    permissions=role.permissions,
                )
                for role in found
            ),
            problems=tuple(problem.sentence for problem in problems),
        )


def methods(service: Service) -> list[Method]:
    """The methods of projects, tasks and roles."""
    one = _Places(service)
    return [
        described("list_projects", one.projects),
        described("create_project", one.create),
        described("list_tasks", one.tasks, PROJECT),
        described("create_task", one.create_task, PROJECT),
        described("close_task", one.close_task, TASK, PROJECT),
        described("reopen_task", one.reopen_task, TASK, PROJECT),
        described("get_task_context", one.context, TASK, PROJECT),
        described("list_roles", one.roles, ROLE),
    ]
