"""Sessions on their way between stores: export, import."""

from pathlib import Path
from typing import Annotated

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import open_store
from commands.eventlog import Taken
from domain.ids import session_id


def export(
    session: Annotated[str, typer.Argument(help="The session.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write.", metavar="FILE")
    ],
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Write a session into one file, with its branches and all that it descends from.

    Example: mind export payments -o payments.mind
    """
    name = session_id(session)
    with open_store(store) as (_, log):
        streams, events = log.export(name, output)
    if json:
        out.as_json({"file": str(output), "sessions": streams, "events": events})
        return
    out.talk(f"Wrote {out.count(events, 'event')} of {', '.join(streams)} to {output}.")


def import_(
    file: Annotated[Path, typer.Argument(help="What mind export wrote.")],
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Take over the sessions of an exported file, once all of it has proved to be as written.

    A session that is here already gets the events that are new; another one of the same name
    stays, and the newcomer gets another name.

    Example: mind import payments.mind
    """
    with open_store(store) as (_, log):
        taken = log.take_over(file)
    if json:
        out.as_json([one._asdict() for one in taken])
        return
    for one in taken:
        out.answer(_told(one))


def _told(one: Taken) -> str:
    if one.what == "known":
        return f"{one.name}: here already, nothing new."
    news = out.count(one.events, "event")
    if one.what == "longer":
        gone = f"; the content of {one.redacted} was redacted" if one.redacted else ""
        return f"{one.name}: {one.events} more event{'' if one.events == 1 else 's'}{gone}."
    called = f" (it was {one.session} there)" if one.name != one.session else ""
    return f"{one.name}: {news}{called}."


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(export)
    app.command("import")(import_)
