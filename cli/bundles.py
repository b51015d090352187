"""What leaves a store: export."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.rebuild import progress, say
from cli.wiring import MOMENT, open_store
from domain.errors import Refused
from domain.ids import session_id

if TYPE_CHECKING:
    from projections.analytics.files.lake import Added

app = typer.Typer(
    no_args_is_help=True, help="Write sessions for other stores, or the whole history as tables."
)

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", "-t", help="Only this one; can be repeated.", metavar="NAME"),
]


@app.command()
def session(
    name: Annotated[str, typer.Argument(help="The session.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write.", metavar="FILE")
    ],
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Write a session into one file, with its branches and all that it descends from.

    Example: mind export session payments -o payments.mind
    """
    with open_store(store) as (_, log):
        streams, events = log.export(session_id(name), output)
    if json:
        out.as_json({"file": str(output), "sessions": streams, "events": events})
        return
    out.talk(f"Wrote {out.count(events, 'event')} of {', '.join(streams)} to {output}.")


@app.command()
def parquet(
    directory: Annotated[
        Path,
        typer.Argument(help="A new directory, or that of an earlier export.", metavar="DIR"),
    ],
    table: Tables = None,
    buckets: Annotated[
        int | None,
        typer.Option(
            help="Cut the facts of a day into so many parts, by root session.", metavar="N"
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Write all anew, whatever it holds.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove files of earlier states, too.")
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Write the history as Parquet files, which any engine reads and which never change.

    Again into the same directory, it adds files for what is new. _manifest.json there names the
    files that count; README.md says what every column means.

    Example: mind export parquet lake
    """
    from projections.analytics.files.lake import export_parquet  # noqa: PLC0415 — brings DuckDB along

    _only_now()
    with open_store(store) as (home, log), progress("Building") as told:
        done = export_parquet(
            log,
            home,
            directory,
            tables=table or (),
            buckets=buckets,
            force=force,
            prune=prune,
            progress=told,
        )
    say(done.caught_up)
    if json:
        out.as_json(
            {
                "place": str(directory),
                "after": done.after,
                "position": done.position,
                "behind": done.caught_up.behind,
                "redacted": done.redacted,
                "files": done.files,
                "bytes": done.size,
                "rows": done.rows,
                "superseded": {"files": done.superseded.files, "bytes": done.superseded.size},
                "removed": {"files": done.removed.files, "bytes": done.removed.size},
            }
        )
        return
    for line in _told(done, str(directory)):
        out.talk(line)


def _told(done: "Added", place: str) -> Iterator[str]:
    """What an export did, in sentences."""
    if done.redacted:
        yield f"Something was redacted since the last export: all of {place} was written anew."
    written = f"{out.count(sum(done.rows.values()), 'row')}, {out.count(done.files, 'file')}"
    if done.files == 0:
        yield f"{place} is up to date: it goes up to event {done.position} of the store."
    elif not done.after:
        tables = out.count(len(done.rows), "table")
        yield (
            f"Wrote {tables} to {place}: {written}, {_size(done.size)}; all up to event"
            f" {done.position} of the store."
        )
    else:
        yield (
            f"Added to {place}: {written}, {_size(done.size)}; events {done.after + 1} to"
            f" {done.position} of the store."
        )
    if done.superseded.files:
        files = out.count(done.superseded.files, "file")
        yield f"{files} of earlier states, {_size(done.superseded.size)}, can go (--prune)."
    if done.removed.files:
        yield f"Removed {out.count(done.removed.files, 'file')}, {_size(done.removed.size)}."


@app.command()
def arrow(
    target: Annotated[
        Path,
        typer.Argument(help="A directory, or with one --table NAME.arrow.", metavar="DIR|FILE"),
    ],
    table: Tables = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Replace an earlier export.")
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Write the whole history as Arrow files, one for each table.

    Example: mind export arrow tables
    """
    from projections.analytics.files.arrow import export_arrow  # noqa: PLC0415 — brings DuckDB along

    _only_now()
    with open_store(store) as (home, log), progress("Building") as told:
        done = export_arrow(log, home, target, tables=table or (), force=force, progress=told)
    say(done.caught_up)
    if json:
        out.as_json(
            {
                "place": str(target),
                "position": done.position,
                "behind": done.caught_up.behind,
                "files": done.files,
                "bytes": done.size,
                "rows": done.rows,
            }
        )
        return
    out.talk(
        f"Wrote {out.count(len(done.rows), 'table')} to {target}:"
        f" {out.count(sum(done.rows.values()), 'row')}, {out.count(done.files, 'file')},"
        f" {_size(done.size)}; all up to event {done.position} of the store."
    )


def _only_now() -> None:
    if MOMENT.get() is not None:
        raise Refused("An export is of everything there is now: leave mind at out.")


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e6:,.1f} MB" if bytes_ >= 100_000 else f"{bytes_ / 1e3:,.1f} kB"


def register(parent: typer.Typer) -> None:
    """Add the verb of this file."""
    parent.add_typer(app, name="export")
