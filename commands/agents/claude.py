"""Agents that are Claude Code, through its SDK; the conversation is kept by Claude Code itself.

``claude_turn.py`` is one turn, ``claude_messages.py`` reads what Claude Code says,
``claude_process.py`` starts and ends it. They need an extra, and are loaded at the first turn.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from commands.agents.backend import Answer, Ask, BackendUnavailable

DEFAULT = "default"
"""Leaves the choice of a model to Claude Code."""

_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@\[\]-]*")


@dataclass(frozen=True)
class ClaudeBackend:
    """Answers turns with Claude Code: one process a turn, which resumes the conversation.

    Args:
        model: as Claude Code names it, such as ``sonnet``; ``default`` is its own choice.
        env: the environment. ``MIND_CLAUDE`` is the path of an executable, where it is not to be
            the one that comes with the SDK; of the rest, only what Claude Code needs is passed on.

    Raises:
        BackendUnavailable: the name is none that Claude Code could know.
    """

    model: str
    env: Mapping[str, str] = field(repr=False)

    def __post_init__(self) -> None:
        if not _MODEL.fullmatch(self.model):
            raise BackendUnavailable(
                f"claude:{self.model} names no model: say claude:sonnet, claude:opus or"
                " claude:default, or a model's full name."
            )

    async def turn(self, ask: Ask) -> Answer:
        """Answer one prompt, see :class:`commands.agents.backend.Backend`."""
        try:
            # takes a second the first time, in which other agents go on
            await asyncio.to_thread(import_module, "commands.agents.claude_turn")
        except ModuleNotFoundError as error:
            if error.name != "claude_agent_sdk":
                raise
            raise BackendUnavailable(
                "Agents that are Claude Code need the package claude-agent-sdk:"
                ' pip install "logosphere[claude]".'
            ) from error
        from commands.agents.claude_turn import ClaudeTurn  # noqa: PLC0415 — an extra, and heavy

        model = None if self.model == DEFAULT else self.model
        return await ClaudeTurn(model, self.env, ask).answer()
