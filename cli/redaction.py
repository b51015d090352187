"""Taking away for good what should not have been said: redact."""

import sys
from typing import Annotated

import typer

from cli import output as out
from cli.cells import forget_caches
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from domain.errors import NoSuchMoment, NothingChanges, Refused
from domain.recorded import Recorded
from domain.refs import AtExchange, parse_moment
from domain.server_errors import CellsAreAway
from projections.timeline import summary

LISTED = 8

_NOT_EVERYWHERE = "The same text can't be looked for everywhere"
_OR_ONLY = "say it again (--only would leave there whatever holds it)"


def redact(
    ref: Annotated[
        str, typer.Argument(help="An event (a version, draft:2, …), or a whole exchange.")
    ],
    reason: Annotated[str, typer.Option(help="Why, for whoever reads it later.")],
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere", help="All else in the store that has this text or was made of it, too."
        ),
    ] = False,
    only: Annotated[bool, typer.Option("--only", help="Leave those others as they are.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Remove what an event says, for good and from all branches; that it happened stays proved.

    What holds the very words goes along: the reply they came from, a look of the detector at them,
    an artifact that was edited or recalled. Artifacts and summaries that were made of a message are
    named, as are copies in other sessions.

    Example: mind redact draft:2 --reason "It named a patient." --yes
    """
    from commands.artifacts.traces import traces  # noqa: PLC0415 — rarely asked for
    from commands.redaction import copies, redact_events  # noqa: PLC0415 — as above

    with desk(store, session, any_stream=True) as at:
        at.only_now()
        chosen, there = _chosen(at, ref), at.log.reached("session")
        if there.away and not only:
            raise CellsAreAway(there.away, _NOT_EVERYWHERE, _OR_ONLY)
        found = traces(at.log, chosen, there.streams)
        chosen += found.same
        others = list(found.made)
        if not only:
            others += copies(at.log, [*chosen, *found.made])
            if others and not everywhere:
                raise Refused(_where_else(others))
            chosen += others
        if not json:
            _list(chosen)
        _agreed(len(chosen), yes=yes)
        done = redact_events(at.log, chosen, reason, at.world)
        gone = all((forget_caches(at.log), done.gone))
    if json:
        out.as_json(
            {
                "redacted": [f"{r.session}@{r.version}" for r in done.events],
                "gone": gone,
                "left": [f"{r.session}@{r.version}" for r in others if only],
                "away": [one._asdict() for one in there.away],
            }
        )
    else:
        out.talk(f"Took away the content of {out.count(len(done.events), 'event')}.")
        if only and others:
            out.talk(f"Left as it is, though it was made of that: {_names(others)}.")
    if not gone:
        out.talk(
            "Old bytes are left in the store's files, since another program reads it or the disk"
            " is full: change that, and run mind doctor."
            if at.log.place.url is None
            else "Old bytes are left in the server's files, its write-ahead log, standbys and"
            " backups until they are overwritten: docs/scale.md says what its owner can do."
        )
    if there.away:
        raise CellsAreAway(there.away, "What was made of it was not looked for everywhere")


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
    return (
        "The same text, or what was made of it, stands in"
        f" {out.count(len(others), 'other event')} ({_names(others)}): say --everywhere to remove"
        " it there too, or --only to leave it there."
    )


def _names(others: list[Recorded]) -> str:
    where = ", ".join(f"{r.session}@{r.version}" for r in others[:LISTED])
    return where + (f" and {len(others) - LISTED} more" if len(others) > LISTED else "")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(redact)
