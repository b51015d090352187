"""What answers an agent's turns: one small protocol in front of every way to do so.

A backend is asked once per turn. It says what happens while it happens (``hear``), uses the tools
that it is given (``use``), and returns the answer. It writes nothing: what it says and what its
tools do is recorded by whoever asked. Cancelling its coroutine ends the turn within a second, with
everything that it has started.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from commands.agents.tools import Outcome, Tool
from domain.agents import Agent
from domain.errors import Broken, Refused


class Text(NamedTuple):
    """A piece of the answer, as it streams in."""

    text: str


class Called(NamedTuple):
    """A call of the model has ended, and what it took; reported before its tools are used."""

    calls: int = 1
    """More where a backend can only tell about several together."""
    tokens_in: int | None = None
    """Without what came from a cache or went into one."""
    tokens_out: int | None = None
    cache_read: int = 0
    cache_creation: int = 0
    cost_usd: float | None = None
    """None where nobody can say; a model on this machine costs 0."""
    context_tokens: int | None = None
    """What the last of the calls was shown, cached parts included."""
    context_window: int | None = None
    """What the model can be shown, if known."""


class ToolBegan(NamedTuple):
    """A tool of the backend's own is at work."""

    call: str
    name: str
    arguments: str
    """JSON."""


class ToolEnded(NamedTuple):
    """And what came of it."""

    call: str
    name: str
    arguments: str
    result: str
    failed: bool = False
    latency_ms: int = 0


class Opened(NamedTuple):
    """The backend keeps the conversation itself, under this name."""

    session: str


class Compacted(NamedTuple):
    """The oldest turns made way for a summary."""

    pre_tokens: int
    trigger: str = "auto"
    upto: int = 0
    """Turns up to this one; 0 where the backend alone knows."""
    summary: str = ""


class Warned(NamedTuple):
    """Something that the user should know, in one sentence."""

    sentence: str


Heard = Text | Called | ToolBegan | ToolEnded | Opened | Compacted | Warned


class Call(NamedTuple):
    """A tool call of a turn that is over."""

    id: str
    name: str
    arguments: str
    """JSON."""
    result: str
    failed: bool


class Spoken(NamedTuple):
    """A turn that is over, as the log has it."""

    turn: int
    prompt: str
    calls: tuple[Call, ...]
    answer: str
    """What had arrived, where ``failed``."""
    failed: bool


class Ask(NamedTuple):
    """One turn: everything a backend is told, and how it reaches back."""

    agent: Agent
    instructions: str
    """The system prompt."""
    conversation: tuple[Spoken, ...]
    """The turns to be shown in their own words, oldest first; lost ones are not among them."""
    summary: str
    """What was before them; empty where nothing was."""
    prompt: str
    tools: tuple[Tool, ...]
    path: Path | None
    """The directory of the project, for tools that know files."""
    hear: Callable[[Heard], None]
    """Told what happens. Never raises, never blocks."""
    use: Callable[[str, str, str], Awaitable[Outcome]]
    """Call id, tool name, arguments as JSON: uses a tool of ``tools``. Never raises for what a
    tool does: that is an outcome that says ``failed``."""
    enough: Callable[[], bool]
    """Whether nothing more is wanted: asked before each further call of the model."""


class Answer(NamedTuple):
    """What a turn ended with."""

    text: str
    model: str
    """The model that really answered."""
    finish: str | None = None


class Backend(Protocol):
    """Something that can answer turns."""

    async def turn(self, ask: Ask) -> Answer:
        """Answer one prompt.

        Raises:
            TurnBroke: the turn failed; another one may succeed.
            SessionGone: the conversation that the backend kept is not there any more.
            BackendUnavailable: something has to be set up first.
        """
        ...


class BackendUnavailable(Refused):
    """A key, a package or a program is missing; the sentence says how to get it."""


class TurnBroke(Broken):
    """A turn without an answer; ``partial`` is what had arrived."""

    def __init__(self, sentence: str, partial: str = "") -> None:
        super().__init__(sentence)
        self.partial = partial


class SessionGone(Broken):
    """The backend lost the conversation that it kept."""
