"""ChatGPT's data export: ``conversations.json``, or the zip that holds it.

A conversation there is a tree of nodes: what was regenerated or edited stays as a sibling, and
``current_node`` is where the talk ended.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from commands.imports.blocks import PLACEHOLDERS, microseconds
from commands.imports.elements import Element, parsed, scan
from commands.imports.files import Opened, Told, opened
from commands.imports.report import Report
from commands.imports.talk import Conversation, Part, Result, Text, Thought, Tool, Turn, paired
from commands.imports.tree import ROOT, Nodes, Tree, branches
from domain.errors import BadBundle

HIDDEN = "is_visually_hidden_from_conversation"


def conversations(file: Opened, report: Report, told: Told) -> Iterator[Conversation]:
    """All conversations of an export, each in memory only while it is looked at.

    Raises:
        BadBundle: it is no such export.
    """
    place = 0
    for name in file.parts("conversations"):
        with opened(file, name, told) as source:
            for one in scan(source, file.name):
                if isinstance(one, Element):
                    text, line = one.text, one.line
                elif one.rest.startswith(b"{"):
                    text, line = one.rest, one.line
                else:
                    continue
                place += 1
                yield _conversation(text, line, place, file.name, report)


def _conversation(text: bytes, line: int, place: int, file: str, report: Report) -> Conversation:
    data = parsed(text, file, line)
    mapping = data.get("mapping") if isinstance(data, dict) else None
    if not isinstance(mapping, dict):
        raise BadBundle(
            file, f"what begins in line {line} is no conversation of ChatGPT (it has no mapping)"
        )
    nodes = _Nodes(mapping, report)
    tree = Tree(nodes.parents, nodes.says)
    leaf = nodes.numbers.get(str(data.get("current_node")))
    way = tree.way_to(leaf) if leaf is not None else []
    if not any(nodes.says[node] for node in way):
        leaf = tree.newest_leaf()
        way = tree.way_to(leaf) if leaf is not None else []
    id_ = data.get("conversation_id") or data.get("id")
    surely = isinstance(id_, str) and bool(id_)
    title = data.get("title")
    return Conversation(
        key=str(id_) if surely else f"{file}#{place}",
        surely=surely,
        title=title if isinstance(title, str) else None,
        digest=sha256(text).hexdigest(),
        began=microseconds(data.get("create_time")),
        turns=lambda: nodes.turns(way),
        branches=lambda: branches(tree, way, nodes),
    )


class _Nodes(Nodes):
    """The nodes of one conversation, numbered so that each comes behind its parent."""

    def __init__(self, mapping: Mapping[str, Any], report: Report) -> None:
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        self.parents: list[int] = []
        self._messages: list[dict[str, Any]] = []
        children: dict[str | None, list[str]] = {}
        for id_, node in mapping.items():
            parent = node.get("parent") if isinstance(node, dict) else None
            known = isinstance(parent, str) and parent in mapping
            children.setdefault(parent if known else None, []).append(id_)
        waiting = [(id_, ROOT) for id_ in reversed(children.get(None, []))]
        while waiting:
            id_, parent_number = waiting.pop()
            number = self.numbers[id_] = len(self.ids)
            self.ids.append(id_)
            self.parents.append(parent_number)
            node = mapping[id_]
            message = node.get("message") if isinstance(node, dict) else None
            self._messages.append(message if isinstance(message, dict) else {})
            waiting += [(child, number) for child in reversed(children.get(id_, []))]
        lost = len(mapping) - len(self.ids)
        if lost:
            report.leave_out("messages that are their own ancestors", lost)
        self.says = [self._read(number, report) is not None for number in range(len(self.ids))]

    def role(self, number: int) -> str:
        """Who speaks there."""
        author = self._messages[number].get("author")
        return str(author.get("role")) if isinstance(author, dict) else ""

    def name(self, number: int) -> str:
        """What the source calls it."""
        return self.ids[number]

    def turns(self, way: Iterable[int]) -> Iterator[Turn]:
        """What was said along a way."""
        quiet = Report()  # what is left out was counted when the nodes were numbered
        read = (self._read(number, quiet) for number in way)
        return paired(one for one in read if one is not None)

    def _read(self, number: int, report: Report) -> Turn | Result | None:
        message = self._messages[number]
        content = message.get("content")
        if not isinstance(content, dict):
            return None
        metadata = message.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        at, nodes, role = microseconds(message.get("create_time")), (number,), self.role(number)
        parts = _parts(content, message.get("recipient"), report)
        if not parts:
            return None
        if role == "user" and content.get("content_type") != "user_editable_context":
            if metadata.get(HIDDEN):
                return Turn("note", parts, at, nodes=nodes)
            return Turn("user", parts, at, nodes=nodes)
        if role == "assistant":
            model = metadata.get("model_slug")
            return Turn("mind", parts, at, model if isinstance(model, str) else None, nodes)
        text = "\n\n".join(part.text for part in parts if isinstance(part, Text))
        if role == "tool":
            author = message["author"]
            name = author.get("name")
            return Result(text, None, str(name) if name else None, at=at, nodes=nodes)
        return Turn("note", (Text(text),), at, nodes=nodes) if text else None


def _parts(content: dict[str, Any], recipient: Any, report: Report) -> tuple[Part, ...]:
    """What a message holds, by the kinds that the export has had over the years."""
    kind = str(content.get("content_type"))
    if kind == "thoughts":
        found = content.get("thoughts")
        texts = [_thought(one) for one in found] if isinstance(found, list) else []
        return tuple(Thought(text) for text in texts if text)
    if kind in {"reasoning_recap", "model_editable_context"}:
        report.leave_out(f"{kind} lines of ChatGPT")
        return ()
    if kind == "user_editable_context":
        told = (content.get("user_profile"), content.get("user_instructions"))
        return tuple(Text(one) for one in told if isinstance(one, str) and one.strip())
    texts = [_piece(piece, report) for piece in _pieces(content)]
    text = "\n\n".join(text for text in texts if text.strip())
    if isinstance(recipient, str) and recipient not in {"all", ""}:
        return (Tool(recipient, text),)
    return (Text(text),) if text else ()


def _pieces(content: dict[str, Any]) -> list[Any]:
    parts = content.get("parts")
    if isinstance(parts, list):
        return parts
    return [content[name] for name in ("text", "result", "name") if content.get(name)][:1]


def _piece(piece: Any, report: Report) -> str:
    if isinstance(piece, str):
        return piece
    if not isinstance(piece, dict):
        return ""
    kind = str(piece.get("content_type", "attachment"))
    if isinstance(piece.get("text"), str):  # what was spoken, written down
        return str(piece["text"])
    report.change(PLACEHOLDERS)
    for name in ("image", "audio", "video"):
        if name in kind:
            return f"[{name}]"
    return "[attachment]"


def _thought(one: Any) -> str:
    if not isinstance(one, dict):
        return ""
    summary, text = one.get("summary"), one.get("content")
    lines = [str(said) for said in (summary, text) if isinstance(said, str) and said.strip()]
    return "\n\n".join(dict.fromkeys(lines))
