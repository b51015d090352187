"""Agents on any model: a conversation that is rebuilt from the log for each turn.

The model is shown the conversation and replies; where it wants tools, they are used one after
another and it is shown what they said, until it answers without wanting any. All text that it
says on the way is the answer.
"""

import asyncio
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from commands.agents.backend import (
    Answer,
    Ask,
    Called,
    Compacted,
    Spoken,
    Text,
    TurnBroke,
    Warned,
)
from commands.agents.compaction import asking_for_summary, noted, summary_of
from commands.agents.model import Model, Said, Shown, Step
from commands.agents.tools import Outcome
from commands.agents.window import Budget, fitting, size_of
from commands.minds.mind import MindFailed
from commands.minds.retry import pause_after

MOST_CALLS = 200
"""Calls of the model in one turn, from which on it has lost its way."""

LIFE = 1.0
"""Seconds between two signs of life, empty pieces of the answer, while it says nothing."""

BETWEEN = "\n\n"
"""Stands in an answer where the model used tools."""


TOO_MUCH = re.compile(
    r"context|too (?:long|large|many tokens)|maximum|exceed|reads \d", re.IGNORECASE
)
"""How providers say that a window, or a reply, is smaller than was thought."""

HALVINGS = 5
"""How often what is shown is made smaller for one request."""


@dataclass(frozen=True)
class NeutralBackend:
    """Answers the turns of agents with a model that keeps nothing itself."""

    model: Model
    attempts: int = 4
    """The most times that one request is sent."""
    patience: float = 120.0
    """Seconds for all attempts and pauses of one request; no pause begins that would end later."""
    base: float = 1.0
    """Seconds of the longest first pause, see :class:`commands.minds.retry.Patient`."""
    longest: float = 30.0
    """Seconds of the longest pause."""
    chance: Callable[[], float] = field(default=random.random, repr=False)

    async def turn(self, ask: Ask) -> Answer:
        """Answer one prompt, see :class:`commands.agents.backend.Backend`."""
        await self.model.prepare()
        return await _Turn(self, ask).answer()


