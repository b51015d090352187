"""Reading the events themselves, as they were recorded: log."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, NamedTuple, get_args

import typer

from cli import output as out
from cli.cells import at_its_cell
from cli.history import as_data
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from domain.actors import Who
from domain.errors import BadSetting, NoSuchMoment
from domain.events import EVENTS, REDACTED, Event, MindInvoked
from domain.nearest import similar
from domain.recorded import Recorded
from domain.refs import AtTime, parse_moment
from domain.sentences import there_are
from projections.audit import actors, acts
from projections.timeline import summary

SinceOption = Annotated[
    str | None, typer.Option("--since", help="Only what came after this moment.", metavar="REF")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", help="Only what came up to this moment.", metavar="REF")
]


NEWEST = 30
"""How many events are shown unless somebody says."""


class Match(NamedTuple):
    """Which events are asked for; all, unless something is said."""

    kinds: Sequence[str] = ()
    by: str | None = None
    text: str | None = None

    def takes(self, recorded: Recorded) -> bool:
        """Whether it is one of them."""
        return (
            (not self.kinds or recorded.event.kind in self.kinds)
            and acts(self.by, recorded.actor)
            and (self.text is None or holds(recorded, self.text))
        )


def log(
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", min=0, help=f"The newest so many, {NEWEST} unless said; 0 for all."
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", "-k", help="Only events of this kind.")
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option("--actor", help="Only what they did: user, user:ann …", metavar="ACTOR"),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    grep: Annotated[
        str | None,
        typer.Option("--grep", "-g", help="Only events with this text in them.", metavar="TEXT"),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-F", help="Go on with each new event until Ctrl-C.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the events, oldest first, one a line.

    Example: mind log --kind draft.emitted --since iter:10 --grep "spring tide"
    """
    check_kinds(kind or (), EVENTS)
    if until is not None and follow:
        raise BadSetting("What is to come has no --until: leave out either that or --follow.")
    match, shown, earlier = Match(kind or (), actor, grep), 0, False
    with (
        desk(store, session, any_stream=True) as whole,
        at_its_cell(whole) if follow else nullcontext(whole) as at,
    ):
        # before the look back, so that nothing falls between, and nothing is shown twice
        position = at.log.position() if follow else 0
        head = at.log.head(at.session).version
        after = moment_here(at, since) if since is not None else 0
        ends = [head if at.version is None else at.version]
        ends += [moment_here(at, until)] if until is not None else []
        found = _newest(at, match, NEWEST + 1 if count is None else count, after, min(ends))
        if count is None:
            every = list(found)
            found, earlier = iter(every[-NEWEST:]), len(every) > NEWEST
        shown = _list(found, json=json)
        if earlier:
            out.talk(f"These are the newest {NEWEST}: -n 0 shows all.")
        if follow:
            sys.stdout.flush()
            with suppress(KeyboardInterrupt):  # the way to end it, also while a line is printed
                _list(_coming(at, match, position, max(head, after)), json=json)
        elif not shown and actor is not None:
            check_actor(at, actor)
    if not shown and not follow:
        out.talk("No event matches.")


def moment_here(at: Desk, ref: str) -> int:
    """The version of a moment of this session; 0 for a time before it began.

    Raises:
        BadSetting: it is a moment of another session.
    """
    try:
        name, version = at.moment(ref)
    except NoSuchMoment:
        named, wanted = parse_moment(ref)
        if not isinstance(wanted, AtTime):
            raise
        name, version = named or at.session, 0
    if name != at.session:
        raise BadSetting(f"{ref!r} is no moment of {at.session}: name one of that session.")
    return version


def instant(ref: str | None) -> int | None:
    """The time that a ref names, in microseconds since 1970; None where it names no time."""
    wanted = parse_moment(ref).ref if ref is not None else None
    if not isinstance(wanted, AtTime):
        return None
    try:
        return int(wanted.time.astimezone().timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):  # at the ends of the calendar
        return None


def check_kinds(kinds: Sequence[str], known: Sequence[str] | dict[str, type[Event]]) -> None:
    """Make sure that these kinds can be found.

    Raises:
        BadSetting: one of them is none of the known.
    """
    for wanted in kinds:
        if wanted not in known:
            near = similar(wanted, known)
            meant = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
            )
            raise BadSetting(f"{wanted!r} is no kind of event: {meant}")


def check_actor(at: Desk, by: str) -> None:
    """Make sure that this is somebody, once nothing of theirs was found.

    Raises:
        BadSetting: nobody of that name ever acted here; the sentence names those who did.
    """
    if by in get_args(Who):
        return
    doers = actors(at.log, at.session, at.version)
    if not any(acts(by, doer) for doer in doers):
        names = there_are([str(doer) for doer in doers])
        raise BadSetting(f"Nobody acted as {by!r} in {at.session}: {names}.")


def holds(recorded: Recorded, text: str) -> bool:
    """Whether an event has a text in it, in capitals or not: in its line or in any of its fields.

    Raw output of a mind counts.
    """
    wanted = text.casefold()
    return wanted in line(recorded).casefold() or any(
        wanted in one.casefold() for one in _texts(recorded.event)
    )


def line(recorded: Recorded) -> str:
    """What happened, on one line, which says if it was taken away."""
    told = summary(recorded.event)
    return f"{REDACTED} {told}".rstrip() if recorded.redacted and REDACTED not in told else told


def _texts(event: Event) -> Iterator[str]:
    if isinstance(event, MindInvoked):
        yield event.output
    for name, value in event:
        if name != "kind":
            yield from _flat(value)


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, dict):
        yield from _flat([*value, *value.values()])


def _newest(at: Desk, match: Match, count: int, after: int, upto: int) -> Iterator[Recorded]:
    kinds = match.kinds or None
    if not count:
        events = at.log.read(at.session, after=after, upto=upto, kinds=kinds)
        yield from filter(match.takes, events)
        return
    every = match.by is None and match.text is None
    page = min(count, 512) if every else 128
    events = at.log.read(
        at.session, after=after, upto=upto, kinds=kinds, newest_first=True, page=page
    )
    yield from reversed(list(islice(filter(match.takes, events), count)))


def _coming(at: Desk, match: Match, position: int, after: int) -> Iterator[Recorded]:
    for recorded in at.log.follow(position, threading.Event(), _standing):
        if recorded.session != at.session or recorded.version <= after:
            continue
        if match.takes(recorded):
            yield recorded
            sys.stdout.flush()  # who reads a pipe waits for it


def _standing(away: str | None) -> None:
    out.talk(out.safe(away) if away else "The store is back, and nothing was missed.")


def _list(events: Iterator[Recorded], *, json: bool) -> int:
    """Print them as they come; how many there were."""
    shown = 0
    for shown, recorded in enumerate(events, 1):  # noqa: B007 — the last number is the answer
        if json:
            out.json_lines([as_data(recorded)])
            continue
        at = f"{datetime.fromtimestamp(recorded.at / 1e6).astimezone():%m-%d %H:%M:%S}"
        head = f"{recorded.version:>5}  {at}  {recorded.event.kind:<21}"
        room = out.width() - len(head) - 2 if sys.stdout.isatty() else sys.maxsize
        out.answer(
            out.shade(f"{recorded.version:>5}  {at}", "faint")
            + f"  {recorded.event.kind:<21}  {out.one_line(line(recorded), room)}"
        )
    return shown


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(log)
