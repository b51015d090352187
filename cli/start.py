"""Beginning a talk where it belongs: start."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import output as out
from cli.attention import attend_to
from cli.cells import searching
from cli.options import JsonFlag, StoreOption
from cli.search import vectors_for
from cli.wiring import Desk, chosen_session, open_store, switch_session
from commands.artifacts.imports import ImportArtifact, find_origin
from commands.dialogue import SendMessage
from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.handle import handle
from commands.sessions import start_session
from commands.world import RealWorld
from domain.choices import HELP, Choice, parse_choice
from domain.errors import Refused
from domain.ids import SessionId, session_id
from domain.reach import Reached
from domain.server_errors import CellsAreAway
from domain.slugs import free, slug
from domain.texts import checked_text
from projections.search.hit import Everywhere
from projections.start import Found, Offer, Related, offer

HITS = 40
"""Hits that are looked through for chats and artifacts."""


def start(
    intent: Annotated[str, typer.Argument(help="What you want to do, in your own words.")],
    choose: Annotated[
        str | None,
        typer.Option(help="The choice, for scripts: 1, 2, '3, include 1,2', 4, just continue."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What a new session or branch is to be called.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Artifacts change here when they change there.")
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Find what has to do with it, and continue there, fork it, or begin anew with artifacts.

    Example: mind start "I want to work on the payment integration" --choose "3, include 1,2"
    """
    text = checked_text(intent)
    with open_store(store) as (directory, log):
        offered = _offered(directory, log, text)
        if json and choose is None:
            out.as_json(_as_data(offered))
            return
        if choose is None or not json:
            _print(offered)
        said = choose if choose is not None else _asked(offered)
        choice = parse_choice(said, len(offered.chats), len(offered.artifacts))
        begun = _begin(directory, log, offered, choice, text, name=name, follow=follow, json=json)
    if json:
        out.as_json({**_as_data(offered), "choice": choice._asdict(), "session": begun})


def _offered(directory: Path, log: EventLog, text: str) -> Offer:
    there = log.reached("session")
    if there.away:
        out.talk(CellsAreAway(there.away, "Not all was looked at").sentence)
    if not there.streams:
        return Offer((), ())
    config = log.state(_known(directory, there)).config
    scope = Everywhere(agents=False)
    with searching(log, scope, vectors_for(config), on_remark=out.talk) as searcher:
        return offer(log, searcher.search(text, scope=scope, limit=HITS))


def _known(directory: Path, there: Reached) -> SessionId:
    """A session that can be asked how texts are compared: the current one, if it can be."""
    chosen = chosen_session(directory)
    if chosen is None or any(chosen in one.sessions for one in there.away):
        return there.streams[0]
    return chosen


def _asked(offered: Offer) -> str:
    if not offered.chats and not offered.artifacts:
        return "4"
    if not sys.stdin.isatty():
        raise Refused('Nobody is there to choose: say it with --choose, as in --choose "1".')
    out.talk(HELP)
    return str(typer.prompt(">", prompt_suffix=" ", err=True))


def _begin(
    directory: Path,
    log: EventLog,
    offered: Offer,
    choice: Choice,
    text: str,
    *,
    name: str | None,
    follow: bool,
    json: bool,
) -> SessionId:
    """Go there, with what the user wants as the message."""
    world = RealWorld.of_this_user()
    taken = frozenset(log.reached("session").names)
    wanted = session_id(name) if name is not None else None
    chat = offered.chats[choice.chat - 1] if choice.chat is not None else None
    if chat is not None and choice.what == "continue":
        session, before = chat.session, log.state(chat.session).version
        awaits = log.state(session).dialogue.awaiting
    elif chat is not None:
        session = wanted or free(f"{chat.session}/{slug(text)}", taken)
        before = log.head(chat.session).version
        fork_session(log, chat.session, before, session, world, reason=text[:200])
        awaits = log.state(session).dialogue.awaiting
    else:
        session, before, awaits = wanted or free(slug(text), taken), 0, None
        start_session(log, session, world)
        for number in choice.artifacts:
            artifact = offered.artifacts[number - 1]
            origin = find_origin(log, session, artifact.session, artifact.artifact)
            handle(log, session, ImportArtifact(origin=origin, follow=follow), world)
    at = Desk(directory, log, session, None, world)
    switch_session(directory, session)
    out.talk(_told(choice, chat, session))
    if awaits is not None:
        out.talk(
            f"{awaits.exchange} awaits drafts there, so nothing was sent:"
            " accept a draft first (mind drafts), or let the mind work (mind run)."
        )
        return session
    at.do(SendMessage(text=text))
    attend_to(at, before, quiet=json)
    out.talk("Next: mind run")
    return session


