"""What the turns of a neutral agent need of a model: to be shown something, and to reply once.

It keeps nothing between two replies. Whatever it has to know is shown to it each time.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from commands.agents.backend import Spoken
from commands.agents.tools import Outcome, Tool


class Wanted(NamedTuple):
    """A tool that the model wants used."""

    id: str
    name: str
    arguments: str
    """JSON, if the model wrote it well."""


class Said(NamedTuple):
    """One reply of the model, and what it took."""

    text: str
    model: str
    """The model that really answered."""
    finish: str | None = None
    wanted: tuple[Wanted, ...] = ()
    tokens_in: int | None = None
    """Without what came from a cache or went into one."""
    tokens_out: int | None = None
    cache_read: int = 0
    cache_creation: int = 0
    cost_usd: float | None = None
    """None where nobody can say."""
    window: int | None = None
    """What the model can be shown, where only the reply tells."""
    raw: object = None
    """The reply in the words of the library behind it, for when it is shown to the model again."""


class Step(NamedTuple):
    """A reply that wanted tools, and what they said."""

    said: Said
    outcomes: tuple[Outcome, ...]
    """One for each tool wanted."""


class Shown(NamedTuple):
    """Everything that the model is shown for one reply."""

    instructions: str
    """The system prompt."""
    summary: str
    """What was before the turns; empty where nothing was."""
    turns: tuple[Spoken, ...]
    prompt: str
    steps: tuple[Step, ...]
    """What it said and did in this turn already."""
    tools: tuple[Tool, ...]
    number: int
    """Which call of the model in the agent's life this is, 1 for the first."""
    most_tokens: int
    """The most tokens that the reply may have."""


class Model(Protocol):
    """Something that replies to what it is shown."""

    @property
    def name(self) -> str:
        """As the user names it."""
        ...

    @property
    def window(self) -> int | None:
        """How many tokens it can be shown, the reply included; None if nobody knows."""
        ...

    @property
    def careful(self) -> int:
        """How many tokens to show it while nobody knows what it can be shown."""
        ...

    @property
    def free(self) -> bool:
        """Whether a call costs nothing, whatever comes of it."""
        ...

    @property
    def sums_up(self) -> bool:
        """Whether it is worth a call to have it sum up the turns that make way."""
        ...

    @property
    def warning(self) -> str:
        """One sentence about what it can't do with tools; empty where it can."""
        ...

    async def prepare(self) -> None:
        """Load what takes long; called before anything else is asked of it in a turn.

        Raises:
            Refused: something has to be set up first.
        """
        ...

    async def reply(self, shown: Shown, hear: Callable[[str], None]) -> Said:
        """Reply once; the text streams to ``hear``. Cancelling it ends the request.

        Raises:
            MindFailed: there is no whole reply; it may say that asking again may help.
            Refused: something has to be set up first.
        """
        ...
