"""`mind`: the command line. One file per noun; this one gathers them."""

import sys
from typing import Annotated

import typer

from cli import (
    dialogue,
    drafts,
    forks,
    history,
    models,
    presence,
    proof,
    runs,
    sessions,
    thinking,
)
from domain.errors import Broken, LogosphereError

app = typer.Typer(
    name="mind",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Long dialogues with language models, kept as an append-only log: draft, accept, fork.",
)

for noun in (
    sessions,
    dialogue,
    runs,
    drafts,
    history,
    thinking,
    presence,
    forks,
    proof,
    models,
):
    noun.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"mind {version('logosphere')}")
        raise typer.Exit


@app.callback()
def _mind(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """The installed command: 0 done, 1 broken, 2 refused; errors are one sentence on stderr."""
    try:
        app()
    except LogosphereError as error:
        print(f"mind: {error.sentence}", file=sys.stderr)
        sys.exit(1 if isinstance(error, Broken) else 2)


if __name__ == "__main__":
    run()
