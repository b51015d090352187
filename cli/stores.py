"""Where stores are, and how they stand: store migrate, status, copy, add-cell."""

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.rebuild import INTERRUPTED, progress
from cli.wiring import find_store
from commands.eventlog.copy import Copied, StoreCopy
from commands.eventlog.place import Place, address_of, place_of
from commands.eventlog.status import Said, Status, keep_writers_apart, statuses
from domain.errors import BadSetting, Broken, Refused
from domain.reach import Away
from domain.server_errors import CellsAreAway

app = typer.Typer(no_args_is_help=True, help="Stores: in a directory, or on a PostgreSQL server.")

_HAS_COLOUR: dict[str, out.Shade] = {"well": "good", "warning": "strong", "bad": "strong"}


PlaceArgument = Annotated[
    Place | None,
    typer.Argument(parser=place_of, help="The store, instead of --store.", metavar="PLACE"),
]


@app.command()
def migrate(
    place: PlaceArgument = None,
    positions: Annotated[
        str | None,
        typer.Option(
            "--positions",
            help="How positions are numbered from now on: dense, or by transaction.",
            metavar="dense|transaction",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Bring the tables of a store on a server to this version; make them where there are none.

    Besides mind init, mind store copy and mind store add-cell, which make those of a new place, no
    command creates or changes tables: whoever uses the store, workers included, needs no right to.
    Tables of views that are of an older version are made anew, and workers fill them. It can be
    said again, and by many at once. After a restore of a server's backup it sees to it that
    positions go on growing.

    Example: mind store migrate postgresql://ann@db.example.org/thinking
    """
    if positions not in {None, "dense", "transaction"}:
        raise BadSetting(f"Positions are numbered dense or by transaction, not {positions!r}.")
    chosen = _chosen(place, store)
    if chosen.url is None:
        _migrate_file(chosen, positions)
        return
    from cli.kept_views import make_tables  # noqa: PLC0415 — rarely needed
    from commands.eventlog.postgres.layout import LAYOUT  # noqa: PLC0415 — brings psycopg
    from commands.eventlog.postgres.migrating import migrate_all  # noqa: PLC0415 — as above

    by_transaction = None if positions is None else positions == "transaction"
    for done in migrate_all(chosen.address, by_transaction=by_transaction):
        where, views = done.address.shown, make_tables(done.address)
        if done.found is None:
            out.talk(f"Made the tables of an empty store in {where}, layout {LAYOUT}.")
            out.talk(f'Next: mind init {where} "…"')
        elif done.found != LAYOUT:
            out.talk(f"Brought the tables in {where} from layout {done.found} to {LAYOUT}.")
        elif views:
            names = " and ".join(views)
            out.talk(f"Made the tables of views in {where} ({names}): mind work fills them.")
        elif positions is None:
            out.talk(f"Nothing to do: the tables in {where} are of layout {LAYOUT} already.")
    if positions is not None:
        how = "by transaction" if by_transaction else "densely"
        out.talk(f"Positions are numbered {how} from now on.")


def _chosen(place: Place | None, store: Place | None) -> Place:
    """The store that is meant, named in either way or in none.

    Raises:
        BadSetting: two are named.
        NoStore, BadPlace: there is none.
    """
    if place is not None and store is not None and place != store:
        raise BadSetting("Name the store once: as PLACE or with --store.")
    return find_store(place or store)


def _migrate_file(place: Place, positions: str | None) -> None:
    if positions == "transaction":
        raise BadSetting("Transactions number positions on a PostgreSQL server only.")
    if keep_writers_apart(place):
        out.talk(f"Readers and writers of {place} don't wait for each other any more.")
    else:
        out.talk(f"Nothing to do: the store in {place} is in a directory, as it was made.")


@app.command("add-cell")
def add_cell(
    name: Annotated[str, typer.Argument(help="What it is called: small letters, digits, '-'.")],
    address: Annotated[str, typer.Argument(help="Where it is: postgresql://…", metavar="ADDRESS")],
    store: StoreOption = None,
) -> None:
    """Let sessions that begin from now on be on another server, too; those there are stay.

    A session and all that branch off it are on one server; which, its name decides.

    Example: mind store add-cell b postgresql://ann@db-b.example.org/thinking
    """
    place = find_store(store)
    if place.url is None or place_of(address).url is None:
        raise Refused(
            "Cells are PostgreSQL servers: copy the store to one first (mind store copy), then"
            " give the address of another."
        )
    from cli.kept_views import make_tables  # noqa: PLC0415 — rarely needed
    from commands.eventlog.postgres.new_cell import add_cell as add  # noqa: PLC0415 — psycopg

    add(place.address, name, address)
    make_tables(address_of(address))
    out.talk(f"Sessions that begin from now on may be in the cell {name}, too.")


@app.command()
def status(place: PlaceArgument = None, store: StoreOption = None, json: JsonFlag = False) -> None:
    """Show where a store is, how large, how far along, and what survives the loss of a machine.

    Example: mind store status
    """
    found = statuses(_chosen(place, store))
    if json:
        rows = [_as_data(one) | {"behind": _behind(one)} for one in found.parts]
        out.as_json([*rows, *map(_away, found.away)])
    else:
        for number, one in enumerate(found.parts):
            if number:
                out.answer()
            _tell(one, _behind(one))
        for cell in found.away:
            out.answer()
            _rows([("store", cell.where), ("cell", cell.cell), ("sessions", cell.counted)])
            out.answer(out.shade(out.safe(cell.why), "strong"))
    if found.away:
        raise CellsAreAway(found.away)
    bad = [said.sentence for one in found.parts for said in one.said if said.how == "bad"]
    if bad:
        raise Broken(bad[0])


def _away(one: Away) -> dict[str, Any]:
    """A cell that does not answer: what the directory knows of it, and nothing else."""
    said = Said("bad", one.why)._asdict()
    known = {"where": one.where, "kind": "postgresql", "cell": one.cell, "said": [said]}
    return dict.fromkeys((*Status._fields, "behind")) | known | {"sessions": len(one.sessions)}


def _as_data(one: Status) -> dict[str, Any]:
    return {
        **one._asdict(),
        "standbys": [standby._asdict() for standby in one.standbys],
        "said": [said._asdict() for said in one.said],
    }


def _tell(one: Status, behind: dict[str, int]) -> None:
    kind = "SQLite" if one.kind == "sqlite" else "PostgreSQL"
    numbered = "" if one.numbered == "densely" else f", numbered {one.numbered}"
    rows = [
        ("store", f"{one.where}, {kind} {one.version}, layout {one.layout}"),
        ("cell", one.cell or ""),
        ("id", one.id or ""),
        ("events", f"{one.events:,}, the newest at position {one.position:,}{numbered}"),
        ("sessions", _sessions(one)),
        ("redacted", out.count(one.redactions, "event") if one.redactions else ""),
        ("sizes", ", ".join(f"{what} {_size(size)}" for what, size in one.sizes.items())),
        ("here", str(one.home) if one.kind == "postgresql" else ""),
        ("standby", one.standby_of or ""),
        *((f"standby {standby.name}", _standby(standby)) for standby in one.standbys),
        ("settings", ", ".join(f"{name}={value or '–'}" for name, value in one.settings.items())),
        ("behind", ", ".join(f"{what} {n:,}" for what, n in behind.items() if n)),
    ]
    _rows([(what, told) for what, told in rows if told])
    for said in one.said:
        line = out.safe(said.sentence)
        out.answer(out.shade(line, _HAS_COLOUR[said.how]) if said.how in _HAS_COLOUR else line)


def _rows(rows: Sequence[tuple[str, str]]) -> None:
    room = max(len(what) for what, _ in rows)
    for what, told in rows:
        out.answer(f"{out.safe(what):{room}}  {out.safe(told)}")


def _sessions(one: Status) -> str:
    others = one.streams - one.sessions
    more = f", and {out.count(others, 'other stream')}" if others else ""
    return f"{one.sessions:,}{more}"


def _standby(one: Any) -> str:
    if one.state is None:
        return "hidden from this role"
    behind = f"{_size(one.bytes)} behind" if one.bytes else "has everything"
    late = f", {one.seconds:.1f} s" if one.bytes and one.seconds is not None else ""
    return f"{one.state}, {one.sync_state}, {behind}{late}"


def _size(size: int) -> str:
    amount, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):  # noqa: B007 — the last one that fits
        if amount < 1000:
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


def _behind(one: Status) -> dict[str, int]:
    """How many positions what is kept on this machine is behind, by what it is."""
    from projections.search.standing import position_of  # noqa: PLC0415 — for this verb alone

    found = {"search": position_of(one.home), "analytics": _analytics(one)}
    return {
        what: max(0, one.position - position)
        for what, position in found.items()
        if position is not None
    }


def _analytics(one: Status) -> int | None:
    from projections.analytics.place import FILE  # noqa: PLC0415 — for this verb alone

    if not (one.home / FILE).exists():
        return None
    from projections.analytics import database  # noqa: PLC0415 — brings DuckDB

    try:
        connection = database.connect(one.home / FILE, read_only=True)
    except Exception:  # noqa: BLE001 — not installed, being written, torn: all the same here
        return None
    try:
        found = database.status(connection)
    finally:
        connection.close()
    return found.position if found is not None else None


@app.command()
def copy(
    source: Annotated[
        Place, typer.Argument(parser=place_of, help="A store: nothing is written.", metavar="FROM")
    ],
    target: Annotated[
        Place,
        typer.Argument(
            parser=place_of,
            help="A place without a store, or with an earlier state of this one.",
            metavar="TO",
        ),
    ],
    json: JsonFlag = False,
) -> None:
    """Copy a store, between directories and servers: the same events, positions and hashes.

    Others may go on meanwhile: what is copied is one moment, and saying it again brings what came
    since. A copy that was broken off goes on where it was; until it is whole and proved, nothing
    takes it for a store.

    Example: mind store copy ./thinking postgresql://ann@db.example.org/thinking
    """
    began = time.monotonic()
    try:
        with StoreCopy(source, target) as work:
            with progress("Copying") as told:
                work.fill(told)
            with progress("Proving") as told:
                copied = work.prove(told)
        if copied.redacted:
            _forget(target)
        if target.url is not None:
            from cli.kept_views import make_tables  # noqa: PLC0415 — for servers alone

            make_tables(target.address)
    except KeyboardInterrupt:
        out.talk("Broken off: the same command goes on from here.")
        sys.exit(INTERRUPTED)
    seconds = time.monotonic() - began
    if json:
        data = {**copied._asdict(), "seconds": round(seconds, 3)}
        out.as_json({"from": str(source), "to": str(target), **data})
        return
    _tell_copied(source, target, copied, seconds)


def _tell_copied(source: Place, target: Place, copied: Copied, seconds: float) -> None:
    what = "an empty store" if not copied.events else out.count(copied.events, "event")
    if copied.new == copied.events:
        out.talk(f"Copied {what} of {source} to {target} in {seconds:.1f} s.")
    elif copied.new:
        new = out.count(copied.new, "new event")
        out.talk(f"Copied {new} of {what} of {source} to {target} in {seconds:.1f} s.")
    else:
        out.talk(f"Nothing new: {target} holds all that {source} does.")
    if copied.redacted:
        out.talk(f"Redacted there as well: {out.count(copied.redacted, 'event')}.")
    if copied.proved:
        many = copied.streams
        heads = "head of its stream is" if many == 1 else f"heads of all {many} streams are"
        out.talk(
            f"Proved: {out.count(copied.proved, 'event')} as written, up to position"
            f" {copied.position}, and the {heads} the same."
        )


def _forget(target: Place) -> None:
    """Leave nothing of what was redacted in what is kept beside the copy."""
    from commands.eventlog import EventLog  # noqa: PLC0415 — rarely needed
    from projections.analytics.place import forget  # noqa: PLC0415 — as above
    from projections.search.index import forget as forget_texts  # noqa: PLC0415 — as above

    with EventLog(target) as log:
        forget(log.place.home)
        forget_texts(log, log.place.home)


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="store")
