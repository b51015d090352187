"""Writes conversations the way other programs keep them: each as one file of its format."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal
from uuid import UUID

from tests.conversations.generate import Exchange

Format = Literal["claude-code", "chatgpt", "openai-messages", "markdown"]
FILES: dict[Format, str] = {
    "claude-code": "session.jsonl",
    "chatgpt": "conversations.json",
    "openai-messages": "messages.json",
    "markdown": "talk.md",
}
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MODEL = "claude-sonnet-4-5"


def write(format_: Format, file: Path, *conversations: Sequence[Exchange]) -> None:
    """Write conversations to a file; only ChatGPT's format holds more than one.

    The exchanges of a conversation are minutes apart, from :data:`BEGAN` on.
    """
    with file.open("w", encoding="utf-8") as out:
        if format_ == "chatgpt":
            out.write("[")
            for number, one in enumerate(conversations):
                out.write(", " if number else "")
                json.dump(chatgpt(one, number), out)
            out.write("]")
            return
        (exchanges,) = conversations
        if format_ == "claude-code":
            for line in claude_code(exchanges):
                out.write(json.dumps(line) + "\n")
        elif format_ == "openai-messages":
            json.dump({"model": "gpt-4o", "messages": list(openai_messages(exchanges))}, out)
        else:
            out.write(markdown(exchanges))


def times(exchanges: Sequence[Exchange]) -> Iterator[tuple[datetime, datetime]]:
    """When each question was asked and answered."""
    random, now = Random(len(exchanges)), BEGAN  # noqa: S311 — the same for ever
    for _ in exchanges:
        now += timedelta(seconds=random.randint(40, 1_500))
        asked = now
        now += timedelta(milliseconds=random.randint(2_000, 40_000))
        yield asked, now


def claude_code(exchanges: Sequence[Exchange], number: int = 0) -> Iterator[dict[str, Any]]:
    """The lines of a session of Claude Code; what works on code thinks and uses a tool first."""
    random = Random(number)  # noqa: S311 — the same for ever
    session, last = _uuid(random), None
    topic = next((e.topic for e in exchanges if e.topic), "small talk")
    yield {"type": "summary", "summary": f"About {topic}", "leafUuid": _uuid(random)}

    def line(kind: str, at: datetime, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        nonlocal last
        parent, last = last, _uuid(random)
        envelope = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "project",
            "sessionId": session,
            "version": "2.0.42",
            "gitBranch": "main",
        }
        stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"type": kind, "message": message, "uuid": last, "timestamp": stamp}
        return {**envelope, **head, **more}

    def said(*blocks: dict[str, Any]) -> dict[str, Any]:
        id_ = f"msg_{random.getrandbits(80):020x}"
        return {"id": id_, "type": "message", "role": "assistant", "model": MODEL} | {
            "content": list(blocks),
            "stop_reason": None,
        }

    for exchange, (asked, answered) in zip(exchanges, times(exchanges), strict=True):
        yield line("user", asked, {"role": "user", "content": exchange.question})
        between = asked + (answered - asked) / 2
        if exchange.what == "work" and random.random() < 0.3:
            thought = {"type": "thinking", "thinking": f"Look at {exchange.topic} first."}
            yield line("assistant", between, said({**thought, "signature": "c2lnbmVk"}))
            id_ = f"toolu_{random.getrandbits(80):020x}"
            use = {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": "ls -l"}}
            yield line("assistant", between, said(use))
            result = {"type": "tool_result", "tool_use_id": id_, "content": "total 0"}
            back = {"role": "user", "content": [result]}
            yield line("user", between, back, toolUseResult={"stdout": "total 0"})
        yield line("assistant", answered, said({"type": "text", "text": exchange.answer}))


def chatgpt(exchanges: Sequence[Exchange], number: int = 0) -> dict[str, Any]:
    """One conversation of ``conversations.json``: a tree of a root, a hidden line, and the talk."""
    random = Random(number)  # noqa: S311 — the same for ever
    mapping: dict[str, dict[str, Any]] = {}

    def node(parent: str | None, message: dict[str, Any] | None) -> str:
        id_ = _uuid(random)
        if message is not None:
            message = {"id": id_, "status": "finished_successfully", "weight": 1.0, **message}
        mapping[id_] = {"id": id_, "message": message, "parent": parent, "children": []}
        if parent is not None:
            mapping[parent]["children"].append(id_)
        return id_

    def message(role: str, text: str, at: datetime | None, **metadata: Any) -> dict[str, Any]:
        return {
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": at.timestamp() if at else None,
            "update_time": None,
            "content": {"content_type": "text", "parts": [text]},
            "end_turn": True,
            "metadata": metadata,
            "recipient": "all",
        }

    hidden = message("system", "", None, is_visually_hidden_from_conversation=True)
    last = node(node(None, None), hidden)
    for exchange, (asked, answered) in zip(exchanges, times(exchanges), strict=True):
        last = node(last, message("user", exchange.question, asked))
        last = node(last, message("assistant", exchange.answer, answered, model_slug="gpt-4o"))
    goal = next((e.opens for e in exchanges if e.opens), "small talk")
    id_ = _uuid(random)
    return {
        "title": f"{goal[:1].upper()}{goal[1:]} ({number + 1})",
        "create_time": BEGAN.timestamp(),
        "update_time": BEGAN.timestamp() + 1,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": last,
        "conversation_id": id_,
        "id": id_,
        "default_model_slug": "gpt-4o",
        "is_archived": False,
    }


def openai_messages(exchanges: Sequence[Exchange]) -> Iterator[dict[str, Any]]:
    """The messages of a request to a chat API, which know no times."""
    yield {"role": "system", "content": "You are a patient adviser."}
    for exchange in exchanges:
        yield {"role": "user", "content": exchange.question}
        yield {"role": "assistant", "content": exchange.answer}


def markdown(exchanges: Sequence[Exchange]) -> str:
    """A chat as people paste it into a note."""
    parts = ["# A long talk\n"]
    for exchange in exchanges:
        parts.append(f"## User\n\n{exchange.question}\n")
        parts.append(f"## Assistant\n\n{exchange.answer}\n")
    return "\n".join(parts)


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))
