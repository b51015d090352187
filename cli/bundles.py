"""What leaves a store: export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.rebuild import progress, say
from cli.wiring import MOMENT, open_store
from domain.errors import Refused
from domain.ids import session_id

if TYPE_CHECKING:
    from projections.analytics.files.tables import Exported

app = typer.Typer(
    no_args_is_help=True, help="Write sessions for other stores, or the whole history as tables."
)

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", "-t", help="Only this one; can be repeated.", metavar="NAME"),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace an earlier export.")]


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
        Path, typer.Argument(help="Where to write: not there yet, or empty.", metavar="DIR")
    ],
    partition_by: Annotated[
        Literal["session", "day"] | None,
        typer.Option(help="Write tables of events in parts, one directory for each."),
    ] = None,
    table: Tables = None,
    force: Force = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Write the whole history as Parquet files, which any engine reads.

    Each table gets a directory; README.md and _schema.json there say what every column means.
    The directory is there when all of it is written, or not at all.

    Example: mind export parquet lake --partition-by day
    """
    from projections.analytics.files.tables import export_parquet  # noqa: PLC0415 — brings DuckDB along

    _only_now()
    with open_store(store) as (home, log), progress("Building") as told:
        done = export_parquet(
            log, home, directory, by=partition_by, tables=table or (), force=force, progress=told
        )
    _tell(done, directory, json=json)


@app.command()
def arrow(
    target: Annotated[
        Path,
        typer.Argument(help="A directory, or with one --table NAME.arrow.", metavar="DIR|FILE"),
    ],
    table: Tables = None,
    force: Force = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Write the whole history as Arrow files, one for each table.

    Example: mind export arrow tables
    """
    from projections.analytics.files.tables import export_arrow  # noqa: PLC0415 — brings DuckDB along

    _only_now()
    with open_store(store) as (home, log), progress("Building") as told:
        done = export_arrow(log, home, target, tables=table or (), force=force, progress=told)
    _tell(done, target, json=json)


def _only_now() -> None:
    if MOMENT.get() is not None:
        raise Refused("An export is of everything there is now: leave mind at out.")


def _tell(done: "Exported", target: Path, *, json: bool) -> None:
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


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e6:,.1f} MB" if bytes_ >= 100_000 else f"{bytes_ / 1e3:,.1f} kB"


def register(parent: typer.Typer) -> None:
    """Add the verb of this file."""
    parent.add_typer(app, name="export")
