"""What counts as a text that a person may send."""

import re

from domain.errors import BadText

_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which is none in UTF-8."""

LONGEST = 200_000
"""Characters; some fifty pages of print."""


def checked_text(text: str, what: str = "message") -> str:
    """The text without blank ends.

    Raises:
        BadText: it is empty, too long, or binary.
    """
    text = text.strip()
    if not text:
        raise BadText(f"The {what} is empty: write one.")
    if len(text) > LONGEST:
        raise BadText(
            f"The {what} has {len(text):,} characters, at most {LONGEST:,} are taken: send a"
            " shorter one."
        )
    if "\0" in text:
        raise BadText(f"The {what} holds NUL characters: it looks binary, and nothing was sent.")
    if _HALF.search(text):
        raise BadText(f"The {what} is not valid UTF-8 text: nothing was sent.")
    return text
