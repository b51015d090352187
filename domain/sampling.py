"""What a mind is shown of its pool: seeded draws within a budget of items and characters."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from domain.pool import Pool, Thought
from domain.protocol.view import Limit

SPARSE = 2
"""A cluster with no more thoughts than this in the pool may call an older one back."""


class Memory(NamedTuple):
    """What lies beyond the pool."""

    older: Callable[[int], Sequence[int]]
    """Versions of the members of a cluster that have left the pool."""
    thought: Callable[[int], Thought]
    """A thought by its version."""


class Recalled(NamedTuple):
    """A thought that another one called back from beyond the pool."""

    thought: Thought
    caller: int
    """The version of the one that called."""
    chance: float
    """The chance with which just this one was drawn among all that could have come."""


class Sample(NamedTuple):
    """What was drawn, in order."""

    thoughts: tuple[Thought, ...]
    recalled: tuple[Recalled, ...] = ()
    """Those of them that were called back."""


def sample(state: Pool, limit: Limit, seed: int, memory: Memory | None = None) -> Sample:
    """Draw thoughts uniformly, without replacement, within a budget of items and characters.

    A thought that is too long for what is left of the budget is passed over, so that one long
    thought does not silence the rest.

    Args:
        state: the pool.
        limit: the most thoughts, and the most characters of all of them.
        seed: makes the draw repeatable.
        memory: with one, a thought whose cluster has become sparse in the pool calls back one
            older member, drawn uniformly, as far as the same budget goes.
    """
    dice = Random(seed)  # noqa: S311 — repeatable on purpose, nothing secret
    order = list(state.active)
    dice.shuffle(order)
    sizes, called = state.sizes, set[int]()
    drawn: list[Thought] = []
    recalled: list[Recalled] = []
    room = limit.chars
    for thought in order:
        if len(drawn) == limit.count:
            break
        if len(thought.text) > room:
            continue
        drawn.append(thought)
        room -= len(thought.text)
        cluster = thought.cluster
        if memory is None or cluster is None or cluster in called or sizes[cluster] > SPARSE:
            continue
        called.add(cluster)
        older = sorted(memory.older(cluster))
        if not older or len(drawn) == limit.count:
            continue
        back = memory.thought(dice.choice(older))
        if len(back.text) <= room:
            drawn.append(back)
            recalled.append(Recalled(back, thought.version, 1 / len(older)))
            room -= len(back.text)
    return Sample(tuple(drawn), tuple(recalled))
