"""All chats at a glance: dashboard."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import current_session, open_store

if TYPE_CHECKING:
    from projections.dashboard import Dashboard, Seen


def dashboard(
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Archived sessions as well.")
    ] = False,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="So many facts at most.")] = 10,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Show what goes on in all chats: open efforts, what was learned lately, what is to come.

    Example: mind dashboard
    """
    from projections.dashboard import dashboard as glance  # noqa: PLC0415 — as the verb is called
    from projections.tree import branches, visible  # noqa: PLC0415

    with open_store(store) as (directory, log):
        found = branches(log)
        current = current_session(directory, log) if found else None
        shown = found if everything else visible(found, current)
        now = datetime.now().astimezone().isoformat()
        seen = glance(log, [branch.session for branch in shown], now, count)
    if json:
        out.as_json({name: [_as_data(one) for one in part] for name, part in _parts(seen)})
        return
    for name, part in _parts(seen):
        out.answer(out.shade(name.replace("_", " "), "strong"))
        for one in part:
            out.answer("  " + out.one_line(_line(one), out.width() - 2))
        if not part:
            out.answer("  none")


def _parts(seen: "Dashboard") -> "list[tuple[str, tuple[Seen, ...]]]":
    return [
        ("open_efforts", seen.efforts),
        ("recent_facts", seen.facts),
        ("upcoming_events", seen.events),
    ]


def _line(one: "Seen") -> str:
    times = [*([one.when] if one.when else []), *([f"until {one.expires}"] if one.expires else [])]
    time = f"{', '.join(times)}  " if times else ""
    where = f"{one.sessions[0]}@{one.id}"
    also = f" (in {len(one.sessions)} branches)" if len(one.sessions) > 1 else ""
    origin = f" (from {one.origin})" if one.origin else ""
    return f"{where}{also}  {time}{one.text}{origin}"


def _as_data(one: "Seen") -> dict[str, Any]:
    return {**one._asdict(), "at": out.iso(one.at)}


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(dashboard)
