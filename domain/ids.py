"""The names of things: one type per kind of id, and the one rule for ids that people type."""

import re
from typing import NewType

from domain.errors import BadName

SessionId = NewType("SessionId", str)
"""A slug that a person gave: ``payments``, ``payments/what-if``. It never changes."""

ExchangeId = NewType("ExchangeId", str)
"""``exc_{iteration}_{seq:03d}``: the iteration that first saw the message, and a counter."""

CommandId = NewType("CommandId", bytes)
"""16 bytes that tie together all events of one wish; the same id is never carried out twice."""

RunId = NewType("RunId", str)
"""One run of a mind: the holder of the right to iterate."""

AgentId = NewType("AgentId", str)
"""``ROLE-N``, the Nth agent that was drafted by that role; the client sees it as ``sessionId``."""

FAMILIES = ("agent", "project", "task")
"""What stands before the colon in the name of a stream that is no session."""

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?(?:/[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)*")
_LONGEST = 80


def session_id(text: str) -> SessionId:
    """Check that ``text`` can name a session.

    Raises:
        BadName: it is empty, too long, or holds anything but ``a-z 0-9 . _ - /``.
    """
    if len(text) > _LONGEST or not _SLUG.fullmatch(text) or ".." in text:
        raise BadName(text, _LONGEST)
    return SessionId(text)


def stream_id(text: str) -> SessionId:
    """Check that ``text`` can name a stream: a session, or ``agent:NAME`` and its like.

    Raises:
        BadName: it can't.
    """
    family, colon, name = text.partition(":")
    if not colon or family not in FAMILIES:
        return session_id(text)
    for part in name.split("/", 1) if family == "task" else (name,):
        session_id(part)
    return SessionId(text)


def exchange_id(iteration: int, seq: int) -> ExchangeId:
    """Name the exchange whose message is first seen by ``iteration``."""
    return ExchangeId(f"exc_{iteration}_{seq:03d}")
