"""How many agents there may be at once, and what those may use up that nobody has set bounds to."""

from typing import NamedTuple

from domain.limits import Limits

WORK = Limits(turns=50, seconds=1800.0, idle_seconds=300.0)
"""Bounds of a worker whose role sets none: work ends, whatever a model does."""

CONVERSATION = Limits(idle_seconds=300.0)
"""Bounds of a turn of a conversation whose role sets none: a person is there to end it."""


class Rules(NamedTuple):
    """What a harness allows."""

    drafts_per_client: int = 1
    workers_at_once: int = 4
    conversations_of_an_agent: int = 8
    """Agents that an agent may talk with at once."""
    depth: int = 3
    """Agents that may stand above one another: 1 is drafted by a person, 2 by that one …"""
    model: str = "local"
    """Who answers where neither the role nor whoever drafts says so."""
    work: Limits = WORK
    conversation: Limits = CONVERSATION
    grace: float = 1.0
    """Seconds that a cancelled turn has to end in before it is left alone."""
    answer: float = 3.0
    """Seconds in which the process that runs a turn has to end it when somebody wants it to."""
    look: float = 0.5
    """Seconds between two looks at what other processes did to an agent that is at work."""
