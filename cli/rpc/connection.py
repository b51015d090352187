"""One client that is connected: who it is, what it may, and what waits to be sent to it."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from cli.rpc.backlog import Backlog
from cli.rpc.dispatcher import notification
from cli.rpc.errors import INVALID_REQUEST, SLOW_DOWN, said
from cli.rpc.guard import Bucket, Limits

NO_HANDSHAKE = 4000
OTHER_PROTOCOL = 4001
WRONG_TOKEN = 4003
CUT_OFF = 4008
GOING_AWAY = 1001
NO_TEXT = 1003

CLOSINGS = {
    GOING_AWAY: "The server ends.",
    NO_TEXT: "A binary message came: the protocol is text.",
    1009: "A message was larger than the server takes.",
    NO_HANDSHAKE: "No handshake came in time, or too many messages before it.",
    OTHER_PROTOCOL: "The client speaks another version of the protocol.",
    WRONG_TOKEN: "The token is missing or wrong.",
    CUT_OFF: "The client did not read what was sent; `cut_off` is the last that it is told.",
}
"""The codes that a connection is closed with."""

MOST_BEFORE_HANDSHAKE = 8


class Closing(NamedTuple):
    """Why a connection ends."""

    code: int
    reason: str


class _Waiting(NamedTuple):
    text: str
    position: int | None
    """Of an event, its place in the store."""


class Connection:
    """A peer on a wire, with a bounded queue of what is still to be sent to it."""

    def __init__(
        self, send: Callable[[str], Awaitable[None]], limits: Limits, *, trusted: bool = False
    ) -> None:
        """Begin.

        Args:
            send: puts a text on the wire; takes as long as the other side does.
            limits: how much may wait, and how much may be asked.
            trusted: it has shown the token already.
        """
        self.name = f"client-{secrets.token_hex(4)}"
        self.greeted, self.trusted = False, trusted
        self.closing: Closing | None = None
        self.in_flight = 0
        self._send, self._limits = send, limits
        self._bucket = Bucket(limits.burst, limits.per_second)
        self._early = 0
        self._backlog = Backlog[_Waiting](limits.queued_messages, limits.queued_bytes)
        self._sent: int | None = None
        self._cut = asyncio.Event()

    # what comes in

    def allow(self, method: str) -> None:
        """Make sure that this call may be made now.

        Raises:
            RpcError: a handshake is needed first, or too much was asked.
        """
        if self.closing is not None:
            raise said(INVALID_REQUEST, "The connection is being closed.", "Closing")
        if not self.greeted and method != "handshake":
            raise said(INVALID_REQUEST, "Handshake required.", "HandshakeRequired")
        wait = self._bucket.take()
        if wait or self.in_flight > self._limits.in_flight:
            why = (
                "Slow down: too many calls a second."
                if wait
                else f"Slow down: {self._limits.in_flight} calls wait for their answer already."
            )
            raise said(SLOW_DOWN, why, "SlowDown", retryAfterMs=int(max(wait, 0.05) * 1000))

    def heard(self) -> None:
        """Count a message; who talks on without a handshake is sent away."""
        if not self.greeted:
            self._early += 1
            if self._early > MOST_BEFORE_HANDSHAKE:
                self.close(NO_HANDSHAKE)

    # what goes out

    @property
    def waiting(self) -> int:
        """Bytes that are still to be sent."""
        return self._backlog.size

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, in its turn."""
        if self.closing is None:
            position = params.get("position") if method == "event" else None
            self._put(notification(method, params), position)

    def answer(self, text: str) -> None:
        """Send an answer, in its turn; the one that says why a connection is closed, too."""
        if not self._cut.is_set():
            self._put(text, None)

    def _put(self, text: str, position: int | None) -> None:
        # an answer may be larger than all that may wait: it is sent where nothing else does
        if not self._backlog.put(_Waiting(text, position), len(text.encode())):
            self._cut_off()

    def _cut_off(self) -> None:
        """Forget what waits, say so, and end."""
        self._backlog.clear()
        reason = "More waited for this client than the server keeps: it did not read."
        last = {"reason": reason, "position": self._sent}
        text = notification("cut_off", last)
        self._backlog.add(_Waiting(text, None), len(text))
        self._cut.set()
        self.closing = None
        self.close(CUT_OFF)

    def close(self, code: int) -> None:
        """Send what waits, and then nothing more."""
        if self.closing is None:
            self.closing = Closing(code, CLOSINGS[code])
            self._backlog.end()

    async def drained(self) -> None:
        """Wait until there is room for more; at once where the connection ends."""
        await self._backlog.drained()

    async def write(self) -> Closing:
        """Send whatever comes, until the connection is to be closed; why it is."""
        while (waiting := await self._backlog.take()) is not None:
            await self._send(waiting.text)
            self._sent = waiting.position or self._sent
        assert self.closing is not None  # noqa: S101 — nothing else ends what waits
        return self.closing

    async def given_up(self) -> None:
        """Wait until the connection was cut off, and did not even take that for a while."""
        await self._cut.wait()
        await asyncio.sleep(self._limits.grace_seconds)
