"""What messages hold: a text, or a list of blocks, as the APIs of models have them."""

import json
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from commands.imports.report import Report

PLACEHOLDERS = "images, sounds and files as a line in the text"
_NAMES = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "video_url": "video",
    "input_file": "file",
    "document": "file",
}
_TEXTS = ("text", "refusal")
"""Where a block has its words."""


def said(content: Any, report: Report) -> str:
    """The words of a content; what is no text is a line such as ``[image]`` in it."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return as_text(content)
    texts = [_block(block, report) for block in content]
    return "\n\n".join(text for text in texts if text.strip())


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def microseconds(value: Any) -> int | None:
    """A time as µs since 1970: from ISO 8601, or from seconds; None for anything else."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return round((at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return round(value * 1_000_000) if isfinite(value) else None
    except OverflowError:
        return None


def _block(block: Any, report: Report) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    for name in _TEXTS:
        if isinstance(block.get(name), str):
            return str(block[name])
    report.change(PLACEHOLDERS)
    kind = str(block.get("type", "attachment"))[:30]
    named = block.get("filename") or block.get("title") or ""
    named = named.replace("\\", "/").rpartition("/")[2][:100] if isinstance(named, str) else ""
    return f"[{_NAMES.get(kind, kind)}{': ' if named else ''}{named}]"
