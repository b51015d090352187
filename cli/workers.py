"""Workers that keep views beside the log: work, work show, work status, work rebuild."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import typer

from cli import output as out
from cli.kept_views import Parts, parts
from cli.options import JsonFlag, StoreOption
from cli.view_worker import Plan, stoppable, work_on
from cli.wiring import MOMENT
from commands.eventlog import EventLog
from commands.holder import is_alive
from domain.errors import BadSetting, Refused
from domain.server_errors import CellsAreAway
from projections.views.ours import VIEWS
from projections.views.store import Tracked
from projections.views.view import Column, Row, View, together
from projections.views.worker import BATCH

app = typer.Typer(invoke_without_command=True)

COUNTED = 10_000
"""Events behind a position that are counted; more of them are many."""

ViewArgument = Annotated[
    str, typer.Argument(help="Its name: activity or spending.", metavar="VIEW")
]
ShardsOption = Annotated[
    int | None,
    typer.Option("--shards", min=1, max=1024, help="Into how many parts views are divided."),
]


@app.callback()
def _work(
    context: typer.Context,
    shards: ShardsOption = None,
    shard: Annotated[
        int | None, typer.Option("--shard", min=0, help="Work on this part alone, counted from 0.")
    ] = None,
    lease: Annotated[
        bool, typer.Option("--lease", help="Share the parts with other workers (the default).")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="End when all that has happened by now is taken in.")
    ] = False,
    batch: Annotated[
        int, typer.Option("--batch", min=1, max=100_000, help="Events of a transaction, at most.")
    ] = BATCH,
    store: StoreOption = None,
) -> None:
    """Keep views up to date as things happen, each event exactly once, until it is stopped.

    Any number of workers may do so at once, on SQLite on one machine and on PostgreSQL on any:
    they share the parts (shards) of the views among them, and when one is killed the others take
    over what it had within seconds. Where a parallel set of machines is numbered anyway, give each
    its number: --shards 3 --shard 0.

    Example: mind work        mind work --lease --shards 6        mind work --once
    """
    if context.invoked_subcommand is not None:
        if shards or shard is not None or lease or once or store:
            verb = context.invoked_subcommand
            raise BadSetting(f"Write options behind the verb: mind work {verb} --…")
        return
    _only_now()
    if shard is not None and lease:
        raise BadSetting("Choose one of --shard and --lease.")
    if shard is not None and (shards is None or shard >= shards):
        raise BadSetting("Say of how many: --shards 3 with --shard 0, 1 or 2.")
    with stoppable() as stop:
        work_on(store, Plan(shards, shard, once, batch), stop)


@app.command()
def show(
    view: ViewArgument,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="So many rows at most; 0: all.")
    ] = 0,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the rows of a view, as far as workers have come.

    Example: mind work show activity        mind work show spending --json
    """
    chosen = _view(view)
    found: list[Sequence[Row]] = []
    lag = 0
    with parts(store, writable=False) as cells:
        for cell in cells.there:
            positions = [t.position for t in cell.views.tracked().values() if t.task.view == view]
            if positions:
                found.append(list(cell.views.rows(chosen)))
                lag += _Behind(cell.log, positions).of(min(positions))
    if not found and not cells.away:
        raise Refused(f"No worker has begun view {view!r} yet: mind work --once")
    rows = together(chosen, found)[: limit or None]
    if json:
        names = [column.name for column in chosen.columns]
        out.as_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        columns = [
            (number, column)
            for number, column in enumerate(chosen.columns)
            if column.merge == "key" or any(row[number] for row in rows)
        ]
        out.table(
            [[_cell(column, row[number]) for number, column in columns] for row in rows],
            [column.name for _, column in columns],
            cut=[c.name for _, c in columns if c.type == "text" and c.merge != "key"],
        )
    if lag:
        out.talk(f"This is {_events(lag)} behind: workers go on, or mind work --once.")
    _whole(cells)


