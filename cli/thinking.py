"""The mind's pool: think, thoughts."""

from pathlib import Path
from typing import Annotated

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.texts import read_text
from cli.wiring import desk
from commands.thinking import InjectThought


def think(
    text: Annotated[str | None, typer.Argument(help="The thought; - reads the pipe.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read it from a file.")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Put a thought of your own into the mind's pool.

    Example: mind think "Compare it with the Bay of Fundy."
    """
    with desk(store, session) as at:
        at.only_now()
        at.do(InjectThought(text=read_text(text, file), by=str(at.world.actor)))
    out.talk("It is in the pool.")


def thoughts(
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The newest so many; 0 for the whole pool.")
    ] = 10,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the thoughts of the active pool, oldest first.

    Example: mind thoughts -n 0
    """
    with desk(store, session) as at:
        state = at.state
    pool = state.pool.active[-count:] if count else state.pool.active
    if json:
        out.as_json(
            [
                {
                    "version": t.version,
                    "iteration": t.iteration,
                    "age": state.upcoming - t.iteration,
                    "origin": t.origin,
                    "mind": t.mind,
                    "text": t.text,
                }
                for t in pool
            ]
        )
        return
    for thought in pool:
        marks = f"  age {state.upcoming - thought.iteration}, {thought.origin}"
        out.answer(out.shade(f"{thought.version}", "strong") + out.shade(marks, "faint"))
        out.answer(out.block(thought.text, lines=None if full else 4))
    if not pool:
        out.talk("The pool is empty.")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (think, thoughts):
        app.command()(verb)
