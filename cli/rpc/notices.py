"""What happens among agents, as notifications to those who are connected."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cli.output import iso
from cli.rpc.draft_session import draft_session
from cli.rpc.pieces import Pieces
from commands.agents.notices import Notice
from domain.agents import Agent
from domain.errors import LogosphereError
from domain.streams import agent_stream

if TYPE_CHECKING:
    from cli.rpc.service import Service

_SAID = {"chunk", "prompt", "turn", "answer", "tool_use", "tool_result", "lifecycle"}
_SAID |= {"warning", "error", "result"}


class Notifications:
    """Tells the peers of a service what a harness tells; those of one client, or all."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._sent = 0
        self._pieces: dict[str, Pieces] = {}
        self._others: asyncio.Task[None] | None = None
        self._changed = False

    def tell(self, notice: Notice) -> None:
        """Send it, in the thread of the service's event loop."""
        if notice.kind == "pool":
            self._changed = True
            if self._others is None or self._others.done():
                self._others = asyncio.create_task(self._tell_pool())
            return
        if notice.kind == "chunk":
            self._gather(notice)
            return
        pieces = self._pieces.pop(notice.agent, None)
        if pieces is not None:
            pieces.flush()
        self._send(notice)

    async def _tell_pool(self) -> None:
        """Tell who is at work; once for all that has changed while that was looked up."""
        # whoever can't look it up now tells it with the next change; RuntimeError: it is the end
        with suppress(LogosphereError, RuntimeError):
            while self._changed:
                self._changed = False
                told = await self._service.aside(pool_data, self._service)
                self._service.broadcast("pool_status", told)

    def _gather(self, notice: Notice) -> None:
        """Send it together with those that come right behind it."""
        pieces = self._pieces.get(notice.agent)
        if pieces is None:
            pieces = Pieces(
                lambda text: self._send(notice._replace(text=text)), self._service.later
            )
            self._pieces[notice.agent] = pieces
        pieces.add(notice.text)

    def _send(self, notice: Notice) -> None:
        for method, params in self._worded(notice):
            self._service.broadcast(method, params, client=notice.client or None)

    def _worded(self, notice: Notice) -> list[tuple[str, Mapping[str, Any]]]:
        if notice.kind == "status":
            try:
                agent = self._service.log.stands(agent_stream(notice.agent))
            except LogosphereError:
                return []  # the next one tells the same
            return [("draft_status", draft_data(agent))]
        if notice.kind == "compacted":
            return [("context_compacted", {"sessionId": notice.agent, **notice.data})]
        self._sent += 1
        message = {
            "id": self._sent,
            "sessionId": notice.agent,
            "type": notice.kind,
            "content": notice.text,
            "at": iso(notice.at),
            "metadata": dict(notice.data),
        }
        return [("channel_message", message)] if notice.kind in _SAID else []


def draft_data(agent: Agent) -> dict[str, Any]:
    """Where a drafted agent stands, as plain data."""
    return draft_session(agent).model_dump(mode="json")


def pool_data(service: "Service") -> dict[str, Any]:
    """Who is at work."""
    return {"agents": [worker_data(agent) for agent in service.harness.active()]}


def worker_data(agent: Agent) -> dict[str, Any]:
    """One agent among others."""
    return {
        **draft_data(agent),
        "way": agent.way,
        "client": agent.drafted.client,
        "parent": agent.drafted.parent,
    }
