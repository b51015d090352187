"""Sessions among each other: sessions, switch, rename, archive."""

import codecs
import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import (
    chosen_session,
    current_session,
    desk,
    first_of,
    open_store,
    switch_session,
)
from commands.eventlog import EventLog
from commands.sessions import ArchiveSession, RenameSession, RestoreSession
from domain.artifacts import Artifact
from domain.errors import NoSuchSession, Refused
from domain.ids import SessionId, session_id
from domain.reach import Away
from domain.server_errors import CellsAreAway
from projections.tree import Branch, Place, Twig, branch, branches, drawn, visible

_HEADER = ("  session", "branched off", "events", "iter", "state", "active", "label", "title")

_CUT = ("branched off", "title")
_SPARE = ("iter", "events", "branched off", "label", "title", "active")
"""What is shortened where a terminal is too narrow, and what is left out, the first one first."""

_LINES = {True: ("├─ ", "└─ ", "│  "), False: ("|- ", "`- ", "|  ")}
"""A branch, the last one, and what runs past deeper ones: where UTF-8 is shown, and elsewhere."""

_COLUMNS = (
    *("session", "current", "archived", "title", "parent", "branched_off", "version", "events"),
    *("iterations", "state", "exchange", "drafts", "label", "label_version", "updated", "away"),
)

_LEVELS = 12
"""Branches of branches that are drawn apart; beyond, a number says how many more there are."""


