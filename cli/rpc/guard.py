"""Who may come in: the token, the names a request may be sent to and from, and how much of it."""

import hmac
import ipaddress
import json
import logging
import os
import secrets
import stat
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

from cli.rpc.backlog import BYTES, MESSAGES
from domain.errors import Refused

LOGGER = logging.getLogger(__name__)

TOKEN_FILE = "serve.token"  # noqa: S105 — the name of a file
TOKEN_BYTES = 32
SHORTEST_TOKEN = 16

MEGABYTE = 1 << 20

_OF_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
OF_ALL_ADDRESSES = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104 — such names are never taken

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Limits(NamedTuple):
    """How much one server takes."""

    message_bytes: int = MEGABYTE
    connections: int = 64
    in_flight: int = 64
    """Requests of one connection that wait for their answer at once; a batch counts as one."""
    per_second: float = 200
    """Calls of one connection, in the long run."""
    burst: int = 400
    """Calls of one connection at once."""
    queued_messages: int = MESSAGES
    """What waits to be sent to one connection, before it is cut off."""
    queued_bytes: int = BYTES
    handshake_seconds: float = 10
    grace_seconds: float = 5
    """For what was said last to reach a client that is cut off."""


class BadToken(Refused):
    """The file holds no token that keeps anybody out."""

    def __init__(self, file: Path, why: str, then: str) -> None:
        super().__init__(f"The token in {str(file)!r} can't be used: {why}; {then}.")


class NotOnlyHere(Refused):
    """Others in the network could reach the server, and nobody said that they may."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host!r} can be reached by others: serve on 127.0.0.1, or say --allow-remote and"
            " name the file of the token with --token-file."
        )


def token_of(file: Path) -> str:
    """The token that a file holds; a new one, for the owner's eyes only, where there is no file.

    Raises:
        BadToken: others may read it, it is too short, or it is no plain file of this user's.
    """
    try:
        made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(file)
    except OSError as error:
        raise BadToken(file, f"it can't be made ({error.strerror})", "name another one") from None
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with os.fdopen(made, "w", encoding="ascii") as out:
        out.write(token + "\n")
    return token


def _read(file: Path) -> str:
    try:
        opened = os.open(
            file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError as error:
        why = f"it can't be read ({error.strerror})"
        raise BadToken(file, why, "name another one") from None
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise BadToken(file, "it is no plain file", "name another one")
        if os.name == "posix" and found.st_uid != os.geteuid():
            raise BadToken(file, "it belongs to another user", "name another one")
        if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
            raise BadToken(file, "others may read or change it", f"chmod 600 {file}")
        token = os.read(opened, 4096).decode("utf-8", "replace").strip()
    finally:
        os.close(opened)
    if len(token) < SHORTEST_TOKEN:
        why = "the file is empty" if not token else f"it has under {SHORTEST_TOKEN} characters"
        raise BadToken(file, why, "delete the file, and a new one is made")
    return token


def same(given: str, token: str) -> bool:
    """Whether it is the token, in a time that says nothing about where it differs."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def only_here(host: str) -> bool:
    """Whether a name or address leads to this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def hosts(bound: str, port: int, more: Iterable[str] = ()) -> frozenset[str]:
    """What the Host header of a request may say, in small letters.

    A page on the web can make its own name lead to this machine, but its requests bear that name.
    """
    named = {name.lower() for name in (*_OF_THIS_MACHINE, bound, *more)} - OF_ALL_ADDRESSES
    return frozenset(name if _has_port(name) else f"{_bracketed(name)}:{port}" for name in named)


def _has_port(name: str) -> bool:
    host, colon, port = name.rpartition(":")
    return bool(colon) and port.isdecimal() and (":" not in host or host.endswith("]"))


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


class Bucket:
    """So many at once, and so many a second behind that."""

    def __init__(
        self, burst: float, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._left, self._at = burst, clock()

    def take(self) -> float:
        """Take one; 0.0, or the seconds until there is one again."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0


class Guard:
    """Stands before an ASGI app: whatever has a wrong Host, Origin or token goes no further."""

    def __init__(
        self, app: App, *, allowed_hosts: frozenset[str], origins: Iterable[str], token: str
    ) -> None:
        self._app, self._hosts, self._token = app, allowed_hosts, token
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, or say why not."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        wrong = self._wrong(scope)
        if wrong is None:
            await self._app(scope, _bounded(receive, scope), send)
            return
        status, sentence = wrong
        log_refusal(sentence, scope, status=status)
        await _refuse(scope, receive, send, status, sentence)

    def _wrong(self, scope: Scope) -> tuple[int, str] | None:
        named = list(_headers(scope, b"host"))
        if len(named) != 1 or named[0].lower() not in self._hosts:
            return 421, "The Host header is no name of this server (--allow-host adds one)."
        for origin in _headers(scope, b"origin"):
            if origin.lower() not in self._origins:
                return 403, "Pages of this Origin may not call (--allow-origin would let them)."
        given = bearer(scope)
        if scope["type"] == "websocket" and given is not None and not same(given, self._token):
            return 401, "The token of the Authorization header is wrong."
        for length in _headers(scope, b"content-length"):
            if not length.isdecimal() or int(length[:20]) > MEGABYTE:
                return 413, "The body is too large."
        return None


def bearer(scope: Scope) -> str | None:
    """The token that a request brings in its Authorization header, right or wrong."""
    for value in _headers(scope, b"authorization"):
        kind, _, given = value.partition(" ")
        if kind.lower() == "bearer":
            return given.strip()
    return None


def log_refusal(why: str, scope: Scope, **more: Any) -> None:
    """Say on the server's log who was refused, with nothing that is a secret."""
    client = scope.get("client")
    LOGGER.warning(
        why,
        extra={
            "data": {
                "event": "refused",
                "from": f"{client[0]}:{client[1]}" if client else None,
                "path": str(scope.get("path", ""))[:200],
                "host": next(_headers(scope, b"host"), "")[:200],
                "origin": next(_headers(scope, b"origin"), "")[:200] or None,
                **more,
            }
        },
    )


class JsonLines(logging.Formatter):
    """Each record of a log as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; what stands in ``data`` of the record comes along."""
        line: dict[str, Any] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "said": record.getMessage(),
            **getattr(record, "data", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _headers(scope: Mapping[str, Any], name: bytes) -> Iterator[str]:
    for key, value in scope.get("headers", ()):
        if key.lower() == name:
            yield value.decode("latin-1")


def _bounded(receive: Receive, scope: Scope) -> Receive:
    """As ``receive``, until a body that did not say its length is too large."""
    if scope["type"] != "http":
        return receive
    taken = 0

    async def counted() -> MutableMapping[str, Any]:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= MEGABYTE else {"type": "http.disconnect"}

    return counted


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        kind = "websocket.http.response"
        if kind not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": sentence})
            return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": f"{sentence}\n".encode()})
