"""Slash commands of the dialogue with a mind; in every mode, they are about its session."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.content import Content

from cli.tui.dialogs import Found, Reading
from cli.tui.shapes import Hit, Thought
from cli.tui.slash import Slash
from cli.tui.texts import FAINT, content, one_line, shown
from cli.tui.thoughts import thoughts_text
from domain.sentences import count
from domain.streams import agent_of, family_of

if TYPE_CHECKING:
    from cli.tui.app import ChatApp

_PRESENCES = ("absent", "reviewing", "engaged")
_FORMATS = {"markdown": "markdown", "md": "markdown", "jsonl": "jsonl"}


async def _accept(chat: "ChatApp", rest: str) -> None:
    if rest and not rest.lstrip("#").isdigit():
        chat.tell("Name a draft by its number: /accept 2.", refused=True)
        return
    await chat.mind.accept(int(rest.lstrip("#")) if rest else None)


async def _seen(chat: "ChatApp", rest: str) -> None:
    indexes = [int(word) for word in rest.replace("#", " ").split() if word.isdigit()]
    if chat.mind.only_now():
        done = await chat.call("seen", session=chat.mind.session, indexes=indexes)
        marked = ", ".join(f"#{index}" for index in done["indexes"])
        chat.tell(f"Marked as seen: {marked}." if marked else "All drafts are seen already.")


async def _signal(chat: "ChatApp", rest: str) -> None:
    if not chat.mind.only_now():
        return
    first, _, more = rest.partition(" ")
    word = first.lower() if first.lower() != "a" or not more else ""  # "a break" is a status
    presence = next((p for p in _PRESENCES if word and p.startswith(word)), None)
    status = (more.strip() if presence else rest) or None
    told = await chat.call("signal", session=chat.mind.session, presence=presence, status=status)
    said = f": {told['statusText']}" if told["statusText"] else ""
    chat.tell(f"The mind is told that you are {told['presence']}{said}.")


async def _think(chat: "ChatApp", rest: str) -> None:
    if chat.mind.only_now():
        placed = await chat.call("think", session=chat.mind.session, text=rest)
        chat.tell(f"It is in the mind's pool, as thought {placed['id']}.")


async def _fork(chat: "ChatApp", rest: str) -> None:
    await chat.mind.fork(rest)


async def _switch(chat: "ChatApp", rest: str) -> None:
    if rest:
        await chat.mind.switch(rest)
        if chat.mode is not chat.mind:
            chat.tell(f"The mind's session is {rest} now: ctrl+o goes there.")
        return
    found = await chat.call("sessions")
    names = ", ".join(one_line(session["id"]) for session in found["sessions"])
    chat.tell(f"Sessions: {names}. Go to one with /switch NAME.")


async def _new(chat: "ChatApp", rest: str) -> None:
    name, _, message = rest.partition(" ")
    await chat.call("new", name=name, message=message.strip() or None)
    await chat.mind.look(name, None)
    chat.tell(f"{name} has begun: send it a message." if not message else f"{name} has begun.")


async def _search(chat: "ChatApp", rest: str) -> None:
    found = await chat.call("search", query=rest, count=30)
    hits = [Hit.of(hit) for hit in found["hits"]]
    if not hits:
        chat.tell("Nothing was found: try fewer or other words.")
        return

    def chosen(hit: Hit | None) -> None:
        if hit is not None:
            chat.begin(lambda: _go(chat, hit))

    await chat.push_screen(Found(rest, hits), chosen)


async def _go(chat: "ChatApp", hit: Hit) -> None:
    """Look at the moment where something was found, or at the agent that it was said to."""
    if family_of(hit.session) == "agent":
        await chat.drafting.look_at(agent_of(hit.session), hit.version)
        return
    if chat.mode is not chat.mind:
        await chat.enter(chat.mind.NAME)
    await chat.mind.look(hit.session, hit.version)


async def _export(chat: "ChatApp", rest: str) -> None:
    first, _, more = rest.partition(" ")
    kind, name = (first, more.strip()) if first in _FORMATS and more else ("", rest)
    if not name:
        chat.tell("Name a file: /export markdown talk.md.", refused=True)
        return
    kind = kind or ("jsonl" if name.endswith(".jsonl") else "markdown")
    asked = chat.mind.view.params
    told = await chat.call("export", **asked, format=_FORMATS[kind])
    try:
        written = await asyncio.to_thread(_write, Path(name), told["text"])
    except FileExistsError:
        chat.tell(f"{name!r} is there already: choose another name.", refused=True)
    except OSError as error:
        chat.tell(f"{name!r} can't be written: {error.strerror or error}.", refused=True)
    else:
        chat.tell(f"Written to {written}.")


def _write(file: Path, text: str) -> Path:
    """Write a file that is not there yet."""
    file = file.expanduser().absolute()
    with file.open("x", encoding="utf-8", newline="\n") as target:
        target.write(text)
    return file


async def _context(chat: "ChatApp", _: str) -> None:
    told = await chat.call("context", **chat.mind.view.params)
    lines = [_summary(told), content()]
    for part in told.get("parts", ()):
        size = f"{part['tokens']} tokens"
        lines.append(
            content((f"{part['block']}: {one_line(part['what'])}", "bold"), (f"  {size}", FAINT))
        )
        lines.append(content((f"  {one_line(part['why'])}", FAINT)))
        lines.append(content(f"  {one_line(part['text'])[:400]}"))
    lines += (
        content((f"left out: {one_line(left['what'])}: {one_line(left['why'])}", FAINT))
        for left in told.get("leftOut", ())
    )
    await chat.push_screen(Reading("What stands in the next prompt", Content("\n").join(lines)))


def _summary(told: Mapping[str, Any]) -> Content:
    limit = told.get("limit") or 0
    of = f" of {limit:,}, {told['tokens'] / limit:.0%}" if limit else ""
    return content((f"{told['tokens']:,} tokens{of}", "bold"))


async def _thoughts(chat: "ChatApp", _: str) -> None:
    told = await chat.call("thoughts", **chat.mind.view.params, count=200)
    found = [Thought.of(thought) for thought in told["thoughts"]]
    title = f"The newest {count(len(found), 'thought')}"
    await chat.push_screen(Reading(title, thoughts_text(found)))


async def _config(chat: "ChatApp", rest: str) -> None:
    key, equals, value = (piece.strip() for piece in rest.partition("="))
    if rest and not equals:
        chat.tell(f"{rest!r} is no setting: write /config key=value.", refused=True)
        return
    if rest and not chat.mind.only_now():
        return
    asked: dict[str, Any] = {"set": {key: value}} if rest else dict(chat.mind.view.params)
    told = await chat.call("config", **{"session": chat.mind.session, **asked})
    settings = told["settings"]
    if rest:
        chat.tell(f"{key} is {settings.get(key)!r} from now on.")
        return
    lines = "\n".join(f"{name} = {_setting(value)}" for name, value in settings.items())
    await chat.push_screen(Reading("Settings", shown(lines)))


def _setting(value: Any) -> str:
    return "–" if value is None else str(value)


async def _drafts(chat: "ChatApp", _: str) -> None:
    chat.mind.action_drafts()


async def _timeline(chat: "ChatApp", _: str) -> None:
    chat.mind.action_timeline()


async def _run(chat: "ChatApp", rest: str) -> None:
    if rest and not rest.isdigit():
        chat.tell("Say how many iterations: /run 3.", refused=True)
    elif chat.mind.only_now():
        chat.mind.work.begin("observe", int(rest) if rest else None)


async def _stop(chat: "ChatApp", _: str) -> None:
    await chat.mind.work.stop()


OF_MINDS = (
    Slash("accept", "[N]", "Make a draft the answer; the latest by default.", _accept),
    Slash("seen", "[N …]", "Mark drafts as read; all by default.", _seen),
    Slash("signal", "[PRESENCE] [STATUS]", "Tell the mind how present you are.", _signal),
    Slash("run", "[N]", "Let the mind work, until it has a draft or for N iterations.", _run),
    Slash("stop", "", "Stop the run.", _stop),
    Slash("think", "TEXT", "Put a thought of your own into the mind's pool.", _think),
    Slash("fork", "NAME", "Branch off at the moment that is looked at, and go on there.", _fork),
    Slash("switch", "[NAME]", "Go to another session; without a name, list them.", _switch),
    Slash("new", "NAME [MESSAGE]", "Begin another session.", _new),
    Slash("search", "WORDS", "Find what was said to minds and agents, and go there.", _search),
    Slash("export", "[markdown|jsonl] FILE", "Write the session to a new file.", _export),
    Slash("context", "", "What stands in the next prompt, and why.", _context),
    Slash("thoughts", "", "The newest thoughts, at full length.", _thoughts),
    Slash("config", "[KEY=VALUE]", "Show the settings, or change one.", _config),
    Slash("drafts", "", "Go to the drafts.", _drafts),
    Slash("timeline", "", "Show the timeline, or hide it.", _timeline),
)
