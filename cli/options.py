"""Options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", "-S", help="The store's directory (or MIND_STORE).", metavar="DIR"),
]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", "-s", help="The session (or MIND_SESSION).", metavar="NAME"),
]
AtOption = Annotated[str | None, typer.Option("--at", help="As of this moment.", metavar="REF")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FullFlag = Annotated[bool, typer.Option("--full", help="Do not shorten texts.")]
