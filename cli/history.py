"""Reading what happened: history, log, show."""

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from domain.errors import BadSetting
from domain.events import EVENTS, MindInvoked
from domain.recorded import Recorded
from domain.refs import AtExchange, parse_moment
from projections.history import History, Turn
from projections.timeline import summary


def history(
    ref: Annotated[
        str | None, typer.Argument(help="Up to this moment, one exchange, or A..B.")
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 10,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the accepted exchanges.

    Example: mind history -n 3 --full   or   mind history iter:10..iter:20
    """
    with desk(store, session) as at:
        turns = _turns(at, ref, count)
        if json:
            out.as_json([turn_data(turn) for turn in turns])
            return
        for turn in turns:
            _print(turn, full=full)
    if not turns:
        out.talk("No exchange has been accepted yet.")


def _turns(at: Desk, ref: str | None, count: int) -> list[Turn]:
    after, upto, wanted, name = 0, at.version, count, at.session
    if ref is not None:
        start, dots, end = ref.rpartition("..")
        name, upto = at.moment(end or "head")
        if dots:
            other, after = at.moment(start) if start else (name, 0)
            if other != name:
                raise BadSetting(f"Both ends of {ref!r} have to be moments of one session.")
        elif isinstance(parse_moment(ref).ref, AtExchange):
            wanted = 1
    past = History(at.log, name, upto, after=after)
    return past.newest(wanted) if wanted else list(past.all())


def turn_data(turn: Turn) -> dict[str, Any]:
    """An accepted exchange, for programs."""
    times = {"asked_at": out.iso(turn.asked_at), "accepted_at": out.iso(turn.accepted_at)}
    return {**turn._asdict(), **times}


def _print(turn: Turn, *, full: bool) -> None:
    notes = f"  {out.when(turn.accepted_at)}, draft {turn.index}"
    notes += ", auto-accepted" if turn.by == "auto-accept" else ""
    out.answer(out.shade(turn.exchange, "strong") + out.shade(notes, "faint"))
    lines = None if full else 6
    out.answer(out.shade(out.block(turn.question, lines=lines), "user"))
    out.answer(out.shade("  →", "faint"))
    out.answer(out.block(turn.answer, lines=lines))
    out.answer()


def log(
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 30,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", "-k", help="Only events of this kind.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-F", help="Go on with each new event until Ctrl-C.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the events, oldest first, one a line.

    Example: mind log --kind draft.emitted --kind draft.accepted
    """
    for wanted in kind or ():
        if wanted not in EVENTS:
            raise BadSetting(f"{wanted!r} is no kind of event: there are {', '.join(EVENTS)}.")
    with desk(store, session) as at:
        # before the look back, so that nothing falls between
        position = at.log.position()
        _list(_newest(at, count, kind), json=json)
        if follow:
            _list(_coming(at, position, kind), json=json)


def _newest(at: Desk, count: int, kinds: list[str] | None) -> Iterator[Recorded]:
    if not count:
        yield from at.log.read(at.session, upto=at.version, kinds=kinds)
        return
    newest = at.log.read(
        at.session, upto=at.version, kinds=kinds, newest_first=True, page=min(count, 512)
    )
    yield from reversed([recorded for recorded, _ in zip(newest, range(count), strict=False)])


def _coming(at: Desk, position: int, kinds: list[str] | None) -> Iterator[Recorded]:
    stop = threading.Event()
    try:
        for recorded in at.log.follow(position, stop):
            if recorded.session == at.session and (not kinds or recorded.event.kind in kinds):
                yield recorded
    except KeyboardInterrupt:
        stop.set()


def _list(events: Iterator[Recorded], *, json: bool) -> None:
    if json:
        out.json_lines(as_data(recorded) for recorded in events)
        return
    for recorded in events:
        at = f"{datetime.fromtimestamp(recorded.at / 1e6).astimezone():%m-%d %H:%M:%S}"
        head = f"{recorded.version:>5}  {at}  {recorded.event.kind:<21}"
        room = out.width() - len(head) - 2
        out.answer(
            out.shade(f"{recorded.version:>5}  {at}", "faint")
            + f"  {recorded.event.kind:<21}  {out.one_line(summary(recorded.event), room)}"
        )


def as_data(recorded: Recorded) -> dict[str, Any]:
    """An event with its envelope, for programs."""
    event = recorded.event
    fields = event.model_dump(exclude={"kind"})
    if isinstance(event, MindInvoked):
        fields["raw"] = event.output
    return {
        "session": recorded.session,
        "version": recorded.version,
        "position": recorded.position,
        "at": out.iso(recorded.at),
        "actor": str(recorded.actor),
        "command": recorded.command,
        "cause": recorded.cause,
        "kind": event.kind,
        "data": fields,
    }


def show(
    ref: Annotated[str, typer.Argument(help="The moment.")] = "head",
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show one event with all its fields.

    Example: mind show draft:2
    """
    with desk(store, session) as at:
        where, version = at.moment(ref)
        (recorded,) = at.log.pick(where, [version])
    data = as_data(recorded)
    if json:
        out.as_json(data)
        return
    fields = data.pop("data")
    for key, value in {**data, **fields}.items():
        text = value.hex() if isinstance(value, bytes) else str(value)
        if "\n" in text or len(text) > out.width():
            out.answer(out.shade(f"{key}:", "faint"))
            out.answer(out.block(text))
        else:
            out.answer(out.shade(f"{key}:", "faint") + f" {out.safe(text)}")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (history, log, show):
        app.command()(verb)
