"""What the user says: message, accept, prune."""

from pathlib import Path
from typing import Annotated

import typer

from cli import output as out
from cli.attention import attend_to
from cli.history import turn_data
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.texts import read_text
from cli.wiring import desk
from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft
from domain.events import ExchangesPruned
from projections.history import History


def message(
    text: Annotated[str | None, typer.Argument(help="The message; - reads the pipe.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read it from a file.")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Send a message to the mind.

    Example: mind message "And in the Baltic?"   or   cat question.md | mind message
    """
    with desk(store, session) as at:
        at.only_now()
        before = at.state.version
        state = at.do(SendMessage(text=read_text(text, file))).state
        asked = state.dialogue.awaiting
        if json and asked is not None:
            out.as_json({"session": state.id, "exchange": asked.exchange, "version": asked.version})
        else:
            out.talk(f"Sent; {asked.exchange if asked else 'it'} awaits drafts. Next: mind run")
        attend_to(at, before, quiet=json)


def accept(
    index: Annotated[int | None, typer.Argument(help="The draft; by default the latest.")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    full: FullFlag = False,
    json: JsonFlag = False,
) -> None:
    """Make a draft the answer; by default the latest one with content.

    Example: mind accept 2
    """
    with desk(store, session) as at:
        before = at.state.version
        at.do(AcceptDraft(index=index))
        turn = History(at.log, at.session).newest(1)[0]
        if json:
            out.as_json(turn_data(turn))
        else:
            out.answer(out.shade(f"{turn.exchange}, draft {turn.index}", "strong"))
            out.answer(out.block(turn.answer, lines=None if full else 12))
        attend_to(at, before, quiet=json)


def prune(
    exchanges: Annotated[list[str] | None, typer.Argument(help="Exchanges to hide.")] = None,
    keep: Annotated[
        int | None, typer.Option(min=0, help="Hide all but so many of the newest.")
    ] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Hide exchanges from the mind; history keeps them.

    Example: mind prune --keep 5
    """
    if (exchanges is None) == (keep is None):
        raise typer.BadParameter("name exchanges, or say how many to --keep")
    with desk(store, session) as at:
        done = at.do(PruneExchanges(exchanges=tuple(exchanges or ()), keep=keep))
    for event in done.events:
        if isinstance(event, ExchangesPruned):
            out.talk(f"Hidden from the mind: {', '.join(event.exchanges)}.")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (message, accept, prune):
        app.command()(verb)
