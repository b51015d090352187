"""Stores and sessions: init, open, new, config, label."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import output as out
from cli.attention import attend_to
from cli.options import JsonFlag, SessionOption, StoreOption, pairs
from cli.texts import read_text
from cli.wiring import (
    Desk,
    current_session,
    desk,
    open_store,
    remember_store,
    switch_session,
)
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.sessions import ChangeConfig, LabelMoment, changed, start_session
from commands.world import RealWorld
from domain.config import Config
from domain.errors import BadSetting, Refused, StoreExists
from domain.ids import session_id
from domain.texts import checked_text

Message = Annotated[str | None, typer.Argument(help="The first message.", metavar="MESSAGE")]
MessageFile = Annotated[
    Path | None, typer.Option("--file", "-f", help="Read the first message from a file.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="The mind: local, openrouter:NAME, script:FILE …"),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A setting, as key=value.", metavar="K=V")
]
Thoughts = Annotated[
    list[str] | None, typer.Option("--thought", help="A thought to begin the pool with.")
]


def init(
    place: Annotated[
        Place,
        typer.Argument(
            parser=place_of,
            help="Where the store is made: a directory or postgresql://…",
            metavar="PLACE",
        ),
    ],
    message: Message = None,
    file: MessageFile = None,
    model: Model = None,
    settings: Settings = None,
    thoughts: Thoughts = None,
    name: Annotated[str, typer.Option(help="The first session's name.")] = "main",
) -> None:
    """Make a store with its first session.

    Example: mind init ./thinking "Why are there two tides a day?"
    """
    chosen, config = session_id(name), _settings(settings, model)
    text = _first_message(message, file)
    for thought in thoughts or ():
        checked_text(thought, "thought")
    world = RealWorld.of_this_user()
    if place.url is None:
        try:
            place.home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refused(f"{str(place)!r} can't be made: {error.strerror or error}.") from None
    with _made(place) as log:
        start_session(
            log,
            chosen,
            world,
            message=text,
            thoughts=thoughts or (),
            settings=config,
            first=True,
        )
        if place.url is not None:
            from cli.kept_views import make_tables  # noqa: PLC0415 — brings psycopg

            make_tables(place.address)
        switch_session(place.home, chosen)
        remember_store(place)
        out.talk(f"Made the store {place} with the session {chosen}.")
        attend_to(Desk(place.home, log, chosen, None, world), 0)
    out.talk("Next: mind run" if text else 'Next: mind message "…", then mind run')


def _made(place: Place) -> EventLog:
    """A new log; one that was made but never begun (a kill came between) counts as new."""
    try:
        return EventLog.create(place)
    except StoreExists:
        return EventLog(place)


def open_(
    place: Annotated[Place, typer.Argument(parser=place_of, help="The store.", metavar="PLACE")],
) -> None:
    """Work on this store from now on.

    Example: mind open ./thinking
    """
    with open_store(place) as (home, log):
        session = current_session(home, log)
    remember_store(place)
    out.talk(f"Working on {place}, session {session}.")


def new(
    name: Annotated[str, typer.Argument(help="The session's name: a slug.")],
    message: Message = None,
    file: MessageFile = None,
    model: Model = None,
    settings: Settings = None,
    title: Annotated[
        str, typer.Option(help="A title; by default what the first message is about.")
    ] = "",
    store: StoreOption = None,
) -> None:
    """Begin another session in this store, and work on it.

    Example: mind new payments "How do refunds differ from voids?"
    """
    chosen, config = session_id(name), _settings(settings, model)
    text = _first_message(message, file)
    with open_store(store) as (directory, log):
        world = RealWorld.of_this_user()
        start_session(log, chosen, world, title=title, message=text, settings=config)
        switch_session(directory, chosen)
        out.talk(f"Began the session {chosen}.")
        attend_to(Desk(directory, log, chosen, None, world), 0)


def config(
    key: Annotated[str | None, typer.Argument(help="Only this setting.", metavar="KEY")] = None,
    settings: Settings = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the settings, or one of them alone; or change some.

    Example: mind config --set model=openrouter:anthropic/claude-haiku-4.5        mind config model
    """
    if key is not None:
        Config.known(key)
    changes = pairs(settings)
    with desk(store, session) as at:
        values = configured(at, changes).model_dump()
    if json:
        out.as_json(values if key is None else values[key])
        return
    if key is not None:
        out.answer(out.safe(_shown(values[key])))
        return
    named = dict(changes) or values
    rows = [
        (name, _shown(value), Config.model_fields[name].description or "")
        for name, value in values.items()
        if name in named
    ]
    out.table(rows, ("setting", "value", "meaning"), cut=("value", "meaning"))


def _shown(value: Any) -> str:
    return "off" if value is None else str(value)


def configured(at: Desk, settings: Iterable[tuple[str, str]]) -> Config:
    """The settings after these changes: all of them, or none.

    Raises:
        BadSetting: one of them can't be had.
    """
    wishes = [ChangeConfig(key=key, value=value) for key, value in settings]
    state = at.state
    for wish in wishes:
        for changes in wish.decide(state):
            config = state.config.changed(changes.key, changes.new)
            state = state._replace(config=config)
    for wish in wishes:
        at.do(wish)
    return at.state.config


def label(
    name: Annotated[str, typer.Argument(help="The label.")],
    ref: Annotated[str, typer.Argument(help="The moment; now by default.")] = "head",
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Give a moment a name, to be used as @NAME.

    Example: mind label good-start draft:2
    """
    with desk(store, session) as at:
        where, version = at.moment(ref)
        if where != at.session:
            raise BadSetting(f"Label {where!r} there: mind label --session {where} {name} REF.")
        at.do(LabelMoment(label=name, version=version))
    out.talk(f"@{name} is event {version} of {where}.")


def _first_message(message: str | None, file: Path | None) -> str | None:
    """The first message, checked before anything is made for it."""
    if message is None and file is None:
        return None
    return checked_text(read_text(message, file))


def _settings(settings: list[str] | None, model: str | None) -> dict[str, Any]:
    chosen = {key: Config().read(key, value) for key, value in pairs(settings)}
    if model is not None:
        chosen["model"] = model
    for key, value in chosen.items():
        changed(Config(), key, value)
    return chosen


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    for name, verb in (
        ("init", init),
        ("open", open_),
        ("new", new),
        ("config", config),
        ("label", label),
    ):
        app.command(name)(verb)
