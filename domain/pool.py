"""The pool of thoughts: the newest few, first in, first out, and how samples are drawn."""

from random import Random
from typing import NamedTuple

from domain.events import ThoughtAdded
from domain.protocol.view import Limit


class Thought(NamedTuple):
    """A thought of the active pool; its version is its id."""

    version: int
    text: str
    iteration: int
    mind: str
    origin: str
    embedding_model: str | None = None
    """What its vector was made with; the vector itself is in the log, at this version."""


class Pool(NamedTuple):
    """The newest thoughts, oldest first, and how many there ever were."""

    active: tuple[Thought, ...] = ()
    total: int = 0


def added(state: Pool, event: ThoughtAdded, version: int, size: int) -> Pool:
    """A thought enters; the oldest leaves when the pool is full."""
    thought = Thought(
        version,
        event.text,
        event.iteration,
        event.mind,
        event.origin,
        event.embedding_model,
    )
    return Pool((*state.active, thought)[-size:], state.total + 1)


def resized(state: Pool, size: int) -> Pool:
    """A smaller pool forgets at once; a larger one fills up with new thoughts."""
    return state._replace(active=state.active[-size:])


def sample(state: Pool, limit: Limit, seed: int) -> tuple[Thought, ...]:
    """Draw thoughts uniformly, without replacement, within a budget of items and characters.

    A thought that is too long for what is left of the budget is passed over, so that one long
    thought does not silence the rest.

    Args:
        state: the pool.
        limit: the most thoughts, and the most characters of all of them.
        seed: makes the draw repeatable.
    """
    order = list(state.active)
    Random(seed).shuffle(order)  # noqa: S311 — repeatable on purpose, nothing secret
    drawn: list[Thought] = []
    room = limit.chars
    for thought in order:
        if len(drawn) == limit.count:
            break
        if len(thought.text) <= room:
            drawn.append(thought)
            room -= len(thought.text)
    return tuple(drawn)
