"""YAML as a tree of what was written: no Python objects are made and no types are guessed.

Built from the parser's events, so ``no`` and ``42`` stay the texts they are, and every node knows
where it stands in the source. What only an attack needs is refused on sight: anchors, aliases,
merge keys, tags that ask for objects, deep nesting, endless lists.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import yaml

from domain.protocol.fields import Refusal, known, shown

MOST_EVENTS = 20_000
DEEPEST = 24

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_NULLS = {"", "~", "null", "Null", "NULL"}


class Node(NamedTuple):
    """A scalar, list or map, and the stretch of source it stands in (end excluded)."""

    kind: Literal["scalar", "list", "map"]
    style: str
    """Of a scalar: its quote or block sign, empty when plain. Of others: ``flow`` or empty."""
    start: int
    end: int
    text: str = ""
    children: tuple["Node", ...] = ()
    """The items of a list; the keys and values of a map, in turn."""

    @property
    def is_null(self) -> bool:
        """Whether nothing is there."""
        return self.kind == "scalar" and not self.style and self.text in _NULLS

    @property
    def is_lines(self) -> bool:
        """Whether it is written as plain lines alone, so that its source reads well as text."""
        return not self.style and all(child.is_lines for child in self.children)

    @property
    def last(self) -> "Node":
        """The scalar, or the closed bracket, with which it ends."""
        node = self
        while node.children and node.style != "flow":
            node = node.children[-1]
        return node

    def source(self, text: str) -> str:
        """What stands in ``text``, without the indentation of its first line."""
        first, *rest = text[self.start : self.end].rstrip().split("\n")
        column = self.start - (text.rfind("\n", 0, self.start) + 1)
        return "\n".join([first, *(_outdented(line, column) for line in rest)])


class Trouble(NamedTuple):
    """It is not YAML."""

    reason: str
    at_end: bool
    """The reader still waited for something when the text ended."""
    quoted: bool
    """What it waited for was a closing quote."""


class Document(NamedTuple):
    """The first document that matters; ``root`` is None where there is nothing at all."""

    root: Node | None
    repairs: tuple[str, ...] = ()


def compose(text: str) -> Document | Trouble | Refusal:
    """Read ``text`` as YAML. Never raises."""
    try:
        return _compose(text)
    except _RefusedError as refused:
        return Refusal(str(refused))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f" (line {mark.line + 1})" if mark else ""
        return Trouble(
            f"{error.problem or error.context or 'unreadable'}{line}",
            bool(mark and mark.index >= len(text.rstrip())),
            "quoted" in (error.context or ""),
        )
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return Trouble(str(error).partition("\n")[0], at_end=False, quoted=False)


class _RefusedError(Exception):
    pass


def _compose(text: str) -> Document:
    first: Node | None = None
    repairs: list[str] = []
    for root in _documents(text, repairs):
        first = first or root
        if root.kind == "map" and any(
            key.kind == "scalar" and known(key.text) for key in root.children[::2]
        ):
            if any(
                line.strip(" \t-.") and not line.lstrip().startswith("#")
                for line in text[root.end :].split("\n")[:200]
            ):
                repairs.append("Left out what follows the first document.")
            return Document(root, tuple(repairs))
    return Document(first, tuple(repairs))


def _documents(text: str, repairs: list[str]) -> Iterator[Node]:
    stack: list[tuple[Any, list[Node]]] = []
    done: Node | None = None
    for event in _harmless_events(text):
        if isinstance(event, yaml.CollectionStartEvent):
            if len(stack) >= DEEPEST:
                raise _RefusedError("The reply is nested too deeply.")
            stack.append((event, []))
            continue
        if isinstance(event, yaml.ScalarEvent):
            done = _scalar(event, text, repairs)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = _collection(*stack.pop(), event)
        elif isinstance(event, yaml.DocumentEndEvent) and done is not None:
            yield done
            done = None
            continue
        if stack and done is not None:
            stack[-1][1].append(done)
            done = None


def _harmless_events(text: str) -> Iterator[Any]:
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if count > MOST_EVENTS:
            raise _RefusedError("The reply has too many parts.")
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise _RefusedError(f"The reply uses a YAML anchor or alias, {shown(event.anchor)}.")
        if isinstance(event, yaml.CollectionStartEvent) and event.tag is not None:
            raise _RefusedError(f"The reply uses the YAML tag {shown(event.tag)}.")
        yield event


def _scalar(event: Any, text: str, repairs: list[str]) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    style = event.style or ""
    value = event.value
    if event.tag is not None and event.tag not in _STANDARD_TAGS:
        if not event.tag.startswith("!"):
            raise _RefusedError(f"The reply uses the YAML tag {shown(event.tag)}.")
        # An exclamation mark at the beginning of what was meant as text.
        value = text[start:end]
        style = style or "!"
    if event.tag is not None:
        repairs.append(f"Read the YAML tag {shown(event.tag)} as no tag.")
    return Node("scalar", style, start, end, value)


def _collection(event: Any, children: list[Node], end: Any) -> Node:
    is_map = isinstance(event, yaml.MappingStartEvent)
    if is_map and any(not key.style and key.text == "<<" for key in children[::2]):
        raise _RefusedError("The reply uses a YAML merge key.")
    flow = bool(event.flow_style)
    # The end of a block collection is only noticed at whatever comes next.
    last = end.end_mark.index if flow or not children else children[-1].end
    return Node(
        "map" if is_map else "list",
        "flow" if flow else "",
        event.start_mark.index,
        last,
        children=tuple(children),
    )


def _outdented(line: str, column: int) -> str:
    return line[column:] if not line[:column].strip(" ") else line.lstrip(" ")
