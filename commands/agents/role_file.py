"""One role: a Markdown file whose YAML frontmatter says who can be drafted.

The frontmatter is read as texts, and what only an attack needs (anchors, tags, merge keys, deep
nesting) is refused with everything that is not known.
"""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict

from commands.agents.tools import PERMISSIONS, Permission
from commands.minds.names import check_name
from domain.agent_errors import BadRole
from domain.errors import BadSetting
from domain.limits import Limits
from domain.protocol.fields import Refusal, shown
from domain.protocol.nodes import Node, Trouble, compose
from domain.texts import LONGEST

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_TOOL = 200
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_CLAUDE = re.compile(r"claude:[a-zA-Z0-9][a-zA-Z0-9.:/@\[\]_-]{0,199}")
_TOOL = re.compile(r"[A-Za-z_][\w.*-]*(?:\([^()]*\))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_WHOLE = {"tokens", "turns"}
_HALF = re.compile("[\ud800-\udfff]")
_FENCE = re.compile(r"---[ \t]*")
_REQUIRED = ("name", "description")
_KEYS = (*_REQUIRED, "model", "permissions", "limits", "tools")


class Role(BaseModel):
    """Somebody who can be drafted."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    description: str
    """What it is good for, for those who choose."""
    model: str | None = None
    """The mind that answers; None is the one of the store."""
    permissions: tuple[Permission, ...] = ()
    """What it may do beyond reading."""
    limits: Limits = Limits()
    tools: tuple[str, ...] = ()
    """Tools of the backend's own that it may use."""
    instructions: str
    """The system prompt of every turn."""


def checked_role_name(text: str) -> str:
    """The text, which can name a role.

    Raises:
        BadSetting: it can't.
    """
    if not is_role_name(text):
        raise BadSetting(
            f"{shown(text, 80)} can't name a role: use a-z, 0-9 and '-', at most {LONGEST_NAME}"
            " characters (for example product-analyst)."
        )
    return text


def checked_model(name: str) -> str:
    """The name of what can answer for an agent: a mind, or Claude Code as ``claude:NAME``.

    Raises:
        BadSetting: it names neither.
    """
    if _CLAUDE.fullmatch(name):
        return name
    if name.startswith("claude:"):
        raise BadSetting(f"{shown(name, 80)} names no mind: write claude:NAME, as claude:sonnet.")
    try:
        return check_name(name).text
    except BadSetting as error:
        raise BadSetting(f"{error.sentence.rstrip('.')}, or claude:NAME.") from None


def read_role(text: str, where: str | Path) -> Role:
    """The role that a file describes.

    Args:
        text: all that stands in it.
        where: the file; its name is that of the role, and ``.md``.

    Raises:
        BadRole: it describes none; the sentence says where, why and what to do.
    """
    return _Reader(text, Path(where)).role()


def role_of_file(path: Path) -> Role:
    """The role that a file describes.

    Raises:
        BadRole: it can't be read, or describes none.
    """
    return read_role(_text_of(path), path)


def is_role_name(text: str) -> bool:
    """Whether a role could be called that."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def _text_of(path: Path) -> str:
    try:
        # a link could lead anywhere, and a pipe would be waited for
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadRole(f"{path}: it is no file: write the role into one.")
            with open(descriptor, "rb", closefd=False) as file:
                raw = file.read(4 * LONGEST + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        if path.is_symlink():
            raise BadRole(f"{path}: it is a link: put the file itself there.") from None
        raise BadRole(f"{path}: it can't be read: {error.strerror or error}.") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(raw) > 4 * LONGEST:
            raise _too_long(path) from None
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadRole(f"{path}:{line}: it is not UTF-8 text: save it as that.") from None


def _too_long(path: Path) -> BadRole:
    return BadRole(f"{path}: it has more than {LONGEST:,} characters: shorten it.")


def _number(node: Node) -> str:
    if node.kind != "scalar" or node.style or not _NUMBER.fullmatch(node.text):
        raise ValueError(node.text)
    return node.text


class _Reader:
    """Reads one file; what is wrong with it is refused with the line."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        if len(text) > LONGEST:
            raise _too_long(path)
        if "\0" in text or _HALF.search(text):
            raise self._bad(None, "it holds NUL or half characters: save it as UTF-8 text")
        lines = text.replace("\r\n", "\n").split("\n")
        if not _FENCE.fullmatch(lines[0]):
            raise self._bad(1, "it has no frontmatter: begin with a line of ---, then keys")
        end = next((n for n, line in enumerate(lines) if n and _FENCE.fullmatch(line)), None)
        if end is None:
            raise self._bad(1, "its frontmatter does not end: close it with a line of ---")
        # the line of the fence stays as an empty one, so that all lines keep their numbers
        self.front = "\n".join(["", *lines[1:end]])
        self.body = "\n".join(lines[end + 1 :]).strip()
        self.end = end + 1

    def role(self) -> Role:
        keys = self._keys()
        for key in _REQUIRED:
            if key not in keys:
                raise self._bad(self.end, f"{key!r} is missing: add a line {key}: … above this one")
        role = Role(
            name=self._name(keys["name"]),
            description=self._description(keys["description"]),
            model=self._model(keys["model"]) if "model" in keys else None,
            permissions=self._permissions(keys.get("permissions")),
            limits=self._limits(keys.get("limits")),
            tools=self._tools(keys.get("tools")),
            instructions=self.body,
        )
        if not self.body:
            raise self._bad(self.end, "it has no instructions: write them below the frontmatter")
        return role

    def _keys(self) -> dict[str, Node]:
        """What stands under each key; those with nothing are left out."""
        document = compose(self.front)
        if isinstance(document, Refusal):
            reason = document.reason.replace("The reply", "the frontmatter").rstrip(".")
            raise self._bad(None, f"{reason}: write it without")
        if isinstance(document, Trouble):
            place = re.fullmatch(r"(.*) \(line (\d+)\)", document.reason, re.DOTALL)
            reason, line = (place[1], int(place[2])) if place else (document.reason, self.end)
            hint = "quote texts that hold ': '" if "mapping values" in reason else "correct it"
            raise self._bad(min(line, self.end), f"the frontmatter is no YAML ({reason}): {hint}")
        if document.root is None or document.root.kind != "map":
            raise self._bad(2, "the frontmatter is no map: write lines of key: value")
        rest = self.front[document.root.end :].split("\n")
        if document.repairs or any(line.split("#")[0].strip() for line in rest):
            raise self._bad(2, "the frontmatter holds more than one map of keys: write one")
        return self._map(document.root, _KEYS)

    def _map(self, node: Node, allowed: Sequence[str]) -> dict[str, Node]:
        found: dict[str, Node] = {}
        seen: set[str] = set()
        for key, value in zip(node.children[::2], node.children[1::2], strict=True):
            name = key.text if key.kind == "scalar" else key.source(self.front)
            if name not in allowed:
                raise self._at(key, f"{shown(name)} is no key here: use {', '.join(allowed)}")
            if name in seen:
                raise self._at(key, f"{name!r} stands here twice: leave one out")
            seen.add(name)
            if not value.is_null:
                found[name] = value
        return found

    def _name(self, node: Node) -> str:
        name = self._text(node, "name")
        if not is_role_name(name):
            raise self._at(
                node,
                f"{shown(name)} can't name a role: use a-z, 0-9 and '-', at most {LONGEST_NAME}"
                " characters",
            )
        if self.path.name != f"{name}.md":
            raise self._at(node, f"role {name!r} belongs into a file {name}.md: rename one of them")
        return name

    def _description(self, node: Node) -> str:
        text = self._text(node, "description").strip()
        if not text or len(text) > LONGEST_DESCRIPTION:
            raise self._at(
                node,
                f"the description has {len(text):,} characters: use 1 to {LONGEST_DESCRIPTION:,}",
            )
        return text

    def _model(self, node: Node) -> str:
        try:
            return checked_model(self._text(node, "model"))
        except BadSetting as error:
            raise self._at(node, error.sentence.rstrip(".")) from None

    def _permissions(self, node: Node | None) -> tuple[Permission, ...]:
        for item, text in (listed := self._list(node, "permissions")):
            if text not in PERMISSIONS:
                raise self._at(
                    item, f"{shown(text)} is no permission: use {', '.join(PERMISSIONS)}"
                )
        return cast("tuple[Permission, ...]", tuple(text for _, text in listed))

    def _tools(self, node: Node | None) -> tuple[str, ...]:
        for item, text in (listed := self._list(node, "tools")):
            if len(text) > LONGEST_TOOL or not text.isprintable() or not _TOOL.fullmatch(text):
                raise self._at(item, f"{shown(text)} is no name of a tool: write one as Read")
        return tuple(text for _, text in listed)

    def _limits(self, node: Node | None) -> Limits:
        if node is None:
            return Limits()
        allowed = tuple(Limits.model_fields)
        if node.kind != "map":
            raise self._at(node, f"limits must be lines of NAME: NUMBER: use {', '.join(allowed)}")
        limits = Limits()
        for name, value in self._map(node, allowed).items():
            try:
                limits = Limits.model_validate({**limits.model_dump(), name: _number(value)})
            except ValueError:
                said = value.text if value.kind == "scalar" else value.source(self.front)
                kind = "whole number" if name in _WHOLE else "number"
                most = ", at most 100,000" if name == "budget_usd" else ""
                raise self._at(
                    value, f"{shown(said)} can't be {name}: write a {kind} above 0{most}"
                ) from None
        return limits

    def _list(self, node: Node | None, key: str) -> list[tuple[Node, str]]:
        if node is None:
            return []
        if node.kind != "list":
            raise self._at(node, f"{key} must be a list: write {key}: [one, another]")
        found: dict[str, Node] = {}
        for item in node.children:
            text = self._text(item, f"each of {key}")
            if text in found:
                raise self._at(item, f"{shown(text)} stands here twice: leave one out")
            found[text] = item
        return [(item, text) for text, item in found.items()]

    def _text(self, node: Node, what: str) -> str:
        if node.kind != "scalar" or node.is_null:
            raise self._at(node, f"{what} must be a text")
        return node.text

    def _at(self, node: Node, why: str) -> BadRole:
        return self._bad(self.front.count("\n", 0, node.start) + 1, why)

    def _bad(self, line: int | None, why: str) -> BadRole:
        where = self.path if line is None else f"{self.path}:{line}"
        return BadRole(f"{where}: {why}.")
