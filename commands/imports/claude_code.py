"""Claude Code's sessions: one JSON object a line, linked by ``uuid`` and ``parentUuid``.

The lines of one answer share a ``message.id``: each holds one block of it. Results of tools come as
lines of the user and may stand beside the next use, so that they only connect; what was edited or
rewound stays as a sibling. Lines of subagents (``isSidechain``) are left out, unless the file has
no others.

A file is read twice: first for its shape, then, line by line, for what was said along a way.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import IO, Any, Literal, NamedTuple

from commands.imports.blocks import as_text, microseconds, said
from commands.imports.elements import parsed
from commands.imports.files import LONGEST, Opened, Told, digest, lines, opened
from commands.imports.report import Report
from commands.imports.talk import Conversation, Part, Text, Thought, Tool, Turn
from commands.imports.tree import ROOT, Nodes, Tree, branches
from domain.errors import BadBundle

_TITLES = ("customTitle", "aiTitle")
"""Where titles are, the best first; else in a summary of what is in the file."""
_SAID_BY_SYSTEM = {"compact_boundary", "local_command"}
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "[Request interr")
"""How texts begin that stand in the user's place and are not the user's."""
_CAVEATS = ("Caveat: The messages below", "<local-command-caveat>")
_SYNTHETIC = "<synthetic>"


def conversations(file: Opened, report: Report, told: Told) -> Iterator[Conversation]:
    """The one conversation of a file.

    Raises:
        BadBundle: it is no such file; the sentence names the line.
    """
    lines = _Lines(file, report, told)
    lines.look()
    leaf = lines.last
    if leaf is None:
        return
    tree = Tree(lines.parents, lines.says)
    way = tree.way_to(leaf)
    yield Conversation(
        key=lines.session or file.name,
        surely=lines.session is not None,
        title=lines.title,
        digest=lines.digest,
        began=lines.began,
        turns=lambda: lines.turns(way),
        branches=lambda: branches(tree, way, lines),
    )


class _Place(NamedTuple):
    """Where a line is."""

    offset: int
    number: int


class _Lines(Nodes):
    """The shape of a file, and its lines when they are asked for.

    A node is a line, or all lines of one answer. Numbers are kept in arrays: a file of 100 MB has
    some 100,000 lines.
    """

    def __init__(self, file: Opened, report: Report, told: Told) -> None:
        self.file, self.report, self.told = file, report, told
        self.parents, self.says = array("q"), bytearray()
        self.roles = bytearray()
        """By node: 1 for a message of the user, 2 for an answer, 0 for anything else."""
        self.last: int | None = None
        """The newest node of the talk itself."""
        self.session: str | None = None
        self.title: str | None = None
        self.digest = ""
        self.began: int | None = None
        self._nodes: dict[str, int] = {}
        """By uuid."""
        self._answers: dict[int, str] = {}
        """The message.id of the newest answers, by node."""
        self._first, self._next = array("q"), array("q")
        """By node its first line, by line the next one of the same node."""
        self._offsets, self._numbers = array("q"), array("q")
        self._results: dict[str, int] = {}
        """Where the result of a use of a tool is, by its id."""
        self._titles: dict[str, str] = {}
        self._summaries: dict[str, str] = {}
        """By the uuid of the last line that each is of; files hold those of others as well."""

    # the first reading

    def look(self) -> None:
        """Read the shape of the file."""
        aside, side, behind = 0, None, 0
        with opened(self.file, None, self.told) as source:
            for number, text in enumerate(lines(source, self.file), 1):
                offset, behind = behind, behind + len(text) + 1
                data = self._parsed(text, number, last=behind > self.file.size)
                if data is None:
                    continue
                beside = data.get("isSidechain") is True
                if side is None and data["type"] in {"user", "assistant"}:
                    side = beside  # the file of a subagent has no other lines
                if beside and not side:
                    aside += 1
                else:
                    self._take(data, _Place(offset, number))
        if aside:
            self.report.leave_out("lines of subagents (sidechains)", aside)
        self.digest = digest(self.file)
        own = [title for leaf, title in self._summaries.items() if leaf in self._nodes]
        titles = [self._titles[name] for name in _TITLES if name in self._titles]
        self.title = next(iter([*titles, *own[-1:]]), None)

    def _parsed(self, text: bytes, number: int, *, last: bool) -> dict[str, Any] | None:
        """What a line holds; None for a blank one, and for one that was still being written."""
        if not text.strip():
            return None
        try:
            data = parsed(text, self.file.name, number)
        except BadBundle:
            if not last:
                raise
            self.report.leave_out("last line, which breaks off")
            return None
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            raise BadBundle(self.file.name, f"line {number} is no line of Claude Code")
        return data

    def _take(self, data: dict[str, Any], place: _Place) -> None:
        kind, uuid = data["type"], data.get("uuid")
        for name in _TITLES:
            if isinstance(data.get(name), str):
                self._titles[name] = str(data[name])
        if kind == "summary" and isinstance(data.get("summary"), str):
            self._summaries[str(data.get("leafUuid"))] = str(data["summary"])
        if not isinstance(uuid, str):
            if kind != "summary":
                self.report.leave_out(f"lines of the program itself ({kind[:30]})")
            return
        if uuid in self._nodes:
            self.report.leave_out("lines that are there twice")
            return
        says = self._says(data)
        if not says and kind not in {"user", "assistant"}:
            self.report.leave_out(f"lines of the program itself ({kind[:30]})")
        node = self._nodes[uuid] = self._node(data, says)
        if says:
            self._add(node, place)
            self._seen(data, node)
        for id_ in _results(data):
            self._results[id_] = self._put(place)

    def _node(self, data: dict[str, Any], says: int) -> int:
        """The node that a line belongs to: one of its own, or that of the answer it is part of."""
        parent = self._parent(data)
        node = self._joined(data, parent) if data["type"] == "assistant" else None
        if node is None:
            node = len(self.parents)
            self.parents.append(parent)
            self.says.append(says)
            self.roles.append(_role(data) if says else 0)
            self._first.append(ROOT)
        elif says:
            self.says[node], self.roles[node] = 1, 2
        return node

    def _seen(self, data: dict[str, Any], node: int) -> None:
        """Note what the conversation as a whole learns from a line."""
        if self.began is None:
            self.began = microseconds(data.get("timestamp"))
        if data["type"] in {"user", "assistant"}:
            self.last = node
            session = data.get("sessionId")
            if self.session is None and isinstance(session, str) and session:
                self.session = session

    def _says(self, data: dict[str, Any]) -> int:
        return int(bool(_parts(data, self.report)))

    def _parent(self, data: dict[str, Any]) -> int:
        """The node that a line hangs on; where that is unknown, the newest one."""
        for name in ("parentUuid", "logicalParentUuid"):
            parent = data.get(name)
            if isinstance(parent, str):
                newest = self.last if self.last is not None else ROOT
                return self._nodes.get(parent, newest)
        if data.get("isCompactSummary") is True and self.last is not None:
            return self.last
        return ROOT

    def _joined(self, data: dict[str, Any], parent: int) -> int | None:
        """The node of the same answer, if the line goes on with it."""
        message = data.get("message")
        id_ = message.get("id") if isinstance(message, dict) else None
        if not isinstance(id_, str):
            return None
        node = parent
        while node != ROOT and self.roles[node] == 0 and not self.says[node]:
            node = self.parents[node]
        if node != ROOT and self._answers.get(node) == id_:
            return node
        self._answers[len(self.parents)] = id_
        while len(self._answers) > 1000:  # answers are written in one go
            del self._answers[next(iter(self._answers))]
        return None

    def _add(self, node: int, place: _Place) -> None:
        line = self._put(place)
        if self._first[node] == ROOT:
            self._first[node] = line
            return
        before = self._first[node]
        while self._next[before] != ROOT:
            before = self._next[before]
        self._next[before] = line

    def _put(self, place: _Place) -> int:
        self._offsets.append(place.offset)
        self._numbers.append(place.number)
        self._next.append(ROOT)
        return len(self._offsets) - 1

    # the second reading

    def name(self, number: int) -> str:
        """The uuid of its first line."""
        with self.file.path.open("rb") as file:
            return str(self._at(file, self._first[number]).get("uuid"))

    def role(self, number: int) -> str:
        """Who speaks there."""
        return ("", "user", "assistant")[self.roles[number]]

    def turns(self, way: Iterable[int]) -> Iterator[Turn]:
        """What was said along a way."""
        with self.file.path.open("rb") as file:
            for node in way:
                if self._first[node] == ROOT:
                    continue
                self.told(self._offsets[self._first[node]], self.file.size)
                turn = self._turn(file, node)
                if turn is not None:
                    yield turn

    def _turn(self, file: IO[bytes], node: int) -> Turn | None:
        line, turn = self._first[node], None
        while line != ROOT:
            data = self._at(file, line)
            at = microseconds(data.get("timestamp"))
            parts = tuple(
                (self._answered(file, part) if isinstance(part, Tool) else part)._replace(at=at)
                for part in _parts(data, Report())  # it was counted at the first reading
            )
            if turn is None:
                message = data.get("message")
                model = message.get("model") if isinstance(message, dict) else None
                role, light = _speaker(data)
                name = model if isinstance(model, str) else None
                turn = Turn(role, parts, at, name, (node,), light)
            else:
                turn = turn._replace(parts=(*turn.parts, *parts), at=at or turn.at)
            line = self._next[line]
        return turn

    def _answered(self, file: IO[bytes], tool: Tool) -> Tool:
        line = self._results.get(tool.id or "")
        found = _results(self._at(file, line)).get(tool.id or "") if line is not None else None
        if found is None:
            return tool
        return tool._replace(
            output=said(found.get("content"), self.report), failed=found.get("is_error") is True
        )

    def _at(self, file: IO[bytes], line: int) -> dict[str, Any]:
        file.seek(self._offsets[line])
        data = parsed(file.readline(LONGEST), self.file.name, self._numbers[line])
        return data if isinstance(data, dict) else {}


def _role(data: dict[str, Any]) -> int:
    role, _ = _speaker(data)
    return {"user": 1, "mind": 2}.get(role, 0)


def _speaker(data: dict[str, Any]) -> tuple[Literal["user", "mind", "note"], bool]:
    """Who speaks, and whether it is a command to the program."""
    if data["type"] == "assistant":
        return "mind", False
    if data["type"] != "user" or data.get("isMeta") is True:
        return "note", False
    if data.get("isCompactSummary") is True:
        return "note", False
    text = _words(data, Report())
    if text.startswith(_OUTPUT):
        return "note", False
    return "user", _COMMAND.search(text) is not None or _SHELL.search(text) is not None


def _parts(data: dict[str, Any], report: Report) -> tuple[Part, ...]:
    """What a line says."""
    if data["type"] == "assistant":
        return _answer(data, report)
    if data["type"] == "system":
        content = data.get("content") if str(data.get("subtype")) in _SAID_BY_SYSTEM else None
        return (Text(content),) if isinstance(content, str) and content.strip() else ()
    if data["type"] != "user":
        return ()
    text = _words(data, report)
    if text.startswith(_CAVEATS):
        report.leave_out("lines of the program itself (caveats)")
        return ()
    if command := _COMMAND.search(text):
        given = _ARGUMENTS.search(text)
        text = f"{command[1]} {given[1] if given else ''}"
    elif shell := _SHELL.search(text):
        text = f"! {shell[1]}"
    return (Text(text),) if text.strip() else ()


def _words(data: dict[str, Any], report: Report) -> str:
    """The user's words: without the results of tools, and without reminders of the program."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = [
            block
            for block in content
            if not (isinstance(block, dict) and block.get("type") == "tool_result")
        ]
    texts = []
    for block in content if isinstance(content, list) else [content]:
        text, reminders = _REMINDER.subn("", said([block] if block else None, report))
        texts.append(text.strip())
        if reminders:
            report.leave_out("reminders of the program to the mind", reminders)
    return "\n\n".join(text for text in texts if text)


