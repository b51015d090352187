"""Trees of messages: the way that a talk went in the end, and the ways that were left.

Programs keep edited questions and regenerated answers as siblings. Nodes are numbered so that each
comes behind its parent.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol

from commands.imports.talk import Branch, Turn

ROOT = -1


class Nodes(Protocol):
    """What the nodes of a tree hold."""

    def name(self, number: int) -> str:
        """What the source calls it."""
        ...

    def role(self, number: int) -> str:
        """Who speaks there."""
        ...

    def turns(self, way: Iterable[int]) -> Iterator[Turn]:
        """What was said along a way."""
        ...


class Tree:
    """Who is whose parent, and who says something."""

    def __init__(self, parents: Sequence[int], says: Sequence[int]) -> None:
        """Number the nodes so that each comes behind its parent.

        Args:
            parents: by node; ``ROOT`` for a node without one.
            says: by node, true for those that hold a turn: others only connect.
        """
        self.parents, self.says = parents, says
        self._child = array("q", [ROOT]) * len(parents)
        self._sibling = array("q", [ROOT]) * len(parents)
        self._roots: list[int] = []
        alive = bytearray(len(parents))
        for node in range(len(parents) - 1, -1, -1):  # children first: what nobody needs is dead
            if says[node]:
                alive[node] = 1
            if not alive[node]:
                continue
            parent = parents[node]
            if parent == ROOT:
                self._roots.append(node)
                continue
            alive[parent] = 1
            self._sibling[node] = self._child[parent]
            self._child[parent] = node
        self._roots.reverse()

    def way_to(self, leaf: int) -> Sequence[int]:
        """All nodes from the root down to a leaf."""
        way = array("q", [leaf])
        way.extend(self.above(leaf))
        way.reverse()
        return way

    def above(self, node: int) -> Iterator[int]:
        """The nodes above, nearest first."""
        node = self.parents[node]
        while node != ROOT:
            yield node
            node = self.parents[node]

    def deepest(self, node: int) -> int:
        """The end of the way that goes on with the newest child each time."""
        while (children := list(self._children(node))) != []:
            node = children[-1]
        return node

    def newest_leaf(self) -> int | None:
        """The end of the newest way; None where nobody says anything."""
        return self.deepest(self._roots[-1]) if self._roots else None

    def left(self, way: Sequence[int]) -> Iterator[Sequence[int]]:
        """The ways that part from this one, and from each other; each behind what it parts from.

        Each begins with the first of its own nodes that says something.
        """
        taken = frozenset(way[:1])
        for root in self._roots:
            if root not in taken:
                yield from self._ways(root)
        yield from self._parting(way)

    def _parting(self, way: Sequence[int]) -> Iterator[Sequence[int]]:
        for place, node in enumerate(way):
            after = way[place + 1] if place + 1 < len(way) else None
            for child in self._children(node):
                if child != after:
                    yield from self._ways(child)

    def _ways(self, start: int) -> Iterator[Sequence[int]]:
        """The way that begins with a node, then those that part from it; never recursing deep."""
        waiting = [start]
        while waiting:
            node = waiting.pop()
            way = [node]
            while (children := list(self._children(node))) != []:
                waiting += children[:-1]
                node = children[-1]
                way.append(node)
            says = next((place for place, one in enumerate(way) if self.says[one]), None)
            if says is not None:
                yield array("q", way[says:])

    def _children(self, node: int) -> Iterator[int]:
        child = self._child[node]
        while child != ROOT:
            yield child
            child = self._sibling[child]


def branches(tree: Tree, way: Sequence[int], nodes: Nodes) -> Iterator[Branch]:
    """The ways that were left, as branches; those that they part from come first."""
    for left in tree.left(way):
        yield _branch(tree, left, nodes)


def _branch(tree: Tree, left: Sequence[int], nodes: Nodes) -> Branch:
    first = left[0]

    def turns(after: int | None) -> Iterator[Turn]:
        between = []
        for node in tree.above(first):
            if node == after:
                break
            between.append(node)
        between.reverse()
        return nodes.turns([*between, *left])

    role: Literal["user", "mind"] = "user" if nodes.role(first) == "user" else "mind"
    return Branch(nodes.name(first), role, lambda: tree.above(first), turns)
