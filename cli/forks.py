"""Branching and looking back: fork, at."""

from typing import Annotated

import typer

from cli import output as out
from cli.main import build
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import MOMENT, desk, switch_session
from commands.forks import fork_session
from domain.ids import session_id
from domain.refs import parse_moment


def fork(
    name: Annotated[str, typer.Argument(help="The branch's name: a slug.")],
    at: Annotated[
        str, typer.Option("--at", help="The moment to branch off; now by default.")
    ] = "head",
    reason: Annotated[str | None, typer.Option(help="Why, for whoever reads it later.")] = None,
    stay: Annotated[bool, typer.Option("--stay", help="Do not switch to the branch.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Branch off at any moment, by reference: nothing is copied, the parent is untouched.

    Example: mind fork what-if --at draft:1
    """
    child = session_id(name)
    with desk(store, session) as here:
        here.only_now()
        parent, version = here.moment(at)
        head = fork_session(here.log, parent, version, child, here.world, reason=reason)
        if not stay:
            switch_session(here.directory, child)
    if json:
        out.as_json({"session": child, "parent": parent, "at": version, "version": head.version})
        return
    out.talk(f"{child} branches off {parent} at event {version}.")


def at(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(help="The moment.")],
) -> None:
    """Run a reading command as of any moment.

    Example: mind at iter:2 drafts
    """
    if not context.args:
        raise typer.BadParameter(f"say what to look at: mind at {ref} status")
    token = MOMENT.set(parse_moment(ref))
    try:
        verb = build(context.args[0])
        verb(args=context.args, prog_name="mind", standalone_mode=False)
    finally:
        MOMENT.reset(token)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(fork)
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=settings, options_metavar="")(at)