def sessions(
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Archived sessions as well.")
    ] = False,
    graph: Annotated[
        bool, typer.Option("--graph", help="The tree, with the open efforts of each instead.")
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Draw the tree of sessions: what branched off where, and how far each has come.

    Example: mind sessions        mind sessions --graph        mind sessions --all --json
    """
    with open_store(store) as (directory, log):
        there = log.reached("session")
        found = branches(log, there.streams)
        current = chosen_session(directory) or first_of(log, there)
        shown = found if everything else visible(found, current)
        efforts = {each.session: _efforts(log, each.session) for each in shown if graph}
    if json:
        rows = [_as_data(each, current) for each in shown]
        for row in rows if graph else ():
            row["open_efforts"] = [{"id": a.id, "goal": a.text} for a in efforts[row["session"]]]
        out.as_json([*rows, *_out_of_reach(there.away, current)])
    elif graph:
        for twig in drawn(shown):
            _draw(twig, efforts[twig.branch.session], current)
    else:
        _print([(twig.branch, _row(twig, current)) for twig in drawn(shown)], current)
    hidden = len(found) - len(shown)
    if hidden and not json:
        out.talk(f"{out.count(hidden, 'archived session')} not shown: mind sessions --all")
    if there.away:
        raise CellsAreAway(there.away)


def _out_of_reach(
    away: Sequence[Away], current: SessionId | None
) -> Iterable[dict[str, str | bool | None]]:
    """What is known of sessions whose cell does not answer."""
    for cell in away:
        for session in cell.sessions:
            known = {"session": session, "current": session == current, "away": cell.cell}
            yield dict.fromkeys(_COLUMNS) | known


def _efforts(log: EventLog, session: SessionId) -> list[Artifact]:
    """What a session is to achieve itself; what it inherited stands with its parent."""
    own = log.path(session)[0]
    return [effort for effort in log.state(session).shelf.open_efforts if effort.id > own.after]


def _draw(twig: Twig, efforts: Sequence[Artifact], current: SessionId | None) -> None:
    """A branch with where it left its parent, and a line for each of its efforts."""
    each = twig.branch
    mark = "* " if each.session == current else "  "
    away = " (archived)" if each.archived else ""
    left = f"  {_told(each.fork)}" if each.fork else ""
    out.answer(_fitting(f"{mark}{_lines(twig.last)}{each.session}{away}{left}"))
    inner = f"  {_lines((*twig.last, False))}"[: -len("├─ ")] if twig.last else "  "
    for effort in efforts:
        out.answer(_fitting(f"{inner}   effort {effort.id}: {out.one_line(effort.text, 200)}"))


def _row(twig: Twig, current: SessionId | None) -> tuple[str, ...]:
    each, now = twig.branch, twig.branch.now
    mark = "* " if each.session == current else "  "
    away = " (archived)" if each.archived else ""
    title = each.title if each.titled and each.title != each.session else ""
    return (
        f"{mark}{_lines(twig.last)}{each.session}{away}",
        _told(each.fork) if each.fork else "",
        str(each.events),
        str(now.iteration),
        out.drafted(now.drafts, open_=now.drafting),
        out.when(each.at)[: -len(":00")],
        f"@{each.label}" if each.label else "",
        out.one_line(title, 200),
    )


def _lines(last: Sequence[bool]) -> str:
    """What leads from the root to a branch."""
    if not last:
        return ""
    step, end, past = _LINES[_is_utf8()]
    deeper = len(last) - _LEVELS
    pieces = ["   " if gone else past for gone in last[:-1]]
    drawing = "".join(pieces[-_LEVELS + 1 :]) + (end if last[-1] else step)
    return drawing if deeper <= 0 else f"+{deeper} {drawing[len(f'+{deeper} ') :]}"


def _is_utf8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def _told(place: Place) -> str:
    """A moment in the words of the dialogue."""
    if place.exchange is None:
        return f"@{place.version}"
    if not place.drafting:
        return f"@{place.version} after {place.exchange}"
    draft = f"draft {place.drafts} of" if place.drafts else "in"
    return f"@{place.version} {draft} {place.exchange}"


def _print(rows: Sequence[tuple[Branch, tuple[str, ...]]], current: SessionId | None) -> None:
    """Columns as in other lists, each row in a shade of its own."""
    if not rows:
        return
    cells = [_HEADER, *(row for _, row in rows)]
    # columns in which nothing stands, such as that of the labels, are left out
    columns = [column for column in zip(*cells, strict=True) if any(column[1:])]
    at = {column[0]: number for number, column in enumerate(columns)}
    cut, spare = ([at[name] for name in names if name in at] for names in (_CUT, _SPARE))
    cells = list(zip(*columns, strict=True))
    fitting = out.columns(cells, cut, spare) or map(out.GAP.join, cells)
    header, *lines = map(_fitting, fitting)
    out.answer(out.shade(header, "faint"))
    for (each, _), line in zip(rows, lines, strict=True):
        if each.archived:
            out.answer(out.shade(line, "faint"))
        elif each.session == current:
            out.answer(out.shade(line, "strong"))
        else:
            out.answer(line)


def _fitting(line: str) -> str:
    """A line in what the encoding of stdout has, cut where a terminal ends."""
    line = out.safe(line).rstrip()
    columns = get_terminal_size().columns
    if sys.stdout.isatty() and len(line) > columns:
        line = line[: columns - 1] + "…"
    encoding = sys.stdout.encoding or "ascii"
    return line.encode(encoding, "replace").decode(encoding)


def _as_data(each: Branch, current: SessionId | None) -> dict[str, Any]:
    fork, now = each.fork, each.now
    return dict.fromkeys(_COLUMNS) | {
        "session": each.session,
        "current": each.session == current,
        "archived": each.archived,
        "title": each.title,
        "parent": f"{each.parent}@{fork.version}" if fork else None,
        "branched_off": fork._asdict() if fork else None,
        "version": now.version,
        "events": each.events,
        "iterations": now.iteration,
        "state": "drafting" if now.drafting else "idle",
        "exchange": now.exchange,
        "drafts": now.drafts,
        "label": each.label,
        "label_version": each.label_version,
        "updated": out.iso(each.at),
    }


def switch(
    name: Annotated[str, typer.Argument(help="The session.")], store: StoreOption = None
) -> None:
    """Work on another session from now on.

    Example: mind switch what-if
    """
    with open_store(store) as (directory, log):
        chosen = session_id(name)
        if not log.exists(chosen):
            raise NoSuchSession(chosen, log.reached("session").names)
        away = branch(log, chosen).archived
        switch_session(directory, chosen)
    note = f", which is archived (mind archive --undo {chosen} brings it back)" if away else ""
    out.talk(f"Working on {chosen}{note}.")


def rename(
    title: Annotated[str, typer.Argument(help="The title.")],
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Give a session another title; its name stays, since others refer to it.

    Example: mind rename "Why there are two tides"
    """
    with desk(store, session) as at:
        new = at.do(RenameSession(title=title)).state.title
    out.talk(f"The title of {at.session} is {out.one_line(new, 200)!r} now.")


def archive(
    name: Annotated[str | None, typer.Argument(help="The session; the current one.")] = None,
    reason: Annotated[
        str | None, typer.Option(help="Why, for whoever reads it later.", metavar="TEXT")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Bring it back.")] = False,
    store: StoreOption = None,
) -> None:
    """Put a session away: lists hide it, nothing is deleted, and it can be brought back.

    Example: mind archive what-if --reason "a dead end"        mind archive --undo what-if
    """
    if undo and reason is not None:
        raise Refused("A reason is given for archiving: leave out --reason, or --undo.")
    with desk(store, name) as at:
        current = current_session(at.directory, at.log)
        at.do(RestoreSession() if undo else ArchiveSession(reason=reason))
    if undo:
        out.talk(f"{at.session} is back.")
    elif at.session == current:
        out.talk(f"{at.session} is archived, and still the one you work on: mind switch NAME.")
    else:
        out.talk(f"{at.session} is archived: mind archive --undo {at.session} brings it back.")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (sessions, switch, rename, archive):
        app.command()(verb)
