"""A person at the app: real keys, a real client, a real store, a mind with recorded replies."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from textual import events
from textual.pilot import Pilot

from cli.client.client import LOST, CallFailed, State
from cli.client.local import LocalClient
from cli.rpc.service import open_service
from cli.tui.app import ChatApp
from cli.tui.drafts import Drafts
from cli.tui.timeline import Timeline
from cli.tui.transcript import Transcript
from tests.stories.cast import Stage

PATIENCE = 150
"""Pauses that a condition may take to come true."""

REPLIES = (
    """\
thoughts:
  - the far bulge is the surprising half
  - the Earth itself is pulled, too
draft: |
  The Moon pulls the **near water** more than the Earth.
""",
    """\
thoughts:
  - compare with the Bay of Fundy
draft: |
  The Moon pulls the **near water** more than the Earth, and the Earth more than the far water:

  - one bulge towards the Moon
  - one bulge away from it
""",
    'draft: "+1"\n',
    "draft: It is the Sun as well.\n",
)


class Droppable(LocalClient):
    """A client whose connection can be lost."""

    _lost = False

    @property
    def state(self) -> State:
        """As a client over a wire would say."""
        return "reconnecting" if self._lost else super().state

    def drop(self, *, lost: bool = True) -> None:
        """Lose the connection, or have it again."""
        self._lost = lost
        for callback in self._told:
            callback("reconnecting" if lost else "connected", "")

    async def call(self, method: str, /, **params: Any) -> Any:
        """Fail while nobody is connected."""
        if self._lost:
            raise CallFailed(LOST, "The connection was lost.")
        return await super().call(method, **params)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notification, if it arrives."""
        if not self._lost:
            super().notify(method, params)


class Sitting(NamedTuple):
    """The app, and who sits at it."""

    app: ChatApp
    pilot: Pilot[None]
    client: Droppable
    stage: Stage

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something to be so on the screen."""
        for _ in range(PATIENCE):
            if condition():
                return
            await self.pilot.pause(0.05)
        raise AssertionError(f"it did not happen; the screen:\n{self.screen}")

    async def sees(self, *texts: str) -> None:
        """Wait for texts to be on the screen."""
        await self.until(lambda: all(text in self.screen for text in texts))

    async def settles(self) -> None:
        """Wait until nothing is under way."""
        mind = self.app.mind
        await self.until(
            lambda: mind.reader.settled and not mind.work.running and not self.app.taking
        )

    async def presses(self, *keys: str) -> None:
        """Press keys, and let the screen follow."""
        await self.pilot.press(*keys)

    async def sends(self, line: str) -> None:
        """Paste a line in place of what stands there, and send it."""
        self.app.mode.prompt.text = ""
        self.app.mode.prompt.focus()
        self.app.post_message(events.Paste(line))
        await self.until(lambda: self.line == line)
        await self.pilot.press("enter")
        await self.settles()

    @property
    def screen(self) -> str:
        """What stands on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in strip) for strip in strips)

    @property
    def line(self) -> str:
        """What stands in the line to type in."""
        return self.app.mode.prompt.text

    @property
    def notice(self) -> str:
        """What is said above it."""
        return self.app.mode.notice

    @property
    def drafts(self) -> Drafts:
        """The pane of the drafts."""
        return self.app.mind.query_one(Drafts)

    @property
    def timeline(self) -> Timeline:
        """The timeline."""
        return self.app.mind.query_one(Timeline)

    @property
    def transcript(self) -> Transcript:
        """What was said."""
        return self.app.mind.query_one(Transcript)


def stage_in(directory: Path, *replies: str, message: str | None = None, **settings: Any) -> Stage:
    """A store with one session, whose mind replies so, with tokens and costs."""
    lines = [
        json.dumps({"text": text, "tokens_in": 900 + 40 * n, "tokens_out": 60, "cost_usd": 0.0012})
        for n, text in enumerate(replies or REPLIES)
    ]
    file = directory / "replies.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {"model": f"script:{file}", "embedding_model": "off", **settings}
    return Stage(directory / "store").begins(message, **settings)


S = TypeVar("S", bound=Sitting)


@asynccontextmanager
async def sitting(whom: type[S], stage: Stage, size: tuple[int, int]) -> AsyncIterator[S]:
    """The app on a stage, in a terminal of that size, and who sits at it."""
    async with open_service(stage.directory, {}) as service:
        client = Droppable(service, "chat")
        try:
            app = ChatApp(client, stage.session)
            async with app.run_test(size=size) as pilot:
                at = whom(app, pilot, client, stage)
                await at.settles()
                yield at
        finally:
            await client.close()


def play_as(
    whom: type[S], stage: Stage, act: Callable[[S], Awaitable[None]], size: tuple[int, int]
) -> None:
    """Let somebody of a kind sit at the app, and do something."""

    async def whole() -> None:
        async with sitting(whom, stage, size) as at:
            await act(at)

    asyncio.run(whole())


def play(
    stage: Stage, act: Callable[[Sitting], Awaitable[None]], size: tuple[int, int] = (80, 24)
) -> None:
    """Let somebody sit at the app, and do something."""
    play_as(Sitting, stage, act, size)


_CHANGING: Sequence[tuple[str, str]] = (
    (r"terminal-\d+", "terminal"),
    (r"\d\d:\d\d:\d\d", "12:00:00"),
)

PICTURES = Path(__file__).with_name("pictures")


def picture(svg: str) -> str:
    """A picture without what is never the same twice."""
    for pattern, always in _CHANGING:
        svg = re.sub(pattern, always, svg)
    return svg


def assert_as_in(file: Path, taken: str) -> None:
    """Compare a screen with its picture; ``MIND_PICTURES=write`` takes a new one."""
    if os.environ.get("MIND_PICTURES") == "write":
        file.write_text(taken, encoding="utf-8")
    assert taken == file.read_text("utf-8"), f"{file.name}: look at it, then MIND_PICTURES=write"


async def compare(at: Sitting, name: str) -> None:
    """Compare the screen of a mind with its picture."""
    at.app.mind.work.latency = 1200
    at.app.mind.draw_title()
    await at.pilot.pause()
    assert_as_in(PICTURES / f"{name}.svg", picture(at.app.export_screenshot()))
