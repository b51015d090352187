"""Artifacts as a picture: artifact graph."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import output as out
from cli.artifacts import app
from cli.catalogue import catalogue_of
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import desk
from domain.errors import BadBundle, BadSetting

if TYPE_CHECKING:
    from projections.artifact_graph import Graph


@app.command()
def graph(
    dot: Annotated[bool, typer.Option("--dot", help="Graphviz.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="An image.")] = False,
    html: Annotated[bool, typer.Option("--html", help="A page that needs no network.")] = False,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it there.", metavar="FILE")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Summaries and rejected ones, too.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Draw how artifacts hang together: parts, what supersedes what, what was imported where.

    Example: mind artifact graph --html -o artifacts.html
    """
    if dot + svg + html + json > 1:
        raise BadSetting("Choose one of --dot, --svg, --html and --json.")
    from projections.artifact_graph import graph as drawn  # noqa: PLC0415 — as the verb is called
    from projections.past import as_of  # noqa: PLC0415

    with desk(store, session) as at:
        log = at.log if at.version is None else as_of(at.log, at.session, at.version)
        found = drawn(log, at.session, catalogue_of(at), everything=everything)
        title = f"Artifacts of {at.session}"
    if json:
        out.as_json(
            {
                "nodes": [node._asdict() for node in found.nodes],
                "edges": [edge._asdict() for edge in found.edges],
            }
        )
    elif dot or svg or html:
        from cli import pictures  # noqa: PLC0415 — for those who want one

        make = pictures.dot if dot else pictures.svg if svg else pictures.page
        _give(make(found, title), file)
    elif file is not None:
        _give("\n".join(_lines(found)), file)
    else:
        for line in _lines(found):
            out.answer(line)
        if not found.nodes:
            out.talk("There is no artifact yet.")


def _give(text: str, file: Path | None) -> None:
    if file is None:
        out.answer(text)
        return
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadBundle(str(file), f"can't be written ({error.strerror or error})") from None
    out.talk(f"Wrote {out.safe(str(file))}.")


def _lines(found: "Graph") -> Iterator[str]:
    """The graph as a tree for a terminal; what runs across it is said behind the line."""
    below: dict[str, list[str]] = {}
    held: set[str] = set()
    for edge in found.edges:
        if edge.kind in {"part", "import"} and edge.end not in held | {edge.start}:
            below.setdefault(edge.start, []).append(edge.end)
            held.add(edge.end)
    across: dict[str, list[str]] = {}
    for edge in found.edges:
        if edge.kind in {"supersedes", "merged", "link"}:
            across.setdefault(edge.start, []).append(f"{edge.label} {edge.end}")
    nodes = {node.id: node for node in found.nodes}
    step, end, past = ("├─ ", "└─ ", "│  ") if _is_utf8() else ("|- ", "`- ", "|  ")
    waiting = [(id_, "", "") for id_ in reversed(list(nodes)) if id_ not in held]
    while waiting:
        id_, before, under = waiting.pop()
        node = nodes[id_]
        name = id_ if node.type == "elsewhere" else f"{node.type} {id_}"
        notes = f"  [{'; '.join(across[id_])}]" if id_ in across else ""
        standing = f" ({node.standing})" if node.standing not in {"", "current"} else ""
        text = out.one_line(f"{node.text}{notes}", 400)
        yield out.safe(f"{before}{name}{standing}  {text}").rstrip()
        parts = below.get(id_, [])
        for number, part in enumerate(reversed(parts)):
            last = number == 0
            line, deeper = (end, "   ") if last else (step, past)
            waiting.append((part, under + line, under + deeper))


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") == "utf8"
