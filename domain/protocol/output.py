"""What a mind wrote, once it is understood."""

from typing import NamedTuple


class Output(NamedTuple):
    """One reply, understood. Without thought, draft and skip it is true silence."""

    thoughts: tuple[str, ...] = ()
    draft: str | None = None
    skip: bool = False
    confidence: float | None = None
    """How sure the mind is of this draft, 0 to 1; None where it did not say, or has no draft."""
    working: bool = False
    """Whether the mind means to go on improving this draft."""
    repairs: tuple[str, ...] = ()
    """A sentence for each place where the reply was read otherwise than it stood."""


class Unparseable(NamedTuple):
    """A reply that can't be understood; it is neither a signal nor silence."""

    reason: str
    """One sentence that says what was wrong."""
    repairs: tuple[str, ...] = ()
    """What had been tried until then."""
