"""The mind at work: runs that nobody waits for, and what they bring as it comes."""

from typing import TYPE_CHECKING, Any, Literal

from cli.client.client import CallFailed
from cli.tui.drafts import Drafts
from cli.tui.here import in_app
from cli.tui.soon import Soon

if TYPE_CHECKING:
    from cli.tui.mind import MindMode

_ENDED = {
    "draft": "A draft is there: ctrl+n, then a accepts it; ctrl+r lets the mind refine it.",
    "hard signal": "The mind has no more to say: accept a draft, or ctrl+r for another iteration.",
    "true silence": "The mind said nothing at all: accept a draft, or /think to stir it.",
    "limit": "The run has had all its iterations: ctrl+r for more.",
    "interrupted": "Stopped. Everything shown is in the log.",
    "budget": "The budget is spent: raise it with /config budget_usd=…, or accept a draft.",
    "accepted": "The exchange is closed: send the next message.",
    "failed": "The mind failed: ctrl+r tries again.",
}

SHOWN = 4000
"""Characters of a reply that is being written; the newest are shown."""


class Work:
    """What the mind does just now."""

    def __init__(self, mode: "MindMode") -> None:
        self._mode, self._session = mode, mode.session
        self.running = False
        """Whether a run that this app began goes on."""
        self.iteration: int | None = None
        """The one that is being written."""
        self.latency: float | None = None
        """Milliseconds that the last iteration took."""
        self._text = ""
        self._writing = Soon(mode, self._write)

    def begin(self, mode: Literal["observe", "background"], iterations: int | None = None) -> None:
        """Start a run, without waiting for its end."""
        if self.running:
            self._mode.tell("The mind is at work already: escape stops it.", refused=True)
            return
        self.running = True
        self._mode.run_worker(self._run(mode, iterations))
        self._mode.reader.want("status")
        self._mode.refresh_bindings()

    async def _run(self, mode: str, iterations: int | None) -> None:
        chat = self._mode.chat
        try:
            ended = await chat.call("run", session=self._session, mode=mode, iterations=iterations)
        except CallFailed as failed:
            self._tell(failed.sentence, refused=True)
        else:
            reason, detail = ended["reason"], ended.get("detail")
            sentence = _ENDED.get(reason, f"The run ended: {reason}.")
            bad = reason == "failed"
            self._tell(f"{in_app(detail)} {sentence}" if bad and detail else sentence, refused=bad)
        finally:
            self.running = False
            self.iteration = None
        if self._mode.work is not self:  # another session is shown meanwhile
            return
        self._mode.refresh_bindings()
        await self._mode.query_one(Drafts).write(None)
        self._mode.reader.want("status", "drafts", "thoughts", "timeline")

    def _tell(self, sentence: str, *, refused: bool) -> None:
        """Say it, and of which session, where another one is shown."""
        other = f"{self._session}: " if self._mode.work is not self else ""
        self._mode.tell(f"{other}{sentence}", refused=refused)

    async def stop(self) -> None:
        """Ask the run to end.

        Raises:
            CallFailed: it can't be asked now.
        """
        answer = await self._mode.chat.call("stop_run", session=self._session)
        self._mode.tell("Stopping…" if answer["asked"] else "There is no run to stop here.")

    async def told(self, told: dict[str, Any]) -> None:
        """Hear how an iteration goes on."""
        if told.get("session") != self._session:
            return
        kind, text = told.get("kind"), told.get("text") or ""
        self.iteration = told.get("iteration") or self.iteration
        if kind == "began":
            self._text = ""
            await self._write()
        elif kind == "text":
            self._text = (self._text + text)[-SHOWN:]
            self._writing.ask()  # pieces may be as small as a letter
            return
        elif kind in {"retry", "problem"}:
            self._mode.tell(text or "The mind did not answer: it is asked again.", refused=True)
        elif kind == "ended":
            self.latency = told.get("latencyMs") or self.latency
            self._text = ""
            self.iteration = None
            await self._mode.query_one(Drafts).write(None)
        self._mode.reader.want("status")

    async def _write(self) -> None:
        shown = self._mode.work is self and self._mode.view.at is None
        if self.iteration is not None and shown:
            await self._mode.query_one(Drafts).write(f"iteration {self.iteration} …", self._text)
