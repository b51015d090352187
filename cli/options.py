"""Options that many commands share."""

from typing import Annotated

import typer

from commands.eventlog.place import Place, place_of
from domain.errors import BadSetting

StoreOption = Annotated[
    Place | None,
    typer.Option(
        "--store",
        "-S",
        parser=place_of,
        help="The store: a directory or postgresql://… (or MIND_STORE).",
        metavar="PLACE",
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", "-s", help="The session (or MIND_SESSION).", metavar="NAME"),
]
AtOption = Annotated[str | None, typer.Option("--at", help="As of this moment.", metavar="REF")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FullFlag = Annotated[bool, typer.Option("--full", help="Do not shorten texts.")]


def pairs(settings: list[str] | None) -> list[tuple[str, str]]:
    """Settings as they are typed, ``key=value``.

    Raises:
        BadSetting: one of them is not of that form.
    """
    found = []
    for text in settings or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise BadSetting(f"{text!r} is no setting: write key=value.")
        found.append((key.strip(), value.strip()))
    return found
