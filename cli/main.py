"""`mind`: the command line. One file per noun; this one finds the file of a verb."""

import gc
import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from cli.usage import Verbs
from domain.errors import Broken, LogosphereError

NOUNS = {
    "start": ("start",),
    "sessions": ("init", "open", "new", "config", "label"),
    "tree": ("sessions", "switch", "rename", "archive"),
    "status": ("status",),
    "chat": ("chat",),
    "dialogue": ("message", "accept", "prune"),
    "runs": ("run", "step"),
    "drafts": ("drafts",),
    "history": ("history", "show"),
    "search": ("search",),
    "log": ("log",),
    "audit": ("audit",),
    "prompts": ("prompt",),
    "context": ("context",),
    "thinking": ("think", "thoughts", "embed"),
    "clusters": ("cluster",),
    "lineage": ("why",),
    "efforts": ("effort",),
    "facts": ("fact", "event"),
    "artifacts": ("artifact",),
    "dashboard": ("dashboard",),
    "presence": ("signal",),
    "notes": ("note",),
    "forks": ("fork", "at"),
    "comparison": ("diff",),
    "bisect": ("bisect",),
    "replay": ("replay",),
    "proof": ("verify", "head", "doctor"),
    "picks": ("pick",),
    "redaction": ("redact",),
    "bundles": ("export",),
    "imports": ("import",),
    "report": ("report",),
    "query": ("query",),
    "analyse": ("analyse",),
    "rebuild": ("rebuild",),
    "workers": ("work",),
    "stores": ("store",),
    "models": ("model",),
    "serve": ("serve",),
    "agents": ("agent",),
    "projects": ("project",),
    "tasks": ("task",),
    "roles": ("role",),
    "mcp_verb": ("mcp",),
}
"""Which file of this room holds which verbs, in the order of the reference."""

HELP = "Long dialogues with language models, kept as an append-only log: draft, accept, fork."

NEXT = (
    'Begin with: mind init ./thinking "Why are there two tides a day?", then mind run and mind'
    " accept. mind help VERB says all about a verb."
)


def build(verb: str | None = None) -> typer.Typer:
    """The command line; with a known verb, only that one, so that nothing else is imported."""
    app = typer.Typer(
        name="mind",
        cls=Verbs,
        help=HELP,
        epilog=NEXT,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_mind)
    nouns = [noun for noun, verbs in NOUNS.items() if verb in verbs] or list(NOUNS)
    for noun in nouns:
        import_module(f"cli.{noun}").register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 — slow, and rarely asked for

        typer.echo(f"mind {version('logosphere')}")
        raise typer.Exit


def _mind(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """The installed command: 0 done, 1 broken, 2 refused; errors are one sentence on stderr."""
    # numpy's threads would spin for longer than the small products here take
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # what is imported here stays to the end: looking through it for garbage takes a quarter of the
    # time of a short verb
    gc.disable()
    if sys.argv[1:2] == ["help"]:
        sys.argv[1:] = [*sys.argv[2:], "--help"]
    try:
        app = build(sys.argv[1] if len(sys.argv) > 1 else None)
        gc.freeze()
        gc.enable()
        app()
    except LogosphereError as error:
        from cli.output import safe  # noqa: PLC0415 — the happy way has no need of it yet

        print(f"mind: {safe(error.sentence)}", file=sys.stderr)
        sys.exit(1 if isinstance(error, Broken) else 2)


if __name__ == "__main__":
    run()
