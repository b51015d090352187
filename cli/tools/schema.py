"""What tools take, written down as JSON schemas."""

from typing import Any

Schema = dict[str, Any]


def takes(*required: str, **properties: Schema) -> Schema:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, *, most: int = 10_000) -> Schema:
    """A text that is not empty."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": most}


def number(
    description: str, *, least: int = 1, most: int = 2**53, default: int | None = None
) -> Schema:
    """A whole number."""
    schema = {"type": "integer", "description": description, "minimum": least, "maximum": most}
    return schema if default is None else {**schema, "default": default}


def flag(description: str) -> Schema:
    """Yes or no; no unless said."""
    return {"type": "boolean", "description": description, "default": False}


def one_of(description: str, *values: str) -> Schema:
    """One of these."""
    return {"type": "string", "description": description, "enum": list(values)}


SESSION = text("The session's name, as list_sessions has it; left out: the current one.", most=200)
