"""Who is there: agents that have not ended, and the checks that a new one has to pass."""

import re
from collections.abc import Callable, Iterator

from commands.agents.rules import Rules
from domain.agent_errors import DraftIsActive, NoSuchAgent, TooManyAgents
from domain.agents import Agent
from domain.errors import NoSuchSession, Refused
from domain.ids import AgentId, CommandId, SessionId
from domain.limits import Spent
from domain.log import Log
from domain.streams import Stream, agent_of, agent_stream


class Pool:
    """The agents of a log.

    What is remembered of them never changes, whoever else writes: that one has ended, and whose
    draft one is. It takes the room of their names, as many as the log has.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._ended: set[SessionId] = set()
        self._whose: dict[SessionId, str | None] = {}
        """The client of each draft that was looked at; None for what is none."""

    def agent(self, name: str) -> Agent:
        """An agent as it is now.

        Raises:
            NoSuchAgent: there is none of that name.
        """
        try:
            return self._log.stands(agent_stream(name))
        except NoSuchSession:
            raise NoSuchAgent(name, map(agent_of, self._log.streams("agent"))) from None

    def active(self) -> Iterator[Agent]:
        """Agents that can still be spoken to, or are at work, oldest first."""
        return self._active(lambda _: True)

    def _active(self, wanted: Callable[[SessionId], bool]) -> Iterator[Agent]:
        for stream in self._log.streams("agent"):
            if stream in self._ended or not wanted(stream):
                continue
            agent = self._log.stands(Stream[Agent](stream))
            if agent.active:
                yield agent
            else:
                self._ended.add(stream)

    def unsettled(self) -> Iterator[Agent]:
        """Agents that have not ended, or that know of one they sent out that it has not; as above.

        Whoever sent out others comes before them.
        """
        for stream in self._log.streams("agent"):
            agent = self._log.stands(Stream[Agent](stream))
            if agent.active or agent.workers:
                yield agent

    def draft_of(self, client: str) -> Agent | None:
        """The newest active draft of a client."""
        return next(reversed(self._drafts(client)), None)

    def cost_of(self, agent: Agent) -> float:
        """Known US dollars of an agent and of all that it has sent out, those at work included."""
        return agent.cost_usd + sum(self.cost_of(self.agent(name)) for name in agent.workers)

    def used_by(self, agent: Agent) -> Spent:
        """What counts against an agent's limits just now."""
        return agent.spent._replace(cost_usd=self.cost_of(agent))

    def begun_by(self, command: CommandId) -> Agent | None:
        """The agent that a wish has begun, if it was granted before."""
        for stream in reversed(self._log.streams("agent")):
            for first in self._log.read(stream, upto=1, page=1):
                if first.command == command:
                    return self._log.stands(Stream[Agent](stream))
        return None

    def _drafts(self, client: str) -> list[Agent]:
        """The active drafts of a client, oldest first; asked for with every prompt."""
        found: list[Agent] = []
        for agent in self._active(lambda stream: self._whose.get(stream, client) == client):
            whose = agent.drafted.client if is_draft(agent) else None
            self._whose[agent_stream(agent.id).id] = whose
            if whose == client:
                found.append(agent)
        return found

    def check_draft(self, client: str, rules: Rules) -> None:
        """Make sure that a client may draft one more.

        Raises:
            DraftIsActive: it has as many as it may have.
        """
        drafts = self._drafts(client)
        if len(drafts) >= rules.drafts_per_client:
            raise DraftIsActive(client, drafts[-1].id)

    def check_work(self, rules: Rules) -> None:
        """Make sure that one more worker may begin.

        Raises:
            TooManyAgents: as many as may be are at work.
        """
        if sum(agent.way == "work" for agent in self.active()) >= rules.workers_at_once:
            raise TooManyAgents(rules.workers_at_once)

    def check_conversations(self, parent: str, rules: Rules) -> None:
        """Make sure that an agent may talk with one more.

        Raises:
            Refused: it talks with as many as it may.
        """
        children = [self.agent(name) for name in self.agent(parent).workers]
        most = rules.conversations_of_an_agent
        if sum(child.active and child.way == "conversation" for child in children) >= most:
            raise Refused(f"{parent!r} talks with {most} agents already: end one (kill_agent).")

    def check_depth(self, parent: str | None, rules: Rules) -> None:
        """Make sure that agents do not draft agents that draft agents, and so on.

        Raises:
            Refused: they would.
        """
        depth = 1
        while parent is not None:
            depth += 1
            if depth > rules.depth:
                raise Refused(
                    f"At most {rules.depth} agents may stand above one another: do this yourself."
                )
            parent = self.agent(parent).drafted.parent

    def next_name(self, role: str) -> AgentId:
        """The name of the next agent of a role: one more than the highest number so far."""
        pattern = re.compile(re.escape(role) + r"-(\d+)")
        numbers = [
            int(found[1])
            for stream in self._log.streams("agent")
            if (found := pattern.fullmatch(agent_of(stream)))
        ]
        return AgentId(f"{role}-{max(numbers, default=0) + 1}")


def is_draft(agent: Agent) -> bool:
    """Whether a person drafted it to talk with."""
    return agent.way == "conversation" and agent.drafted.parent is None
