"""Taking away for good what should not have been said: redact."""

import sys
from typing import Annotated

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from domain.errors import NoSuchMoment, NothingChanges, Refused
from domain.recorded import Recorded
from domain.refs import AtExchange, parse_moment
from projections.timeline import summary

LISTED = 8


def redact(
    ref: Annotated[
        str, typer.Argument(help="An event (a version, draft:2, …), or a whole exchange.")
    ],
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it later.")],
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="All other events of the store with this text too.")
    ] = False,
    only: Annotated[bool, typer.Option("--only", help="Leave those others as they are.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Remove what an event says, for good and from all branches; that it happened stays proved.

    Example: mind redact draft:2 --reason "It named a patient." --yes
    """
    from commands.redaction import copies, redact_events  # noqa: PLC0415 — rarely asked for
    from projections.analytics.place import forget  # noqa: PLC0415 — as above

    with desk(store, session) as at:
        at.only_now()
        chosen = _chosen(at, ref)
        others = [] if only else list(copies(at.log, chosen))
        if others and not everywhere:
            raise Refused(_where_else(others))
        chosen += others
        if not json:
            _list(chosen)
        _agreed(len(chosen), yes=yes)
        done = redact_events(at.log, chosen, reason, at.world)
        gone = forget(at.directory) and done.gone
    if json:
        out.as_json(
            {
                "redacted": [f"{r.session}@{r.version}" for r in done.events],
                "gone": gone,
            }
        )
    else:
        out.talk(f"Took away the content of {out.count(len(done.events), 'event')}.")
    if not gone:
        out.talk(
            "Old bytes are left in the store's files, since another program reads it or the disk"
            " is full: change that, and run mind doctor."
        )


def _chosen(at: Desk, ref: str) -> list[Recorded]:
    from commands.redaction import whole_exchange, with_its_reply  # noqa: PLC0415 — as above

    where, version = at.moment(ref)
    wanted = parse_moment(ref).ref
    if isinstance(wanted, AtExchange) and wanted.draft is None:
        chosen = whole_exchange(at.log, where, wanted.exchange, version)
        if not chosen:
            raise NothingChanges(f"All of {wanted.exchange} is redacted already.")
        return chosen
    chosen = with_its_reply(at.log, where, version)
    if not chosen:
        raise NoSuchMoment(where, ref, [])
    return chosen


def _list(chosen: list[Recorded]) -> None:
    for recorded in chosen:
        head = f"{recorded.session}@{recorded.version}  {recorded.event.kind}  "
        out.talk(head + out.one_line(summary(recorded.event), out.width() - len(head)))


def _agreed(count: int, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("This can't be undone: say --yes where nobody can be asked.")
    if not typer.confirm(f"Remove the content of {out.count(count, 'event')} for good?", err=True):
        raise Refused("Nothing was changed.")


def _where_else(others: list[Recorded]) -> str:
    where = ", ".join(f"{r.session}@{r.version}" for r in others[:LISTED])
    more = f" and {len(others) - LISTED} more" if len(others) > LISTED else ""
    return (
        f"The same text stands in {out.count(len(others), 'other event')} ({where}{more}):"
        " say --everywhere to remove it there too, or --only to leave it there."
    )


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(redact)
