"""A graph of artifacts as a picture: Graphviz, SVG, or a page that needs nothing from elsewhere."""

from html import escape
from textwrap import wrap

from projections.artifact_graph import Edge, Graph, Kind, Place, placed

WIDTH, HEIGHT = 232, 64
"""Of a box, in pixels."""

GAP_X, GAP_Y = 112, 18
MARGIN = 24
LETTERS, LINES = 34, 2
"""How much of a text stands in a box."""

_FILL = {
    "effort": "#dbe9ff",
    "fact": "#dff3df",
    "event": "#fff0cc",
    "summary": "#eeeeee",
    "elsewhere": "#ffffff",
}
_FADED = {"superseded", "merged", "rejected", "evicted", "excluded"}
_DASHES: dict[Kind, str] = {"supersedes": "6 4", "merged": "2 4", "link": "1 4", "import": "10 4"}
_STYLES: dict[Kind, str] = {
    "part": "solid",
    "supersedes": "dashed",
    "merged": "dotted",
    "link": "dotted",
    "import": "dashed",
}


_FONT = 'font-family="sans-serif" font-size="12"'
_ARROW = (
    '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>'
)


def dot(graph: Graph, title: str) -> str:
    """The graph for Graphviz."""
    lines = [f"digraph {_quoted(title)} {{", "  rankdir=LR;", '  node [shape=box, style="filled"];']
    for node in graph.nodes:
        head = node.id if node.type == "elsewhere" else f"{node.type} {node.id}"
        label = "\n".join((f"{head} {node.standing}".rstrip(), *_cut(node.text)))
        fill = _FILL.get(node.type, "#ffffff")
        lines.append(f'  {_quoted(node.id)} [label={_quoted(label)}, fillcolor="{fill}"];')
    for edge in graph.edges:
        style = f"label={_quoted(edge.label)}, style={_STYLES[edge.kind]}"
        lines.append(f"  {_quoted(edge.start)} -> {_quoted(edge.end)} [{style}];")
    return "\n".join([*lines, "}"])


def svg(graph: Graph, title: str) -> str:
    """The graph as an SVG image in layers from left to right."""
    places = {place.node.id: place for place in placed(graph)}
    layers = 1 + max((place.layer for place in places.values()), default=0)
    rows = 1 + max((place.row for place in places.values()), default=0)
    width = 2 * MARGIN + layers * WIDTH + (layers - 1) * GAP_X
    height = round(2 * MARGIN + rows * HEIGHT + (rows - 1) * GAP_Y)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT} role="img">',
        f"<title>{_safe(title)}</title>",
        _ARROW,
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(_line(edge, places) for edge in graph.edges),
        *(_box(place) for place in places.values()),
        *(_label(edge, places) for edge in graph.edges if edge.kind != "part"),
        "</svg>",
    ]
    return "\n".join(parts)


def page(graph: Graph, title: str) -> str:
    """The image and all texts in full, as a page of its own."""
    rows = "\n".join(
        f"<tr><td>{_safe(node.id)}</td><td>{_safe(node.type)}</td><td>{_safe(node.standing)}</td>"
        f"<td>{_safe(node.text)}</td></tr>"
        for node in graph.nodes
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{_safe(title)}</title>
<style>
body {{ font-family: sans-serif; margin: 2rem; color: #222; background: #fff; }}
.picture {{ overflow: auto; border: 1px solid #ccc; }}
table {{ border-collapse: collapse; margin-top: 2rem; }}
td, th {{ border: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top;
  white-space: pre-wrap; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>{_safe(title)}</h1>
<div class="picture">
{svg(graph, title)}
</div>
<table>
<tr><th>id</th><th>type</th><th>standing</th><th>what it says</th></tr>
{rows}
</table>
</body>
</html>"""


def _box(place: Place) -> str:
    node = place.node
    x, y = _corner(place)
    faded = ' opacity="0.55"' if node.standing in _FADED else ""
    border = ' stroke-dasharray="4 3"' if node.type == "elsewhere" else ""
    head = node.id if node.type == "elsewhere" else f"{node.type} {node.id}"
    standing = f'<tspan font-weight="normal" fill="#555"> {_safe(node.standing)}</tspan>'
    texts = [f'<text x="{x + 10}" y="{y + 18}" font-weight="bold">{_safe(head)}{standing}</text>']
    texts += [
        f'<text x="{x + 10}" y="{y + 36 + 16 * number}">{_safe(line)}</text>'
        for number, line in enumerate(_cut(node.text))
    ]
    return (
        f"<g{faded}><title>{_safe(node.text)}</title>"
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8"'
        f' fill="{_FILL.get(node.type, "#ffffff")}" stroke="#555"{border}/>{"".join(texts)}</g>'
    )


def _line(edge: Edge, places: dict[str, Place]) -> str:
    (x1, y1), (x2, y2), bend = _ends(edge, places)
    dashes = f' stroke-dasharray="{_DASHES[edge.kind]}"' if edge.kind in _DASHES else ""
    path = f"M{x1} {y1} C{bend} {y1} {bend} {y2} {x2} {y2}"
    return f'<path d="{path}" fill="none" stroke="#555"{dashes} marker-end="url(#end)"/>'


def _label(edge: Edge, places: dict[str, Place]) -> str:
    (x1, y1), (x2, y2), bend = _ends(edge, places)
    # the middle of the curve, on white so that no line runs through the word
    x, y = (x1 + 6 * bend + x2) // 8, (y1 + y2) // 2 + 3
    return (
        f'<text x="{x}" y="{y}" font-size="10" fill="#333" text-anchor="middle" stroke="#fff"'
        f' stroke-width="4" paint-order="stroke">{_safe(edge.label)}</text>'
    )


def _ends(edge: Edge, places: dict[str, Place]) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Where a line begins and ends, and how far to the right it bends."""
    start, end = places[edge.start], places[edge.end]
    (x1, y1), (x2, y2) = _corner(start), _corner(end)
    if end.layer >= start.layer:
        x1 += WIDTH
    if end.layer <= start.layer:
        x2 += WIDTH
    bend = (x1 + x2) // 2 if start.layer != end.layer else x1 + GAP_X // 2
    return (x1, y1 + HEIGHT // 2), (x2, y2 + HEIGHT // 2), bend


def _corner(place: Place) -> tuple[int, int]:
    x = MARGIN + place.layer * (WIDTH + GAP_X)
    return x, round(MARGIN + place.row * (HEIGHT + GAP_Y))


def _cut(text: str) -> list[str]:
    """The beginning of a text, as it fits into a box."""
    lines = wrap(" ".join(text.split()), LETTERS)
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], lines[LINES - 1][: LETTERS - 1] + "…"]
    return lines


def _safe(text: str) -> str:
    """A text as XML may hold it: escaped, without what no XML can hold."""
    held = "".join(c if c >= " " or c in "\t\n" else "\ufffd" for c in text)
    held = held.encode("utf-8", "replace").decode("utf-8").replace("\ufffe", "\ufffd")
    return escape(held.replace("\uffff", "\ufffd"))


def _quoted(text: str) -> str:
    """A string of Graphviz; a line break stays one."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c >= " " else "\ufffd" for c in plain) + '"'