def _answer(data: dict[str, Any], report: Report) -> tuple[Part, ...]:
    message = data.get("message")
    if not isinstance(message, dict):
        return ()
    if message.get("model") == _SYNTHETIC or data.get("isApiErrorMessage") is True:
        report.leave_out("error messages of the program in the mind's place")
        return ()
    content = message.get("content")
    if not isinstance(content, list):
        content = [{"type": "text", "text": content}] if isinstance(content, str) else []
    parts: list[Part] = []
    for block in content:
        kind = str(block.get("type")) if isinstance(block, dict) else None
        if kind == "thinking":
            if str(block.get("thinking") or "").strip():
                parts.append(Thought(str(block["thinking"])))
        elif kind == "redacted_thinking":
            report.leave_out("thoughts that are encrypted")
        elif kind in {"tool_use", "server_tool_use"}:
            given, id_ = as_text(block.get("input", {})), block.get("id")
            name = str(block.get("name") or "tool")
            parts.append(Tool(name, given, id=id_ if isinstance(id_, str) else None))
        elif (text := said([block], report)).strip():
            parts.append(Text(text))
    return tuple(parts)


def _results(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The results of tools that a line brings, by the id of the use."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if data.get("type") not in {"user", "assistant"} or not isinstance(content, list):
        return {}
    return {
        block["tool_use_id"]: block
        for block in content
        if isinstance(block, dict)
        and isinstance(block.get("tool_use_id"), str)
        and str(block.get("type")).endswith("tool_result")
    }
