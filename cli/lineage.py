"""Where things came from: why."""

from typing import Annotated

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import desk
from domain.errors import BadSetting


def why(
    what: Annotated[str, typer.Argument(help="thought:N, or its number.", metavar="THOUGHT")],
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="So many that stood before it.")
    ] = 5,
    depth: Annotated[
        int, typer.Option("--depth", "-d", min=1, max=50, help="So far back along the nearest.")
    ] = 3,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show what a mind was shown when it had a thought: the nearest first, and what led to those.

    Example: mind why thought:42
    """
    from projections.lineage import Lineage  # noqa: PLC0415 — brings numpy along

    digits = what.removeprefix("thought:")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise BadSetting(f"{what!r} names no thought: write thought:N (mind thoughts lists them).")
    with desk(store, session) as at:
        line = Lineage(at.log, at.state).line(int(digits), depth)
    if json:
        out.as_json(
            [{**o._asdict(), "ancestors": [a._asdict() for a in o.ancestors]} for o in line]
        )
        return
    lines = None if full else 3
    for place, origin in enumerate(line):
        marks = [f"iteration {origin.iteration}", f"{origin.origin}: {origin.by}"]
        if origin.cluster is not None:
            marks.append(f"cluster {origin.cluster}")
        head = out.shade(f"thought {origin.version}", "strong")
        out.answer(head + out.shade(f"  {', '.join(marks)}", "faint"))
        out.answer(out.block(origin.text, lines=lines))
        if place == 0 and origin.message is not None:
            out.answer(out.shade(f"  asked: {out.one_line(origin.message, 70)}", "user"))
        if origin.ancestors:
            shown = out.count(len(origin.ancestors), "thought")
            out.answer(out.shade(f"  shown {shown}:", "faint"))
        for ancestor in origin.ancestors[:count]:
            near = "   –" if ancestor.similarity is None else f"{ancestor.similarity:.2f}"
            back = " (recalled)" if ancestor.recalled else ""
            text = out.one_line(ancestor.text, out.width() - 24)
            out.answer(f"    {near}  {ancestor.version:>6}{back}  {text}")
        if not origin.ancestors:
            out.answer(out.shade("  It came from no other thought.", "faint"))


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(why)
