"""Chats that were saved as Markdown: a heading, a bold name or a plain one says who speaks.

The first such line of a file decides which of the forms is meant, and a heading's level; others
are text, and so is everything in a code fence.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from commands.imports.blocks import microseconds
from commands.imports.files import LONGEST, Opened, Told, digest, lines, opened, silent
from commands.imports.report import Report
from commands.imports.talk import Conversation, Text, Turn
from domain.errors import BadBundle

Role = Literal["user", "mind", "note"]

_FAMILIES: tuple[dict[str, Role], ...] = (
    {
        **dict.fromkeys(("user", "human", "you", "me"), "user"),
        **dict.fromkeys(("assistant", "ai", "bot", "model"), "mind"),
        **dict.fromkeys(("chatgpt", "gpt", "claude", "gemini", "copilot", "llama"), "mind"),
        **dict.fromkeys(("system", "developer", "instructions"), "note"),
    },
    {"prompt": "user", "response": "mind"},
    {"question": "user", "answer": "mind"},
    {"q": "user", "a": "mind"},
)
"""Names that go together: where one asks as Q, nobody answers as User."""
_MINDS = {"chatgpt", "gpt", "claude", "gemini", "copilot", "llama"}

_NAME = (
    r"(?P<name>[A-Za-z]{1,20})"
    r"(?P<version>(?:[- ](?:\d[\w.]{0,9}|o\d|opus|sonnet|haiku|turbo|mini|pro|flash)){0,3})"
    r"(?:\s+said)?(?:\s*\((?P<about>[^()]{1,80})\))?"
)
_FORMS = {
    "heading": re.compile(
        rf" {{0,3}}(?P<level>#{{1,6}})\s+[^\w\s]{{0,6}}\s*{_NAME}\s*:?\W{{0,4}}", re.IGNORECASE
    ),
    "bold": re.compile(
        rf" {{0,3}}(?P<level>\*\*|__){_NAME}\s*:?(?P=level)\s*:?(?P<rest>.*)", re.IGNORECASE
    ),
    "plain": re.compile(rf"(?P<level>){_NAME}:(?P<rest>(?:\s.*)?)", re.IGNORECASE),
}
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_TITLE = re.compile(r" {0,3}#\s+(?P<title>.{1,200}?)\s*#*\s*")
_RULE = re.compile(r"\n\s*(?:-{3,}|\*{3,}|_{3,})\s*\Z")


LOOKED_AT = 10_000
"""Lines in which somebody has to speak, and a time is looked for."""


class _Speaker(NamedTuple):
    """A line that says who speaks."""

    form: tuple[str, str, int]
    """Which of the forms, with the level of a heading, and which names go with it."""
    role: Role
    model: str | None
    at: int | None
    rest: str
    """What is said in the same line."""


class _Line(NamedTuple):
    """A line of the file."""

    text: str
    number: int
    code: bool
    """Whether it is in a code fence, or one of its ends."""


def conversations(file: Opened, report: Report, told: Told) -> Iterator[Conversation]:
    """The one conversation of a file.

    Raises:
        BadBundle: it is no such file; the sentence names the line.
    """
    title = first = began = None
    for line in islice(_lines(file, silent, Report()), LOOKED_AT):
        speaker = None if line.code else _speaker(line.text)
        first = first or speaker
        if speaker is not None and first is not None and speaker.form == first.form:
            began = speaker.at
        if began is not None:
            break
        if title is None and not line.code and (found := _TITLE.fullmatch(line.text)):
            title = found["title"] if first is None else ""
    if first is None:
        why = "no line of it says who speaks, as ## User, **User:** or User: would"
        raise BadBundle(file.name, why)
    form = first.form
    yield Conversation(
        key=file.name,
        surely=False,
        title=title or None,
        digest=digest(file),
        began=began,
        turns=lambda: _turns(file, form, report, told),
        proven=False,
    )


def _turns(file: Opened, form: tuple[str, str, int], report: Report, told: Told) -> Iterator[Turn]:
    speaker = _Speaker(form, "note", None, None, "")
    said: list[str] = []
    size = 0
    for line in _lines(file, told, report):
        new = None if line.code else _speaker(line.text)
        if new is None or new.form != form:
            said.append(line.text)
            size += len(line.text)
            if size > LONGEST:
                why = f"the message before line {line.number} is larger than {LONGEST >> 20} MiB"
                raise BadBundle(file.name, why)
            continue
        yield from _turn(speaker, said, report)
        speaker, said, size = new, [new.rest], 0
    yield from _turn(speaker, said, report)


def _turn(speaker: _Speaker, said: list[str], report: Report) -> Iterator[Turn]:
    text = _RULE.sub("", "\n".join(said)).strip()
    if speaker.role == "note" and _TITLE.fullmatch(text):
        return  # which the session has as its title
    if text:
        yield Turn(speaker.role, (Text(text),), speaker.at, speaker.model)
    elif speaker.role != "note":
        report.leave_out("empty messages")


def _speaker(line: str) -> _Speaker | None:
    for form, pattern in _FORMS.items():
        found = pattern.fullmatch(line)
        if found is None:
            continue
        name = found["name"].casefold()
        family = next((n for n, names in enumerate(_FAMILIES) if name in names), None)
        if family is None or (found["version"] and name not in _MINDS):
            continue
        about = (found["about"] or "").strip()
        at = microseconds(about)
        model = name + found["version"].casefold() if name in _MINDS else None
        if about and at is None:
            model = about
        rest = found["rest"].strip() if form != "heading" else ""
        return _Speaker((form, found["level"], family), _FAMILIES[family][name], model, at, rest)
    return None


def _lines(file: Opened, told: Told, report: Report) -> Iterator[_Line]:
    """The lines, with what is code marked as such.

    Raises:
        BadBundle: it is no UTF-8 text, or one line is too long.
    """
    fence: str | None = None
    with opened(file, None, told) as source:
        for number, raw in enumerate(lines(source, file), 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
            except UnicodeDecodeError:
                raise BadBundle(file.name, f"line {number} is not UTF-8 text") from None
            found = _FENCE.fullmatch(text)
            code = fence is not None or found is not None
            if found is not None:
                if fence is None:
                    fence = found["fence"] if "`" not in found["info"] else None
                elif found["fence"].startswith(fence) and not found["info"].strip():
                    fence = None
            yield _Line(text, number, code)
    if fence is not None:
        report.change("a code fence that never ends: all behind it is one message")