@app.command()
def status(store: StoreOption = None, json: JsonFlag = False) -> None:
    """Show how far each shard of each view is, and who works on it.

    Example: mind work status
    """
    rows = []
    with parts(store, writable=False) as cells:
        for cell in cells.there:
            tracked, held = cell.views.tracked(), cell.views.held(is_alive)
            behind = _Behind(cell.log, [one.position for one in tracked.values()])
            rows += [
                _status(cell.name, one, held.get(task), behind.of(one.position))
                for task, one in tracked.items()
            ]
    if json:
        out.as_json(rows)
        _whole(cells)
        return
    if not rows:
        out.talk("No worker has begun a view yet: mind work --once")
    several = any(row["cell"] for row in rows)
    out.table(
        [[*([row["cell"] or "–"] if several else []), *_columns(row)] for row in rows],
        [
            *(["cell"] if several else []),
            *("view", "shard", "position", "lag", "wrote last", "since", "now"),
        ],
        cut=("wrote last", "now"),
    )
    for row in rows:
        if row["trouble"]:
            out.talk(out.safe(row["trouble"]))
    _whole(cells)


@app.command()
def rebuild(
    views: Annotated[list[str] | None, typer.Argument(help="Their names.", metavar="VIEW")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All views.")] = False,
    shards: ShardsOption = None,
    store: StoreOption = None,
) -> None:
    """Throw the rows of a view away, and have workers make them again from the first event on.

    Workers that are running begin at once. Of a new version of a view this happens by itself.

    Example: mind work rebuild spending        mind work rebuild --all --shards 6
    """
    _only_now()
    if bool(views) == everything:
        raise BadSetting("Name the views to build anew, or say --all.")
    chosen = VIEWS if everything else tuple(_view(name) for name in views or ())
    with parts(store) as cells:
        if cells.away:
            raise CellsAreAway(cells.away, "No view was thrown away")
        for cell in cells.there:
            for view in chosen:
                cell.views.rebuild(view, shards)
    names = " and ".join(view.name for view in chosen)
    out.talk(f"Begun anew: {names}. Running workers do it now; without any: mind work --once")


# showing


def _whole(cells: Parts) -> None:
    """Say what is missing; raises CellsAreAway."""
    if cells.away:
        raise CellsAreAway(cells.away)


class _Behind:
    """How many events are behind positions; those of the store, whichever part they are of."""

    def __init__(self, log: EventLog, positions: list[int]) -> None:
        first = min(positions, default=log.position())
        self._newer = [event.position for event in islice(log.plain(first), COUNTED)]

    def of(self, position: int) -> int:
        """So many; of more than :data:`COUNTED` that many."""
        return len(self._newer) - bisect_right(self._newer, position)


def _status(cell: str | None, one: Tracked, holder: str | None, lag: int) -> dict[str, Any]:
    return {
        "cell": cell,
        "view": one.task.view,
        "shard": one.task.shard,
        "shards": one.shards,
        "version": one.version,
        "position": one.position,
        "lag": lag,
        "counted": lag < COUNTED,
        "owner": one.owner,
        "since": one.since,
        "leased_by": holder,
        "trouble": one.trouble,
    }


def _columns(row: Mapping[str, Any]) -> list[str]:
    return [
        row["view"],
        f"{row['shard']}/{row['shards']}",
        str(row["position"]),
        f"{row['lag']}{'' if row['counted'] else '+'}",
        _process(row["owner"]),
        out.when(row["since"]) if row["since"] else "–",
        _standing(row),
    ]


def _standing(row: Mapping[str, Any]) -> str:
    if row["trouble"]:
        return "stopped"
    return f"leased by {_process(row['leased_by'])}" if row["leased_by"] else "not leased"


def _process(holder: str | None) -> str:
    """``host:pid``."""
    if not holder:
        return "–"
    return holder.rpartition(":")[0] if holder.count(":") > 1 else holder


def _cell(column: Column, value: Any) -> str:
    if value is None:
        return "–"
    if column.type == "time":
        return out.when(value)
    return f"{value:.4f}" if column.type == "usd" else str(value)


def _events(lag: int) -> str:
    return f"{COUNTED:,} events or more" if lag >= COUNTED else out.count(lag, "event")


def _view(name: str) -> View:
    for view in VIEWS:
        if view.name == name:
            return view
    names = " and ".join(view.name for view in VIEWS)
    raise Refused(f"There is no view {name!r}: there are {names}.")


def _only_now() -> None:
    if MOMENT.get() is not None:
        raise Refused("Views are of now: leave mind at out.")


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="work")
