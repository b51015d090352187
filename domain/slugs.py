"""Names for sessions that nobody named: made of the words of a text."""

import re
import unicodedata
from collections.abc import Collection

from domain.ids import SessionId, session_id

WORDS, LONGEST = 5, 40
_LITTLE = frozenset(
    """a an and are be can do for from how i in is it like me my need of on our please the this to
    us want we what with work would you""".split()  # noqa: SIM905 — words read best as words
)


def slug(text: str) -> str:
    """The words of a text that tell most, as a name: ``payment-integration``."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain)
    telling = [word for word in words if word not in _LITTLE] or words
    return "-".join(telling[:WORDS])[:LONGEST].strip("-") or "chat"


def free(wanted: str, taken: Collection[str]) -> SessionId:
    """The name, or the first of ``name-2``, ``name-3`` … that nobody has."""
    wanted, number = wanted[-70:].lstrip("-._/"), 1
    name = wanted
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return session_id(name)
