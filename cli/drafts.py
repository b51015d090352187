"""Reading drafts: drafts, drafts seen, drafts diff."""

from typing import Annotated

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import desk
from commands.drafts import MarkSeen
from domain.errors import NoSuchDraft, NothingAwaits
from projections.board import Board, Pinned, board

app = typer.Typer(help="Show the drafts of the open exchange, or of any exchange.")

ExchangeOption = Annotated[
    str | None, typer.Option("--exchange", "-e", help="An exchange, open or closed.", metavar="ID")
]


@app.callback(invoke_without_command=True)
def drafts(
    context: typer.Context,
    exchange: ExchangeOption = None,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the drafts, oldest first; those of a closed exchange stay readable for ever.

    Example: mind drafts --exchange exc_1_000 --full
    """
    if context.invoked_subcommand is not None:
        return
    with desk(store, session) as at:
        shown = board(at.log, at.session, exchange, at.version)
        idle = exchange is None and at.state.dialogue.awaiting is None
    if json:
        out.as_json(_as_data(shown))
    elif shown is None:
        out.talk('There is no exchange yet: mind message "…"')
    elif idle:
        out.talk(f"Nothing awaits an answer. The last exchange: mind drafts -e {shown.exchange}")
    else:
        _print(shown, full=full)


def _as_data(shown: Board | None) -> object:
    if shown is None:
        return None
    drafts = [{**d._asdict(), "at": out.iso(d.at)} for d in shown.drafts]
    return {**shown._asdict(), "asked_at": out.iso(shown.asked_at), "drafts": drafts}


def _print(shown: Board, *, full: bool) -> None:
    out.answer(out.shade(shown.exchange, "strong"))
    out.answer(out.shade(out.block(shown.question, lines=None if full else 4), "user"))
    for draft in shown.drafts:
        out.answer()
        out.answer(out.shade(f"#{draft.index}", "strong") + out.shade(_marks(draft), "faint"))
        out.answer(out.block(draft.text, lines=None if full else 8))
    if not shown.drafts:
        out.talk("No draft yet: mind run")


def _marks(draft: Pinned) -> str:
    marks = [
        f"iteration {draft.iteration}",
        *(["accepted"] if draft.accepted else []),
        *(["unseen"] if not draft.seen else []),
        *(["signal"] if draft.signal else []),
        *(["late"] if draft.late else []),
        *([f"repeats #{draft.repeats}"] if draft.repeats else []),
        *([f"confidence {draft.confidence:g}"] if draft.confidence is not None else []),
        *(["still working"] if draft.working else []),
    ]
    return "  " + ", ".join(marks)


@app.command()
def seen(
    indexes: Annotated[list[int] | None, typer.Argument(help="Drafts; all by default.")] = None,
    store: StoreOption = None,
    session: SessionOption = None,
) -> None:
    """Mark drafts as read, which the mind is told.

    Example: mind drafts seen 1 3
    """
    with desk(store, session) as at:
        done = at.do(MarkSeen(indexes=tuple(indexes or ())))
        drafts = len(at.state.dialogue.drafts)
    if done.events:
        out.talk("Marked as seen.")
    else:
        out.talk("All of them were seen before." if drafts else "No draft yet: mind run")


@app.command()
def diff(
    first: Annotated[int, typer.Argument(help="A draft.")],
    second: Annotated[int, typer.Argument(help="Another draft.")],
    exchange: ExchangeOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show word by word what changed between two drafts: [-gone-] and {+new+}.

    Example: mind drafts diff 1 3
    """
    with desk(store, session) as at:
        shown = board(at.log, at.session, exchange, at.version)
    if shown is None:
        raise NothingAwaits(at.session)
    from projections.worddiff import word_diff  # noqa: PLC0415 — difflib, for this verb alone

    texts = {d.index: d.text for d in shown.drafts}
    for index in (first, second):
        if index not in texts:
            raise NoSuchDraft(index, len(texts))
    pieces = word_diff(texts[first], texts[second])
    if json:
        out.as_json([piece._asdict() for piece in pieces])
        return
    out.answer(out.wrapped("".join(out.marked(piece.change, piece.text) for piece in pieces)))


def register(parent: typer.Typer) -> None:
    """Add the verbs of this file."""
    parent.add_typer(app, name="drafts")
