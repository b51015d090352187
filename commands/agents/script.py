"""A recorded model for agents: replies and tool calls from a file, the same on every machine.

Line n answers the n-th call of the model in an agent's life, so that a new process goes on at the
right place. One object a line::

    {"text": "Let me look.", "tool_calls": [{"name": "list_tasks", "arguments": {}}]}
    {"text": "There are two.", "delay": 0.5, "tokens_in": 900, "tokens_out": 12, "cost_usd": 0.01}
    {"fail": "429", "retry_after": 1, "times": 2, "text": "after two refusals"}
    {"fail": "half", "text": "half of this arrives"}
    {"fail": "session gone"}

``fail`` is an HTTP status, ``timeout``, ``connection``, ``half``, ``garbage`` or ``session gone``.
A line that fails answers after ``times`` failures (one, unless it says more) where asking again
helps; a line without a text, and ``half``, always fails.
``delay`` comes before the first word, ``pace`` before each: both in seconds.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from commands.agents.backend import BackendUnavailable, SessionGone
from commands.agents.model import Said, Shown, Wanted
from commands.minds.failures import Asked
from commands.minds.mind import MindFailed
from commands.minds.script import failure, pieces
from domain.errors import BadSetting
from domain.sentences import count

GONE = "session gone"

FAILING = r"^(|timeout|connection|half|garbage|session gone|[45]\d\d)$"

Count = Annotated[int, Field(ge=0)] | None
Seconds = Annotated[float, Field(ge=0, le=3600)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WantedTool(_Form):
    """A tool that the line calls."""

    name: str
    arguments: dict[str, Any] | str = {}
    """A text is passed on as it is: for arguments that are no JSON."""
    id: str = ""
    """Made up where it is empty."""


class Line(_Form):
    """One recorded reply."""

    text: str = ""
    tool_calls: tuple[WantedTool, ...] = ()
    delay: Seconds = 0.0
    pace: Seconds = 0.0
    fail: Annotated[str, Field(pattern=FAILING)] = ""
    times: Annotated[int, Field(ge=1)] = 1
    retry_after: Seconds | None = None
    tokens_in: Count = None
    tokens_out: Count = None
    cache_read: Annotated[int, Field(ge=0)] = 0
    cache_creation: Annotated[int, Field(ge=0)] = 0
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    context_window: Annotated[int, Field(ge=1)] | None = None
    model: str = "script"
    finish: str | None = None


@dataclass(frozen=True)
class ScriptModel:
    """Answers each call with the line of the file that belongs to it."""

    name: str
    lines: tuple[Line, ...] = field(repr=False)
    window: int | None = None
    careful: int = 32_000
    free: bool = False
    sums_up: bool = False
    warning: str = ""
    _failed: dict[int, int] = field(default_factory=dict, repr=False, compare=False)
    """How often each call has failed in this process."""

    async def prepare(self) -> None:
        """Nothing: it was read when it was named."""

    async def reply(self, shown: Shown, hear: Callable[[str], None]) -> Said:
        """Reply from the file, see :class:`commands.agents.model.Model`."""
        if shown.number > len(self.lines):
            having = count(len(self.lines), "reply", "replies")
            raise MindFailed(
                f"{self.name} holds {having} and has none for call {shown.number} of the model:"
                " add one.",
                retryable=False,
            )
        line = self.lines[shown.number - 1]
        await asyncio.sleep(line.delay)
        if line.fail and self._fails(shown.number, line):
            await self._break(line, hear)
        await _speak(line.text, line.pace, hear)
        return Said(
            text=line.text,
            model=line.model,
            finish=line.finish or ("tool_call" if line.tool_calls else "stop"),
            wanted=tuple(
                Wanted(
                    call.id or f"call-{shown.number}-{place}",
                    call.name,
                    call.arguments
                    if isinstance(call.arguments, str)
                    else json.dumps(call.arguments, ensure_ascii=False),
                )
                for place, call in enumerate(line.tool_calls, 1)
            ),
            tokens_in=line.tokens_in,
            tokens_out=line.tokens_out,
            cache_read=line.cache_read,
            cache_creation=line.cache_creation,
            cost_usd=line.cost_usd,
            window=line.context_window,
        )

    def _fails(self, number: int, line: Line) -> bool:
        had = self._failed.get(number, 0)
        self._failed[number] = had + 1
        return had < line.times or line.fail == "half" or not line.text

    async def _break(self, line: Line, hear: Callable[[str], None]) -> None:
        if line.fail == GONE:
            raise SessionGone(f"The conversation with {self.name} is not there any more.")
        if line.fail == "half":
            await _speak(line.text[: len(line.text) // 2], line.pace, hear)
        raise failure(Asked(self.name), line.fail, line.text, line.delay, line.retry_after)


async def _speak(text: str, pace: float, hear: Callable[[str], None]) -> None:
    """Word by word, as a model streams; each is a chance to be cancelled."""
    for piece in pieces(text):
        await asyncio.sleep(pace)
        hear(piece)


def read_script(name: str, file: Path, window: int | None = None) -> ScriptModel:
    """Read a script for agents.

    Args:
        name: as the user names it.
        file: where it is.
        window: how many tokens it can be shown, where it is to have a bound.

    Raises:
        BackendUnavailable: the file can't be read.
        BadSetting: a line is not what the module docstring describes.
    """
    try:
        about = file.stat()
        # each turn reads its script, and a long conversation has a long one
        lines = _lines(file, about.st_mtime_ns, about.st_size)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise BackendUnavailable(
            f"The script {str(file)!r} can't be read ({why}): name a file with recorded replies."
        ) from error
    return ScriptModel(name, lines, window)


@lru_cache(maxsize=64)
def _lines(file: Path, _changed: int, _size: int) -> tuple[Line, ...]:
    numbered = enumerate(file.read_text("utf-8").split("\n"), 1)
    return tuple(_line(file, number, one) for number, one in numbered if one.strip())


def _line(file: Path, number: int, source: str) -> Line:
    try:
        return Line.model_validate_json(source)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        why = f"{where}: {first['msg']}" if where else first["msg"]
        raise BadSetting(
            f"Line {number} of {str(file)!r} is no recorded reply of an agent ({why})."
        ) from error
