"""Bringing over what another branch has: pick."""

from typing import Annotated

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk, gatherer_for
from commands.moments import find_exchange
from commands.picks import (
    Conflict,
    Pick,
    Picked,
    PickedExchange,
    conflicts,
    find_picked,
    refuse_conflicts,
)
from domain.errors import NothingChanges
from domain.ids import SessionId
from domain.refs import AtExchange, parse_moment


def pick(
    refs: Annotated[
        list[str],
        typer.Argument(help="What: SESSION@exc_4_000, SESSION@412 …", metavar="SESSION@REF..."),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Bring over what conflicts as well.")
    ] = False,
    skip: Annotated[bool, typer.Option("--skip", help="Leave out what conflicts.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Bring accepted exchanges and thoughts of another branch here, with where they came from.

    Example: mind pick what-if@exc_4_000 what-if@412
    """
    if force and skip:
        raise typer.BadParameter("bring over what conflicts, or leave it out")
    with desk(store, session) as at:
        at.only_now()
        wanted = [_wanted(at, ref) for ref in refs]
        picked = find_picked(at.log, at.session, wanted)
        against = [] if force else conflicts(at.log, at.state, picked)
        if not skip:
            refuse_conflicts(against)
        picked = _without(picked, against)
        if not picked:
            raise NothingChanges("All of that conflicts with what is here: nothing was brought.")
        wish = Pick(picked=tuple(picked))
        done = at.do(gatherer_for(at.log).with_company(wish, at.state, wish.texts))
    if json:
        out.as_json(
            {
                "session": done.state.id,
                "version": done.state.version,
                "picked": [one._asdict() for one in picked],
                "left_out": [one._asdict() for one in against],
            }
        )
        return
    for one in picked:
        what = "exchange" if isinstance(one, PickedExchange) else "thought"
        out.talk(f"Brought the {what} “{out.one_line(one.text, 60)}”.")
    for conflict in against:
        out.talk(f"Left out “{out.one_line(conflict.picked.text, 50)}”: {conflict.what}.")


def _without(picked: list[Picked], against: list[Conflict]) -> list[Picked]:
    left_out = [conflict.picked for conflict in against]
    return [one for one in picked if one not in left_out]


def _wanted(at: Desk, ref: str) -> tuple[SessionId, int]:
    """The event that a ref names; of an open exchange, its message."""
    where, version = at.moment(ref)
    wanted = parse_moment(ref).ref
    if isinstance(wanted, AtExchange) and wanted.draft is None:
        return where, find_exchange(at.log, where, wanted.exchange).version
    return where, version


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(pick)
