"""Tools that agents are given: the same object behind function calling and MCP."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

Permission = Literal["agent-draft", "projects-list", "projects-create"]
"""What a role may be allowed beyond reading."""

PERMISSIONS: tuple[Permission, ...] = ("agent-draft", "projects-list", "projects-create")

RESULT = 100_000
"""Characters of a tool's result from which on it is cut short."""


class Outcome(NamedTuple):
    """What a tool said."""

    text: str
    """JSON where it is data."""
    failed: bool = False


class Tool(NamedTuple):
    """Something an agent can do."""

    name: str
    description: str
    """For the model: what it does, what comes back, when to use it."""
    parameters: Mapping[str, Any]
    """The JSON schema of its arguments: an object."""
    run: Callable[[dict[str, Any]], Awaitable[Any]]
    """Does it, given arguments that fit the schema; text, or data that JSON can hold. A refusal
    that it raises is told to the model as a sentence."""
    permission: Permission | None = None
    """What a role needs to be given it; None where every role may."""


def bounded(text: str) -> str:
    """The result of a tool, or its arguments, as the model is shown them and as they are kept."""
    if len(text) <= RESULT:
        return text
    return f"{text[:RESULT]}… ({len(text) - RESULT:,} characters more)"
