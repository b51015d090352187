"""What is known, and what is to come: fact list, learn, supersede; event list, note."""

from datetime import datetime
from typing import Annotated

import typer

from cli import output as out
from cli.catalogue import artifact_id, catalogue_of, listed, optional_id, sources, spoken, wished
from cli.efforts import AllFlag, FromOption, shown
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import desk
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from domain.events import FactLearned

facts = typer.Typer(no_args_is_help=True, help="Facts: what turned out to be so.")
events = typer.Typer(no_args_is_help=True, help="Events: appointments, deadlines, reminders.")

FactArgument = Annotated[str, typer.Argument(help="Its number.", metavar="ID")]


@facts.command("list")
def list_facts(
    everything: AllFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """List the facts that hold; with --all also those that no longer do, and what replaced them.

    Example: mind fact list --all
    """
    with desk(store, session) as at:
        items = [item for item in catalogue_of(at) if item.type == "fact"]
    none = 'There is no fact yet: mind fact learn "…"'
    listed(items, everything=everything, json=json, none=none)


@facts.command()
def learn(
    statement: Annotated[str, typer.Argument(help="What is so.")],
    since: Annotated[
        str | None, typer.Option(help="Since when: 2026-05-02, or with a time.", metavar="DATE")
    ] = None,
    effort: Annotated[
        str | None, typer.Option("--effort", "-e", help="Learned in this effort.", metavar="ID")
    ] = None,
    supersedes: Annotated[
        str | None, typer.Option(help="The fact that no longer holds by it.", metavar="ID")
    ] = None,
    from_: FromOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Note a fact, with the messages that it came from.

    Example: mind fact learn "We use Stripe." --from exc_4_000
    """
    whole, old = optional_id(effort), optional_id(supersedes)
    with desk(store, session) as at:
        _, decided = wished(
            at,
            LearnFact,
            [whole, old],
            statement=statement,
            since=spoken(since),
            effort=whole,
            supersedes=old,
            messages=sources(at, from_ or ()),
        )
        id_ = at.state.version - len(decided) + 1
    instead = f", and {old} no longer holds" if old is not None else ""
    _done("fact", id_, instead, json=json)


@facts.command()
def supersede(
    fact: FactArgument,
    statement: Annotated[
        str | None, typer.Argument(help="What holds instead, if that is not known yet.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="A fact that holds instead.", metavar="ID")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why.", metavar="TEXT")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Say that a fact no longer holds, and what holds instead, if anything does.

    Example: mind fact supersede 14 "We use PayPal." --reason "Fees."
    """
    id_, other = artifact_id(fact), optional_id(by)
    with desk(store, session) as at:
        _, decided = wished(
            at,
            SupersedeFact,
            [id_, other],
            fact=id_,
            by=other,
            statement=statement,
            reason=reason,
        )
        new = at.state.version - 1 if isinstance(decided[0], FactLearned) else other
    if json:
        out.as_json({"id": id_, "by": new})
        return
    instead = f": fact {new} does" if new is not None else ""
    out.talk(f"Fact {id_} no longer holds{instead}.")


@facts.command("show")
def show_fact(
    fact: FactArgument,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show a fact: the messages it came from, what it supersedes, what happened to it.

    Example: mind fact show 14
    """
    shown(fact, store, session, json=json)


@events.command("list")
def list_events(
    everything: AllFlag = False,
    upcoming: Annotated[
        bool, typer.Option("--upcoming", help="Only what is not over, by time.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """List the events; with --all also those that left the context, as what is over does.

    Example: mind event list --upcoming
    """
    with desk(store, session) as at:
        items = [item for item in catalogue_of(at) if item.type == "event"]
    if upcoming:
        from projections.dashboard import is_over  # noqa: PLC0415 — for this option

        now = datetime.now().astimezone().isoformat()
        items = [i for i in items if i.holds and not is_over(i.when, i.expires, now)]
        items.sort(key=lambda item: (item.when or "9", item.id))
    none = 'There is no such event: mind event note "…" --when 2026-05-02T15:00'
    listed(items, everything=everything, json=json, none=none)


@events.command()
def note(
    what: Annotated[str, typer.Argument(help="What happens.")],
    when: Annotated[
        str | None,
        typer.Option(help="2026-05-02, 2026-05-02T15:00, tomorrow at 3 …", metavar="DATE"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it is over; the end of its day.", metavar="DATE")
    ] = None,
    from_: FromOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Note an event; when it is over it leaves the context.

    Example: mind event note "Release 2.0" --when "next Friday at 15:00"
    """
    with desk(store, session) as at:
        at.only_now()
        messages = sources(at, from_ or ())
        time, end = spoken(when), spoken(expires)
        at.do(NoteEvent(what=what, when=time, expires=end, messages=messages))
        id_ = at.state.version
    _done("event", id_, "", json=json)


@events.command("show")
def show_event(
    event: FactArgument,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show an event: when it is, the messages it came from, what happened to it.

    Example: mind event show 15
    """
    shown(event, store, session, json=json)


def _done(what: str, id_: int, more: str, *, json: bool) -> None:
    if json:
        out.as_json({"id": id_})
    else:
        out.talk(f"This is {what} {id_}{more}: mind {what} show {id_}")


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(facts, name="fact")
    parent.add_typer(events, name="event")
