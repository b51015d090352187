"""The store as tools and resources for any program that speaks MCP: mcp."""

from typing import Annotated

import typer

from cli.options import StoreOption
from cli.wiring import MOMENT
from domain.errors import Refused


def mcp(
    role: Annotated[
        str | None,
        typer.Option("--role", "-r", help="Tools for agents, too, as this role permits."),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option("--client", help="To whom drafted agents belong; mcp by default."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Serve the store over MCP on stdin and stdout, for the client that starts this.

    Without a role, nothing can be changed. Other programs find the same at /mcp of mind serve.

    Example: mind mcp --role product-analyst
    """
    if MOMENT.get() is not None:
        raise Refused("Over MCP the store is shown as it is now: leave mind at out.")
    try:
        from cli.mcp.stdio import serve  # noqa: PLC0415 — an extra, and slow to import
    except ModuleNotFoundError as error:
        package = (error.name or "mcp").partition(".")[0]
        if package in {"cli", "commands", "domain", "projections"}:
            raise
        raise Refused(
            f'mind mcp needs the package {package}: pip install "logosphere[mcp]".'
        ) from None
    serve(store, role, client)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(mcp)
