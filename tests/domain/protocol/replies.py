"""Replies as a careful mind would write them."""

import json

from domain.protocol.output import Output
from domain.protocol.scalar import scalar


def as_yaml(output: Output) -> str:
    """``output`` in block scalars wherever they can hold a text."""
    lines = ["thoughts:\n"] if output.thoughts else []
    for thought in output.thoughts:
        head, body = scalar(thought, "    ")
        lines.append(f"  -{head}\n{body}")
    if output.draft is not None:
        head, body = scalar(output.draft, "  ")
        lines.append(f"draft:{head}\n{body}")
    if output.confidence is not None:
        lines.append(f"confidence: {output.confidence!r}\n")
    if output.working:
        lines.append("working: true\n")
    if output.skip:
        lines.append("skip: true\n")
    return "".join(lines)


def as_json(output: Output) -> str:
    """``output`` as one line of JSON, with an escape for everything beyond ASCII."""
    fields = {name: value for name, value in output._asdict().items() if value}
    return json.dumps(fields)
