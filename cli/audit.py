"""The whole intervention history of a session: audit."""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Any

import typer

from cli import output as out
from cli.log import SinceOption, UntilOption, check_actor, check_kinds, instant, moment_here
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from domain.errors import BadSetting
from projections.audit import KINDS, Audit, Intervention, Wanted

_COLUMNS = (
    *("at", "actor", "command", "session", "version", "last", "kinds"),
    *("what", "effect", "wish"),
)


def audit(
    name: Annotated[
        str | None, typer.Argument(help="The session; the present one by default.", metavar="NAME")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Only what they did: user, user:ann, agent:hook …", metavar="ACTOR"
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", "-k", help="Only what became events of this kind."),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 0,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, safe for spreadsheets.")] = False,
) -> None:
    """Show who did what to a session, when, through which command, and what came of it.

    What was inherited from the sessions that it branched off is part of it. What the mind does by
    itself is not: a run is one intervention. In CSV, a cell that a spreadsheet would take for a
    formula begins with an apostrophe.

    Example: mind audit --by user:ann --since iter:10 --csv
    """
    if json and csv:
        raise BadSetting("Choose one of --json and --csv.")
    if name is not None and session not in {None, name}:
        raise BadSetting(f"Name one session: {name!r} or {session!r}.")
    check_kinds(kind or (), sorted(KINDS))
    with desk(store, name or session) as at:
        rows = _wanted(at, by, since, until, kind or (), count)
        first = next(rows, None)
        if first is None and by is not None:
            check_actor(at, by)
        if first is None:
            out.talk("There is no such intervention.")
        found = chain([first] if first is not None else [], rows)
        if json:
            out.as_json([as_data(row) for row in found])
        elif csv:
            _print_csv(found)
        elif full:
            _print_full(found, at)
        else:
            _print(found, at)


def _wanted(
    at: Desk,
    by: str | None,
    since: str | None,
    until: str | None,
    kinds: list[str] | tuple[str, ...],
    count: int,
) -> Iterator[Intervention]:
    wanted = Wanted(
        by,
        kinds,
        moment_here(at, since) if since is not None else 0,
        moment_here(at, until) if until is not None else None,
        instant(since),
        instant(until),
    )
    told = Audit(at.log, at.session, at.version)
    return iter(told.newest(count, wanted)) if count else told.all(wanted)


def as_data(row: Intervention) -> dict[str, Any]:
    """An intervention for programs, with each of its deeds."""
    return {
        "at": out.iso(row.at),
        "actor": str(row.actor),
        "command": row.command,
        "session": row.session,
        "version": row.version,
        "last": row.last,
        "wish": row.wish,
        "kinds": row.kinds,
        "what": row.what,
        "effect": row.effect,
        "deeds": [
            {
                "version": deed.version,
                "kind": deed.kind,
                "what": deed.what,
                "effect": deed.effect,
                "redacted": deed.redacted,
                "facts": deed.facts,
            }
            for deed in row.deeds
        ],
    }


def _print(rows: Iterable[Intervention], at: Desk) -> None:
    """One line each."""
    out.table(
        [
            (_place(row, at), out.when(row.at), str(row.actor), row.command, row.what, row.effect)
            for row in rows
        ],
        ("event", "when", "who", "command", "what", "effect"),
        cut=("what", "effect"),
        spare=("command", "effect"),
    )


def _print_full(rows: Iterable[Intervention], at: Desk) -> None:
    """With nothing cut, as they come."""
    for row in rows:
        marks = f"  {out.when(row.at)}, {out.safe(str(row.actor))}, {row.command}"
        out.answer(out.shade(_place(row, at), "strong") + out.shade(marks, "faint"))
        for deed in row.deeds:
            out.answer(out.block(deed.what) if deed.what else out.shade(f"  {deed.kind}", "faint"))
            if deed.effect:
                out.answer(out.shade(out.block(f"→ {deed.effect}", indent="    "), "faint"))


def _place(row: Intervention, at: Desk) -> str:
    """Its version, and the session where it lives if that is another one."""
    return f"{row.version}" if row.session == at.session else f"{row.session}@{row.version}"


def _print_csv(rows: Iterable[Intervention]) -> None:
    from csv import writer  # noqa: PLC0415 — for this one way to print

    lines = writer(sys.stdout)
    lines.writerow(_COLUMNS)
    for row in rows:
        data = as_data(row)
        data |= {"kinds": " ".join(row.kinds), "wish": row.wish.hex()}
        lines.writerow([no_formula(out.safe(str(data[column]))) for column in _COLUMNS])


def no_formula(cell: str) -> str:
    """The cell, with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(audit)
