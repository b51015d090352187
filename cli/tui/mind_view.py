"""What the screen of a mind shows, as of the moment that is looked at; no more than is seen."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cli.tui.drafts import Drafts, sentence_of
from cli.tui.shapes import Draft, Happened, Status, Thought, Turn
from cli.tui.soon import Soon
from cli.tui.thoughts import Thoughts
from cli.tui.timeline import PAGE, Timeline
from cli.tui.transcript import Awaiting, Transcript

if TYPE_CHECKING:
    from cli.tui.mind import MindMode

Part = Literal["status", "history", "drafts", "thoughts", "timeline"]

ALL: tuple[Part, ...] = ("status", "history", "drafts", "thoughts", "timeline")

EXCHANGES = 12
"""Accepted exchanges that are fetched at first, and each time somebody scrolls to the top."""

THOUGHTS = 30


class View(NamedTuple):
    """A session, and the version that is looked at; None is now."""

    session: str
    at: int | None

    @property
    def params(self) -> dict[str, Any]:
        """As the reading methods want it."""
        past = {} if self.at is None else {"at": str(self.at)}
        return {"session": self.session, **past}


_TOUCHED: tuple[tuple[str, tuple[Part, ...]], ...] = (
    ("message.", ("status", "history", "drafts")),
    ("draft.", ("status", "history", "drafts")),
    ("thought.", ("thoughts",)),
    ("cluster", ("thoughts",)),
    ("mind.", ("status", "drafts", "thoughts")),
    ("run.", ("status",)),
    ("signal.", ("status",)),
    ("config.", ("status",)),
    ("note.", ()),
)


def touched_by(kind: str) -> tuple[Part, ...]:
    """What an event of this kind changes on the screen; all of it, where that is not known."""
    known = next((parts for begin, parts in _TOUCHED if kind.startswith(begin)), ALL)
    return (*known, "timeline")


class Reader:
    """Reads what is to be shown: news that come close together are read once."""

    def __init__(self, mode: "MindMode") -> None:
        self._mode = mode
        self._wanted: set[Part] = set()
        self._soon = Soon(mode, self._read)
        self.exchanges = EXCHANGES
        self.now: Status | None = None
        """The session as it is now."""
        self.seen: Status | None = None
        """The session at the moment that is looked at."""
        self.drafts: tuple[Draft, ...] = ()
        self._turns: tuple[Turn, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether everything that was asked for is on the screen."""
        return not self._soon.busy

    def forget(self) -> None:
        """Another session is looked at: what was read is not so there."""
        self.exchanges, self.now, self.seen, self.drafts = EXCHANGES, None, None, ()

    def want(self, *parts: Part) -> None:
        """Read these soon."""
        self._wanted |= set(parts)
        self._soon.ask()

    async def _read(self) -> None:
        parts, self._wanted = self._wanted, set()
        await self._mode.chat.attempt(self._read_parts(parts))

    async def _read_parts(self, parts: set[Part]) -> None:
        view = self._mode.view
        read: dict[Part, Callable[[View], Awaitable[Any]]] = {
            "status": self._status,
            "history": self._history,
            "drafts": self._drafts,
            "thoughts": self._thoughts,
            "timeline": self._timeline,
        }
        found = dict(
            zip(
                parts,
                await asyncio.gather(*(read[part](view) for part in parts)),
                strict=True,
            )
        )
        if view == self._mode.view:  # else a newer reading follows
            await self._show(found)

    async def _status(self, view: View) -> tuple[Status, Status]:
        call = self._mode.chat.call
        now = Status.of(await call("status", session=view.session))
        past = Status.of(await call("status", **view.params)) if view.at is not None else now
        return now, past

    async def _history(self, view: View) -> tuple[Turn, ...]:
        data = await self._mode.chat.call("history", **view.params, count=self.exchanges)
        return tuple(Turn.of(entry) for entry in data["entries"])

    async def _drafts(self, view: View) -> tuple[Draft, ...]:
        data = await self._mode.chat.call("drafts", **view.params)
        found = data["drafts"] if data.get("open", True) else ()
        return tuple(Draft.of(entry) for entry in found)

    async def _thoughts(self, view: View) -> tuple[Thought, ...]:
        data = await self._mode.chat.call("thoughts", **view.params, count=THOUGHTS)
        return tuple(Thought.of(entry) for entry in data["thoughts"])

    async def _timeline(self, view: View) -> dict[str, Any] | None:
        """A page of events around the moment, from the line as it is now."""
        line = self._mode.query_one(Timeline)
        if not line.display:
            return None
        before = line.wanted() if line.at is not None else None
        if line.at is not None and before is None:
            return None
        return await self._mode.chat.call(  # type: ignore[no-any-return]
            "timeline", session=view.session, before=before, count=PAGE
        )

    async def _show(self, found: dict[Part, Any]) -> None:
        mode = self._mode
        if "status" in found:
            before = mode.busy
            self.now, self.seen = found["status"]
            if mode.busy != before:
                mode.refresh_bindings()
            mode.query_one(Timeline).reach(self.now.version)
            if mode.view.at is not None and mode.view.at >= self.now.version:
                mode.be_now()
        if "history" in found:
            self._turns = found["history"]
        if "drafts" in found:
            self.drafts = found["drafts"]
            await mode.query_one(Drafts).put(self.drafts)
        if "thoughts" in found:
            mode.query_one(Thoughts).put(found["thoughts"])
        if found.get("timeline"):
            data = found["timeline"]
            events = [Happened.of(event) for event in data["events"]]
            mode.query_one(Timeline).put(events, data.get("first") or 1, data.get("last") or 1)
        await self.show_transcript()
        mode.draw_title()

    async def show_transcript(self) -> None:
        """Show what was said, and how the open exchange stands."""
        mode, seen = self._mode, self.seen
        awaiting = None
        if seen is not None and seen.awaiting is not None and seen.exchange is not None:
            running = seen.state == "running" or (seen is self.now and mode.work.running)
            stands = sentence_of(self.drafts, running=running, iteration=mode.work.iteration)
            if mode.view.at is not None:
                stands = "No answer yet at this moment."
            awaiting = Awaiting(seen.exchange, seen.awaiting, stands)
        await mode.query_one(Transcript).put(self._turns, awaiting)
