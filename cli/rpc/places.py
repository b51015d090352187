"""Where agents work, and as what: projects, tasks and roles."""

from typing import Any

from cli.output import iso
from cli.rpc.errors import PROJECT, ROLE, TASK
from cli.rpc.functions import in_store
from cli.rpc.method import Method, Nothing, Params, Result
from cli.rpc.service import Service
from commands import places
from commands import projects as acts
from commands.agents.agent_tools import task_context
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


def list_projects(service: Service, asked: Nothing) -> ProjectRows:  # noqa: ARG001 — its type
    """List the projects, closed ones too."""
    return ProjectRows(projects=tuple(map(_project, places.projects(service.log))))


def create_project(service: Service, asked: Creating) -> ProjectRow:
    """Make a project: a name under which tasks are gathered."""
    return _project(
        acts.create_project(
            service.log,
            service.world,
            asked.name,
            description=asked.description,
            roles=asked.roles,
            path=asked.path,
            virtual=asked.is_virtual,
        )
    )


def list_tasks(service: Service, asked: InProject) -> TaskRows:
    """List the tasks of a project, closed ones too."""
    return TaskRows(tasks=tuple(map(_task, places.tasks(service.log, asked.project))))


def create_task(service: Service, asked: Setting) -> TaskRow:
    """Set a task."""
    return _task(
        acts.create_task(
            service.log,
            service.world,
            asked.project,
            asked.name,
            slug=asked.slug,
            description=asked.description,
        )
    )


def close_task(service: Service, asked: Closing) -> TaskRow:
    """Be done with a task: nobody is drafted into it, and nobody drafted is told more."""
    place = (service.log, service.world, asked.project, asked.slug)
    return _task(acts.close_task(*place, asked.reason))


def reopen_task(service: Service, asked: Closing) -> TaskRow:
    """Work on a closed task again."""
    place = (service.log, service.world, asked.project, asked.slug)
    return _task(acts.reopen_task(*place, asked.reason))


def get_task_context(service: Service, asked: OfTask) -> Context:
    """Show a task with who has worked on it, and what came of that."""
    return Context(context=task_context(service.log, asked.project, asked.slug))


def list_roles(service: Service, asked: Nothing) -> RoleRows:  # noqa: ARG001 — its type
    """List the roles that can be drafted."""
    return RoleRows(
        roles=tuple(
            RoleRow(
                name=role.name,
                description=role.description,
                model=role.model,
                permissions=role.permissions,
            )
            for role in service.roles.all()
        ),
        problems=tuple(problem.sentence for problem in service.roles.problems()),
    )


def methods(service: Service) -> list[Method]:
    """The methods of projects, tasks and roles."""
    return [
        in_store(service, list_projects),
        in_store(service, create_project),
        in_store(service, list_tasks, PROJECT),
        in_store(service, create_task, PROJECT),
        in_store(service, close_task, TASK, PROJECT),
        in_store(service, reopen_task, TASK, PROJECT),
        in_store(service, get_task_context, TASK, PROJECT),
        in_store(service, list_roles, ROLE),
    ]
