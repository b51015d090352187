"""Messages as they are sent to chat APIs: ``role`` and ``content``, uses of tools, no times.

A file holds one conversation, as an array of messages, as an object with ``messages``, or one
message a line; or many, as an array of any of these, or one object with ``messages`` a line.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any, Literal

from commands.imports.blocks import as_text, microseconds, said
from commands.imports.elements import Element, Whole, parsed, scan
from commands.imports.files import Opened, Reader, Told, digest, opened, silent
from commands.imports.report import Report
from commands.imports.talk import Conversation, Part, Result, Text, Thought, Tool, Turn, paired
from domain.errors import BadBundle

_KEY = b"messages"
_TIMES = ("created_at", "timestamp", "create_time", "created")
"""Where some programs note when a message was sent."""

Kind = Literal["messages", "conversations", "lines", "objects"]
"""An array of messages, or of conversations; messages, or objects with them, at the top."""


def conversations(file: Opened, report: Report, told: Told) -> Iterator[Conversation]:
    """All conversations of a file.

    Raises:
        BadBundle: it is no such file.
    """
    kind = _kind_of(file)
    if kind in {"messages", "lines"}:
        sum_ = digest(file)
        yield _conversation(file, 1, sum_, {}, lambda: _streamed(file, told, 0, kind), report)
        return
    place = 0
    with opened(file, None, told) as source:
        for one in scan(source, file.name, _KEY):
            if kind == "conversations" and isinstance(one, Element):
                place += 1
                data = parsed(one.text, file.name, one.line)
                about = data if isinstance(data, dict) else {}
                messages = _checked(about.get("messages") if about else data, file, one.line)
                sum_ = sha256(one.text).hexdigest()
                yield _conversation(file, place, sum_, about, partial(iter, messages), report)
            elif kind == "objects" and isinstance(one, Whole):
                place += 1
                about = parsed(one.rest, file.name, one.line)
                _checked(about.get("messages"), file, one.line)
                sum_ = digest(file, one.offset, one.end)
                streamed = partial(_streamed, file, silent, one.offset, kind)
                yield _conversation(file, place, sum_, about, streamed, report)


Numbered = tuple[int, dict[str, Any]]
"""A message, and the line where it begins."""


def _kind_of(file: Opened) -> Kind:
    with opened(file, None, silent) as source:
        one = next(scan(source, file.name, _KEY))
    text = one.text if isinstance(one, Element) else one.rest
    data = parsed(text, file.name, one.line)
    if isinstance(one, Element) and _begins_with(file, b"["):
        if isinstance(data, list) or "messages" in data:
            return "conversations"
        if "role" in data:
            return "messages"
    elif isinstance(one, Element) or (isinstance(data, dict) and "messages" in data):
        return "objects"
    elif isinstance(data, dict) and "role" in data:
        return "lines"
    elif data == []:
        return "messages"
    raise BadBundle(file.name, f"line {one.line} has neither a role nor messages")


def _begins_with(file: Opened, what: bytes) -> bool:
    with file.path.open("rb") as source:
        return source.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(what)


def _streamed(file: Opened, told: Told, offset: int, kind: Kind) -> Iterator[Numbered]:
    """The messages of one value at the top, or of all of them where each is one."""
    with file.path.open("rb") as source:
        source.seek(offset)
        for one in scan(Reader(source, file.size, told), file.name, _KEY):
            if kind == "lines":
                if isinstance(one, Whole):
                    yield _message(parsed(one.rest, file.name, one.line), file, one.line)
            elif isinstance(one, Whole):
                return
            else:
                yield _message(parsed(one.text, file.name, one.line), file, one.line)


def _checked(messages: Any, file: Opened, line: int) -> list[Numbered]:
    if not isinstance(messages, list):
        raise BadBundle(file.name, f"what begins in line {line} has no messages")
    return [_message(one, file, line) for one in messages]


def _message(data: Any, file: Opened, line: int) -> Numbered:
    if not isinstance(data, dict) or not isinstance(data.get("role"), str):
        raise BadBundle(file.name, f"line {line} has a message without a role")
    return line, data


def _conversation(
    file: Opened,
    place: int,
    sum_: str,
    about: dict[str, Any],
    messages: Callable[[], Iterable[Numbered]],
    report: Report,
) -> Conversation:
    id_, title, model = about.get("id"), about.get("title"), about.get("model")
    first = next((at for _, one in islice(messages(), 100) if (at := _time(one))), None)
    model = model if isinstance(model, str) else None

    def turns() -> Iterator[Turn]:
        read = (_read(message, model, report) for _, message in messages())
        return paired(one for one in read if one is not None)

    return Conversation(
        key=id_ if isinstance(id_, str) and id_ else f"{file.name}#{place}",
        surely=isinstance(id_, str) and bool(id_),
        title=title if isinstance(title, str) else None,
        digest=sum_,
        began=first,
        turns=turns,
        proven=False,
    )


def _time(message: dict[str, Any]) -> int | None:
    return next((at for name in _TIMES if (at := microseconds(message.get(name)))), None)


def _read(message: dict[str, Any], model: str | None, report: Report) -> Turn | Result | None:
    role, at = message["role"], _time(message)
    if role == "assistant":
        own = message.get("model")
        name = own if isinstance(own, str) else model
        parts = tuple(_parts(message, report))
        return Turn("mind", parts, at, name) if parts else None
    text = said(message.get("content"), report)
    if role in {"tool", "function"}:
        id_, name = message.get("tool_call_id"), message.get("name")
        return Result(
            text,
            id_ if isinstance(id_, str) else None,
            name if isinstance(name, str) and name else None,
            at=at,
        )
    if not text.strip():
        report.leave_out("empty messages")
        return None
    if role in {"system", "developer"}:
        return Turn("note", (Text(text),), at)
    if role == "user":
        return Turn("user", (Text(text),), at)
    report.leave_out(f"messages of the role {role[:30]}")
    return None


def _parts(message: dict[str, Any], report: Report) -> Iterator[Part]:
    for name in ("reasoning_content", "reasoning"):
        thought = message.get(name)
        if isinstance(thought, str) and thought.strip():
            yield Thought(thought)
            break
    for name in ("content", "refusal"):
        text = said(message.get(name), report)
        if text.strip():
            yield Text(text)
    calls = message.get("tool_calls")
    older = message.get("function_call")
    for call in (*(calls if isinstance(calls, list) else ()), older):
        used = call.get("function", call.get("custom", call)) if isinstance(call, dict) else None
        if isinstance(used, dict):
            id_ = call.get("id")
            given = as_text(used.get("arguments", used.get("input", "")))
            yield Tool(
                str(used.get("name") or "tool"), given, id=id_ if isinstance(id_, str) else None
            )
