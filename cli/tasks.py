"""What agents work on: task create, list, show, close, reopen."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.projects import AllFlag, ReasonOption, reading, writing
from cli.texts import read_text
from commands.places import drafted_into, task_of, tasks
from commands.projects import close_task, create_task, reopen_task
from domain.agents import Agent
from domain.projects import Task
from projections.agents import AgentRow, row_of

app = typer.Typer(no_args_is_help=True, help="Tasks: what agents are drafted for.")

ProjectArgument = Annotated[str, typer.Argument(help="Its project.", metavar="PROJECT")]
SlugArgument = Annotated[str, typer.Argument(help="Its name in the project.", metavar="SLUG")]


@app.command()
def create(
    project: ProjectArgument,
    title: Annotated[str, typer.Argument(help="What is to be done, on one line.")],
    description: Annotated[
        str | None,
        typer.Option("--description", "-d", help="All that one has to know.", metavar="TEXT"),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the description from a file.")
    ] = None,
    slug: Annotated[
        str | None, typer.Option(help="Its name; by default words of the title.")
    ] = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Set a task; it is named by the words of its title.

    Example: mind task create payments "Refunds differ from voids" -d "Why, and since when?"
    """
    given = description is not None or file is not None
    text = read_text(description, file) if given else ""
    with writing(store) as (_, log, world):
        task = create_task(log, world, project, title, slug=slug, description=text)
    if json:
        out.as_json(as_data(task))
        return
    name = task.created.slug
    out.talk(f"This is task {name} of {project}: mind task show {project} {name}")


@app.command("list")
def list_(
    project: Annotated[
        str | None, typer.Argument(help="Of this project; of all by default.", metavar="PROJECT")
    ] = None,
    everything: AllFlag = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """List the open tasks; closed ones with --all.

    Example: mind task list payments
    """
    with reading(store) as (log, upto):
        found = tasks(log, project, upto=upto)
    shown = [task for task in found if task.open or everything]
    if json:
        out.as_json([as_data(task) for task in shown])
        return
    rows = [
        (
            task.created.project,
            task.created.slug,
            "open" if task.open else "closed",
            out.one_line(task.created.title, 200),
        )
        for task in shown
    ]
    out.table(rows, ("project", "task", "state", "title"))
    hidden = len(found) - len(shown)
    if hidden:
        among = f" {project}" if project else ""
        out.talk(f"{out.count(hidden, 'closed task')} not shown: mind task list{among} --all")
    elif not found:
        out.talk(f'There is no task yet: mind task create {project or "PROJECT"} "…"')


@app.command()
def show(
    project: ProjectArgument,
    slug: SlugArgument,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Show a task: what is to be done, and the agents that were drafted into it.

    Example: mind task show payments refunds-differ-voids
    """
    with reading(store) as (log, upto):
        task = task_of(log, project, slug, upto=upto)
        agents = [row_of(agent) for agent in drafted_into(log, project, slug, upto=upto)]
    if json:
        out.as_json({**as_data(task), "agents": [_agent_data(row) for row in agents]})
        return
    created = task.created
    closed = "" if task.open else " (closed)"
    out.answer(out.shade(f"{task.id}{closed}", "strong"))
    changed = "" if task.at == task.begun else f", {_last(task)} {out.when(task.at)}"
    out.answer(out.shade(f"  since {out.when(task.begun)}{changed}", "faint"))
    out.answer(out.block(created.title))
    if created.description:
        out.answer(f"\n{out.block(created.description)}")
    if agents:
        out.answer()
        header = ("agent", "state", "turns", "cost", "model")
        out.table([_agent_row(row) for row in agents], header)


@app.command()
def close(
    project: ProjectArgument,
    slug: SlugArgument,
    reason: ReasonOption = "",
    store: StoreOption = None,
) -> None:
    """Close a task: nobody is drafted into it any more.

    Example: mind task close payments refunds-differ-voids --reason "Shipped."
    """
    with writing(store) as (_, log, world):
        close_task(log, world, project, slug, reason)
        active = [agent for agent in drafted_into(log, project, slug) if agent.active]
    out.talk(f"Task {slug} of {project} is closed.")
    _warn(active)


@app.command()
def reopen(
    project: ProjectArgument,
    slug: SlugArgument,
    reason: ReasonOption = "",
    store: StoreOption = None,
) -> None:
    """Open a closed task again.

    Example: mind task reopen payments refunds-differ-voids
    """
    with writing(store) as (_, log, world):
        reopen_task(log, world, project, slug, reason)
    out.talk(f"Task {slug} of {project} is open again.")


def as_data(task: Task) -> dict[str, Any]:
    """A task as JSON."""
    created = task.created
    return {
        "project": created.project,
        "slug": created.slug,
        "title": created.title,
        "description": created.description,
        "open": task.open,
        "reason": task.reason,
        "begun": out.iso(task.begun),
        "at": out.iso(task.at),
    }


def _last(task: Task) -> str:
    why = f" ({out.one_line(task.reason, 200)})" if task.reason else ""
    return f"{'opened again' if task.open else 'closed'}{why}"


def _warn(active: Iterable[Agent]) -> None:
    for agent in active:
        end = "kill" if agent.way == "work" else "undraft -a"
        out.talk(f"! {agent.id} is still there: mind agent {end} {agent.id}")


def _agent_row(row: AgentRow) -> tuple[str, ...]:
    state = f"{row.ended.how} ({row.ended.reason})" if row.ended is not None else row.state
    cost = f"${row.cost_usd:.4f}" + (" + ?" if row.unknown_costs else "")
    return row.agent, state, str(row.turns), cost, row.model


def _agent_data(row: AgentRow) -> dict[str, Any]:
    return {
        "agent": row.agent,
        "role": row.role,
        "way": row.way,
        "state": row.state,
        "ended": row.ended.how if row.ended is not None else None,
        "reason": row.ended.reason if row.ended is not None else None,
        "model": row.model,
        "parent": row.parent,
        "turns": row.turns,
        "cost_usd": row.cost_usd,
        "begun": out.iso(row.begun),
        "at": out.iso(row.at),
    }


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="task")
