"""What conversations left: artifact list, show, edit, merge, reject, link, import and more."""

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
    spoken,
    wished,
)
from cli.efforts import AllFlag, shown
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from commands.artifacts.about import RecallArtifact
from commands.artifacts.edits import (
    RELATION,
    EditArtifact,
    ExcludeArtifact,
    LinkArtifacts,
    MergeArtifacts,
    RejectArtifact,
)
from commands.artifacts.efforts import RouteExchange
from domain.errors import BadSetting, NoSuchSession, Refused
from domain.ids import SessionId
from domain.refs import AtArtifact, AtVersion, parse_moment

app = typer.Typer(
    no_args_is_help=True, help="Artifacts: efforts, facts, events and summaries of a session."
)

TYPES = ("effort", "fact", "event", "summary")

ArtifactArgument = Annotated[str, typer.Argument(help="Its number.", metavar="ID")]


@app.command("list")
def list_(
    everything: AllFlag = False,
    type_: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="effort, fact, event or summary; may be repeated."),
    ] = None,
    orphans: Annotated[
        bool, typer.Option("--orphans", help="Only those whose effort was rejected, or the like.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """List the artifacts of a session; those that left the context with --all.

    Example: mind artifact list --type fact        mind at exc_4_000 artifact list
    """
    for wanted in type_ or ():
        if wanted not in TYPES:
            raise BadSetting(f"{wanted!r} is no type: choose from {', '.join(TYPES)}.")
    with desk(store, session) as at:
        found = catalogue_of(at)
    items = found.orphans() if orphans else list(found)
    items = [item for item in items if not type_ or item.type in type_]
    none = "There is no orphan." if orphans else "There is no artifact yet."
    listed(items, everything=everything or orphans, json=json, none=none, typed=True)


@app.command()
def show(
    artifact: ArtifactArgument,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show an artifact: the messages it came from, its origin, its links, what happened to it.

    Example: mind artifact show 12
    """
    shown(artifact, store, session, json=json)


@app.command()
def edit(
    artifact: ArtifactArgument,
    text: Annotated[str | None, typer.Option(help="Its new words.")] = None,
    resolution: Annotated[str | None, typer.Option(help="How it ended, in other words.")] = None,
    when: Annotated[str | None, typer.Option(help="2026-05-02, or with a time.")] = None,
    expires: Annotated[str | None, typer.Option(help="When an event is over.")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Give an artifact other words, or another time; what it said before stays in its history.

    Example: mind artifact edit 12 --text "Debug the login error"
    """
    id_ = artifact_id(artifact)
    with desk(store, session) as at:
        fields = {"text": text, "resolution": resolution}
        fields |= {"when": spoken(when), "expires": spoken(expires)}
        wished(at, EditArtifact, [id_], artifact=id_, **fields)
    out.talk(f"{id_} says so from now on.")


@app.command()
def merge(
    artifact: ArtifactArgument,
    into: Annotated[str, typer.Argument(help="The one that stands for both.", metavar="INTO")],
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Merge two artifacts of one type that are one and the same; the second stands for both.

    Example: mind artifact merge 14 12
    """
    one, other = artifact_id(artifact), artifact_id(into)
    with desk(store, session) as at:
        wished(at, MergeArtifacts, [one, other], artifact=one, into=other)
    out.talk(f"{other} stands for {one} as well.")


@app.command()
def reject(
    artifact: ArtifactArgument,
    reason: Annotated[str | None, typer.Option(help="Why.", metavar="TEXT")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Reject an artifact that should never have been: no mind is shown it.

    Example: mind artifact reject 14 --reason "Nobody said so."
    """
    id_ = artifact_id(artifact)
    with desk(store, session) as at:
        wished(at, RejectArtifact, [id_], artifact=id_, reason=reason)
        parts = [item.id for item in catalogue_of(at).orphans() if item.parent == id_]
    out.talk(f"{id_} is rejected: mind artifact recall {id_} brings it back.")
    if parts:
        out.talk(f"! Orphans by that: {', '.join(map(str, parts))} (mind artifact list --orphans)")


@app.command()
def link(
    artifact: ArtifactArgument,
    to: Annotated[str, typer.Argument(help="Another one.", metavar="TO")],
    relation: Annotated[str, typer.Option("--as", help="How.", metavar="TEXT")] = RELATION,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Link two artifacts that have to do with each other.

    Example: mind artifact link 14 12 --as "speaks against"
    """
    one, other = artifact_id(artifact), artifact_id(to)
    with desk(store, session) as at:
        wished(at, LinkArtifacts, [one, other], artifact=one, to=other, relation=relation)
    out.talk(f"{one} {out.one_line(relation, 60)} {other}.")


@app.command("import")
def import_(
    artifact: Annotated[
        str, typer.Argument(help="Of another session: payments@12.", metavar="SESSION@ID")
    ],
    follow: Annotated[
        bool, typer.Option("--follow", help="It changes here when it changes there.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Use an artifact of another session here too; it keeps where it came from.

    Example: mind artifact import payments@12 --follow
    """
    from commands.artifacts.imports import ImportArtifact, find_origin  # noqa: PLC0415 — only here

    there, id_ = _elsewhere(artifact)
    with desk(store, session) as at:
        at.only_now()
        if not at.log.exists(there):
            raise NoSuchSession(there, at.log.sessions())
        origin = find_origin(at.log, at.session, there, id_)
        new = at.do(ImportArtifact(origin=origin, follow=follow)).state.version
    if json:
        out.as_json({"id": new})
        return
    follows = ", and follows it (mind artifact follow)" if follow else ""
    text = out.one_line(origin.life.artifact.text, 60)
    out.talk(f"This is {origin.life.artifact.type} {new}, {text!r} of {there}@{id_}{follows}.")


def _elsewhere(text: str) -> tuple[SessionId, int]:
    moment = parse_moment(text)
    if moment.session is None or not isinstance(moment.ref, AtVersion | AtArtifact):
        raise BadSetting(f"{text!r} is no artifact of a session: write it as payments@12.")
    return moment.session, moment.ref.version


@app.command()
def follow(
    artifact: Annotated[
        str | None, typer.Argument(help="Its number; all that follow.", metavar="ID")
    ] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Bring imported artifacts up to date with their origins; one that is named follows then.

    Example: mind artifact follow        mind artifact follow 12
    """
    with desk(store, session) as at:
        at.only_now()
        items = [item for item in catalogue_of(at) if item.origin and item.holds]
        if artifact is not None:
            id_ = artifact_id(artifact)
            items = [catalogue_of(at).get(id_)]
        else:
            items = [i for i in items if i.origin and i.origin.follow and i.origin.moved_on]
        changed = [item.id for item in items if _brought_up_to_date(at, item.id)]
    if json:
        out.as_json({"changed": changed})
    elif changed:
        out.talk(f"Up to date with their origins: {', '.join(map(str, changed))}.")
    else:
        out.talk("All that follow are as they are in their origins.")


def _brought_up_to_date(at: Desk, id_: int) -> bool:
    from commands.artifacts.imports import FollowOrigin, read_origin  # noqa: PLC0415 — only here

    item = catalogue_of(at).get(id_)
    if item.origin is None:
        raise Refused(f"{id_} was not imported: it has no origin to follow.")
    if not item.origin.here:
        raise Refused(
            f"The origin of {id_}, {item.origin.session}@{item.origin.version}, is not in this"
            " store: there is nothing to follow."
        )
    origin = read_origin(at.log, SessionId(item.origin.session), item.origin.version)
    if origin is None:
        raise Refused(f"{item.origin.session}@{item.origin.version} is no artifact any more.")
    wished(at, FollowOrigin, [id_], artifact=id_, origin=origin)
    return True


@app.command()
def exclude(
    artifact: ArtifactArgument, store: StoreOption = None, session: SessionOption = None
) -> None:
    """Keep an artifact from the mind; it stays what it is, and in lists.

    Example: mind artifact exclude 12
    """
    id_ = artifact_id(artifact)
    with desk(store, session) as at:
        wished(at, ExcludeArtifact, [id_], artifact=id_)
    out.talk(f"The mind is not shown {id_}: mind artifact include {id_}")


@app.command()
def include(
    artifact: ArtifactArgument, store: StoreOption = None, session: SessionOption = None
) -> None:
    """Show the mind an artifact again that was kept from it.

    Example: mind artifact include 12
    """
    id_ = artifact_id(artifact)
    with desk(store, session) as at:
        wished(at, ExcludeArtifact, [id_], artifact=id_, excluded=False)
    out.talk(f"The mind may be shown {id_} again.")


@app.command()
def recall(
    artifact: ArtifactArgument, store: StoreOption = None, session: SessionOption = None
) -> None:
    """Bring back an artifact that left the context, was superseded or rejected.

    Example: mind artifact recall 12
    """
    id_ = artifact_id(artifact)
    with desk(store, session) as at:
        wished(at, RecallArtifact, [id_], artifact=id_)
    out.talk(f"{id_} is in the context again.")


@app.command()
def route(
    exchange: Annotated[str, typer.Argument(help="An exchange.", metavar="EXCHANGE")],
    effort: Annotated[
        str | None, typer.Argument(help="The effort that it belongs to.", metavar="ID")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="It belongs to no effort.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Say which effort an exchange belongs to, where that was taken wrongly.

    Example: mind artifact route exc_4_000 12        mind artifact route exc_4_000 --none
    """
    if none == (effort is not None):
        raise BadSetting("Name the effort that the exchange belongs to, or say --none.")
    id_ = optional_id(effort)
    with desk(store, session) as at:
        name = exchange_id(at, exchange)
        wished(at, RouteExchange, [id_], exchange=name, effort=id_)
    out.talk(f"{name} belongs to {f'effort {id_}' if id_ is not None else 'no effort'}.")


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file, and those of the group that have files of their own."""
    for verb in ("cli.artifact_graph", "cli.extract"):
        import_module(verb)
    parent.add_typer(app, name="artifact")
