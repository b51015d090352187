"""The wrapping of a reply: line ends, code fences, thinking aloud, talk before and after."""

import re
from typing import NamedTuple

from domain.protocol.fields import KEY
from domain.protocol.read_json import OBJECT

_THINKING = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([\w+-]*)[ \t]*")
_NOT_YAML = re.compile(
    "[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_BREAKS = re.compile("[\x85\u2028\u2029]")
_LEADING_TABS = re.compile(r"^\t[ \t]*", re.MULTILINE)


class Form(NamedTuple):
    """A reply without its wrapping."""

    body: str
    repairs: tuple[str, ...] = ()
    closed: bool = False
    """Whether something behind the body shows that the mind had come to its end."""
    doubtful: bool = False
    """Whether the body ends at a code fence that may as well be one of its own."""
    lost: str = ""
    """Why there is nothing to read, though there is text."""


def unwrap(text: str) -> Form:
    """Take off whatever stands around the keys. Never raises, takes nothing from inside."""
    repairs = []
    if text.startswith("\ufeff"):
        text = text[1:]
        repairs.append("Left out a byte order mark.")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        repairs.append("Read carriage returns as line ends.")
    if thinking := _THINKING.match(text):
        text = text[thinking.end() :]
        repairs.append("Left out thinking aloud before the reply.")
    elif text.lstrip().startswith(("<think>", "<thinking>")):
        return Form("", tuple(repairs), lost="The reply ends while the mind still thinks aloud.")
    form = _unfenced(text)
    return form._replace(repairs=(*repairs, *form.repairs))


def for_yaml(text: str) -> Form:
    """Take out what no YAML reader accepts raw, or would take for a line end."""
    repairs = []
    text, dropped = _NOT_YAML.subn("", text)
    if dropped:
        repairs.append("Left out control characters.")
    text, broken = _BREAKS.subn(" ", text)
    if broken:
        repairs.append("Read Unicode line separators as spaces.")
    return Form(text, tuple(repairs))


def from_first_key(text: str) -> str | None:
    """``text`` from its first known key or object on; None where there is neither."""
    lines = text.split("\n")
    keys = [n for n, line in enumerate(lines) if is_key(line)]
    start = sum(len(line) + 1 for line in lines[: keys[0]]) if keys else len(text)
    found = OBJECT.search(text)
    if found and found.start() < start:
        return text[found.start() :]
    if not keys:
        return None
    # A key in the middle of prose may be indented by chance; the leftmost are the real ones.
    column = min(indent(lines[n]) for n in keys)
    first = next(n for n in keys if indent(lines[n]) == column)
    return "\n".join(lines[first:])


def spaced(text: str) -> str:
    """``text`` with two spaces for each tab in lines that a tab indents."""
    return _LEADING_TABS.sub(lambda lead: lead[0].replace("\t", "  "), text)


def is_key(line: str) -> bool:
    """Whether a line begins with a known key, whatever its indentation."""
    return KEY.match(line.lstrip()) is not None


def indent(line: str) -> int:
    """How far a line is indented, in characters."""
    return len(line) - len(line.lstrip(" \t"))


def _unfenced(text: str) -> Form:
    if "```" not in text and "~~~" not in text:
        return Form(text)
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if is_key(line) or OBJECT.match(line.lstrip()):
            return _cut_at_stray_fence(lines, at)
        if fence := _FENCE.fullmatch(line):
            end = _closing(lines, at + 1, fence)
            inner = lines[at + 1 : end]
            if any(is_key(x) for x in inner) or OBJECT.search("\n".join(inner)):
                return _fenced(lines, at, end)
            at = end
        at += 1
    if not text.replace("`", "").replace("~", "").replace("yaml", "").replace("json", "").strip():
        return Form("", ("Left out an empty code fence.",), closed=True)
    return Form(text)


def _closing(lines: list[str], at: int, opening: re.Match[str]) -> int:
    """The line that closes a fence; deeper indented ones belong to some text inside."""
    inner = 0
    for n in range(at, len(lines)):
        if not (fence := _fence_at(lines[n], len(opening[1]))) or opening[2] not in fence[2]:
            continue
        if not fence[3] and not inner:
            return n
        inner += 1 if fence[3] else -1
    return len(lines)


def _fenced(lines: list[str], start: int, end: int) -> Form:
    repairs = ["Took what stands in the code fence."]
    around = [*lines[:start], *lines[end + 1 :]]
    if any(line.strip() for line in around):
        repairs.append("Left out talk around the code fence.")
    margin = indent(lines[start])
    return Form(
        "\n".join(lines[start + 1 : end]),
        tuple(repairs),
        closed=end < len(lines),
        doubtful=any(_fence_at(line, margin) for line in lines[end + 1 :]),
    )


def _cut_at_stray_fence(lines: list[str], first: int) -> Form:
    margin = indent(lines[first])
    fences = [n for n in range(first, len(lines)) if _fence_at(lines[n], margin)]
    # Two of them are a pair, and belong to a text that should have been indented.
    if len(fences) != 1 or any(is_key(line) for line in lines[fences[0] :]):
        return Form("\n".join(lines))
    repair = "Left out a code fence without a beginning, and what follows it."
    return Form("\n".join(lines[: fences[0]]), (repair,), closed=True)


def _fence_at(line: str, margin: int) -> re.Match[str] | None:
    fence = _FENCE.fullmatch(line)
    return fence if fence and len(fence[1]) <= margin else None
