"""What is to be achieved: effort list, open, resolve, reopen, expand, collapse, show, work."""

from importlib import import_module
from typing import Annotated

import typer

from cli import output as out
from cli.catalogue import (
    artifact_id,
    catalogue_of,
    exchange_id,
    listed,
    optional_id,
    sources,
    tell,
    wished,
)
from cli.catalogue import as_data as item_data
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from commands.artifacts.efforts import (
    CollapseEffort,
    ExpandEffort,
    OpenEffort,
    ReopenEffort,
    ResolveEffort,
    open_parts,
)
from domain.errors import BadSetting
from domain.events import ContextCompacted
from domain.ids import ExchangeId
from domain.session import Session

app = typer.Typer(no_args_is_help=True, help="Efforts: what is to be achieved, and how it ended.")

OUTCOMES = ("done", "failed", "abandoned")

EffortArgument = Annotated[str, typer.Argument(help="Its number.", metavar="ID")]
AllFlag = Annotated[bool, typer.Option("--all", "-a", help="Those that left the context, too.")]
FromOption = Annotated[
    list[str] | None,
    typer.Option("--from", help="A message, draft or exchange that it came from.", metavar="REF"),
]


@app.command("list")
def list_(
    everything: AllFlag = False,
    open_: Annotated[bool, typer.Option("--open", help="Open ones only.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """List the efforts, parts below the whole; those that left the context with --all.

    Example: mind effort list --open
    """
    with desk(store, session) as at:
        items = [item for item in catalogue_of(at) if item.type == "effort"]
    if open_:
        items = [item for item in items if item.status == "open" and item.holds]
    none = 'There is no effort yet: mind effort open "…"'
    listed(items, everything=everything, json=json, none=none)


@app.command("open")
def open_(
    goal: Annotated[str, typer.Argument(help="What is to be achieved.")],
    parent: Annotated[
        str | None, typer.Option("--part-of", "-p", help="An open effort.", metavar="ID")
    ] = None,
    exchange: Annotated[
        str | None,
        typer.Option("--exchange", "-e", help="It begins there; the open one.", metavar="ID"),
    ] = None,
    apart: Annotated[bool, typer.Option("--apart", help="It begins in no exchange.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Open an effort, on its own or as part of another one.

    It begins in the exchange that is open, if one is, or in the one that is named: that belongs to
    it from then on.

    Example: mind effort open "Debug the auth error" --part-of 12
    """
    if apart and exchange is not None:
        raise BadSetting("Name an exchange, or say --apart, not both.")
    whole = optional_id(parent)
    with desk(store, session) as at:
        begins = None if apart else _begins(at, exchange)
        messages = sources(at, [begins]) if begins else ()
        state, _ = wished(
            at,
            OpenEffort,
            [whole],
            goal=goal,
            parent=whole,
            exchange=begins,
            messages=messages,
        )
    _done(state.version, json=json, sentence=f'It ends by: mind effort resolve {state.version} "…"')


def _begins(at: Desk, exchange: str | None) -> ExchangeId | None:
    if exchange is not None:
        return exchange_id(at, exchange)
    awaiting = at.state.dialogue.awaiting
    return awaiting.exchange if awaiting is not None else None


@app.command()
def resolve(
    effort: EffortArgument,
    resolution: Annotated[str, typer.Argument(help="How it ended, in a sentence or two.")],
    outcome: Annotated[
        str, typer.Option("--outcome", "-o", help="done, failed or abandoned.")
    ] = "done",
    from_: FromOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Resolve an effort: its exchanges leave the context, and goal and resolution stay.

    Example: mind effort resolve 12 "The token had the wrong audience."
    """
    if outcome not in OUTCOMES:
        raise BadSetting(f"{outcome!r} is no outcome: say {', '.join(OUTCOMES[:-1])} or abandoned.")
    id_ = artifact_id(effort)
    with desk(store, session) as at:
        at.only_now()
        state, events = wished(
            at,
            ResolveEffort,
            [id_],
            effort=id_,
            resolution=resolution,
            outcome=outcome,
            messages=sources(at, from_ or ()),
        )
        returned = _returned(at, state, id_)
    compacted = next((event for event in events if isinstance(event, ContextCompacted)), None)
    parts = open_parts(state, id_)
    if json:
        out.as_json(
            {
                "effort": id_,
                "outcome": outcome,
                "exchanges": compacted.exchanges if compacted else (),
                "tokens_before": compacted.tokens_before if compacted else 0,
                "tokens_after": compacted.tokens_after if compacted else 0,
                "open_parts": [part.id for part in parts],
                "brought_back_to": returned,
            }
        )
        return
    out.talk(f"Effort {id_} is resolved{_left(compacted)}.")
    if parts:
        names = ", ".join(str(part.id) for part in parts)
        out.talk(f"! Still open, though parts of it: {names} (mind effort resolve {parts[0].id} …)")
    if returned:
        out.talk(f"What came of it is known to {returned}, too: mind switch {returned}")


def _left(compacted: ContextCompacted | None) -> str:
    if compacted is None:
        return ""
    tokens = f"about {compacted.tokens_before} → {compacted.tokens_after} tokens"
    return f"; {out.count(len(compacted.exchanges), 'exchange')} left the context, {tokens}"


def _returned(at: Desk, state: Session, effort: int) -> str | None:
    """The session that a branch brought back to what came of its effort."""
    if state.shelf.focus != effort:
        return None
    from commands.artifacts.work import bring_back  # noqa: PLC0415 — in branches of efforts alone

    back = bring_back(at.log, at.session, at.world)
    return back.session if back is not None else None


@app.command()
def reopen(
    effort: EffortArgument,
    reason: Annotated[str | None, typer.Option(help="Why.", metavar="TEXT")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Reopen an effort that is not done after all; the mind is shown its exchanges again.

    Example: mind effort reopen 12 --reason "It fails again."
    """
    id_ = artifact_id(effort)
    with desk(store, session) as at:
        wished(at, ReopenEffort, [id_], effort=id_, reason=reason)
    out.talk(f"Effort {id_} is open again.")


@app.command()
def expand(
    effort: EffortArgument, store: StoreOption = None, session: SessionOption = None
) -> None:
    """Show the mind the exchanges of a resolved effort again, until nobody speaks of it.

    Example: mind effort expand 12
    """
    id_ = artifact_id(effort)
    with desk(store, session) as at:
        wished(at, ExpandEffort, [id_], effort=id_)
    out.talk(f"The mind is shown the exchanges of effort {id_}: mind effort collapse {id_}")


@app.command()
def collapse(
    effort: EffortArgument, store: StoreOption = None, session: SessionOption = None
) -> None:
    """Take the exchanges of an expanded effort out of the context again; its summary stays.

    Example: mind effort collapse 12
    """
    id_ = artifact_id(effort)
    with desk(store, session) as at:
        wished(at, CollapseEffort, [id_], effort=id_)
    out.talk(f"Of effort {id_} the mind is shown goal and resolution alone.")


@app.command()
def show(
    effort: EffortArgument,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show an effort: its parts, its exchanges, the messages it came from, what happened to it.

    Example: mind effort show 12
    """
    shown(effort, store, session, json=json)


def shown(
    artifact: str, store: StoreOption = None, session: SessionOption = None, *, json: bool = False
) -> None:
    """Print all that is known of an artifact."""
    id_ = artifact_id(artifact)
    with desk(store, session) as at:
        found = catalogue_of(at)
        item = found.get(id_)
        if json:
            out.as_json(item_data(item, history=True))
        else:
            tell(at, item, found)


def _done(id_: int, *, json: bool, sentence: str) -> None:
    if json:
        out.as_json({"id": id_})
    else:
        out.talk(f"This is effort {id_}. {sentence}")


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file, and `effort work`, which has a file of its own."""
    import_module("cli.work")
    parent.add_typer(app, name="effort")
