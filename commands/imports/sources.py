"""The formats that can be imported, by name."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Literal, get_args

from commands.imports.files import Opened, Told
from commands.imports.report import Report
from commands.imports.talk import Conversation

Format = Literal["claude-code", "chatgpt", "openai-messages", "markdown"]
FORMATS: tuple[Format, ...] = get_args(Format)

Read = Callable[[Opened, Report, Told], Iterator[Conversation]]


def reader(format_: Format) -> Read:
    """What reads files of a format."""
    module = import_module(f"commands.imports.{format_.replace('-', '_')}")
    read: Read = module.conversations
    return read
