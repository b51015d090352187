"""Where agents work: project create, list, show, close."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import MOMENT, desk, open_store
from commands.agents.roles import Roles, role_directories
from commands.eventlog import EventLog
from commands.eventlog.place import Place
from commands.places import project_of, projects, tasks
from commands.projects import close_project, create_project
from commands.world import RealWorld
from domain.errors import Refused
from domain.projects import Project, Task

app = typer.Typer(no_args_is_help=True, help="Projects: names under which tasks are gathered.")

ProjectArgument = Annotated[str, typer.Argument(help="The project.", metavar="NAME")]
AllFlag = Annotated[bool, typer.Option("--all", "-a", help="Closed ones, too.")]
ReasonOption = Annotated[
    str, typer.Option("--reason", help="Why, for whoever reads it later.", metavar="TEXT")
]


@contextmanager
def reading(store: Place | None) -> Iterator[tuple[EventLog, int | None]]:
    """The store, and the position up to which it is looked at; None is all."""
    if MOMENT.get() is None:
        with open_store(store) as (_, log):
            yield log, None
        return
    with desk(store) as at:
        # a moment lasts until the next one of its session begins
        following = at.log.pick(at.session, [(at.version or 0) + 1])
        yield at.log, following[0].position - 1 if following else None


@contextmanager
def writing(store: Place | None) -> Iterator[tuple[Path, EventLog, RealWorld]]:
    """The store, to change something in it.

    Raises:
        Refused: ``mind at`` is for looking.
    """
    if MOMENT.get() is not None:
        raise Refused("The past can only be read: what is changed, is changed now.")
    with open_store(store) as (directory, log):
        yield directory, log, RealWorld.of_this_user()


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="The project's name: a slug without '/'.")],
    description: Annotated[
        str, typer.Option("--description", "-d", help="What it is about.", metavar="TEXT")
    ] = "",
    roles: Annotated[
        list[str] | None,
        typer.Option("--role", "-r", help="A role that may be drafted into it; else all may."),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(help="The directory that agents with tools for files work in.", metavar="DIR"),
    ] = None,
    virtual: Annotated[
        bool, typer.Option("--virtual", help="Only a heading: without tasks.")
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Make a project.

    Example: mind project create payments --role product-analyst --description "Cards, refunds."
    """
    with writing(store) as (_, log, world):
        known = Roles(role_directories(log.place.directory, os.environ))
        for role in roles or ():
            known.get(role)
        project = create_project(
            log,
            world,
            name,
            description=description,
            roles=roles or (),
            path=path.absolute() if path is not None else None,
            virtual=virtual,
        )
    if json:
        out.as_json(as_data(project))
        return
    next_ = "" if virtual else f' Next: mind task create {name} "…"'
    out.talk(f"Made the project {name}.{next_}")


@app.command("list")
def list_(everything: AllFlag = False, store: StoreOption = None, json: JsonFlag = False) -> None:
    """List the projects; closed ones with --all.

    Example: mind project list
    """
    with reading(store) as (log, upto):
        found = projects(log, upto=upto)
        set_ = tasks(log, upto=upto)
    shown = [project for project in found if project.open or everything]
    if json:
        out.as_json([as_data(project, set_) for project in shown])
        return
    rows = [
        (
            project.id + _marks(project),
            "" if project.created.virtual else str(_counted(project, set_)["open"]),
            _drafted(project),
            out.one_line(project.created.description, 200),
        )
        for project in shown
    ]
    out.table(rows, ("project", "open tasks", "roles", "description"), cut=("roles", "description"))
    hidden = len(found) - len(shown)
    if hidden:
        out.talk(f"{out.count(hidden, 'closed project')} not shown: mind project list --all")
    elif not found:
        out.talk("There is no project yet: mind project create NAME")


@app.command()
def show(name: ProjectArgument, store: StoreOption = None, json: JsonFlag = False) -> None:
    """Show a project: what it is about, who may be drafted into it, its tasks.

    Example: mind project show payments
    """
    with reading(store) as (log, upto):
        project = project_of(log, name, upto=upto)
        set_ = tasks(log, name, upto=upto)
    created = project.created
    if json:
        listed = [{"slug": t.created.slug, "title": t.created.title, "open": t.open} for t in set_]
        out.as_json({**as_data(project, set_), "task_list": listed})
        return
    out.answer(out.shade(f"{project.id}{_marks(project)}", "strong"))
    out.answer(out.shade(f"  since {out.when(project.begun)}", "faint"))
    if created.description:
        out.answer(out.block(created.description))
    if created.roles:
        out.answer(f"  roles: {out.safe(', '.join(created.roles))}")
    if created.path:
        out.answer(f"  directory: {out.one_line(created.path, 400)}")
    for task in set_:
        out.answer(f"  {_told(task)}")
    if not set_ and not created.virtual:
        out.talk(f'It has no task yet: mind task create {name} "…"')


@app.command()
def close(
    name: ProjectArgument,
    with_tasks: Annotated[
        bool, typer.Option("--with-tasks", help="Close its open tasks, too.")
    ] = False,
    reason: ReasonOption = "",
    store: StoreOption = None,
) -> None:
    """Close a project: nothing more is begun in it, and what is in it stays.

    Example: mind project close payments --with-tasks
    """
    with writing(store) as (_, log, world):
        before = sum(task.open for task in tasks(log, name))
        close_project(log, world, name, reason, with_tasks=with_tasks)
    also = f", and so {'are' if before > 1 else 'is'} {out.count(before, 'task')}" if before else ""
    out.talk(f"Project {name} is closed{also}.")


def as_data(project: Project, among: list[Task] | None = None) -> dict[str, Any]:
    """A project as JSON, with the number of its tasks among those that there are."""
    created = project.created
    return {
        "name": project.id,
        "description": created.description,
        "roles": created.roles,
        "path": created.path,
        "virtual": created.virtual,
        "open": project.open,
        "begun": out.iso(project.begun),
        "tasks": _counted(project, among or []),
    }


def _counted(project: Project, among: list[Task]) -> dict[str, int]:
    own = [task for task in among if task.created.project == project.id]
    opened = sum(task.open for task in own)
    return {"open": opened, "closed": len(own) - opened}


def _drafted(project: Project) -> str:
    created = project.created
    return out.safe(", ".join(created.roles)) or ("" if created.virtual else "all")


def _marks(project: Project) -> str:
    virtual = " (virtual)" if project.created.virtual else ""
    return virtual + ("" if project.open else " (closed)")


def _told(task: Task) -> str:
    closed = "" if task.open else " (closed)"
    return f"{task.created.slug}{closed}: {out.one_line(task.created.title, 200)}"


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="project")
