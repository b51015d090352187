"""A session as one text, piece by piece: Markdown, YAML, or an event a line."""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from cli.history import as_data, turn_data
from cli.wiring import Desk
from projections.history import History

Format = Literal["markdown", "jsonl", "yaml"]

# what would read as a change of speakers where the text is read in again (mind import)
_SPEAKS = re.compile(
    r"^( {0,3})(?=##\s+\W{0,6}\s*(?:user|human|you|me|assistant|ai|bot|model|chatgpt|gpt|claude"
    r"|gemini|copilot|llama|system|developer|instructions)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def transcript(at: Desk, form: Format) -> Iterator[str]:
    """The session up to the moment that is looked at, oldest first."""
    if form == "jsonl":
        return _events(at)
    return _markdown(at) if form == "markdown" else _yaml(at)


def _events(at: Desk) -> Iterator[str]:
    for recorded in at.log.read(at.session, upto=at.version):
        yield json.dumps(as_data(recorded), ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else str(value)


def _markdown(at: Desk) -> Iterator[str]:
    state = at.state
    yield f"# {' '.join(state.title.split())}\n"
    for turn in History(at.log, at.session, at.version).all():
        yield f"\n## User\n\n{_said(turn.question)}\n\n## Assistant\n\n{_said(turn.answer)}\n"
    if state.dialogue.awaiting is not None:
        yield f"\n## User\n\n{_said(state.dialogue.awaiting.text)}\n"


def _said(text: str) -> str:
    return _SPEAKS.sub(r"\1\\", text.strip("\n"))


def _yaml(at: Desk) -> Iterator[str]:
    import yaml  # noqa: PLC0415 — slow, and rarely asked for

    state = at.state
    awaiting = state.dialogue.awaiting
    head: dict[str, Any] = {"session": state.id, "title": state.title, "version": state.version}
    if awaiting is not None:
        head["awaiting"] = {"exchange": awaiting.exchange, "question": awaiting.text}
    yield _dumped(yaml, head)
    began = False
    for turn in History(at.log, at.session, at.version).all():
        yield ("" if began else "exchanges:\n") + _dumped(yaml, [turn_data(turn)])
        began = True
    if not began:
        yield "exchanges: []\n"


def _dumped(yaml: Any, value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))
