"""Names of imported sessions: slugs of their titles, never one that is taken."""

import re
import unicodedata
from datetime import UTC, datetime

from domain.ids import SessionId, session_id

LONGEST = 48
"""Characters of a slug; a prefix and the name of a branch come on top."""


def slug(title: str, began: int | None) -> str:
    """What a title is as a name; the day, where it has no letters that a name can have."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.lower())
    name = ""
    for word in words:
        if len(name) + len(word) >= LONGEST:
            break
        name += f"-{word}" if name else word
    name = name or "-".join(words)[:LONGEST].strip("-")
    if name:
        return name
    if began is None:
        return "chat"
    return f"chat-{datetime.fromtimestamp(began / 1e6, UTC):%Y-%m-%d}"


def free(name: str, taken: set[SessionId], *, first: int | None = None) -> SessionId:
    """The name, with a number behind it where it is taken; it is taken from now on.

    Args:
        name: as it should be.
        taken: what is taken; grows by the name.
        first: the number that it has behind it in any case, and counts from.

    Raises:
        BadName: it can't name a session.
    """
    chosen, number = session_id(name if first is None else f"{name}-{first}"), first or 1
    while chosen in taken:
        number += 1
        chosen = session_id(f"{name}-{number}")
    taken.add(chosen)
    return chosen
