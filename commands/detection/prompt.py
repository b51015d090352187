"""What a model is shown when it looks for artifacts: the passage, and what is on record.

YAML in which every text stands quoted on its line, so that no text can pass for structure, and as
much of it as the budget allows.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from domain.artifacts import Artifact, Shelf
from domain.detection.findings import Passage
from domain.protocol.prompts import Prompt
from domain.protocol.scalar import quoted
from domain.tokens import characters, estimate

VERSION = "detector_v1"

MOST_TOKENS = 1_200
"""Of the passage and the record together, by the estimate."""

QUESTION = 320
"""Tokens of a message; of a longer one the beginning and the end."""

ANSWER = 200
"""Tokens of its answer."""

EARLIER = 40
"""Tokens of each side of an earlier exchange."""

LOOK_BACK = 2
"""Earlier exchanges that are shown."""

ENTRY = 60
"""Tokens of a text on record."""

_WORD = re.compile(r"\w{3,}")


@cache
def system() -> Prompt:
    """What the model is told before it is shown anything."""
    text = files("domain.detection").joinpath(f"{VERSION}.md").read_text(encoding="utf-8")
    return Prompt(text, VERSION, hashlib.sha256(text.encode()).digest())


def told(passage: Passage, shelf: Shelf) -> str:
    """The prompt for a passage: YAML of at most :data:`MOST_TOKENS` tokens."""
    talk = "".join(_talk(passage))
    left = MOST_TOKENS - estimate(talk) - 40  # the headings
    return f"now: {quoted(passage.now)}\n{_record(passage, shelf, left)}{talk}"


def _talk(passage: Passage) -> Iterator[str]:
    """The earlier exchanges, the message and its answer."""
    if passage.before:
        yield "earlier:\n"
    for question, answer in passage.before[-LOOK_BACK:]:
        yield f"- {{user: {_text(question, EARLIER)}, assistant: {_text(answer, EARLIER)}}}\n"
    yield f"message: {_text(passage.question, QUESTION)}\n"
    if passage.answer is not None:
        yield f"answer: {_text(passage.answer, ANSWER)}\n"


def _record(passage: Passage, shelf: Shelf, room: int) -> str:
    """What lies on the shelf under its headings, the most telling that there is room for."""
    sections: dict[str, list[tuple[int, str]]] = {
        "open efforts": [],
        "resolved efforts": [],
        "facts": [],
        "events": [],
    }
    for artifact in _ranked(passage, shelf):
        entry = f"- {_entry(artifact, current=artifact.id == shelf.effort)}\n"
        size = estimate(entry)
        if size > room:
            break
        room -= size
        sections[_section(artifact)].append((artifact.id, entry))
    return "".join(
        f"{heading}:\n{''.join(entry for _, entry in sorted(entries))}"
        for heading, entries in sections.items()
        if entries
    )


def _ranked(passage: Passage, shelf: Shelf) -> list[Artifact]:
    """What may be shown: the current effort first, then open ones, then by words and freshness."""
    words = _words(f"{passage.question} {passage.answer or ''}")

    def worth(artifact: Artifact) -> tuple[bool, bool, int, int, int]:
        shared = len(words & _words(f"{artifact.text} {artifact.resolution or ''}"))
        current = artifact.id == shelf.effort
        return current, artifact.is_open, shared, artifact.referenced, artifact.id

    shown = (a for a in shelf.artifacts if not a.excluded and a.type != "summary")
    return sorted(shown, key=worth, reverse=True)


def _section(artifact: Artifact) -> str:
    if artifact.type == "effort":
        return "open efforts" if artifact.is_open else "resolved efforts"
    return "facts" if artifact.type == "fact" else "events"


def _entry(artifact: Artifact, *, current: bool) -> str:
    """One artifact as a YAML mapping on one line."""
    name = {"effort": "goal", "fact": "fact"}.get(artifact.type, "event")
    parts = [f"id: {artifact.id}", f"{name}: {_text(artifact.text, ENTRY)}"]
    if artifact.resolution is not None and not artifact.is_open:
        parts.append(f"resolution: {_text(artifact.resolution, ENTRY)}")
    if artifact.parent is not None and artifact.type == "effort":
        parts.append(f"part of: {artifact.parent}")
    if artifact.when is not None:
        parts.append(f"when: {_text(artifact.when, ENTRY)}")
    if current:
        parts.append("current: true")
    return "{" + ", ".join(parts) + "}"


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _text(text: str, tokens: int) -> str:
    """A text as a quoted scalar of at most so many tokens: its beginning and its end."""
    if len(text) > tokens * 16:
        # far more than is shown: its middle need not even be looked at
        text = text[: tokens * 8] + text[-tokens * 8 :]
    # signs that can't be seen tell nothing, and each would cost several tokens as an escape
    clean = "".join([c if c.isprintable() or c in "\n\t" else " " for c in text])
    room = tokens
    while estimate(scalar := _harmless(_shortened(clean, room))) > tokens and room > 1:
        room = room * 4 // 5
    return scalar


def _shortened(text: str, tokens: int) -> str:
    if estimate(text) <= tokens:
        return text
    raw = text.encode()
    most = max(1, characters(tokens) - 5)
    head, tail = raw[: most * 2 // 3], raw[len(raw) - most // 3 :]
    return f"{head.decode(errors='ignore')} … {tail.decode(errors='ignore')}"


def _harmless(text: str) -> str:
    """Quoted, and without what a model on this machine reads as the end of a turn."""
    # behind an even number of backslashes, since quoting doubles them
    return quoted(text).replace("<|", r"\x3c|")