def _told(choice: Choice, chat: Related | None, session: SessionId) -> str:
    if chat is not None and choice.what == "continue":
        return f"Working on {session}."
    if chat is not None:
        return f"{session} branches off {chat.session}."
    count = len(choice.artifacts)
    return f"Began {session}" + (f" with {out.count(count, 'artifact')}." if count else ".")


def _print(offered: Offer) -> None:
    if not offered.chats and not offered.artifacts:
        out.talk("Nothing that has to do with it was found: this is a fresh start.")
        return
    if offered.chats:
        out.answer(out.shade("Related chats", "strong"))
    for number, chat in enumerate(offered.chats, 1):
        out.answer(f"  {number}. {out.one_line(chat.title, 70)} ({chat.session}, {_age(chat.at)})")
        out.answer(f"     {out.one_line(chat.summary, 100)}")
        out.answer(out.shade(f"     {_counts(chat)}", "faint"))
    if offered.artifacts:
        out.answer(out.shade("Relevant artifacts", "strong"))
    for number, one in enumerate(offered.artifacts, 1):
        status = f":{one.status}" if one.type == "effort" else ""
        out.answer(f"  {number}. [{one.type}{status}] {out.one_line(one.text, 100)}")
    out.answer(out.shade("Options", "strong"))
    for line in _options(offered.chats):
        out.answer(f"  {line}")


def _options(chats: Sequence[Related]) -> list[str]:
    lines = []
    if chats:
        opened = " (has an open effort)" if chats[0].open_efforts else ""
        lines.append(f"1. Continue {chats[0].session}{opened}")
        lines.append(f"2. Fork {chats[1 if len(chats) > 1 else 0].session}")
    return [*lines, "3. New chat with selected artifacts", "4. Start fresh"]


def _counts(chat: Related) -> str:
    parts = [
        *([out.count(chat.facts, "fact")] if chat.facts else []),
        *([f"{chat.resolved_efforts} resolved"] if chat.resolved_efforts else []),
        *(
            [f"open: {'; '.join(out.one_line(e, 60) for e in chat.open_efforts[:3])}"]
            if chat.open_efforts
            else []
        ),
    ]
    return ", ".join(parts) if parts else "no artifacts"


def _age(at: int) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(RealWorld.of_this_user().now() - at, 0) // 1_000_000
    for unit, size in (("week", 604_800), ("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{out.count(seconds // size, unit)} ago"
    return "just now"


def _as_data(offered: Offer) -> dict[str, Any]:
    def chat(number: int, one: Related) -> dict[str, Any]:
        return {"number": number, **one._asdict(), "at": out.iso(one.at)}

    def artifact(number: int, one: Found) -> dict[str, Any]:
        return {"number": number, **one._asdict()}

    return {
        "chats": [chat(n, one) for n, one in enumerate(offered.chats, 1)],
        "artifacts": [artifact(n, one) for n, one in enumerate(offered.artifacts, 1)],
    }


def register(app: typer.Typer) -> None:
    """Add the verb of this file."""
    app.command()(start)
