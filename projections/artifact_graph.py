"""How the artifacts of a session hang together, as a graph that can be drawn in layers.

Wholes have their parts to the right of them, what was imported has its origin to the left, and
whatever else connects two of them runs across.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

from domain.events import ArtifactImported
from domain.ids import SessionId
from domain.log import Log
from projections.artifacts import Catalogue, Item

Kind = Literal["part", "supersedes", "merged", "link", "import"]


class Node(NamedTuple):
    """An artifact, or a place in another session."""

    id: str
    """``412``, or ``payments@41``."""
    type: str
    """Its type; ``elsewhere`` for a place in another session."""
    standing: str
    text: str


class Edge(NamedTuple):
    """Something that connects two nodes: read it from ``start`` to ``end``."""

    start: str
    end: str
    kind: Kind
    label: str


class Graph(NamedTuple):
    """Nodes, oldest first, and what connects them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class Place(NamedTuple):
    """Where a node is drawn."""

    node: Node
    layer: int
    """From the left, from 0."""
    row: float
    """From the top, from 0; a whole is in the middle of its parts."""


def graph(log: Log, session: SessionId, found: Catalogue, *, everything: bool = False) -> Graph:
    """The graph of a session's artifacts.

    Args:
        log: where sessions are looked through for what they imported from this one.
        session: which session.
        found: its artifacts.
        everything: whether summaries, and what left with nothing hanging on it, are shown, too.
    """
    items = [item for item in found if everything or _is_shown(item)]
    inside = {item.id for item in items}
    nodes = {str(i.id): Node(str(i.id), i.type, i.standing, _words(i)) for i in items}
    edges: list[Edge] = []
    for item in items:
        edges += _edges(item, inside)
        if item.origin is not None:
            there = f"{item.origin.session}@{item.origin.version}"
            moved = "origin has moved on" if item.origin.moved_on else ""
            nodes.setdefault(there, Node(there, "elsewhere", moved, item.origin.now or ""))
            how = "followed" if item.origin.follow else "imported"
            edges.append(Edge(there, str(item.id), "import", how))
    for there, id_ in _exports(log, session, inside):
        nodes[there] = Node(there, "elsewhere", "", "")
        edges.append(Edge(str(id_), there, "import", "imported there"))
    return Graph(tuple(nodes.values()), tuple(dict.fromkeys(edges)))


def placed(of: Graph) -> list[Place]:
    """The nodes in layers, from the top to the bottom: parts lie right of their whole.

    No two nodes of a layer are less than a row apart, and no line from a whole to its parts
    crosses another one of these.
    """
    below: dict[str, list[str]] = defaultdict(list)
    has_whole: set[str] = set()
    for edge in of.edges:
        # the first that holds a node decides where it is drawn
        if edge.kind in {"part", "import"} and edge.end not in has_whole | {edge.start}:
            below[edge.start].append(edge.end)
            has_whole.add(edge.end)
    nodes = {node.id: node for node in of.nodes}
    places: dict[str, Place] = {}
    next_row = 0.0
    roots = [id_ for id_ in nodes if id_ not in has_whole]
    # nodes on a circle have no root: whoever is left begins one
    for root in (*roots, *nodes):
        if root in places:
            continue
        next_row = _place(root, below, nodes, places, next_row)
    return sorted(places.values(), key=lambda place: (place.row, place.layer))


def _place(
    root: str,
    below: dict[str, list[str]],
    nodes: dict[str, Node],
    places: dict[str, Place],
    next_row: float,
) -> float:
    """Place a node and all below it; without recursion, since efforts may be nested deeply."""
    order: list[tuple[str, int]] = []
    parts: dict[str, list[str]] = defaultdict(list)  # those that were not placed before
    waiting: list[tuple[str, int, str | None]] = [(root, 0, None)]
    seen = set(places)
    while waiting:
        id_, layer, whole = waiting.pop()
        if id_ in seen:
            continue
        seen.add(id_)
        order.append((id_, layer))
        if whole is not None:
            parts[whole].append(id_)
        waiting += [(part, layer + 1, id_) for part in reversed(below[id_])]
    for id_, layer in order:
        if not parts[id_]:
            places[id_] = Place(nodes[id_], layer, next_row)
            next_row += 1
    for id_, layer in reversed(order):
        if parts[id_]:
            first, last = places[parts[id_][0]].row, places[parts[id_][-1]].row
            places[id_] = Place(nodes[id_], layer, (first + last) / 2)
    return next_row


def _is_shown(item: Item) -> bool:
    """Whether it holds, or something that holds says what became of it."""
    return item.type != "summary" and (item.holds or item.left in {"superseded", "merged"})


def _words(item: Item) -> str:
    ended = f" => {item.resolution}" if item.resolution is not None else ""
    times = " until ".join(filter(None, (item.when, item.expires)))
    return f"{item.text}{ended}" + (f" ({times})" if times else "")


def _edges(item: Item, inside: set[int]) -> Iterable[Edge]:
    id_ = str(item.id)
    # what was merged into its own whole is no part of it any more
    if item.parent in inside and not (item.left == "merged" and item.instead == item.parent):
        label = "part" if item.type == "effort" else "learned in"
        yield Edge(str(item.parent), id_, "part", label)
    for old in item.supersedes:
        if old in inside:
            yield Edge(id_, str(old), "supersedes", "supersedes")
    for other in item.merged:
        if other in inside:
            yield Edge(str(other), id_, "merged", "merged into")
    for link in item.links:
        if link.artifact == item.id and link.to in inside:
            yield Edge(id_, str(link.to), "link", link.relation)


def _exports(log: Log, session: SessionId, inside: set[int]) -> Iterable[tuple[str, int]]:
    """What other sessions imported from this one: their name of it, and its id."""
    streams = {part.stream for part in log.path(session)}
    for other in log.sessions():
        if other == session:
            continue
        own = log.path(other)[0]
        for recorded in log.read(other, after=own.after, kinds=["artifact.imported"]):
            event = recorded.event
            if (
                isinstance(event, ArtifactImported)
                and event.source.session in streams
                and event.source.version in inside
                and log.head(session, event.source.version).hash == event.source.hash
            ):
                yield f"{other}@{recorded.version}", event.source.version
