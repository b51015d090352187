"""A recorded mind: replies from a file, the same on every machine. For demos, stories and tests.

Reply n answers iteration n, so a new process goes on at the right place. Two forms:

``FILE.jsonl``: one object per line::

    {"text": "draft: Because…", "tokens_in": 120, "tokens_out": 40, "cost_usd": 0.001}
    {"fail": "429", "retry_after": 2, "times": 2, "text": "draft: after two refusals"}
    {"fail": "timeout"}

``FILE.txt``: the replies as they are, separated by lines that hold only ``---``.

The first line may be ``{"dialect": "compact"}``.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from commands.minds import failures
from commands.minds.mind import Listener, MindFailed, MindUnavailable, Reply, Request
from domain.errors import BadSetting
from domain.protocol.prompts import Dialect
from domain.sentences import count

FAILS = ("timeout", "connection", "half", "garbage")
"""The failures with a name; any HTTP status from 400 to 599 is one as well."""


class Line(NamedTuple):
    """One recorded reply."""

    text: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    model: str = ""
    finish: str = "stop"
    delay: float = 0.0
    """Seconds before it answers or fails."""
    fail: str = ""
    """How it fails: one of :data:`FAILS`, or an HTTP status."""
    times: int | None = None
    """How often it fails before it answers; by default once, and always where it has no text."""
    retry_after: float | None = None
    """Seconds that a failure asks to wait."""


@dataclass(frozen=True)
class ScriptMind:
    """Answers each iteration with the line of the file that belongs to it."""

    name: str
    lines: tuple[Line, ...] = field(repr=False)
    dialect: Dialect = "full"
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)
    _failed: dict[int, int] = field(default_factory=dict, repr=False, compare=False)
    """How often each iteration has failed in this process."""

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Answer from the file, see :class:`commands.minds.mind.Mind`."""
        if not 1 <= request.iteration <= len(self.lines):
            having = count(len(self.lines), "reply", "replies")
            raise MindUnavailable(
                f"{self.name} holds {having} and has none for iteration {request.iteration}:"
                " add one, or set another model (mind config --set model=…)."
            )
        line = self.lines[request.iteration - 1]
        self.sleep(min(line.delay, request.timeout))
        if line.delay > request.timeout:
            raise failures.timed_out(failures.Asked(self.name), request.timeout)
        if self._fails(request.iteration, line):
            asked = failures.Asked(self.name)
            raise failure(asked, line.fail, line.text, request.timeout, line.retry_after)
        if listener:
            for piece in pieces(line.text):
                listener(piece)
        return Reply(
            text=line.text,
            model=line.model or "script",
            tokens_in=line.tokens_in,
            tokens_out=line.tokens_out,
            cost_usd=line.cost_usd,
            latency_ms=round(line.delay * 1000),
            finish=line.finish,
        )

    def _fails(self, iteration: int, line: Line) -> bool:
        if not line.fail:
            return False
        had = self._failed.get(iteration, 0)
        self._failed[iteration] = had + 1
        times = line.times if line.times is not None else 1
        return had < times or not line.text


def failure(
    asked: failures.Asked, fail: str, text: str, timeout: float, retry_after: float | None
) -> MindFailed:
    """What a recorded failure is: one of :data:`FAILS`, or an HTTP status."""
    match fail:
        case "timeout":
            return failures.timed_out(asked, timeout)
        case "connection":
            return failures.unreachable(asked, "recorded")
        case "half":
            return failures.broke_off(asked, text[: len(text) // 2])
        case "garbage":
            return failures.garbled(asked, "recorded")
        case status:
            return failures.refused(asked, int(status), "recorded", retry_after=retry_after)


def pieces(text: str) -> Iterable[str]:
    """The text word by word, as a model would stream it."""
    start = 0
    for at, sign in enumerate(text):
        if sign.isspace():
            yield text[start : at + 1]
            start = at + 1
    if text[start:]:
        yield text[start:]


def read_script(name: str, file: Path) -> ScriptMind:
    """Read a script.

    Raises:
        MindUnavailable: the file can't be read.
        BadSetting: a line is not what the module docstring describes.
    """
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise MindUnavailable(
            f"The script {str(file)!r} can't be read ({why}): name a file with recorded replies."
        ) from error
    first, _, rest = text.partition("\n")
    dialect = _dialect(first)
    body = rest if dialect else text
    offset = 2 if dialect else 1
    if file.suffix.lower() == ".jsonl":
        numbered = enumerate(body.splitlines(), offset)
        lines = tuple(_line(file, number, one) for number, one in numbered if one.strip())
    else:
        lines = tuple(Line(document) for document in _documents(body))
    return ScriptMind(name, lines, dialect or "full")


def _dialect(first: str) -> Dialect | None:
    """What the first line says; None where it is a reply already."""
    try:
        head = json.loads(first)
    except ValueError:
        return None
    if not isinstance(head, dict) or head.keys() != {"dialect"}:
        return None
    return "compact" if head["dialect"] == "compact" else "full"


def _documents(text: str) -> list[str]:
    """Texts between lines of three dashes; one before the first or after the last adds none."""
    documents: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if line.rstrip() == "---":
            documents.append([])
        else:
            documents[-1].append(line)
    joined = ["".join(document) for document in documents]
    if joined and not joined[0].strip():
        joined = joined[1:]
    if joined and not joined[-1].strip():
        joined = joined[:-1]
    return joined


def _line(file: Path, number: int, source: str) -> Line:
    def bad(why: str) -> BadSetting:
        return BadSetting(f"Line {number} of {str(file)!r} is no recorded reply: {why}.")

    try:
        found: Any = json.loads(source)
    except ValueError as error:
        raise bad("it is not JSON") from error
    if not isinstance(found, dict):
        raise bad("it must be an object")
    if unknown := found.keys() - set(Line._fields):
        raise bad(f"it has {min(unknown)!r}, known are {', '.join(Line._fields)}")
    line = Line(**found)
    if not all(isinstance(text, str) for text in (line.text, line.model, line.finish, line.fail)):
        raise bad("text, model, finish and fail are texts")
    numbers = (line.tokens_in, line.tokens_out, line.cost_usd, line.delay, line.times)
    for value in (*numbers, line.retry_after):
        if value is not None and (not isinstance(value, int | float) or value < 0):
            raise bad(f"{value!r} should be a number of at least 0")
    status = int(line.fail) if line.fail.isdecimal() else 0
    if line.fail and line.fail not in FAILS and not 400 <= status <= 599:
        raise bad(f"fail is {', '.join(FAILS)} or an HTTP status from 400 to 599")
    return line
