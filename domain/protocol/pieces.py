"""A reply that is almost YAML, read key by key and thought by thought.

One bad line spoils a whole YAML document. Here every key and every item of a list is read alone,
so that it spoils its own text at most. What a text was can often still be told from its lines: it
is taken as it stands where its end is beyond doubt, and left out where it is not. A draft is never
taken in part.
"""

import re

from domain.protocol.fields import MOST_THOUGHTS, Field, Reading, Refusal, Value, known, shown
from domain.protocol.form import indent, is_key
from domain.protocol.nodes import Trouble
from domain.protocol.read_json import whole_texts
from domain.protocol.read_yaml import read_yaml
from domain.protocol.recover import Entry, entry, recovered

_MOST_SECTIONS = 64
_LIKE_A_KEY = re.compile(r"[a-z_][a-z0-9_]*:(?:\s|$)")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]|$)")
_LISTS = {"thoughts", "drafts"}


def read_pieces(text: str, trouble: Trouble, *, cut: bool = False) -> Reading | Refusal:
    """Read ``text``, in which ``trouble`` was met."""
    lines = text.split("\n")
    keys = [indent(line) for line in lines if is_key(line)]
    if not keys:
        return Refusal(f"The reply is no YAML: {trouble.reason}.")
    column = min(keys)
    starts = _sections(lines, column)
    if len(starts) > _MOST_SECTIONS:
        return Refusal("The reply has too many keys.")
    pieces = _Pieces(f"The reply is no YAML: {trouble.reason}.", cut=cut)
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        section = [_outdented(line, column) for line in lines[start:end]]
        refusal = pieces.section(section, last=end == len(lines))
        if refusal:
            return refusal
    return Reading(tuple(pieces.fields), tuple(pieces.repairs), pieces.lost)


class _Pieces:
    """What was found so far."""

    def __init__(self, reason: str, *, cut: bool) -> None:
        self.reason = reason
        self.cut = cut
        self.lost = ""
        self.fields: list[Field] = []
        self.repairs = ["Read the reply in pieces, since as a whole it is no YAML."]

    def section(self, lines: list[str], *, last: bool) -> Refusal | None:
        """Read one key with all the lines up to the next."""
        cut = self.cut and last
        found = self._read("\n".join(lines), cut=cut)
        if not isinstance(found, Trouble):
            return found
        head, colon, rest = lines[0].partition(":")
        key = head.strip("\"' \t")
        if not known(key):
            self.repairs.append(f"Left out what stands under {shown(key)}.")
            return None
        if known(key) in _LISTS and (listed := _listed(head + colon, rest, lines[1:])):
            return self._list(key, *listed, cut=cut)
        one = entry(head + colon, rest, lines[1:])
        if one.stray and _shows_its_end(one):
            found = self._read(one.source, cut=False)
            if not isinstance(found, Trouble):
                self.repairs.append(f"Left out talk after {key!r}.")
                return found
        if known(key) in _LISTS and one.rest[:1] == "[":
            if known(key) == "thoughts" and (
                texts := whole_texts(one.source.partition(":")[2].lstrip())
            ):
                self.fields.append(Field(key, Value("list", texts)))
            self._lose(key)
        else:
            text = None if cut else recovered(one)
            self._keep(key, text)
            if text is not None:
                self.fields.append(Field(key, Value("text", (text,))))
        return None

    def _list(self, key: str, items: list[Entry], stray: list[str], *, cut: bool) -> Refusal | None:
        texts: list[str] = []
        for n, item in enumerate(items[: MOST_THOUGHTS + 1], start=1):
            open_end = cut and not stray and n == len(items)
            whole = "\n".join([f"{key}:", item.source, *item.stray])
            found = read_yaml(whole, cut=open_end)
            if isinstance(found, Refusal):
                return found
            if isinstance(found, Reading):
                self._note(found)
                texts.extend(found.fields[0].value.texts)
                continue
            text = None if open_end else recovered(item)
            self._keep(f"item {n} of {key}", text)
            if text is not None:
                texts.append(text)
        if stray:
            self.repairs.append(f"Left out talk after {key!r}.")
        self.fields.append(Field(key, Value("list", tuple(texts))))
        return None

    def _read(self, source: str, *, cut: bool) -> Refusal | Trouble | None:
        found = read_yaml(source, cut=cut)
        if isinstance(found, Reading):
            self.fields.extend(found.fields)
            self._note(found)
            return None
        return found

    def _note(self, found: Reading) -> None:
        self.repairs.extend(found.repairs)
        self.lost = self.lost or found.lost

    def _keep(self, what: str, text: str | None) -> None:
        if text is None:
            self._lose(what)
        else:
            self.repairs.append(f"Took the lines of {what!r} as they stand for its text.")

    def _lose(self, what: str) -> None:
        self.repairs.append(f"Left out {what!r}: where its text ends can't be told.")
        self.lost = self.lost or self.reason


def _listed(head: str, rest: str, lines: list[str]) -> tuple[list[Entry], list[str]] | None:
    """The items below a key and the stray lines after them; None when no list stands there."""
    if rest.split("#", maxsplit=1)[0].strip():
        return None
    first = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines) or not _ITEM.match(lines[first]):
        return None
    column = indent(lines[first])
    depth = indent(head)
    end = next(
        (
            n
            for n, line in enumerate(lines)
            if line.strip() and indent(line) <= depth and not _ITEM.match(line)
        ),
        len(lines),
    )
    starts = [n for n in range(first, end) if indent(lines[n]) == column and _ITEM.match(lines[n])]
    items = [
        entry(f"{' ' * column}-", lines[start][column + 1 :], lines[start + 1 : stop])
        for start, stop in zip(starts, [*starts[1:], end], strict=True)
    ]
    return items, lines[end:]


def _shows_its_end(one: Entry) -> bool:
    """Whether stray lines can't belong to the text, since it is closed or no prose."""
    key = known(one.head.strip(":\"' \t"))
    return key not in {"draft", "drafts", "thoughts"} or one.rest[:1] in {'"', "'", "[", "{"}


def _sections(lines: list[str], column: int) -> list[int]:
    """The lines that begin with a key, known or foreign, at ``column``."""
    starts: list[int] = []
    loose = False  # within a text that should have been indented, where colons are only colons
    for n, line in enumerate(lines):
        if not line.strip() or indent(line) > column:
            continue
        if indent(line) == column and is_key(line):
            starts.append(n)
            loose = False
        elif indent(line) == column and _LIKE_A_KEY.match(line, column) and not loose:
            starts.append(n)
        else:
            loose = True
    return starts


def _outdented(line: str, column: int) -> str:
    return line[column:] if not line[:column].strip() else line
