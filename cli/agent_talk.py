"""Talking with agents from the command line: the client of this process, and what is printed."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from cli import output as out
from cli.client.client import CallFailed
from cli.client.local import LocalClient
from cli.rpc.service import open_service
from commands.eventlog.place import Place
from domain.agent_errors import NoActiveDraft
from domain.errors import Broken, Refused

NAME = "cli"
"""How the command line calls itself: drafts of one invocation are there in the next."""


class Talk:
    """A client, and whether what agents say is printed as it comes."""

    def __init__(self, client: LocalClient, *, streaming: bool) -> None:
        self._client, self._streaming = client, streaming
        self._open = False

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol; a refusal is one of the command line."""
        try:
            answer: dict[str, Any] = await self._client.call(method, **params)
        except CallFailed as failed:
            broken = failed.error in _BROKEN or failed.code in {-32603, -32011}
            raise (Broken if broken else Refused)(failed.sentence) from None
        return answer

    async def drafted(self) -> None:
        """Make sure that somebody is drafted.

        Raises:
            NoActiveDraft: nobody is.
        """
        if not (await self.call("get_draft_status"))["active"]:
            raise NoActiveDraft(NAME)

    async def said(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method that answers when somebody has spoken, and print that as it comes."""
        if method == "submit_prompt":
            params["wait"] = True
        listening = asyncio.create_task(self._listen())
        try:
            answer = await self.call(method, **params)
            await asyncio.sleep(0)  # what was told before the answer comes before it
        finally:
            await self._client.close()
            await listening
        if self._open:
            out.answer()
        return answer

    async def _listen(self) -> None:
        async for method, told in self._client.notifications():
            if self._streaming and method == "channel_message":
                self._tell(told)

    def _tell(self, told: dict[str, Any]) -> None:
        kind, text = told["type"], told["content"]
        if kind == "chunk":
            text = text if self._open else text.lstrip("\n")  # a line of its own has begun
            sys.stdout.write(out.safe(text))
            sys.stdout.flush()
            self._open = self._open or bool(text)
            return
        if self._open and kind in {"tool_use", "warning", "answer", "error"}:
            out.answer()
            self._open = False
        if kind == "tool_use":
            arguments = told["metadata"].get("arguments", "")
            out.talk(out.shade(f"· {out.one_line(f'{text} {arguments}', 120)}", "faint"))
        elif kind in {"warning", "lifecycle"}:
            out.talk(f"! {out.safe(text)}" if kind == "warning" else out.safe(text))


_BROKEN = {"StoreIsFull", "StoreIsBusy", "StoreIsDamaged"}


async def talking(
    store: Place | None,
    happen: Callable[[Talk], Awaitable[dict[str, Any]]],
    *,
    streaming: bool = False,
) -> dict[str, Any]:
    """Open the store, let something happen, and close it; what goes on then is interrupted."""
    async with open_service(store, resume=False) as service:
        client = LocalClient(service, NAME)
        try:
            return await happen(Talk(client, streaming=streaming))
        finally:
            await client.close()