class _Turn:
    """One turn: what the model has said and done in it so far."""

    def __init__(self, backend: NeutralBackend, ask: Ask) -> None:
        self._backend, self._ask = backend, ask
        self._model = backend.model
        self._budget = Budget.of(backend.model)
        self._shown = Shown(
            instructions=ask.instructions,
            summary=ask.summary,
            turns=ask.conversation,
            prompt=ask.prompt,
            steps=(),
            tools=ask.tools,
            number=ask.agent.spent.calls + 1,
            most_tokens=self._budget.reply,
        )
        self._text: list[str] = []
        self._halvings = 0
        self._heard_at = time.monotonic()

    async def answer(self) -> Answer:
        # said once in a conversation, or it would be all that one reads
        if self._ask.tools and self._model.warning and self._ask.agent.turns <= 1:
            self._ask.hear(Warned(self._model.warning))
        for _ in range(MOST_CALLS):
            said = await self._patiently()
            if not said.wanted:
                return self._whole(said)
            step = Step(said, await self._used(said))
            if self._ask.enough():
                return self._whole(said)
            shown = self._shown
            self._shown = shown._replace(steps=(*shown.steps, step), number=shown.number + 1)
        raise TurnBroke(
            f"{self._model.name} called tools {MOST_CALLS} times without an answer: ask for less"
            " at once.",
            "".join(self._text),
        )

    def _whole(self, said: Said) -> Answer:
        return Answer("".join(self._text), said.model, said.finish)

    async def _used(self, said: Said) -> tuple[Outcome, ...]:
        """Use the tools, one after another: what one does may be what the next one needs."""
        return tuple(
            [
                await self._ask.use(wanted.id, wanted.name, wanted.arguments)
                for wanted in said.wanted
            ]
        )

    async def _make_room(self) -> Shown:
        """What the model is shown next; the oldest turns make way where not all of it can be."""
        fitted = fitting(self._shown, self._budget)
        if fitted is None:
            raise TurnBroke(
                f"What {self._model.name} would have to be shown has more than the"
                f" {self._budget.shown:,} tokens that it may: say it in fewer words, or set"
                " MIND_CONTEXT_WINDOW higher if it can be shown more.",
                "".join(self._text),
            )
        shown, dropped = fitted
        if dropped:
            before = size_of(self._shown)
            summary = await self._summed_up(dropped)
            turns = self._shown.turns[len(dropped) :]
            self._shown = self._shown._replace(summary=summary, turns=turns)
            shown = shown._replace(summary=summary)
            self._ask.hear(Compacted(before, "auto", dropped[-1].turn, summary))
        return shown._replace(most_tokens=self._budget.reply)

    async def _patiently(self) -> Said:
        """The model's reply; asked again after failures that may pass."""
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            tried = await self._once(await self._make_room())
            if isinstance(tried, Said):
                return tried
            if self._halved(tried):
                continue
            pause = self._pause(tried, attempt, time.monotonic() - began)
            if pause is None:
                # what a request cost that failed halfway, nobody knows
                refused = not tried.partial and tried.status is not None
                self._over(0.0 if refused else None)
                times = f" It was asked {attempt} times." if attempt > 1 else ""
                raise TurnBroke(tried.sentence + times, "".join(self._text)) from None
            self._ask.hear(Warned(f"{tried.sentence} It is asked again in {pause:.0f} s."))
            await asyncio.sleep(pause)

    async def _summed_up(self, dropped: tuple[Spoken, ...]) -> str:
        """What stands for turns from now on."""
        if self._model.sums_up:
            asking = asking_for_summary(self._shown, dropped, self._budget)
            tried = await self._call(asking, lambda _: self._live())
            if isinstance(tried, Said) and tried.text.strip():
                return noted(tried.text, self._budget)
        most = self._budget.summary
        # sorting out a long conversation takes a moment; others go on meanwhile
        return await asyncio.to_thread(summary_of, self._shown.summary, dropped, most)

    async def _once(self, shown: Shown) -> Said | MindFailed:
        """One request, whose text is part of the answer."""
        before = len(self._text)

        def hear(piece: str) -> None:
            if not piece:
                self._live()
                return
            if before and len(self._text) == before:
                self._say(BETWEEN)
            self._say(piece)

        return await self._call(shown, hear)

    def _say(self, piece: str) -> None:
        self._text.append(piece)
        self._heard_at = time.monotonic()
        self._ask.hear(Text(piece))

    def _live(self) -> None:
        """It thinks, or writes a tool call: whoever waits for words is told that it lives."""
        now = time.monotonic()
        if now - self._heard_at >= LIFE:
            self._heard_at = now
            self._ask.hear(Text(""))

    async def _call(self, shown: Shown, hear: Callable[[str], None]) -> Said | MindFailed:
        """One request, and what it took."""
        self._heard_at = time.monotonic()
        try:
            said = await self._model.reply(shown, hear)
        except MindFailed as failure:
            return failure
        except asyncio.CancelledError:
            self._over(None)
            raise
        self._ask.hear(
            Called(
                tokens_in=said.tokens_in,
                tokens_out=said.tokens_out,
                cache_read=said.cache_read,
                cache_creation=said.cache_creation,
                cost_usd=said.cost_usd,
                context_tokens=_context(said),
                context_window=said.window or self._model.window,
            )
        )
        return said

    def _halved(self, failure: MindFailed) -> bool:
        """Whether the model may be asked again with less, since this was too much for it."""
        final = failure.status in {None, 400, 413} and not failure.retryable
        if not final or self._halvings == HALVINGS or not TOO_MUCH.search(failure.sentence):
            return False
        if not self._halvings:
            self._ask.hear(Warned(f"{failure.sentence} It is asked again with less."))
        self._halvings += 1
        self._budget = self._budget.half()
        return True

    def _pause(self, failure: MindFailed, attempt: int, spent: float) -> float | None:
        """Seconds until the next attempt; None where there is to be none."""
        one = self._backend
        # what was heard can't be taken back: only an answer that has not begun begins again
        if failure.partial or attempt >= one.attempts:
            return None
        pause = pause_after(failure, attempt, one.base, one.longest, one.chance)
        return pause if pause is not None and spent + pause < one.patience else None

    def _over(self, cost: float | None) -> None:
        """A call ended without a reply; it counts, or failing for ever would have no bound."""
        self._ask.hear(Called(cost_usd=0.0 if self._model.free else cost))


def _context(said: Said) -> int | None:
    """What the call was shown, cached parts included."""
    if said.tokens_in is None:
        return None
    return said.tokens_in + said.cache_read + said.cache_creation
