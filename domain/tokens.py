"""How many tokens a text has, about: for decisions that must come out the same for ever.

A tokenizer belongs to a model and changes with it; the context of a past moment must not. So the
budget of a context is counted by this estimate, and what a tokenizer says is only shown. How near
it comes is in ``docs/decisions/tokens.md``.
"""

from math import ceil

BYTES = 3.5
"""Of UTF-8 for a token: English prose has some 3.8, code 4.2, Chinese 3 to 5. A digit is one."""


def estimate(text: str) -> int:
    """About how many tokens a text has: of prose and code rather too many than too few."""
    return tokens_in(size(text))


def size(text: str) -> int:
    """The bytes of a text in UTF-8, each digit as many as a token: logs and hashes are dense."""
    raw = text.encode("utf-8", "surrogatepass")
    digits = len(raw) - len(raw.translate(None, b"0123456789"))
    return ceil(len(raw) + digits * (BYTES - 1))


def tokens_in(size: int) -> int:
    """The same, of so many bytes."""
    return ceil(size / BYTES)


def characters(tokens: int) -> int:
    """How many characters of plain English so many tokens have, by the same estimate."""
    return int(tokens * BYTES)
