"""Reading what happened: history, show."""

from typing import Annotated, Any

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from commands.moments import find_exchange
from domain.errors import BadSetting
from domain.events import DraftAccepted, MindInvoked
from domain.recorded import Recorded
from domain.refs import AtExchange, parse_moment
from projections.history import History, Turn


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
        "redacted": recorded.redacted,
        "data": fields,
    }


def show(
    ref: Annotated[str, typer.Argument(help="The moment.")] = "head",
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show one event with all its fields, and of an artifact the messages that it came from.

    Of an exchange it is the acceptance; while it is open, the message that it began with.

    Example: mind show draft:2        mind show effort:12
    """
    with desk(store, session) as at:
        where, version = at.moment(ref)
        (recorded,) = at.log.pick(where, [version])
        asked = parse_moment(ref).ref
        if isinstance(asked, AtExchange) and asked.draft is None:
            is_open = not isinstance(recorded.event, DraftAccepted)
            if is_open:
                recorded = find_exchange(at.log, where, asked.exchange, upto=version)
        messages = at.log.pick(where, getattr(recorded.event, "messages", ()))
    data = as_data(recorded)
    came_from = [as_data(message) for message in messages]
    if json:
        out.as_json({**data, "came_from": came_from} if came_from else data)
        return
    fields = data.pop("data")
    for one in came_from:
        fields[f"from {one['version']}, {one['kind']}"] = one["data"].get("text", "")
    for key, value in {**data, **fields}.items():
        text = _shown(value, fields.get("dimension"))
        if "\n" in text or len(text) > out.width():
            out.answer(out.shade(f"{key}:", "faint"))
            out.answer(out.block(text))
        else:
            out.answer(out.shade(f"{key}:", "faint") + f" {out.safe(text)}")


def _shown(value: Any, dimension: int | None) -> str:
    if not isinstance(value, bytes):
        return str(value)
    if dimension and len(value) % dimension == 0:
        return f"{dimension} numbers of {len(value) // dimension} bytes each (--json has them)"
    return value.hex()


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for verb in (history, show):
        app.command()(verb)
