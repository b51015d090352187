"""The terminal app: chat."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.cells import place_to_follow
from cli.options import SessionOption, StoreOption
from cli.output import safe, talk
from cli.wiring import find_store
from commands.eventlog.place import Place
from domain.errors import BadSetting, Refused

if TYPE_CHECKING:
    from cli.client.client import Client


def chat(
    store: StoreOption = None,
    session: SessionOption = None,
    connect: Annotated[
        str | None,
        typer.Option("--connect", help="Talk to a server (mind serve).", metavar="ws://…"),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="Where the server's token stands; else MIND_TOKEN holds it.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Talk with a mind or an agent on one screen, and scrub through the past.

    Example: mind chat        mind chat --session what-if
    """
    if token_file is not None and connect is None:
        raise BadSetting("--token-file goes with --connect: name the server as well.")
    if connect is None:
        find_store(store)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("mind chat needs a terminal: use mind message and mind run in scripts.")
    try:
        import textual  # noqa: F401, PLC0415 — slow, and for this verb alone
    except ModuleNotFoundError:
        raise Refused('mind chat needs Textual: pip install "logosphere[chat]".') from None
    if connect is not None:
        asyncio.run(_far(connect, _token(token_file), session))
    else:
        asyncio.run(_here(store, session))


def _token(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text("utf-8").strip()
    except OSError as error:
        why = error.strerror or str(error)
    except UnicodeDecodeError:
        why = "it is no text"
    raise Refused(
        f"The token in {str(file)!r} can't be read ({why}): name the file that mind serve tells as"
        " tokenFile."
    )


async def _here(store: Place | None, session: str | None) -> None:
    """In this process, over the store itself."""
    from cli.client.local import LocalClient  # noqa: PLC0415 — brings all methods along
    from cli.rpc.service import open_service  # noqa: PLC0415 — as above

    place = place_to_follow(find_store(store), session, "shown")
    async with open_service(place) as service:
        service.log.position()  # of many cells there is none: no session said which one
        await _show(LocalClient(service, "chat"), session)


async def _far(url: str, token: str | None, session: str | None) -> None:
    """Over a WebSocket."""
    from cli.client.remote import RemoteClient  # noqa: PLC0415 — brings websockets along

    await _show(RemoteClient(url, token), session)


async def _show(client: "Client", session: str | None) -> None:
    """The app, once it is sure that there is something to show."""
    from cli.client.client import CallFailed  # noqa: PLC0415 — as above
    from cli.tui.app import ChatApp  # noqa: PLC0415 — as above

    try:
        try:
            status = await client.call("status", session=session)
        except CallFailed as failed:
            raise Refused(failed.sentence) from None
        app = ChatApp(client, status["session"])
        await app.run_async()
        if app.drafting.draft is not None:
            agent = safe(app.drafting.draft.agent)
            talk(f"{agent} is still drafted: mind chat goes on with it, /undraft ends it there.")
        said = app.mind.reader.now
        if said is not None and said.presence != "absent":
            talk(
                f"The mind takes you for {said.presence}: mind signal -p absent says that you left."
            )
    finally:
        await client.close()


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(chat)
