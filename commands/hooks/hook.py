"""What a hook is: code of the user's that is called around each iteration of a run."""

import re
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import NamedTuple, Protocol

from commands.hooks.turn import Turn
from domain.errors import Refused

Moment = Callable[[Turn], object]
"""What a hook does before or after an iteration."""

_NAME = re.compile(r"[\w.-]{1,60}")


class Hook(Protocol):
    """Somebody who is called around each iteration, and may act through the turn."""

    @property
    def name(self) -> str:
        """By which its deeds are signed: ``agent:hook:NAME``."""
        ...

    def before(self, turn: Turn) -> object:
        """The mind is about to be asked."""
        ...

    def after(self, turn: Turn) -> object:
        """An iteration is in the log, whatever came of it."""
        ...


class BadHook(Refused):
    """What was named can't be a hook; nothing was run."""


class Made(NamedTuple):
    """A hook made of whatever the user wrote."""

    name: str
    before: Moment
    after: Moment


def nothing(_: Turn) -> None:
    """What a hook does at a moment that it does not care for."""


def as_hook(subject: object, name: str) -> Hook:
    """A hook out of an object with ``before``, ``after`` or both, or of a function.

    Args:
        subject: the object; a function is called after each iteration.
        name: its name, where the subject has none of its own.

    Raises:
        BadHook: it is none of these, or its name can't sign anything.
    """
    before, after = getattr(subject, "before", None), getattr(subject, "after", None)
    if before is None and after is None and callable(subject):
        after = subject
    moments = [moment for moment in (before, after) if moment is not None]
    if not moments or not all(callable(moment) for moment in moments):
        raise BadHook(
            f"{name!r} is no hook: write a class with before(turn) or after(turn), or a function"
            " of one turn."
        )
    if any(iscoroutinefunction(moment) for moment in moments):
        raise BadHook(f"Hook {name!r} is written with async def: hooks are plain functions.")
    own = getattr(subject, "name", None)
    chosen = own if isinstance(own, str) else name
    if not _NAME.fullmatch(chosen):
        raise BadHook(
            f"{chosen!r} can't name a hook: use letters, digits, '_', '.' and '-', at most 60."
        )
    return Made(chosen, before or nothing, after or nothing)
