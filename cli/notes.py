"""Notes in the margin: note."""

from typing import Annotated

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.texts import read_text
from cli.wiring import Desk, desk
from commands.notes import AddNote
from domain.errors import BadSetting
from domain.events import NoteAdded
from domain.recorded import Recorded


def note(
    text: Annotated[str | None, typer.Argument(help="The note; - reads the pipe.")] = None,
    about: Annotated[
        list[str] | None, typer.Option("--about", "-a", help="A moment that it speaks of.")
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 10,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Write a note that the mind never sees; without a text, show the notes, oldest first.

    Example: mind note "This is where it went astray." --about draft:2
    """
    with desk(store, session) as at:
        if text is not None:
            at.only_now()
            versions = tuple(_here(at, ref) for ref in about or ())
            done = at.do(AddNote(text=read_text(text, None), about=versions))
            out.talk(f"Noted, as event {done.state.version}.")
            return
        if about:
            raise BadSetting('--about needs a note to go with: mind note "…" --about REF.')
        newest = at.log.read(at.session, upto=at.version, kinds=["note.added"], newest_first=True)
        notes = list(
            newest if not count else (r for r, _ in zip(newest, range(count), strict=False))
        )
    told = [(r, r.event) for r in reversed(notes) if isinstance(r.event, NoteAdded)]
    if json:
        out.as_json([_data(recorded, event) for recorded, event in told])
        return
    for recorded, event in told:
        marks = f"  {out.when(recorded.at)}, {out.safe(str(recorded.actor))}"
        marks += f", iteration {event.iteration}"
        marks += f", about {', '.join(map(str, event.about))}" if event.about else ""
        out.answer(out.shade(f"{recorded.version}", "strong") + out.shade(marks, "faint"))
        out.answer(out.block(event.text, lines=None if full else 8))
    if not told:
        out.talk("There is no note yet.")


def _here(at: Desk, ref: str) -> int:
    session, version = at.moment(ref)
    if session != at.session:
        raise BadSetting(f"{ref!r} is a moment of another session: a note is about its own.")
    return version


def _data(recorded: Recorded, event: NoteAdded) -> dict[str, object]:
    return {
        "version": recorded.version,
        "at": out.iso(recorded.at),
        "by": str(recorded.actor),
        "iteration": event.iteration,
        "about": event.about,
        "text": event.text,
    }


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(note)
