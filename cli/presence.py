"""The user's attention: signal."""

from typing import Annotated, cast, get_args

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import desk
from commands.presence import SetSignal
from domain.errors import BadSetting
from domain.events import SignalChanged
from domain.protocol.view import Presence

_STATES = get_args(Presence)


def signal(
    status: Annotated[str | None, typer.Argument(help="What you are doing.")] = None,
    presence: Annotated[
        str | None, typer.Option("--presence", "-p", help="absent, reviewing or engaged: a, r, e.")
    ] = None,
    history: Annotated[bool, typer.Option("--all", "-a", help="Show every signal so far.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Take the status back.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Tell the mind how present you are; without anything, show what it was told.

    Example: mind signal -p reviewing "back at my desk"
    """
    wanted = presence_of(presence)
    if wanted is None and status in _STATES:
        raise BadSetting(f"{status!r} is a presence, and no status: mind signal -p {status}.")
    with desk(store, session) as at:
        if status is not None or wanted is not None or clear:
            at.do(
                SetSignal(
                    presence=wanted, status="" if clear else status, time=at.world.local_time()
                )
            )
        events = at.log.read(
            at.session, upto=at.version, kinds=["signal.changed"], newest_first=True
        )
        signals = [r.event for r, _ in zip(events, range(10_000 if history else 1), strict=False)]
    shown = [s for s in reversed(signals) if isinstance(s, SignalChanged)]
    if json:
        out.as_json([s.model_dump(exclude={"kind"}) for s in shown])
        return
    for s in shown:
        words = f"{s.time}  {s.presence:<9}  iteration {s.iteration:<4}  {out.safe(s.status)}"
        out.answer(words.rstrip())
    if not shown:
        out.answer("absent")


def presence_of(text: str | None) -> Presence | None:
    """The presence that is meant by its name or the beginning of it.

    Raises:
        BadSetting: it is none.
    """
    if text is None:
        return None
    for state in _STATES:
        if text and state.startswith(text.lower()):
            return cast("Presence", state)
    raise BadSetting(f"{text!r} is no presence: use absent, reviewing or engaged (a, r, e).")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(signal)
