"""What a session is called while nobody has given it a title: after what it is about."""

import re

LONGEST = 60
"""Characters."""

_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|hola|good (?:morning|evening|afternoon)|thanks|thank you|please"
    r"|ok|okay)"
    r"(?: (?:there|all|everyone))?[\s,.!:–-]+)+",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?])\s|\n")
_FEWEST = 3
"""Words from which on a text says what a talk is about."""


def title_of(text: str) -> str | None:
    """A title from the first sentence of a message; None where that says too little."""
    said = _GREETING.sub("", text.strip())
    first = " ".join(_END.split(said, maxsplit=1)[0].split())
    if len(first.split()) < _FEWEST:
        return None
    if len(first) > LONGEST:
        first = first[:LONGEST].rsplit(" ", 1)[0].rstrip(" ,;:–-") + " …"
    return first[0].upper() + first[1:].removesuffix(".")
