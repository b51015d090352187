"""The system prompts: versioned files of this package, told apart by the hash of their words."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

PROTOCOL = "1.4"
"""The version of the format in which a mind reads and writes."""

Dialect = Literal["full", "compact"]
"""``full`` is the whole protocol; ``compact`` the short form that a small local model can obey."""

_STEM: dict[Dialect, str] = {"full": "system_v1.4", "compact": "compact_v1"}


class Prompt(NamedTuple):
    """What a mind is told before it is shown anything."""

    text: str
    version: str
    """The name of its file, without the ending: ``system_v1.4``."""
    sha256: bytes
    """Over the text and, where the dialect has examples, over each of their turns."""


@cache
def system_prompt(dialect: Dialect) -> Prompt:
    """The newest system prompt of ``dialect``."""
    text = _read(f"{_STEM[dialect]}.md")
    turns = [side for turn in examples(dialect) for side in turn]
    told = "\0".join([text, *turns])
    return Prompt(text, _STEM[dialect], hashlib.sha256(told.encode()).digest())


@cache
def examples(dialect: Dialect) -> tuple[tuple[str, str], ...]:
    """Turns (prompt, reply) that are shown before the first prompt; none in the full dialect."""
    if dialect == "full":
        return ()
    import yaml  # noqa: PLC0415 - only a run needs it, and importing this module has to stay cheap

    turns = yaml.safe_load(_read(f"{_STEM[dialect]}_examples.yaml"))
    return tuple((turn["prompt"], turn["reply"]) for turn in turns)


def _read(name: str) -> str:
    return files("domain.protocol").joinpath(name).read_text(encoding="utf-8")
