"""What a harness tells whoever looks on, while it happens.

Nothing depends on its being heard: all of it but the pieces of an answer is in the log.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

NoticeKind = Literal[
    "chunk",  # a piece of an answer; data: turn
    "prompt",  # a prompt was submitted; data: prompt, waiting, sender
    "turn",  # a turn began; data: turn, prompt
    "answer",  # a turn's whole answer; data: turn, prompt
    "tool_use",  # text: the tool; data: turn, call, name, arguments
    "tool_result",  # text: what it said; data: turn, call, name, failed
    "lifecycle",  # drafted, undrafted, dispatched: one sentence
    "warning",  # one sentence
    "error",  # a turn without an answer: one sentence; data: turn, prompt, reason, partial
    "result",  # a worker's report; data: status, summary, changes, issues, questions
    "status",  # after each turn: the agent as the log has it now
    "compacted",  # data: preTokens, trigger
    "pool",  # who is at work, for everybody
]


class Notice(NamedTuple):
    """One thing that happened."""

    kind: NoticeKind
    agent: str
    """Empty for ``pool``."""
    client: str
    """Whose draft the agent is; empty for ``pool``."""
    at: int
    """µs since 1970."""
    text: str = ""
    data: Mapping[str, Any] = {}
    """What JSON can hold."""
