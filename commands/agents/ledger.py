"""What everybody around an agent needs: to read it, to record, to tell, to wait for news."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from commands.agents.notices import Notice, NoticeKind
from commands.agents.pool import Pool
from commands.agents.wishes import AgentWish
from commands.handle import Fulfilled, handle
from commands.world import World
from domain.actors import Actor
from domain.agents import Agent
from domain.errors import LogosphereError, Refused
from domain.events import PromptWithdrawn, TurnCompleted, TurnFailed, TurnLost
from domain.ids import CommandId
from domain.log import Log
from domain.streams import agent_stream

TurnOver = TurnCompleted | TurnFailed | TurnLost
"""How a turn ends that has begun."""

TurnEnd = TurnOver | PromptWithdrawn

_ENDS = ("turn.completed", "turn.failed", "turn.lost", "prompt.withdrawn")

HARNESS = Actor("system", "harness")


class Ledger:
    """The log as the parts of a harness use it: appends go through threads, and wake who waits."""

    def __init__(self, log: Log, world: World, tell: Callable[[Notice], None]) -> None:
        self.log, self.world, self.pool = log, world, Pool(log)
        self._tell = tell
        self.news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def agent(self, name: str) -> Agent:
        """An agent as it is now; raises NoSuchAgent."""
        return await asyncio.to_thread(self.pool.agent, name)

    async def do(self, name: str, wish: AgentWish, *, by: Actor | None = None) -> Agent:
        """Fulfil a wish; the agent behind it."""
        return (await self.fulfil(name, wish, by=by)).state

    async def fulfil(
        self,
        name: str,
        wish: AgentWish,
        *,
        by: Actor | None = None,
        command_id: CommandId | None = None,
    ) -> Fulfilled[Agent]:
        """Fulfil a wish; as :func:`commands.handle.handle`."""
        await self.agent(name)  # or say that there is none
        done = await asyncio.to_thread(
            handle, self.log, agent_stream(name), wish, self.world, by=by, command_id=command_id
        )
        self.news[name].set()
        return done

    async def heard(self, agent: str, seconds: float) -> None:
        """Wait for news of an agent, or until it is time to look what other processes did.

        Whoever waits clears ``news`` before looking, so that nothing slips in between.
        """
        try:
            async with asyncio.timeout(seconds):
                await self.news[agent].wait()
        except TimeoutError:
            return

    def end_of(self, agent: str, prompt: int) -> TurnEnd | None:
        """How the turn that answers a prompt ended; None while it has not."""
        for recorded in self.log.read(agent_stream(agent).id, after=prompt, kinds=_ENDS):
            event = recorded.event
            if (
                isinstance(event, TurnCompleted | TurnFailed | TurnLost | PromptWithdrawn)
                and event.prompt == prompt
            ):
                return event
        return None

    def said_before(self, agent: str, command_id: CommandId | None) -> int:
        """The prompt that was submitted under an id before."""
        kinds = ("prompt.submitted",)
        for recorded in self.log.read(agent_stream(agent).id, kinds=kinds, newest_first=True):
            if recorded.command == command_id:
                return recorded.version
        raise Refused(f"Agent {agent!r} was told something else under the same id.")

    def say(self, kind: NoticeKind, agent: Agent, text: str = "", **data: Any) -> None:
        """Tell who looks on what happens to an agent."""
        now = self.world.now()
        self._tell(Notice(kind, agent.id, agent.drafted.client, now, text, data))

    def status(self, agent: Agent) -> None:
        """Tell that the figures of an agent are others now."""
        self.say("status", agent)

    def tell_pool(self) -> None:
        """Tell that others are there now."""
        self._tell(Notice("pool", "", "", self.world.now()))

    def complain(self, agent: str, sentence: str) -> None:
        """Tell what went wrong with an agent that can't even be read."""
        self._tell(Notice("error", agent, "", self.world.now(), sentence))


def said_at(end: TurnEnd) -> str:
    """What a turn ended with: the answer, or why there is none, as far as that was said."""
    match end:
        case TurnCompleted(text=text) | TurnFailed(detail=text):
            return text
        case _:
            return ""


def sentence_of(error: BaseException) -> str:
    """What a person is told of an error that ended a turn."""
    if isinstance(error, LogosphereError):
        return error.sentence
    return f"The turn failed ({type(error).__name__}: {error}): try again."
