"""The one shape that conversations of all formats are read into."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple


class Text(NamedTuple):
    """What somebody said; images and files are a line such as ``[image]`` in it."""

    text: str
    at: int | None = None
    """When, where that is known better than of the turn."""


class Thought(NamedTuple):
    """What the mind thought before it answered."""

    text: str
    at: int | None = None


class Tool(NamedTuple):
    """A tool that the mind used."""

    name: str
    input: str
    output: str | None = None
    failed: bool = False
    id: str | None = None
    """What its result names it by."""
    at: int | None = None


Part = Text | Thought | Tool


class Turn(NamedTuple):
    """What one of them said at once."""

    role: Literal["user", "mind", "note"]
    """A note is neither's: instructions, summaries, what a program said of itself."""
    parts: tuple[Part, ...]
    at: int | None = None
    """When, µs since 1970; None where the source does not say."""
    model: str | None = None
    nodes: tuple[int, ...] = ()
    """The places in the source's tree that it covers."""
    light: bool = False
    """A command to the program: a message only if the mind answered it, else a note."""


class Result(NamedTuple):
    """What a tool gave back, which belongs to a turn before it."""

    output: str
    tool: str | None = None
    """The id of the use, where the source names it."""
    name: str | None = None
    failed: bool = False
    at: int | None = None
    nodes: tuple[int, ...] = ()


class Branch(NamedTuple):
    """A way that the talk went and that was left: another answer, or another question."""

    node: str
    """What the source calls its first place: the same whenever it is read."""
    role: Literal["user", "mind", "note"]
    """Whose turn begins it."""
    above: Callable[[], Iterator[int]]
    """The places above it, nearest first, up to the root."""
    turns: Callable[[int | None], Iterator[Turn]]
    """Its turns behind a place above it; from the root, if None."""


class Conversation(NamedTuple):
    """One conversation of a file; what it holds is read when it is asked for."""

    key: str
    """What names it in its source: an id, else the file's name and its place there."""
    surely: bool
    """Whether the key is an id that no other conversation has."""
    title: str | None
    digest: str
    """The sha256 of what it was read from, as hexadecimal digits."""
    began: int | None
    """When its first turn was, µs since 1970."""
    turns: Callable[[], Iterator[Turn]]
    """The way that the talk went in the end."""
    branches: Callable[[], Iterable[Branch]] = tuple
    proven: bool = True
    """Whether all of it has been read without a fault; else only its turns will tell."""


def paired(turns: Iterable[Turn | Result]) -> Iterator[Turn]:
    """Give tools what they gave back, where the source tells it in a later place.

    A turn is held until all of its tools have answered, or somebody says something else.
    """
    held: Turn | None = None
    for one in turns:
        if isinstance(one, Result):
            answered = _answered(held, one) if held is not None else None
            if answered is not None:
                held = answered
                continue
            if held is not None:
                yield held
            held = None
            lost = Tool(one.name or "tool", "", one.output, one.failed)
            yield Turn("mind", (lost,), one.at, nodes=one.nodes)
            continue
        if held is not None:
            yield held
            held = None
        if any(isinstance(part, Tool) and part.output is None for part in one.parts):
            held = one
        else:
            yield one
    if held is not None:
        yield held


def _answered(turn: Turn, result: Result) -> Turn | None:
    """The turn with the result at the first tool that waits for it."""
    for place, part in enumerate(turn.parts):
        if not isinstance(part, Tool) or part.output is not None:
            continue
        if result.tool is not None and part.id is not None and part.id != result.tool:
            continue
        done = part._replace(output=result.output, failed=result.failed)
        parts = (*turn.parts[:place], done, *turn.parts[place + 1 :])
        return turn._replace(parts=parts, nodes=(*turn.nodes, *result.nodes))
    return None
