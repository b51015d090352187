"""Who can be drafted: role list, show, check, new."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import open_store
from commands.agents.role_file import checked_role_name, role_of_file
from commands.agents.roles import Role, Roles, role_directories
from commands.eventlog.place import Place
from domain.agent_errors import BadRole
from domain.errors import NoStore, Refused

app = typer.Typer(no_args_is_help=True, help="Roles: who can be drafted, as Markdown files.")

_ORIGINS = ("store", "user", "shipped")
"""Where the directories of roles are, in their order."""

_TEMPLATE = """\
---
# All keys are explained in docs/roles.md; `mind role check` tells whether this can be drafted.
name: {name}
description: What this role is good for, in one sentence.
# Who answers: as `mind config` takes it, or claude:NAME. By default the mind of the store.
# model: openrouter:anthropic/claude-haiku-4.5
# What it may do beyond reading: agent-draft, projects-list, projects-create.
permissions: []
# What all its turns together may use up.
# limits:
#   budget_usd: 1
#   tokens: 200000
#   turns: 50
#   seconds: 3600
#   idle_seconds: 300
# Tools of the backend's own, where it has any.
# tools: [Read, Grep]
---
Say here who it is, what it is to do, how, and how one can tell that it is done.
"""


@app.command("list")
def list_(store: StoreOption = None, json: JsonFlag = False) -> None:
    """List the roles that can be drafted.

    Example: mind role list
    """
    roles = _roles(store)
    found = [(role, _origin(roles, role.name)) for role in roles.all()]
    if json:
        out.as_json([_data(roles, role) for role, _ in found])
    else:
        header = ("role", "from", "permissions", "description")
        rows = [
            (
                role.name,
                origin,
                ", ".join(role.permissions) or "none",
                out.one_line(role.description, 400),
            )
            for role, origin in found
        ]
        out.table(rows, header, cut=("permissions", "description"))
    wrong = len(roles.problems())
    if wrong:
        out.talk(f"! {out.count(wrong, 'file')} can't be read as a role: mind role check")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The role.")],
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Show a role: where it is from, what it may do, its instructions.

    Example: mind role show researcher
    """
    roles = _roles(store)
    role = roles.get(name)
    data = _data(roles, role)
    if json:
        out.as_json({**data, "instructions": role.instructions})
        return
    out.answer(out.shade(role.name, "strong"))
    out.answer(out.shade(f"  {out.one_line(str(roles.path(name)), 400)}", "faint"))
    out.answer(out.block(role.description))
    limits = [f"{key} {value:g}" for key, value in data["limits"].items()]
    for what, said in (
        ("model", role.model or "that of the store"),
        ("permissions", ", ".join(role.permissions) or "none"),
        ("limits", ", ".join(limits) or "none"),
        ("tools", ", ".join(role.tools) or "none"),
    ):
        out.answer(f"  {what}: {out.safe(said)}")
    out.answer(f"\n{out.safe(role.instructions)}")


@app.command()
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="These files; by default all roles that there are.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Tell what is wrong with roles, a line each; the exit code is 2 if anything is.

    Example: mind role check
    """
    if files:
        problems = [problem for file in files for problem in _problems(file)]
        checked = len(files)
    else:
        roles = _roles(store)
        problems = roles.problems()
        checked = len(roles.all())
    for problem in problems:
        out.answer(" ".join(out.safe(problem.sentence).split()))
    if problems:
        raise typer.Exit(2)
    out.talk(f"{out.count(checked, 'role')} checked: nothing is wrong.")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The role's name: a-z, 0-9 and '-'.")],
    store: StoreOption = None,
) -> None:
    """Write a role to begin with into the store, for you to edit.

    For a store on a server, which has no directory, it is written among your own settings.

    Example: mind role new editor
    """
    text = _TEMPLATE.format(name=checked_role_name(name))
    with open_store(store) as (_, log):
        folder, *others = role_directories(log.place.directory, os.environ)
    path = folder / f"{name}.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Refused(f"{str(path)!r} is there already: edit it, or choose another name.") from None
    except OSError as error:
        raise Refused(f"{str(path)!r} can't be written: {error.strerror or error}.") from None
    out.talk(f"Edit {out.safe(str(path))}, then: mind role check")
    if any(os.path.lexists(other / path.name) for other in others):
        out.talk(f"! In this store it now stands for another role {name}.")


def _roles(store: Place | None) -> Roles:
    """The roles of the store, where there is one, and those that are there without."""
    try:
        with open_store(store) as (_, log):
            return Roles(role_directories(log.place.directory, os.environ))
    except NoStore:
        if store is not None:
            raise
        return Roles(role_directories(None, os.environ))


def _origin(roles: Roles, name: str) -> str:
    return _ORIGINS[roles.directories.index(roles.path(name).parent)]


def _problems(file: Path) -> list[BadRole]:
    try:
        role_of_file(file)
    except BadRole as problem:
        return [problem]
    return []


def _data(roles: Roles, role: Role) -> dict[str, Any]:
    return {
        "name": role.name,
        "from": _origin(roles, role.name),
        "path": str(roles.path(role.name)),
        "description": role.description,
        "model": role.model,
        "permissions": role.permissions,
        "limits": role.limits.model_dump(exclude_none=True),
        "tools": role.tools,
    }


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="role")
