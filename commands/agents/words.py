"""How a conversation is put to a model where its own form has no words for something."""

import json
from typing import Any

from commands.agents.backend import Spoken
from commands.agents.model import Shown

SUMMARY = "What was said before this, in short:\n\n{summary}\n\n----\n\n{prompt}"

BROKEN = "[This answer broke off.]"

SILENT = "[No answer in words.]"


def introduced(shown: Shown) -> tuple[str, ...]:
    """All prompts, this turn's last; before the first stands what was before it.

    Not among the instructions: what users and tools have said is no instruction.
    """
    prompts = (*(turn.prompt for turn in shown.turns), shown.prompt)
    if not shown.summary:
        return prompts
    first = SUMMARY.format(summary=shown.summary, prompt=prompts[0])
    return (first, *prompts[1:])


def answered(turn: Spoken) -> str:
    """What came of a turn: never empty, since no provider takes an empty answer."""
    text = turn.answer.strip() or ("" if turn.failed else SILENT)
    if turn.failed:
        return f"{text}\n\n{BROKEN}" if text else BROKEN
    return text


def told(turn: Spoken) -> str:
    """The same with the tools that were used, as text alone."""
    used = [f"[{call.name} {call.arguments} said: {call.result}]" for call in turn.calls]
    return "\n".join([*used, answered(turn)])


def object_in(arguments: str) -> dict[str, Any]:
    """Arguments as the object that they are; what is none, or was redacted, inside of one."""
    try:
        found = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"arguments": arguments}
